/* SPDX-License-Identifier: BSD-2-Clause */
#include "topo/facts.h"

#include <stdlib.h>

#include "base/alloc.h"

const char *topo_family_name(enum topo_family family)
{
	static const char *const names[] = {
		[FAMILY_NONE] = "none",
		[FAMILY_MESH] = "mesh",
		[FAMILY_TORUS] = "torus",
		[FAMILY_HYPERCUBE] = "hypercube",
		[FAMILY_RING] = "ring",
		[FAMILY_STAR] = "star",
		[FAMILY_BACK_TO_BACK] = "back-to-back",
		[FAMILY_XGFT] = "XGFT",
		[FAMILY_DRAGONFLY] = "dragonfly",
		[FAMILY_DRAGONFLY_PLUS] = "dragonfly-plus",
		[FAMILY_IRREGULAR] = "irregular",
		[FAMILY_TWO_SWITCH] = "two-switch",
		[FAMILY_NODE_MESH] = "node-mesh",
		[FAMILY_ROUTED] = "routed",
		[FAMILY_RAIL] = "rail",
	};

	return family < sizeof(names) / sizeof(*names) ? names[family] : "unknown";
}

static void count_nodes(struct topo_facts *f, const struct topo *t)
{
	f->least_radix = UINT32_MAX;
	for (node_id i = 0; i < t->n_nodes; i++) {
		const struct topo_node *v = &t->nodes[i];

		f->tcas += v->is_tca;
		f->adapters += v->kind == NODE_CA;
		f->routers += v->kind == NODE_ROUTER;
		if (v->kind != NODE_SWITCH)
			continue;
		f->switches++;
		if (v->n_ports < f->least_radix)
			f->least_radix = v->n_ports;
		if (v->n_ports > f->most_radix)
			f->most_radix = v->n_ports;
	}
	if (!f->switches)
		f->least_radix = 0;
}

static struct facts_links *links_like(struct topo_facts *f, unsigned lanes, enum link_speed speed)
{
	for (size_t i = 0; i < f->n_links; i++) {
		if (f->links[i].lanes == lanes && f->links[i].speed == speed)
			return &f->links[i];
	}
	f->links = hd_grow(f->links, &f->links_cap, f->n_links + 1, sizeof(*f->links));
	f->links[f->n_links] = (struct facts_links){ .lanes = lanes, .speed = speed };
	return &f->links[f->n_links++];
}

static void count_cables(struct topo_facts *f, const struct topo *t)
{
	for (port_id i = 0; i < t->n_ports; i++) {
		const struct topo_port *p = &t->ports[i];
		struct topo_link_state state;

		f->end_ports += topo_is_end_port(t, i);
		if (p->peer == TOPO_NONE || p->peer < i)
			continue;
		bool trunk =
			topo_is_switch(t, p->node) && topo_is_switch(t, t->ports[p->peer].node);

		if (topo_link_state(t, i, &state) != HD_OK)
			state = (struct topo_link_state){ .lanes = 0 };
		struct facts_links *links = links_like(f, state.lanes, state.speed);

		f->cables++;
		f->trunks += trunk;
		links->between_switches += trunk;
		links->to_hosts += !trunk;
	}
}

/* Fastest first; what cannot run at all last. */
static int by_rate(const void *a, const void *b)
{
	const struct facts_links *p = a, *q = b;

	if (!p->lanes || !q->lanes)
		return (p->lanes == 0) - (q->lanes == 0);
	int order = hd_rate_compare(hd_rate_of_link(q->lanes, q->speed),
				    hd_rate_of_link(p->lanes, p->speed));

	return order ? order : (int)q->lanes - (int)p->lanes;
}

/*
 * Counts each end of each cable by the tiers that it joins; hosts are tier 0. A cable within a tier
 * counts at its first end.
 */
static void count_tier_cables(struct topo_facts *f, const struct topo *t, const struct shape *g,
			      const uint32_t *tiers)
{
	for (port_id i = 0; i < t->n_ports; i++) {
		const struct topo_port *p = &t->ports[i];

		if (p->peer == TOPO_NONE || !topo_is_switch(t, p->node))
			continue;
		node_id other = t->ports[p->peer].node;
		uint32_t from = tiers[g->vertex_of[p->node]];
		uint32_t to = tiers[g->vertex_of[other]];

		if (from == 0 || from >= FACTS_MAX_TIERS)
			continue;
		struct facts_tier *tier = &f->tier[from];

		if (!topo_is_switch(t, other) || to < from)
			tier->cables_down++;
		else if (to > from)
			tier->cables_up++;
		else if (i < p->peer)
			tier->cables_across++;
	}
}

static void count_tiers(struct topo_facts *f, const struct topo *t, const struct shape *g)
{
	uint32_t *tiers = hd_alloc(g->n, sizeof(*tiers));

	shape_tiers(g, t, tiers);
	for (uint32_t v = 0; v < g->n; v++) {
		const struct topo_node *node = &t->nodes[g->node[v]];

		if (tiers[v] == 0 || tiers[v] >= FACTS_MAX_TIERS)
			continue;
		struct facts_tier *tier = &f->tier[tiers[v]];

		if (!tier->switches || node->n_ports < tier->least_ports)
			tier->least_ports = node->n_ports;
		if (node->n_ports > tier->most_ports)
			tier->most_ports = node->n_ports;
		tier->switches++;
		if (tiers[v] + 1 > f->n_tiers)
			f->n_tiers = tiers[v] + 1;
	}
	count_tier_cables(f, t, g, tiers);
	free(tiers);
}

void topo_facts_init(struct topo_facts *f, const struct topo *t)
{
	struct shape g;

	*f = (struct topo_facts){ .subnets = t->n_subnets };
	count_nodes(f, t);
	count_cables(f, t);
	if (f->n_links > 1)
		qsort(f->links, f->n_links, sizeof(*f->links), by_rate);
	shape_init(&g, t);
	uint32_t *part = hd_alloc(g.n, sizeof(*part));

	f->parts = shape_parts(&g, part);
	free(part);
	count_tiers(f, t, &g);
	shape_measure(&g, &f->distances);
	topo_bisect(t, &g, 0, &f->bisection);
	if (f->bisection.kind != BISECTION_NONE && g.total_weight > 1)
		f->bisection_share = 2 * (double)f->bisection.cables / (double)g.total_weight;
	shape_fini(&g);
}

void topo_facts_fini(struct topo_facts *f)
{
	free(f->links);
	*f = (struct topo_facts){ .n_links = 0 };
}
