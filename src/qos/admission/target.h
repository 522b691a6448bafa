/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_TARGET_H
#define HD_QOS_ADMISSION_TARGET_H

/*
 * Where requests lead in a routed subnet: the names in them become ports, LIDs
 * and groups. What a request names and the fabric does not have is refused
 * with the request's line.
 */

#include "base/option.h"
#include "qos/admission/broker.h"
#include "qos/admission/requests.h"
#include "subnet/subnet.h"

/* What turns lines of a file into requests of a broker. */
struct qos_terms {
	struct qos_packets packets;
	struct hd_ratio margin;    /* on top of what packets are charged */
	struct option_list groups; /* as subnet/tables/ends.h names them; borrowed */
	/* Of routers (docs/timing-rules.md, R4 and R4m), by subnet: the SL of a TClass
	 * (NULL: modulo 16) and the TClass of an SL (NULL: nothing is marked).
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
 * A destination group:NAME is one of the terms' groups (subnet/tables/ends.h), to
 * which the source may send from now on. HD_ERR_UNFIT if no way leads there.
 */
HD_MUST_CHECK enum hd_status qos_find_target(struct subnet *s, const struct qos_terms *t,
					     const struct qos_request *q, struct diag *d,
					     struct qos_target *out);

#endif
