/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CORE_SIM_INTERNAL_H
#define HD_SIM_CORE_SIM_INTERNAL_H

/*
 * The engine's memory. Internal to src/sim.
 *
 * What a hop touches is laid out by the cache line: a packet is one line, a
 * link (as its sender) one line, its credits on their way one line, and two
 * VLs share a line. All are dense arrays indexed by sim port, VL or packet
 * number. Nothing is allocated on the path of a packet, apart from arrays
 * that grow.
 *
 * Time that can be computed is not an event. A grant fixes when the head
 * arrives and when the packet may leave again, so it schedules that (EV_READY)
 * and nothing in between. Credits wait in a ring, sorted by the time at which
 * they count, and are applied when the number is read. A port has at most one
 * useful EV_WAKE pending, and only while something waits. What the future may
 * still change cannot be computed ahead and has events of its own: VL15, whose
 * packets need space at their arrival, and flow-control updates, which may be
 * lost or share the link.
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
 * What every hop runs, compiled into one function for each of hop.h's ways. A
 * build that watches itself would be compiled ten times as long for that, and
 * runs ordinary functions.
 */
#ifdef HD_CHECKS
#define HOT static inline
#else
#define HOT static inline __attribute__((always_inline))
#endif

/* ---- packets ----------------------------------------------------------- */

enum packet_flag {
	P_CORRUPT = 1, /* F1: the next port drops it */
	P_SOURCE = 2,  /* of a saturating flow: its grant makes the next */
	P_WAITS = 4,   /* first and ready in a queue (F5) */
	P_SHARED = 8,  /* not a copy but the buffer slot that copies share */
	P_TOLD = 16,   /* its delivery is an event: an observer needs it */
	P_MARKED = 32, /* FECN of data, BECN of an answer */
	P_OTHER = 64,  /* no data: its kind is in packet_extra */
	P_LAST = 128,  /* the last one of a flow with a reservation (C8) */
	/* What stays with it on its way. */
	P_STAYS = P_TOLD | P_MARKED | P_OTHER | P_LAST
};

#define PACKET_BYTES 0xffffffu /* the most */

/*
 * A packet, or one copy of it on its way to one output. Queues are linked
 * through `next`; the first of a virtual output queue knows its last.
 *
 * A multicast packet in a switch is one record P_SHARED for its slot in the
 * buffer (left = copies still there, ready = when the last of those that are
 * gone has left) and one per copy, whose `slot` names it.
 */
struct packet_record {
	hd_time born;
	hd_time ready; /* at the stage that it waits for */
	hd_time head;  /* h here; in an output queue x1 (T9) */
	uint32_t next;
	union {
		uint32_t tail; /* of its queue, if first */
		uint32_t left; /* of P_SHARED */
	};
	uint32_t flow, sequence;
	uint32_t out;  /* sim port: the output that it goes to */
	uint32_t up;   /* sim port that sent it here */
	uint32_t slot; /* NONE: has the buffer for itself */
	uint32_t bytes : 24, flags : 8;
	uint16_t dlid, pkey;
	uint8_t in; /* number of the input port here */
	uint8_t vl; /* VL of the buffer that it occupies */
	uint8_t out_vl;
	uint8_t sl;
};

/* What only some runs need to know of a packet; same index. */
struct packet_extra {
	uint32_t cookie, source;
	/* R1; TOPO_NONE within a subnet, else the GRH's and last router's. */
	port_id target;
	uint8_t tclass, hop_limit;
	lid_t slid;
	hd_time first; /* F5: since when it is ready and first */
	uint32_t nth;  /* of its flow's grants (C6), from 1; or as given; of a
			* flow's copy to a group: members that it goes to (M5) */
	uint8_t kind;  /* enum sim_packet_kind */
	/* 1 + the endpoint that sent it; 0: none did. */
	uint8_t endpoint;
	uint8_t turn; /* of its sim_arrival */
	/* Of runs in which an endpoint is notified of passages. */
	struct sim_waits waits;
};

/* ---- ports ------------------------------------------------------------- */

enum output_flag {
	L_UP = 1,
	L_END = 2,        /* of an end port */
	L_FAR_END = 4,    /* leads to an end port */
	L_QUEUED = 8,     /* its VLs are queues; else virtual output queues */
	L_LOWEST = 16,    /* the lowest VL goes: there is one, or T10s */
	L_PENDING = 32,   /* in this instant's list */
	L_SLOW_PATH = 64, /* faults, observers (grants ask fault_link_fate), P_Keys */
	L_PULLS = 128,    /* an end port with more senders than sender 0 (T13p) */
};

/* A link as seen by its sender, or an output of a crossbar (T9). */
struct sim_output {
	hd_time busy_until;
	hd_time since;   /* requests is not 0 since */
	hd_time wake_at; /* of its useful event, or NEVER */
	hd_time waited;  /* XmitWait until the last grant */
	hd_time prop;
	uint32_t peer;
	uint32_t far_node;
	uint16_t requests;   /* VLs with a packet that is first and ready */
	uint16_t table;      /* of sim.arb.tables */
	uint16_t low_credit; /* VLs that may lack credits for the largest packet, */
			     /* unless the ring has some */
	struct arbiter arb;
	uint8_t rate; /* of sim.rates */
	uint8_t flags;
};

/* One VL of an output. */
struct port_vl {
	union {
		uint64_t inputs; /* with a packet ready; wide: words of it */
		struct {
			uint32_t first, last;
		} queue;
	};
	uint64_t bytes;   /* sent */
	uint32_t packets; /* sent, modulo 2^32; see sim.sums */
	uint32_t heads;   /* of sim.heads: its row, if several compete */
	uint32_t solo;    /* the first packet, if there is one input; or NONE */
	uint16_t least;   /* fewest credits there ever were */
	uint8_t rr;       /* input granted last */
	uint8_t unused;
};

/* Rows of a packet for each input (voq.h). */
struct heads {
	uint32_t *slots;
	uint32_t row;  /* slots of a row */
	uint32_t mask; /* of an input's number, for its slot */
	uint32_t free; /* the first free row, linked; or NONE */
	uint32_t n;    /* slots that are in some row */
	size_t cap;
};

#define RING_INLINE 4
enum ring_mode {
	RING_PLAIN, /* credits are never lost: computed */
	RING_LOSSY, /* delay mode, F2: by events */
	RING_EXACT,
};

/* Credits on their way back to an output, by time; the rest in sim.spills. */
struct ring {
	hd_time when[RING_INLINE];
	uint16_t what[RING_INLINE]; /* credit_ring_what */
	hd_time delay;              /* from space to credit */
	uint64_t area;              /* blocks x ps of the buffer at the far end */
	uint32_t spill;             /* of sim.spills, or NONE */
	uint8_t n;
	uint8_t waiting_for_credit; /* link free, but no credits for requests */
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
	uint32_t next;  /* of the free ones */
	size_t cap;
};

/* Flow control by counters (T5, F2): per port and VL, both roles. */
struct flow_control {
	uint16_t sent, limit; /* as sender: FCTBS, last FCCL */
	uint16_t abr, held;   /* as receiver: ABR, blocks in the buffer */
	uint16_t offer;       /* lossy: what the next update says */
	uint16_t lost;        /* as sender: blocks lost with the link (F3) */
};

/* One input buffer of a `fifo` switch. */
struct fifo {
	uint32_t next, last; /* those behind the first one, by arrival */
	hd_time free_at;     /* when the one before the first has left */
	bool has_first;      /* which is in virtual output queues */
};

/* One of the readers of an input port (T8). */
struct crossbar_reader {
	hd_time until;
	uint32_t slot; /* NONE, or the multicast slot that it reads */
};

struct count {
	uint64_t bytes, packets;
};

/* What happens to few packets; the rest of sim_counters is computed. */
struct rare_counters {
	uint64_t xmit_discards, rcv_errors, rcv_relay_errors;
	uint64_t xmit_constraint_errors, rcv_constraint_errors;
	uint64_t vl15_dropped, hop_limit_exceeded, link_lost, link_downed;
	uint64_t updates_sent, multicast_sent;
	/* Sent by the far end and not received. */
	uint64_t missed_updates, missed_multicast;
};

_Static_assert(sizeof(struct rare_counters) <= 104, "there are hundreds of thousands of ports");

/* Packets in a row, linked through `next`. */
struct packet_queue {
	uint32_t first, last; /* NONE: it is empty */
};

/* What only runs with faults, exact credits or VL15 need of a port. */
struct rare_port {
	hd_time next_down;   /* of its link, or NEVER */
	hd_time refresh;     /* period of T5's timer; 0 = none */
	hd_time update_time; /* D(6) */
	struct rng errors, losses;
	double log_ok; /* log1p(-ber), or 0 */
	uint16_t vl15_held;
	uint16_t pending; /* VLs with an update to send */
	uint8_t update_vl;
	uint32_t stuck; /* of sim.stuck, first that may matter; NONE */
	/* F7: packets that a stuck sink holds, by tail. */
	struct packet_queue held;
};

/* [from, until) in which a sink is stuck; `next` is a later one. */
struct stuck {
	hd_time from, until;
	uint32_t next;
};

/* ---- nodes ------------------------------------------------------------- */

struct node {
	const int32_t *lft_at;   /* of sim.lft; never NULL: lft_entry */
	const uint8_t *vl_of_sl; /* if all pairs of ports have the same */
	uint32_t lft_len;
	uint32_t first_port;
	uint32_t n_in; /* input numbers 0 .. n_in - 1 */
	uint32_t switch_id;
	uint16_t subnet;
	uint8_t vls;   /* of all its ports, if the same; else 0 */
	uint8_t kind;  /* enum sim_node_kind */
	uint8_t low;   /* plain: output numbers are low .. 254 */
	bool plain;    /* LFT, vl_of_sl and vls decide all */
	bool enforces; /* P_Keys */
	bool uniform;  /* SL2VL and VLs: for all ports the same, all run; no P_Keys */
};

/* ---- senders (T13p) ----------------------------------------------------- */

/* Sender 1, 2, ... of an end port. */
struct injection_sender {
	uint32_t throttle; /* of control.throttles; NONE: a plain one */
	/* A plain one: */
	uint32_t queues;            /* of sim.pull.queues, one per VL */
	struct packet_queue coming; /* given ahead of their time, by time */
	uint32_t sequence;          /* of its next packet */
};

/* An end port that has some. */
struct pull {
	uint32_t first;    /* of sim.pull.senders: the port's number 1 */
	uint32_t n;        /* senders, with 0 */
	uint32_t words;    /* of a set of senders */
	uint32_t port;     /* sim port */
	uint64_t *offers;  /* per VL: who offers a packet */
	uint32_t *turns;   /* per VL: who was granted last */
	uint32_t granted;  /* who has just been granted, */
	uint32_t cookie;   /* of sim_inject, */
	uint32_t endpoint; /* and whose packet it was, as packet_extra's */
};

/* ---- sources ----------------------------------------------------------- */

/* What flows of one kind share. */
struct source_plan {
	const struct sim_address *list;
	uint32_t n;
	uint32_t bytes;
	double gap; /* mean, ps */
	struct sim_interval interval;
	uint16_t pkey;
	uint8_t sl, vl;
	uint8_t kind;    /* SIM_POISSON or SIM_CBR */
	bool is_uniform; /* else to list[0] */
};

/* One cache line: all that a flow with a plan needs. */
struct source {
	struct rng rng;
	hd_time at; /* of the next message */
	union {
		uint64_t part;   /* CBR: numerator of the rest below 1 ps */
		double fraction; /* of a ps, others */
	};
	uint32_t sequence;
	uint32_t plan; /* of sim.make.plans, or NONE */
	uint32_t self; /* its place in the plan's list */
	uint32_t out;  /* sim port that it sends by */
};

_Static_assert(sizeof(struct source) == 64, "a source is a cache line");

/* What flows of other kinds also need. */
struct source_more {
	hd_time turn;               /* on-off: when this burst ends */
	uint64_t made;              /* messages */
	uint32_t place;             /* SIM_TO_CYCLE, SIM_TRACE */
	uint32_t sent_of_message;   /* packets of one that is under way */
	struct sim_address current; /* SIM_SATURATING: of this message */
	uint32_t before;            /* with a plan: made before measuring began */
	bool is_over;               /* its last packet is made (C8) */
};

/* ---- the whole --------------------------------------------------------- */

/*
 * Which questions can arise on the way of a packet (hop.h); from HOP_DOMAIN on, in
 * a part of a fabric that is cut (domains.h).
 */
enum hop_variant {
	HOP_GENERAL,
	HOP_CONTROLLED,
	HOP_FAST,
	HOP_DOMAIN = 4,
	HOP_DOMAIN_CONTROLLED,
	HOP_DOMAIN_FAST
};

/* What parts tell each other (domains.h). */
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
	/* Notifications that some observer needs; ends: delivered or ended. */
	bool delivered, ended, granted, updated, ends;
	struct observer_queue queue;
};

/* injection.c: senders 1, 2, ..., if there are any. */
struct pull_state {
	struct pull *ports; /* those that pull */
	uint32_t *of_port;  /* sim port to those */
	struct injection_sender *senders;
	uint32_t n_ports, n_senders;
	struct packet_queue *queues; /* of plain senders */
};

/* arbiters.c: the tables of outputs. */
struct arb_state {
	struct arbiter_table *tables;
	uint32_t n_tables;
	size_t tables_cap;
	struct arbiter_places *places;
	uint32_t next_change; /* of the setup's (T11c) */
};

/* crossbar.c: readers of inputs, turns of outputs. */
struct cross_state {
	struct crossbar_reader *readers; /* n_readers per port; if limited */
	hd_time *granted;                /* per outlet, 1 + time; if readers limited */
	hd_time *release_at;             /* per input port, of its EV_RELEASE */
	uint8_t *vl;                     /* per outlet: data VL granted last; cioq */
};

/* source.c: what makes packets. */
struct make_state {
	struct source *sources;
	struct source_more *more;
	struct source_plan *plans;
	uint32_t n_plans;
	size_t plans_cap;
	const struct sim_arrival *arrivals;
	size_t n_arrivals, next_arrival;
};

/* metrics_ports.c: port counters that are not in the VLs. */
struct sums_state {
	struct count *by_sl; /* n_sls per port; NULL if VLs tell */
	uint32_t *carries;   /* per VL: of port_vl.packets */
	struct rare_counters *rare;
	/* Per port: of a packet that was being sent as measuring began. */
	hd_time *carried;
	/* Per port: packets not received, by VL and then by SL in use. */
	struct count *missed;
};

/* state.c: all packets there are. */
struct pool_state {
	struct packet_record *all;
	struct packet_extra *extras; /* NULL unless needed */
	uint32_t free, alive;
	uint32_t n; /* records ever used; there is room for */
	size_t cap;
};

/* ring.c: what rings have no room for. */
struct spill_state {
	struct spill *all;
	uint32_t n, free;
	size_t cap;
};

/* fault.c. */
struct fault_state {
	struct rare_port *rare_ports; /* rare_at; by port, or one for all */
	uint32_t rare_mask;
	struct stuck *stuck;
};

/* state.c: what a packet takes. */
struct rate_state {
	hd_time **durations; /* [rate][bytes], 0 = not computed yet */
	struct hd_rate *all;
	uint32_t n;
};

/* state.c: of what kind the fabric is, the same from beginning to end. */
struct mode_state {
	bool fifo;       /* the oldest packet of an input buffer alone goes (T6) */
	bool merges;     /* fifo, and mixes or VLs on loan */
	bool cioq;       /* a crossbar, then buffers at the outputs (T9) */
	bool oldest;     /* of several inputs, that of the oldest packet (T7) */
	bool exact;      /* flow-control packets take time on the link (T5) */
	bool wide;       /* some switch has more than 64 inputs */
	bool one_rate;   /* all links have the same */
	bool hoq;        /* the first of a queue may wait too long (F5) */
	bool routers;    /* there are some */
	bool mixes;      /* packets of several VLs of an input meet in one */
	bool fills;      /* marks look at how full buffers are */
	bool vls_change; /* VLs and partitions change (T11l) */
	bool sls_vary;   /* packets of a flow may have another SL than the flow */
	/* Copies to a group have the number of members with them (M5): sets
	 * change, or do not lead to all. Else it follows from their place. */
	bool shares;
};

/* engine.c: ports of this instant. */
struct instant_state {
	struct port_list pending_links, crossed, downed, updating;
};

/* run.c: how far it has come. */
struct run_state {
	bool to_the_end;  /* even if nothing is left to do */
	bool is_to_pause; /* after this instant (sim_pause) */
	hd_time pause_at; /* sim_pause_after; or NEVER */
	bool has_paused;  /* there */
	bool full;        /* memory is short; see rules.yields */
	bool is_stuck;    /* for ever (M3) */
	bool has_begun;   /* and may have been cut (domains.h) */
	bool has_rows;    /* of ports (port_state.c) */
	bool is_loaded;   /* from a checkpoint, so that all ports have some */
};

/* run.c: endpoints, which send and receive packets outside of flows. */
struct ends_state {
	struct sim_endpoint *all;
	uint32_t n;
	uint32_t poster; /* the endpoint of posted flows, + 1; 0: none */
};

/* metrics.c: what came of it. */
struct outcome_state {
	uint64_t hops, hops_before, events, events_checked, hops_checked;
	uint64_t delivered_all; /* warm-up too */
	hd_time latest;         /* end of a packet, or of a sim_run */
	hd_time latest_moved;   /* of a packet */
	hd_time margin;         /* the longest that a grant reaches ahead */
	struct metrics_tally *tally;
	struct sim_metrics *metrics;
};

/* mailbox.c, domains.c: of a domain, the mail of this window. */
struct mail_state {
	bool stops_dry;        /* if it has nothing to do but timers */
	bool is_elsewhere;     /* another process computes it, */
	bool is_dry;           /* and has nothing to do there */
	struct mailbox *boxes; /* to each part */
	size_t n_queued;       /* events, where it is computed (remote.h), */
	hd_time next_event;    /* and the first of them */
	uint64_t mailed[MAIL_KINDS];
	uint64_t events_before; /* this window */
	hd_time told;           /* the earliest that they can matter */
	uint64_t window_n;      /* deliveries of this window, */
	uint64_t window_sum;    /* and their latencies */
};

struct sim {
	/* engine.c: what comes next. */
	struct eventq q;
	hd_time now;
	hd_time horizon; /* what happens after it is not counted */
	hd_time from;    /* measuring since; NEVER in the warm-up */
	struct pool_state pool;

	/* hop.h, ring.h: per sim port. */
	struct sim_output *links;
	struct ring *rings;
	struct port_vl *port_vls; /* n_vls each */
	uint8_t vl_of_sl[N_SLS];  /* everywhere, if sums.by_sl is NULL */
	/* Where virtual output queues are: links, or cioq's crossbars. */
	struct sim_output *outlets;
	struct ring *outlet_rings;
	struct port_vl *outlet_vls;
	/*
	 * Per VL: credits of a link, or space of an output buffer, as far as
	 * rings have been looked at. Apart from the VLs, so that a ring is
	 * applied without them.
	 */
	uint16_t *credits, *outlet_credits;

	/* voq.h. */
	struct heads heads; /* of VLs of outlets */
	uint64_t *words;    /* 4 per VL of outlets, if any node is wide */
	struct spill_state spill;

	/* nodes.c; switch.c; update.c. */
	struct node *nodes;
	const uint8_t *lft;       /* forwarding tables in blocks */
	struct lft_blocks blocks; /* where the subnet has rows; or NULLs */
	struct fifo *fifos;       /* per port and VL; fifo only */
	struct flow_control *fc;  /* per port and VL; lossy or exact */
	struct fault_state fault;

	/* Parts that have a file of their own. */
	struct cross_state cross;
	struct arb_state arb;
	struct pull_state pull;
	struct make_state make;
	struct sums_state sums;
	struct observer_state tell;
	struct vl_sharing *borrow;     /* NULL: no VLs on loan */
	struct control *control;       /* NULL: no congestion control */
	struct marks *marks;           /* NULL: no switch marks */
	struct probes *probes;         /* NULL: no flow asks (C8) */
	struct choices *choices;       /* NULL: no switch chooses (D1) */
	struct switch_tables *routes;  /* NULL: no forwarding table changes (T11r) */
	struct reductions *reductions; /* NULL: no switch reduces (S1) */
	struct members *members;       /* NULL: no flow sends to a group (M5) */

	/* state.c, from the setup. */
	struct rate_state rate;
	uint32_t n_vls; /* data VLs, then VL15's if there is any */
	uint32_t vl15;  /* its VL */
	uint32_t n_sls;
	uint8_t sl_index[16];
	uint32_t max_bytes, max_blk;
	uint32_t n_readers;                  /* 0 = no limit */
	bool notifies_passages;              /* an endpoint, of its packets */
	bool asks_for_routes;                /* an endpoint routes its packets (A5) */
	hd_time routing, arbitration, delay; /* r, a, r + a */
	struct mode_state mode;
	enum hop_variant hop_variant;

	struct run_state run;
	struct instant_state instant;

	/* The caller's. */
	const struct sim_setup *setup;
	const struct sim_flow *flows;
	uint32_t n_flows;
	struct sim_rules rules;
	struct ends_state ends;
	uint32_t background; /* pending events that keep nothing going */
	struct outcome_state outcome;

	/* domains.c: several parts. */
	uint32_t part;         /* its number, of a part */
	struct domains *parts; /* of the whole; NULL: it is not cut */
	const char
		*not_partitioned_because;   /* and why; NULL: not requested, or it is partitioned */
	const struct domain_partition *cut; /* of a part; NULL: it is the whole */
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

/* Of packets that a switch has made (S4) there is no port that sent them. */
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

/* Of sim.rates; the same for equal rates. */
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
