/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/routing/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* True if the cable at port `p` of a switch joins it to another of its kind. */
static bool is_channel(const struct subnet *s, port_id p)
{
	const struct topo *t = s->topo;
	const struct topo_port *a = &t->ports[p];

	if (a->peer == TOPO_NONE)
		return false;
	const struct topo_port *b = &t->ports[a->peer];

	return topo_is_switch(t, b->node) && a->node != b->node && a->subnet == b->subnet &&
	       a->number > 0 && b->number > 0 && a->number != LFT_NO_PORT &&
	       b->number != LFT_NO_PORT;
}

static void add_edges(struct sw_graph *g, const struct subnet *s, switch_id sw)
{
	const struct topo *t = s->topo;
	const struct topo_node *v = switch_node(s, sw);

	g->first[sw] = g->n_edges;
	g->n_ends[sw] = topo_is_end_port(t, v->first_port);
	for (unsigned n = 1; n <= v->n_ports; n++) {
		port_id p = v->first_port + n;
		port_id peer = t->ports[p].peer;

		g->edge_at[g->port_base[sw] + n] = TOPO_NONE;
		if (peer != TOPO_NONE && topo_is_end_port(t, peer) && n != LFT_NO_PORT)
			g->n_ends[sw]++;
		if (!is_channel(s, p))
			continue;
		g->edge_at[g->port_base[sw] + n] = g->n_edges;
		g->edges[g->n_edges++] = (struct sw_edge){
			.to = s->switch_of_node[t->ports[peer].node],
			.out = (uint8_t)n,
			.in = t->ports[peer].number,
		};
	}
}

void graph_init(struct sw_graph *g, const struct subnet *s)
{
	uint32_t n_slots = 0;

	*g = (struct sw_graph){ .n = s->n_switches };
	g->first = hd_alloc(g->n + 1u, sizeof(*g->first));
	g->port_base = hd_alloc(g->n + 1u, sizeof(*g->port_base));
	g->n_ends = hd_alloc(g->n, sizeof(*g->n_ends));
	for (switch_id sw = 0; sw < g->n; sw++) {
		g->port_base[sw] = n_slots;
		n_slots += switch_node(s, sw)->n_ports + 1u;
	}
	g->port_base[g->n] = n_slots;
	g->edge_at = hd_alloc(n_slots, sizeof(*g->edge_at));
	g->edges = hd_alloc(n_slots, sizeof(*g->edges));
	for (switch_id sw = 0; sw < g->n; sw++) {
		g->edge_at[g->port_base[sw]] = TOPO_NONE;
		add_edges(g, s, sw);
	}
	g->first[g->n] = g->n_edges;
	g->reverse = hd_alloc(g->n_edges, sizeof(*g->reverse));
	for (edge_id e = 0; e < g->n_edges; e++)
		g->reverse[e] = edge_of(g, g->edges[e].to, g->edges[e].in);
}

void graph_fini(struct sw_graph *g)
{
	free(g->first);
	free(g->edges);
	free(g->reverse);
	free(g->port_base);
	free(g->edge_at);
	free(g->n_ends);
	*g = (struct sw_graph){ .n = 0 };
}

uint32_t graph_distances(const struct sw_graph *g, switch_id from, uint16_t *dist, switch_id *queue)
{
	uint32_t head = 0, tail = 0;

	memset(dist, 0xFF, g->n * sizeof(*dist));
	dist[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		switch_id sw = queue[head++];
		uint16_t next = (uint16_t)(dist[sw] + 1);

		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			switch_id to = g->edges[e].to;

			if (dist[to] != GRAPH_FAR)
				continue;
			dist[to] = next;
			queue[tail++] = to;
		}
	}
	return tail;
}

bool graph_is_connected(const struct sw_graph *g)
{
	if (g->n == 0)
		return true;
	uint16_t *dist = hd_alloc(g->n, sizeof(*dist));
	switch_id *queue = hd_alloc(g->n, sizeof(*queue));
	bool all = graph_distances(g, 0, dist, queue) == g->n;

	free(dist);
	free(queue);
	return all;
}
