/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_LAYERS_H
#define HD_SUBNET_ROUTING_LAYERS_H

/*
 * Virtual layers: paths are spread over VLs so that within each VL the
 * channels never wait for each other in a circle.
 *
 * A layer keeps a topological order of its channels (Pearce and Kelly's online
 * algorithm), so most new dependencies are seen to be harmless at a glance. A
 * dependency that once closed a circle would do so for ever, since none is
 * taken away; it is remembered and costs one bit to refuse again. So placing
 * millions of paths costs little more than looking at them.
 */

#include "subnet/routing/graph.h"

struct layer;
struct layer_search;

struct layers {
	const struct sw_graph *g;
	uint32_t words; /* per row of a bit matrix */
	unsigned max;
	unsigned n; /* in use */
	struct layer *layer;
	struct layer_search *search; /* space to work in */
};

/* The channels of one path in order. */
struct layer_path {
	const edge_id *edges;
	unsigned n;
};

void layers_init(struct layers *l, const struct sw_graph *g, unsigned max);
void layers_fini(struct layers *l);

/*
 * Puts the paths together into the first layer that stays free of circles.
 * Returns its number, or -1 if every layer would have a cycle.
 */
int layers_place(struct layers *l, const struct layer_path *paths, unsigned n);
/*
 * Would that be layer 0 and change nothing? Then so it will be whatever else is
 * placed. Threads may ask at the same time.
 */
bool layers_know(const struct layers *l, const struct layer_path *path);

/* The most VLs that every cable between switches has, at most `limit`. */
unsigned layers_available(const struct subnet *s, const struct sw_graph *g, unsigned limit);

#endif
