/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_TABLES_PATHS_H
#define HD_SUBNET_TABLES_PATHS_H

/*
 * All destinations of a subnet, grouped by the switch they hang on, and the
 * column of the forwarding tables that belongs to each. Checkers go through
 * them destination by destination: the entries for one LID are a function from
 * switches to channels, so everything about its paths costs O(switches).
 */

#include "base/parallel_for.h"
#include "subnet/routing/graph.h"

struct path_dest {
	port_id owner;
	lid_t lid;
	uint16_t subnet;
	uint8_t port; /* of the last switch; 0 = the switch itself */
};

struct path_dests {
	uint32_t *first; /* of switch sw: dests[first[sw]] .. first[sw + 1] */
	struct path_dest *dests;
	uint32_t n;
};

void path_dests_init(struct path_dests *p, const struct subnet *s, const struct sw_graph *g);
void path_dests_fini(struct path_dests *p);

/*
 * What a forwarding entry says. At the last switch and its port: PATH_ARRIVED;
 * a channel to another switch: its edge; anything else is a fault.
 */
#define PATH_ARRIVED  (TOPO_NONE - 1) /* delivered */
#define PATH_NO_ENTRY (TOPO_NONE - 2) /* the table has no port for the LID */
#define PATH_ASTRAY   (TOPO_NONE - 3) /* leaves by a port that is not right */

/*
 * The entries of all switches for one LID, which are a row's length apart in
 * memory. To fetch them one by one would cost more than all that is done with
 * them, so they come for many LIDs at once.
 */
struct path_view {
	switch_id target;
	const struct path_dest *dest;
	uint32_t number;      /* of dest */
	const uint8_t *ports; /* per switch */
};

/* next[sw] for every switch of the destination's subnet; others NO_ENTRY. */
void path_column(const struct subnet *s, const struct sw_graph *g, const struct path_view *v,
		 edge_id *next);
/* The same for one destination alone. */
void path_column_of(const struct subnet *s, const struct sw_graph *g, switch_id target,
		    const struct path_dest *d, edge_id *next);

/* What is done with a column; `member` as of a pool. */
typedef void path_visit_fn(void *context, unsigned member, const struct path_view *v);
/*
 * Calls for every destination; a member gets them in rising order, and those
 * of one switch together.
 */
void path_visit(const struct subnet *s, const struct sw_graph *g, const struct path_dests *p,
		struct parallel_pool *pool, path_visit_fn *visit, void *context);
/* A pool for that, as it is worth. */
struct parallel_pool *path_pool(const struct sw_graph *g, const struct path_dests *p);

static inline bool path_goes_on(edge_id next)
{
	return next < PATH_ASTRAY;
}

/* Values of hops[] beyond any path length; all are at least the first. */
#define PATH_NOT_ARRIVED   (UINT16_MAX - 4)
#define PATH_HOPS_LOOP     (UINT16_MAX - 3)
#define PATH_HOPS_ASTRAY   (UINT16_MAX - 2)
#define PATH_HOPS_NO_ENTRY (UINT16_MAX - 1)

/*
 * From every switch, along a column: how many cables to the destination, or how
 * the path ends instead. `stack` has room for all switches.
 */
void path_hops(const struct sw_graph *g, const edge_id *next, uint16_t *hops, switch_id *stack);

#endif
