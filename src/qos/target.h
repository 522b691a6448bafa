/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_TARGET_H
#define HD_QOS_TARGET_H

/*
 * Where requests lead in a routed subnet: the names in them become ports, LIDs
 * and groups. What a request names and the fabric does not have is refused
 * with the request's line.
 */

#include "base/option.h"
#include "qos/requests.h"
#include "subnet/subnet.h"

/*
 * Both ends, wherever they are; HD_ERR_NOT_FOUND if one is not there,
 * HD_ERR_INPUT if both are the same.
 */
HD_MUST_CHECK enum hd_status qos_find_ends(const struct topo *t,
					   const struct qos_request *q,
					   struct diag *d, port_id *from,
					   port_id *to);

struct qos_target {
	port_id from;
	lid_t dlid;                      /* of an end port or a group */
	const struct mcast_group *group; /* NULL: an end port */
	struct qos_packets packets;      /* with a GRH to groups */
};

/*
 * Within the source's subnet: HD_ERR_UNFIT if it ends in another one. A
 * destination group:NAME is one of `groups` (subnet/ends.h), to which the
 * source may send from now on.
 */
HD_MUST_CHECK enum hd_status
qos_find_target(struct subnet *s, const struct option_list *groups,
		const struct qos_request *q, struct qos_packets packets,
		struct diag *d, struct qos_target *out);

#endif
