/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_TARGET_H
#define HD_QOS_ADMISSION_TARGET_H

/*
 * Resolves requests in a routed subnet: names become ports, LIDs and groups. A name that the
 * fabric does not have is an error with the line of the request.
 */

#include "base/option.h"
#include "qos/admission/broker.h"
#include "qos/admission/requests.h"
#include "subnet/subnet.h"

/* Context for resolving requests. */
struct qos_terms {
	struct qos_packets packets;
	struct hd_ratio margin;    /* added to the charged rate */
	struct option_list groups; /* in the syntax of subnet/tables/ends.h; borrowed */
	/*
	 * Router maps (docs/timing-rules.md, R4 and R4m), by subnet: SL of a TClass (NULL:
	 * modulo 16) and TClass of an SL (NULL: no marking).
	 */
	const uint8_t (*sl_of_tclass)[256];
	const uint8_t (*tclass_of_sl)[N_SLS];
};

struct qos_target {
	port_id from, to;                /* `to` is TOPO_NONE for a group */
	const struct mcast_group *group; /* NULL: an end port */
	struct broker_request request;
};

/*
 * A destination group:NAME is one of the terms' groups (subnet/tables/ends.h); the source
 * becomes a permitted sender. HD_ERR_UNFIT without a path.
 */
HD_MUST_CHECK enum hd_status qos_find_target(struct subnet *s, const struct qos_terms *t,
					     const struct qos_request *q, struct diag *d,
					     struct qos_target *out);

#endif
