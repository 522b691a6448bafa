/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_BALANCE_H
#define HD_SUBNET_ROUTING_BALANCE_H

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
 * Where tables are shared, they prepare for all targets and choose at some
 * switches after the others, whose tables are shared before the next are made.
 */

#include "subnet/routing/order.h"

/* What a switch sees of a packet's way so far, by the input that it came in. */
enum way_in {
	FROM_END,    /* of an end port, or made here */
	FROM_GROUP,  /* of another switch of the same group of the dragonfly */
	FROM_BEYOND, /* of another group: there is no way around any more */
};
#define N_WAYS_IN 3

struct route_rule {
	/*
	 * What is to be known of destinations on switch `target`, into a view
	 * of view_size bytes; `queue` has room for all switches. Threads do so
	 * for several targets at once.
	 */
	void (*aim)(const void *rule, switch_id target, void *view, switch_id *queue);
	/*
	 * The permitted ports of switch `at` toward the target, by number;
	 * returns how many, 0 if there is no way.
	 */
	unsigned (*ports)(const void *rule, const void *view, switch_id at, uint8_t *out);
	/*
	 * Of ways around (adaptive.h), or NULL: the kind of an input port;
	 * and the permitted outputs for each kind of input, in the form of
	 * `ports`, for minimal ways or ways around.
	 */
	enum way_in (*way_in)(const void *rule, switch_id at, unsigned port);
	unsigned (*detours)(const void *rule, const void *view, switch_id at, enum way_in from,
			    bool around, uint8_t *out);
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

void balance_routes(struct subnet *s, const struct sw_graph *g, const struct route_rule *rule);

#endif
