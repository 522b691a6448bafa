/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_INJECTION_CONTROL_H
#define HD_SIM_INJECTION_CONTROL_H

/*
 * Congestion control inside the engine (docs/timing-rules.md, C1 to C7). Internal to
 * src/sim.
 *
 *	throttle.c	injection: throttles, windows, reaction to answers
 *	ack.c		answers of destinations
 *	mark.c		counters of switches, and the packets that they mark
 *
 * Only runs with setup.control have this state. The simulation owns it; each domain shares the
 * throttles and flows of the whole run, and has counters of its own.
 */

#include "cc/marking.h"
#include "cc/response.h"
#include "sim/core/sim_internal.h"

/* ---- throttles ------------------------------------------------------- */

struct throttle {
	const struct cc_algorithm *algorithm; /* NULL: never reduces its rate */
	const struct cc_config *config;
	struct cc_state state;
	hd_time last;    /* time of the last grant */
	hd_time took;    /* transmission time of that packet */
	hd_time next;    /* fixed gap: time at which the next packet is eligible */
	hd_time pace_at; /* time of the useful EV_PACE, or NEVER */
	hd_time due_at;  /* time of the last EV_RESPOND */
	bool has_sent;
	uint8_t offers_vl;
	uint32_t offers; /* offered packet, or NONE */
	uint32_t port, sender;
	/* Its flows, sorted by id, and the set of those that may send now (numset.h). */
	const uint32_t *flows;
	uint64_t *open;
	uint32_t n_flows, words;
	uint32_t turn; /* index of the flow granted last */
	/* Since measuring began. */
	double rate_integral; /* packets */
	hd_time rate_since;
	double lowest, highest; /* over the whole run */
};

/* State of a flow with congestion control. */
struct controlled {
	struct packet_queue queue; /* packets waiting at the throttle */
	uint32_t throttle;         /* NONE: not controlled */
	uint32_t place;            /* index in its throttle's flows */
	uint32_t granted, acked;   /* packets */
	hd_time active;            /* time of the last grant or acknowledgement */
	hd_time timeout_at;        /* time of its EV_TIMEOUT, or NEVER */
	uint32_t timeouts;         /* C6: expired timeouts, over the whole run */
	uint32_t waiting;          /* length of `queue`, packets */
	/* Since measuring began. */
	uint64_t marks;     /* marks received */
	double marked_time; /* sum of 1/rate at each mark, seconds */
};

/* An answer that takes effect at the source after `ack_delay`. */
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
	uint32_t *flows_of;       /* flow ids of all throttles, consecutive per throttle */
	uint64_t *words;
	struct delayed *delayed;
	uint32_t n_delayed, free_delayed;
	size_t delayed_cap;
	struct packet_queue *coming; /* per pull: list of struct delayed, by time */
	struct sim_control_counts counts;
};

void control_init(struct sim *s);
/* C9: setting number `setting` takes effect. */
void control_change(struct sim *s, uint32_t setting);
/* After a restart: applies the setting in force at the current time. */
void control_resume(struct sim *s);
void control_fini(struct sim *s);
/* A domain shares the throttles and flows of the whole run and has its own counters. */
void control_part_init(struct sim *part, const struct sim *whole);
void control_part_fini(struct sim *part);
/* Resets the counters at the end of the warm-up. */
void control_restart(struct sim *s);

/* Results of one domain. */
struct pack;
void control_pack(struct pack *k, struct sim *part);

/* The end port of a controlled flow's throttle. */
static inline uint32_t flow_port(const struct control *c, uint32_t flow)
{
	return c->throttles[c->flows[flow].throttle].port;
}

/* C1: queues a packet of a controlled flow at its throttle; false if the flow is not controlled. */
bool throttle_enter(struct sim *s, struct packet_record *p);
/* The packet that the throttle offers, or NONE. */
static inline uint32_t throttle_offer(struct sim *s, uint32_t number)
{
	return s->control->throttles[number].offers;
}
/* The offered packet is granted: removes it from its flow's queue. */
void throttle_take(struct sim *s, uint32_t number);
/* Recomputes the offered packet after a change. */
void throttle_update(struct sim *s, uint32_t number);
void throttle_pace(struct sim *s, uint32_t number);
void throttle_respond(struct sim *s, uint32_t number);
void flow_timeout(struct sim *s, uint32_t flow);
/* C6: the nth packet of the flow is acknowledged. */
void flow_acknowledged(struct sim *s, uint32_t flow, uint32_t nth, bool marked);
void flow_notified(struct sim *s, uint32_t flow);
/* Schedules an answer after `ack_delay`, at the source's domain or at this one. */
void ack_delay_answer(struct sim *s, const struct delayed *what);
void ack_expect(struct sim *s, const struct delayed *what);
void ack_receive(struct sim *s, uint32_t port);

#endif
