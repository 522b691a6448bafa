/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_BALANCE_H
#define HD_SUBNET_ROUTING_BALANCE_H

/*
 * Fills forwarding tables from a rule that gives the permitted ports. The
 * choice among them is OpenSM's: each destination takes the permitted port with
 * the fewest destinations so far. Ports with several LIDs (LMC) take a
 * different neighbour for each LID where possible.
 *
 * Destinations on one switch share the rule's preparation (aim), so the cost is
 * (switches x switches) preparations and (switches x LIDs) choices. A choice
 * reads the loads of its own switch only. Threads prepare several targets in
 * parallel and then choose for all of these targets, each thread for its own
 * switches. If tables are shared, threads prepare all targets first and then
 * choose for a subset of the switches at a time; the tables of a subset are
 * shared before the next one is filled.
 */

#include "subnet/routing/order.h"

/* Path of a packet so far, as implied by its input port. */
enum way_in {
	FROM_END,    /* from an end port, or generated at this switch */
	FROM_GROUP,  /* from another switch of the same dragonfly group */
	FROM_BEYOND, /* from another group: only minimal paths remain */
};
#define N_WAYS_IN 3

struct route_rule {
	/*
	 * Prepares the rule for destinations on switch `target`, in a view of
	 * view_size bytes. `queue` has room for all switches. Threads call it
	 * concurrently for different targets.
	 */
	void (*aim)(const void *rule, switch_id target, void *view, switch_id *queue);
	/*
	 * Writes the numbers of the permitted ports of switch `at` toward the
	 * target and returns their count; 0 if there is no path.
	 */
	unsigned (*ports)(const void *rule, const void *view, switch_id at, uint8_t *out);
	/*
	 * Nonminimal paths (adaptive.h), or NULL: the kind of an input port,
	 * and the permitted outputs per kind of input, in the form of `ports`,
	 * for minimal or nonminimal paths.
	 */
	enum way_in (*way_in)(const void *rule, switch_id at, unsigned port);
	unsigned (*detours)(const void *rule, const void *view, switch_id at, enum way_in from,
			    bool around, uint8_t *out);
	const void *state;
	size_t view_size;
	bool switches_only; /* skip destinations that are hosts */
	/*
	 * Tables in force for the same switches and LIDs, or NULL. Their ports
	 * are kept where the rule still permits them.
	 */
	const struct subnet *keep;
	/* SLs for which switches select among the permitted ports; 0: none. */
	uint16_t adaptive;
};

void balance_routes(struct subnet *s, const struct sw_graph *g, const struct route_rule *rule);

#endif
