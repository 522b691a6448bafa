/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/routing/order.h"

#include <stdlib.h>

#include "base/alloc.h"

static bool has_lid(const struct topo *t, port_id p)
{
	return topo_is_end_port(t, p) ||
	       (t->ports[p].number == 0 && topo_is_switch(t, t->ports[p].node));
}

uint32_t order_ports_by_node(const struct subnet *s, port_id *out)
{
	uint32_t n = 0;

	for (port_id p = 0; p < s->topo->n_ports; p++) {
		if (has_lid(s->topo, p))
			out[n++] = p;
	}
	return n;
}

uint64_t order_port_guid(const struct topo *t, port_id p)
{
	return t->ports[p].guid ? t->ports[p].guid : t->nodes[t->ports[p].node].guid;
}

/* Sort key; ties keep the order of ids, so sorting is stable. */
struct keyed {
	uint64_t key;
	uint32_t id;
};

static int compare_keyed(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

uint32_t order_ports_by_guid(const struct subnet *s, port_id *out)
{
	uint32_t n = order_ports_by_node(s, out);
	struct keyed *keys = hd_alloc(n, sizeof(*keys));

	for (uint32_t i = 0; i < n; i++)
		keys[i] = (struct keyed){ __builtin_bswap64(order_port_guid(s->topo, out[i])),
					  out[i] };
	qsort(keys, n, sizeof(*keys), compare_keyed);
	for (uint32_t i = 0; i < n; i++)
		out[i] = keys[i].id;
	free(keys);
	return n;
}

static uint32_t n_adapters(const struct subnet *s, const struct sw_graph *g, switch_id sw)
{
	const struct topo *t = s->topo;
	port_id own = switch_node(s, sw)->first_port;

	return g->n_ends[sw] - topo_is_end_port(t, own);
}

/* Switches by GUID order first, then, stably, by falling number of hosts. */
static switch_id *switches_by_load(const struct subnet *s, const struct sw_graph *g)
{
	struct keyed *keys = hd_alloc(g->n, sizeof(*keys));
	switch_id *order = hd_alloc(g->n, sizeof(*order));

	for (switch_id sw = 0; sw < g->n; sw++)
		keys[sw] = (struct keyed){ __builtin_bswap64(switch_node(s, sw)->guid), sw };
	qsort(keys, g->n, sizeof(*keys), compare_keyed);
	for (uint32_t i = 0; i < g->n; i++)
		order[i] = keys[i].id;
	for (uint32_t i = 0; i < g->n; i++)
		keys[i] = (struct keyed){ UINT32_MAX - n_adapters(s, g, order[i]), i };
	qsort(keys, g->n, sizeof(*keys), compare_keyed);
	switch_id *sorted = hd_alloc(g->n, sizeof(*sorted));

	for (uint32_t i = 0; i < g->n; i++)
		sorted[i] = order[keys[i].id];
	free(order);
	free(keys);
	return sorted;
}

static void add_dest(struct dest_order *o, const struct subnet *s, port_id p, bool counts)
{
	struct dest d = { .owner = p, .counts = counts };
	unsigned subnet = s->topo->ports[p].subnet;

	if (s->lid_of_port[p] == 0 || !subnet_target(s, subnet, s->lid_of_port[p], &d.sw, &d.port))
		return;
	if (s->lmc_of_port[p] > o->max_lmc)
		o->max_lmc = s->lmc_of_port[p];
	o->dests[o->n++] = d;
}

void order_dests_init(struct dest_order *o, const struct subnet *s, const struct sw_graph *g)
{
	const struct topo *t = s->topo;
	port_id *by_guid = hd_alloc(t->n_ports, sizeof(*by_guid));
	uint32_t n = order_ports_by_guid(s, by_guid);
	switch_id *order = switches_by_load(s, g);

	*o = (struct dest_order){ .dests = hd_alloc(n, sizeof(*o->dests)) };
	for (uint32_t i = 0; i < g->n; i++) {
		const struct topo_node *v = switch_node(s, order[i]);

		for (unsigned k = 1; k <= v->n_ports; k++) {
			port_id peer = t->ports[v->first_port + k].peer;

			if (peer != TOPO_NONE && topo_is_end_port(t, peer))
				add_dest(o, s, peer, true);
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		if (topo_is_switch(t, t->ports[by_guid[i]].node))
			add_dest(o, s, by_guid[i], false);
	}
	free(order);
	free(by_guid);
}

void order_dests_fini(struct dest_order *o)
{
	free(o->dests);
	*o = (struct dest_order){ .n = 0 };
}

/* Steps from the nearest switch with hosts; returns the most. */
static uint16_t rank_switches(const struct sw_graph *g, uint16_t *rank, switch_id *queue)
{
	uint32_t head = 0, tail = 0;
	uint16_t top = 0;

	for (switch_id sw = 0; sw < g->n; sw++) {
		rank[sw] = g->n_ends[sw] ? 0 : GRAPH_FAR;
		if (g->n_ends[sw])
			queue[tail++] = sw;
	}
	while (head < tail) {
		switch_id sw = queue[head++];

		top = rank[sw];
		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			switch_id to = g->edges[e].to;

			if (rank[to] != GRAPH_FAR)
				continue;
			rank[to] = (uint16_t)(rank[sw] + 1);
			queue[tail++] = to;
		}
	}
	return top;
}

struct subtrees {
	const struct sw_graph *g;
	const uint16_t *rank;
	uint16_t most;  /* switches of higher rank are outside the subtree */
	uint32_t *tree; /* number of a switch's: the lowest switch of it */
	switch_id *queue;
};

static void flood_subtree(struct subtrees *s, switch_id start)
{
	const struct sw_graph *g = s->g;
	uint32_t head = 0, tail = 0;

	s->tree[start] = start;
	s->queue[tail++] = start;
	while (head < tail) {
		switch_id sw = s->queue[head++];

		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			switch_id to = g->edges[e].to;

			/* Edges within a level are outside the subtree. */
			if (s->rank[to] > s->most || s->rank[to] == s->rank[sw] ||
			    s->tree[to] != TOPO_NONE)
				continue;
			s->tree[to] = start;
			s->queue[tail++] = to;
		}
	}
}

/* Numbers what hangs together below rank `most`. */
static void number_subtrees(struct subtrees *s)
{
	for (switch_id sw = 0; sw < s->g->n; sw++)
		s->tree[sw] = TOPO_NONE;
	for (switch_id sw = 0; sw < s->g->n; sw++) {
		if (s->tree[sw] == TOPO_NONE && s->rank[sw] <= s->most)
			flood_subtree(s, sw);
	}
}

static void sort_switches(switch_id *list, uint32_t n, const uint32_t *key)
{
	struct keyed *keys = hd_alloc(n, sizeof(*keys));
	switch_id *old = hd_alloc(n, sizeof(*old));

	for (uint32_t i = 0; i < n; i++) {
		old[i] = list[i];
		keys[i] = (struct keyed){ key[list[i]], i };
	}
	qsort(keys, n, sizeof(*keys), compare_keyed);
	for (uint32_t i = 0; i < n; i++)
		list[i] = old[keys[i].id];
	free(keys);
	free(old);
}

/* Switches with hosts, subtree by subtree, from the smallest subtrees up. */
static uint32_t order_leaves(const struct sw_graph *g, switch_id *leaves)
{
	uint16_t *rank = hd_alloc(g->n, sizeof(*rank));
	uint32_t *tree = hd_alloc(g->n, sizeof(*tree));
	switch_id *queue = hd_alloc(g->n, sizeof(*queue));
	struct subtrees s = { g, rank, 1, tree, queue };
	uint16_t top = rank_switches(g, rank, queue);
	uint32_t n = 0;

	for (switch_id sw = 0; sw < g->n; sw++) {
		if (g->n_ends[sw])
			leaves[n++] = sw;
	}
	for (; s.most < top; s.most++) {
		number_subtrees(&s);
		sort_switches(leaves, n, tree);
	}
	free(rank);
	free(tree);
	free(queue);
	return n;
}

uint32_t order_hosts(const struct subnet *s, const struct sw_graph *g, port_id *out)
{
	const struct topo *t = s->topo;
	switch_id *leaves = hd_alloc(g->n, sizeof(*leaves));
	uint32_t n_leaves = order_leaves(g, leaves), n = 0;

	for (uint32_t i = 0; i < n_leaves; i++) {
		const struct topo_node *v = switch_node(s, leaves[i]);

		if (topo_is_end_port(t, v->first_port))
			out[n++] = v->first_port;
		for (unsigned k = 1; k <= v->n_ports; k++) {
			port_id peer = t->ports[v->first_port + k].peer;

			if (peer != TOPO_NONE && topo_is_end_port(t, peer) && k != LFT_NO_PORT)
				out[n++] = peer;
		}
	}
	free(leaves);
	return n;
}
