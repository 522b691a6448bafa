/* SPDX-License-Identifier: BSD-2-Clause */
#include <metis.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/compare.h"
#include "base/union_find.h"
#include "sim/core/update.h"
#include "sim/domains/domains.h"

/* ---- what stays together ----------------------------------------------- */

/* Links with less propagation delay than this are not cut: half of the median. */
static hd_time shortest_to_cut(const struct sim_setup *setup)
{
	hd_time *all = hd_alloc(setup->n_ports, sizeof(*all));
	size_t n = 0;

	for (uint32_t i = 0; i < setup->n_ports; i++) {
		if (setup->ports[i].peer != SIM_NONE)
			all[n++] = setup->ports[i].propagation;
	}
	qsort(all, n, sizeof(*all), compare_u64);
	hd_time median = n ? all[n / 2] : 0;

	free(all);
	return median / 2;
}

/*
 * Groups of nodes (base/union_find.h) that stay in one domain: an end port and its switch, nodes
 * joined by a link much shorter than the others, which would shorten windows, and nodes that
 * endpoints join.
 */
static uint32_t *groups_new(const struct sim *s)
{
	const struct sim_setup *setup = s->setup;
	hd_time least = shortest_to_cut(setup);
	uint32_t *groups = union_find_new(setup->n_nodes);

	for (uint32_t i = 0; i < setup->n_ports; i++) {
		const struct sim_port *p = &setup->ports[i];

		if (p->peer == SIM_NONE)
			continue;
		if (setup->nodes[p->node].kind == SIM_END || p->propagation < least)
			union_find_join(groups, p->node, setup->ports[p->peer].node);
	}
	for (uint32_t e = 0; e < s->ends.n; e++) {
		const uint32_t *joined = s->ends.all[e].joined;

		for (uint32_t i = 0; joined && i < setup->n_nodes; i++)
			union_find_join(groups, i, joined[i]);
	}
	return groups;
}

/* ---- the graph that METIS cuts ----------------------------------------- */

struct partition_graph {
	idx_t n;
	idx_t *start, *to; /* start has one entry per vertex and a last one */
	idx_t *weight;     /* links to other groups; links to hosts count twice */
	idx_t *vertex;     /* per node */
};

static void graph_init(struct partition_graph *g, uint32_t *groups, const struct sim_setup *setup)
{
	idx_t edges = 0;

	*g = (struct partition_graph){
		.start = hd_alloc((size_t)setup->n_nodes + 1, sizeof(idx_t)),
		.to = hd_alloc(setup->n_ports, sizeof(idx_t)),
		.weight = hd_alloc(setup->n_nodes, sizeof(idx_t)),
		.vertex = hd_alloc(setup->n_nodes, sizeof(idx_t)),
	};
	for (uint32_t i = 0; i < setup->n_nodes; i++) {
		if (union_find_root(groups, i) == i)
			g->vertex[i] = g->n++;
	}
	for (uint32_t i = 0; i < setup->n_nodes; i++)
		g->vertex[i] = g->vertex[union_find_root(groups, i)];
	/* Ports of a group are not consecutive: count them, then place them. */
	for (uint32_t i = 0; i < setup->n_ports; i++) {
		const struct sim_port *p = &setup->ports[i];

		if (p->peer == SIM_NONE)
			continue;
		idx_t from = g->vertex[p->node];

		g->weight[from]++;
		if (from != g->vertex[setup->ports[p->peer].node])
			g->start[from + 1]++;
	}
	for (idx_t v = 0; v < g->n; v++)
		g->start[v + 1] += g->start[v];
	for (uint32_t i = setup->n_ports; i-- > 0;) {
		const struct sim_port *p = &setup->ports[i];
		idx_t from, to;

		if (p->peer == SIM_NONE)
			continue;
		from = g->vertex[p->node];
		to = g->vertex[setup->ports[p->peer].node];
		if (from != to)
			g->to[--g->start[from + 1]] = to;
		edges += from != to;
	}
	/* start[v + 1] is the next free place of vertex v. */
	for (idx_t v = 0; v < g->n; v++)
		g->start[v] = g->start[v + 1];
	g->start[g->n] = edges;
}

static void graph_fini(struct partition_graph *g)
{
	free(g->start);
	free(g->to);
	free(g->weight);
	free(g->vertex);
}

uint32_t partition(const struct sim *s, uint32_t n, uint16_t *part_of_node)
{
	const struct sim_setup *setup = s->setup;
	uint32_t *groups = groups_new(s);
	struct partition_graph g;

	graph_init(&g, groups, setup);
	free(groups);
	idx_t parts = (idx_t)(n < DOMAINS_MOST ? n : DOMAINS_MOST), one = 1, cut;
	idx_t options[METIS_NOPTIONS];
	idx_t *part = hd_alloc((size_t)g.n, sizeof(*part));

	if (parts > g.n)
		parts = g.n;
	METIS_SetDefaultOptions(options);
	options[METIS_OPTION_SEED] = (idx_t)(s->rules.cut_seed & 0xffff);
	options[METIS_OPTION_UFACTOR] = 10;
	if (parts >= g.n) {
		for (idx_t v = 0; v < g.n; v++)
			part[v] = v;
	} else if (parts > 1 &&
		   METIS_PartGraphKway(&g.n, &one, g.start, g.to, g.weight, NULL, NULL, &parts,
				       NULL, NULL, options, &cut, part) != METIS_OK) {
		parts = 1;
	}
	for (uint32_t i = 0; i < setup->n_nodes; i++)
		part_of_node[i] = parts > 1 ? (uint16_t)part[g.vertex[i]] : (uint16_t)0;
	free(part);
	graph_fini(&g);
	return parts > 1 ? (uint32_t)parts : 1;
}

/* ---- how far apart parts are ------------------------------------------- */

/* Smallest packet that destinations and devices send (C5, C8). */
static uint32_t least_answer(const struct sim_control *c)
{
	if (c->ack_delay == 0)
		return SIM_ACK_BYTES;
	return c->echo == SIM_ECHO_CNP ? SIM_CNP_BYTES : SIM_MAD_BYTES;
}

/* Smallest packet of the run. */
static uint32_t least_bytes(const struct sim *s)
{
	uint32_t least = s->max_bytes;

	for (uint32_t i = 0; i < s->n_flows; i++) {
		const struct sim_flow *f = &s->flows[i];
		uint32_t bytes = f->size_scv > 0 ? f->size_overhead + 1 : f->bytes;

		least = bytes < least ? bytes : least;
		if (f->last_bytes && f->last_bytes < least)
			least = f->last_bytes;
		for (size_t k = 0; k < f->n_trace; k++) {
			if (f->trace[k].bytes < least)
				least = f->trace[k].bytes;
		}
	}
	for (size_t i = 0; i < s->make.n_arrivals; i++) {
		if (s->make.arrivals[i].bytes < least)
			least = s->make.arrivals[i].bytes;
	}
	if (s->control && least_answer(s->control->rules) < least)
		least = least_answer(s->control->rules);
	if (s->ends.n && SIM_LEAST_BYTES < least)
		least = SIM_LEAST_BYTES;
	return least;
}

/* Whether a switch may drop a packet at its arrival (A1 to A3, F1, R3). */
static bool may_drop(const struct sim *s)
{
	const struct sim_setup *setup = s->setup;

	for (uint32_t i = 0; i < setup->n_nodes; i++) {
		const struct node *n = &s->nodes[i];

		if (n->kind == SIM_END)
			continue;
		if (!n->plain)
			return true;
		for (unsigned sl = 0; sl < N_SLS; sl++) {
			if (s->sl_index[sl] != 255 && n->vl_of_sl[sl] >= n->vls)
				return true;
		}
	}
	for (uint32_t i = 0; i < setup->n_ports; i++) {
		if (rare_at(s, i)->log_ok < 0 || rare_at(s, i)->next_down != NEVER)
			return true;
	}
	return s->n_flows == 0; /* traffic is unknown */
}

/* Minimum time from a grant until the packet has left its input buffer. */
static hd_time least_stay(struct sim *s, uint32_t bytes)
{
	const struct hd_ratio *speedup = &s->setup->sw.speedup;
	hd_time least = NEVER;

	if (s->fc || s->mode.hoq)
		return 0; /* F4, F5: at once, if the tail has arrived */
	for (unsigned i = 0; i < s->rate.n; i++) {
		hd_time d = duration_of(s, i, bytes);

		least = d < least ? d : least;
	}
	return s->mode.cioq ? least / (speedup->num / speedup->den + 1) : least;
}

/* Lookahead of the link from `port` to another domain; `stay` is the result of least_stay(). */
static hd_time link_lookahead(const struct sim *s, uint32_t port, hd_time stay, bool drops)
{
	const struct sim_port *p = &s->setup->ports[port];
	hd_time credit = stay + update_takes(&s->setup->ports[p->peer]);
	hd_time packet = p->propagation;

	/*
	 * The packet must be ready, or wait at its output (C3), unless the arrival of its head is
	 * an event or uses the routes of that time (T11r).
	 */
	if (!s->mode.exact && s->n_vls == s->vl15 && !s->mode.merges && !s->routes &&
	    !s->mode.fills)
		packet += s->marks || s->choices ? s->routing : s->delay;
	/* A domain that reads of a packet in the next window may drop it at once. */
	hd_time both = (p->propagation + credit) / 2;

	if (credit < packet)
		packet = credit;
	return drops && both < packet ? both : packet;
}

hd_time partition_lookahead(struct sim *s, const uint16_t *part_of_node)
{
	const struct sim_port *ports = s->setup->ports;
	hd_time stay = least_stay(s, least_bytes(s));
	hd_time least = NEVER / 4; /* if no link is cut */
	bool drops = may_drop(s);

	if (s->control && s->control->rules->ack_delay)
		least = s->control->rules->ack_delay;

	for (uint32_t i = 0; i < s->setup->n_ports; i++) {
		if (ports[i].peer == SIM_NONE ||
		    part_of_node[ports[i].node] == part_of_node[ports[ports[i].peer].node])
			continue;
		hd_time here = link_lookahead(s, i, stay, drops);

		least = here < least ? here : least;
	}
	return least;
}
