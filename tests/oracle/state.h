/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TESTS_ORACLE_STATE_H
#define HD_TESTS_ORACLE_STATE_H

/*
 * The oracle's picture of a fabric at one instant, private to
 * its files. Lists are plain arrays, searched from the front.
 */

#include "base/rng.h"
#include "oracle.h"
#include "subnet/routing/adaptive.h"

#define NEVER      HD_TIME_NEVER
#define ALL_VLS    16 /* 15 for data, and VL15 */
#define MAX_COPIES 32
#define NO_VL      (-1)
#define MOST_SENT  (UINT64_C(1) << 20) /* bytes of a SEND (J14) */

enum pair_answer { ANSWER_ACK, ANSWER_NAK, ANSWER_CNP };

/*
 * A packet as it is somewhere on its way: a router rewrites it (R5), a switch
 * marks it (C4).
 */
struct packet {
	struct sim_arrival as;
	enum sim_packet_kind kind;
	bool marked; /* FECN of data, BECN of answers */
	lid_t slid;  /* of the router it comes from; 0: its source's */
	/* Of a queue pair: which, and what the transport says in it. */
	bool is_pairs;
	uint32_t pair;
	uint64_t psn;
	bool asks, becn;
	enum pair_answer answers;
	uint32_t payload;            /* staged, until it is granted */
	struct job_message *message; /* of a job; NULL: of none */
	uint8_t staged_on;
	uint32_t device;       /* C8: of its path, that it is for */
	bool ends_reservation; /* C8 */
};

/*
 * A copy as those see it who mark (C3). It waits for its output until its
 * tail has left on that link, and wants it until its tail has left the input
 * buffer.
 */
struct waiter {
	uint32_t in, out; /* sim ports of one switch */
	uint8_t in_vl, vl;
	const struct packet *packet;
	uint32_t blocks;
	hd_time begins; /* to count */
	bool counts;
	hd_time left_buffer, left_link; /* or NEVER */
	bool marked;                    /* mutations only */
};

/* A packet of an input buffer, on its way to one output of the switch. */
struct copy {
	const struct packet *packet; /* as it leaves (R5) */
	uint32_t out;                /* sim port */
	uint8_t vl;                  /* on the output */
	hd_time d_out;
	bool taken;            /* granted or discarded: waits no longer */
	bool routed;           /* D2; before that `out` may be SIM_NONE */
	bool granted;          /* taken by a grant */
	hd_time first;         /* voq: since when first of its queue, or NEVER */
	hd_time left;          /* its tail leaves the buffer, or NEVER */
	struct waiter *waiter; /* NULL without marking */
};

/* Sets that a packet may choose its output from: of minimal ways, and of those
 * around (D7). */
enum ways { MINIMAL, AROUND, ALL_WAYS };

/* Among which ports it does so (D1). */
struct choice {
	uint16_t group[ALL_WAYS]; /* or ADAPTIVE_NO_GROUP */
	switch_id target;
	struct port_set of[ALL_WAYS];
	struct port_set candidates; /* of both */
	unsigned first;
};

/* A packet that occupies an input buffer. */
struct slot {
	const struct packet *packet;
	uint8_t vl;           /* on the input */
	hd_time head;         /* h */
	hd_time d_in;         /* so the tail arrives at head + d_in */
	hd_time first;        /* fifo: since when first of its buffer, or NEVER */
	bool dropped;         /* at its arrival (A3): is in no queue */
	bool refused;         /* by an end port, which is why (A2) */
	bool released;        /* held by a sink that is free now (F7) */
	bool freed;           /* its space is free already, or it occupies none */
	bool made_here;       /* A5: the switch sends it */
	hd_time until;        /* A5: it ends here then; 0: it does not */
	struct choice choice; /* without candidates: no choice */
	uint32_t n_copies;
	struct copy copies[MAX_COPIES];
};

/* A packet in an output queue (T9) or an injection queue (T13). */
struct outgoing {
	const struct packet *packet;
	hd_time ready;
	hd_time x1;            /* end of the crossbar transfer; injection: 0 */
	hd_time first;         /* since when first of its queue, or NEVER */
	struct waiter *waiter; /* NULL without marking */
	uint8_t vl;            /* of a throttle's, as it was generated */
};

struct queue {
	struct outgoing *items;
	size_t n, cap;
};

/* Position and what is left of the weight there (T10). */
struct table_state {
	unsigned position;
	int64_t left;
};

/* VL sharing at an output of a switch (B7). */
struct share {
	int user[N_DATA_VLS]; /* the VL that acquired a VL, or NO_VL */
	uint8_t held[N_DATA_VLS][N_DATA_VLS];
	unsigned n_held[N_DATA_VLS];
	uint8_t queue[N_DATA_VLS]; /* VLs that wait for a VL */
	unsigned n_queue;
};

struct vlarb_state {
	struct table_state high, low;
	uint64_t hi; /* T11 */
};

/* A controlled flow at its source (C1, C2, C6). */
struct flow {
	struct queue waiting;
	uint32_t *granted; /* sequences */
	size_t n_granted, granted_cap;
	uint32_t outstanding;
	bool acknowledged;
	uint32_t latest; /* sequence acknowledged, if one was */
	hd_time last;    /* grant or acknowledgement */
};

struct throttle {
	struct cc_config config; /* in force (C9) */
	struct cc_state state;
	bool granted;       /* ever */
	hd_time last;       /* g of its last grant */
	hd_time made;       /* when that packet was generated */
	hd_time d;          /* its duration on the port's link */
	hd_time gap;        /* as the state was at g */
	bool spared;        /* mutations only */
	uint32_t last_flow; /* granted last, or SIM_NONE */
};

/* One of an end port's (T13p): a throttle, or a queue per VL. */
struct sender {
	uint32_t throttle; /* SIM_NONE: none */
	uint16_t waiting;  /* VLs whose queue has something */
	struct queue queues[ALL_VLS];
};

/* Ends that have something to send, in turn; 2 * pair, + 1 at the source. */
struct line {
	uint32_t *items;
	size_t n, cap;
};

/* The rate of a queue pair, or of all of a port and SL (Q7). */
struct pace {
	struct cc_state state;
	struct line held; /* queue pairs that it holds back */
	uint32_t waiting; /* requests that are taken and not yet granted */
	bool granted;     /* ever */
	hd_time last;     /* grant of the last one */
	hd_time d;        /* duration of the one taken last */
};

struct answer {
	enum pair_answer kind;
	uint64_t psn;
};

/* A request that is kept before its turn (Q8). */
struct early {
	uint64_t psn;
	bool asks;
};

/* A SEND: a message of a flow, or of a job (J14). */
struct send {
	uint64_t first, n; /* packets */
	uint32_t length;
	struct job_message *message; /* NULL: of a flow */
};

/* Both ends of a flow's queue pair, or of a job's connection. */
struct queue_pair {
	struct oracle_pair is;
	bool of_job;
	uint32_t job, sender, receiver; /* J14: ranks, then servers */
	bool in_line[2];                /* of its adapter: destination, source */
	/* The source's. All that were made; how many of them were posted, and
	 * are done: */
	struct send *sends;
	size_t made, sends_cap;
	uint64_t posted, done;
	uint64_t next, top;   /* packet to take next; never taken before */
	uint64_t acked;       /* all before are acknowledged */
	uint64_t asked;       /* after the last one that asked, this round */
	uint32_t since_asked; /* packets taken since one asked */
	hd_time timer;        /* or NEVER */
	uint32_t retries_left;
	bool broken;
	struct pace pace;
	hd_time *leaves; /* last packets of messages (UC, UD) */
	size_t n_leaves, leaves_cap;
	/* The destination's. */
	uint64_t expected;
	bool nak_sent, becn_due;
	struct early *kept; /* Q8, in no order */
	size_t n_kept, kept_cap;
	struct answer *answers;
	size_t n_answers, answers_cap;
};

struct adapter {
	uint16_t sender; /* its number at its port (Q1) */
	struct line lines[ALL_VLS];
	size_t standing;          /* in all of them */
	uint64_t staged[ALL_VLS]; /* payload taken and not yet granted */
	struct pace paces[N_SLS];
};

/* An acknowledgement that a source receives without a packet (C5). */
struct hearsay {
	hd_time time;
	uint32_t flow, sequence;
	bool marked;
};

struct port {
	bool up;
	hd_time down_since;        /* unless it is up */
	hd_time d_update, d_timer; /* of 6 and of 65,536 bytes (T5) */
	/* As a sender. */
	hd_time busy_until;
	uint64_t sent[ALL_VLS];  /* blocks; FCTBS is this modulo 4096 */
	uint64_t limit[ALL_VLS]; /* FCCL, or in delay mode its whole */
	struct vlarb_state vlarb;
	const struct vlarb *table;    /* in force (T11c) */
	struct queue queues[ALL_VLS]; /* cioq outputs */
	struct sender *senders;       /* end ports */
	uint32_t n_senders;
	struct rng errors, losses; /* F1, F2 */
	/* As a receiver. */
	struct slot **slots; /* by arrival */
	size_t n_slots, slots_cap;
	uint32_t occupied[ALL_VLS]; /* blocks */
	uint64_t received[ALL_VLS]; /* ABR; its whole in delay mode */
	bool freed[ALL_VLS];        /* delay mode with losses: send one now */
	bool pending[ALL_VLS];      /* exact mode */
	int last_update;            /* VL, or NO_VL */
	bool stuck;                 /* F7 */
	/* As an output of a switch. */
	struct share share;
	/* Port number, at an end port sender, granted last; or -1. */
	int last_input[ALL_VLS];
	struct mark_output marks[N_DATA_VLS];
	bool avoided;        /* D4: busy */
	bool granted_before; /* T8: link, or crossbar if cioq */
	hd_time last_grant;
	/* As an output of a crossbar. */
	hd_time crossbar_busy_until;
	int last_crossbar_vl; /* or NO_VL */
	uint32_t out_occupied[ALL_VLS];
	/* As an input of a switch that marks: C3's fill, and what leaves it. */
	uint32_t fill[ALL_VLS], leaving[ALL_VLS];
};

/* A packet granted on a link, whose head has not arrived. */
struct flight {
	const struct packet *packet;
	uint32_t to;
	uint8_t vl;
	bool corrupted;
	hd_time head;
};

/* Flow control on its way; it acts on what port `to` sends and receives. */
struct message {
	uint32_t to;
	uint8_t vl;
	hd_time time;
	bool relative;  /* a credit (delay mode): add to the limit */
	uint64_t limit; /* FCCL, or the blocks to add */
	uint64_t fctbs; /* exact mode */
};

/* Output buffer space (T9) that comes free. */
struct release {
	uint32_t port;
	uint8_t vl;
	uint32_t blocks;
	hd_time time;
};

struct oracle {
	const struct sim_setup *setup;
	const struct sim_arrival *arrivals;
	size_t n_arrivals, next_arrival;
	uint32_t next_fault, next_change, next_setting;
	struct mark_config marking; /* in force (C9) */
	hd_time now, tick, horizon;
	bool jumps, generates;
	uint64_t saturating; /* flows, a bit each */
	enum oracle_mutation mutation;
	struct port *ports;
	struct flight *flights;
	size_t n_flights, flights_cap;
	struct message *messages;
	size_t n_messages, messages_cap;
	struct release *releases;
	size_t n_releases, releases_cap;
	struct packet **packets; /* all that ever were */
	size_t n_packets, packets_cap;
	struct waiter **waiters;
	size_t n_waiters, waiters_cap;
	struct throttle *throttles;
	struct flow *flows;
	struct hearsay *hearsay;
	size_t n_hearsay, hearsay_cap;
	const struct oracle_pairs *pairs;
	struct queue_pair *queue_pairs; /* as pairs->list, then jobs' */
	uint32_t n_queue_pairs;
	uint32_t pair_mtu;
	struct adapter *adapters; /* by node; then jobs', likewise */
	struct packet **coming;   /* given to a sender, for later */
	size_t n_coming, coming_cap;
	const struct packet **dropped; /* by the adapter's own port */
	size_t n_dropped, dropped_cap;
	struct chooser *choosers; /* by node; NULL: no adaptive routing */
	struct reductions *reductions;
	struct admission *admission;    /* NULL: no admission (C8) */
	struct notices *notices;        /* NULL: no notifications (D6) */
	const struct oracle_jobs *jobs; /* NULL: none */
	struct work *work;              /* theirs */
	const struct oracle_mads *mads; /* NULL: none */
	struct mad_state *mad_states;   /* by datagram */
	hd_time *mad_next;              /* per node: when its next datagram may enter */
	struct sim_record *out;
	struct oracle_stats *stats;
};

/* oracle.c */
uint32_t packet_blocks(const struct packet *packet);
/* A copy of `model` that can be changed and lives as long as o. */
struct packet *packet_new(struct oracle *o, const struct packet *model);
hd_time duration_on(const struct oracle *o, uint32_t port, uint64_t bytes);
void record_end(struct oracle *o, const struct packet *packet, uint32_t where, enum sim_fate fate);
static inline hd_time later(hd_time a, hd_time b)
{
	return a > b ? a : b;
}

/* link.c */
hd_time link_next_timer(const struct oracle *o, uint32_t port);
void links_init(struct oracle *o);
void link_go_down(struct oracle *o, uint32_t port);
void link_come_up(struct oracle *o, uint32_t port);
/* What the sender knows it may send, in blocks. */
uint64_t link_credits(const struct oracle *o, uint32_t port, uint8_t vl);
bool link_fits(const struct oracle *o, uint32_t port, uint8_t vl, const struct packet *packet);
void link_send(struct oracle *o, uint32_t port, uint8_t vl, const struct packet *packet);
int link_next_update(const struct oracle *o, uint32_t port);
void link_send_update(struct oracle *o, uint32_t port, uint8_t vl);
void link_space_freed(struct oracle *o, uint32_t port, uint8_t vl, uint32_t blocks);
void messages_arrive(struct oracle *o);
void timers_strike(struct oracle *o);
void freed_updates_leave(struct oracle *o);

/* vlarb.c: blocks[vl] of each VL's candidate, 0 for none; the VL or NO_VL. */
void vlarb_init(struct oracle *o, uint32_t port);
void vlarb_change(struct oracle *o, uint32_t port, const struct vlarb *table);
int vlarb_take(struct oracle *o, uint32_t port, const uint32_t *blocks);

/*
 * Behind all ports, every node has one more input for results of
 * reductions (S4): its ports are n_ports + node.
 */
static inline bool is_results_input(const struct oracle *o, uint32_t port)
{
	return port >= o->setup->n_ports;
}

static inline const struct sim_node *node_of(const struct oracle *o, uint32_t port)
{
	if (is_results_input(o, port))
		return &o->setup->nodes[port - o->setup->n_ports];
	return &o->setup->nodes[o->setup->ports[port].node];
}

/* The k-th input of a node, from 0 to n_ports + 1. */
static inline uint32_t input_at(const struct oracle *o, const struct sim_node *n, uint32_t k)
{
	if (k <= n->n_ports)
		return n->first_port + k;
	return o->setup->n_ports + (uint32_t)(n - o->setup->nodes);
}

/* And which one of its node's it is. */
static inline uint32_t input_number(const struct oracle *o, uint32_t in)
{
	const struct sim_node *n = node_of(o, in);

	return is_results_input(o, in) ? n->n_ports + 1 : in - n->first_port;
}

/* A router is timed as a switch (R2). */
static inline bool is_switch_port(const struct oracle *o, uint32_t port)
{
	return node_of(o, port)->kind != SIM_END;
}

static inline bool is_cioq(const struct oracle *o)
{
	return o->setup->sw.queueing == SIM_CIOQ;
}

static inline bool is_fifo(const struct oracle *o)
{
	return o->setup->sw.order == SIM_FIFO;
}

/* oracle.c */
uint32_t port_of_end(const struct oracle *o, uint32_t node);

/* switch.c */
/* T9: output space that comes free. */
void release_add(struct oracle *o, struct release r);
/* T6, T7: notes who has just become the first of a queue of this input. */
void firsts_note(struct oracle *o, uint32_t in);
void queue_push(struct oracle *o, struct queue *q, struct outgoing item);
void queue_pop(struct oracle *o, struct queue *q);
void crossbar_grants(struct oracle *o);
void link_grants(struct oracle *o);
void waits_count(struct oracle *o, hd_time step);
/* T6; NEVER if the packet before it blocks it. */
hd_time ready_at(const struct oracle *o, const struct slot *slot, const struct copy *copy);

/* buffer.c */
void slot_add(struct port *p, struct slot *slot);
void heads_arrive(struct oracle *o);
void space_comes_free(struct oracle *o);
bool discards(struct oracle *o);
void sink_release(struct oracle *o, uint32_t port);
void deliveries(struct oracle *o);

/* Packets that are ready for an output, per VL (T6); how many in all. */
uint32_t ready_count(const struct oracle *o, uint32_t out, uint32_t *jobs);

/* share.c: VL sharing (B7, B8). */
void shares_init(struct oracle *o);
void share_update(struct oracle *o, uint32_t port);
/* The VL whose packets a VL of an output sends now. */
uint8_t share_source(const struct oracle *o, uint32_t port, uint8_t vl);
/* With the VLs that these acquired. */
unsigned share_wanted(const struct oracle *o, uint32_t port, unsigned wanted);

/* sender.c: end ports (T13, T13p, C1, C2). */
struct pull { /* what a sender offers */
	uint32_t sender;
	struct flow *flow; /* of a throttle; NULL: of a queue */
	const struct packet *packet;
	uint8_t vl; /* whose it is */
};
void ends_init(struct oracle *o);
void ends_fini(struct oracle *o);
/* The flow's throttle, or SIM_NONE. */
uint32_t throttle_of(const struct oracle *o, uint32_t flow);
/* Where an end port sends packets of its SL (A1); NO_VL: dropped, counted. */
int end_vl(struct oracle *o, uint32_t port, const struct packet *packet);
/* Generation (phase 3). */
void end_enter(struct oracle *o, uint32_t port, const struct packet *packet);
unsigned end_vls_wanted(const struct oracle *o, uint32_t port);
/* Of the packets of VL `of`, one that fits the credits of VL `on` (B8). */
bool end_candidate(struct oracle *o, uint32_t port, uint8_t of, uint8_t on, struct pull *pull);
void end_take(struct oracle *o, uint32_t port, uint8_t vl, const struct pull *pull);
/* T14: some packet may start on this VL, credits aside. */
bool end_waits(struct oracle *o, uint32_t port, uint8_t vl, bool *fits);
size_t end_packets(const struct oracle *o, uint32_t port);
/* B9: packets that may start, by VL, credits aside; returns their number. */
uint32_t end_ready_count(const struct oracle *o, uint32_t port, uint32_t *jobs);
hd_time end_next_due(const struct oracle *o, uint32_t port);

/* marks.c: switches that mark (C3, C4). */
struct waiter *waiter_add(struct oracle *o, uint32_t in, const struct slot *slot,
			  const struct copy *copy);
void marks_count(struct oracle *o);
void marks_leave(struct oracle *o);
/* C4: the packet as it starts on the link now; its tail leaves at `left`. */
const struct packet *marks_decide(struct oracle *o, struct waiter *w, hd_time left);

/* answer.c: destinations and sources (C5, C6). */
void answer_delivery(struct oracle *o, uint32_t port, const struct packet *packet);
void sources_listen(struct oracle *o);

/* admission.c: flows that ask before they start (C8). */
void admission_init(struct oracle *o, const struct oracle_asks *asks);
void admission_fini(struct oracle *o);
void askers_ask(struct oracle *o);
void admission_heard(struct oracle *o, uint32_t port, const struct packet *p);
/* Whether a packet that is made now is the last of a flow that asked. */
bool ends_reservation(const struct oracle *o, const struct sim_arrival *p);
/* The last packet of a reservation is granted. */
void reservation_pass(struct oracle *o, uint32_t port, const struct packet *p);
hd_time admission_next_due(const struct oracle *o);

/* pair.c: queue pairs (Q1 to Q8). */
void queue_pairs_init(struct oracle *o);
void queue_pairs_fini(struct oracle *o);
/* J14: whether some job has queue pairs. */
bool has_job_pairs(const struct oracle *o);
/* A message of a job is given to its queue pair. */
void pair_send_message(struct oracle *o, uint32_t sender, uint32_t receiver, struct job_message *m);
/* Or to its destination, which is at the same port: no rate knows of it. */
void pair_hand_over(struct oracle *o, uint32_t sender, uint32_t receiver,
		    const struct job_message *m);
/* The flow's queue pair, or SIM_NONE. */
uint32_t pair_of_flow(const struct oracle *o, uint32_t flow);
void pair_post(struct oracle *o, uint32_t i);
void pair_delivered(struct oracle *o, uint32_t port, const struct packet *p);
void pair_granted(struct oracle *o, uint32_t port, const struct packet *p);
/* It has no VL at its own port (A1). */
void pair_lost_unsent(struct oracle *o, const struct packet *p);
void pairs_enter(struct oracle *o);
void pairs_listen(struct oracle *o);
hd_time pairs_next_due(const struct oracle *o);

/* rank.c and job_message.c: jobs (J1 to J9, J14). */
void jobs_init(struct oracle *o);
void jobs_fini(struct oracle *o);
/* What number a job has among the senders of an end node. */
void job_sender_set(struct oracle *o, uint32_t job, uint32_t node, uint16_t number);
void jobs_listen(struct oracle *o);
void job_granted(struct oracle *o, uint32_t port, const struct packet *p);
void job_delivered(struct oracle *o, uint32_t port, const struct packet *p);
/* J14: a SEND has come whole, or is acknowledged. */
void job_send_came(struct oracle *o, struct job_message *m);
void job_send_done(struct oracle *o, struct job_message *m);
/* It has no VL at its own port (A1). */
void job_lost_unsent(struct oracle *o, const struct packet *p);
hd_time jobs_next_due(const struct oracle *o);

/* choose.c: switches that choose (D1 to D5). */
void choosers_init(struct oracle *o);
void choosers_fini(struct oracle *o);
/* At h: whether a packet will choose its output; then it has its copy. */
bool choice_is_open(struct oracle *o, uint32_t in, struct slot *slot);
void copies_route(struct oracle *o);

/* notice.c: notifications of neighbours (D6). */
void notices_init(struct oracle *o);
void notices_fini(struct oracle *o);
void notices_spread(struct oracle *o);
/* Whether one holds for a port of a switch and this target. */
bool is_told_of(const struct oracle *o, uint32_t port, switch_id target);
hd_time notices_next_due(const struct oracle *o);

/* reduce.c: switches that reduce (S1 to S6). */
void aggregators_init(struct oracle *o);
void aggregators_fini(struct oracle *o);
void aggregators_go_on(struct oracle *o);
hd_time aggregators_next_due(const struct oracle *o);
/* A contribution has arrived; false: no aggregator takes it. */
bool contribution_take(struct oracle *o, uint32_t in, struct slot *slot);
void result_delivered(struct oracle *o, uint32_t port, const struct packet *p);

/* manager.c: VLs and partitions that change (T11l). */
/* Whose SL2VL tables hold then; the data VLs in operation. */
const struct subnet *vl_tables_at(const struct oracle *o, hd_time when);
uint8_t vls_at(const struct oracle *o, uint32_t port, hd_time when);
const struct pkey_table *keys_now(const struct oracle *o, uint32_t port);
/* T13: makes the next packet of a flow that saturates. */
void source_goes_on(struct oracle *o, uint32_t port, const struct packet *packet);
/* As a source has it that generates now. */
uint16_t own_key_now(const struct oracle *o, uint32_t port, uint16_t key);
hd_time vls_next_due(const struct oracle *o);

/* And settings of congestion control (C9). */
void settings_change(struct oracle *o);
hd_time settings_next_due(const struct oracle *o);

/* mad.c: datagrams with a route of their own (A5). */
void mads_init(struct oracle *o);
void mads_fini(struct oracle *o);
/* The number of the packet's datagram, or ORACLE_NO_MAD. */
int mad_of(const struct oracle *o, const struct packet *packet);
void mads_send(struct oracle *o);
/* Its head is at port `in`. */
void mad_arrive(struct oracle *o, int i, uint32_t in, struct slot *slot);
void mads_deliver(struct oracle *o);
hd_time mads_next_due(const struct oracle *o);

/* due.c: the least stored time after now. */
hd_time next_due(const struct oracle *o);

/* route.c: the copies of a packet that has just arrived at a switch. */
void route_packet(struct oracle *o, uint32_t in, struct slot *slot);
/* Copies to one port; to the ports of its group. */
void route_by(struct oracle *o, uint32_t in, struct slot *slot, unsigned out);
void route_group(struct oracle *o, uint32_t in, struct slot *slot);
/* A2, at an end port. */
bool is_foreign(const struct oracle *o, uint32_t port, const struct packet *packet);
/* A2, at an input and an output of a switch or router (R2). */
bool enters_partition(const struct oracle *o, uint32_t in, const struct packet *packet);
bool leaves_partition(const struct oracle *o, uint32_t out, const struct packet *packet);
/* What they do not let pass ends there, and is counted. */
void refuse_entry(struct oracle *o, const struct packet *packet, uint32_t in);
void refuse_exit(struct oracle *o, const struct packet *packet, uint32_t out);
/* T11r: the entry of a forwarding table, as it is now. */
uint8_t lft_now(const struct oracle *o, uint32_t node, lid_t lid);
/* router.c: the same at a router. */
void router_packet(struct oracle *o, uint32_t in, struct slot *slot);

#endif
