/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_SHAPE_H
#define HD_TOPO_SHAPE_H

/*
 * The shape of a fabric: a graph for counting and cutting.
 *
 * Vertices are switches, routers, and adapters with cables to more than one
 * node or to no switch. Any other adapter is folded into its switch and counts
 * in its weight. Parallel cables between two vertices are one edge with a
 * multiplicity.
 *
 * The weight of a vertex is its number of hosts: its folded adapters; in a
 * fabric without adapters, 1 for each switch whose port 0 is an end port;
 * without such switches, 1 for each switch.
 */

#include <stdbool.h>

#include "topo/topo.h"

struct shape {
	uint32_t n;
	node_id *node;       /* [vertex] */
	uint32_t *vertex_of; /* [node]; for a folded adapter, that of its switch */
	uint32_t *weight;    /* [vertex] */
	bool *adapter;       /* [vertex]; an adapter terminates paths and does not forward */
	uint64_t total_weight;
	uint32_t *start; /* edges of v: start[v] .. start[v + 1] - 1 */
	uint32_t *to, *cables;
	uint32_t n_cables; /* between vertices */
};

void shape_init(struct shape *g, const struct topo *t);
void shape_fini(struct shape *g);

/*
 * Numbers the connected parts from 0 in vertex order, sets the part of each
 * vertex, and returns the number of parts.
 */
uint32_t shape_parts(const struct shape *g, uint32_t *part);

/*
 * Distances between hosts, in links between their switches; 1 for adapters that
 * are cabled directly.
 */
struct shape_distances {
	uint32_t longest;
	double mean; /* over ordered pairs of hosts on different switches */
};
void shape_measure(const struct shape *g, struct shape_distances *out);

/*
 * Sets tier[vertex]: 1 for switches with hosts, 2 for their neighbours, etc.; 0
 * for all other vertices.
 */
void shape_tiers(const struct shape *g, const struct topo *t, uint32_t *tier);
/* Sets the tiers in the topology itself. */
void topo_number_tiers(struct topo *t);

/* Sets height[vertex]: number of edges to the nearest vertex with weight. */
void shape_heights(const struct shape *g, uint32_t *height);

#endif
