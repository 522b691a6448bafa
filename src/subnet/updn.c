/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/updn.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "subnet/route.h"

static bool goes_up(const struct updn *u, switch_id from, switch_id to)
{
	return u->height[to] < u->height[from];
}

static bool same_part(const struct updn *u, switch_id a, switch_id b)
{
	return u->part[a] == u->part[b];
}

/* Switches that must go up first, from the top: all above is known before. */
static void go_up(struct updn *u)
{
	const struct sw_graph *g = u->g;

	for (uint32_t i = 0; i < g->n; i++) {
		switch_id sw = u->by_height[i];

		for (edge_id e = g->first[sw];
		     !u->down[sw] && e < g->first[sw + 1]; e++) {
			switch_id to = g->edges[e].to;

			if (goes_up(u, sw, to) && u->dist[to] != GRAPH_FAR &&
			    u->dist[to] + 1u < u->dist[sw])
				u->dist[sw] = (uint16_t)(u->dist[to] + 1);
		}
	}
}

static uint16_t nearest_neighbour(const struct updn *u, switch_id sw)
{
	uint16_t best = GRAPH_FAR;

	for (edge_id e = u->g->first[sw]; e < u->g->first[sw + 1]; e++) {
		uint16_t d = u->dist[u->g->edges[e].to];

		best = d < best ? d : best;
	}
	return best;
}

/* The rest of the part: one step at a time to what has a path. */
static void extend_illegally(struct updn *u)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (switch_id sw = 0; sw < u->g->n; sw++) {
			if (u->dist[sw] != GRAPH_FAR)
				continue;
			uint16_t best = nearest_neighbour(u, sw);

			if (best == GRAPH_FAR)
				continue;
			u->dist[sw] = (uint16_t)(best + 1);
			changed = true;
		}
	}
}

void updn_aim(void *rule, switch_id target)
{
	struct updn *u = rule;
	const struct sw_graph *g = u->g;
	uint32_t head = 0, tail = 0;

	memset(u->dist, 0xFF, g->n * sizeof(*u->dist));
	memset(u->down, 0, g->n * sizeof(*u->down));
	u->dist[target] = 0;
	u->down[target] = true;
	u->queue[tail++] = target;
	while (head < tail) {
		switch_id sw = u->queue[head++];

		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			switch_id to = g->edges[e].to;

			if (u->down[to] || !goes_up(u, sw, to))
				continue;
			u->down[to] = true;
			u->dist[to] = (uint16_t)(u->dist[sw] + 1);
			u->queue[tail++] = to;
		}
	}
	go_up(u);
	for (switch_id sw = 0; sw < g->n; sw++) {
		u->legal[sw] = u->dist[sw] != GRAPH_FAR;
		if (!u->legal[sw] && g->n_ends[sw] && g->n_ends[target] &&
		    same_part(u, sw, target)) {
			u->lost_from = sw;
			u->lost_to = target;
		}
	}
	extend_illegally(u);
}

unsigned updn_ports(void *rule, switch_id at, uint8_t *out)
{
	const struct updn *u = rule;
	const struct sw_graph *g = u->g;
	unsigned n = 0;

	if (u->dist[at] == GRAPH_FAR)
		return 0;
	for (edge_id e = g->first[at]; e < g->first[at + 1]; e++) {
		switch_id to = g->edges[e].to;
		bool may = u->down[at] ? u->down[to] && !goes_up(u, at, to)
				       : goes_up(u, at, to);

		if ((may || !u->legal[at]) && u->dist[to] + 1u == u->dist[at])
			out[n++] = g->edges[e].out;
	}
	return n;
}

static void number_parts(struct updn *u)
{
	memset(u->part, 0xFF, u->g->n * sizeof(*u->part));
	for (switch_id sw = 0; sw < u->g->n; sw++) {
		if (u->part[sw] != UINT32_MAX)
			continue;
		uint32_t n = graph_distances(u->g, sw, u->dist, u->queue);

		for (uint32_t i = 0; i < n; i++)
			u->part[u->queue[i]] = sw;
	}
}

void updn_init(struct updn *u, const struct sw_graph *g)
{
	*u = (struct updn){
		.g = g,
		.height = hd_alloc(g->n, sizeof(*u->height)),
		.by_height = hd_alloc(g->n, sizeof(*u->by_height)),
		.dist = hd_alloc(g->n, sizeof(*u->dist)),
		.down = hd_alloc(g->n, sizeof(*u->down)),
		.queue = hd_alloc(g->n, sizeof(*u->queue)),
		.legal = hd_alloc(g->n, sizeof(*u->legal)),
		.part = hd_alloc(g->n, sizeof(*u->part)),
		.lost_from = TOPO_NONE,
	};
	number_parts(u);
}

void updn_fini(struct updn *u)
{
	free(u->height);
	free(u->by_height);
	free(u->dist);
	free(u->down);
	free(u->queue);
	free(u->legal);
	free(u->part);
}

/* True if `sw` has all adapters at one distance: the top of a tree. */
static bool is_tree_root(const struct updn *u, switch_id sw)
{
	const struct sw_graph *g = u->g;
	uint32_t n = graph_distances(g, sw, u->dist, u->queue);
	uint16_t at = GRAPH_FAR;

	for (uint32_t i = 0; i < n; i++) {
		if (g->n_ends[u->queue[i]] == 0)
			continue;
		if (at != GRAPH_FAR && at != u->dist[u->queue[i]])
			return false;
		at = u->dist[u->queue[i]];
	}
	return at != GRAPH_FAR;
}

static enum hd_status given_roots(const struct subnet *s,
				  const struct route_options *o, bool *is_root,
				  struct diag *d)
{
	for (unsigned i = 0; i < o->n_roots; i++) {
		switch_id sw = 0;

		while (sw < s->n_switches &&
		       s->topo->nodes[s->node_of_switch[sw]].guid !=
			       o->roots[i])
			sw++;
		if (sw == s->n_switches)
			return diag_fail(d, HD_ERR_NOT_FOUND,
					 "no switch has the GUID 0x%016" PRIx64
					 " given as a root",
					 o->roots[i]);
		is_root[sw] = true;
	}
	return HD_OK;
}

struct queue {
	switch_id *items;
	uint32_t head, tail;
};

static void spread_levels(const struct sw_graph *g, struct queue *q,
			  uint16_t *level)
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

/* BFS levels from the roots; parts without a root get their first switch. */
static void set_levels(const struct updn *u, const bool *is_root,
		       uint16_t *level)
{
	const struct sw_graph *g = u->g;
	struct queue q = { .items = u->queue };

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

static void note_roots(struct subnet *s, const uint16_t *level,
		       const char *origin)
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
	const char *name = s->topo->nodes[s->node_of_switch[first]].name;

	snprintf(s->note, sizeof(s->note), "%u root%s (%s), the first is '%s'",
		 n, n == 1 ? "" : "s", origin, name);
}

static enum hd_status find_roots(struct updn *u, struct subnet *s,
				 const struct route_options *o, struct diag *d)
{
	bool *is_root = hd_alloc(u->g->n, sizeof(*is_root));
	uint16_t *level = hd_alloc(u->g->n, sizeof(*level));
	const char *origin = "given";
	enum hd_status status = given_roots(s, o, is_root, d);

	if (o->n_roots == 0) {
		bool found = false;

		for (switch_id sw = 0; sw < u->g->n; sw++) {
			is_root[sw] = is_tree_root(u, sw);
			found |= is_root[sw];
		}
		origin = found ? "equally far from all hosts"
			       : "the lowest number";
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

static enum hd_status refuse_lost(const struct updn *u, const struct subnet *s,
				  struct diag *d)
{
	const struct topo *t = s->topo;

	return diag_fail(d, HD_ERR_UNFIT,
			 "with these roots the hosts on '%s' have no path to"
			 " those on '%s' that does not go up after down",
			 t->nodes[s->node_of_switch[u->lost_from]].name,
			 t->nodes[s->node_of_switch[u->lost_to]].name);
}

enum hd_status route_updn(struct subnet *s, const struct sw_graph *g,
			  const struct route_options *o, struct diag *d)
{
	struct updn u;
	struct route_rule rule = { updn_aim, updn_ports, &u, false, o->keep };

	updn_init(&u, g);
	enum hd_status status = find_roots(&u, s, o, d);

	if (status == HD_OK)
		balance_routes(s, g, &rule);
	if (status == HD_OK && u.lost_from != TOPO_NONE)
		status = refuse_lost(&u, s, d);
	updn_fini(&u);
	return status;
}
