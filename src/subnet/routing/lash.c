/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel_for.h"
#include "base/rng.h"
#include "subnet/routing/grid.h"
#include "subnet/routing/layers.h"
#include "subnet/routing/route.h"
#include "subnet/tables/paths.h"

/*
 * LASH (Skeie, Lysne, Theiss, 2002): shortest paths between switches, and each
 * pair of switches gets a layer in which its paths, both ways, close no circle.
 * Both ways, because a connection answers on the SL that it was asked on.
 *
 * Which of several shortest paths is taken decides how many layers it needs.
 * On grids it is dimension order. Elsewhere cables get small random lengths,
 * the same in both directions: so there is one shortest path, and the way back
 * is the same path. Of cables side by side, destinations take turns.
 */
struct lash {
	struct subnet *s;
	const struct sw_graph *g;
	struct path_dests dests;
	bool is_grid;
	struct grid grid;
	uint32_t *length; /* per edge: cost in addition to the hop */
	edge_id **way;    /* [target][switch]: the channel toward it */
	struct layers layers;
	struct search_space *spaces; /* per thread */
};

/* To find shortest paths to one target after another. */
struct search_space {
	uint64_t *extra; /* length summed from a switch to the target */
	uint16_t *dist;
	switch_id *queue; /* switches by distance from the target */
	uint32_t n_queue;
};

/* Random, but the same for all cables between the same two switches. */
static void measure_cables(struct lash *l)
{
	const struct sw_graph *g = l->g;

	for (switch_id sw = 0; sw < g->n; sw++) {
		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			switch_id to = g->edges[e].to;
			switch_id low = sw < to ? sw : to;
			struct rng r;

			rng_init(&r, low, sw < to ? to : sw);
			l->length[e] = (uint32_t)rng_next(&r);
		}
	}
}

/* The `turn`th, round and round, of the cables that lead where `e` leads. */
static edge_id take_turn(const struct sw_graph *g, switch_id sw, edge_id e, uint32_t turn)
{
	switch_id to = g->edges[e].to;
	uint32_t n = 0;

	for (edge_id k = g->first[sw]; k < g->first[sw + 1]; k++)
		n += g->edges[k].to == to;
	if (n <= 1)
		return e;
	e = g->first[sw];
	for (turn %= n; g->edges[e].to != to || turn > 0; e++)
		turn -= g->edges[e].to == to;
	return e;
}

static void aim_anywhere(struct lash *l, switch_id target, struct search_space *w)
{
	const struct sw_graph *g = l->g;
	edge_id *way = l->way[target];

	w->extra[target] = 0;
	for (uint32_t i = 1; i < w->n_queue; i++) {
		switch_id sw = w->queue[i];

		w->extra[sw] = UINT64_MAX;
		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			switch_id to = g->edges[e].to;

			if (w->dist[to] + 1u != w->dist[sw])
				continue;
			uint64_t extra = w->extra[to] + l->length[e];

			if (extra >= w->extra[sw])
				continue;
			w->extra[sw] = extra;
			way[sw] = e;
		}
	}
	for (uint32_t i = 1; i < w->n_queue; i++) {
		switch_id sw = w->queue[i];

		way[sw] = take_turn(g, sw, way[sw], target);
	}
}

/* The direction in which to leave, lowest dimension first. */
static unsigned direction(const struct grid *grid, switch_id at, switch_id to)
{
	const uint16_t *a = grid_at(grid, at), *b = grid_at(grid, to);
	unsigned k = 0;

	while (a[k] == b[k])
		k++;
	bool down = a[k] > b[k];

	if (grid->wraps[k]) {
		uint32_t size = grid->size[k];
		uint32_t up = (b[k] + size - a[k]) % size;

		/* To the opposite switch: not over the end, either way. */
		if (up * 2 != size)
			down = up * 2 > size;
	}
	return 2 * k + down;
}

static void aim_on_grid(struct lash *l, switch_id target)
{
	const struct sw_graph *g = l->g;

	for (switch_id sw = 0; sw < g->n; sw++) {
		if (sw == target)
			continue;
		unsigned want = direction(&l->grid, sw, target);
		edge_id e = g->first[sw];

		while (l->grid.direction[e] != want)
			e++;
		l->way[target][sw] = take_turn(g, sw, e, target);
	}
}

static void aim(struct lash *l, switch_id target, struct search_space *w)
{
	memset(l->way[target], 0xFF, l->g->n * sizeof(edge_id));
	w->n_queue = graph_distances(l->g, target, w->dist, w->queue);
	if (l->is_grid)
		aim_on_grid(l, target);
	else
		aim_anywhere(l, target, w);
}

static void fill_tables(struct lash *l, switch_id target)
{
	const struct subnet *s = l->s;

	for (uint32_t i = l->dests.first[target]; i < l->dests.first[target + 1]; i++) {
		const struct path_dest *d = &l->dests.dests[i];

		for (switch_id sw = 0; sw < l->g->n; sw++) {
			edge_id e = l->way[target][sw];
			uint8_t *entry = &s->lft[(size_t)sw * s->lft_stride + d->lid];

			if (sw == target)
				*entry = d->port;
			else if (e != TOPO_NONE)
				*entry = l->g->edges[e].out;
		}
	}
}

static void route_to(void *context, unsigned member, size_t target)
{
	struct lash *l = context;

	aim(l, (switch_id)target, &l->spaces[member]);
	fill_tables(l, (switch_id)target);
}

static void find_ways(struct lash *l)
{
	size_t n = l->g->n;
	struct parallel_pool *pool = parallel_pool_new((uint64_t)n * l->g->n_edges);
	unsigned size = parallel_pool_size(pool);

	l->spaces = hd_alloc(size, sizeof(*l->spaces));
	for (unsigned i = 0; i < size; i++)
		l->spaces[i] = (struct search_space){
			.extra = hd_alloc(n, sizeof(uint64_t)),
			.dist = hd_alloc(n, sizeof(uint16_t)),
			.queue = hd_alloc(n, sizeof(switch_id)),
		};
	parallel_for(pool, n, route_to, l);
	for (unsigned i = 0; i < size; i++) {
		free(l->spaces[i].extra);
		free(l->spaces[i].dist);
		free(l->spaces[i].queue);
	}
	free(l->spaces);
	parallel_pool_free(pool);
}

static unsigned collect(const struct lash *l, switch_id from, switch_id to, edge_id *path)
{
	unsigned n = 0;

	while (from != to) {
		edge_id e = l->way[to][from];

		path[n++] = e;
		from = l->g->edges[e].to;
	}
	return n;
}

static void set_sl(const struct lash *l, switch_id from, switch_id to, uint8_t sl)
{
	for (uint32_t i = l->dests.first[to]; i < l->dests.first[to + 1]; i++)
		l->s->sl_of_path[(size_t)from * l->s->lft_stride + l->dests.dests[i].lid] = sl;
}

/* Assigns layers to all pairs of switches with hosts; false: too few layers. */
static bool place_pairs(struct lash *l)
{
	const struct sw_graph *g = l->g;
	edge_id *there = hd_alloc(g->n, sizeof(*there));
	edge_id *back = hd_alloc(g->n, sizeof(*back));
	int layer = 0;

	for (switch_id a = 0; a < g->n && layer >= 0; a++) {
		for (switch_id b = a + 1; b < g->n && layer >= 0; b++) {
			if (!g->n_ends[a] || !g->n_ends[b] || l->way[b][a] == TOPO_NONE)
				continue;
			struct layer_path both[] = {
				{ there, collect(l, a, b, there) },
				{ back, collect(l, b, a, back) },
			};

			layer = layers_place(&l->layers, both, 2);
			set_sl(l, a, b, (uint8_t)layer);
			set_sl(l, b, a, (uint8_t)layer);
		}
	}
	free(there);
	free(back);
	return layer >= 0;
}

static void lash_init(struct lash *l, struct subnet *s, const struct sw_graph *g, unsigned max)
{
	size_t n = g->n;
	struct diag ignored = { .status = HD_OK };

	*l = (struct lash){
		.s = s,
		.g = g,
		.length = hd_alloc(g->n_edges, sizeof(*l->length)),
		.way = hd_alloc(n, sizeof(*l->way)),
	};
	for (switch_id sw = 0; sw < n; sw++)
		l->way[sw] = hd_alloc(n, sizeof(**l->way));
	path_dests_init(&l->dests, s, g);
	layers_init(&l->layers, g, max);
	l->is_grid = grid_init(&l->grid, s, g, &ignored) == HD_OK;
	measure_cables(l);
}

static void lash_fini(struct lash *l)
{
	for (switch_id sw = 0; sw < l->g->n; sw++)
		free(l->way[sw]);
	path_dests_fini(&l->dests);
	grid_fini(&l->grid);
	free(l->length);
	free(l->way);
	layers_fini(&l->layers);
}

static enum hd_status route_lash(struct subnet *s, const struct sw_graph *g,
				 const struct route_options *o, struct diag *d)
{
	unsigned max = layers_available(s, g, o->max_vls);
	enum hd_status status = HD_OK;
	struct lash l;

	subnet_own(s);
	lash_init(&l, s, g, max);
	subnet_sls_by_switch(s);
	find_ways(&l);
	if (!place_pairs(&l))
		status = diag_fail(
			d, HD_ERR_FULL,
			"the paths need more layers than the %u VL%s that all cables have", max,
			max == 1 ? "" : "s");
	s->vls_used = l.layers.n ? l.layers.n : 1;
	lash_fini(&l);
	return status;
}

const struct route_engine engine_lash = {
	.name = "lash",
	.needs = "any fabric, as many VLs as it finds layers",
	.opensm = "lash",
	.route = route_lash,
};
