/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_TREE_H
#define HD_QOS_ADMISSION_TREE_H

/*
 * The links that a multicast flow uses, each once: what admission reserves,
 * and what the delay bounds of its members go along. Follows the multicast
 * tables, so it is the tree that packets really take.
 */

#include "qos/admission/bound.h"
#include "qos/opensm/path.h"

#define TREE_ROOT UINT32_MAX

struct tree_link {
	port_id port; /* an output port */
	uint8_t vl;
	uint8_t sl;      /* that was asked for, also where routing maps it */
	uint32_t before; /* the link it comes by; TREE_ROOT at the source */
};

struct tree_path {
	struct tree_link *links; /* a link comes after the one before it */
	uint32_t n;
	size_t cap;
};

/*
 * HD_ERR_NOT_FOUND if the tables lead nowhere or round in a circle,
 * HD_ERR_UNFIT if an SL2VL table on the way drops the SL; the last link is
 * then where it ended. A switch's own host has no links: what it sends begins
 * at the switch's ports. Free it in any case.
 */
HD_MUST_CHECK enum hd_status tree_walk(const struct subnet *s, port_id source, lid_t mlid,
				       uint8_t sl, struct tree_path *out);
void tree_path_fini(struct tree_path *t);

#endif
