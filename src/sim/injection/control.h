/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_INJECTION_CONTROL_H
#define HD_SIM_INJECTION_CONTROL_H

/*
 * Congestion control inside the engine (docs/timing-rules.md, C1 to C7). Internal to
 * src/sim.
 *
 *	throttle.c	who slows down: throttles, windows, what they hear
 *	ack.c	what destinations send back
 *	mark.c		what switches count, and which packets they mark
 *
 * Only runs with setup.control have any of it.
 */

#include "cc/marking.h"
#include "cc/response.h"
#include "sim/core/sim_internal.h"

/* ---- throttles ------------------------------------------------------- */

struct throttle {
	const struct cc_algorithm *algorithm; /* NULL: never slows down */
	const struct cc_config *config;
	struct cc_state state;
	hd_time last;    /* grant */
	hd_time took;    /* D of that packet */
	hd_time next;    /* fixed gap: eligible from then on */
	hd_time pace_at; /* of its useful EV_PACE, or NEVER */
	hd_time due_at;  /* of the last EV_RESPOND */
	bool has_sent;
	uint8_t offers_vl;
	uint32_t offers; /* packet, or NONE */
	uint32_t port, sender;
	/* Its flows, by id, and those that may send now (numset.h). */
	const uint32_t *flows;
	uint64_t *open;
	uint32_t n_flows, words;
	uint32_t turn; /* place of the flow granted last */
	/* Since measuring began. */
	double rate_integral; /* packets */
	hd_time rate_since;
	double lowest, highest; /* all run */
};

/* A flow that has one. */
struct controlled {
	struct packet_queue queue; /* that wait at the throttle */
	uint32_t throttle;         /* NONE: this flow is not controlled */
	uint32_t place;            /* among its throttle's */
	uint32_t granted, acked;   /* packets */
	hd_time active;            /* last grant or acknowledgement */
	hd_time timeout_at;        /* of its EV_TIMEOUT, or NEVER */
	uint32_t timeouts;         /* C6: that struck, all run */
	uint32_t waiting;          /* packets of the queue */
	/* Since measuring began. */
	uint64_t marks;     /* that it heard of */
	double marked_time; /* seconds: 1/rate each */
};

/* An answer that reaches the source after `ack_delay`. */
struct delayed {
	hd_time when;
	uint32_t flow, sequence, nth;
	bool marked;
	uint32_t next;
};

struct control {
	const struct sim_control *rules;
	struct throttle *throttles;
	struct controlled *flows; /* rules->n_flows */
	uint32_t *flows_of;       /* of all throttles, one after the other */
	uint64_t *words;
	struct delayed *delayed;
	uint32_t n_delayed, free_delayed;
	size_t delayed_cap;
	struct packet_queue *coming; /* per pull: of delayed, by time */
	struct sim_control_counts counts;
};

void control_init(struct sim *s);
/* C9: the setting of that number holds from now on. */
void control_change(struct sim *s, uint32_t setting);
/* A run that was read: what holds at its time. */
void control_resume(struct sim *s);
void control_fini(struct sim *s);
/* A part has the throttles and flows of the whole, and counts for itself. */
void control_part_init(struct sim *part, const struct sim *whole);
void control_part_fini(struct sim *part);
/* Forgets what was counted: the warm-up is over. */
void control_restart(struct sim *s);

/* Results of one domain. */
struct pack;
void control_pack(struct pack *k, struct sim *part);

/* Where the throttle of a controlled flow is. */
static inline uint32_t flow_port(const struct control *c, uint32_t flow)
{
	return c->throttles[c->flows[flow].throttle].port;
}

/* C1: puts a packet of a controlled flow before its throttle; else false. */
bool throttle_enter(struct sim *s, struct packet_record *p);
/* The packet that it offers. */
static inline uint32_t throttle_offer(struct sim *s, uint32_t number)
{
	return s->control->throttles[number].offers;
}
/* Its packet is granted: it is taken from its flow. */
void throttle_take(struct sim *s, uint32_t number);
/* What it offers may have changed. */
void throttle_update(struct sim *s, uint32_t number);
void throttle_pace(struct sim *s, uint32_t number);
void throttle_respond(struct sim *s, uint32_t number);
void flow_timeout(struct sim *s, uint32_t flow);
/* C6: the nth packet of the flow is acknowledged. */
void flow_acknowledged(struct sim *s, uint32_t flow, uint32_t nth, bool marked);
void flow_notified(struct sim *s, uint32_t flow);
/* The same after a delay, wherever the source is; and here. */
void ack_delay_answer(struct sim *s, const struct delayed *what);
void ack_expect(struct sim *s, const struct delayed *what);
void ack_receive(struct sim *s, uint32_t port);

#endif
