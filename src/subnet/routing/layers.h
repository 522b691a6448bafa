/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_LAYERS_H
#define HD_SUBNET_ROUTING_LAYERS_H

/*
 * Virtual layers: assigns paths to VLs so that the channel dependencies within
 * each VL have no cycle.
 *
 * A layer keeps a topological order of its channels (Pearce and Kelly's online
 * algorithm), so most new dependencies are accepted in constant time.
 * Dependencies are never removed, so a dependency that would close a cycle is
 * rejected permanently; one bit records it. Placing millions of paths therefore
 * costs little more than reading them.
 */

#include "subnet/routing/graph.h"

struct layer;
struct layer_search;

struct layers {
	const struct sw_graph *g;
	uint32_t words; /* per row of a bit matrix */
	unsigned max;
	unsigned n; /* layers in use */
	struct layer *layer;
	struct layer_search *search; /* work space */
};

/* The channels of one path in order. */
struct layer_path {
	const edge_id *edges;
	unsigned n;
};

void layers_init(struct layers *l, const struct sw_graph *g, unsigned max);
void layers_fini(struct layers *l);

/*
 * Places the paths together in the first layer that stays free of cycles.
 * Returns the layer's number, or -1 if every layer would have a cycle.
 */
int layers_place(struct layers *l, const struct layer_path *paths, unsigned n);
/*
 * Whether the path fits in layer 0 without new dependencies. A positive answer
 * stays valid when further paths are placed. Threads may call it concurrently.
 */
bool layers_know(const struct layers *l, const struct layer_path *path);

/* The number of VLs common to all cables between switches, at most `limit`. */
unsigned layers_available(const struct subnet *s, const struct sw_graph *g, unsigned limit);

#endif
