/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/multicast/mcast_load.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "subnet/routing/graph.h"

void mcast_load_init(struct mcast_load *l, const struct subnet *s)
{
	uint32_t n = s->topo->n_ports;

	*l = (struct mcast_load){
		.s = s,
		.sent = hd_alloc(n, sizeof(*l->sent)),
		.injected = hd_alloc(n, sizeof(*l->injected)),
		.ejected = hd_alloc(n, sizeof(*l->ejected)),
		.hops = hd_alloc(n, sizeof(*l->hops)),
	};
}

void mcast_load_fini(struct mcast_load *l)
{
	free(l->sent);
	free(l->injected);
	free(l->ejected);
	free(l->hops);
}

void mcast_load_clear(struct mcast_load *l)
{
	size_t n = l->s->topo->n_ports;

	memset(l->sent, 0, n * sizeof(*l->sent));
	memset(l->injected, 0, n * sizeof(*l->injected));
	memset(l->ejected, 0, n * sizeof(*l->ejected));
}

/* Position of a packet: a switch and its input port. */
struct mcast_position {
	node_id at;
	port_id in;
	uint16_t hops;
};

/* The first switch on the path of an end port; false: no switch. */
static bool enter(const struct topo *t, port_id source, struct mcast_position *out)
{
	port_id in = source;

	if (!topo_is_switch(t, t->ports[source].node))
		in = t->ports[source].peer;
	if (in == TOPO_NONE || !topo_is_switch(t, t->ports[in].node))
		return false;
	*out = (struct mcast_position){ .at = t->ports[in].node, .in = in };
	return true;
}

enum step { STEP_LOST, STEP_HOST, STEP_SWITCH };

/* Sends from port number `out`; `to` is the next position. */
static enum step step(struct mcast_load *l, const struct mcast_position *from, unsigned out,
		      struct mcast_position *to)
{
	const struct topo *t = l->s->topo;

	if (out > t->nodes[from->at].n_ports)
		return STEP_LOST;
	port_id p = topo_port_of(t, from->at, out);
	port_id peer = out == 0 ? p : t->ports[p].peer;

	if (peer == TOPO_NONE)
		return STEP_LOST;
	if (out > 0)
		l->sent[p]++;
	if (out > 0 && topo_is_switch(t, t->ports[peer].node)) {
		*to = (struct mcast_position){ .at = t->ports[peer].node,
					       .in = peer,
					       .hops = (uint16_t)(from->hops + 1) };
		return STEP_SWITCH;
	}
	l->ejected[peer]++;
	l->hops[peer] = from->hops;
	return STEP_HOST;
}

bool mcast_load_unicast(struct mcast_load *l, port_id source, port_id member)
{
	const struct subnet *s = l->s;
	lid_t lid = s->lid_of_port[member];
	struct mcast_position at;

	l->hops[member] = GRAPH_FAR;
	if (!enter(s->topo, source, &at))
		return false;
	l->injected[source]++;
	for (uint32_t steps = 0; steps <= s->n_switches; steps++) {
		unsigned out = lft_get(s, s->switch_of_node[at.at], lid);
		enum step next = out == LFT_NO_PORT ? STEP_LOST : step(l, &at, out, &at);

		if (next != STEP_SWITCH)
			return next == STEP_HOST && l->hops[member] != GRAPH_FAR;
	}
	return false;
}

struct stack {
	struct mcast_position *items;
	size_t n, cap;
};

/* Sends from all ports of the tree but the one of arrival. */
static void fan_out(struct mcast_load *l, const struct mcast_position *from, lid_t mlid,
		    struct stack *stack)
{
	const struct subnet *s = l->s;
	const struct topo *t = s->topo;
	const uint64_t *ports = mft_get(&s->mft[t->ports[from->in].subnet],
					s->switch_of_node[from->at], s->n_switches, mlid);

	for (unsigned out = 0; ports && out <= t->nodes[from->at].n_ports; out++) {
		struct mcast_position to;

		if (out == t->ports[from->in].number || !mcast_has_port(ports, out) ||
		    step(l, from, out, &to) != STEP_SWITCH)
			continue;
		stack->items =
			hd_grow(stack->items, &stack->cap, stack->n + 1, sizeof(*stack->items));
		stack->items[stack->n++] = to;
	}
}

bool mcast_load_tree(struct mcast_load *l, port_id sender, lid_t mlid)
{
	struct stack stack = { 0 };
	struct mcast_position at;
	/* A tree enters a switch once; a loop soon enters more often. */
	uint32_t left = 4 * l->s->n_switches + 4;

	for (uint32_t p = 0; p < l->s->topo->n_ports; p++)
		l->hops[p] = GRAPH_FAR;
	if (!enter(l->s->topo, sender, &at))
		return false;
	l->injected[sender]++;
	fan_out(l, &at, mlid, &stack);
	while (stack.n > 0 && left > 0) {
		at = stack.items[--stack.n];
		left--;
		fan_out(l, &at, mlid, &stack);
	}
	free(stack.items);
	return left > 0;
}

struct mcast_peak mcast_load_peak(const struct mcast_load *l)
{
	const struct topo *t = l->s->topo;
	struct mcast_peak peak = { .link_at = TOPO_NONE };

	for (port_id p = 0; p < t->n_ports; p++) {
		port_id peer = t->ports[p].peer;

		if (l->injected[p] > peak.injection)
			peak.injection = l->injected[p];
		if (l->ejected[p] > peak.ejection)
			peak.ejection = l->ejected[p];
		if (l->sent[p] == 0 || !topo_is_switch(t, t->ports[peer].node))
			continue;
		peak.total += l->sent[p];
		if (l->sent[p] > peak.link) {
			peak.link = l->sent[p];
			peak.link_at = p;
		}
	}
	return peak;
}
