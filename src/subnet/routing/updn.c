/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/routing/updn.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel_for.h"
#include "subnet/routing/route.h"

static bool goes_up(const struct updn *u, switch_id from, switch_id to)
{
	return u->height[to] < u->height[from];
}

static bool same_part(const struct updn *u, switch_id a, switch_id b)
{
	return u->part[a] == u->part[b];
}

/* Routes switches that must go up first, from the top, so that switches above are complete. */
static void go_up(const struct updn *u, struct updn_spot *spots)
{
	const struct sw_graph *g = u->g;

	for (uint32_t i = 0; i < g->n; i++) {
		switch_id sw = u->by_height[i];
		struct updn_spot *here = &spots[sw];

		for (edge_id e = g->first[sw]; !here->down && e < g->first[sw + 1]; e++) {
			switch_id to = g->edges[e].to;

			if (goes_up(u, sw, to) && spots[to].dist != GRAPH_FAR &&
			    spots[to].dist + 1u < here->dist)
				here->dist = (uint16_t)(spots[to].dist + 1);
		}
	}
}

static uint16_t nearest_neighbour(const struct sw_graph *g, const struct updn_spot *spots,
				  switch_id sw)
{
	uint16_t best = GRAPH_FAR;

	for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
		uint16_t d = spots[g->edges[e].to].dist;

		best = d < best ? d : best;
	}
	return best;
}

/* The rest of the part: one step at a time to what has a path. */
static void extend_illegally(const struct sw_graph *g, struct updn_spot *spots)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (switch_id sw = 0; sw < g->n; sw++) {
			if (spots[sw].dist != GRAPH_FAR)
				continue;
			uint16_t best = nearest_neighbour(g, spots, sw);

			if (best == GRAPH_FAR)
				continue;
			spots[sw].dist = (uint16_t)(best + 1);
			changed = true;
		}
	}
}

/* Finds the switches that reach the target by going down only, from the target upwards. */
static void go_down(const struct updn *u, struct updn_spot *spots, switch_id target,
		    switch_id *queue)
{
	const struct sw_graph *g = u->g;
	uint32_t head = 0, tail = 0;

	for (switch_id sw = 0; sw < g->n; sw++)
		spots[sw] = (struct updn_spot){ .dist = GRAPH_FAR };
	spots[target].dist = 0;
	spots[target].down = true;
	queue[tail++] = target;
	while (head < tail) {
		switch_id sw = queue[head++];

		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			switch_id to = g->edges[e].to;

			if (spots[to].down || !goes_up(u, sw, to))
				continue;
			spots[to].down = true;
			spots[to].dist = (uint16_t)(spots[sw].dist + 1);
			queue[tail++] = to;
		}
	}
}

void updn_aim(const void *rule, switch_id target, void *view, switch_id *queue)
{
	const struct updn *u = rule;
	const struct sw_graph *g = u->g;
	struct updn_spot *spots = view;

	go_down(u, spots, target, queue);
	go_up(u, spots);
	for (switch_id sw = 0; sw < g->n; sw++) {
		spots[sw].legal = spots[sw].dist != GRAPH_FAR;
		if (!spots[sw].legal && g->n_ends[sw] && g->n_ends[target] &&
		    same_part(u, sw, target))
			u->lost[target] = sw;
	}
	extend_illegally(g, spots);
}

unsigned updn_ports(const void *rule, const void *view, switch_id at, uint8_t *out)
{
	const struct updn *u = rule;
	const struct sw_graph *g = u->g;
	const struct updn_spot *spots = view, *here = &spots[at];
	unsigned n = 0;

	if (here->dist == GRAPH_FAR)
		return 0;
	for (edge_id e = g->first[at]; e < g->first[at + 1]; e++) {
		switch_id to = g->edges[e].to;

		if (spots[to].dist + 1u != here->dist)
			continue;
		bool may = here->down ? spots[to].down && !goes_up(u, at, to) : goes_up(u, at, to);

		if (may || !here->legal)
			out[n++] = g->edges[e].out;
	}
	return n;
}

static void number_parts(struct updn *u)
{
	uint16_t *dist = hd_alloc(u->g->n, sizeof(*dist));
	switch_id *queue = hd_alloc(u->g->n, sizeof(*queue));

	memset(u->part, 0xFF, u->g->n * sizeof(*u->part));
	for (switch_id sw = 0; sw < u->g->n; sw++) {
		if (u->part[sw] != UINT32_MAX)
			continue;
		uint32_t n = graph_distances(u->g, sw, dist, queue);

		for (uint32_t i = 0; i < n; i++)
			u->part[queue[i]] = sw;
	}
	free(dist);
	free(queue);
}

void updn_init(struct updn *u, const struct sw_graph *g)
{
	*u = (struct updn){
		.g = g,
		.height = hd_alloc(g->n, sizeof(*u->height)),
		.by_height = hd_alloc(g->n, sizeof(*u->by_height)),
		.part = hd_alloc(g->n, sizeof(*u->part)),
		.lost = hd_alloc(g->n, sizeof(*u->lost)),
	};
	memset(u->lost, 0xFF, g->n * sizeof(*u->lost));
	number_parts(u);
}

void updn_fini(struct updn *u)
{
	free(u->height);
	free(u->by_height);
	free(u->part);
	free(u->lost);
}

/* Switches that have all adapters at one distance: the tops of a tree. */
struct root_search {
	const struct sw_graph *g;
	bool *is_root;
	/* Per thread, one after the other. */
	uint16_t *dist;
	switch_id *queue;
};

static void look_at_root(void *context, unsigned member, size_t sw)
{
	struct root_search *r = context;
	const struct sw_graph *g = r->g;
	uint16_t *dist = r->dist + (size_t)member * g->n;
	switch_id *queue = r->queue + (size_t)member * g->n;
	uint32_t n = graph_distances(g, (switch_id)sw, dist, queue);
	uint16_t at = GRAPH_FAR;

	for (uint32_t i = 0; i < n; i++) {
		if (g->n_ends[queue[i]] == 0)
			continue;
		if (at != GRAPH_FAR && at != dist[queue[i]])
			return;
		at = dist[queue[i]];
	}
	r->is_root[sw] = at != GRAPH_FAR;
}

static bool find_tops(const struct sw_graph *g, bool *is_root)
{
	struct parallel_pool *pool = parallel_pool_new((uint64_t)g->n * g->n_edges);
	size_t space = (size_t)parallel_pool_size(pool) * g->n;
	struct root_search r = {
		.g = g,
		.is_root = is_root,
		.dist = hd_alloc(space, sizeof(*r.dist)),
		.queue = hd_alloc(space, sizeof(*r.queue)),
	};

	parallel_for(pool, g->n, look_at_root, &r);
	free(r.dist);
	free(r.queue);
	parallel_pool_free(pool);
	return memchr(is_root, 1, g->n);
}

static enum hd_status given_roots(const struct subnet *s, const struct route_options *o,
				  bool *is_root, struct diag *d)
{
	for (unsigned i = 0; i < o->n_roots; i++) {
		switch_id sw = 0;

		while (sw < s->n_switches && switch_node(s, sw)->guid != o->roots[i])
			sw++;
		if (sw == s->n_switches)
			return diag_fail(d, HD_ERR_NOT_FOUND,
					 "no switch has the GUID 0x%016" PRIx64 " given as a root",
					 o->roots[i]);
		is_root[sw] = true;
	}
	return HD_OK;
}

struct queue {
	switch_id *items;
	uint32_t head, tail;
};

static void spread_levels(const struct sw_graph *g, struct queue *q, uint16_t *level)
{
	while (q->head < q->tail) {
		switch_id sw = q->items[q->head++];

		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			switch_id to = g->edges[e].to;

			if (level[to] != GRAPH_FAR)
				continue;
			level[to] = (uint16_t)(level[sw] + 1);
			q->items[q->tail++] = to;
		}
	}
}

/* BFS levels from the roots; a component without a root starts at its first switch. */
static void set_levels(const struct updn *u, const bool *is_root, uint16_t *level)
{
	const struct sw_graph *g = u->g;
	struct queue q = { .items = hd_alloc(g->n, sizeof(*q.items)) };

	memset(level, 0xFF, g->n * sizeof(*level));
	for (switch_id sw = 0; sw < g->n; sw++) {
		if (!is_root[sw])
			continue;
		level[sw] = 0;
		q.items[q.tail++] = sw;
	}
	spread_levels(g, &q, level);
	for (switch_id sw = 0; sw < g->n; sw++) {
		if (level[sw] != GRAPH_FAR)
			continue;
		level[sw] = 0;
		q.items[q.tail++] = sw;
		spread_levels(g, &q, level);
	}
	free(q.items);
}

void updn_set_levels(struct updn *u, const uint16_t *level)
{
	uint32_t n = 0;

	for (uint32_t depth = 0; n < u->g->n; depth++) {
		for (switch_id sw = 0; sw < u->g->n; sw++) {
			if (level[sw] != depth)
				continue;
			u->height[sw] = n;
			u->by_height[n++] = sw;
		}
	}
}

static void note_roots(struct subnet *s, const uint16_t *level, const char *origin)
{
	unsigned n = 0;
	switch_id first = 0;

	for (switch_id sw = s->n_switches; sw-- > 0;) {
		if (level[sw] == 0) {
			n++;
			first = sw;
		}
	}
	if (n == 0)
		return;
	const char *name = switch_node(s, first)->name;

	snprintf(s->note, sizeof(s->note), "%u root%s (%s), the first is '%s'", n,
		 n == 1 ? "" : "s", origin, name);
}

static enum hd_status find_roots(struct updn *u, struct subnet *s, const struct route_options *o,
				 struct diag *d)
{
	bool *is_root = hd_alloc(u->g->n, sizeof(*is_root));
	uint16_t *level = hd_alloc(u->g->n, sizeof(*level));
	const char *origin = "given";
	enum hd_status status = given_roots(s, o, is_root, d);

	if (o->n_roots == 0) {
		bool found = find_tops(u->g, is_root);

		origin = found ? "equally far from all hosts" : "the lowest number";
	}
	if (status == HD_OK) {
		set_levels(u, is_root, level);
		updn_set_levels(u, level);
		note_roots(s, level, origin);
	}
	free(is_root);
	free(level);
	return status;
}

static enum hd_status refuse_lost(const struct updn *u, const struct subnet *s, struct diag *d)
{
	switch_id to = 0;

	while (to < u->g->n && u->lost[to] == TOPO_NONE)
		to++;
	if (to == u->g->n)
		return HD_OK;
	return diag_fail(
		d, HD_ERR_UNFIT,
		"with these roots the hosts on '%s' have no path to those on '%s' that does not go up after down",
		switch_node(s, u->lost[to])->name, switch_node(s, to)->name);
}

static enum hd_status route_updn(struct subnet *s, const struct sw_graph *g,
				 const struct route_options *o, struct diag *d)
{
	struct updn u;
	const struct route_rule rule = {
		.aim = updn_aim,
		.ports = updn_ports,
		.state = &u,
		.view_size = g->n * sizeof(struct updn_spot),
		.keep = o->keep,
		.adaptive = o->adaptive,
	};

	updn_init(&u, g);
	enum hd_status status = find_roots(&u, s, o, d);

	if (status == HD_OK) {
		balance_routes(s, g, &rule);
		status = refuse_lost(&u, s, d);
	}
	updn_fini(&u);
	return status;
}

const struct route_engine engine_updn = {
	.name = "updn",
	.needs = "any fabric",
	.route = route_updn,
};
