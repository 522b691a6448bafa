/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_RESERVE_RUN_H
#define HD_QOS_ADMISSION_RESERVE_RUN_H

/*
 * A complete run of reservation signalling (qos/admission/reserve.h): sources
 * repeat PATH until they stop or send TEAR, destinations answer, managers drop
 * state that is not refreshed. Messages take no time. Ends when no manager has
 * state.
 */

#include "measure/results.h"
#include "qos/admission/reserve.h"
#include "qos/admission/target.h"

struct reserve_run_params {
	hd_time lifetime; /* of what managers remember, above 0 */
	hd_time repeat;   /* between two PATHs of a source, above 0 */
	hd_time until;    /* when sources fall silent */
	bool tear;        /* and end their flows then */
	struct broker_params broker;
	struct qos_terms terms;
	const char *tables; /* file for the ports' tables (qos/opensm/port_conf.h), or NULL */
};

/* A message as it was delivered; its session is the request's number. */
struct reserve_event {
	hd_time time;
	struct reserve_message message;
};

/* What a subnet's manager held after a change. */
struct reserve_state {
	hd_time time;
	uint32_t subnet;
	uint32_t known, reserved; /* flows */
};

struct reserve_outcome {
	bool confirmed, refused; /* as the source heard last; or neither */
	uint32_t where;          /* the subnet that refused */
	/* Seconds, of each part of the way when all sources had repeated
	 * themselves for the last time; HUGE_VAL: none. */
	double bound[BROKER_SEGMENTS];
};

struct reserve_run {
	struct subnet *subnet;
	struct reserve_run_params params;
	const struct qos_requests *requests;
	struct broker broker; /* of all subnets */
	/* The tables that reservations made then, per port_id. */
	struct vlarb *tables;
	struct reserve_manager *managers; /* by subnet */
	struct reserve_message *paths;    /* by request */
	struct reserve_outbox mail;
	/* The record. */
	struct reserve_event *events;
	size_t n_events, events_cap;
	struct reserve_state *states;
	size_t n_states, states_cap;
	struct reserve_outcome *outcomes; /* by request */
	unsigned unconfirmed;             /* at the last word of a manager */
};

/*
 * Plays `requests` on a routed subnet, both of which outlive the play. On
 * failure (an unknown name, a file that cannot be written) nothing is left to free.
 */
HD_MUST_CHECK enum hd_status reserve_run(struct reserve_run *p, struct subnet *s,
					 const struct qos_requests *requests,
					 const struct reserve_run_params *params, struct diag *d);
void reserve_run_fini(struct reserve_run *p);

/* Messages, managers and flows (reserve_tables.c). */
void reserve_run_show(const struct reserve_run *p, struct results *r);

#endif
