/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "subnet/route.h"
#include "subnet/updn.h"

/*
 * Fat-tree routing: each destination gets one way down from one top switch,
 * and everybody else goes up to meet it, so that in a full tree no two
 * destinations share a channel on the way down (shift patterns are free of
 * contention). From its leaf up, a destination takes the parent whose cable
 * down carries the fewest destinations; the other children of that parent send
 * up to it, and theirs below to them.
 */
struct ftree {
	struct subnet *s;
	const struct sw_graph *g;
	uint16_t *rank; /* from the leaves, 0 */
	bool *above;    /* has the destination's leaf below it */
	uint32_t *load; /* destinations per channel */
	switch_id *queue;
	unsigned subnet; /* of the destination at hand */
	lid_t lid;
};

static uint8_t *entry(const struct ftree *f, switch_id sw)
{
	return &f->s->lft[(size_t)sw * f->s->lft_stride + f->lid];
}

static bool leads_up(const struct ftree *f, switch_id from, edge_id e)
{
	return f->rank[f->g->edges[e].to] > f->rank[from];
}

/* Sends from `sw` to its neighbour `to` by the cable used least. */
static void send(struct ftree *f, switch_id sw, switch_id to)
{
	const struct sw_graph *g = f->g;
	edge_id best = TOPO_NONE;

	for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
		if (g->edges[e].to == to &&
		    (best == TOPO_NONE || f->load[e] < f->load[best]))
			best = e;
	}
	*entry(f, sw) = g->edges[best].out;
	f->load[best]++;
}

/* Marks the switches that have `leaf` below them. */
static void mark_above(struct ftree *f, switch_id leaf)
{
	const struct sw_graph *g = f->g;
	uint32_t head = 0, tail = 0;

	memset(f->above, 0, g->n * sizeof(*f->above));
	f->above[leaf] = true;
	f->queue[tail++] = leaf;
	while (head < tail) {
		switch_id sw = f->queue[head++];

		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			switch_id to = g->edges[e].to;

			if (f->above[to] || !leads_up(f, sw, e))
				continue;
			f->above[to] = true;
			f->queue[tail++] = to;
		}
	}
}

/* All below `top` that have no way yet send up, level by level. */
static void gather_below(struct ftree *f, switch_id top)
{
	const struct sw_graph *g = f->g;
	uint32_t head = 0, tail = 0;

	f->queue[tail++] = top;
	while (head < tail) {
		switch_id sw = f->queue[head++];

		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			switch_id to = g->edges[e].to;

			if (leads_up(f, sw, e) || f->above[to] ||
			    *entry(f, to) != LFT_NO_PORT)
				continue;
			send(f, to, sw);
			f->queue[tail++] = to;
		}
	}
}

/* The parent of `sw` whose cables down to it carry the least. */
static switch_id lightest_parent(const struct ftree *f, switch_id sw)
{
	const struct sw_graph *g = f->g;
	edge_id best = TOPO_NONE; /* downwards */

	for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
		edge_id down = g->reverse[e];

		if (leads_up(f, sw, e) &&
		    (best == TOPO_NONE || f->load[down] < f->load[best]))
			best = down;
	}
	return best == TOPO_NONE ? TOPO_NONE : edge_from(g, best);
}

/* A way for switches that the main way left out; tells if it found one. */
static bool join_way(struct ftree *f, switch_id sw)
{
	const struct sw_graph *g = f->g;

	for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
		switch_id to = g->edges[e].to;
		bool fits = f->above[sw] ? f->above[to] && !leads_up(f, sw, e)
					 : leads_up(f, sw, e);

		if (!fits || *entry(f, to) == LFT_NO_PORT)
			continue;
		*entry(f, sw) = g->edges[e].out;
		return true;
	}
	return false;
}

/* True if some switch of the destination's subnet has no way yet. */
static bool any_left(const struct ftree *f, bool with_hosts)
{
	for (switch_id sw = 0; sw < f->g->n; sw++) {
		if (*entry(f, sw) == LFT_NO_PORT &&
		    (!with_hosts || f->g->n_ends[sw]) &&
		    subnet_of_switch(f->s, sw) == f->subnet)
			return true;
	}
	return false;
}

/* Lets switches join until none can; `join` tells if it found a way. */
static void join_all(struct ftree *f,
		     bool (*join)(struct ftree *f, switch_id sw))
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (switch_id sw = 0; sw < f->g->n; sw++)
			changed |= *entry(f, sw) == LFT_NO_PORT && join(f, sw);
	}
}

/*
 * A way that goes up again after down, by any neighbour that has one. No path
 * of a host comes by here, since those were found without it: it is what a
 * switch itself sends by, such as the answers that a manager waits for.
 */
static bool join_any(struct ftree *f, switch_id sw)
{
	const struct sw_graph *g = f->g;

	for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
		if (*entry(f, g->edges[e].to) == LFT_NO_PORT)
			continue;
		*entry(f, sw) = g->edges[e].out;
		return true;
	}
	return false;
}

/* False if a switch with hosts is left without a way up and down. */
static bool join_rest(struct ftree *f)
{
	if (!any_left(f, false))
		return true;
	join_all(f, join_way);
	if (any_left(f, true))
		return false;
	join_all(f, join_any);
	return true;
}

/* False if some host has no way to it. */
static bool route_lid(struct ftree *f, const struct dest *d, lid_t lid)
{
	switch_id sw = d->sw;

	f->lid = lid;
	*entry(f, sw) = d->port;
	for (;;) {
		switch_id parent = lightest_parent(f, sw);

		if (parent == TOPO_NONE)
			break;
		send(f, parent, sw);
		gather_below(f, parent);
		sw = parent;
	}
	return join_rest(f);
}

static enum hd_status refuse_level(const struct ftree *f, switch_id a,
				   switch_id b, struct diag *d)
{
	const struct topo *t = f->s->topo;

	return diag_fail(d, HD_ERR_UNFIT,
			 "'%s' and '%s' are joined, but both are %u steps above"
			 " the hosts: not a tree of levels",
			 t->nodes[f->s->node_of_switch[a]].name,
			 t->nodes[f->s->node_of_switch[b]].name,
			 f->rank[a] + 1u);
}

/* Ranks from the leaves up; refuses what is not layered. */
static enum hd_status rank_switches(struct ftree *f, struct diag *d)
{
	const struct sw_graph *g = f->g;
	uint32_t head = 0, tail = 0;

	memset(f->rank, 0xFF, g->n * sizeof(*f->rank));
	for (switch_id sw = 0; sw < g->n; sw++) {
		if (g->n_ends[sw] == 0)
			continue;
		f->rank[sw] = 0;
		f->queue[tail++] = sw;
	}
	while (head < tail) {
		switch_id sw = f->queue[head++];

		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			switch_id to = g->edges[e].to;

			if (f->rank[to] == f->rank[sw])
				return refuse_level(f, sw, to, d);
			if (f->rank[to] != GRAPH_FAR)
				continue;
			f->rank[to] = (uint16_t)(f->rank[sw] + 1);
			f->queue[tail++] = to;
		}
	}
	return HD_OK;
}

/* To the switches themselves, by up*-down* over the same levels. */
static void route_switches(struct ftree *f)
{
	uint16_t *level = hd_alloc(f->g->n, sizeof(*level));
	uint16_t top = 0;
	struct updn u;
	struct route_rule rule = { updn_aim, updn_ports, &u, true, NULL };

	for (switch_id sw = 0; sw < f->g->n; sw++) {
		/* Apart from all hosts: as good as on the top. */
		if (f->rank[sw] != GRAPH_FAR && f->rank[sw] > top)
			top = f->rank[sw];
	}
	for (switch_id sw = 0; sw < f->g->n; sw++)
		level[sw] = f->rank[sw] == GRAPH_FAR
				    ? 0
				    : (uint16_t)(top - f->rank[sw]);
	updn_init(&u, f->g);
	updn_set_levels(&u, level);
	balance_routes(f->s, f->g, &rule);
	updn_fini(&u);
	free(level);
}

/* False if some host has no way to the port. */
static bool route_host(struct ftree *f, port_id host)
{
	const struct subnet *s = f->s;
	lid_t base = s->lid_of_port[host];
	struct dest d = { .owner = host };

	f->subnet = s->topo->ports[host].subnet;
	if (!subnet_target(s, f->subnet, base, &d.sw, &d.port))
		return true;
	mark_above(f, d.sw);
	for (unsigned k = 0; k < 1u << s->lmc_of_port[host]; k++) {
		if (!route_lid(f, &d, (lid_t)(base + k)))
			return false;
	}
	return true;
}

/*
 * In the order of the fabric, so that neighbours (which a shift pattern sends
 * to at the same time) have different ways.
 */
static enum hd_status route_hosts(struct ftree *f, struct diag *d)
{
	const struct topo *t = f->s->topo;
	port_id *hosts = hd_alloc(t->n_ports, sizeof(*hosts));
	uint32_t n = order_hosts(f->s, f->g, hosts);
	enum hd_status status = HD_OK;

	for (uint32_t i = 0; i < n && status == HD_OK; i++) {
		if (!route_host(f, hosts[i]))
			status = diag_fail(
				d, HD_ERR_UNFIT,
				"some hosts have no way up and down to '%s'",
				topo_node_of(t, hosts[i])->name);
	}
	free(hosts);
	return status;
}

enum hd_status route_ftree(struct subnet *s, const struct sw_graph *g,
			   const struct route_options *o, struct diag *d)
{
	struct ftree f = {
		.s = s,
		.g = g,
		.rank = hd_alloc(g->n, sizeof(*f.rank)),
		.above = hd_alloc(g->n, sizeof(*f.above)),
		.load = hd_alloc(g->n_edges, sizeof(*f.load)),
		.queue = hd_alloc(g->n, sizeof(*f.queue)),
	};
	enum hd_status status = rank_switches(&f, d);

	(void)o;
	if (status == HD_OK) {
		route_switches(&f);
		status = route_hosts(&f, d);
	}
	free(f.rank);
	free(f.above);
	free(f.load);
	free(f.queue);
	return status;
}
