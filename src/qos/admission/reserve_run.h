/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_RESERVE_RUN_H
#define HD_QOS_ADMISSION_RESERVE_RUN_H

/*
 * A complete run of reservation signalling (qos/admission/reserve.h): sources repeat PATH until
 * they stop or send TEAR, destinations answer, managers remove state that is not refreshed.
 * Messages take no time. The run ends when no manager has state.
 */

#include "measure/results.h"
#include "qos/admission/reserve.h"
#include "qos/admission/target.h"

struct reserve_run_params {
	hd_time lifetime; /* of state in managers, above 0 */
	hd_time repeat;   /* interval between PATH messages of a source, above 0 */
	hd_time until;    /* time at which sources stop */
	bool tear;        /* sources send TEAR when they stop */
	struct broker_params broker;
	struct qos_terms terms;
	const char *tables; /* output file of port tables (qos/opensm/port_conf.h), or NULL */
};

/* A delivered message; its session is the index of the request. */
struct reserve_event {
	hd_time time;
	struct reserve_message message;
};

/* State of a subnet's manager after a change. */
struct reserve_state {
	hd_time time;
	uint32_t subnet;
	uint32_t known, reserved; /* number of flows */
};

struct reserve_outcome {
	bool confirmed, refused; /* last answer received by the source; may be neither */
	uint32_t where;          /* the refusing subnet */
	/*
	 * Bound of each part of the path, in seconds, after the last repetition of all sources;
	 * HUGE_VAL: none.
	 */
	double bound[BROKER_SEGMENTS];
};

struct reserve_run {
	struct subnet *subnet;
	struct reserve_run_params params;
	const struct qos_requests *requests;
	struct broker broker; /* one broker for all subnets */
	/* Port tables with the reservations at that time, per port_id. */
	struct vlarb *tables;
	struct reserve_manager *managers; /* per subnet */
	struct reserve_message *paths;    /* per request */
	struct reserve_outbox mail;
	/* Recorded events and states. */
	struct reserve_event *events;
	size_t n_events, events_cap;
	struct reserve_state *states;
	size_t n_states, states_cap;
	struct reserve_outcome *outcomes; /* per request */
	unsigned unconfirmed;             /* after the last message of a manager */
};

/*
 * Runs `requests` on a routed subnet; both must outlive `p`. On failure (an unknown name, a file
 * that cannot be written) nothing has to be freed.
 */
HD_MUST_CHECK enum hd_status reserve_run(struct reserve_run *p, struct subnet *s,
					 const struct qos_requests *requests,
					 const struct reserve_run_params *params, struct diag *d);
void reserve_run_fini(struct reserve_run *p);

/* Adds tables of messages, managers and flows (reserve_tables.c). */
void reserve_run_show(const struct reserve_run *p, struct results *r);

#endif
