/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/failures/analysis_cases.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/rng.h"

struct case_list {
	struct failure_analysis *out;
	size_t cap;
};

static void add(struct case_list *l, enum failure_kind kind, uint32_t a, uint32_t b)
{
	l->out->cases = hd_grow(l->out->cases, &l->cap, l->out->n + 1, sizeof(*l->out->cases));
	l->out->cases[l->out->n++] = (struct failure_case){
		.kind = kind,
		.what = { a, b },
	};
}

static bool is_adapter(const struct topo *t, port_id p)
{
	return topo_node_of(t, p)->kind == NODE_CA;
}

/* The cable's first port: each cable is seen once. */
static bool is_cable(const struct topo *t, port_id p)
{
	port_id peer = t->ports[p].peer;

	return peer != TOPO_NONE && p < peer;
}

static enum failure_kind kind_of_cable(const struct topo *t, port_id p)
{
	return is_adapter(t, p) || is_adapter(t, t->ports[p].peer) ? ANALYSIS_HOSTS : FAILURE_LINKS;
}

static void list_switches(const struct topo *t, struct case_list *l)
{
	for (node_id v = 0; v < t->n_nodes; v++) {
		if (topo_is_switch(t, v))
			add(l, FAILURE_SWITCHES, v, TOPO_NONE);
	}
}

static void list_cables(const struct topo *t, enum failure_kind kind, struct case_list *l)
{
	for (port_id p = 0; p < t->n_ports; p++) {
		if (is_cable(t, p) && kind_of_cable(t, p) == kind)
			add(l, kind, p, TOPO_NONE);
	}
}

/* Adds the k-th pair (i, j), i < j, of n: row i has n - 1 - i pairs. */
static void add_pair(const port_id *links, uint64_t n, uint64_t k, struct case_list *l)
{
	uint64_t i = 0;

	for (; k >= n - 1 - i; i++)
		k -= n - 1 - i;
	add(l, FAILURE_PAIRS, links[i], links[i + 1 + k]);
}

/* Draws distinct pairs in order: Knuth's selection sampling. */
static void list_pairs(const struct topo *t, const struct failure_options *o, struct case_list *l)
{
	port_id *links = hd_alloc(t->n_ports, sizeof(*links));
	uint64_t n = 0;
	struct rng r;

	for (port_id p = 0; p < t->n_ports; p++) {
		if (is_cable(t, p) && kind_of_cable(t, p) == FAILURE_LINKS)
			links[n++] = p;
	}
	uint64_t all = n > 1 ? n * (n - 1) / 2 : 0;
	uint64_t wanted = o->n_pairs < all ? o->n_pairs : all;

	rng_init(&r, o->seed, 0);
	for (uint64_t k = 0; wanted > 0; k++) {
		if (rng_below(&r, all - k) >= wanted)
			continue;
		add_pair(links, n, k, l);
		wanted--;
	}
	free(links);
}

void failure_list(const struct topo *t, const struct failure_options *o,
		  struct failure_analysis *out)
{
	struct case_list l = { .out = out };

	if (o->kinds[FAILURE_SWITCHES])
		list_switches(t, &l);
	if (o->kinds[FAILURE_LINKS])
		list_cables(t, FAILURE_LINKS, &l);
	if (o->kinds[ANALYSIS_HOSTS])
		list_cables(t, ANALYSIS_HOSTS, &l);
	if (o->kinds[FAILURE_PAIRS])
		list_pairs(t, o, &l);
}

static void mark_cable(const struct topo *t, port_id p, bool is_down, bool *down)
{
	down[p] = is_down;
	if (t->ports[p].peer != TOPO_NONE)
		down[t->ports[p].peer] = is_down;
}

void failure_mark(const struct topo *t, const struct failure_case *c, bool is_down, bool *down)
{
	if (c->kind == FAILURE_SWITCHES) {
		const struct topo_node *v = &t->nodes[c->what[0]];

		for (unsigned k = 1; k <= v->n_ports; k++)
			mark_cable(t, v->first_port + k, is_down, down);
		return;
	}
	for (unsigned i = 0; i < 2; i++) {
		if (c->what[i] != TOPO_NONE)
			mark_cable(t, c->what[i], is_down, down);
	}
}

/* Nodes that cables join, one piece after the other. */
struct pieces {
	const struct topo *t;
	const bool *down;
	bool *seen;
	node_id *queue;
};

static void visit(struct pieces *p, node_id v, uint32_t *tail)
{
	if (!p->seen[v] && topo_is_switch(p->t, v))
		p->queue[(*tail)++] = v;
	p->seen[v] = true;
}

/*
 * Number of end ports in the component of `start`, which is one of them. Only switches forward
 * packets.
 */
static uint32_t walk_piece(struct pieces *p, port_id start)
{
	const struct topo *t = p->t;
	bool at_switch = topo_is_switch(t, t->ports[start].node);
	port_id peer = t->ports[start].peer;
	uint32_t head = 0, tail = 0, n = 0;

	p->seen[t->ports[start].node] = !at_switch;
	if (at_switch || peer != TOPO_NONE)
		visit(p, t->ports[at_switch ? start : peer].node, &tail);
	while (head < tail) {
		const struct topo_node *v = &t->nodes[p->queue[head++]];

		n += topo_is_end_port(t, v->first_port);
		for (unsigned k = 1; k <= v->n_ports; k++) {
			port_id a = v->first_port + k, b = t->ports[a].peer;

			if (b == TOPO_NONE || p->down[a])
				continue;
			n += topo_is_end_port(t, b);
			visit(p, t->ports[b].node, &tail);
		}
	}
	return n;
}

port_id failure_manager(const struct topo *t, const struct failure_case *c, const bool *down)
{
	port_id fails = c->kind == FAILURE_SWITCHES ? t->nodes[c->what[0]].first_port : c->what[0];
	struct pieces p = {
		.t = t,
		.down = down,
		.seen = hd_alloc(t->n_nodes, sizeof(*p.seen)),
		.queue = hd_alloc(t->n_nodes, sizeof(*p.queue)),
	};
	port_id found = TOPO_NONE;
	uint32_t most = 0;

	for (port_id a = 0; a < t->n_ports; a++) {
		if (t->ports[a].subnet != t->ports[fails].subnet || down[a] ||
		    !topo_is_end_port(t, a) || p.seen[t->ports[a].node])
			continue;
		uint32_t n = walk_piece(&p, a);

		if (n > most)
			found = a;
		most = n > most ? n : most;
	}
	free(p.seen);
	free(p.queue);
	return found;
}
