/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/parts.h"

/*
 * Who waits for whom, when nothing moves. The places are the input buffers,
 * and in cioq the output queues too; the first packet of every queue in a
 * place waits for another place. A place is free if nobody waits in it, or if
 * one of those who do waits for a sink, a dead link (which discards) or a free
 * place: something there will move. What is not free waits only for what is
 * not free either, for ever, and so must have a circle in it.
 */
struct wait_edge {
	uint32_t from, to; /* places; NONE: somewhere that moves */
	const struct packet *packet;
};

struct wait_graph {
	struct sim *s;
	struct wait_edge *edges;
	size_t n_edges, cap;
	uint32_t n_places;
	uint32_t *first; /* per place: an edge, or NONE */
	bool *is_free;
};

static uint32_t input_place(const struct sim *s, uint32_t port, unsigned vl)
{
	return port * s->n_lanes + lane_of(s, vl);
}

static uint32_t output_place(const struct sim *s, uint32_t port, unsigned vl)
{
	return (s->setup->n_ports + port) * s->n_lanes + lane_of(s, vl);
}

/* What a packet at the start of the link from `port` waits for. */
static uint32_t beyond(const struct sim *s, uint32_t port, unsigned vl)
{
	const struct server *link = &s->links[port];

	if (link->flags & L_FAR_END || !(link->flags & L_UP))
		return NONE;
	return input_place(s, link->peer, vl);
}

static void add_edge(struct wait_graph *g, uint32_t from, uint32_t to,
		     const struct packet *packet)
{
	g->edges =
		hd_grow(g->edges, &g->cap, g->n_edges + 1, sizeof(*g->edges));
	g->edges[g->n_edges++] = (struct wait_edge){ from, to, packet };
}

/* The packets that stand in input buffers and want this output. */
static void add_inputs(struct wait_graph *g, const struct node *node,
		       uint32_t port)
{
	struct sim *s = g->s, *owner = sim_of_port(s, port);

	for (uint32_t l = 0; l < s->n_lanes; l++) {
		const struct lane *lane =
			&s->outlet_lanes[(size_t)port * s->n_lanes + l];

		for (unsigned in = node->low; in < node->n_in; in++) {
			if (!inputs_has(s, lane, in, false))
				continue;
			const struct packet *p =
				packet_at(owner, voq_first(owner, lane, in));
			uint32_t to = s->cioq ? output_place(s, port, p->out_vl)
					      : beyond(s, port, p->out_vl);

			add_edge(g,
				 input_place(s, node->first_port + in, p->vl),
				 to, p);
		}
	}
}

/* cioq: the packets at the heads of this output's queues. */
static void add_outputs(struct wait_graph *g, uint32_t port)
{
	struct sim *s = g->s;

	for (uint32_t l = 0; l < s->n_lanes; l++) {
		uint32_t id =
			s->lanes[(size_t)port * s->n_lanes + l].queue.first;

		if (id == NONE)
			continue;
		const struct packet *p = packet_at(sim_of_port(s, port), id);
		unsigned vl = p->out_vl;

		add_edge(g, output_place(s, port, vl), beyond(s, port, vl), p);
	}
}

static void collect(struct wait_graph *g)
{
	const struct sim_setup *setup = g->s->setup;

	for (uint32_t v = 0; v < setup->n_nodes; v++) {
		if (setup->nodes[v].kind == SIM_END)
			continue;
		for (uint32_t n = 0; n <= setup->nodes[v].n_ports; n++) {
			uint32_t port = setup->nodes[v].first_port + n;

			if (setup->ports[port].peer == SIM_NONE)
				continue;
			add_inputs(g, &g->s->nodes[v], port);
			if (g->s->cioq)
				add_outputs(g, port);
		}
	}
}

/* Spreads freedom backwards along the edges until it stops. */
static void spread_freedom(struct wait_graph *g)
{
	bool changed = true;

	for (size_t i = 0; i < g->n_edges; i++)
		g->is_free[g->edges[i].from] = false;
	while (changed) {
		changed = false;
		for (size_t i = 0; i < g->n_edges; i++) {
			const struct wait_edge *e = &g->edges[i];

			if (g->is_free[e->from] ||
			    (e->to != NONE && !g->is_free[e->to]))
				continue;
			g->is_free[e->from] = true;
			changed = true;
		}
	}
}

static void graph_init(struct wait_graph *g, struct sim *s)
{
	*g = (struct wait_graph){
		.s = s,
		.n_places = 2 * s->setup->n_ports * s->n_lanes,
	};
	g->first = hd_alloc(g->n_places, sizeof(*g->first));
	g->is_free = hd_alloc(g->n_places, sizeof(*g->is_free));
	memset(g->is_free, 1, g->n_places * sizeof(*g->is_free));
	memset(g->first, 0xff, g->n_places * sizeof(*g->first));
	collect(g);
	spread_freedom(g);
	for (size_t i = 0; i < g->n_edges; i++) {
		if (!g->is_free[g->edges[i].from])
			g->first[g->edges[i].from] = (uint32_t)i;
	}
}

static void graph_fini(struct wait_graph *g)
{
	free(g->edges);
	free(g->first);
	free(g->is_free);
}

/* A place on a circle, or NONE: follow the waiting until it comes again. */
static uint32_t place_on_circle(const struct wait_graph *g)
{
	uint32_t place = 0;

	if (!g->edges)
		return NONE;
	while (place < g->n_places && g->first[place] == NONE)
		place++;
	if (place == g->n_places)
		return NONE;
	for (uint32_t i = 0; i < g->n_places; i++)
		place = g->edges[g->first[place]].to;
	return place;
}

static struct sim_wait describe(const struct sim *s, const struct wait_edge *e)
{
	const struct packet *p = e->packet;
	uint32_t node = s->setup->ports[p->out].node;

	return (struct sim_wait){
		.node = node,
		.in_port = s->setup->nodes[node].first_port + p->in,
		.out_port = p->out,
		.vl = p->vl,
		.out_vl = p->out_vl,
		.flow = p->flow,
		.sequence = p->sequence,
	};
}

bool deadlock_exists(struct sim *s)
{
	struct wait_graph g;

	graph_init(&g, s);
	bool found = place_on_circle(&g) != NONE;

	graph_fini(&g);
	return found;
}

uint32_t sim_deadlock(struct sim *s, struct sim_wait **out)
{
	struct wait_graph g;
	struct sim_wait *waits = NULL;
	size_t n = 0, cap = 0;

	graph_init(&g, s);
	uint32_t start = place_on_circle(&g), place = start;
	const uint32_t inputs = s->setup->n_ports * s->n_lanes;

	while (start != NONE) {
		const struct wait_edge *e = &g.edges[g.first[place]];

		/* An output queue is on the way of the packet before it. */
		if (place < inputs) {
			waits = hd_grow(waits, &cap, n + 1, sizeof(*waits));
			waits[n++] = describe(s, e);
		}
		place = e->to;
		if (place == start)
			break;
	}
	graph_fini(&g);
	*out = waits;
	return (uint32_t)n;
}
