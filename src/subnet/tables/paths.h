/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_TABLES_PATHS_H
#define HD_SUBNET_TABLES_PATHS_H

/*
 * All destinations of a subnet, grouped by their switch, and the column of the
 * forwarding tables for each. Checkers process one destination at a time: the
 * entries for one LID are a function from switches to channels, so each
 * property of its paths costs O(switches).
 */

#include "base/parallel_for.h"
#include "subnet/routing/graph.h"

struct path_dest {
	port_id owner;
	lid_t lid;
	uint16_t subnet;
	uint8_t port; /* output port of the last switch; 0 = the switch itself */
};

struct path_dests {
	uint32_t *first; /* of switch sw: dests[first[sw]] .. dests[first[sw + 1] - 1] */
	struct path_dest *dests;
	uint32_t n;
};

void path_dests_init(struct path_dests *p, const struct subnet *s, const struct sw_graph *g);
void path_dests_fini(struct path_dests *p);

/*
 * Value of a forwarding entry: PATH_ARRIVED at the last switch with the right
 * port, the edge of a channel to another switch, or a fault.
 */
#define PATH_ARRIVED  (TOPO_NONE - 1) /* delivered */
#define PATH_NO_ENTRY (TOPO_NONE - 2) /* the table has no port for the LID */
#define PATH_ASTRAY   (TOPO_NONE - 3) /* output port leads to the wrong place */

/*
 * Entries of all switches for one LID. In the tables they are one row apart,
 * and fetching them individually would cost more than processing them. They are
 * therefore gathered for many LIDs at once.
 */
struct path_view {
	switch_id target;
	const struct path_dest *dest;
	uint32_t number;      /* index of `dest` */
	const uint8_t *ports; /* indexed by switch */
};

/* Sets next[sw] for every switch of the destination's subnet; others get NO_ENTRY. */
void path_column(const struct subnet *s, const struct sw_graph *g, const struct path_view *v,
		 edge_id *next);
/* Like path_column, for a single destination. */
void path_column_of(const struct subnet *s, const struct sw_graph *g, switch_id target,
		    const struct path_dest *d, edge_id *next);

/* Processes a column; `member` is the pool member. */
typedef void path_visit_fn(void *context, unsigned member, const struct path_view *v);
/*
 * Calls `visit` for every destination. A member gets its destinations in
 * ascending order; destinations of one switch go to the same member.
 */
void path_visit(const struct subnet *s, const struct sw_graph *g, const struct path_dests *p,
		struct parallel_pool *pool, path_visit_fn *visit, void *context);
/* A thread pool whose size suits the amount of work. */
struct parallel_pool *path_pool(const struct sw_graph *g, const struct path_dests *p);

static inline bool path_goes_on(edge_id next)
{
	return next < PATH_ASTRAY;
}

/* Values of hops[] above any path length; all are at least PATH_NOT_ARRIVED. */
#define PATH_NOT_ARRIVED   (UINT16_MAX - 4)
#define PATH_HOPS_LOOP     (UINT16_MAX - 3)
#define PATH_HOPS_ASTRAY   (UINT16_MAX - 2)
#define PATH_HOPS_NO_ENTRY (UINT16_MAX - 1)

/*
 * Computes for every switch the number of cables to the destination along a
 * column, or how the path ends. `stack` has room for all switches.
 */
void path_hops(const struct sw_graph *g, const edge_id *next, uint16_t *hops, switch_id *stack);

#endif
