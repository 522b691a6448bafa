/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_MULTICAST_AGGREGATE_H
#define HD_SUBNET_MULTICAST_AGGREGATE_H

/*
 * Aggregation trees: a multicast tree that switches also reduce along
 * (docs/timing-rules.md, S1). Every switch of the tree has an aggregator, which takes
 * one contribution from each of its children (ports of its set that do not lead
 * to its parent) and gives one to its parent; what the root makes of its
 * children's goes to all members as a packet of the group does. A subnet has
 * them in order of their making. A sweep of a manager makes those of its plan.
 */

#include "subnet/multicast/mcast.h"

struct aggregator {
	switch_id sw;
	uint8_t parent;      /* port that leads to it; 0: this is the root */
	uint16_t n_children; /* ports of its set but that one */
};

struct aggregation {
	uint32_t group; /* of subnet.groups */
	lid_t mlid;
	uint16_t subnet;
	switch_id root;
	uint32_t levels;          /* switches from a member to the root, at most */
	struct aggregator *nodes; /* by switch */
	uint32_t n;
};

/*
 * Maximum number of trees per switch. Trees with a number below `from` belong to
 * another run and do not count.
 */
struct aggregation_limit {
	uint32_t most, from;
};

/*
 * Makes a tree of a group that any member may send to. Its root is the switch
 * from which the farthest one is nearest, the lower number of two. HD_ERR_FULL
 * if a switch has reached the limit. HD_ERR_UNFIT if the port sets of the group
 * are not a tree of all its members.
 */
HD_MUST_CHECK enum hd_status aggregation_add(struct subnet *s, uint32_t group,
					     struct aggregation_limit limit, struct diag *d);
/* Removes all trees but the first n. */
void aggregation_drop(struct subnet *s, uint32_t n);

/*
 * Whether reductions along the tree complete: from every member the parents
 * lead to the root, every aggregator receives from exactly the children that it
 * waits for, and the root's copies reach every member once. The refusal names
 * the first fault.
 */
HD_MUST_CHECK enum hd_status aggregation_check(const struct subnet *s, const struct aggregation *a,
					       struct diag *d);

#endif
