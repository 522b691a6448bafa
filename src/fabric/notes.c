/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scenarios that are legal but surely not meant: more offered than a link or a
 * cut carries, and grids whose routes can deadlock. A cut parts the switches,
 * with their hosts, in two: one leaf from all others, or a grid in halves.
 * Counted are flows that are paced and never stop, with headers,
 * by the probabilities with which they choose their destinations.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fabric/fabric.h"
#include "subnet/routing/deadlock.h"
#include "subnet/routing/grid.h"
#include "subnet/routing/recognise.h"
#include "subnet/routing/route.h"

#define ROUNDING 1e-9

/* ---- what flows offer ---------------------------------------------------- */

static bool goes_on(const struct sim_flow *f)
{
	return f->kind <= SIM_PARETO && f->stop == 0 && f->count == 0 && !f->management &&
	       f->to.list[0].dlid < LID_FIRST_MCAST;
}

/* b/s on the wire. */
static double rate_of(const struct sim_flow *f)
{
	double bytes = f->size_scv > 0 ? f->size_mean + f->size_overhead
				       : (double)f->bytes * (f->packets - 1) +
						 (f->last_bytes ? f->last_bytes : f->bytes);
	double gap = (double)f->interval.num / (double)f->interval.den;

	if (f->kind == SIM_ON_OFF || f->kind == SIM_PARETO)
		gap *= (double)(f->mean_on + f->mean_off) / (double)f->mean_on;
	return 8e12 * bytes / gap;
}

static double link_rate(const struct fabric *fabric, port_id port)
{
	return hd_rate_bps(fabric->subnet.rate_of_port[port]);
}

static port_id source_port(const struct fabric *fabric, const struct sim_flow *f)
{
	return fabric->setup.ports[fabric->setup.nodes[f->source].first_port + 1].origin;
}

/* ---- cuts ---------------------------------------------------------------- */

struct traffic_cut {
	double out, in; /* b/s offered over it */
	double carries; /* b/s, in each direction */
};

/* Positions in a list of destinations, per switch. */
struct target_counts {
	const struct sim_address *list; /* of which these are */
	uint32_t n, n_hot;
	uint32_t *all, *hot;
};

struct notes {
	const struct fabric *fabric;
	struct strbuf *out;
	double *host;             /* b/s offered, by end port */
	struct traffic_cut *leaf; /* each switch from all others */
	struct target_counts counts;
	struct grid grid;
	bool is_grid;
	struct traffic_cut half[TOPO_MAX_DIMS];
};

static bool is_low(const struct notes *x, unsigned dim, switch_id sw)
{
	return grid_at(&x->grid, sw)[dim] < x->grid.size[dim] / 2;
}

static void add_cables(struct notes *x)
{
	const struct subnet *s = &x->fabric->subnet;
	const struct topo *t = s->topo;

	for (port_id p = 0; p < t->n_ports; p++) {
		port_id peer = t->ports[p].peer;
		switch_id from = s->switch_of_node[t->ports[p].node];
		switch_id to =
			peer == TOPO_NONE ? TOPO_NONE : s->switch_of_node[t->ports[peer].node];

		if (from == TOPO_NONE || to == TOPO_NONE || from == to)
			continue;
		x->leaf[from].carries += link_rate(x->fabric, p);
		for (unsigned d = 0; x->is_grid && d < x->grid.n_dims; d++) {
			if (is_low(x, d, from) && !is_low(x, d, to))
				x->half[d].carries += link_rate(x->fabric, p);
		}
	}
}

/* The switch of an entry; TOPO_NONE if it has none. */
static switch_id target_switch(const struct notes *x, const struct sim_address *to)
{
	const struct subnet *s = &x->fabric->subnet;

	return subnet_switch_at(s, s->port_of_lid[0][to->dlid]);
}

static void count_targets(struct notes *x, const struct sim_destinations *to)
{
	struct target_counts *c = &x->counts;
	uint32_t n = x->fabric->subnet.n_switches;

	if (c->list == to->list && c->n == to->n && c->n_hot == to->n_hot)
		return;
	memset(c->all, 0, n * sizeof(*c->all));
	memset(c->hot, 0, n * sizeof(*c->hot));
	for (uint32_t i = 0; i < to->n; i++) {
		switch_id sw = target_switch(x, &to->list[i]);

		if (sw == TOPO_NONE)
			continue;
		c->all[sw]++;
		c->hot[sw] += i < to->n_hot;
	}
	c->list = to->list;
	c->n = to->n;
	c->n_hot = to->n_hot;
}

static void add_demand(struct notes *x, switch_id from, switch_id to, double rate)
{
	if (from == to || rate <= 0)
		return;
	x->leaf[from].out += rate;
	x->leaf[to].in += rate;
	for (unsigned d = 0; x->is_grid && d < x->grid.n_dims; d++) {
		if (is_low(x, d, from) != is_low(x, d, to))
			*(is_low(x, d, from) ? &x->half[d].out : &x->half[d].in) += rate;
	}
}

/* A flow that draws each destination, itself excepted. */
static void add_drawn(struct notes *x, const struct sim_destinations *to, switch_id from,
		      double rate)
{
	bool is_hot = to->self < to->n_hot, is_listed = to->self < to->n;
	uint32_t hot = to->n_hot - is_hot, all = to->n - is_listed;
	double share = to->choice == SIM_TO_HOTSPOT && hot ? to->hot_share : 0;

	count_targets(x, to);
	for (switch_id sw = 0; sw < x->fabric->subnet.n_switches; sw++) {
		/* `self` is at the source's switch, where no link is counted. */
		double p = (1 - share) * x->counts.all[sw] / all;

		if (share > 0)
			p += share * x->counts.hot[sw] / hot;
		add_demand(x, from, sw, rate * p);
	}
}

static void add_flow(struct notes *x, const struct sim_flow *f)
{
	port_id source = source_port(x->fabric, f);
	switch_id from = subnet_switch_at(&x->fabric->subnet, source);
	double rate = rate_of(f);

	x->host[source] += rate;
	if (from == TOPO_NONE || x->fabric->subnet.n_subnets > 1)
		return;
	if (f->to.choice != SIM_TO_FIXED) {
		add_drawn(x, &f->to, from, rate);
		return;
	}
	switch_id to = target_switch(x, &f->to.list[0]);

	if (to != TOPO_NONE)
		add_demand(x, from, to, rate);
}

/* ---- the notes ----------------------------------------------------------- */

static bool exceeds(double offered, double carries)
{
	return offered > carries * (1 + ROUNDING);
}

/* Once per row: its flows are alike. */
static void note_rows(struct notes *x)
{
	const struct fabric *fabric = x->fabric;
	uint32_t said = TOPO_NONE;

	for (uint32_t i = 0; i < fabric->n_flows; i++) {
		const struct sim_flow *f = &fabric->flows[i];
		double carries = link_rate(fabric, source_port(fabric, f));

		if (!goes_on(f) || f->row == said || !exceeds(rate_of(f), carries))
			continue;
		said = f->row;
		strbuf_printf(
			x->out,
			"'%s' offers %.6g Gb/s per flow with headers, and its host's link carries %.6g Gb/s\n",
			fabric->scenario->traffic[f->row].name, rate_of(f) / 1e9, carries / 1e9);
	}
}

/* Hosts of which no flow alone is too much. */
static void note_hosts(struct notes *x)
{
	const struct topo *t = &x->fabric->topo;
	port_id worst = TOPO_NONE;
	double most = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->fabric->n_flows; i++) {
		const struct sim_flow *f = &x->fabric->flows[i];
		port_id p = source_port(x->fabric, f);

		if (goes_on(f) && exceeds(rate_of(f), link_rate(x->fabric, p)))
			x->host[p] = 0;
	}
	for (port_id p = 0; p < t->n_ports; p++) {
		double factor = x->host[p] > 0 ? x->host[p] / link_rate(x->fabric, p) : 0;

		n += exceeds(factor, 1);
		if (factor > most) {
			most = factor;
			worst = p;
		}
	}
	if (n)
		strbuf_printf(
			x->out,
			"the flows of host %s together offer %.6g Gb/s with headers, and its link carries %.6g Gb/s (such hosts: %u)\n",
			t->nodes[t->ports[worst].node].name, x->host[worst] / 1e9,
			link_rate(x->fabric, worst) / 1e9, n);
}

static double overload_of(const struct traffic_cut *c)
{
	return (c->out > c->in ? c->out : c->in) / c->carries;
}

static void note_leaves(struct notes *x)
{
	uint32_t n = 0;
	switch_id worst = 0;

	for (switch_id sw = 0; sw < x->fabric->subnet.n_switches; sw++) {
		if (x->leaf[sw].carries <= 0 || !exceeds(overload_of(&x->leaf[sw]), 1))
			continue;
		if (n == 0 || overload_of(&x->leaf[sw]) > overload_of(&x->leaf[worst]))
			worst = sw;
		n++;
	}
	if (n == 0)
		return;
	const struct traffic_cut *c = &x->leaf[worst];

	strbuf_printf(
		x->out,
		"%.6g Gb/s with headers are offered %s the hosts of switch %s, and its cables to other switches carry %.6g Gb/s (such switches: %u)\n",
		(c->out > c->in ? c->out : c->in) / 1e9, c->out > c->in ? "by" : "to",
		switch_node(&x->fabric->subnet, worst)->name, c->carries / 1e9, n);
}

static void note_halves(struct notes *x)
{
	for (unsigned d = 0; x->is_grid && d < x->grid.n_dims; d++) {
		const struct traffic_cut *c = &x->half[d];

		if (x->grid.size[d] > 1 && exceeds(overload_of(c), 1))
			strbuf_printf(
				x->out,
				"%.6g Gb/s with headers are offered from one half of dimension %u to the other, and the cables between them carry %.6g Gb/s\n",
				(c->out > c->in ? c->out : c->in) / 1e9, d + 1, c->carries / 1e9);
	}
}

/* ---- deadlock ------------------------------------------------------------ */

static bool can_deadlock(const struct subnet *s)
{
	struct deadlock_check c;

	route_check_deadlock(s, DEADLOCK_UNICAST, &c);
	bool found = c.cycle != NULL;

	route_deadlock_fini(&c);
	return found;
}

/* Whether an engine routes this fabric without cycles. */
static bool engine_is_safe(const struct fabric *fabric, const char *engine)
{
	const struct route_options plain = { .max_vls = 0 };
	struct lid_options lids = lid_options_for(&fabric->topo, 0);
	struct diag d = { .status = HD_OK };
	struct subnet s;

	subnet_init(&s, &fabric->topo);
	subnet_limit_vls(&s, scenario_vls(fabric->scenario));
	bool safe = subnet_assign_lids(&s, &lids, &d) == HD_OK &&
		    subnet_route(&s, engine, &plain, &d) == HD_OK && !can_deadlock(&s);

	subnet_fini(&s);
	return safe;
}

/* Engines with a fixed rule: those that search for layers take long. */
static void note_deadlock(struct notes *x)
{
	static const char *const engines[] = { "xy",    "dor",   "negative-first",
					       "ecube", "torus", "updn" };
	const char *own = x->fabric->subnet.engine;
	struct strbuf safe = STRBUF_INIT;

	if (!own || !x->is_grid || !can_deadlock(&x->fabric->subnet))
		return;
	for (size_t i = 0; i < sizeof(engines) / sizeof(*engines); i++) {
		if (strcmp(engines[i], own) != 0 && engine_is_safe(x->fabric, engines[i]))
			strbuf_printf(&safe, "%s%s", safe.len ? ", " : "", engines[i]);
	}
	strbuf_printf(
		x->out,
		"routes of '%s' on this grid can deadlock; those of %s cannot (fabric.routing)\n",
		own, safe.text);
	strbuf_fini(&safe);
}

/* ---- all of them --------------------------------------------------------- */

void fabric_print_notes(const struct fabric *fabric, struct strbuf *out)
{
	const struct subnet *s = &fabric->subnet;
	struct notes x = {
		.fabric = fabric,
		.out = out,
		.host = hd_alloc(fabric->topo.n_ports, sizeof(*x.host)),
		.leaf = hd_alloc(s->n_switches + 1, sizeof(*x.leaf)),
		.counts.all = hd_alloc(s->n_switches + 1, sizeof(*x.counts.all)),
		.counts.hot = hd_alloc(s->n_switches + 1, sizeof(*x.counts.hot)),
	};
	struct diag d = { .status = HD_OK };
	struct sw_graph graph;

	graph_init(&graph, s);
	/* Two switches are leaves, no grid. */
	x.is_grid = s->n_subnets == 1 && s->n_switches > 2 &&
		    grid_init(&x.grid, s, &graph, &d) == HD_OK;
	add_cables(&x);
	for (uint32_t i = 0; i < fabric->n_flows; i++) {
		if (goes_on(&fabric->flows[i]))
			add_flow(&x, &fabric->flows[i]);
	}
	note_rows(&x);
	note_hosts(&x);
	note_leaves(&x);
	note_halves(&x);
	note_deadlock(&x);
	grid_fini(&x.grid);
	graph_fini(&graph);
	free(x.counts.hot);
	free(x.counts.all);
	free(x.leaf);
	free(x.host);
}
