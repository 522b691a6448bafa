/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_LATENCY_H
#define HD_QOS_ADMISSION_LATENCY_H

/*
 * Delay bounds (qos/admission/bound.h) of what a broker has admitted, for the tables that
 * its reservations make. A connection to a group has a bound for each member;
 * one across subnets has the sum of its parts; its reverse path counts as a
 * flow of its own, which starts when the forward path ends.
 *
 * A flow has no bound if its burst is not known, if the switches are of a kind
 * that bounds are not claimed for, if a buffer on its way is smaller than the
 * bound needs, if its VL's entries are worth less than its flows send, or if it
 * waits for a flow that has none.
 */

#include <stdbool.h>
#include <stdint.h>

#include "qos/admission/bound.h"

struct broker;
struct broker_connection;
struct broker_refusal;

/* Inputs of the bounds besides the reservations. */
struct latency_model {
	const char *none;             /* why there are no bounds; NULL: there are */
	enum bound_mode mode;         /* that decides */
	bool any_order;               /* inputs of a switch take turns */
	bool strict;                  /* VLs in order of their number, no tables */
	uint8_t high_limit;           /* of the high table */
	uint32_t largest;             /* packet of any class, bytes on the wire */
	uint32_t management;          /* bytes of VL15 at a time */
	hd_time routing, arbitration; /* of switches and routers */
	/* Of crossbars between input and output queues; den 0: there are no
	 * queues at outputs. */
	struct hd_ratio speedup;
	/* Per port_id, of its link and of the buffers per VL at its far end and
	 * at this output; borrowed. NULL: 0, and as large as bounds need. */
	const hd_time *propagation;
	const uint32_t *in_bytes, *out_bytes;
	/* Ports of hosts that send reserved packets only; NULL: none. */
	const bool *quiet;
};

struct latency_hop {
	port_id port;
	uint8_t vl;
	double delay[BOUND_MODES]; /* seconds; HUGE_VAL: none */
	/* Bytes that the buffers at the far end, and at this output, must hold
	 * of this VL for the deciding bound. */
	double needed[2];
};

/* The way of a live connection to one of its destinations. */
struct latency_flow {
	uint32_t connection; /* of the broker */
	bool reverse;
	uint32_t first, n_hops; /* in `hops` */
	double bound;           /* seconds, whole way; HUGE_VAL: none */
	const char *none;       /* why; NULL: it has one */
	port_id where;          /* the link that is why */
};

struct latency {
	const struct broker *broker;
	const struct broker_connection *asking; /* NULL: none */
	struct latency_flow *flows;             /* by connection */
	uint32_t n_flows;
	size_t flows_cap;
	struct latency_hop *hops;
	uint32_t n_hops;
	size_t hops_cap;
};

/*
 * The bounds of all live connections of a broker, and of `asking` (NULL: none):
 * one of them, or one that it has not recorded yet, whose number is
 * n_connections. By all modes, not only the one that decides, if `all`.
 */
void latency_init(struct latency *l, const struct broker *b, const struct broker_connection *asking,
		  bool all);
void latency_fini(struct latency *l);

/*
 * The longest bound of a connection's destinations, with that of the connection
 * which continues its way, if there is one (broker_request.then).
 */
double latency_of(const struct latency *l, uint32_t connection);
/* The same without what continues it. */
double latency_part(const struct latency *l, uint32_t connection);

/* Whether a live connection has a deadline. */
bool latency_is_asked(const struct broker *b);
/*
 * Whether every deadline of the live connections and of `c`, which is live or
 * to be recorded (NULL: none), is met by its bound. HD_ERR_FULL and why if one
 * is not.
 */
HD_MUST_CHECK enum hd_status latency_check(const struct broker *b,
					   const struct broker_connection *c,
					   struct broker_refusal *why);
/* Lets live connections note the bounds that they have now, if larger. */
void latency_record(struct broker *b);

#endif
