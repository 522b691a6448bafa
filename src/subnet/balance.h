/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_BALANCE_H
#define HD_SUBNET_BALANCE_H

/*
 * Fills forwarding tables from a rule that says which ports are permitted,
 * choosing among them as OpenSM does: each destination takes the permitted
 * port that has the fewest destinations so far. Ports that have several LIDs
 * (LMC) take a different neighbour for each where they can.
 *
 * Destinations on one switch share the rule's preparation, so the cost is that
 * of (switches x switches) preparations and (switches x LIDs) choices. A choice
 * looks at the loads of its own switch only: threads prepare for some targets
 * side by side and then choose for all of them, each at switches of its own.
 */

#include "subnet/order.h"

struct route_rule {
	/*
	 * What is to be known of destinations on switch `target`, into a view
	 * of view_size bytes; `queue` has room for all switches. Threads do so
	 * for several targets at once.
	 */
	void (*aim)(const void *rule, switch_id target, void *view,
		    switch_id *queue);
	/*
	 * The permitted ports of switch `at` toward the target, by number;
	 * returns how many, 0 if there is no way.
	 */
	unsigned (*ports)(const void *rule, const void *view, switch_id at,
			  uint8_t *out);
	const void *state;
	size_t view_size;
	bool switches_only; /* leave destinations that are hosts alone */
	/*
	 * Tables in force, of the same switches and LIDs, or NULL: where the
	 * rule still permits their port, it stays.
	 */
	const struct subnet *keep;
	/* SLs for which switches choose among what it permits; 0: none do. */
	uint16_t adaptive;
};

void balance_routes(struct subnet *s, const struct sw_graph *g,
		    const struct route_rule *rule);

#endif
