/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_OPENSM_PATH_H
#define HD_QOS_OPENSM_PATH_H

/*
 * The links of a flow, from the port of its source to its destination: the output ports in order,
 * and the VL on each. The path follows the forwarding tables. If the routing engine assigns SLs to
 * paths, the VLs are those of its SL.
 */

#include <stdint.h>

#include "subnet/subnet.h"

#define PATH_MAX_HOPS 64

struct path {
	uint32_t n_hops;
	port_id port[PATH_MAX_HOPS];
	uint8_t vl[PATH_MAX_HOPS];
};

/*
 * HD_ERR_NOT_FOUND if the tables do not lead there (no entry, a loop, a port
 * without a cable), HD_ERR_UNFIT if an SL2VL table on the way drops the SL.
 * path->n_hops then counts the hops up to where it ended.
 */
HD_MUST_CHECK enum hd_status path_walk(const struct subnet *s, port_id source, lid_t dlid,
				       uint8_t sl, struct path *path);

#endif
