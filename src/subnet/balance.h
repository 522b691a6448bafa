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
 * of (switches x switches) preparations and (switches x LIDs) choices.
 */

#include "subnet/order.h"

struct route_rule {
	/* Prepares for destinations on switch `target`. */
	void (*aim)(void *rule, switch_id target);
	/*
	 * The permitted ports of switch `at` toward the target, by number;
	 * returns how many, 0 if there is no way.
	 */
	unsigned (*ports)(void *rule, switch_id at, uint8_t *out);
	void *state;
	bool switches_only; /* leave destinations that are hosts alone */
	/*
	 * Tables in force, of the same switches and LIDs, or NULL: where the
	 * rule still permits their port, it stays.
	 */
	const struct subnet *keep;
};

void balance_routes(struct subnet *s, const struct sw_graph *g,
		    const struct route_rule *rule);

#endif
