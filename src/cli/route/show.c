/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/route/show.h"

#include <inttypes.h>
#include <string.h>

#include "subnet/check.h"
#include "subnet/deadlock.h"
#include "subnet/load.h"
#include "subnet/mcast.h"
#include "subnet/router.h"

static const struct column routes_columns[] = {
	{ "engine", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "VLs used", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "SL by path", NULL, VALUE_BOOL, ORIGIN_COMPUTED, 0 },
	{ "switches", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "subnets", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "LIDs", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "top LID", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

void show_routes(struct results *r, const struct subnet *s)
{
	struct table *t =
		results_record(r, "routes", "the subnet", routes_columns);
	uint64_t n_lids = 0;
	unsigned top = 0;

	for (port_id p = 0; p < s->topo->n_ports; p++) {
		if (s->lid_of_port[p])
			n_lids += UINT64_C(1) << s->lmc_of_port[p];
	}
	for (unsigned i = 0; i < s->n_subnets; i++)
		top = s->top_lid[i] > top ? s->top_lid[i] : top;
	table_put_text(t, s->engine);
	table_put_uint(t, s->vls_used);
	table_put_bool(t, s->sl_of_path != NULL);
	table_put_uint(t, s->n_switches);
	table_put_uint(t, s->n_subnets);
	table_put_uint(t, n_lids);
	table_put_uint(t, top);
	if (s->note[0])
		results_remark(r, "%s: %s", s->engine, s->note);
}

static const struct column check_columns[] = {
	{ "pairs", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "unreachable", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "in loops", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "not minimal", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "mean hops", NULL, VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "mean minimal hops", NULL, VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "most hops", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "pairs with switches", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "of these unreachable", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "table entries", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "faulty entries", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column hops_columns[] = {
	{ "hops", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "pairs", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static double ratio(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : 0;
}

static void remark_path(struct results *r, const struct subnet *s,
			const char *what, const struct path_place *place)
{
	struct strbuf path = STRBUF_INIT;

	check_print_path(s, place, &path);
	results_remark(r, "%s, to LID %u: %s", what, place->lid, path.text);
	strbuf_fini(&path);
}

/* What is at fault, what is only odd, and what may be the file's fault. */
static void remark_faults(struct results *r, const struct subnet *s,
			  const struct route_check *c)
{
	struct strbuf why = STRBUF_INIT;

	if (c->n_unreachable)
		remark_path(r, s, "the first fault", &c->fault_at);
	if (c->n_unreachable + c->n_switch_unreachable &&
	    check_suspect_dump(s, &why))
		results_remark(r, "%s", why.text);
	if (c->n_switch_unreachable)
		remark_path(r, s,
			    "management of some switches does not arrive; the"
			    " first",
			    &c->switch_fault_at);
	else if (c->n_faulty_entries && c->n_unreachable == 0)
		results_remark(r,
			       "%" PRIu64 " entries lead nowhere, but no end"
			       " port's packets meet them (as between two tops"
			       " of a tree)",
			       c->n_faulty_entries);
	if (c->n_not_minimal)
		remark_path(r, s, "the first detour", &c->detour_at);
	strbuf_fini(&why);
}

bool show_check(struct results *r, const struct subnet *s)
{
	struct route_check c;

	check_routes(s, &c);
	uint64_t arrived = c.n_pairs - c.n_unreachable;
	struct table *t = results_record(
		r, "check", "every end port to every other", check_columns);

	table_put_uint(t, c.n_pairs);
	table_put_uint(t, c.n_unreachable);
	table_put_uint(t, c.n_loops);
	table_put_uint(t, c.n_not_minimal);
	table_put_real(t, ratio(c.hops, arrived));
	table_put_real(t, ratio(c.minimal_hops, arrived));
	table_put_uint(t, c.max_hops);
	table_put_uint(t, c.n_switch_pairs);
	table_put_uint(t, c.n_switch_unreachable);
	table_put_uint(t, c.n_entries);
	table_put_uint(t, c.n_faulty_entries);
	t = results_table(r, "hops", "cables between switches on a path",
			  hops_columns);
	for (unsigned i = 0; i <= CHECK_MAX_HOPS; i++) {
		if (c.n_by_hops[i] == 0)
			continue;
		table_put_uint(t, i);
		table_put_uint(t, c.n_by_hops[i]);
	}
	remark_faults(r, s, &c);
	return check_is_clean(&c);
}

static const struct column deadlock_columns[] = {
	{ "free of deadlock", NULL, VALUE_BOOL, ORIGIN_COMPUTED, 0 },
	{ "channels", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "dependencies", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "VLs seen", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "cycle", "channels", VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column cycle_columns[] = {
	{ "node", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "port", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "VL", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "next node", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "next port", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static void put_set(struct table *t, uint16_t set)
{
	struct strbuf text = STRBUF_INIT;

	for (unsigned i = 0; i < 16; i++) {
		if (set >> i & 1)
			strbuf_printf(&text, "%s%u", text.len ? "," : "", i);
	}
	table_put_text(t, text.len ? text.text : "none");
	strbuf_fini(&text);
}

static void show_cycle(struct results *r, const struct subnet *s,
		       const struct deadlock_check *c)
{
	const struct topo *topo = s->topo;
	struct table *t = results_table(
		r, "cycle", "channels that may wait for each other for ever",
		cycle_columns);

	for (uint32_t i = 0; i < c->n_cycle; i++) {
		const struct topo_port *from = &topo->ports[c->cycle[i].from];
		const struct topo_port *to = &topo->ports[from->peer];

		table_put_text(t, topo->nodes[from->node].name);
		table_put_uint(t, from->number);
		table_put_uint(t, c->cycle[i].vl);
		table_put_text(t, topo->nodes[to->node].name);
		table_put_uint(t, to->number);
	}
}

bool show_deadlock(struct results *r, const struct subnet *s,
		   bool with_switches)
{
	struct deadlock_check c;

	check_deadlock(
		s, with_switches ? DEADLOCK_WITH_SWITCHES : DEADLOCK_PLAIN, &c);
	bool clean = c.n_cycle == 0 && c.n_dropped == 0;
	struct table *t = results_record(r, "deadlock",
					 "dependencies between channels, by VL",
					 deadlock_columns);

	table_put_bool(t, c.n_cycle == 0);
	table_put_uint(t, c.size.n_channels);
	table_put_uint(t, c.size.n_dependencies);
	put_set(t, c.size.vls);
	table_put_uint(t, c.n_cycle);
	if (c.n_cycle)
		show_cycle(r, s, &c);
	if (c.n_cycle && !s->sl_of_path && strcmp(s->engine, "file") == 0)
		results_remark(r,
			       "every SL was tried on every path: if a manager"
			       " keeps paths apart by their SL (LASH, DFSSSP,"
			       " torus-2QoS), --path-sls tells them");
	if (c.n_dropped)
		results_remark(
			r,
			"packets with SL %u are lost at '%s' port %u: the SL2VL"
			" table sends them to a lane that the link does not"
			" have",
			c.dropped_sl, topo_node_of(s->topo, c.dropped_at)->name,
			s->topo->ports[c.dropped_at].number);
	deadlock_check_fini(&c);
	return clean;
}

static const struct column group_columns[] = {
	{ "MLID", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "MGID", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "tree", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "source", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "root", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "members", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column mcast_columns[] = {
	{ "deliveries", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "missing", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "duplicates", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "strays", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "loops", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "copies on cables", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "most hops", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "MLIDs left", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "MFT entries", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "MFT size", "KiB", VALUE_REAL, ORIGIN_COMPUTED, 1 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static void list_groups(struct results *r, const struct subnet *s)
{
	const struct topo *topo = s->topo;
	struct table *t =
		results_table(r, "groups", "multicast groups", group_columns);

	for (uint32_t i = 0; i < s->n_groups; i++) {
		const struct mcast_group *m = &s->groups[i];

		table_put_textf(t, "0x%04x", m->mlid);
		table_put_textf(
			t, "%x:%x:%x::%x", (unsigned)(MCAST_MGID_PREFIX >> 48),
			(unsigned)(MCAST_MGID_PREFIX >> 32 & 0xffff),
			(unsigned)(MCAST_MGID_PREFIX >> 16 & 0xffff), m->mlid);
		table_put_text(t, mcast_method_names[m->method]);
		if (m->source == TOPO_NONE && m->n_senders)
			table_put_textf(t, "any member, %u more", m->n_senders);
		else if (m->source == TOPO_NONE)
			table_put_text(t, "any member");
		else
			table_put_text(t, topo_node_of(topo, m->source)->name);
		if (m->root == TOPO_NONE)
			table_put_none(t);
		else
			table_put_text(
				t,
				topo->nodes[s->node_of_switch[m->root]].name);
		table_put_uint(t, m->n_members);
	}
}

/* Rows with a port in them, and what the tables take in memory. */
static void put_table_size(struct table *t, const struct subnet *s)
{
	uint64_t entries = 0, words = 0;

	for (unsigned i = 0; i < s->n_subnets; i++) {
		const struct mft *m = &s->mft[i];
		size_t rows = (size_t)m->n_mlids * s->n_switches;

		words += rows * m->words;
		for (size_t row = 0; row < rows; row++) {
			bool any = false;

			for (uint32_t w = 0; w < m->words; w++)
				any |= m->ports[row * m->words + w] != 0;
			entries += any;
		}
	}
	table_put_uint(t, entries);
	table_put_real(t, (double)words * sizeof(uint64_t) / 1024);
}

static const struct column choice_columns[] = {
	{ "trees", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "MLIDs", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "busiest cable", "messages", VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "which", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "all cables", "messages", VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "cycle", "channels", VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static void put_peak(struct table *t, const struct subnet *s,
		     const struct mcast_peak *peak)
{
	const struct topo *topo = s->topo;
	port_id p = peak->link_at;

	table_put_uint(t, peak->link);
	if (p == TOPO_NONE)
		table_put_none(t);
	else
		table_put_textf(t, "%s[%u]", topo_node_of(topo, p)->name,
				topo->ports[p].number);
	table_put_uint(t, peak->total);
}

void show_choice(struct results *r, const struct subnet *s,
		 const struct mcast_choice *c)
{
	struct table *t = results_table(
		r, "choice", "one message of every sender, by these trees",
		choice_columns);
	uint32_t n[N_MCAST_METHODS] = { 0 };

	for (uint32_t i = 0; i < c->n; i++)
		n[c->methods[i]]++;
	table_put_textf(t, "chosen: %u shared, %u union, %u shortest",
			n[MCAST_SHARED], n[MCAST_UNION], n[MCAST_SHORTEST]);
	table_put_uint(t, c->n_mlids);
	put_peak(t, s, &c->chosen);
	table_put_uint(t, c->chosen_cycle);
	if (!c->shared_fits)
		return;
	table_put_text(t, "all shared, as OpenSM's");
	table_put_uint(t, c->n);
	put_peak(t, s, &c->shared);
	table_put_uint(t, c->shared_cycle);
	if (c->chosen.link < c->shared.link)
		results_remark(r,
			       "the choice takes %.0f %% off the busiest cable",
			       100.0 - 100.0 * (double)c->chosen.link /
					       (double)c->shared.link);
	else if (c->chosen.link > c->shared.link)
		results_remark(r,
			       "shared trees would load less, but close a "
			       "circle of %u channels",
			       c->shared_cycle);
}

bool show_groups(struct results *r, const struct subnet *s)
{
	struct mcast_check c;

	list_groups(r, s);
	check_mcast(s, &c);
	struct table *t = results_record(
		r, "multicast", "one packet from every sender", mcast_columns);

	table_put_uint(t, c.n_expected);
	table_put_uint(t, c.n_missing);
	table_put_uint(t, c.n_duplicates);
	table_put_uint(t, c.n_strays);
	table_put_uint(t, c.n_loops);
	table_put_uint(t, c.n_cables);
	table_put_uint(t, c.max_hops);
	table_put_uint(t, mcast_mlids_left(s, 0));
	put_table_size(t, s);
	if (!mcast_check_is_clean(&c))
		results_remark(
			r,
			"the first fault is of MLID 0x%04x, sent by '%s': "
			"'%s' receives %llu copies",
			s->groups[c.fault_group].mlid,
			topo_node_of(s->topo, c.fault_sender)->name,
			c.fault_receiver == TOPO_NONE
				? "nobody"
				: topo_node_of(s->topo, c.fault_receiver)->name,
			(unsigned long long)c.fault_copies);
	return mcast_check_is_clean(&c);
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
