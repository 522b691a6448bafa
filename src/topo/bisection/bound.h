/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_BISECTION_BOUND_H
#define HD_TOPO_BISECTION_BOUND_H

/*
 * Bounds on a bisection from both sides. Where the two meet, the value is
 * exact without a search.
 *
 * From below: by what no fair split can avoid, whatever it is.
 * - Flow. If every two hosts are joined by a unit of flow and no link carries
 *   more than c of it, a cut with a and b hosts on its sides has ab / c links.
 * - Spectrum. With L the Laplacian, w the hosts of each vertex and W all of
 *   them, mu such that L - mu (diag(w) - w w' / W) has no negative eigenvalue:
 *   a cut has at least mu a b / W links.
 * - Groups, for dragonflies. See bound.c.
 * - Layers, for tori. A split of C_k x H has a part of a_i vertices in layer i,
 *   and cuts at least what parts of these sizes cut in H, summed, and twice the
 *   difference between the largest and the least of them.
 *
 * From above: a split that was found, made better by moving vertices.
 */

#include "topo/bisection/bisection.h"

/* Hosts that the larger side may have. */
uint64_t bisect_most(const struct shape *g);

/* Exact, for fabrics without circles; false for others and for large ones. */
bool bisect_by_forest(const struct shape *g, uint64_t *cables);

/* The best of those that apply, or one that is `enough`; 0 says nothing. */
uint64_t bisect_at_least(const struct topo *t, const struct shape *g, uint64_t enough);
/* One by one; 0 if it does not apply, or is too dear for the size. */
uint64_t bisect_by_flow(const struct shape *g);
uint64_t bisect_by_spectrum(const struct shape *g);
uint64_t bisect_by_groups(const struct topo *t, const struct shape *g);
uint64_t bisect_by_layers(const struct topo *t);

/*
 * Splits that the family suggests, refined; false if there are none.
 */
bool bisect_by_family(const struct topo *t, const struct shape *g, uint64_t *cables);
/* Improves a split (0 or 1 per vertex) that is fair; returns its cut. */
uint64_t bisect_refine(const struct shape *g, int8_t *side);

#endif
