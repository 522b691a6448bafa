/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CONGESTION_RUN_H
#define HD_SIM_CONGESTION_RUN_H

/*
 * The state of a run under congestion control; private to this folder.
 *
 *	run.c		begins, samples, ends; tells events to the others
 *	switches.c	what a switch knows: fill, who waits for what, marks
 *	sources.c	throttles, pacing, windows, acknowledgements
 *	admission.c	probes, what links have promised
 */

#include "sim/congestion/congestion.h"

/*
 * What a timer is for; the rest of its cookie is a number. Timers of one
 * instant fire in this order, which is the model's (docs/model.md, T2): who
 * arrives at a switch still meets who leaves it now, and sources go last.
 */
enum purpose {
	TIMER_ARRIVE,   /* a movement: counts at a switch */
	TIMER_CROSS,    /* a movement: has left its input buffer; cioq */
	TIMER_LEAVE,    /* a movement: has left the switch */
	TIMER_ACK,      /* a traveller that has arrived */
	TIMER_RESPONSE, /* of a throttle */
	TIMER_ASK,      /* of a flow */
	TIMER_PACE,     /* of a throttle */
	TIMER_SAMPLE
};
#define PURPOSE_SHIFT 25 /* cookies have 28 bits */

enum travel {
	TRAVEL_DATA,
	TRAVEL_ACK,
	TRAVEL_CNP,
	TRAVEL_PROBE,  /* to the device at `hop` of the way */
	TRAVEL_ACCEPT, /* from the destination to the source */
	TRAVEL_REJECT, /* to the device at `hop`, backwards */
};

/* A packet under way. Slots are reused. */
struct traveller {
	uint32_t flow;
	enum travel kind;
	bool marked; /* FECN of data, BECN of what answers it */
	bool last;   /* of a flow with a reservation, which it ends */
	uint8_t hop;
	uint32_t buffer; /* lane of the input that holds it, or SIM_NONE */
	uint32_t output; /* lane of the output that it wants there */
	uint32_t wants;  /* its counter in run.wants */
	uint32_t blocks;
	uint32_t psn;
	uint32_t next_free;
};

/* Something that happens to a switch's buffers later. */
struct movement {
	uint32_t buffer, output, wants, blocks;
	uint32_t next_free;
};

/* Who slows down: a flow, or all flows of one port and SL. */
struct throttle {
	const struct cc_algorithm *algorithm;
	struct cc_state state;
	struct cc_config config;
	hd_time last;  /* start of the last packet */
	hd_time gap;   /* of the full rate: the last packet's duration */
	hd_time next;  /* with fixed gaps: start of the next packet */
	hd_time armed; /* the pacing timer that counts; others are stale */
	bool sent_any;
	uint32_t turn;        /* the flow that may send next; a ring */
	uint32_t size;        /* flows in the ring */
	double rate_integral; /* packets, while measuring */
	hd_time rate_since;
	double lowest, highest;
};

struct source {
	uint32_t throttle;
	uint32_t next; /* flow of the throttle's ring */
	uint32_t out;  /* unacknowledged */
	uint64_t sent;
	uint64_t delivered_before, delivered;
	uint64_t marks_before, marks;
	double marked_time; /* seconds, while measuring */
	enum congestion_answer answer;
	bool last_sent;
	hd_time asked, answered;
	uint32_t rejected_by;
	uint32_t *path; /* sim ports that send on its way, or NULL */
	uint32_t path_n;
};

struct run {
	const struct sim_setup *setup;
	const struct congestion_flow *flows;
	uint32_t n_flows;
	const struct congestion_params *params;
	struct sim *sim;
	struct source *sources;
	struct throttle *throttles;
	uint32_t n_throttles;
	struct traveller *travellers;
	size_t travellers_cap;
	uint32_t n_travellers, free_traveller;
	struct movement *movements;
	size_t movements_cap;
	uint32_t n_movements, free_movement;
	/* A lane is port * lanes + VL. */
	uint32_t lanes;
	struct mark_output *outputs; /* per lane */
	uint32_t *fill;              /* per lane: blocks of the input buffer */
	/*
	 * Packets in an input lane that want an output lane: from
	 * wants_at[input port], VL by VL, the node's outputs times lanes.
	 */
	uint32_t *wants;
	size_t *wants_at;
	/* Bits per second promised, per port and SL (N_SLS of them). */
	uint64_t *promised;
	bool warm;
	struct congestion_result *result;
};

static inline uint32_t cookie_of(enum purpose purpose, uint32_t number)
{
	return (uint32_t)purpose << PURPOSE_SHIFT | number;
}

/* ---- switches.c -------------------------------------------------------- */

void cc_switches_init(struct run *r);
void cc_switches_fini(struct run *r);
/* A packet starts on the link of a port: it leaves one buffer for the next. */
void cc_switches_grant(struct run *r, hd_time now, uint32_t port,
		       const struct sim_packet *p);
/* A packet starts through a crossbar, and has left its buffer at `end`. */
void cc_switches_cross(struct run *r, hd_time end, uint32_t slot);
/* A movement's time has come. */
void cc_switches_move(struct run *r, uint32_t number, enum purpose purpose);

/* ---- sources.c --------------------------------------------------------- */

void cc_sources_init(struct run *r);
void cc_sources_fini(struct run *r);
void cc_sources_begin(struct run *r);
void cc_sources_begin_measuring(struct run *r);
void cc_sources_pace(struct run *r, uint32_t number, hd_time now);
void cc_sources_respond(struct run *r, uint32_t number, hd_time now);
void cc_sources_acknowledge(struct run *r, uint32_t flow, bool marked,
			    hd_time now);
/* A CNP has come: a mark, but no acknowledgement. */
void cc_sources_notify(struct run *r, uint32_t flow, hd_time now);
/* A flow has got leave to send. */
void cc_sources_admit(struct run *r, uint32_t flow, hd_time now);
void cc_sources_account(struct run *r, struct throttle *t, hd_time now);

/* ---- admission.c ------------------------------------------------------- */

void cc_admission_init(struct run *r);
void cc_admission_fini(struct run *r);
/* Whether the fabric has whom to ask. */
HD_MUST_CHECK enum hd_status cc_admission_check(const struct run *r,
						struct diag *d);
/* The flow's time to ask has come. */
void cc_admission_ask(struct run *r, uint32_t flow, hd_time now);
/* A probe, or an answer to one, has arrived. */
void cc_admission_arrive(struct run *r, const struct traveller *t, hd_time now);
/* A packet passes a port: a last one frees its link. */
void cc_admission_pass(struct run *r, const struct traveller *t, uint32_t port);
/* Bits per second promised on a link, all SLs. */
uint64_t cc_admission_total(const struct run *r, uint32_t port);

/* ---- run.c ------------------------------------------------------------- */

/* A packet of the flow, or an answer to one. */
void cc_run_inject(struct run *r, const struct traveller *t, hd_time now);
/* The same between other ends than the flow's. */
void cc_run_inject_from(struct run *r, const struct traveller *t,
			uint32_t source, lid_t dlid, hd_time now);
void cc_run_free(struct run *r, uint32_t slot);

#endif
