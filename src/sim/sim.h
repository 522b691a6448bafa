/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_SIM_H
#define HD_SIM_SIM_H

/*
 * The fabric simulator: a setup (setup.h) carries flows (flow.h) under the
 * rules of docs/timing-rules.md, and metrics come out.
 *
 *	struct sim *s = sim_new(&setup, flows, n_flows, &rules);
 *	enum sim_state state = sim_run(s, HD_TIME_NEVER, show, &bar);
 *	const struct sim_metrics *m = sim_metrics(s);
 *	...
 *	sim_free(s);
 *
 * Setup, flows and what they point to are borrowed until sim_free. A run
 * depends on nothing but them: the same input gives the same metrics, bit for
 * bit, on every machine.
 *
 * Packets may also come from outside (sim_inject), from endpoints that are notified
 * of deliveries and timers: this is how adapters and protocols sit on end
 * ports. Their callbacks run inside the instant that they tell of, in phase 2
 * of T2: what they inject for the same instant is still sent in it. Observers
 * see what happens and cannot change it.
 */

#include "base/pack.h"
#include "fabric/flow.h"
#include "fabric/limits.h"
#include "fabric/setup.h"
#include "measure/histogram.h"
#include "measure/interval.h"
#include "sim/metrics/record.h"

struct sim;

enum sim_state {
	SIM_PAUSED,   /* `until` reached, or the progress callback said so */
	SIM_ENDED,    /* a stop rule ended the run */
	SIM_IDLE,     /* nothing left to do, nothing under way */
	SIM_DEADLOCK, /* packets wait and nothing can ever move them */
	SIM_FULL,     /* memory is short (rules.yields); nothing is lost yet */
	SIM_BROKEN,   /* another process sent invalid bytes */
};

struct sim_progress {
	hd_time now;
	uint64_t delivered; /* packets, warm-up included */
	uint64_t hops;      /* packets granted on a link */
	double share;       /* of the run done, as the stop rules see it */
	bool warm;          /* the warm-up is over */
	hd_time from;       /* measured from here; HD_TIME_NEVER: not known yet */
};

/* Called some thousand times a second of computing; false pauses the run. */
typedef bool sim_progress_fn(void *context, const struct sim_progress *p);

/* Rules that measure everything and never end a run. */
void sim_rules_init(struct sim_rules *rules);

struct sim *sim_new(const struct sim_setup *setup, const struct sim_flow *flows, uint32_t n_flows,
		    const struct sim_rules *rules);
void sim_free(struct sim *s);

/* Runs through all instants up to and including `until`; may be repeated. */
enum sim_state sim_run(struct sim *s, hd_time until, sim_progress_fn *progress, void *context);
/* Inside a callback of a run that is not cut: pauses it after this instant. */
void sim_pause(struct sim *s);
/*
 * Inside a callback of any part, about an instant that is not after it: pauses
 * the run at `when`, or of a run that is cut a constant time later. Then
 * sim_has_paused is true. No other instant may be asked for before that.
 */
void sim_pause_after(struct sim *s, hd_time when);
bool sim_has_paused(const struct sim *s);
/*
 * The time never goes back: a run that becomes idle is over when its last
 * packet has ended, or when it last paused. This takes back that it did, as if
 * it had been run to here and beyond in one go.
 */
void sim_forget_pause(struct sim *s);
/*
 * When it has paused: it ends a margin from now (M2), or before. What ends
 * within a margin has been counted already.
 */
void sim_end(struct sim *s);
hd_time sim_now(const struct sim *s);
/* The next instant of a run that is not cut; HD_TIME_NEVER: the run is idle. */
hd_time sim_next(struct sim *s);
/* Input-queued switches: the link of `port` sends at this rate from its next grant on. */
void sim_set_rate(struct sim *s, uint32_t port, struct hd_rate rate);
void sim_progress(const struct sim *s, struct sim_progress *out);

/*
 * rules.threads compute a run together, in as many parts or rules.parts; its
 * outcome is the same for any number of both. After sim_run: into how many
 * parts the run is cut; if only one although more were requested, why ("it has one
 * switch"), else NULL.
 */
uint32_t sim_is_cut(const struct sim *s, const char **why_not);

/*
 * With rules.world, processes compute a run together: all of them make the same
 * calls, from sim_new to sim_run, and the first has the results. Before the
 * first sim_run: shares it among them, or says why that cannot be.
 */
const char *sim_share(struct sim *s);
/* What the first of them says, which all ask when nothing happens; one alone
 * gets its own value. */
bool sim_ask_first(struct sim *s, bool says);
/* After SIM_BROKEN: whose bytes they were. */
unsigned sim_broken_by(const struct sim *s);

/* What cutting costs and could bring; all zeros if the run is not cut. */
struct sim_cut_use {
	hd_time lookahead; /* the longest that a window may be */
	uint64_t windows;
	uint64_t events;
	uint64_t busiest;          /* those of the busiest part of each window */
	uint64_t packets, credits; /* from part to part, */
	uint64_t bytes;            /* and all mail */
};
void sim_cut_use(const struct sim *s, struct sim_cut_use *out);

/* ---- from outside ------------------------------------------------------ */

/* How long a packet waited on its way, if its endpoint is notified of passages. */
struct sim_waits {
	hd_time held;     /* at its first port, since its time */
	uint64_t longest; /* at a port that followed; 0: at none */
};

/* A wait above its port: the longer one is the larger number. */
static inline uint64_t sim_wait_at(hd_time waited, uint32_t port)
{
	const hd_time most = ((hd_time)1 << (64 - SIM_PORT_BITS)) - 1;

	return (waited < most ? waited : most) << SIM_PORT_BITS | port;
}

static inline hd_time sim_wait_time(uint64_t wait)
{
	return wait >> SIM_PORT_BITS;
}

static inline uint32_t sim_wait_port(uint64_t wait)
{
	return (uint32_t)(wait & (((uint64_t)1 << SIM_PORT_BITS) - 1));
}

/* What is known of a packet, for callbacks. */
struct sim_packet {
	hd_time born;
	uint32_t flow; /* SIM_NONE for injected ones */
	uint32_t sequence;
	enum sim_packet_kind kind;
	bool marked;      /* FECN of data, BECN of an answer */
	bool answered;    /* of a controlled flow: its destination answers (C5) */
	bool last;        /* ends the reservation of its flow (C8), */
	uint64_t reserve; /* in bits per second */
	uint32_t source;  /* sim node */
	lid_t dlid;
	uint16_t pkey;
	uint32_t bytes;
	uint8_t sl, vl;
	uint32_t cookie;  /* of sim_inject; C8: the device it is for */
	uint8_t endpoint; /* that injected it, + 1; 0: none did */
	struct sim_waits waits;
	/* Of its GRH, if it goes to another subnet (R1); else TOPO_NONE. */
	port_id target;
	uint8_t tclass, hop_limit;
	lid_t slid; /* of the router it comes from; 0: its source's */
	/* Of a packet granted: it is corrupted (F1) or lost (F3) here. */
	bool corrupt, lost;
};

/* A flow-control packet (T5, exact mode). */
struct sim_update {
	uint8_t vl;
	uint16_t fctbs, fccl;
	bool lost; /* does not reach the far end (F2, F3) */
};

/*
 * Sees a run and changes nothing in it. It is notified in the order of M4, the same
 * on any number of threads: of an instant some time after it, and of all until
 * sim_now before sim_run returns. Functions may be NULL.
 */
struct sim_observer {
	void *context;
	/* Every delivery. */
	void (*delivered)(void *context, hd_time now, uint32_t node, const struct sim_packet *p);
	/* Every end of a copy, deliveries too. */
	void (*ended)(void *context, const struct sim_event_record *e, const struct sim_packet *p);
	/* Every packet that starts on a link: captures and traces. */
	void (*granted)(void *context, hd_time now, uint32_t port, const struct sim_packet *p);
	/* Every flow-control packet that does, in exact mode. */
	void (*updated)(void *context, hd_time now, uint32_t port, const struct sim_update *u);
};
/* Any number of them, while it does not run; of one that is cut, before the
 * first sim_run. */
void sim_observe(struct sim *s, const struct sim_observer *o);

/* How a run is cut into parts. */
struct sim_cut {
	uint32_t n;
	uint32_t first, last; /* those of this process: up to last - 1 */
	struct sim *const *parts;
	const uint16_t *part_of_node;
};

static inline bool part_is_here(const struct sim_cut *cut, uint32_t part)
{
	return part >= cut->first && part < cut->last;
}

/*
 * Of a state that several processes save each writes a section, with the rows
 * of its own nodes; the first one has the sums as well. A continued run reads
 * all of them, one after the other.
 */
struct sim_section {
	uint32_t number;
	const uint16_t *of_node; /* NULL: there is one section, with all */
};

static inline bool section_has(const struct sim_section *s, uint32_t node)
{
	return !s->of_node || s->of_node[node] == s->number;
}

/* A packet of an endpoint starts on a link. */
struct sim_passage {
	uint32_t port; /* that sends */
	uint32_t bytes;
	uint32_t number; /* sim_arrival.number of its sender */
	/* Of its sender, who may be in another process. Of no meaning if a
	 * switch has made it (S4). */
	uint32_t cookie;
	/* Since it could have been sent: at its first port since its time, at a
	 * switch since it was routed (and the first of its buffer, if that
	 * matters). */
	hd_time waited;
	bool is_first;    /* link of its way */
	bool is_measured; /* no longer in the warm-up */
};

/* The head of a packet has reached a node (A5). */
struct sim_head {
	hd_time now, tail;
	uint32_t port;   /* input */
	uint32_t cookie; /* of sim_inject */
};

enum sim_step_kind {
	SIM_STEP_LOST,   /* no route */
	SIM_STEP_LEAVES, /* by output `out`, on `vl`; a packet on VL15 stays on VL15 */
	SIM_STEP_ENDS,   /* is delivered here, at `until` >= tail; its buffer is free then */
};

struct sim_step {
	enum sim_step_kind kind;
	uint32_t out;
	uint8_t vl;
	hd_time until;
};

/*
 * An endpoint is a sender of every end port (T13p): it gives packets to the
 * fabric and is notified of those that reach the endpoint at the far end. A packet
 * waits in the queue of its sender and VL from its time on; what is granted is
 * told, so that the next one need not be given before. Functions may be NULL.
 */
struct sim_endpoint {
	void *context;
	const char *name; /* of what it sends, in traces; borrowed */
	/* A packet of this endpoint has reached its destination. */
	void (*delivered)(void *context, hd_time now, uint32_t node, const struct sim_packet *p);
	void (*timer)(void *context, hd_time now, uint32_t cookie);
	/*
	 * A packet starts on the first link of its way; at `end` its last byte
	 * has left. The notification comes in phase 5, when links are granted: what is
	 * injected in answer is for a later grant.
	 */
	void (*granted)(void *context, hd_time now, hd_time end, uint32_t node, uint32_t cookie);
	/*
	 * One of its packets starts on some link of its way. Told to the part
	 * that the port is of; nothing may be injected in answer.
	 */
	void (*passes)(void *context, const struct sim_passage *p);
	/*
	 * A copy of one of its packets is lost at `when`. One that was sent is
	 * lost somewhere in the fabric: then its sender must not learn of it.
	 */
	void (*lost)(void *context, hd_time when, uint32_t cookie, bool was_sent);
	/*
	 * A5: routes the packets of this endpoint, at the instant at which the head reaches a node
	 * and the buffer has space for it. The forwarding tables and partitions of the setup do not
	 * apply. `out` is SIM_STEP_LOST unless the function sets it. Packets with this function may
	 * end at switches.
	 */
	void (*routes)(void *context, const struct sim_head *h, struct sim_step *out);
	/*
	 * A flow that is `posted` has made a message, which this endpoint
	 * carries in packets of its own; at most one endpoint does.
	 */
	void (*made)(void *context, hd_time now, uint32_t flow);
	/*
	 * The run is to be computed in n parts (domains.h): contexts[i] is for
	 * what happens at nodes of parts[i], to which they belong from now on.
	 * Notifications of different domains may come at the same time, and
	 * must not touch anything that another part's does. A run with an
	 * endpoint without this function is not cut.
	 */
	void (*cut)(void *context, const struct sim_cut *cut, void **contexts);
	/* Without it, why; NULL: programs run on its adapters. */
	const char *whole;
	/* Per node: another one whose part it must share, or itself; borrowed.
	 * NULL: any cut will do. */
	const uint32_t *joined;
	/*
	 * What it remembers, as bytes or back (base/pack.h), and the cookie of
	 * one of its packets that is under way. Asked of the endpoint as it was
	 * attached, whether it was cut or not. A run with an endpoint without
	 * these functions cannot be saved. If several processes save it, each
	 * first lists the cookies that are its own, and reads those of all.
	 */
	void (*list_cookies)(void *context, struct pack *p);
	void (*pack)(void *context, struct pack *p, const struct sim_section *section);
	void (*pack_cookie)(void *context, struct pack *p, uint32_t *cookie);
	/*
	 * Of a run that several processes compute, as it was attached, while
	 * nothing happens; what is read may be invalid. After each
	 * window: what part `from` has for part `to` of another process, which
	 * has it before any packet of that window can arrive there. And what
	 * the first process must know of a part to show results. A run with an
	 * endpoint without these functions is not shared.
	 */
	void (*mail)(void *context, struct pack *p, uint32_t from, uint32_t to);
	void (*collect)(void *context, struct pack *p, uint32_t part);
};
/* Before the first sim_run and sim_inject; at most 15. Returns its number. */
uint32_t sim_attach(struct sim *s, const struct sim_endpoint *e);
/* One that was attached; of a run that has not begun. */
const struct sim_endpoint *sim_attached(const struct sim *s, uint32_t number);
/* The name of the endpoint that injected the packet; NULL: none. */
const char *sim_sender_name(const struct sim *s, const struct sim_packet *p);

/*
 * The endpoint offers a packet at a.time >= now; a.flow, a.sequence and
 * a.sender are ignored. Those of one instant and end port enter by a.turn.
 */
void sim_inject(struct sim *s, uint32_t endpoint, const struct sim_arrival *a, uint32_t cookie);
/*
 * A5: the switch a.source sends a packet of an endpoint that routes its packets: it enters at
 * a.time
 * >= now by input 0, and leaves as `step` says.
 */
void sim_inject_at_switch(struct sim *s, uint32_t endpoint, const struct sim_arrival *a,
			  const struct sim_step *step, uint32_t cookie);
/* Calls the endpoint's timer function with `cookie` at `when` >= now; it is
 * about this end node. */
void sim_timer(struct sim *s, uint32_t endpoint, uint32_t node, hd_time when, uint32_t cookie);

/*
 * Of posted flows. A saturating one makes its next message now, unless it is
 * over: then false. Its first one is reported as made.
 */
bool sim_message_make(struct sim *s, uint32_t flow);
/* A message that was made at `born` has arrived now at this end node; counts as
 * its packets. */
void sim_message_arrived(struct sim *s, uint32_t node, uint32_t flow, hd_time born);
/* One will never arrive. */
void sim_message_lost(struct sim *s, uint32_t flow);

/* What an observer was told, and keeps. */
void sim_pack_packet(struct pack *p, struct sim_packet *x);

/* ---- checkpoints -------------------------------------------------------- */

/* Why the state of this run cannot be saved, or NULL. */
const char *sim_not_saved(const struct sim *s);
/* Appends the state of a run that has paused; it may continue. */
void sim_save(struct sim *s, struct strbuf *out);
/*
 * A run of the same setup, flows, rules, observers and endpoints, before its
 * first sim_run, takes that state and continues from there, in as many domains as
 * its own rules say. False if the bytes are not a valid state; then it is good
 * for nothing but sim_free.
 */
HD_MUST_CHECK bool sim_load(struct sim *s, const void *bytes, size_t len);

/* Has the run observers, or another number of endpoints? */
bool sim_is_watched(const struct sim *s, uint32_t endpoints);
/*
 * The state as a list of numbers with their roles, to compare states of one run
 * and to continue from a list. Notes of endpoints whose length grows during a
 * run are not in the list (jobs.h).
 */
void sim_list(struct sim *s, struct state_list *out);
HD_MUST_CHECK bool sim_load_list(struct sim *s, const struct state_list *l);

/* ---- results ----------------------------------------------------------- */

/* Deadlines counted, in 32nds of the flow's period. */
#define SIM_DEADLINES 7
extern const uint8_t sim_deadlines[SIM_DEADLINES]; /* 1 2 4 8 16 24 32 */
/* Jitter bins of period/8: below -period, 16 of them, above +period. */
#define SIM_JITTER_BINS 18

/* Of one flow, or of all flows of one (row, SL) beyond SIM_MAX_FLOWS. */
#define SIM_MAX_FLOWS 4096
struct sim_group {
	uint32_t row;
	uint8_t sl;
	uint32_t n_flows;
	uint32_t flow; /* if it is a single one, else SIM_NONE */
	struct histogram latency;
	/* Of packets delivered in time; out of `timed` with a deadline. */
	uint64_t within[SIM_DEADLINES];
	uint64_t timed;
	/* Differences of successive latencies, as differences of delivery
	 * gaps from the period; of flows to one port, where order is kept. */
	uint64_t jitter[SIM_JITTER_BINS];
	uint64_t jitter_n;
	uint64_t jitter_abs_low, jitter_abs_high; /* sum, 128 bits */
};

/* Of every flow, however many. Counted while measuring. */
struct sim_flow_counts {
	uint64_t made, made_bytes; /* generated */
	uint64_t delivered, delivered_bytes;
	uint64_t made_global, delivered_global; /* to other subnets (R1) */
	uint64_t lost;
	uint32_t within[SIM_DEADLINES]; /* of them, as in sim_group */
	hd_time latency_sum;
	hd_time latency_max;
	uint32_t group;
};

struct sim_port_use {
	double utilisation; /* share of the measured time that the link sends */
	double wait;        /* share of time in XmitWait */
	/* Blocks in the port's input buffers: time average; most set aside at
	 * once by the sender, of any one VL. */
	double depth;
	uint32_t depth_max;
};

struct sim_checks {
	uint64_t out_of_order, duplicates;
	uint64_t pairs; /* (source, destination, VL) told apart; 0 = by hash */
};

struct sim_metrics {
	hd_time from, to; /* the measured interval */
	uint64_t hops, events;
	uint64_t made, made_bytes;
	uint64_t delivered, delivered_bytes;
	uint64_t lost[SIM_FATES]; /* by enum sim_fate */
	struct histogram latency; /* of all */
	struct histogram latency_sl[N_SLS];
	struct interval mean_latency; /* ps */
	struct sim_group *groups;
	uint32_t n_groups;
	struct sim_flow_counts *flows;
	uint32_t n_flows;
	double jain; /* of delivered bytes over flows */
	struct sim_port_use *ports;
	uint32_t n_ports;
	const struct sim *sim; /* whose they are, for sim_port_counters */
	struct sim_checks checks;
	uint64_t checksum; /* of all deliveries and losses */
};

/* Valid until the next call of sim_run or sim_free. */
const struct sim_metrics *sim_metrics(struct sim *s);
/*
 * What a sim port counted while measuring. Made on demand: those of all ports
 * would take as much memory as all else that the engine keeps of them.
 */
void sim_port_counters(const struct sim_metrics *m, uint32_t port, struct sim_counters *out);
/* Time in ps that the link of a sim port has sent and has been in XmitWait, since
 * the start or the end of the warm-up, whichever is later. */
void sim_port_times(const struct sim_metrics *m, uint32_t port, double *sent, double *waiting);

/* One number for what was measured: when, all deliveries and losses, and all
 * counters of all ports. */
uint64_t sim_checksum(const struct sim_metrics *m);

/* ---- VLs on loan ------------------------------------------------------ */

/* What a VL of an end port did while measuring (B1 to B6); times in ps. */
struct sim_vl_use {
	uint64_t offered, blocked; /* packets */
	uint64_t sent;             /* whose tail has left */
	struct interval jobs;      /* packets waiting or being sent, in time */
	struct interval blocking;  /* share of the offered */
	struct interval stay;      /* from entering until the tail has left */
	uint32_t most;             /* jobs at once */
	uint64_t acquired;         /* VLs */
	uint64_t refused;          /* requests for a VL when none was free */
	double in_line;            /* share of time in line for a VL */
	/* With k VLs on loan: share of time with jobs present, and sent. */
	double busy[SIM_MAX_LOANS + 1];
	uint64_t sent_with[SIM_MAX_LOANS + 1];
};

/* False if the run has no such VLs, or nothing was offered there. */
bool sim_vl_use(struct sim *s, uint32_t port, unsigned vl, double level, struct sim_vl_use *out);

/* ---- memory ------------------------------------------------------------- */

/* Where the packets are that fill the memory. */
struct sim_backlog {
	uint64_t packets; /* in the whole fabric */
	uint32_t port;    /* sim port where most of them wait to be sent */
	uint64_t waiting; /* there */
};

void sim_backlog(const struct sim *s, struct sim_backlog *out);

/* ---- congestion control -------------------------------------------------- */

/* All run, as a capture of every port has them. */
struct sim_control_counts {
	uint64_t marked;                   /* packets in which a switch set FECN */
	uint64_t acks;                     /* sent */
	uint64_t echoed;                   /* of them with BECN */
	uint64_t cnps;                     /* sent */
	uint64_t probes, accepts, rejects; /* sent (C8) */
};
/* Of runs with setup.control. */
void sim_control_counts(const struct sim *s, struct sim_control_counts *out);

/* What a controlled flow has heard and done, while measuring. */
struct sim_flow_control {
	double rate;    /* packets per second that its throttle allows now, */
	double mean;    /* and its average over time */
	uint64_t marks; /* that it heard of */
	/* The sum of 1/rate, in seconds, over the marks that it heard of. */
	double marked_time;
	double lowest, highest; /* of the rate, all run */
	uint32_t timeouts;      /* C6: that struck, all run */
	uint64_t waiting;       /* packets at its throttle now */
	bool awaits_timeout;    /* nothing else lets them go */
};
/* False if the flow is not controlled. */
bool sim_flow_control(const struct sim *s, uint32_t flow, struct sim_flow_control *out);

/* What became of a flow that asked for leave to start (C8). */
enum sim_answer {
	SIM_OPEN, /* still under way when the run ended */
	SIM_ADMITTED,
	SIM_REJECTED,
	SIM_RELEASED, /* was admitted, and its last packet has passed */
	SIM_NOT_ASKED,
};
const char *sim_answer_name(enum sim_answer answer);
struct sim_admission {
	enum sim_answer answer;
	hd_time asked, answered;
	uint32_t rejected_by; /* sim port of the link without room */
};
/* False if the flow does not ask. */
bool sim_admission(const struct sim *s, uint32_t flow, struct sim_admission *out);
/* Bits per second that the link of `port` has promised, all SLs. */
uint64_t sim_promised(const struct sim *s, uint32_t port);

/* ---- adaptive routing --------------------------------------------------- */

/* Choices among two ports or more, made while measuring (D4, D5). */
struct sim_choice_counts {
	uint64_t taken;
	uint64_t away;   /* not for the port that the forwarding table has */
	uint64_t around; /* packets sent by a third group (D7) */
};
void sim_choices(const struct sim *s, struct sim_choice_counts *out);

/* ---- deadlock ---------------------------------------------------------- */

/* A packet that waits at `in_port` on `vl` and wants to leave by `out_port`
 * on `out_vl`; all sim ports. */
struct sim_wait {
	uint32_t node;
	uint32_t in_port;
	uint32_t out_port;
	uint8_t vl, out_vl;
	uint32_t flow, sequence;
};

/*
 * After SIM_DEADLOCK: a cycle of waiting packets, each waiting for space that
 * the next one holds. Returns its length, 0 without a cycle; the caller frees
 * *out.
 */
uint32_t sim_deadlock(struct sim *s, struct sim_wait **out);

#endif
