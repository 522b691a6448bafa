/* SPDX-License-Identifier: BSD-2-Clause */
#include "topo/shape.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/compare.h"

/* The switch that all cables of an adapter lead to; TOPO_NONE if there are several. */
static node_id only_switch(const struct topo *t, node_id node)
{
	const struct topo_node *v = &t->nodes[node];
	node_id found = TOPO_NONE;

	if (v->kind != NODE_CA)
		return TOPO_NONE;
	for (unsigned n = 1; n <= v->n_ports; n++) {
		port_id peer = t->ports[v->first_port + n].peer;

		if (peer == TOPO_NONE)
			continue;
		node_id to = t->ports[peer].node;

		if (!topo_is_switch(t, to) || (found != TOPO_NONE && found != to))
			return TOPO_NONE;
		found = to;
	}
	return found;
}

static void number_vertices(struct shape *g, const struct topo *t)
{
	for (node_id v = 0; v < t->n_nodes; v++) {
		if (only_switch(t, v) != TOPO_NONE)
			continue;
		g->node[g->n] = v;
		g->adapter[g->n] = t->nodes[v].kind == NODE_CA;
		g->vertex_of[v] = g->n++;
	}
	for (node_id v = 0; v < t->n_nodes; v++) {
		node_id sw = only_switch(t, v);

		if (sw != TOPO_NONE)
			g->vertex_of[v] = g->vertex_of[sw];
	}
}

static void weigh(struct shape *g, const struct topo *t)
{
	bool port0 = false;

	for (node_id v = 0; v < t->n_nodes; v++) {
		if (t->nodes[v].kind == NODE_CA) {
			g->weight[g->vertex_of[v]]++;
			g->total_weight++;
		}
		port0 |= t->nodes[v].enhanced_port0;
	}
	for (node_id v = 0; v < t->n_nodes && !g->total_weight; v++) {
		if (topo_is_switch(t, v))
			g->weight[g->vertex_of[v]] = !port0 || t->nodes[v].enhanced_port0;
	}
	if (g->total_weight)
		return;
	for (uint32_t v = 0; v < g->n; v++)
		g->total_weight += g->weight[v];
}

/* Neighbours of vertex `v`, one entry per cable, sorted; returns their number. */
static uint32_t neighbours(const struct shape *g, const struct topo *t, uint32_t v, uint32_t *out)
{
	const struct topo_node *node = &t->nodes[g->node[v]];
	uint32_t n = 0;

	for (unsigned i = 1; i <= node->n_ports; i++) {
		port_id peer = t->ports[node->first_port + i].peer;

		if (peer == TOPO_NONE)
			continue;
		uint32_t to = g->vertex_of[t->ports[peer].node];

		if (to != v)
			out[n++] = to;
	}
	qsort(out, n, sizeof(*out), compare_u32);
	return n;
}

/* Appends the edges of one vertex; `near` has an entry for each cable and is sorted. */
static void add_edges(struct shape *g, const uint32_t *near, uint32_t n, uint32_t *m)
{
	for (uint32_t i = 0; i < n; i++) {
		if (i && near[i] == near[i - 1]) {
			g->cables[*m - 1]++;
			continue;
		}
		g->to[*m] = near[i];
		g->cables[(*m)++] = 1;
	}
	g->n_cables += n;
}

void shape_init(struct shape *g, const struct topo *t)
{
	uint32_t near[TOPO_MAX_PORTS + 1], m = 0;

	*g = (struct shape){ .n = 0 };
	g->node = hd_alloc(t->n_nodes, sizeof(*g->node));
	g->vertex_of = hd_alloc(t->n_nodes, sizeof(*g->vertex_of));
	g->adapter = hd_alloc(t->n_nodes, sizeof(*g->adapter));
	number_vertices(g, t);
	g->weight = hd_alloc(g->n, sizeof(*g->weight));
	weigh(g, t);
	g->start = hd_alloc((size_t)g->n + 1, sizeof(*g->start));
	/* At most one edge for each port. */
	g->to = hd_alloc(t->n_ports, sizeof(*g->to));
	g->cables = hd_alloc(t->n_ports, sizeof(*g->cables));
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t n = neighbours(g, t, v, near);

		g->start[v] = m;
		add_edges(g, near, n, &m);
	}
	g->start[g->n] = m;
	g->n_cables /= 2;
}

void shape_fini(struct shape *g)
{
	free(g->node);
	free(g->vertex_of);
	free(g->weight);
	free(g->adapter);
	free(g->start);
	free(g->to);
	free(g->cables);
	*g = (struct shape){ .n = 0 };
}

static void flood(const struct shape *g, uint32_t from, uint32_t number, uint32_t *part,
		  uint32_t *queue)
{
	uint32_t head = 0, tail = 0;

	part[from] = number;
	queue[tail++] = from;
	while (head < tail) {
		uint32_t at = queue[head++];

		for (uint32_t e = g->start[at]; e < g->start[at + 1]; e++) {
			if (part[g->to[e]] != UINT32_MAX)
				continue;
			part[g->to[e]] = number;
			queue[tail++] = g->to[e];
		}
	}
}

uint32_t shape_parts(const struct shape *g, uint32_t *part)
{
	uint32_t *queue = hd_alloc(g->n, sizeof(*queue)), n = 0;

	memset(part, 0xff, g->n * sizeof(*part));
	for (uint32_t v = 0; v < g->n; v++) {
		if (part[v] == UINT32_MAX)
			flood(g, v, n++, part, queue);
	}
	free(queue);
	return n;
}

/*
 * Breadth first from 64 vertices at once: bit i of a word belongs to the
 * i-th of them, so that one pass over an edge serves all.
 */
struct distance_sweep {
	uint64_t *seen, *now, *next;
	uint32_t *active, *later; /* vertices with a bit in now, in next */
	uint32_t n_active, n_later;
};

static void sweep_step(const struct shape *g, uint32_t hops, struct distance_sweep *s)
{
	s->n_later = 0;
	for (uint32_t i = 0; i < s->n_active; i++) {
		uint32_t v = s->active[i];

		if (g->adapter[v] && hops > 1)
			continue;
		for (uint32_t e = g->start[v]; e < g->start[v + 1]; e++) {
			uint32_t u = g->to[e];
			uint64_t fresh = s->now[v] & ~s->seen[u];

			if (!fresh)
				continue;
			if (!s->next[u])
				s->later[s->n_later++] = u;
			s->next[u] |= fresh;
		}
	}
	for (uint32_t i = 0; i < s->n_active; i++)
		s->now[s->active[i]] = 0;
	for (uint32_t i = 0; i < s->n_later; i++) {
		uint32_t u = s->later[i];

		s->seen[u] |= s->next[u];
		s->now[u] = s->next[u];
		s->next[u] = 0;
	}
	uint32_t *swap = s->active;

	s->active = s->later;
	s->later = swap;
	s->n_active = s->n_later;
}

static void sweep_start(struct distance_sweep *s, const uint32_t *sources, uint32_t n,
			uint32_t n_vertices)
{
	memset(s->seen, 0, n_vertices * sizeof(*s->seen));
	s->n_active = 0;
	for (uint32_t i = 0; i < n; i++) {
		s->seen[sources[i]] |= UINT64_C(1) << i;
		s->now[sources[i]] |= UINT64_C(1) << i;
		s->active[s->n_active++] = sources[i];
	}
}

/* Host pairs that one step connects, at vertices of one kind. */
static double pairs_reached(const struct shape *g, const struct distance_sweep *s,
			    const uint32_t *sources, bool adapters)
{
	double pairs = 0;

	for (uint32_t i = 0; i < s->n_active; i++) {
		uint32_t v = s->active[i];

		if (!g->weight[v] || g->adapter[v] != adapters)
			continue;
		for (uint64_t bits = s->now[v]; bits; bits &= bits - 1)
			pairs += (double)g->weight[v] * g->weight[sources[__builtin_ctzll(bits)]];
	}
	return pairs;
}

/* Number of the `hops` cables that are between switches; 0: same switch. */
static uint32_t links_among(uint32_t hops, bool from_adapter, bool to_adapter)
{
	uint32_t own = (uint32_t)from_adapter + to_adapter;

	return hops < own ? hops : hops - own;
}

struct distances {
	struct shape_distances *out;
	double sum, pairs;
};

/* Measures from up to 64 vertices, which are all adapters or all switches. */
static void measure_from(const struct shape *g, const uint32_t *sources, uint32_t n,
			 struct distance_sweep *s, struct distances *d)
{
	sweep_start(s, sources, n, g->n);
	for (uint32_t hops = 1; s->n_active; hops++) {
		sweep_step(g, hops, s);
		for (unsigned to = 0; to < 2; to++) {
			uint32_t links = links_among(hops, g->adapter[sources[0]], to);
			double reached = pairs_reached(g, s, sources, to);

			if (!links || reached <= 0)
				continue;
			if (links > d->out->longest)
				d->out->longest = links;
			d->pairs += reached;
			d->sum += links * reached;
		}
	}
}

void shape_measure(const struct shape *g, struct shape_distances *out)
{
	uint32_t *sources = hd_alloc(g->n, sizeof(*sources));
	struct distance_sweep s = {
		.seen = hd_alloc(g->n, sizeof(*s.seen)),
		.now = hd_alloc(g->n, sizeof(*s.now)),
		.next = hd_alloc(g->n, sizeof(*s.next)),
		.active = hd_alloc(g->n, sizeof(*s.active)),
		.later = hd_alloc(g->n, sizeof(*s.later)),
	};
	struct distances d = { .out = out };

	*out = (struct shape_distances){ 0 };
	for (unsigned adapters = 0; adapters < 2; adapters++) {
		uint32_t n = 0;

		for (uint32_t v = 0; v < g->n; v++) {
			if (g->weight[v] && g->adapter[v] == adapters)
				sources[n++] = v;
		}
		for (uint32_t i = 0; i < n; i += 64)
			measure_from(g, sources + i, n - i < 64 ? n - i : 64, &s, &d);
	}
	out->mean = d.pairs > 0 ? d.sum / d.pairs : 0;
	free(sources);
	free(s.seen);
	free(s.now);
	free(s.next);
	free(s.active);
	free(s.later);
}

/* Sets `height` to the number of edges from the nearest vertex with height 0. */
static void climb(const struct shape *g, uint32_t *height)
{
	uint32_t *queue = hd_alloc(g->n, sizeof(*queue)), head = 0, tail = 0;

	for (uint32_t v = 0; v < g->n; v++) {
		if (height[v] == 0)
			queue[tail++] = v;
	}
	while (head < tail) {
		uint32_t v = queue[head++];

		for (uint32_t e = g->start[v]; e < g->start[v + 1]; e++) {
			if (height[g->to[e]] != UINT32_MAX)
				continue;
			height[g->to[e]] = height[v] + 1;
			queue[tail++] = g->to[e];
		}
	}
	free(queue);
}

void shape_heights(const struct shape *g, uint32_t *height)
{
	for (uint32_t v = 0; v < g->n; v++)
		height[v] = g->weight[v] ? 0 : UINT32_MAX;
	climb(g, height);
}

/* Whether an adapter is at the vertex, or next to it. */
static bool has_hosts(const struct shape *g, uint32_t v)
{
	bool near = g->weight[v] > 0;

	for (uint32_t e = g->start[v]; e < g->start[v + 1]; e++)
		near |= g->adapter[g->to[e]];
	return near;
}

void shape_tiers(const struct shape *g, const struct topo *t, uint32_t *tier)
{
	for (uint32_t v = 0; v < g->n; v++)
		tier[v] = topo_is_switch(t, g->node[v]) && has_hosts(g, v) ? 0 : UINT32_MAX;
	climb(g, tier);
	for (uint32_t v = 0; v < g->n; v++)
		tier[v] = topo_is_switch(t, g->node[v]) && tier[v] < UINT16_MAX ? tier[v] + 1 : 0;
}

void topo_number_tiers(struct topo *t)
{
	struct shape s;

	shape_init(&s, t);
	uint32_t *tier = hd_alloc(s.n, sizeof(*tier));

	shape_tiers(&s, t, tier);
	for (node_id v = 0; v < t->n_nodes; v++)
		t->nodes[v].tier = topo_is_switch(t, v) ? (uint16_t)tier[s.vertex_of[v]] : 0;
	free(tier);
	shape_fini(&s);
}
