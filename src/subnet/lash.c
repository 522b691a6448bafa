/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "subnet/layers.h"
#include "subnet/paths.h"
#include "subnet/route.h"

/*
 * LASH (Skeie, Lysne, Theiss, 2002): shortest paths between switches, and each
 * pair of switches gets a layer in which its paths, both ways, close no circle
 * with those already there.
 */
struct lash {
	struct subnet *s;
	const struct sw_graph *g;
	struct path_dests dests;
	uint16_t *dist;
	switch_id *queue;
	uint32_t *load; /* targets per switch port */
	edge_id **way;  /* [target][switch]: the channel toward it */
	struct layers layers;
};

/* A shortest way from every switch, over the channels used least so far. */
static void aim(struct lash *l, switch_id target)
{
	const struct sw_graph *g = l->g;
	edge_id *way = l->way[target];

	graph_distances(g, target, l->dist, l->queue);
	memset(way, 0xFF, g->n * sizeof(*way));
	for (switch_id sw = 0; sw < g->n; sw++) {
		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			if (l->dist[g->edges[e].to] + 1u != l->dist[sw])
				continue;
			if (way[sw] == TOPO_NONE ||
			    l->load[e] < l->load[way[sw]])
				way[sw] = e;
		}
		if (way[sw] != TOPO_NONE)
			l->load[way[sw]] += g->n_ends[target];
	}
}

static void fill_tables(struct lash *l, switch_id target)
{
	const struct subnet *s = l->s;

	for (uint32_t i = l->dests.first[target];
	     i < l->dests.first[target + 1]; i++) {
		const struct path_dest *d = &l->dests.dests[i];

		for (switch_id sw = 0; sw < l->g->n; sw++) {
			edge_id e = l->way[target][sw];
			uint8_t *entry =
				&s->lft[(size_t)sw * s->lft_stride + d->lid];

			if (sw == target)
				*entry = d->port;
			else if (e != TOPO_NONE)
				*entry = l->g->edges[e].out;
		}
	}
}

static unsigned collect(const struct lash *l, switch_id from, switch_id to,
			edge_id *path)
{
	unsigned n = 0;

	while (from != to) {
		edge_id e = l->way[to][from];

		path[n++] = e;
		from = l->g->edges[e].to;
	}
	return n;
}

static void set_sl(const struct lash *l, switch_id from, switch_id to,
		   uint8_t sl)
{
	for (uint32_t i = l->dests.first[to]; i < l->dests.first[to + 1]; i++)
		l->s->sl_of_path[(size_t)from * l->s->lft_stride +
				 l->dests.dests[i].lid] = sl;
}

/* Layers for all pairs of switches with hosts; false if they do not suffice. */
static bool place_pairs(struct lash *l)
{
	const struct sw_graph *g = l->g;
	edge_id *there = hd_alloc(g->n, sizeof(*there));
	edge_id *back = hd_alloc(g->n, sizeof(*back));
	int layer = 0;

	for (switch_id a = 0; a < g->n && layer >= 0; a++) {
		for (switch_id b = a + 1; b < g->n && layer >= 0; b++) {
			if (!g->n_ends[a] || !g->n_ends[b] ||
			    l->way[b][a] == TOPO_NONE)
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

static void lash_init(struct lash *l, struct subnet *s,
		      const struct sw_graph *g, unsigned max)
{
	*l = (struct lash){
		.s = s,
		.g = g,
		.dist = hd_alloc(g->n, sizeof(*l->dist)),
		.queue = hd_alloc(g->n, sizeof(*l->queue)),
		.load = hd_alloc(g->n_edges, sizeof(*l->load)),
		.way = hd_alloc(g->n, sizeof(*l->way)),
	};
	path_dests_init(&l->dests, s, g);
	layers_init(&l->layers, g, max);
	for (switch_id sw = 0; sw < g->n; sw++)
		l->way[sw] = hd_alloc(g->n, sizeof(**l->way));
}

static void lash_fini(struct lash *l)
{
	path_dests_fini(&l->dests);
	layers_fini(&l->layers);
	for (switch_id sw = 0; sw < l->g->n; sw++)
		free(l->way[sw]);
	free(l->way);
	free(l->dist);
	free(l->queue);
	free(l->load);
}

enum hd_status route_lash(struct subnet *s, const struct sw_graph *g,
			  const struct route_options *o, struct diag *d)
{
	unsigned max = layers_available(s, g, o->max_vls);
	enum hd_status status = HD_OK;
	struct lash l;

	lash_init(&l, s, g, max);
	s->sl_of_path = hd_alloc((size_t)g->n * s->lft_stride, 1);
	for (switch_id sw = 0; sw < g->n; sw++) {
		aim(&l, sw);
		fill_tables(&l, sw);
	}
	if (!place_pairs(&l))
		status = diag_fail(d, HD_ERR_FULL,
				   "the paths need more layers than the %u VL%s"
				   " that all cables have",
				   max, max == 1 ? "" : "s");
	s->vls_used = l.layers.n ? l.layers.n : 1;
	lash_fini(&l);
	return status;
}
