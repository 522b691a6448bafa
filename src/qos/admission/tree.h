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

/* The way to a member; HD_ERR_NOT_FOUND if the tree does not reach it. */
HD_MUST_CHECK enum hd_status tree_path_to(const struct tree_path *t, const struct subnet *s,
					  port_id member, struct path *out);

/* What bounds are asked for: one multicast flow and its members. */
struct tree_flow {
	const struct tree_path *tree;
	const struct subnet *subnet;
	struct bound_flow like; /* class, burst, period */
	const port_id *members;
	uint32_t n_members;
	uint32_t first; /* flows of the network that come before these */
};

/*
 * One flow per member for bound_delays. What their ways have in common counts
 * once: a flow is a branch of an earlier one (bound_flow.trunk). Port k of
 * the network is port k of the topology. `paths` has room for each member's
 * and must live as long as the flows.
 */
HD_MUST_CHECK enum hd_status tree_flows(const struct tree_flow *f, struct path *paths,
					struct bound_flow *flows);

#endif
