/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/inspect/show.h"

#include <inttypes.h>

#include "subnet/load.h"
#include "subnet/router.h"
#include "topo/topo.h"

static double ratio(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : 0;
}

static const struct column spread_columns[] = {
	{ "flows", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "channels", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "idle channels", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "mean per channel", "flows", VALUE_REAL, ORIGIN_COMPUTED, 2 },
	{ "most per channel", "flows", VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "at node", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "at port", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column share_columns[] = {
	{ "pattern", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "patterns", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "mean share", "%", VALUE_REAL, ORIGIN_COMPUTED, 2 },
	{ "interval 95 %", "%", VALUE_REAL, ORIGIN_COMPUTED, 2 },
	{ "worst pattern", "%", VALUE_REAL, ORIGIN_COMPUTED, 2 },
	{ "worst flow", "%", VALUE_REAL, ORIGIN_COMPUTED, 2 },
	{ "mean of most per channel", "flows", VALUE_REAL, ORIGIN_COMPUTED, 2 },
	{ "most per channel", "flows", VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static void show_spread(struct results *r, const struct subnet *s)
{
	struct load_spread l;

	load_all_to_all(s, &l);
	struct table *t = results_record(
		r, "all-to-all",
		"flows on channels between switches, every pair sending",
		spread_columns);

	table_put_uint(t, l.n_flows);
	table_put_uint(t, l.n_channels);
	table_put_uint(t, l.n_idle);
	table_put_real(t, ratio(l.total, l.n_channels));
	table_put_uint(t, l.max);
	if (l.max_at == TOPO_NONE) {
		table_put_none(t);
		table_put_none(t);
		return;
	}
	table_put_text(t, topo_node_of(s->topo, l.max_at)->name);
	table_put_uint(t, s->topo->ports[l.max_at].number);
}

void show_load(struct results *r, const struct subnet *s, unsigned n_patterns,
	       uint64_t seed)
{
	static const struct {
		enum load_pattern pattern;
		const char *name;
	} patterns[] = {
		{ LOAD_BISECTION, "random bisection" },
		{ LOAD_PERMUTATION, "random permutation" },
		{ LOAD_SHIFT, "shift" },
	};

	show_spread(r, s);
	struct table *t = results_table(
		r, "shares",
		"what flows get of their link; the mean share of random"
		" bisections is the effective bisection bandwidth",
		share_columns);

	for (size_t i = 0; i < 3; i++) {
		struct load_shares l;

		load_patterns(s, patterns[i].pattern, n_patterns, seed, &l);
		table_put_text(t, patterns[i].name);
		table_put_uint(t, l.n_patterns);
		table_put_real(t, 100 * l.mean_share);
		table_put_real(t, 100 * l.half_width);
		table_put_real(t, 100 * l.worst_mean);
		table_put_real(t, 100 * l.least_share);
		table_put_real(t, l.mean_max);
		table_put_uint(t, l.worst);
	}
}

static const struct column router_columns[] = {
	{ "from prefix", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "to prefix", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "routers on the way", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "router", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "port", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "DLID", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static void put_choices(struct table *t, const struct subnet *s, unsigned from,
			unsigned to)
{
	const struct router_hop *h = &s->router_hops[from * s->n_subnets + to];

	for (uint32_t i = 0; i < h->n; i++) {
		port_id p = s->router_choices[h->first + i];

		table_put_textf(t, "0x%016" PRIx64, s->prefix[from]);
		table_put_textf(t, "0x%016" PRIx64, s->prefix[to]);
		table_put_uint(t, h->n_hops);
		table_put_text(t, topo_node_of(s->topo, p)->name);
		table_put_uint(t, s->topo->ports[p].number);
		table_put_uint(t, s->lid_of_port[p]);
	}
}

void show_routers(struct results *r, const struct subnet *s)
{
	struct table *t = results_table(
		r, "routers",
		"the router to address for a packet to another prefix",
		router_columns);

	for (unsigned from = 0; from < s->n_subnets; from++) {
		for (unsigned to = 0; to < s->n_subnets; to++)
			put_choices(t, s, from, to);
	}
}

static const struct column path_columns[] = {
	{ "node", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "in", "port", VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "out", "port", VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "DLID", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "VL", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

/* A packet on its way. */
struct walker {
	const struct subnet *s;
	struct table *t;
	port_id at; /* the port it came in by */
	port_id to;
	lid_t dlid;
	uint8_t sl;
};

static void put_step(struct walker *w, const char *name, unsigned in,
		     unsigned out, unsigned vl)
{
	table_put_text(w->t, name);
	if (in)
		table_put_uint(w->t, in);
	else
		table_put_none(w->t);
	table_put_uint(w->t, out);
	table_put_uint(w->t, w->dlid);
	table_put_uint(w->t, vl);
}

/* One node further; false if the packet has arrived or is lost. */
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
		    !router_forward(w->s, in->node, w->to, &out, &w->dlid))
			return false;
		w->sl = path_sl(w->s, out, w->dlid, w->sl);
		put_step(w, v->name, in->number, t->ports[out].number,
			 sl2vl_of(w->s, out)->vl[w->sl]);
	}
	w->at = t->ports[out].peer;
	return w->at != TOPO_NONE;
}

void show_path(struct results *r, const struct subnet *s, port_id from,
	       port_id to)
{
	const struct topo *t = s->topo;
	struct walker w = { .s = s, .at = from, .to = to };
	unsigned steps = 0;

	w.dlid = route_dlid(s, from, to);
	w.sl = path_sl(s, from, w.dlid, 0);
	w.t = results_table(r, "path", "the way of a packet, node by node",
			    path_columns);
	if (t->ports[from].number > 0) {
		put_step(&w, topo_node_of(t, from)->name, 0,
			 t->ports[from].number, sl2vl_of(s, from)->vl[w.sl]);
		w.at = t->ports[from].peer;
	}
	while (steps++ <= t->n_nodes && step(&w))
		;
	results_remark(r, "the SL of the path is %u%s", w.sl,
		       s->sl_of_path ? "" : " (the engine leaves it open)");
	if (w.at != to && t->ports[to].number > 0)
		results_remark(r, "the packet does not arrive");
}
