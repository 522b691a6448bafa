/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "subnet/layers.h"
#include "subnet/order.h"
#include "subnet/route.h"

/*
 * DFSSSP (Domke, Hoefler, Nagel, 2011): destination by destination, every
 * switch takes the shortest path whose channels carry the least so far, and
 * the load of what was chosen is added. Fewer hops always win over less load,
 * so paths are found by breadth-first search and not by a heap. Then each path
 * (source switch, destination LID) gets the first layer in which it closes no
 * circle.
 */
struct dfsssp {
	struct subnet *s;
	const struct sw_graph *g;
	uint16_t *dist;
	switch_id *queue; /* switches by distance from the target */
	uint32_t n_queue;
	uint64_t *load; /* sources per channel */
	uint64_t *cost; /* summed load from a switch to the target */
	edge_id *way;
	uint32_t *flow; /* sources whose path passes a switch */
	edge_id *path;
	struct layers layers;
};

static void choose_ways(struct dfsssp *f)
{
	const struct sw_graph *g = f->g;

	f->cost[f->queue[0]] = 0;
	f->way[f->queue[0]] = TOPO_NONE;
	for (uint32_t i = 1; i < f->n_queue; i++) {
		switch_id sw = f->queue[i];

		f->cost[sw] = UINT64_MAX;
		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			switch_id to = g->edges[e].to;
			uint64_t cost = f->cost[to] + f->load[e];

			if (f->dist[to] + 1u != f->dist[sw] ||
			    cost >= f->cost[sw])
				continue;
			f->cost[sw] = cost;
			f->way[sw] = e;
		}
	}
}

/* From the far end: what a switch sends and what passes through it. */
static void add_load(struct dfsssp *f)
{
	for (uint32_t i = 0; i < f->n_queue; i++)
		f->flow[f->queue[i]] = f->g->n_ends[f->queue[i]];
	for (uint32_t i = f->n_queue; i-- > 1;) {
		switch_id sw = f->queue[i];

		f->load[f->way[sw]] += f->flow[sw];
		f->flow[f->g->edges[f->way[sw]].to] += f->flow[sw];
	}
}

static void fill_entries(struct dfsssp *f, const struct dest *d, lid_t lid)
{
	const struct subnet *s = f->s;

	for (uint32_t i = 0; i < f->n_queue; i++) {
		switch_id sw = f->queue[i];

		s->lft[(size_t)sw * s->lft_stride + lid] =
			i == 0 ? d->port : f->g->edges[f->way[sw]].out;
	}
}

/* A layer for the path from every switch with hosts; false if none is left. */
static bool place_paths(struct dfsssp *f, lid_t lid)
{
	for (uint32_t i = 1; i < f->n_queue; i++) {
		switch_id sw = f->queue[i];
		struct layer_path p = { f->path, 0 };

		if (f->g->n_ends[sw] == 0)
			continue;
		for (switch_id at = sw; f->way[at] != TOPO_NONE;
		     at = f->g->edges[f->way[at]].to)
			f->path[p.n++] = f->way[at];
		int layer = layers_place(&f->layers, &p, 1);

		if (layer < 0)
			return false;
		f->s->sl_of_path[(size_t)sw * f->s->lft_stride + lid] =
			(uint8_t)layer;
	}
	return true;
}

static bool route_dest(struct dfsssp *f, const struct dest *d)
{
	lid_t base = f->s->lid_of_port[d->owner];
	bool is_end = topo_is_end_port(f->s->topo, d->owner);
	bool fits = true;

	for (unsigned i = 0; fits && i < 1u << f->s->lmc_of_port[d->owner];
	     i++) {
		lid_t lid = (lid_t)(base + i);

		choose_ways(f);
		if (is_end)
			add_load(f);
		fill_entries(f, d, lid);
		fits = !is_end || place_paths(f, lid);
	}
	return fits;
}

static bool route_all(struct dfsssp *f)
{
	struct dest_order o;
	bool fits = true;

	dest_order_init(&o, f->s, f->g);
	for (uint32_t i = 0; fits && i < o.n; i++) {
		if (i == 0 || o.dests[i].sw != o.dests[i - 1].sw)
			f->n_queue = graph_distances(f->g, o.dests[i].sw,
						     f->dist, f->queue);
		fits = route_dest(f, &o.dests[i]);
	}
	dest_order_fini(&o);
	return fits;
}

enum hd_status route_dfsssp(struct subnet *s, const struct sw_graph *g,
			    const struct route_options *o, struct diag *d)
{
	unsigned max = layers_available(s, g, o->max_vls);
	enum hd_status status = HD_OK;
	struct dfsssp f = {
		.s = s,
		.g = g,
		.dist = hd_alloc(g->n, sizeof(*f.dist)),
		.queue = hd_alloc(g->n, sizeof(*f.queue)),
		.load = hd_alloc(g->n_edges, sizeof(*f.load)),
		.cost = hd_alloc(g->n, sizeof(*f.cost)),
		.way = hd_alloc(g->n, sizeof(*f.way)),
		.flow = hd_alloc(g->n, sizeof(*f.flow)),
		.path = hd_alloc(g->n, sizeof(*f.path)),
	};

	layers_init(&f.layers, g, max);
	subnet_sls_by_switch(s);
	if (!route_all(&f))
		status = diag_fail(d, HD_ERR_FULL,
				   "the paths need more layers than the %u VL%s"
				   " that all cables have",
				   max, max == 1 ? "" : "s");
	s->vls_used = f.layers.n ? f.layers.n : 1;
	layers_fini(&f.layers);
	free(f.dist);
	free(f.queue);
	free(f.load);
	free(f.cost);
	free(f.way);
	free(f.flow);
	free(f.path);
	return status;
}
