/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_SIGNAL_PLAY_H
#define HD_QOS_SIGNAL_PLAY_H

/*
 * Reservation signalling (qos/signal.h) played from beginning to end: sources
 * say PATH over and over until they fall silent or say TEAR, destinations
 * answer, managers forget what is not repeated. Messages take no time. Ends
 * when nobody remembers anything.
 */

#include "measure/results.h"
#include "qos/requests.h"
#include "qos/signal.h"

struct signal_play_params {
	hd_time lifetime;           /* of what managers remember, above 0 */
	hd_time repeat;             /* between two PATHs of a source, above 0 */
	hd_time until;              /* when sources fall silent */
	bool tear;                  /* and end their flows then */
	struct qos_packets packets; /* a GRH more for those that leave */
};

/* A message as it was delivered; its session is the request's number. */
struct signal_event {
	hd_time time;
	struct signal_message message;
};

/* What a subnet's manager held after a change. */
struct signal_state {
	hd_time time;
	uint32_t subnet;
	uint32_t known, reserved; /* flows */
};

struct signal_outcome {
	bool confirmed, refused; /* as the source heard last; or neither */
	uint32_t where;          /* the subnet that refused */
};

struct signal_play {
	const struct subnet *subnet;
	struct signal_play_params params;
	const struct qos_requests *requests;
	struct broker broker;            /* of all subnets */
	struct signal_manager *managers; /* by subnet */
	struct signal_message *paths;    /* by request */
	struct signal_outbox mail;
	/* The record. */
	struct signal_event *events;
	size_t n_events, events_cap;
	struct signal_state *states;
	size_t n_states, states_cap;
	struct signal_outcome *outcomes; /* by request */
	unsigned unconfirmed;            /* at the last word of a manager */
};

/*
 * Plays `requests` on a routed subnet, both of which outlive the play. On
 * failure (a name that is nobody's) nothing is left to free.
 */
HD_MUST_CHECK enum hd_status
signal_play(struct signal_play *p, const struct subnet *s,
	    const struct qos_requests *requests,
	    const struct signal_play_params *params, struct diag *d);
void signal_play_fini(struct signal_play *p);

/* Messages, managers and flows (signal_tables.c). */
void signal_play_show(const struct signal_play *p, struct results *r);

#endif
