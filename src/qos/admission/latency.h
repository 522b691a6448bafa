/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_LATENCY_H
#define HD_QOS_ADMISSION_LATENCY_H

/*
 * Delay bounds (qos/admission/bound.h) of the connections of a broker, for the arbitration
 * tables with its reservations. A connection to a group has a bound per member; one across
 * subnets has the sum of its parts; its reverse path is a flow of its own, which starts when the
 * forward path ends.
 *
 * A flow has no bound if its burst is unknown, if the type of switch is not covered by the bounds,
 * if a buffer on its path is smaller than required, if the entries of its VL serve less than its
 * flows send, or if it waits for a flow without a bound.
 */

#include <stdbool.h>
#include <stdint.h>

#include "qos/admission/bound.h"

struct broker;
struct broker_connection;
struct broker_refusal;

/* Inputs of the bounds besides the reservations. */
struct latency_model {
	const char *none;             /* reason why no bounds are computed, or NULL */
	enum bound_mode mode;         /* mode used for decisions */
	bool any_order;               /* round robin among the inputs of a switch */
	bool strict;                  /* priority by VL number, without tables */
	uint8_t high_limit;           /* limit of the high table */
	uint32_t largest;             /* largest packet of any class, bytes on the wire */
	uint32_t management;          /* burst of VL15, bytes */
	hd_time routing, arbitration; /* of switches and routers */
	/* Speed-up of crossbars with input and output queues; den 0: no output queues. */
	struct hd_ratio speedup;
	/*
	 * Per port_id: propagation of its link, and buffers per VL at the far end and at this
	 * output; borrowed. NULL: 0, and buffers of any required size.
	 */
	const hd_time *propagation;
	const uint32_t *in_bytes, *out_bytes;
	/* Per port: host that sends reserved packets only; NULL: none. */
	const bool *quiet;
};

struct latency_hop {
	port_id port;
	uint8_t vl;
	double delay[BOUND_MODES]; /* seconds; HUGE_VAL: none */
	/*
	 * Required bytes of this VL in the buffers at the far end and at this output, for the
	 * deciding mode.
	 */
	double needed[2];
};

/* The path of a live connection to one destination. */
struct latency_flow {
	uint32_t connection; /* id in the broker */
	bool reverse;
	uint32_t first, n_hops; /* indices in `hops` */
	double bound;           /* whole path, seconds; HUGE_VAL: none */
	const char *none;       /* reason for no bound, or NULL */
	port_id where;          /* link that is the reason */
};

struct latency {
	const struct broker *broker;
	const struct broker_connection *asking; /* NULL: none */
	struct latency_flow *flows;             /* sorted by connection */
	uint32_t n_flows;
	size_t flows_cap;
	struct latency_hop *hops;
	uint32_t n_hops;
	size_t hops_cap;
};

/*
 * Computes the bounds of all live connections of a broker, and of `asking` (NULL: none), which
 * is one of them or a new one with id n_connections. `all`: in all modes, else in the deciding
 * mode only.
 */
void latency_init(struct latency *l, const struct broker *b, const struct broker_connection *asking,
		  bool all);
void latency_fini(struct latency *l);

/*
 * The longest bound of a connection's destinations, plus that of the connection that continues
 * its path, if any (broker_request.then).
 */
double latency_of(const struct latency *l, uint32_t connection);
/* As latency_of, without the continuing connection. */
double latency_part(const struct latency *l, uint32_t connection);

/* Whether any live connection has a deadline. */
bool latency_is_asked(const struct broker *b);
/*
 * Whether the bounds meet the deadlines of all live connections and of `c`, which is live or new
 * (NULL: none). HD_ERR_FULL and the reason otherwise.
 */
HD_MUST_CHECK enum hd_status latency_check(const struct broker *b,
					   const struct broker_connection *c,
					   struct broker_refusal *why);
/* Updates the largest bound of each live connection. */
void latency_record(struct broker *b);

#endif
