/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_HCA_INTERNAL_H
#define HD_HCA_HCA_INTERNAL_H

/*
 * What a lab and its adapters remember; private to verbs/.
 *
 * An adapter has at most one useful timer pending (alarm), like a link of the
 * simulator. Whatever wakes it, it does all that is due: takes requests whose
 * time has come, receives what waits, then sends while there is room.
 */

#include "cc/response.h"
#include "hca/coroutine.h"
#include "hca/lab.h"
#include "hca/tlb.h"
#include "hca/verbs.h"
#include "wire/packet.h"

#define FIRST_QPN    0x40
#define N_PRIORITIES 8
#define CQE_BYTES    32 /* of an entry of a completion queue */
#define QP_NONE      UINT32_MAX

/* ---- packets on their way ------------------------------------------------ */

/* The rate of a queue pair, or of all of a port and SL (pace.c), whichever of
 * the port's adapters they are of. */
struct v_pace {
	const struct cc_config *how; /* NULL: nothing is held back */
	struct cc_state state;
	hd_time took;     /* on the link, by the request that was given last */
	hd_time last;     /* the latest grant of one */
	uint32_t waiting; /* requests that are given and not granted yet */
	uint32_t changes; /* of what a manager has set (C9), in `how` */
	/* Of several: those that it holds back, in the order of their turns. */
	struct v_qp *first;
	uint64_t turns; /* that were given out */
};

/*
 * Its sender writes it; after that the receivers of copies read packet and
 * data; all else is the sender's, but for `copies`, and `next` of the last one
 * that needed it.
 */
struct hca_slot {
	struct packet packet;
	uint32_t next;   /* free ones; those that loop back */
	uint32_t copies; /* deliveries that are still to come */
	uint32_t node;   /* that sent it */
	uint32_t vl;
	uint32_t staged; /* of the sender's staging, until it is on the link */
	/* The queue pair it is of wants to know when it has left. */
	bool tells;
	bool paced; /* a request that congestion control counts */
	uint32_t qp, birth;
	uint32_t behind; /* leaves after it */
	hd_time when;    /* it has left; of loopback: it arrives */
	uint8_t *data;   /* SLOT_DATA, apart: what is looked at stays dense */
};

#define SLOT_DATA 4096u

struct slot_list {
	uint32_t first, last;
};

#define SLOT_BITS   22 /* of a slot's place among its lab's; above: the lab */
#define SLOT_CHUNKS 17
#define SLOT_FIRST  64u /* in the first chunk; each has twice the one before */

/* Slots of one lab. They never move: others may look at them meanwhile. */
struct slot_pool {
	struct hca_slot *chunks[SLOT_CHUNKS];
	uint8_t *data[SLOT_CHUNKS]; /* of the slots of each */
	uint32_t n;                 /* that there were ever */
	uint32_t free;              /* linked by `next` */
	uint32_t returned;          /* the same, by others */
	/* Another process has them: here are copies of what comes to us. */
	bool is_elsewhere;
};

/* A packet that has come; switches may have marked this copy of it. */
struct arrival {
	uint32_t slot;
	bool is_marked;
};

/* Ring; `head` and `tail` count. */
struct arrivals {
	struct arrival *ring;
	uint32_t head, tail, size;
};

/* ---- threads ---------------------------------------------------------- */

/* A request that takes effect when the simulation gets to its time. */
struct deferred {
	hd_time when;
	struct v_qp *qp;
	bool is_recv;
	union {
		struct send_wr send;
		struct recv_wr recv;
	};
	uint8_t data[WR_MAX_INLINE]; /* of an inline send */
};

enum thread_state {
	THREAD_READY,
	THREAD_RUNNING,
	THREAD_WAITING, /* for a call of hca_thread_wake */
	THREAD_DONE,
};

struct v_thread {
	struct lab *lab;
	struct v_device *dev;
	struct coroutine *coroutine;
	void (*fn)(void *);
	void *arg;
	enum thread_state state;
	uint32_t id;
	hd_time clock;
	hd_time wake_at;       /* of its timer, or NEVER */
	struct v_thread *next; /* in a list of those that wait */
	/* Ring; `head` and `tail` count. */
	struct deferred *requests;
	uint32_t head, tail, size;
};

struct thread_list {
	struct v_thread *first, *last;
};

struct v_semaphore {
	struct lab *lab;
	uint64_t value;
	hd_time posted; /* time of the last post */
	struct thread_list waiters;
};

/* ---- objects ---------------------------------------------------------- */

struct v_pd {
	struct v_device *dev;
	uint32_t number;
};

struct v_mr {
	struct v_pd *pd;
	uint8_t *memory;    /* NULL: all zeros */
	uint64_t addr, len; /* addr: as packets name it */
	unsigned page_shift;
	unsigned access;
	uint32_t key;
};

struct hca_cq_entry {
	struct completion wc;
	hd_time when; /* in memory from then on */
};

struct v_cq {
	struct v_device *dev;
	struct v_channel *channel;
	struct hca_cq_entry *ring; /* that grows, to `size` entries */
	uint32_t places, size;
	uint64_t head, tail; /* count, modulo places is the place */
	uint64_t tail_at_event;
	bool armed, solicited_only;
	/* Called for every entry, or NULL; no program polls this queue then. */
	void (*note)(void *context);
	void *context;
	hd_time armed_at;
	struct thread_list waiters;
};

static inline struct hca_cq_entry *cq_at(const struct v_cq *cq, uint64_t i)
{
	return &cq->ring[i % cq->places];
}

struct channel_event {
	struct v_cq *cq;
	hd_time when;
};

struct v_channel {
	struct v_device *dev;
	struct channel_event *events; /* ring */
	uint32_t head, tail, size;
	struct thread_list waiters;
};

struct srq_entry {
	hd_time when; /* the adapter may take it from then on */
	struct recv_wr recv;
};

struct v_srq {
	struct v_pd *pd;
	struct srq_entry *ring;
	uint32_t head, tail, size;
};

struct v_qp {
	struct v_device *dev;
	struct v_pd *pd;
	struct qp *qp;
	struct qp_owner owner;
	struct v_cq *send_cq, *recv_cq;
	struct v_srq *srq;
	uint32_t number; /* its place in dev->qps */
	uint32_t birth;  /* of all that had this place, or were reset in it */
	uint32_t wqe_bytes, wqe_segments;
	uint32_t mtu; /* of its path */
	uint32_t deferred_sends, deferred_recvs;
	uint32_t max_send, max_recv;
	uint32_t weight, burst; /* burst: packets left in its turn */
	uint32_t rank;          /* 0 goes first: N_PRIORITIES - 1 - priority */
	bool is_queued;
	uint8_t sl; /* of its next packet */
	hd_time last_inject;
	hd_time next_request; /* profile: queue_pair after the previous request */
	struct v_pace pace;
	bool is_held;        /* has a packet that its rate holds back */
	uint64_t turn;       /* in the line of its rate; 0: it is not there */
	struct v_qp *behind; /* there */
	struct v_qp *next;   /* in a list of those that have something to send */
	bool connected;
};

struct v_watch {
	struct v_device *dev;
	const uint8_t *at;
	uint64_t hits;
	uint32_t fresh; /* hits that are not visible yet */
	hd_time when;   /* the last one is visible from */
	struct v_thread *waiter;
	uint64_t waits_for;
	struct v_watch *next;
};

struct hca_member {
	lid_t mlid;
	struct v_qp *qp;
	uint8_t mgid[16];
};

/* ---- the adapter ------------------------------------------------------ */

struct qp_list {
	struct v_qp *first, *last;
};

/* What a packet does to the bus, gathered while the transport handles it. */
struct dma {
	uint64_t bytes;
	uint32_t transactions, misses;
};

struct v_device {
	struct lab *lab;
	uint32_t host, node, port; /* sim's */
	lid_t lid;                 /* the first of 1 << lmc */
	uint8_t lmc;
	uint8_t vl_of_sl[N_SLS];
	uint32_t mtu;
	/* Changes of VLs (T11l) that it has seen; follows from the time. */
	uint32_t vls_change;

	hd_time alarm; /* of its useful timer, or NEVER */
	/* Congestion control per SL; NULL: none. The first adapter of a port
	 * has the rates for all. */
	struct v_pace *paces;
	struct v_device *next_on_port; /* the port's next one, in a circle, or NULL */

	/* Servers: when each is free again. */
	hd_time tx_free, rx_free, bus_free[2]; /* [0] reads, [1] writes */
	struct tlb tlb;
	struct dma dma;
	hd_time visible; /* when what is received now is in memory */

	struct qp_list active[N_VLS][N_PRIORITIES];
	uint32_t active_vls;
	uint32_t next_vl;
	uint64_t staged[N_VLS]; /* payload taken and not yet on the link */

	struct arrivals arrived; /* wait for the receive engine */
	struct slot_list loop;   /* to itself */
	/* By `behind`: on the link, and a queue pair is notified when they have
	 * left; or dropped by the port. */
	struct slot_list leaving;

	hd_time timer;    /* when to look at the queue pairs' timers */
	hd_time timer_at; /* of the event for that, or NEVER */

	struct v_qp **qps;
	uint32_t n_qps;
	size_t qps_cap;
	struct v_mr **mrs;
	uint32_t n_mrs;
	size_t mrs_cap;
	uint32_t n_pds, key_turn, qp_hint, births;
	uint64_t next_addr; /* of the next region's pages, or before them */
	struct v_watch *watches;
	struct hca_member *members;
	size_t n_members, members_cap;
	struct v_thread **threads;
	size_t n_threads, threads_cap;
};

struct lab {
	struct fabric *fabric;
	const struct hca_profile *profile;
	struct sim *sim;
	uint32_t endpoint; /* of the simulator: all adapters */
	bool use_flows;
	hd_time went_on;                   /* when a program last did */
	struct external_qps *external;     /* external_qp.h; or NULL */
	bool follows;                      /* their messages are reported as events */
	struct message_channels *channels; /* message_channel.h; or NULL */
	bool names_channels;               /* packets have the number of their channel */
	struct hca_traffic *traffic;       /* rows over the channels, or NULL */
	struct hca_profile *own_profile;   /* or NULL */
	/* Congestion control of queue pairs; NULL: none. */
	const struct cc_algorithm *algorithm;
	struct cc_config *response; /* in shares of a link */
	uint16_t paced_sls;         /* that it holds for */
	struct v_pace *paces;       /* of all ports and SLs, if they are ours */
	hd_time now;                /* of the simulation, while it calls us */
	struct v_device *devices;
	uint32_t n_devices;
	uint32_t n_pools;
	uint32_t *device_of_node;

	struct slot_pool *pools;         /* of all labs that this one was cut into */
	struct lab_distant *distant;     /* remote.c; NULL: one process has all */
	struct remote_messages *letters; /* per lab, for those elsewhere */
	struct slots_saved *saved;       /* checkpoint.c; NULL: it never was */
	struct lab **parts;              /* NULL: it is not cut, or one of them */
	uint32_t n_parts;
	uint32_t number; /* among them; its pool */
	uint64_t lost;
	uint64_t retries; /* of queue pairs that are freed */

	struct v_thread **threads;
	size_t n_threads, threads_cap;
	uint32_t n_live;
	bool cancelled;
	struct v_thread *current;
	struct thread_list ready;

	uint32_t barrier_here;
	hd_time barrier_time;
	struct thread_list barrier_waiters;

	struct capture_writer *capture; /* or NULL */
	hd_time capture_start;
};

/* ---- lab.c --------------------------------------------------------------- */

#define NEVER HD_TIME_NEVER

void hca_list_put(struct thread_list *l, struct v_thread *t);
struct v_thread *hca_list_take(struct thread_list *l);

/* The current thread stops until it is woken; false: cancelled. */
bool hca_thread_wait(struct lab *lab);
/* It continues when the event being handled is done, not before `when`. */
void hca_thread_wake(struct v_thread *t, hd_time when);

struct hca_slot *hca_slot_at(const struct lab *lab, uint32_t id);
/* Does the slot exist, here or as a copy? */
bool hca_slot_is_here(const struct lab *lab, uint32_t id);
/* The copy of one of another process, which may be new. */
struct hca_slot *hca_slot_mirror(struct lab *lab, uint32_t id);
uint32_t hca_slot_new(struct lab *lab);
void hca_slot_release(struct lab *lab, uint32_t id);
void hca_slot_append(struct lab *lab, struct slot_list *l, uint32_t id);
uint32_t hca_slot_first(struct lab *lab, struct slot_list *l);
/* `old` has grown from n_old to n pools. */
struct slot_pool *hca_pools_new(struct slot_pool *old, uint32_t n_old, uint32_t n);
void hca_pools_free(struct slot_pool *pools, uint32_t n);

void lab_alarm(struct lab *lab, struct v_device *dev, hd_time when);
/* The same for timers, which are far: an event that is there stays. */
void lab_timer(struct lab *lab, struct v_device *dev);

static inline hd_time later(hd_time a, hd_time b)
{
	return a > b ? a : b;
}

/* The time of the caller: a program's clock, or the simulation's. */
static inline hd_time caller_time(const struct lab *lab)
{
	return lab->current ? lab->current->clock : lab->now;
}

static inline void spend(struct lab *lab, hd_time cost)
{
	if (lab->current)
		lab->current->clock += cost;
}

/* ---- device.c ------------------------------------------------------------ */

static inline bool is_own(const struct v_device *dev, lid_t lid)
{
	return lid >= dev->lid && (lid - dev->lid) >> dev->lmc == 0;
}

/* Its timer is at `when` at the latest. */
static inline void device_wake(struct v_device *dev, hd_time when)
{
	if (when < dev->timer)
		dev->timer = when;
}

void device_init(struct v_device *dev, struct lab *lab, uint32_t host, uint32_t node);
void device_fini(struct v_device *dev);
/* A packet has arrived at the adapter's port. */
void device_receive(struct v_device *dev, uint32_t id, bool is_marked);
/* A queue pair's timer may be due. */
void device_timer(struct v_device *dev);
/* Its alarm rang. */
void device_ring(struct v_device *dev);
/* It may have got something to send. */
void device_send(struct v_device *dev);
/* Whose packet it is, if that is still there. */
struct v_qp *hca_slot_sender(const struct lab *lab, const struct hca_slot *s);
/* A packet of its own has started on the link, and has left it at `end`. */
void device_sent(struct v_device *dev, uint32_t id, hd_time end);
/* Its port dropped a packet of its own. */
void device_lost(struct v_device *dev, uint32_t id, hd_time when);
/* When all that was received until now is in the host's memory. */
hd_time device_visible(struct v_device *dev);
/* Packets may be waiting in this queue pair. */
void device_activate(struct v_device *dev, struct v_qp *qp);
/* It waits for its turn to send. */
void device_queue(struct v_device *dev, struct v_qp *qp);
/* It has nothing to give, or not what it had. */
void device_rest(struct v_device *dev, struct v_qp *qp);
/* It is going away. */
void device_forget(struct v_device *dev, struct v_qp *qp);

/* ---- groups.c ------------------------------------------------------------ */

/* Where a packet to a group arrives, or is lost, by the tables; 0: belongs only to
 * the sender's own switch knows of it. */
uint32_t hca_group_ends(const struct v_device *dev, lid_t mlid);
/* Whether a packet is for this member; for one of this adapter. */
bool hca_group_has(const struct hca_member *m, const struct packet *p);
bool hca_group_is_here(const struct v_device *dev, const struct packet *p);

/* ---- follow.c: what a manager sets meanwhile ---------------------------- */

/* Takes over what is set by now; when it has to look again. */
hd_time device_follow(struct v_device *dev);
/* The VL of an SL. */
unsigned device_vl(struct v_device *dev, unsigned sl);

/* ---- pace.c: congestion control --------------------------------------- */

void pace_init(struct lab *lab);
void pace_fini(struct lab *lab);
/* Ports and SLs have one rate together with those of another lab. */
void pace_join(struct lab *lab, struct lab *first);
/* A queue pair has got its path; or (UD) the SL of its next request. */
void pace_start(struct v_qp *qp);
void pace_follow(struct v_qp *qp, uint8_t sl);
/* The rate that it has, alone or with others; NULL: none. */
struct v_pace *pace_qp(struct v_qp *qp);
/* When a manager changes it (C9); NEVER: no more. */
hd_time pace_next_change(const struct lab *lab);
/* Are marks of this SL's packets told to their senders? */
bool pace_answers(const struct lab *lab, unsigned sl);
/* When its rate lets its next packet go: NEVER: after the last one's grant. */
hd_time pace_next(struct v_qp *qp);
/* It is held back: it is in the queue of its rate, if others have it too. */
void pace_wait(struct v_qp *qp);
/* Takes the place there that its turn gives it. */
void pace_line_up(struct v_qp *qp);
/* It gives, or has nothing to; whether others may go in its place. */
bool pace_rest(struct v_qp *qp);
/* All of a rate are looked at when that lets them, not before `earliest`. */
void pace_wake(struct v_device *dev, const struct v_pace *p, hd_time earliest);
/* The same, if others than one queue pair have it; p may be NULL. */
void pace_wake_sharers(struct v_device *dev, const struct v_pace *p, hd_time earliest);
void pace_launched(struct v_qp *qp, struct hca_slot *s);
/*
 * A packet has started on the link, or its port has dropped it; of `qp`, or
 * NULL if that is gone. Returns the rate that it counted for, or NULL.
 */
struct v_pace *pace_left(struct v_device *dev, struct v_qp *qp, struct hca_slot *s);
/* The queue pair has received this. */
void pace_heard(struct v_qp *qp, const struct packet *packet);
hd_time pace_due(struct v_qp *qp);
void pace_timer(struct v_qp *qp);

/* ---- traffic.c: rows of the scenario over queue pairs ------------------ */

struct hca_traffic;

/* Makes the queue pairs of the scenario's rows, if it has such rows. */
HD_MUST_CHECK enum hd_status traffic_open(struct lab *lab, struct diag *d);
void traffic_close(struct hca_traffic *t);
/* A flow has made a message. */
void traffic_made(struct lab *lab, uint32_t flow);
/* Number of domains of the lab: each has rows of its own. */
void traffic_cut(struct hca_traffic *t, uint32_t n);

/* Of another process: a message was made. */
void traffic_born(struct hca_traffic *t, uint32_t posting, hd_time born);
uint32_t traffic_postings(const struct hca_traffic *t);
/* What was counted in a part. */
void traffic_collect(struct hca_traffic *t, struct pack *k, uint32_t part);

/* As bytes and back; of all labs that it was cut into. */
void traffic_pack(struct hca_traffic *t, struct pack *p, const struct sim_section *section);

/* ---- message_channel.c -------------------------------------------------- */

void hca_channels_close(struct message_channels *all);
/* Tells listeners what adapters of this lab have completed. */
void hca_channels_settle(struct lab *lab);
/* The number of the channel that a packet of this queue pair is of. */
uint32_t channel_of_pair(const struct v_qp *qp);
/* A packet of a channel starts on a link. */
void channel_passes(const struct lab *lab, const struct sim_passage *x);
/* What was counted in a part. */
void hca_channels_collect(struct message_channels *all, struct pack *k, uint32_t part);
/* What channels remember of a section, as bytes and back. */
void hca_channels_pack(struct message_channels *all, struct pack *k,
		       const struct sim_section *section);

/* ---- external_qp.c, external_events.c ----------------------------------- */

/* After the lab's adapters. */
void external_qps_close(struct external_qps *all);
/* Number of domains of the lab. */
void external_qps_cut(struct external_qps *all, uint32_t n);
/* A message has arrived as a whole; `last` is its last packet. */
void external_qp_arrived(struct v_qp *to, const struct hca_slot *last);
/* All copies of this packet were received or lost. */
void external_packet_over(struct lab *lab, const struct hca_slot *s);

/* ---- remote.c: labs of several processes ------------------------------ */

void lab_distant_cut(struct lab *lab, const struct sim_cut *how);
void lab_distant_fini(struct lab *lab);
/* A packet is sent: its receivers must know of it. */
void hca_slot_announce(struct lab *lab, uint32_t id);
/* Of another process: it is no longer used here. */
void hca_slot_return(struct lab *lab, uint32_t id);
/* When a message of this posting was made, if that is for another process. */
bool hca_born_is_told(const struct v_device *from, const struct v_device *to, uint32_t posting,
		      hd_time born);
/* See struct sim_endpoint. */
void lab_mail(void *context, struct pack *k, uint32_t from, uint32_t to);
void lab_collect(void *context, struct pack *k, uint32_t part);

/* ---- checkpoint.c: what a lab remembers --------------------------------------- */

/* Of a lab without threads whose adapters have no cache (sim.h). */
void lab_list(void *context, struct pack *p);
void lab_pack(void *context, struct pack *p, const struct sim_section *section);
void lab_pack_cookie(void *context, struct pack *p, uint32_t *cookie);
void lab_saved_free(struct lab *lab);
void hca_cq_pack(struct v_cq *cq, struct pack *p);
/* Its headers as they would be on the wire, and how much they carry. */
void hca_slot_pack_headers(struct pack *p, struct hca_slot *s);

/* ---- testbed.c ----------------------------------------------------------- */

/* The largest MTU that this port takes. */
uint32_t hca_port_mtu(const struct fabric *fabric, uint32_t port);

/* ---- owner.c: what the transport asks of the adapter --------------------- */

void hca_owner_init(struct v_qp *qp);
/* Work requests whose time has come are given to the transport. */
void hca_requests_take(struct v_device *dev);
/* When the next one that must be noticed comes, or NEVER. */
hd_time hca_requests_next(const struct v_device *dev);

/* ---- bus.c --------------------------------------------------------------- */

/* The bus does what `dma` says from `when` on; when that is done. */
hd_time hca_bus_use(struct v_device *dev, bool write, hd_time when, const struct dma *dma);
/*
 * What was received and is not yet in memory is in the adapter, and there
 * is no more room for that than for what is sent: the receive engine waits, and
 * with it the acknowledgements.
 */
void hca_bus_wait(struct v_device *dev);

#endif
