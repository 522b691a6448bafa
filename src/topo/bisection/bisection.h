/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_BISECTION_BISECTION_H
#define HD_TOPO_BISECTION_BISECTION_H

/*
 * The bisection of a fabric: the least number of cables whose removal separates
 * the hosts into two halves.
 *
 * A host stays with the switch that all its cables lead to. The halves are
 * equal if all switches with hosts have the same number of hosts and the number
 * of these switches is even; in general they differ by at most the largest
 * number of hosts on one switch. Switches without hosts may be on either side.
 *
 * The value is exact for grids, hypercubes, rings and trees (closed forms),
 * where a lower bound (bound.h) equals the cut of a known split, and for
 * fabrics small enough to search. Otherwise both bounds are given and labelled
 * as bounds.
 */

#include "topo/shape.h"
#include "topo/topo.h"

enum bisection_kind {
	BISECTION_NONE,    /* fewer than two vertices have hosts */
	BISECTION_FORMULA, /* exact */
	BISECTION_SEARCH,  /* exact */
	BISECTION_MET,     /* exact: lower and upper bound are equal */
	BISECTION_BOUND,   /* upper bound */
};
/* "exact (closed form)" etc. */
const char *bisection_kind_text(enum bisection_kind kind);

struct bisection {
	enum bisection_kind kind;
	uint64_t cables;
	uint64_t least; /* proven lower bound; equals `cables` if exact */
};

/* `budget`: maximum number of search steps; 0: the default. */
void topo_bisect(const struct topo *t, const struct shape *g, uint64_t budget,
		 struct bisection *out);

/* The single methods, for tests. False if there is no closed form. */
bool bisect_by_formula(const struct topo *t, uint64_t *cables);
/*
 * Searches for a cut smaller than *cables, which must be attainable. False if
 * the budget is exhausted; *cables is then the smallest cut found.
 */
bool bisect_by_search(const struct shape *g, uint64_t budget, uint64_t *cables);
/* An upper bound; false if no split that divides the hosts fairly was found. */
bool bisect_by_metis(const struct shape *g, uint64_t *cables);

#endif
