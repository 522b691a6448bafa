/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_BISECTION_BISECTION_H
#define HD_TOPO_BISECTION_BISECTION_H

/*
 * The bisection of a fabric: the least number of cables whose removal parts
 * the hosts into two halves.
 *
 * A host stays with the switch that all its cables lead to. The halves are
 * equal if switches have equally many hosts and there is an even number of
 * such switches; in general they differ by no more hosts than the largest
 * number on one switch. Switches without hosts go to either side.
 *
 * Known exactly for grids, hypercubes, rings and trees by closed forms, where
 * a lower bound (bound.h) meets a split that was found, and for any
 * fabric small enough to search; otherwise both bounds are given and labelled
 * as such.
 */

#include "topo/shape.h"
#include "topo/topo.h"

enum bisection_kind {
	BISECTION_NONE,    /* nothing to part: fewer than two places for hosts */
	BISECTION_FORMULA, /* exact */
	BISECTION_SEARCH,  /* exact */
	BISECTION_MET,     /* exact: bounds from both sides are the same */
	BISECTION_BOUND,   /* no more than this */
};
/* "exact (closed form)" and the like. */
const char *bisection_kind_text(enum bisection_kind kind);

struct bisection {
	enum bisection_kind kind;
	uint64_t cables;
	uint64_t least; /* proven: no fewer than this; `cables` if exact */
};

/* `budget`: steps a search may take; 0 for the usual number. */
void topo_bisect(const struct topo *t, const struct shape *g, uint64_t budget,
		 struct bisection *out);

/* The parts of it, for tests. False if there is no closed form. */
bool bisect_by_formula(const struct topo *t, uint64_t *cables);
/*
 * Looks for less than *cables, which must be within reach. False if the budget
 * ran out; *cables is the least found so far.
 */
bool bisect_by_search(const struct shape *g, uint64_t budget, uint64_t *cables);
/* An upper bound; false if none was found that parts the hosts fairly. */
bool bisect_by_metis(const struct shape *g, uint64_t *cables);

#endif
