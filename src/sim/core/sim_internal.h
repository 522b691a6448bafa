/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CORE_SIM_INTERNAL_H
#define HD_SIM_CORE_SIM_INTERNAL_H

/*
 * State of the simulation engine. Internal to src/sim.
 *
 * A hop touches few cache lines: a packet is one line, a link (as seen by its sender) one
 * line, its returning credits one line, and two VLs share a line. All are dense arrays
 * indexed by sim port, VL or packet number. The path of a packet allocates no memory, apart
 * from arrays that grow.
 *
 * An event exists only for a time that cannot be computed ahead. A grant determines when the
 * head arrives and when the packet is ready at the next output, so it schedules EV_READY and
 * nothing in between. Returning credits are kept in a ring sorted by time, and are added when the
 * credit count is read. A port has at most one useful EV_WAKE pending, and only while a
 * packet waits. Cases that later events can still change have events of their own: VL15,
 * whose packets need buffer space at their arrival, and flow-control updates, which may be
 * lost or occupy the link.
 */

#include "base/eventq.h"
#include "base/rng.h"
#include "fabric/limits.h"
#include "qos/tables/arbiter.h"
#include "sim/core/event.h"
#include "sim/sim.h"
#include "subnet/tables/packet.h"

#define NONE        UINT32_MAX
#define NEVER       HD_TIME_NEVER
#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/*
 * Functions on the path of every packet, inlined into one function per variant of hop.h. With
 * HD_CHECKS they stay ordinary functions: inlining would multiply the compile time of
 * instrumented builds by ten.
 */
#ifdef HD_CHECKS
#define HOT static inline
#else
#define HOT static inline __attribute__((always_inline))
#endif

/* ---- packets ----------------------------------------------------------- */

enum packet_flag {
	P_CORRUPT = 1, /* F1: dropped by the next port */
	P_SOURCE = 2,  /* of a saturating flow: its grant creates the next packet */
	P_WAITS = 4,   /* first and ready in its queue (F5) */
	P_SHARED = 8,  /* a buffer slot shared by multicast copies, not a copy */
	P_TOLD = 16,   /* an observer needs its delivery, which is an event */
	P_MARKED = 32, /* FECN of a data packet, BECN of an acknowledgement */
	P_OTHER = 64,  /* not a data packet; kind in packet_extra */
	P_LAST = 128,  /* last packet of a flow with a reservation (C8) */
	/* Flags that a packet keeps over a hop. */
	P_STAYS = P_TOLD | P_MARKED | P_OTHER | P_LAST
};

#define PACKET_BYTES 0xffffffu /* largest packet */

/*
 * A packet, or one multicast copy of it for one output. Queues are linked through `next`;
 * the first packet of a virtual output queue stores the last one in `tail`.
 *
 * A multicast packet in a switch is one P_SHARED record for its buffer slot (left = copies
 * still in the buffer, ready = latest departure of the other copies) and one record per
 * copy, whose `slot` is the P_SHARED record.
 */
struct packet_record {
	hd_time born;
	hd_time ready; /* ready time at the current stage */
	hd_time head;  /* arrival of the head; in an output queue x1 (T9) */
	uint32_t next;
	union {
		uint32_t tail; /* last of the queue, if this is the first */
		uint32_t left; /* P_SHARED: remaining copies */
	};
	uint32_t flow, sequence;
	uint32_t out;  /* sim port of the output */
	uint32_t up;   /* sim port that sent it to this node; NONE: made here */
	uint32_t slot; /* P_SHARED record; NONE: has its own buffer space */
	uint32_t bytes : 24, flags : 8;
	uint16_t dlid, pkey;
	uint8_t in; /* input port number at this node */
	uint8_t vl; /* VL of the occupied buffer */
	uint8_t out_vl;
	uint8_t sl;
};

/* Fields of a packet that only some runs need; same index as packet_record. */
struct packet_extra {
	uint32_t cookie, source;
	/* R1: TOPO_NONE within a subnet, else from the GRH and of the last router. */
	port_id target;
	uint8_t tclass, hop_limit;
	lid_t slid;
	hd_time first; /* F5: ready and first in its queue since */
	uint32_t nth;  /* C6: number among its flow's grants, from 1, or as given; of a multicast
			  copy of a flow: number of members that it reaches (M5) */
	uint8_t kind;  /* enum sim_packet_kind */
	/* 1 + the endpoint that sent it; 0: not from an endpoint. */
	uint8_t endpoint;
	uint8_t turn; /* sim_arrival.turn */
	/* Only if an endpoint observes passages. */
	struct sim_waits waits;
};

/* ---- ports ------------------------------------------------------------- */

enum output_flag {
	L_UP = 1,
	L_END = 2,        /* of an end port */
	L_FAR_END = 4,    /* leads to an end port */
	L_QUEUED = 8,     /* VLs are plain queues, not virtual output queues */
	L_LOWEST = 16,    /* the lowest VL is served first: only one VL, or T10s */
	L_PENDING = 32,   /* in the arbitration list of this instant */
	L_SLOW_PATH = 64, /* faults (grants call fault_link_fate), observers, P_Keys */
	L_PULLS = 128,    /* end port with senders other than sender 0 (T13p) */
};

/* Sender side of a link, or an output of a crossbar (T9). */
struct sim_output {
	hd_time busy_until;
	hd_time since;   /* `requests` nonzero since */
	hd_time wake_at; /* time of the useful EV_WAKE, or NEVER */
	hd_time waited;  /* XmitWait up to the last grant */
	hd_time prop;
	uint32_t peer;
	uint32_t far_node;
	uint16_t requests;   /* set of VLs whose first packet is ready */
	uint16_t table;      /* index into sim.arb.tables */
	uint16_t low_credit; /* VLs that may lack credits for the largest packet, */
			     /* before credits due in the ring are added */
	struct arbiter arb;
	uint8_t rate; /* index into sim.rates */
	uint8_t flags;
};

/* One VL of an output. */
struct port_vl {
	union {
		uint64_t inputs; /* inputs with a ready packet; wide: non-empty words */
		struct {
			uint32_t first, last;
		} queue;
	};
	uint64_t bytes;   /* sent */
	uint32_t packets; /* sent, modulo 2^32; overflows in sim.sums */
	uint32_t heads;   /* row in sim.heads, if several inputs compete */
	uint32_t solo;    /* first packet, if only one input has packets; or NONE */
	uint16_t least;   /* least credits so far */
	uint8_t rr;       /* input of the last grant */
	uint8_t unused;
};

/* Rows with the first packet of each input (voq.h). */
struct heads {
	uint32_t *slots;
	uint32_t row;  /* slots per row */
	uint32_t mask; /* maps an input number to its slot */
	uint32_t free; /* head of the list of free rows, or NONE */
	uint32_t n;    /* slots in all rows */
	size_t cap;
};

#define RING_INLINE 4
enum ring_mode {
	RING_PLAIN, /* credits cannot be lost: computed */
	RING_LOSSY, /* delay mode, F2: by events */
	RING_EXACT,
};

/* Returning credits of an output, sorted by time; overflow in sim.spills. */
struct ring {
	hd_time when[RING_INLINE];
	uint16_t what[RING_INLINE]; /* credit_ring_what() */
	hd_time delay;              /* from free space to usable credit */
	uint64_t area;              /* occupancy of the far buffer, blocks x ps */
	uint32_t spill;             /* index into sim.spills, or NONE */
	uint8_t n;
	uint8_t waiting_for_credit; /* link idle, but no credits for `requests` */
	uint8_t mode;
	uint8_t unused;
};

_Static_assert(sizeof(struct packet_record) == 64, "a packet is a cache line");
_Static_assert(sizeof(struct sim_output) == 64, "an output is a cache line");
_Static_assert(sizeof(struct ring) == 64, "a ring is a cache line");
_Static_assert(sizeof(struct port_vl) == 32, "two VLs are a cache line");

struct spill_entry {
	hd_time when;
	uint16_t what;
};

struct spill {
	struct spill_entry *e;
	uint32_t at, n; /* e[at .. n), sorted */
	uint32_t next;  /* next free spill */
	size_t cap;
};

/* Flow-control counters (T5, F2), per port and VL, as sender and as receiver. */
struct flow_control {
	uint16_t sent, limit; /* sender: FCTBS, last FCCL */
	uint16_t abr, held;   /* receiver: ABR, occupied blocks */
	uint16_t offer;       /* lossy: FCCL of the next update */
	uint16_t lost;        /* sender: blocks lost with the link (F3) */
};

/* One input buffer of a `fifo` switch. */
struct fifo {
	uint32_t next, last; /* packets after the first, in arrival order */
	hd_time free_at;     /* departure of the packet before the first */
	bool has_first;      /* the first packet is in virtual output queues */
};

/* A reader of an input port (T8). */
struct crossbar_reader {
	hd_time until;
	uint32_t slot; /* NONE, or the multicast slot being read */
};

struct count {
	uint64_t bytes, packets;
};

/* Counters of rare events; the rest of sim_counters is computed. */
struct rare_counters {
	uint64_t xmit_discards, rcv_errors, rcv_relay_errors;
	uint64_t xmit_constraint_errors, rcv_constraint_errors;
	uint64_t vl15_dropped, hop_limit_exceeded, link_lost, link_downed;
	uint64_t updates_sent, multicast_sent;
	/* Sent by the far end but not received. */
	uint64_t missed_updates, missed_multicast;
};

_Static_assert(sizeof(struct rare_counters) <= 104, "there are hundreds of thousands of ports");

/* A queue of packets, linked through `next`. */
struct packet_queue {
	uint32_t first, last; /* NONE: empty */
};

/* Port state for runs with faults, exact credits or VL15. */
struct rare_port {
	hd_time next_down;   /* next failure of the link, or NEVER */
	hd_time refresh;     /* period of T5's refresh timer; 0: none */
	hd_time update_time; /* D(6) */
	struct rng errors, losses;
	double log_ok; /* log1p(-ber), or 0 */
	uint16_t vl15_held;
	uint16_t pending; /* VLs with a pending update */
	uint8_t update_vl;
	uint32_t stuck; /* index into sim.stuck: first interval not yet over; or NONE */
	/* F7: packets held by a stuck sink, in order of their tails. */
	struct packet_queue held;
};

/* Interval [from, until) during which a sink is stuck; `next`: a later one. */
struct stuck {
	hd_time from, until;
	uint32_t next;
};

/* ---- nodes ------------------------------------------------------------- */

struct node {
	const int32_t *lft_at;   /* offset into sim.lft; never NULL; see lft_entry */
	const uint8_t *vl_of_sl; /* NULL unless all port pairs share one SL2VL row */
	uint32_t lft_len;
	uint32_t first_port;
	uint32_t n_in; /* input port numbers 0 .. n_in - 1 */
	uint32_t switch_id;
	uint16_t subnet;
	uint8_t vls;   /* VLs of every port, if all are equal; else 0 */
	uint8_t kind;  /* enum sim_node_kind */
	uint8_t low;   /* plain: valid output numbers are low .. 254 */
	bool plain;    /* LFT, vl_of_sl and vls determine output and VL */
	bool enforces; /* checks P_Keys */
	bool uniform;  /* one SL2VL row and VL count for all ports, all up; no P_Keys */
};

/* ---- senders (T13p) ----------------------------------------------------- */

/* One of the senders 1, 2, ... of an end port. */
struct injection_sender {
	uint32_t throttle; /* index into control.throttles; NONE: plain sender */
	/* Plain sender only: */
	uint32_t queues;            /* index into sim.pull.queues, one per VL */
	struct packet_queue coming; /* packets offered for later, by time */
	uint32_t sequence;          /* of the next packet */
};

/* An end port with senders other than sender 0. */
struct pull {
	uint32_t first;    /* index of its sender 1 in sim.pull.senders */
	uint32_t n;        /* number of senders, including sender 0 */
	uint32_t words;    /* words per set of senders */
	uint32_t port;     /* sim port */
	uint64_t *offers;  /* per VL: set of senders that offer a packet */
	uint32_t *turns;   /* per VL: sender granted last */
	uint32_t granted;  /* sender of the grant in progress */
	uint32_t cookie;   /* its sim_inject cookie */
	uint32_t endpoint; /* its packet_extra.endpoint */
};

/* ---- sources ----------------------------------------------------------- */

/* Parameters shared by flows of one kind. */
struct source_plan {
	const struct sim_address *list;
	uint32_t n;
	uint32_t bytes;
	double gap; /* mean gap, ps */
	struct sim_interval interval;
	uint16_t pkey;
	uint8_t sl, vl;
	uint8_t kind;    /* SIM_POISSON or SIM_CBR */
	bool is_uniform; /* else always list[0] */
};

/* State of a flow; one cache line, sufficient for a flow with a plan. */
struct source {
	struct rng rng;
	hd_time at; /* time of the next message */
	union {
		uint64_t part;   /* CBR: numerator of the remainder below 1 ps */
		double fraction; /* other kinds: fraction of a ps */
	};
	uint32_t sequence;
	uint32_t plan; /* index into sim.make.plans, or NONE */
	uint32_t self; /* index of the source in the plan's list */
	uint32_t out;  /* sim port of the source */
};

_Static_assert(sizeof(struct source) == 64, "a source is a cache line");

/* State of a flow outside that cache line. */
struct source_state {
	hd_time turn;               /* on-off: end of this burst */
	uint64_t made;              /* messages created */
	uint32_t place;             /* position, for SIM_TO_CYCLE and SIM_TRACE */
	uint32_t sent_of_message;   /* packets sent of the current message */
	struct sim_address current; /* SIM_SATURATING: destination of the current message */
	uint32_t before;            /* with a plan: messages created before measuring began */
	bool release_made;          /* C8: the packet that releases the reservation has been made */
};

/* ---- simulation --------------------------------------------------------- */

/*
 * Cases that the path of a packet must handle (hop.h). From HOP_DOMAIN on: in one domain of a
 * partitioned fabric (domains.h).
 */
enum hop_variant {
	HOP_GENERAL,
	HOP_CONTROLLED,
	HOP_FAST,
	HOP_DOMAIN = 4,
	HOP_DOMAIN_CONTROLLED,
	HOP_DOMAIN_FAST
};

/* Messages between domains (domains.h). */
enum mail_kind {
	MAIL_PACKETS,
	MAIL_CREDITS,
	MAIL_EVENTS,
	MAIL_ANSWERS,
	MAIL_DELIVERIES,
	MAIL_KINDS
};

struct port_list {
	uint32_t *ports;
	uint32_t n;
	size_t cap;
};

/* Pending notifications of observers (observers.h). */
struct observer_queue {
	struct observer_event *heap;
	size_t n, cap;
	uint64_t order;
};

/* observers.c: observers and their pending notifications. */
struct observer_state {
	struct sim_observer *observers;
	uint32_t n_observers;
	/* Which notifications some observer needs; ends: delivered or ended. */
	bool delivered, ended, granted, updated, ends;
	struct observer_queue queue;
};

/* injection.c: senders 1, 2, ... of end ports. */
struct pull_state {
	struct pull *ports; /* end ports with such senders */
	uint32_t *of_port;  /* sim port to index in `ports` */
	struct injection_sender *senders;
	uint32_t n_ports, n_senders;
	struct packet_queue *queues; /* queues of plain senders */
};

/* arbiters.c: VL arbitration tables of outputs. */
struct arb_state {
	struct arbiter_table *tables;
	uint32_t n_tables;
	size_t tables_cap;
	struct arbiter_places *places;
	uint32_t next_change; /* next change of the setup (T11c) */
};

/* crossbar.c: readers of inputs, round-robin state of outputs. */
struct cross_state {
	struct crossbar_reader *readers; /* n_readers per port, if limited */
	hd_time *granted;    /* per outlet, 1 + time of the last grant; if readers limited */
	hd_time *release_at; /* per input port: time of its EV_RELEASE */
	uint8_t *vl;         /* per outlet: data VL granted last; cioq only */
};

/* source.c: traffic sources. */
struct make_state {
	struct source *sources;
	struct source_state *states;
	struct source_plan *plans;
	uint32_t n_plans;
	size_t plans_cap;
	const struct sim_arrival *arrivals;
	size_t n_arrivals, next_arrival;
};

/* metrics_ports.c: port counters that are not in struct port_vl. */
struct sums_state {
	struct count *by_sl; /* n_sls per port; NULL if VL counters suffice */
	uint32_t *carries;   /* per VL: overflows of port_vl.packets */
	struct rare_counters *rare;
	/* Per port: remaining transmission time of the packet on the link when measuring began. */
	hd_time *carried;
	/* Per port: packets not received, by VL and then by used SL. */
	struct count *missed;
};

/* state.c: all packet records. */
struct pool_state {
	struct packet_record *all;
	struct packet_extra *extras; /* per id; NULL if the run needs no such fields */
	uint32_t free, alive;
	uint32_t n; /* records ever used; capacity */
	size_t cap;
};

/* ring.c: overflow of rings. */
struct spill_state {
	struct spill *all;
	uint32_t n, free;
	size_t cap;
};

/* fault.c. */
struct fault_state {
	struct rare_port *rare_ports; /* see rare_at; per port, or one for all */
	uint32_t rare_mask;
	struct stuck *stuck;
};

/* state.c: transmission times. */
struct rate_state {
	hd_time **durations; /* [rate][bytes]; 0: not computed yet */
	struct hd_rate *all;
	uint32_t n;
};

/* state.c: properties of the fabric, constant during a run. */
struct mode_state {
	bool fifo;       /* only the oldest packet of an input buffer may go (T6) */
	bool merges;     /* fifo, and mixes or shared VLs */
	bool cioq;       /* crossbar with output buffers (T9) */
	bool oldest;     /* of several inputs, the oldest packet goes (T7) */
	bool exact;      /* flow-control packets occupy the link (T5) */
	bool wide;       /* some switch has more than 64 inputs */
	bool one_rate;   /* all links have the same rate */
	bool hoq;        /* the head-of-queue lifetime is limited (F5) */
	bool routers;    /* the fabric has routers */
	bool mixes;      /* packets of several input VLs meet on one output VL */
	bool fills;      /* marking depends on buffer occupancy */
	bool vls_change; /* VLs and partitions change during the run (T11l) */
	bool sls_vary;   /* packets of a flow may have a different SL than the flow */
	/*
	 * Multicast copies carry their number of members (M5), because member sets change or do
	 * not reach all members. Otherwise the number follows from the position in the tree.
	 */
	bool shares;
};

/* engine.c: ports to arbitrate at this instant. */
struct instant_state {
	struct port_list pending_links, crossed, downed, updating;
};

/* run.c: progress of the run. */
struct run_state {
	bool to_the_end;  /* run until the limit even if no work is left */
	bool is_to_pause; /* after this instant (sim_pause) */
	hd_time pause_at; /* set by sim_pause_after; or NEVER */
	bool has_paused;  /* paused at pause_at */
	bool full;        /* memory is exhausted; see rules.yields */
	bool is_stuck;    /* deadlocked (M3) */
	bool has_begun;   /* events were processed, and it may be partitioned (domains.h) */
	bool has_rows;    /* ports have rows (port_state.c) */
	bool is_loaded;   /* restored from a checkpoint: all ports have rows */
};

/* run.c: endpoints, which exchange packets outside of flows. */
struct ends_state {
	struct sim_endpoint *all;
	uint32_t n;
	uint32_t poster; /* 1 + the endpoint of posted flows; 0: none */
	/* A5: per sim node, when its next packet may enter; NULL: no endpoint routes. */
	hd_time *next_at;
};

/* metrics.c: results. */
struct outcome_state {
	uint64_t hops, hops_before, events, events_checked, hops_checked;
	uint64_t delivered_all; /* including the warm-up */
	hd_time latest;         /* latest end of a packet or of a sim_run */
	hd_time latest_moved;   /* of a packet */
	hd_time margin;         /* longest time that a grant reaches ahead */
	struct metrics_tally *tally;
	struct sim_metrics *metrics;
};

/* mailbox.c, domains.c: messages of a domain in this window. */
struct mail_state {
	bool stops_dry;        /* stop when only timers are pending */
	bool is_elsewhere;     /* computed by another process */
	bool is_dry;           /* only timers are pending there */
	struct mailbox *boxes; /* one per domain */
	size_t n_queued;       /* pending events in the computing process (remote.h) */
	hd_time next_event;    /* time of the first of them */
	uint64_t mailed[MAIL_KINDS];
	uint64_t events_before; /* in this window */
	hd_time told;           /* earliest time at which sent messages take effect */
	uint64_t window_n;      /* deliveries of this window */
	uint64_t window_sum;    /* sum of their latencies */
};

struct sim {
	/* engine.c: pending events. */
	struct eventq q;
	hd_time now;
	hd_time horizon; /* later events do not count */
	hd_time from;    /* start of measuring; NEVER during the warm-up */
	struct pool_state pool;

	/* hop.h, ring.h: per sim port. */
	struct sim_output *links;
	struct ring *rings;
	struct port_vl *port_vls; /* n_vls each */
	uint8_t vl_of_sl[N_SLS];  /* for all ports, if sums.by_sl is NULL */
	/* Outputs with virtual output queues: the links, or with cioq the crossbar outputs. */
	struct sim_output *outlets;
	struct ring *outlet_rings;
	struct port_vl *outlet_vls;
	/*
	 * Per VL: credits of a link, or free blocks of an output buffer; credits due in rings
	 * are not yet added. Separate from port_vls, so that applying a ring does not touch
	 * these.
	 */
	uint16_t *credits, *outlet_credits;

	/* voq.h. */
	struct heads heads; /* of VLs of outlets */
	uint64_t *words;    /* 4 per VL of outlets, if a node is wide */
	struct spill_state spill;

	/* nodes.c; switch.c; update.c. */
	struct node *nodes;
	const uint8_t *lft;       /* LFTs in blocks */
	struct lft_blocks blocks; /* block offsets of the subnet's rows; or NULLs */
	struct fifo *fifos;       /* per port and VL; fifo only */
	struct flow_control *fc;  /* per port and VL; lossy or exact */
	struct fault_state fault;

	/* State of other modules, each with a file of its own. */
	struct cross_state cross;
	struct arb_state arb;
	struct pull_state pull;
	struct make_state make;
	struct sums_state sums;
	struct observer_state tell;
	struct vl_sharing *sharing;    /* NULL: no VL sharing */
	struct control *control;       /* NULL: no congestion control */
	struct marks *marks;           /* NULL: no switch marks */
	struct probes *probes;         /* NULL: no admission by probe (C8) */
	struct choices *choices;       /* NULL: no adaptive routing (D1) */
	struct switch_tables *routes;  /* NULL: no forwarding table changes (T11r) */
	struct reductions *reductions; /* NULL: no in-network reduction (S1) */
	struct members *members;       /* NULL: no flow sends to a group (M5) */

	/* state.c, from the setup. */
	struct rate_state rate;
	uint32_t n_vls; /* data VLs, then VL15 if used */
	uint32_t vl15;  /* index of VL15 */
	uint32_t n_sls;
	uint8_t sl_index[16];
	uint32_t max_bytes, max_blk;
	uint32_t n_readers;                  /* readers per input port; 0: no limit */
	bool notifies_passages;              /* an endpoint observes the passages of its packets */
	bool asks_for_routes;                /* an endpoint routes its packets (A5) */
	hd_time routing, arbitration, delay; /* r, a, r + a */
	struct mode_state mode;
	enum hop_variant hop_variant;

	struct run_state run;
	struct instant_state instant;

	/* Owned by the caller. */
	const struct sim_setup *setup;
	const struct sim_flow *flows;
	uint32_t n_flows;
	struct sim_rules rules;
	struct ends_state ends;
	uint32_t background; /* pending events that do not keep the run alive */
	struct outcome_state outcome;

	/* domains.c: partitioning. */
	uint32_t part;         /* of a domain: its number */
	struct domains *parts; /* of the whole run; NULL: not partitioned */
	const char
		*not_partitioned_because;   /* and why; NULL: not requested, or it is partitioned */
	const struct domain_partition *cut; /* of a domain; NULL: this is the whole run */
	struct mail_state mail;
};

static inline struct packet_record *packet_at(struct sim *s, uint32_t id)
{
	return &s->pool.all[id];
}

static inline uint32_t packet_id(const struct sim *s, const struct packet_record *p)
{
	return (uint32_t)(p - s->pool.all);
}

/* Packets that a switch creates (S4) have no sending port. */
static inline bool is_made_here(const struct packet_record *p)
{
	return p->up == NONE;
}

/* The output port of a node for a DLID, LFT_NO_PORT if none. */
static inline const uint8_t *lft_entry(const struct sim *s, const struct node *n, lid_t dlid)
{
	return &s->lft[n->lft_at[dlid / LFT_BLOCK_LIDS] + (ptrdiff_t)dlid];
}

static inline struct rare_port *rare_at(const struct sim *s, uint32_t port)
{
	return &s->fault.rare_ports[port & s->fault.rare_mask];
}

/* Has it a cable? */
static inline bool is_plugged(const struct sim *s, uint32_t port)
{
	return s->setup->ports[port].peer != SIM_NONE;
}

/* The endpoint that routes the packet (A5), or NULL: the tables do. */
static inline const struct sim_endpoint *packet_router(const struct sim *s,
						       const struct packet_record *p)
{
	if (likely(!s->asks_for_routes))
		return NULL;
	unsigned number = s->pool.extras[packet_id(s, p)].endpoint;

	return number && s->ends.all[number - 1].routes ? &s->ends.all[number - 1] : NULL;
}

static inline uint32_t index_of_vl(const struct sim *s, unsigned vl)
{
	return vl == VL_MANAGEMENT ? s->vl15 : vl;
}

/* Index into sim.rates; equal rates have one index. */
uint8_t sim_rate_number(struct sim *s, struct hd_rate rate);

/* D(bytes) at a rate of the run. */
hd_time sim_duration_compute(struct sim *s, unsigned rate, uint32_t bytes);

static inline hd_time duration_of(struct sim *s, unsigned rate, uint32_t bytes)
{
	hd_time d = s->rate.durations[rate][bytes];

	return likely(d) ? d : sim_duration_compute(s, rate, bytes);
}

uint32_t sim_packets_grow(struct sim *s);

/* May move the packets: pointers to them are void afterwards. */
static inline uint32_t packet_new(struct sim *s)
{
	uint32_t id = s->pool.free;

	if (unlikely(id == NONE))
		return sim_packets_grow(s);
	s->pool.free = s->pool.all[id].next;
	s->pool.alive++;
	return id;
}

static inline void packet_free(struct sim *s, struct packet_record *p)
{
	p->next = s->pool.free;
	p->flags = 0;
	s->pool.free = packet_id(s, p);
	s->pool.alive--;
}

static inline void port_list_add(struct port_list *l, uint32_t port)
{
	l->ports[l->n++] = port;
}

struct sim *sim_state_new(const struct sim_setup *setup, const struct sim_flow *flows,
			  uint32_t n_flows, const struct sim_rules *rules);
/* With several processes: collects the state that sim_backlog() needs. All processes call it. */
void sim_backlog_note(struct sim *s);

#endif
