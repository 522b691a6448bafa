/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_SHAPE_H
#define HD_TOPO_SHAPE_H

/*
 * The shape of a fabric: a graph for counting and cutting.
 *
 * Vertices are switches, routers, and such adapters as have cables to more
 * than one node or to no switch. Any other adapter belongs to its switch and
 * counts in its weight. Cables between the same two vertices are one edge
 * with a multiplicity.
 *
 * The weight of a vertex is the number of hosts there: its own adapters; in a
 * fabric without adapters 1 for each switch whose port 0 is an end port, and
 * without such switches, 1 for each switch.
 */

#include <stdbool.h>

#include "topo/topo.h"

struct shape {
	uint32_t n;
	node_id *node;       /* [vertex] */
	uint32_t *vertex_of; /* [node]; that of its switch for a folded one */
	uint32_t *weight;    /* [vertex] */
	bool *adapter;       /* [vertex]; ends paths, and passes nothing on */
	uint64_t total_weight;
	uint32_t *start; /* edges of v: start[v] .. start[v + 1] - 1 */
	uint32_t *to, *cables;
	uint32_t n_cables; /* among vertices */
};

void shape_init(struct shape *g, const struct topo *t);
void shape_fini(struct shape *g);

/*
 * Which part each vertex is in, numbered from 0 in vertex order; returns the
 * number of parts.
 */
uint32_t shape_parts(const struct shape *g, uint32_t *part);

/*
 * Distances between hosts, in links between the switches of one and the other;
 * of adapters without a switch between them, 1.
 */
struct shape_distances {
	uint32_t longest;
	double mean; /* over ordered pairs of hosts that share no switch */
};
void shape_measure(const struct shape *g, struct shape_distances *out);

/*
 * [vertex]: 1 for switches that have hosts, 2 for those next to them, and so
 * on; 0 for all others.
 */
void shape_tiers(const struct shape *g, const struct topo *t, uint32_t *tier);
/* The same in the topology itself. */
void topo_number_tiers(struct topo *t);

/* [vertex]: edges to the nearest vertex that has weight. */
void shape_heights(const struct shape *g, uint32_t *height);

#endif
