/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/routing/router.h"

#include <stdlib.h>

#include "base/alloc.h"

static bool is_router_port(const struct topo *t, port_id p)
{
	return t->nodes[t->ports[p].node].kind == NODE_ROUTER && topo_is_end_port(t, p);
}

static struct router_hop *hop_at(const struct subnet *s, unsigned from, unsigned to)
{
	return &s->router_hops[(size_t)from * s->n_subnets + to];
}

/* True if the router of `p` has a port in a subnet that is nearer to `to`. */
static bool leads_nearer(const struct subnet *s, port_id p, unsigned to, uint32_t distance)
{
	const struct topo_node *v = topo_node_of(s->topo, p);

	for (unsigned n = 1; n <= v->n_ports; n++) {
		port_id q = v->first_port + n;
		unsigned there = s->topo->ports[q].subnet;

		if (q == p || !topo_is_end_port(s->topo, q))
			continue;
		uint32_t left = hop_at(s, there, to)->n_hops;

		if (left != UINT32_MAX && left + 1 == distance)
			return true;
	}
	return false;
}

/* Distances toward `to`, by relaxation: subnets are few. */
static void measure(struct subnet *s, unsigned to)
{
	const struct topo *t = s->topo;
	bool changed = true;

	for (unsigned i = 0; i < s->n_subnets; i++)
		hop_at(s, i, to)->n_hops = i == to ? 0 : UINT32_MAX;
	for (uint32_t distance = 1; changed; distance++) {
		changed = false;
		for (port_id p = 0; p < t->n_ports; p++) {
			struct router_hop *h = hop_at(s, t->ports[p].subnet, to);

			if (h->n_hops != UINT32_MAX || !is_router_port(t, p) ||
			    !leads_nearer(s, p, to, distance))
				continue;
			h->n_hops = distance;
			changed = true;
		}
	}
}

static void collect(struct subnet *s, unsigned from, unsigned to, size_t *n, size_t *cap)
{
	const struct topo *t = s->topo;
	struct router_hop *h = hop_at(s, from, to);

	h->first = (uint32_t)*n;
	if (h->n_hops == UINT32_MAX || h->n_hops == 0)
		return;
	for (port_id p = 0; p < t->n_ports; p++) {
		if (t->ports[p].subnet != from || !is_router_port(t, p) ||
		    !leads_nearer(s, p, to, h->n_hops))
			continue;
		s->router_choices =
			hd_grow(s->router_choices, cap, *n + 1, sizeof(*s->router_choices));
		s->router_choices[(*n)++] = p;
		h->n++;
	}
}

void subnet_router_tables_init(struct subnet *s)
{
	size_t n = 0, cap = 0;

	subnet_router_tables_free(s);
	s->router_hops = hd_alloc((size_t)s->n_subnets * s->n_subnets, sizeof(*s->router_hops));
	if (s->n_subnets == 1)
		return;
	for (unsigned to = 0; to < s->n_subnets; to++)
		measure(s, to);
	for (unsigned from = 0; from < s->n_subnets; from++) {
		for (unsigned to = 0; to < s->n_subnets; to++)
			collect(s, from, to, &n, &cap);
	}
}

void subnet_router_tables_free(struct subnet *s)
{
	free(s->router_hops);
	free(s->router_choices);
	s->router_hops = NULL;
	s->router_choices = NULL;
}

/* The DLID toward `to` inside subnet `from`. */
static lid_t dlid_in(const struct subnet *s, unsigned from, port_id to)
{
	unsigned there = s->topo->ports[to].subnet;

	if (from == there)
		return s->lid_of_port[to];
	const struct router_hop *h = hop_at(s, from, there);

	if (h->n == 0)
		return 0;
	/* Orders by LID, because neighbours in LID are near in the fabric. */
	uint32_t turn = (uint32_t)s->lid_of_port[to] >> s->lmc_of_port[to];

	return s->lid_of_port[s->router_choices[h->first + turn % h->n]];
}

lid_t route_dlid(const struct subnet *s, port_id from, port_id to)
{
	return dlid_in(s, s->topo->ports[from].subnet, to);
}

/* The output of a router toward subnet `to`, or TOPO_NONE. */
static port_id port_toward(const struct subnet *s, node_id router, unsigned to)
{
	const struct topo_node *v = &s->topo->nodes[router];
	uint32_t best = UINT32_MAX;
	port_id chosen = TOPO_NONE;

	for (unsigned n = 1; n <= v->n_ports; n++) {
		port_id p = v->first_port + n;
		uint32_t left = hop_at(s, s->topo->ports[p].subnet, to)->n_hops;

		if (topo_is_end_port(s->topo, p) && left < best) {
			best = left;
			chosen = p;
		}
	}
	return chosen;
}

bool subnet_router_forward(const struct subnet *s, node_id router, port_id to, port_id *out,
			   lid_t *dlid)
{
	port_id chosen = port_toward(s, router, s->topo->ports[to].subnet);

	if (chosen == TOPO_NONE)
		return false;
	*dlid = dlid_in(s, s->topo->ports[chosen].subnet, to);
	*out = chosen;
	return *dlid != 0;
}

/* Whether packets toward subnet `to` may be addressed to router port `p`. */
static bool is_choice(const struct subnet *s, port_id p, unsigned to)
{
	const struct router_hop *h = hop_at(s, s->topo->ports[p].subnet, to);

	for (uint32_t i = 0; i < h->n; i++) {
		if (s->router_choices[h->first + i] == p)
			return true;
	}
	return false;
}

bool subnet_router_turns(const struct subnet *s, port_id in, port_id out)
{
	for (unsigned to = 0; to < s->n_subnets; to++) {
		if (is_choice(s, in, to) && port_toward(s, s->topo->ports[in].node, to) == out)
			return true;
	}
	return false;
}

/* True if a router receives anything for subnet `to` that it sends by `out`. */
static bool forwards_by(const struct subnet *s, port_id out, unsigned to)
{
	const struct topo_node *v = topo_node_of(s->topo, out);

	if (port_toward(s, s->topo->ports[out].node, to) != out)
		return false;
	for (unsigned n = 1; n <= v->n_ports; n++) {
		port_id in = v->first_port + n;

		if (in != out && is_choice(s, in, to))
			return true;
	}
	return false;
}

bool subnet_router_passes(const struct subnet *s, port_id out, port_id next)
{
	unsigned here = s->topo->ports[out].subnet;

	for (unsigned to = 0; to < s->n_subnets; to++) {
		if (to != here && is_choice(s, next, to) && forwards_by(s, out, to))
			return true;
	}
	return false;
}
