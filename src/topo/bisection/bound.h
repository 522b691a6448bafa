/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_BISECTION_BOUND_H
#define HD_TOPO_BISECTION_BOUND_H

/*
 * Lower and upper bounds on a bisection. If they are equal, the value is exact
 * without a search.
 *
 * Lower bounds hold for every fair split.
 * - Flow. If every two hosts are joined by a unit of flow and no link carries
 *   more than c of it, a cut with a and b hosts on its sides has ab / c links.
 * - Spectrum. With L the Laplacian, w the hosts of each vertex and W all of
 *   them, mu such that L - mu (diag(w) - w w' / W) has no negative eigenvalue:
 *   a cut has at least mu a b / W links.
 * - Groups, for dragonflies. See bound.c.
 * - Layers, for tori. A split of C_k x H has a part of a_i vertices in layer i,
 *   and cuts at least the sum of the least cuts of H for parts of these sizes,
 *   plus twice the difference between the largest and the smallest part.
 *
 * The upper bound is the cut of a split, improved by moving vertices.
 */

#include "topo/bisection/bisection.h"

/* Maximum number of hosts on the larger side. */
uint64_t bisect_most(const struct shape *g);

/* Exact, for fabrics without cycles; false for others and for large ones. */
bool bisect_by_forest(const struct shape *g, uint64_t *cables);

/* The best applicable lower bound, or the first that is `enough`; 0: no bound. */
uint64_t bisect_at_least(const struct topo *t, const struct shape *g, uint64_t enough);
/* Single lower bounds; 0 if the bound does not apply or is too expensive for the size. */
uint64_t bisect_by_flow(const struct shape *g);
uint64_t bisect_by_spectrum(const struct shape *g);
uint64_t bisect_by_groups(const struct topo *t, const struct shape *g);
uint64_t bisect_by_layers(const struct topo *t);

/*
 * Upper bound from the splits that are natural for the family, refined; false
 * if there are none.
 */
bool bisect_by_family(const struct topo *t, const struct shape *g, uint64_t *cables);
/* Improves a fair split (0 or 1 per vertex) and returns its cut. */
uint64_t bisect_refine(const struct shape *g, int8_t *side);

#endif
