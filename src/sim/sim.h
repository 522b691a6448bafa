/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_SIM_H
#define HD_SIM_SIM_H

/*
 * The fabric simulator: simulates the flows (flow.h) of a setup (setup.h) under the rules of
 * docs/timing-rules.md, and computes metrics.
 *
 *	struct sim *s = sim_new(&setup, flows, n_flows, &rules);
 *	enum sim_state state = sim_run(s, HD_TIME_NEVER, show, &bar);
 *	const struct sim_metrics *m = sim_metrics(s);
 *	...
 *	sim_free(s);
 *
 * Setup, flows and what they point to are borrowed until sim_free. A run depends on them
 * only: equal input gives equal metrics, bit for bit, on every machine.
 *
 * Packets may also be injected (sim_inject) by endpoints, which are notified of deliveries and
 * timers: adapters and protocols are implemented as endpoints. Their callbacks run in phase
 * 2 of T2 of the instant that they report, so packets injected for the same instant are
 * still sent in it. Observers are notified of events and cannot change the run.
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
	SIM_PAUSED,   /* `until` was reached, or the progress callback returned false */
	SIM_ENDED,    /* a stop rule ended the run */
	SIM_IDLE,     /* no work left and no packets in flight */
	SIM_DEADLOCK, /* packets wait and can never move */
	SIM_FULL,     /* memory is exhausted (rules.yields); no data is lost */
	SIM_BROKEN,   /* another process sent invalid bytes */
};

struct sim_progress {
	hd_time now;
	uint64_t delivered; /* packets, including the warm-up */
	uint64_t hops;      /* packets granted on a link */
	double share;       /* completed share of the run, by its stop rules */
	bool warm;          /* the warm-up is over */
	hd_time from;       /* start of measuring; HD_TIME_NEVER: not known yet */
};

/* Called some thousand times per second of real time; returning false pauses the run. */
typedef bool sim_progress_fn(void *context, const struct sim_progress *p);

/* Sets rules that measure everything and never end a run. */
void sim_rules_init(struct sim_rules *rules);

struct sim *sim_new(const struct sim_setup *setup, const struct sim_flow *flows, uint32_t n_flows,
		    const struct sim_rules *rules);
void sim_free(struct sim *s);

/* Runs all instants up to and including `until`; may be called repeatedly. */
enum sim_state sim_run(struct sim *s, hd_time until, sim_progress_fn *progress, void *context);
/* Call in a callback of a run that is not partitioned: pauses the run after this instant. */
void sim_pause(struct sim *s);
/*
 * Call in a callback of any domain, for an instant `when` not before the current one: pauses the
 * run at `when`, or in a partitioned run a constant time later; sim_has_paused is true then.
 * Only one such instant may be pending.
 */
void sim_pause_after(struct sim *s, hd_time when);
bool sim_has_paused(const struct sim *s);
/*
 * Time never decreases: a run that becomes idle ends when its last packet has ended, or at its
 * last pause. This function discards the last pause, as if the run had not been interrupted.
 */
void sim_forget_pause(struct sim *s);
/*
 * After a pause: ends the run within one margin from now (M2). Effects within a margin have
 * already been counted.
 */
void sim_end(struct sim *s);
hd_time sim_now(const struct sim *s);
/* Time of the next instant of a run that is not partitioned; HD_TIME_NEVER: the run is idle. */
hd_time sim_next(struct sim *s);
/* Input-queued switches: the link of `port` sends at this rate from its next grant on. */
void sim_set_rate(struct sim *s, uint32_t port, struct hd_rate rate);
void sim_progress(const struct sim *s, struct sim_progress *out);

/*
 * A run is computed by rules.threads threads in as many domains, or in rules.parts domains; its
 * results do not depend on either. After sim_run: returns the number of domains; if it is 1
 * although more were requested, *why_not is the reason ("it has one switch"), else NULL.
 */
uint32_t sim_is_cut(const struct sim *s, const char **why_not);

/*
 * With rules.world, several processes compute a run together: all make the same calls from
 * sim_new to sim_run, and the first has the results. Call before the first sim_run: distributes
 * the run, or returns the reason why it cannot be distributed.
 */
const char *sim_share(struct sim *s);
/*
 * Returns the value of the first process to all; all processes call it between instants. A
 * single process gets its own value.
 */
bool sim_ask_first(struct sim *s, bool says);
/* After SIM_BROKEN: the process that sent invalid data. */
unsigned sim_broken_by(const struct sim *s);

/* Cost and potential gain of partitioning; all 0 if the run is not partitioned. */
struct sim_cut_use {
	hd_time lookahead; /* maximum length of a window */
	uint64_t windows;
	uint64_t events;
	uint64_t busiest;          /* events of the busiest domain, summed over windows */
	uint64_t packets, credits; /* sent between domains */
	uint64_t bytes;            /* total size of mailboxes */
};
void sim_cut_use(const struct sim *s, struct sim_cut_use *out);

/* ---- from outside ------------------------------------------------------ */

/* Waiting times of a packet, if its endpoint observes passages. */
struct sim_waits {
	hd_time held;     /* at its first port, from its time on */
	uint64_t longest; /* longest wait at a later port; 0: none */
};

/* Encodes a wait in the bits above the port, so that longer waits are larger numbers. */
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

/* A packet as seen by callbacks. */
struct sim_packet {
	hd_time born;
	uint32_t flow; /* SIM_NONE for injected packets */
	uint32_t sequence;
	enum sim_packet_kind kind;
	bool marked;      /* FECN of a data packet, BECN of an acknowledgement */
	bool answered;    /* of a controlled flow: its destination acknowledges (C5) */
	bool last;        /* last packet of the flow's reservation (C8) */
	uint64_t reserve; /* reserved rate, bits per second */
	uint32_t source;  /* sim node */
	lid_t dlid;
	uint16_t pkey;
	uint32_t bytes;
	uint8_t sl, vl;
	uint32_t cookie;  /* of sim_inject; C8: the addressed device */
	uint8_t endpoint; /* 1 + the endpoint that injected it; 0: none */
	struct sim_waits waits;
	/* From the GRH, if the destination is in another subnet (R1); else TOPO_NONE. */
	port_id target;
	uint8_t tclass, hop_limit;
	lid_t slid; /* of the last router; 0: of the source */
	/* For `granted`: the packet is corrupted (F1) or lost (F3) on this link. */
	bool corrupt, lost;
};

/* A flow-control packet (T5, exact mode). */
struct sim_update {
	uint8_t vl;
	uint16_t fctbs, fccl;
	bool lost; /* not received at the far end (F2, F3) */
};

/*
 * An observer of a run, which cannot change it. Notifications are in the order of M4, for any
 * number of threads. They are delayed, but all notifications up to sim_now occur before sim_run
 * returns. Functions may be NULL.
 */
struct sim_observer {
	void *context;
	/* Every delivery. */
	void (*delivered)(void *context, hd_time now, uint32_t node, const struct sim_packet *p);
	/* Every end of a copy, including deliveries. */
	void (*ended)(void *context, const struct sim_event_record *e, const struct sim_packet *p);
	/* Every packet that starts on a link, for captures and traces. */
	void (*granted)(void *context, hd_time now, uint32_t port, const struct sim_packet *p);
	/* Every flow-control packet that starts on a link, in exact mode. */
	void (*updated)(void *context, hd_time now, uint32_t port, const struct sim_update *u);
};
/*
 * Any number of observers, while the run is paused; for a partitioned run before the first
 * sim_run.
 */
void sim_observe(struct sim *s, const struct sim_observer *o);

/* The partitioning of a run. */
struct sim_cut {
	uint32_t n;
	uint32_t first, last; /* domains of this process: first .. last - 1 */
	struct sim *const *parts;
	const uint16_t *part_of_node;
};

static inline bool part_is_here(const struct sim_cut *cut, uint32_t part)
{
	return part >= cut->first && part < cut->last;
}

/*
 * If several processes save a state, each writes a section with the rows of its own nodes; the
 * first also writes the sums. A restart reads all sections in sequence.
 */
struct sim_section {
	uint32_t number;
	const uint16_t *of_node; /* NULL: a single section with all rows */
};

static inline bool section_has(const struct sim_section *s, uint32_t node)
{
	return !s->of_node || s->of_node[node] == s->number;
}

/* The start of a packet of an endpoint on a link. */
struct sim_passage {
	uint32_t port; /* sending port */
	uint32_t bytes;
	uint32_t number; /* sim_arrival.number, from the sender */
	/*
	 * From the sender, which may be in another process. Undefined if a switch created the
	 * packet (S4).
	 */
	uint32_t cookie;
	/*
	 * Time since the packet could have been sent: at its first port since its time, at a
	 * switch since it was routed (and became the first of its buffer, where this matters).
	 */
	hd_time waited;
	bool is_first;    /* first link of its path */
	bool is_measured; /* after the warm-up */
};

/* The head of a packet has reached a node (A5). */
struct sim_head {
	hd_time now, tail;
	uint32_t port;   /* input port */
	uint32_t cookie; /* from sim_inject */
};

enum sim_step_kind {
	SIM_STEP_LOST,   /* dropped: no route */
	SIM_STEP_LEAVES, /* leaves by output `out` on `vl`; packets on VL15 stay on VL15 */
	SIM_STEP_ENDS,   /* delivered here, at `until` >= tail, when its buffer space is freed */
};

struct sim_step {
	enum sim_step_kind kind;
	uint32_t out;
	uint8_t vl;
	hd_time until;
};

/*
 * An endpoint is a sender at every end port (T13p): it injects packets and is notified of
 * packets that arrive at the endpoint of the far end. A packet waits in the queue of its sender
 * and VL from its time on. Grants are notified, so that packets need not be injected ahead.
 * Functions may be NULL.
 */
struct sim_endpoint {
	void *context;
	const char *name; /* name of its packets in traces; borrowed */
	/* A packet of this endpoint has reached its destination. */
	void (*delivered)(void *context, hd_time now, uint32_t node, const struct sim_packet *p);
	void (*timer)(void *context, hd_time now, uint32_t cookie);
	/*
	 * A packet starts on the first link of its path; its last byte leaves at `end`. Called
	 * in phase 5, during link grants: packets injected in the callback take part in later
	 * grants.
	 */
	void (*granted)(void *context, hd_time now, hd_time end, uint32_t node, uint32_t cookie);
	/*
	 * A packet of the endpoint starts on any link of its path. Called in the domain of the
	 * port; must not inject packets.
	 */
	void (*passes)(void *context, const struct sim_passage *p);
	/*
	 * A copy of a packet of the endpoint is lost at `when`. If was_sent, it is lost in the
	 * fabric, and the callback must not notify the sender.
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
	 * A flow with `posted` has created a message, which the endpoint must send in its own
	 * packets. Only one endpoint may have this function.
	 */
	void (*made)(void *context, hd_time now, uint32_t flow);
	/*
	 * The run is going to be partitioned into n domains (domains.h): contexts[i] is the
	 * context for events at the nodes of parts[i]. Notifications of different domains may be
	 * concurrent and must not access data of other domains. A run with an endpoint without
	 * this function is not partitioned.
	 */
	void (*cut)(void *context, const struct sim_cut *cut, void **contexts);
	/* Reason for the missing `cut`; NULL: programs run on the endpoint's adapters. */
	const char *whole;
	/*
	 * Per node: a node that must be in the same domain, or itself; borrowed. NULL: no
	 * restriction.
	 */
	const uint32_t *joined;
	/*
	 * Encode or decode (base/pack.h) the state of the endpoint, and the cookie of a packet
	 * in flight. Called with the context given to sim_attach, whether the run is partitioned
	 * or not. A run with an endpoint without these functions cannot be saved. With several
	 * processes, each first lists its own cookies and then reads those of all.
	 */
	void (*list_cookies)(void *context, struct pack *p);
	void (*pack)(void *context, struct pack *p, const struct sim_section *section);
	void (*pack_cookie)(void *context, struct pack *p, uint32_t *cookie);
	/*
	 * For runs of several processes; called with the context of sim_attach, between
	 * instants; decoded data may be invalid. `mail`, after each window or global instant: data
	 * of domain `from` for domain `to` of another process, delivered before any packet of the
	 * window can arrive there. `collect`: data of a domain that the first process needs for
	 * results. A run with an endpoint without these functions is not distributed.
	 */
	void (*mail)(void *context, struct pack *p, uint32_t from, uint32_t to);
	void (*collect)(void *context, struct pack *p, uint32_t part);
};
/* Attaches an endpoint, at most 15, before the first sim_run and sim_inject. Returns its number. */
uint32_t sim_attach(struct sim *s, const struct sim_endpoint *e);
/* An attached endpoint, of a run that has not started. */
const struct sim_endpoint *sim_attached(const struct sim *s, uint32_t number);
/* Name of the endpoint that injected the packet; NULL: none. */
const char *sim_sender_name(const struct sim *s, const struct sim_packet *p);

/*
 * Injects a packet at a.time >= now; a.flow, a.sequence and a.sender are ignored. Packets of one
 * instant and end port are ordered by a.turn.
 */
void sim_inject(struct sim *s, uint32_t endpoint, const struct sim_arrival *a, uint32_t cookie);
/*
 * A5: the switch a.source sends a packet of an endpoint that routes its packets. The packet
 * enters at a.time >= now by input 0, and leaves as `step` says.
 */
void sim_inject_at_switch(struct sim *s, uint32_t endpoint, const struct sim_arrival *a,
			  const struct sim_step *step, uint32_t cookie);
/*
 * Calls the endpoint's timer function with `cookie` at `when` >= now, in the domain of this end
 * node.
 */
void sim_timer(struct sim *s, uint32_t endpoint, uint32_t node, hd_time when, uint32_t cookie);

/*
 * Posted flows: a saturating flow creates its next message now; false if the flow has ended. Its
 * first message is reported by `made`.
 */
bool sim_message_make(struct sim *s, uint32_t flow);
/* A message created at `born` has arrived now at this end node; counts as its packets. */
void sim_message_arrived(struct sim *s, uint32_t node, uint32_t flow, hd_time born);
/* A message will not arrive. */
void sim_message_lost(struct sim *s, uint32_t flow);

/* Encode or decode the data of notifications kept by an observer. */
void sim_pack_packet(struct pack *p, struct sim_packet *x);

/* ---- checkpoints -------------------------------------------------------- */

/* Why the state of this run cannot be saved, or NULL. */
const char *sim_not_saved(const struct sim *s);
/* Appends the state of a paused run, which may continue. */
void sim_save(struct sim *s, struct strbuf *out);
/*
 * Restores a state into a run with the same setup, flows, rules, observers and endpoints, before
 * its first sim_run; the number of domains may differ. False if the bytes are not a valid state;
 * the run may then only be freed.
 */
HD_MUST_CHECK bool sim_load(struct sim *s, const void *bytes, size_t len);

/* Whether the run has observers, or a number of endpoints other than `endpoints`. */
bool sim_is_watched(const struct sim *s, uint32_t endpoints);
/*
 * The state as a list of numbers with roles, for comparing states of a run and for continuing
 * from a list. Notes of endpoints that grow during a run are not included (jobs.h).
 */
void sim_list(struct sim *s, struct state_list *out);
HD_MUST_CHECK bool sim_load_list(struct sim *s, const struct state_list *l);

/* ---- results ----------------------------------------------------------- */

/* Deadlines for which deliveries are counted, in 32nds of the flow's period. */
#define SIM_DEADLINES 7
extern const uint8_t sim_deadlines[SIM_DEADLINES]; /* 1 2 4 8 16 24 32 */
/* Jitter bins of width period/8: one below -period, 16 between, one above +period. */
#define SIM_JITTER_BINS 18

/* Metrics of one flow, or of all flows of a (row, SL) if there are more than SIM_MAX_FLOWS. */
#define SIM_MAX_FLOWS 4096
struct sim_group {
	uint32_t row;
	uint8_t sl;
	uint32_t n_flows;
	uint32_t flow; /* the flow, or SIM_NONE for several */
	struct histogram latency;
	/* Packets delivered within each deadline; `timed` is the number with a deadline. */
	uint64_t within[SIM_DEADLINES];
	uint64_t timed;
	/*
	 * Differences of successive latencies, equal to differences of delivery gaps from the
	 * period; for flows to one port with preserved order.
	 */
	uint64_t jitter[SIM_JITTER_BINS];
	uint64_t jitter_n;
	uint64_t jitter_abs_low, jitter_abs_high; /* sum, 128 bits */
};

/* Counters of each flow, while measuring. */
struct sim_flow_counts {
	uint64_t made, made_bytes; /* generated */
	uint64_t delivered, delivered_bytes;
	uint64_t made_global, delivered_global; /* to other subnets (R1) */
	uint64_t lost;
	uint32_t within[SIM_DEADLINES]; /* deliveries within each deadline, as in sim_group */
	hd_time latency_sum;
	hd_time latency_max;
	uint32_t group;
};

struct sim_port_use {
	double utilisation; /* share of the measured time in which the link sends */
	double wait;        /* share of the measured time in XmitWait */
	/*
	 * Occupancy of the port's input buffers in blocks: time average; maximum reserved at
	 * once by the sender, over VLs.
	 */
	double depth;
	uint32_t depth_max;
};

struct sim_checks {
	uint64_t out_of_order, duplicates;
	uint64_t pairs; /* distinct (source, destination, VL); 0: hashed */
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
	const struct sim *sim; /* simulation, for sim_port_counters */
	struct sim_checks checks;
	uint64_t checksum; /* of all deliveries and losses */
};

/* Valid until the next call of sim_run or sim_free. */
const struct sim_metrics *sim_metrics(struct sim *s);
/*
 * Counters of a sim port while measuring. Computed on demand: storing them for all ports would
 * double the memory of ports.
 */
void sim_port_counters(const struct sim_metrics *m, uint32_t port, struct sim_counters *out);
/*
 * Times in ps for which the link of a sim port has sent and has been in XmitWait, since the
 * start or the end of the warm-up, whichever is later.
 */
void sim_port_times(const struct sim_metrics *m, uint32_t port, double *sent, double *waiting);

/* Checksum of the measured interval, all deliveries and losses, and all counters of all ports. */
uint64_t sim_checksum(const struct sim_metrics *m);

/* ---- VL sharing ------------------------------------------------------- */

/* Use of a VL of an end port while measuring (B1 to B6); times in ps. */
struct sim_vl_use {
	uint64_t offered, blocked; /* packets */
	uint64_t sent;             /* packets whose tail has left */
	struct interval jobs;      /* packets waiting or being sent, time average */
	struct interval blocking;  /* share of offered packets */
	struct interval stay;      /* from entering the queue until the tail has left */
	uint32_t most;             /* maximum number of jobs */
	uint64_t acquired;         /* acquired VLs */
	uint64_t refused;          /* requests for a VL while none was free */
	double waiting;            /* share of time spent waiting for a VL */
	/* By number of acquired VLs: share of time with jobs present, and packets sent. */
	double busy[SIM_MAX_ACQUIRED + 1];
	uint64_t sent_with[SIM_MAX_ACQUIRED + 1];
};

/* False if the run has no such VLs, or no packets were offered. */
bool sim_vl_use(struct sim *s, uint32_t port, unsigned vl, double level, struct sim_vl_use *out);

/* ---- memory ------------------------------------------------------------- */

/* Location of the packets that exhaust memory. */
struct sim_backlog {
	uint64_t packets; /* in the whole fabric */
	uint32_t port;    /* sim port with the most waiting packets */
	uint64_t waiting; /* packets waiting at that port */
};

void sim_backlog(const struct sim *s, struct sim_backlog *out);

/* ---- congestion control -------------------------------------------------- */

/* Counters of the whole run, as visible in a capture of every port. */
struct sim_control_counts {
	uint64_t marked;                   /* packets in which a switch set FECN */
	uint64_t acks;                     /* sent */
	uint64_t echoed;                   /* acknowledgements with BECN */
	uint64_t cnps;                     /* sent */
	uint64_t probes, accepts, rejects; /* sent (C8) */
};
/* For runs with setup.control. */
void sim_control_counts(const struct sim *s, struct sim_control_counts *out);

/* Congestion control of a flow, while measuring. */
struct sim_flow_control {
	double rate;    /* packets per second allowed by its throttle now */
	double mean;    /* time average of the rate */
	uint64_t marks; /* received marks */
	/* Sum of 1/rate over received marks, seconds. */
	double marked_time;
	double lowest, highest; /* extremes of the rate over the whole run */
	uint32_t timeouts;      /* C6: expired timeouts, over the whole run */
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
