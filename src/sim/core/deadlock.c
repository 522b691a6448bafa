/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/core/deadlock.h"
#include "sim/domains/remote.h"

/*
 * The graph of waiting packets when no packet moves. Its places are the input buffers and, with
 * cioq, the output queues. The first packet of each queue in a place waits for another place. A
 * place is free if no packet waits in it, or if one of its packets can move because it waits for
 * a sink, for a dead link (which discards) or for a free place. A place that is not free waits
 * only for places that are not free, so these contain a cycle: a deadlock.
 */
struct wait_edge {
	uint32_t from, to; /* places; NONE: a destination where packets move */
	struct sim_wait wait;
	bool is_queued; /* the packet is in an output queue */
};

struct wait_graph {
	struct sim *s;
	struct wait_edge *edges;
	size_t n_edges, cap;
	uint32_t n_places;
	uint32_t *first; /* per place: first edge, or NONE */
	bool *is_free;
};

static uint32_t input_place(const struct sim *s, uint32_t port, unsigned vl)
{
	return port * s->n_vls + index_of_vl(s, vl);
}

static uint32_t output_place(const struct sim *s, uint32_t port, unsigned vl)
{
	return (s->setup->n_ports + port) * s->n_vls + index_of_vl(s, vl);
}

/* The place that a packet at the start of the link from `port` waits for. */
static uint32_t beyond(const struct sim *s, uint32_t port, unsigned vl)
{
	const struct sim_output *link = &s->links[port];

	if (link->flags & L_FAR_END || !(link->flags & L_UP))
		return NONE;
	return input_place(s, link->peer, vl);
}

static struct sim_wait describe(const struct sim *s, const struct packet_record *p)
{
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

static void add_edge(struct wait_graph *g, uint32_t from, uint32_t to,
		     const struct packet_record *p)
{
	g->edges = hd_grow(g->edges, &g->cap, g->n_edges + 1, sizeof(*g->edges));
	g->edges[g->n_edges++] = (struct wait_edge){ from, to, describe(g->s, p),
						     from >= g->s->setup->n_ports * g->s->n_vls };
}

/* Adds the packets in input buffers that wait for this output. */
static void add_inputs(struct wait_graph *g, const struct node *node, uint32_t port)
{
	struct sim *s = g->s, *owner = sim_of_port(s, port);

	for (uint32_t l = 0; l < s->n_vls; l++) {
		const struct port_vl *port_vl = &s->outlet_vls[(size_t)port * s->n_vls + l];

		for (unsigned in = node->low; in < node->n_in; in++) {
			if (!inputs_has(s, port_vl, in, false))
				continue;
			const struct packet_record *p =
				packet_at(owner, voq_first(owner, port_vl, in));
			uint32_t to = s->mode.cioq ? output_place(s, port, p->out_vl)
						   : beyond(s, port, p->out_vl);

			add_edge(g, input_place(s, node->first_port + in, p->vl), to, p);
		}
	}
}

/* cioq: adds the first packets of this output's queues. */
static void add_outputs(struct wait_graph *g, uint32_t port)
{
	struct sim *s = g->s;

	for (uint32_t l = 0; l < s->n_vls; l++) {
		uint32_t id = s->port_vls[(size_t)port * s->n_vls + l].queue.first;

		if (id == NONE)
			continue;
		const struct packet_record *p = packet_at(sim_of_port(s, port), id);
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

			if (setup->ports[port].peer == SIM_NONE ||
			    sim_of_port(g->s, port)->mail.is_elsewhere)
				continue;
			add_inputs(g, &g->s->nodes[v], port);
			if (g->s->mode.cioq)
				add_outputs(g, port);
		}
	}
}

/* ---- partitions in other processes --------------------------------------- */

static const struct pack_member edge_members[] = {
	PACK(wait_edge, from),
	PACK(wait_edge, to),
	PACK(wait_edge, is_queued),
};

static const struct pack_member wait_members[] = {
	PACK(sim_wait, node),     PACK(sim_wait, in_port), PACK(sim_wait, out_port),
	PACK(sim_wait, vl),       PACK(sim_wait, out_vl),  PACK(sim_wait, flow),
	PACK(sim_wait, sequence),
};

static void pack_edge(struct pack *k, const struct sim *s, struct wait_edge *e)
{
	const uint32_t places = 2 * s->setup->n_ports * s->n_vls;

	PACK_STRUCT(k, edge_members, e);
	PACK_STRUCT(k, wait_members, &e->wait);
	pack_check(k, e->from < places && (e->to < places || e->to == NONE) &&
			      e->wait.node < s->setup->n_nodes &&
			      e->wait.in_port < s->setup->n_ports &&
			      e->wait.out_port < s->setup->n_ports &&
			      (e->wait.flow < s->n_flows || e->wait.flow == NONE));
}

static void read_edges(struct sim *s, struct pack *k, void *context)
{
	struct domains *p = s->parts;
	size_t n = pack_count(k, 0);

	(void)context;
	for (size_t i = 0; i < n && !k->refused; i++) {
		p->waits = hd_grow(p->waits, &p->waits_cap, p->n_waits + 1, sizeof(*p->waits));
		pack_edge(k, s, &p->waits[p->n_waits]);
		p->n_waits += !k->refused;
	}
}

/* The order in which collect() finds edges in one process. */
static int edge_order(const void *x, const void *y)
{
	const struct wait_edge *a = x, *b = y;
	const struct sim_wait *v = &a->wait, *w = &b->wait;

	if (v->out_port != w->out_port)
		return v->out_port < w->out_port ? -1 : 1;
	if (a->is_queued != b->is_queued)
		return a->is_queued ? 1 : -1;
	if (v->out_vl != w->out_vl)
		return v->out_vl < w->out_vl ? -1 : 1;
	return v->in_port < w->in_port ? -1 : v->in_port > w->in_port;
}

void deadlock_note(struct sim *s)
{
	struct wait_graph g = { .s = s };
	struct strbuf mine = STRBUF_INIT;
	struct domains *p = s->parts;
	struct pack k;

	collect(&g);
	pack_to(&k, &mine);
	pack_count(&k, g.n_edges);
	for (size_t i = 0; i < g.n_edges; i++)
		pack_edge(&k, s, &g.edges[i]);
	free(g.edges);
	p->n_waits = 0;
	remote_gather(s, &mine, read_edges, NULL);
	strbuf_fini(&mine);
	if (p->waits)
		qsort(p->waits, p->n_waits, sizeof(*p->waits), edge_order);
}

/* ---- cycles ------------------------------------------------------------- */

/* Propagates `is_free` backwards along the edges to a fixed point. */
static void spread_freedom(struct wait_graph *g)
{
	bool changed = true;

	for (size_t i = 0; i < g->n_edges; i++)
		g->is_free[g->edges[i].from] = false;
	while (changed) {
		changed = false;
		for (size_t i = 0; i < g->n_edges; i++) {
			const struct wait_edge *e = &g->edges[i];

			if (g->is_free[e->from] || (e->to != NONE && !g->is_free[e->to]))
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
		.n_places = 2 * s->setup->n_ports * s->n_vls,
	};
	g->first = hd_alloc(g->n_places, sizeof(*g->first));
	g->is_free = hd_alloc(g->n_places, sizeof(*g->is_free));
	memset(g->is_free, 1, g->n_places * sizeof(*g->is_free));
	memset(g->first, 0xff, g->n_places * sizeof(*g->first));
	if (sim_is_remote(s)) {
		g->edges = s->parts->waits;
		g->n_edges = s->parts->n_waits;
	} else {
		collect(g);
	}
	spread_freedom(g);
	for (size_t i = 0; i < g->n_edges; i++) {
		if (!g->is_free[g->edges[i].from])
			g->first[g->edges[i].from] = (uint32_t)i;
	}
}

static void graph_fini(struct wait_graph *g)
{
	if (!sim_is_remote(g->s))
		free(g->edges);
	free(g->first);
	free(g->is_free);
}

/* A place on a cycle, or NONE: follows edges until a place repeats. */
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

bool deadlock_exists(struct sim *s)
{
	struct wait_graph g;

	if (sim_is_remote(s))
		deadlock_note(s);
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
	const uint32_t inputs = s->setup->n_ports * s->n_vls;

	while (start != NONE) {
		const struct wait_edge *e = &g.edges[g.first[place]];

		/* An output queue belongs to the hop of the packet before it. */
		if (place < inputs) {
			waits = hd_grow(waits, &cap, n + 1, sizeof(*waits));
			waits[n++] = e->wait;
		}
		place = e->to;
		if (place == start)
			break;
	}
	graph_fini(&g);
	*out = waits;
	return (uint32_t)n;
}
