/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/check/show.h"

#include <inttypes.h>
#include <stdlib.h>

#include "subnet/routing/load.h"
#include "subnet/routing/router.h"
#include "topo/topo.h"

#define BUSIEST 10 /* number of channels without --all */

static double ratio(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : 0;
}

struct spread {
	struct load_spread l;
	double mean;
	const char *node;
	unsigned port; /* 0: no channel */
};
static const struct column spread_columns[] = {
	{ "flows", NULL, CELL(spread, l.n_flows), ORIGIN_COMPUTED },
	{ "channels", NULL, CELL(spread, l.n_channels) },
	{ "idle channels", NULL, CELL(spread, l.n_idle), ORIGIN_COMPUTED },
	{ "mean per channel", "flows", CELL(spread, mean), ORIGIN_COMPUTED, 2 },
	{ "most per channel", "flows", CELL(spread, l.max), ORIGIN_COMPUTED },
	{ "at node", NULL, CELL(spread, node), ORIGIN_COMPUTED },
	{ "at port", NULL, CELL_UNLESS(spread, port, 0), ORIGIN_COMPUTED },
	{ NULL },
};

struct load_share_row {
	const char *pattern;
	struct load_shares l;
};
static const struct column share_columns[] = {
	{ "pattern", NULL, CELL(load_share_row, pattern) },
	{ "patterns", NULL, CELL(load_share_row, l.n_patterns) },
	{ "mean share", "%", CELL_SHARE(load_share_row, l.mean_share), ORIGIN_COMPUTED, 2 },
	{ "interval 95 %", "%", CELL_SHARE(load_share_row, l.half_width), ORIGIN_COMPUTED, 2 },
	{ "worst pattern", "%", CELL_SHARE(load_share_row, l.worst_mean), ORIGIN_COMPUTED, 2 },
	{ "worst flow", "%", CELL_SHARE(load_share_row, l.least_share), ORIGIN_COMPUTED, 2 },
	{ "mean of most per channel", "flows", CELL(load_share_row, l.mean_max), ORIGIN_COMPUTED,
	  2 },
	{ "most per channel", "flows", CELL(load_share_row, l.worst), ORIGIN_COMPUTED },
	{ NULL },
};

static void show_spread(struct results *r, const struct subnet *s)
{
	struct table *t = results_record(r, "all-to-all",
					 "flows on channels between switches, every pair sending",
					 spread_columns);
	struct spread row = { .port = 0 };
	const struct load_spread *l = &row.l;

	load_all_to_all(s, &row.l);
	row.mean = ratio(l->total, l->n_channels);
	if (l->max_at != TOPO_NONE) {
		row.node = topo_node_of(s->topo, l->max_at)->name;
		row.port = s->topo->ports[l->max_at].number;
	}
	table_put_row(t, &row);
}

#define NO_TRAFFIC UINT64_MAX

struct channel_row {
	const char *node, *to;
	unsigned port;
	uint64_t flows, shifts, traffic;
	double of_mean;
};
static const struct column channel_columns[] = {
	{ "node", NULL, CELL(channel_row, node) },
	{ "port", NULL, CELL(channel_row, port) },
	{ "to", NULL, CELL(channel_row, to) },
	{ "flows", NULL, CELL(channel_row, flows), ORIGIN_COMPUTED },
	{ "of the mean", "%", CELL_SHARE(channel_row, of_mean), ORIGIN_COMPUTED, 2 },
	{ "most of a shift", "flows", CELL(channel_row, shifts), ORIGIN_COMPUTED },
	{ "of the traffic", "flows", CELL_UNLESS(channel_row, traffic, NO_TRAFFIC),
	  ORIGIN_COMPUTED },
	{ NULL },
};

static void show_channels(struct results *r, const struct subnet *s, const struct load_map *m,
			  bool all)
{
	struct table *t = results_table(
		r, "channel loads",
		all ? "flows on each channel between switches: every pair sending, the most of any shift, and of the traffic"
		    : "channels between switches with the most flows: every pair sending, the most of any shift, and of the traffic; --all shows all",
		channel_columns);
	uint32_t n;
	uint64_t total = 0;
	port_id *order = load_order(m, s, &n);

	for (uint32_t i = 0; i < n; i++)
		total += m->all_pairs[order[i]];
	for (uint32_t i = 0; i < n && (all || i < BUSIEST); i++) {
		const struct topo_port *port = &s->topo->ports[order[i]];
		const uint64_t flows = m->all_pairs[order[i]];
		const struct channel_row row = {
			.node = topo_node_of(s->topo, order[i])->name,
			.port = port->number,
			.to = topo_node_of(s->topo, port->peer)->name,
			.flows = flows,
			.of_mean = ratio(flows * n, total),
			.shifts = m->shifts[order[i]],
			.traffic = m->traffic ? m->traffic[order[i]] : NO_TRAFFIC,
		};

		table_put_row(t, &row);
	}
	free(order);
}

static void show_shares(struct results *r, const struct subnet *s, const struct load_map *m,
			unsigned n_patterns, uint64_t seed)
{
	struct table *t = results_table(
		r, "shares",
		"what flows get of their link; the mean share of random bisections is the effective bisection bandwidth",
		share_columns);
	struct load_share_row bisections = { .pattern = "random bisection" };
	struct load_share_row permutations = { .pattern = "random permutation" };

	load_patterns(s, LOAD_BISECTION, n_patterns, seed, &bisections.l);
	load_patterns(s, LOAD_PERMUTATION, n_patterns, seed, &permutations.l);
	table_put_row(t, &bisections);
	table_put_row(t, &permutations);
	table_put_row(t, &(struct load_share_row){ "shift", m->of_shifts });
	if (m->traffic)
		table_put_row(t, &(struct load_share_row){ "traffic", m->of_traffic });
}

void check_show_load(struct results *r, const struct subnet *s, unsigned n_patterns, uint64_t seed,
		     const struct load_traffic *traffic, bool all)
{
	struct load_map m;

	show_spread(r, s);
	load_map_init(&m, s, n_patterns, traffic);
	show_channels(r, s, &m, all);
	show_shares(r, s, &m, n_patterns, seed);
	if (traffic->n_left)
		results_remark(
			r,
			"%zu flows of the traffic go to no single end port of their subnet and are not counted",
			traffic->n_left);
	load_map_fini(&m);
}

struct router_row {
	const char *from, *to, *router;
	uint32_t hops;
	unsigned port, dlid;
};
static const struct column router_columns[] = {
	{ "from prefix", NULL, CELL(router_row, from), ORIGIN_COMPUTED },
	{ "to prefix", NULL, CELL(router_row, to), ORIGIN_COMPUTED },
	{ "routers on the way", NULL, CELL(router_row, hops), ORIGIN_COMPUTED },
	{ "router", NULL, CELL(router_row, router), ORIGIN_COMPUTED },
	{ "port", NULL, CELL(router_row, port), ORIGIN_COMPUTED },
	{ "DLID", NULL, CELL(router_row, dlid), ORIGIN_COMPUTED },
	{ NULL },
};

static const char *prefix_text(struct table *t, uint64_t prefix)
{
	return table_text(t, "0x%016" PRIx64, prefix);
}

static void put_choices(struct table *t, const struct subnet *s, unsigned from, unsigned to)
{
	const struct router_hop *h = &s->router_hops[from * s->n_subnets + to];

	for (uint32_t i = 0; i < h->n; i++) {
		port_id p = s->router_choices[h->first + i];

		table_put_row(t, &(struct router_row){ .from = prefix_text(t, s->prefix[from]),
						       .to = prefix_text(t, s->prefix[to]),
						       .router = topo_node_of(s->topo, p)->name,
						       .hops = h->n_hops,
						       .port = s->topo->ports[p].number,
						       .dlid = s->lid_of_port[p] });
	}
}

void check_show_routers(struct results *r, const struct subnet *s)
{
	struct table *t =
		results_table(r, "routers", "the router to address for a packet to another prefix",
			      router_columns);

	for (unsigned from = 0; from < s->n_subnets; from++) {
		for (unsigned to = 0; to < s->n_subnets; to++)
			put_choices(t, s, from, to);
	}
}

struct route_path_row {
	const char *node;
	unsigned in, out, dlid, vl;
};
static const struct column path_columns[] = {
	{ "node", NULL, CELL(route_path_row, node), ORIGIN_COMPUTED },
	{ "in", "port", CELL_UNLESS(route_path_row, in, 0), ORIGIN_COMPUTED },
	{ "out", "port", CELL(route_path_row, out), ORIGIN_COMPUTED },
	{ "DLID", NULL, CELL(route_path_row, dlid), ORIGIN_COMPUTED },
	{ "VL", NULL, CELL(route_path_row, vl), ORIGIN_COMPUTED },
	{ NULL },
};

/* A packet on its way. */
struct walker {
	const struct subnet *s;
	struct table *t;
	port_id at; /* input port at the node */
	port_id to;
	lid_t dlid;
	uint8_t sl;
};

static void put_step(struct walker *w, const char *name, unsigned in, unsigned out, unsigned vl)
{
	table_put_row(w->t, &(struct route_path_row){ name, in, out, w->dlid, vl });
}

/* Advances one node; false: the packet has arrived or is lost. */
static bool step(struct walker *w)
{
	const struct topo *t = w->s->topo;
	const struct topo_port *in = &t->ports[w->at];
	const struct topo_node *v = &t->nodes[in->node];
	port_id out;

	if (w->at == w->to)
		return false;
	if (v->kind == NODE_SWITCH) {
		switch_id sw = w->s->switch_of_node[in->node];
		uint8_t number = lft_get(w->s, sw, w->dlid);

		if (number > v->n_ports)
			return false;
		out = v->first_port + number;
		put_step(w, v->name, in->number, number,
			 sl2vl_at(w->s, sw, in->number, number)->vl[w->sl]);
		if (number == 0)
			return false;
	} else {
		if (v->kind != NODE_ROUTER ||
		    !subnet_router_forward(w->s, in->node, w->to, &out, &w->dlid))
			return false;
		w->sl = path_sl(w->s, out, w->dlid, w->sl);
		put_step(w, v->name, in->number, t->ports[out].number,
			 sl2vl_of(w->s, out)->vl[w->sl]);
	}
	w->at = t->ports[out].peer;
	return w->at != TOPO_NONE;
}

void check_show_path(struct results *r, const struct subnet *s, port_id from, port_id to)
{
	const struct topo *t = s->topo;
	struct walker w = { .s = s, .at = from, .to = to };
	unsigned steps = 0;

	w.dlid = route_dlid(s, from, to);
	w.sl = path_sl(s, from, w.dlid, 0);
	w.t = results_table(r, "path", "the way of a packet, node by node", path_columns);
	if (t->ports[from].number > 0) {
		put_step(&w, topo_node_of(t, from)->name, 0, t->ports[from].number,
			 sl2vl_of(s, from)->vl[w.sl]);
		w.at = t->ports[from].peer;
	}
	while (steps++ <= t->n_nodes && step(&w))
		;
	results_remark(r, "the SL of the path is %u%s", w.sl,
		       s->sl_of_path ? "" : " (the engine leaves it open)");
	if (w.at != to && t->ports[to].number > 0)
		results_remark(r, "the packet does not arrive");
}
