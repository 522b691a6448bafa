/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_MULTICAST_AGGREGATE_H
#define HD_SUBNET_MULTICAST_AGGREGATE_H

/*
 * Aggregation trees: multicast trees along which switches also reduce
 * (docs/timing-rules.md, S1). Every switch of the tree has an aggregator. It
 * receives one contribution from each of its children (ports of its set except
 * the one to its parent) and sends one to its parent. The root sends the result
 * to all members as a multicast packet of the group. The trees of a subnet are
 * in the order of creation. A manager's sweep rebuilds the trees of its plan.
 */

#include "subnet/multicast/mcast.h"

struct aggregator {
	switch_id sw;
	uint8_t parent;      /* port to the parent; 0: this is the root */
	uint16_t n_children; /* ports of the set except the parent's */
};

struct aggregation {
	uint32_t group; /* of subnet.groups */
	lid_t mlid;
	uint16_t subnet;
	switch_id root;
	uint32_t levels;          /* maximum number of switches from a member to the root */
	struct aggregator *nodes; /* indexed by switch */
	uint32_t n;
};

/*
 * Maximum number of trees per switch. Trees with a number below `from` belong
 * to another run and do not count.
 */
struct aggregation_limit {
	uint32_t most, from;
};

/*
 * Builds a tree for a group that any member may send to. The root is the switch
 * with the smallest eccentricity; the lower number wins a tie. HD_ERR_FULL if a
 * switch has reached the limit. HD_ERR_UNFIT if the port sets of the group are
 * not a tree that spans all its members.
 */
HD_MUST_CHECK enum hd_status aggregation_add(struct subnet *s, uint32_t group,
					     struct aggregation_limit limit, struct diag *d);
/* Removes all trees but the first n. */
void aggregation_drop(struct subnet *s, uint32_t n);

/*
 * Checks that reductions along the tree complete: the parents lead from every
 * member to the root, every aggregator receives from exactly the children that
 * it waits for, and the root's copies reach every member once. The error names
 * the first fault.
 */
HD_MUST_CHECK enum hd_status aggregation_check(const struct subnet *s, const struct aggregation *a,
					       struct diag *d);

#endif
