/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/routing/layers.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/compare.h"

struct layer {
	/* [channel][port of the switch it leads to] */
	uint64_t *waits;   /* present dependencies */
	uint64_t *refused; /* dependencies that would close a circle */
	uint32_t *rank;    /* topological: a channel before what it waits for */
};

/* Space for one insertion, shared by all layers. */
struct layer_search {
	edge_id *ahead, *behind; /* found from either end */
	uint32_t n_ahead, n_behind;
	uint32_t *ranks;
	bool *seen;
};

struct dependency {
	edge_id from, to;
};

void layers_init(struct layers *l, const struct sw_graph *g, unsigned max)
{
	uint32_t most = 0;

	for (switch_id sw = 0; sw < g->n; sw++) {
		uint32_t n = g->port_base[sw + 1] - g->port_base[sw];

		most = n > most ? n : most;
	}
	*l = (struct layers){
		.g = g,
		.words = most / 64 + 1,
		.max = max,
		.layer = hd_alloc(max, sizeof(*l->layer)),
		.search = hd_alloc(1, sizeof(*l->search)),
	};
	l->search->ahead = hd_alloc(g->n_edges, sizeof(edge_id));
	l->search->behind = hd_alloc(g->n_edges, sizeof(edge_id));
	l->search->ranks = hd_alloc(g->n_edges, sizeof(uint32_t));
	l->search->seen = hd_alloc(g->n_edges, sizeof(bool));
}

static void layer_fini(struct layer *l)
{
	free(l->waits);
	free(l->refused);
	free(l->rank);
}

void layers_fini(struct layers *l)
{
	for (unsigned i = 0; i < l->max; i++)
		layer_fini(&l->layer[i]);
	free(l->layer);
	free(l->search->ahead);
	free(l->search->behind);
	free(l->search->ranks);
	free(l->search->seen);
	free(l->search);
	*l = (struct layers){ .n = 0 };
}

static void layer_init(struct layers *l, struct layer *layer)
{
	size_t bits = (size_t)l->g->n_edges * l->words;

	layer->waits = hd_alloc(bits, sizeof(*layer->waits));
	layer->refused = hd_alloc(bits, sizeof(*layer->refused));
	layer->rank = hd_alloc(l->g->n_edges, sizeof(*layer->rank));
	for (edge_id e = 0; e < l->g->n_edges; e++)
		layer->rank[e] = e;
}

static uint64_t *row_of(const struct layers *l, uint64_t *bits, edge_id from, unsigned port)
{
	return &bits[(size_t)from * l->words + port / 64];
}

static bool has(const struct layers *l, uint64_t *bits, struct dependency d)
{
	unsigned port = l->g->edges[d.to].out;

	return *row_of(l, bits, d.from, port) >> port % 64 & 1;
}

static void set(const struct layers *l, uint64_t *bits, struct dependency d, bool on)
{
	unsigned port = l->g->edges[d.to].out;
	uint64_t bit = UINT64_C(1) << port % 64;
	uint64_t *word = row_of(l, bits, d.from, port);

	*word = on ? *word | bit : *word & ~bit;
}

/*
 * Everything that d.to leads to with a rank up to that of d.from; false if that
 * includes d.from.
 */
static bool look_ahead(const struct layers *l, const struct layer *layer, struct layer_search *s,
		       struct dependency d)
{
	const struct sw_graph *g = l->g;
	uint32_t limit = layer->rank[d.from];

	s->ahead[s->n_ahead++] = d.to;
	s->seen[d.to] = true;
	for (uint32_t i = 0; i < s->n_ahead; i++) {
		switch_id sw = g->edges[s->ahead[i]].to;

		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			struct dependency next = { s->ahead[i], e };

			if (layer->rank[e] > limit || s->seen[e] || !has(l, layer->waits, next))
				continue;
			if (e == d.from)
				return false;
			s->seen[e] = true;
			s->ahead[s->n_ahead++] = e;
		}
	}
	return true;
}

/* Everything that leads to d.from with a rank of at least d.to's. */
static void look_behind(const struct layers *l, const struct layer *layer, struct layer_search *s,
			struct dependency d)
{
	const struct sw_graph *g = l->g;
	uint32_t limit = layer->rank[d.to];

	s->behind[s->n_behind++] = d.from;
	s->seen[d.from] = true;
	for (uint32_t i = 0; i < s->n_behind; i++) {
		switch_id sw = edge_from(g, s->behind[i]);

		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			struct dependency before = { g->reverse[e], s->behind[i] };

			if (layer->rank[before.from] < limit || s->seen[before.from] ||
			    !has(l, layer->waits, before))
				continue;
			s->seen[before.from] = true;
			s->behind[s->n_behind++] = before.from;
		}
	}
}

/* Sorts channels by rank: pairs of (rank, channel) in one 64-bit number. */
static void sort_by_rank(const struct layer *layer, edge_id *list, uint32_t n)
{
	uint64_t *keys = hd_alloc(n, sizeof(*keys));

	for (uint32_t i = 0; i < n; i++)
		keys[i] = (uint64_t)layer->rank[list[i]] << 32 | list[i];
	qsort(keys, n, sizeof(*keys), compare_u64);
	for (uint32_t i = 0; i < n; i++)
		list[i] = (edge_id)keys[i];
	free(keys);
}

/* Vertices behind the new edge take the lower ranks of both sides. */
static void reorder(struct layer *layer, struct layer_search *s)
{
	uint32_t n = 0;

	sort_by_rank(layer, s->behind, s->n_behind);
	sort_by_rank(layer, s->ahead, s->n_ahead);
	for (uint32_t i = 0; i < s->n_behind; i++)
		s->ranks[n++] = layer->rank[s->behind[i]];
	for (uint32_t i = 0; i < s->n_ahead; i++)
		s->ranks[n++] = layer->rank[s->ahead[i]];
	qsort(s->ranks, n, sizeof(*s->ranks), compare_u32);
	n = 0;
	for (uint32_t i = 0; i < s->n_behind; i++)
		layer->rank[s->behind[i]] = s->ranks[n++];
	for (uint32_t i = 0; i < s->n_ahead; i++)
		layer->rank[s->ahead[i]] = s->ranks[n++];
}

static void forget(struct layer_search *s)
{
	for (uint32_t i = 0; i < s->n_ahead; i++)
		s->seen[s->ahead[i]] = false;
	for (uint32_t i = 0; i < s->n_behind; i++)
		s->seen[s->behind[i]] = false;
	s->n_ahead = s->n_behind = 0;
}

/* Adds a dependency unless it closes a circle. */
static bool insert(const struct layers *l, struct layer *layer, struct dependency d)
{
	bool fits = true;

	if (layer->rank[d.from] > layer->rank[d.to]) {
		fits = look_ahead(l, layer, l->search, d);
		if (fits) {
			look_behind(l, layer, l->search, d);
			reorder(layer, l->search);
		}
		forget(l->search);
	}
	if (fits)
		set(l, layer->waits, d, true);
	return fits;
}

/* Goes through the dependencies of several paths. */
struct cursor {
	const struct layer_path *paths;
	unsigned n, path, at;
};

static bool cursor_next(struct cursor *c, struct dependency *d)
{
	while (c->path < c->n && c->at + 1 >= c->paths[c->path].n) {
		c->path++;
		c->at = 0;
	}
	if (c->path == c->n)
		return false;
	const struct layer_path *p = &c->paths[c->path];

	*d = (struct dependency){ p->edges[c->at], p->edges[c->at + 1] };
	c->at++;
	return true;
}

/* Whether all are there already (1), some refused (-1), or some new (0). */
static int glance(const struct layers *l, const struct layer *layer, struct cursor c)
{
	struct dependency d;
	int known = 1;

	while (cursor_next(&c, &d)) {
		if (has(l, layer->refused, d))
			return -1;
		if (!has(l, layer->waits, d))
			known = 0;
	}
	return known;
}

static bool try_layer(const struct layers *l, struct layer *layer, const struct layer_path *paths,
		      unsigned n)
{
	struct cursor start = { .paths = paths, .n = n }, c = start;
	struct dependency d, *added = NULL;
	size_t n_added = 0, cap = 0;
	int known = glance(l, layer, start);
	bool fits = true;

	if (known)
		return known > 0;
	while (fits && cursor_next(&c, &d)) {
		if (has(l, layer->waits, d))
			continue;
		fits = insert(l, layer, d);
		if (!fits)
			break;
		added = hd_grow(added, &cap, n_added + 1, sizeof(*added));
		added[n_added++] = d;
	}
	if (!fits) {
		while (n_added > 0)
			set(l, layer->waits, added[--n_added], false);
		/* Whether these paths close the cycle themselves, or other paths do. */
		if (insert(l, layer, d))
			set(l, layer->waits, d, false);
		else
			set(l, layer->refused, d, true);
	}
	free(added);
	return fits;
}

bool layers_know(const struct layers *l, const struct layer_path *path)
{
	struct cursor c = { .paths = path, .n = 1 };

	return l->n > 0 && glance(l, &l->layer[0], c) > 0;
}

int layers_place(struct layers *l, const struct layer_path *paths, unsigned n)
{
	for (unsigned i = 0; i < l->max; i++) {
		if (i == l->n)
			layer_init(l, &l->layer[l->n++]);
		if (try_layer(l, &l->layer[i], paths, n))
			return (int)i;
	}
	return -1;
}

unsigned layers_available(const struct subnet *s, const struct sw_graph *g, unsigned limit)
{
	unsigned most = limit && limit < N_DATA_VLS ? limit : N_DATA_VLS;

	for (switch_id sw = 0; sw < g->n; sw++) {
		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			port_id p = topo_port_of(s->topo, s->node_of_switch[sw], g->edges[e].out);

			if (s->vls_of_port[p] < most)
				most = s->vls_of_port[p];
		}
	}
	return most;
}
