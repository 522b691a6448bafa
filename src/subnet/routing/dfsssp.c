/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel_for.h"
#include "subnet/routing/layers.h"
#include "subnet/routing/order.h"
#include "subnet/routing/route.h"

/*
 * DFSSSP (Domke, Hoefler, Nagel, 2011): destination by destination, every
 * switch takes the shortest path whose channels carry the least so far, and
 * the load of what was chosen is added. Fewer hops always win over less load,
 * so paths are found by breadth-first search and not by a heap. Then each path
 * (source switch, destination LID) gets the first layer in which it closes no
 * circle.
 *
 * One destination's load decides the next one's paths. So threads share the
 * switches of a destination: those at one distance choose side by side, and
 * most paths are found to fit the first layer at a glance.
 */
#define SWITCHES     64 /* of a piece of work */
/* Channels to look at that are worth the time of calling threads. */
#define WORTH_A_TURN 16384

struct dfsssp {
	struct subnet *s;
	const struct sw_graph *g;
	struct parallel_pool *pool;
	uint16_t *dist;
	switch_id *queue; /* switches by distance from the target */
	uint32_t n_queue;
	uint32_t *level; /* switches at distance k: queue[level[k]] to queue[level[k + 1] - 1] */
	uint32_t n_levels;
	uint32_t at; /* index into queue: begin of the current level */
	/* Edges from queue[i] to the nearer level: toward[first[i]] to toward[first[i + 1] - 1]. */
	edge_id *toward;
	uint32_t *first;
	uint64_t *load; /* sources per channel */
	uint64_t *cost; /* summed load from a switch to the target */
	edge_id *way;
	uint32_t *flow; /* number of sources whose path passes a switch */
	bool *known;    /* queue[i]'s path is in the first layer */
	edge_id **path; /* space per thread */
	struct layers layers;
};

/* Distances to a target, and the edges that lead nearer to it. */
static void aim(struct dfsssp *f, switch_id target)
{
	const struct sw_graph *g = f->g;
	uint32_t n = 0;

	f->n_queue = graph_distances(g, target, f->dist, f->queue);
	f->n_levels = 0;
	for (uint32_t i = 0; i < f->n_queue; i++) {
		switch_id sw = f->queue[i];

		if (f->dist[sw] == f->n_levels)
			f->level[f->n_levels++] = i;
		f->first[i] = n;
		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			if (f->dist[g->edges[e].to] + 1u == f->dist[sw])
				f->toward[n++] = e;
		}
	}
	f->level[f->n_levels] = f->n_queue;
	f->first[f->n_queue] = n;
}

static void choose_at(struct dfsssp *f, uint32_t i)
{
	const struct sw_graph *g = f->g;
	uint64_t best = UINT64_MAX;
	edge_id way = TOPO_NONE;

	for (uint32_t k = f->first[i]; k < f->first[i + 1]; k++) {
		edge_id e = f->toward[k];
		uint64_t cost = f->cost[g->edges[e].to] + f->load[e];

		if (cost >= best)
			continue;
		best = cost;
		way = e;
	}
	f->cost[f->queue[i]] = best;
	f->way[f->queue[i]] = way;
}

static uint32_t end_of_piece(size_t piece, uint32_t from, uint32_t most)
{
	uint32_t end = from + (uint32_t)(piece + 1) * SWITCHES;

	return end < most ? end : most;
}

/* Chooses ports for some switches of a level. */
static void choose_some(void *context, unsigned member, size_t piece)
{
	struct dfsssp *f = context;
	uint32_t end = end_of_piece(piece, f->at, f->level[f->dist[f->queue[f->at]] + 1]);

	(void)member;
	for (uint32_t i = f->at + (uint32_t)piece * SWITCHES; i < end; i++)
		choose_at(f, i);
}

/* Calls for pieces of n switches: by all threads, or here at once. */
static void each_piece(struct dfsssp *f, uint32_t n, uint32_t work, parallel_for_fn *fn)
{
	size_t pieces = (n + SWITCHES - 1) / SWITCHES;

	if (work >= WORTH_A_TURN) {
		parallel_for(f->pool, pieces, fn, f);
		return;
	}
	for (size_t i = 0; i < pieces; i++)
		fn(f, 0, i);
}

static void choose_ways(struct dfsssp *f)
{
	f->cost[f->queue[0]] = 0;
	f->way[f->queue[0]] = TOPO_NONE;
	for (uint32_t k = 1; k < f->n_levels; k++) {
		uint32_t end = f->level[k + 1];

		f->at = f->level[k];
		each_piece(f, end - f->at, f->first[end] - f->first[f->at], choose_some);
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

static struct layer_path path_from(const struct dfsssp *f, switch_id at, edge_id *space)
{
	struct layer_path p = { space, 0 };

	for (; f->way[at] != TOPO_NONE; at = f->g->edges[f->way[at]].to)
		space[p.n++] = f->way[at];
	return p;
}

static void look_for_known(void *context, unsigned member, size_t piece)
{
	struct dfsssp *f = context;
	uint32_t end = end_of_piece(piece, 0, f->n_queue);

	for (uint32_t i = (uint32_t)piece * SWITCHES; i < end; i++) {
		switch_id sw = f->queue[i];

		f->known[i] = f->g->n_ends[sw] == 0;
		if (f->known[i])
			continue;
		struct layer_path p = path_from(f, sw, f->path[member]);

		f->known[i] = layers_know(&f->layers, &p);
	}
}

/* A layer for the path from every switch with hosts; false if none is left. */
static bool place_paths(struct dfsssp *f, lid_t lid)
{
	each_piece(f, f->n_queue, f->n_queue * f->n_levels, look_for_known);
	for (uint32_t i = 1; i < f->n_queue; i++) {
		switch_id sw = f->queue[i];

		if (f->known[i])
			continue;
		struct layer_path p = path_from(f, sw, f->path[0]);
		int layer = layers_place(&f->layers, &p, 1);

		if (layer < 0)
			return false;
		f->s->sl_of_path[(size_t)sw * f->s->lft_stride + lid] = (uint8_t)layer;
	}
	return true;
}

static bool route_dest(struct dfsssp *f, const struct dest *d)
{
	lid_t base = f->s->lid_of_port[d->owner];
	bool is_end = topo_is_end_port(f->s->topo, d->owner);
	bool fits = true;

	for (unsigned i = 0; fits && i < 1u << f->s->lmc_of_port[d->owner]; i++) {
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

	order_dests_init(&o, f->s, f->g);
	for (uint32_t i = 0; fits && i < o.n; i++) {
		if (i == 0 || o.dests[i].sw != o.dests[i - 1].sw)
			aim(f, o.dests[i].sw);
		fits = route_dest(f, &o.dests[i]);
	}
	order_dests_fini(&o);
	return fits;
}

static void dfsssp_init(struct dfsssp *f, struct subnet *s, const struct sw_graph *g)
{
	size_t n = g->n;

	*f = (struct dfsssp){
		.s = s,
		.g = g,
		.pool = parallel_pool_new((uint64_t)n * g->n_edges),
		.dist = hd_alloc(n, sizeof(*f->dist)),
		.queue = hd_alloc(n, sizeof(*f->queue)),
		.level = hd_alloc(n + 1, sizeof(*f->level)),
		.toward = hd_alloc(g->n_edges, sizeof(*f->toward)),
		.first = hd_alloc(n + 1, sizeof(*f->first)),
		.load = hd_alloc(g->n_edges, sizeof(*f->load)),
		.cost = hd_alloc(n, sizeof(*f->cost)),
		.way = hd_alloc(n, sizeof(*f->way)),
		.flow = hd_alloc(n, sizeof(*f->flow)),
		.known = hd_alloc(n, sizeof(*f->known)),
	};
	f->path = hd_alloc(parallel_pool_size(f->pool), sizeof(*f->path));
	for (unsigned i = 0; i < parallel_pool_size(f->pool); i++)
		f->path[i] = hd_alloc(n, sizeof(**f->path));
}

static void dfsssp_fini(struct dfsssp *f)
{
	for (unsigned i = 0; i < parallel_pool_size(f->pool); i++)
		free(f->path[i]);
	free(f->path);
	parallel_pool_free(f->pool);
	free(f->dist);
	free(f->queue);
	free(f->level);
	free(f->toward);
	free(f->first);
	free(f->load);
	free(f->cost);
	free(f->way);
	free(f->flow);
	free(f->known);
}

static enum hd_status route_dfsssp(struct subnet *s, const struct sw_graph *g,
				   const struct route_options *o, struct diag *d)
{
	unsigned max = layers_available(s, g, o->max_vls);
	enum hd_status status = HD_OK;
	struct dfsssp f;

	subnet_own(s);
	dfsssp_init(&f, s, g);
	layers_init(&f.layers, g, max);
	subnet_sls_by_switch(s);
	if (!route_all(&f))
		status = diag_fail(
			d, HD_ERR_FULL,
			"the paths need more layers than the %u VL%s that all cables have", max,
			max == 1 ? "" : "s");
	s->vls_used = f.layers.n ? f.layers.n : 1;
	layers_fini(&f.layers);
	dfsssp_fini(&f);
	return status;
}

const struct route_engine engine_dfsssp = {
	.name = "dfsssp",
	.needs = "any fabric, as many VLs as it finds layers",
	.opensm = "dfsssp",
	.route = route_dfsssp,
};
