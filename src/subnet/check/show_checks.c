/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/check/show.h"

#include <inttypes.h>
#include <string.h>

#include "subnet/routing/adaptive.h"
#include "subnet/routing/check.h"
#include "subnet/routing/deadlock.h"
#include "subnet/routing/route.h"
#include "topo/topo.h"

static const struct column engine_columns[] = {
	{ "engine", NULL, CELL(route_engine, name) },
	{ "needs", NULL, CELL(route_engine, needs) },
	{ NULL },
};

void check_show_engines(struct results *r)
{
	struct table *t = results_table(r, "engines", "routing engines", engine_columns);

	for (unsigned i = 0; i < route_n_engines; i++)
		table_put_row(t, route_engines[i]);
}

struct routes_row {
	const char *engine;
	unsigned vls_used, switches, subnets, top_lid;
	bool sl_by_path;
	uint64_t lids;
};
static const struct column routes_columns[] = {
	{ "engine", NULL, CELL(routes_row, engine) },
	{ "VLs used", NULL, CELL(routes_row, vls_used), ORIGIN_COMPUTED },
	{ "SL by path", NULL, CELL(routes_row, sl_by_path), ORIGIN_COMPUTED },
	{ "switches", NULL, CELL(routes_row, switches) },
	{ "subnets", NULL, CELL(routes_row, subnets) },
	{ "LIDs", NULL, CELL(routes_row, lids), ORIGIN_COMPUTED },
	{ "top LID", NULL, CELL(routes_row, top_lid), ORIGIN_COMPUTED },
	{ NULL },
};

void check_show_routes(struct results *r, const struct subnet *s)
{
	struct table *t = results_record(r, "routes", "the subnet", routes_columns);
	struct routes_row row = {
		.engine = s->engine,
		.vls_used = s->vls_used,
		.sl_by_path = s->sl_of_path != NULL,
		.switches = s->n_switches,
		.subnets = s->n_subnets,
	};

	for (port_id p = 0; p < s->topo->n_ports; p++) {
		if (s->lid_of_port[p])
			row.lids += UINT64_C(1) << s->lmc_of_port[p];
	}
	for (unsigned i = 0; i < s->n_subnets; i++) {
		if (s->top_lid[i] > row.top_lid)
			row.top_lid = s->top_lid[i];
	}
	table_put_row(t, &row);
	if (s->note[0])
		results_remark(r, "%s: %s", s->engine, s->note);
}

struct choice_row {
	struct adaptive_size size;
	double ports, around_ports; /* mean per switch */
};
static const struct column choice_columns[] = {
	{ "ways", NULL, CELL(choice_row, size.n_pairs), ORIGIN_COMPUTED },
	{ "with a choice", NULL, CELL(choice_row, size.n_choices), ORIGIN_COMPUTED },
	{ "mean ports", NULL, CELL(choice_row, ports), ORIGIN_COMPUTED, 2 },
	{ "most ports", NULL, CELL(choice_row, size.most_ports), ORIGIN_COMPUTED },
	{ "most groups", NULL, CELL(choice_row, size.most_groups), ORIGIN_COMPUTED },
	{ "most hops", NULL, CELL(choice_row, size.most_hops), ORIGIN_COMPUTED },
	{ NULL },
};

/* Nonminimal paths, if they are permitted. */
static const struct column around_columns[] = {
	{ "ways with others around", NULL, CELL(choice_row, size.n_around), ORIGIN_COMPUTED },
	{ "mean ports", NULL, CELL(choice_row, around_ports), ORIGIN_COMPUTED, 2 },
	{ NULL },
};

struct checked {
	struct route_check c;
	double hops, minimal; /* mean over pairs */
};
static const struct column check_columns[] = {
	{ "pairs", NULL, CELL(checked, c.n_pairs), ORIGIN_COMPUTED },
	{ "unreachable", NULL, CELL(checked, c.n_unreachable), ORIGIN_COMPUTED },
	{ "in loops", NULL, CELL(checked, c.n_loops), ORIGIN_COMPUTED },
	{ "not minimal", NULL, CELL(checked, c.n_not_minimal), ORIGIN_COMPUTED },
	{ "mean hops", NULL, CELL(checked, hops), ORIGIN_COMPUTED, 3 },
	{ "mean minimal hops", NULL, CELL(checked, minimal), ORIGIN_COMPUTED, 3 },
	{ "most hops", NULL, CELL(checked, c.max_hops), ORIGIN_COMPUTED },
	{ "pairs with switches", NULL, CELL(checked, c.n_switch_pairs), ORIGIN_COMPUTED },
	{ "of these unreachable", NULL, CELL(checked, c.n_switch_unreachable), ORIGIN_COMPUTED },
	{ "table entries", NULL, CELL(checked, c.n_entries), ORIGIN_COMPUTED },
	{ "faulty entries", NULL, CELL(checked, c.n_faulty_entries), ORIGIN_COMPUTED },
	{ NULL },
};

struct hops_row {
	unsigned hops;
	uint64_t pairs;
};
static const struct column hops_columns[] = {
	{ "hops", NULL, CELL(hops_row, hops), ORIGIN_COMPUTED },
	{ "pairs", NULL, CELL(hops_row, pairs), ORIGIN_COMPUTED },
	{ NULL },
};

static double ratio(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : 0;
}

static void remark_path(struct results *r, const struct subnet *s, const char *what,
			const struct path_place *place)
{
	struct strbuf path = STRBUF_INIT;

	route_print_path(s, place, &path);
	results_remark(r, "%s, to LID %u: %s", what, place->lid, path.text);
	strbuf_fini(&path);
}

/* Remarks on faults, oddities, and probable defects of the file. */
static void remark_faults(struct results *r, const struct subnet *s, const struct route_check *c)
{
	struct strbuf why = STRBUF_INIT;

	if (c->n_unreachable)
		remark_path(r, s, "the first fault", &c->fault_at);
	if (c->n_unreachable + c->n_switch_unreachable && route_suspect_dump(s, &why))
		results_remark(r, "%s", why.text);
	if (c->n_switch_unreachable)
		remark_path(r, s, "management of some switches does not arrive; the first",
			    &c->switch_fault_at);
	else if (c->n_faulty_entries && c->n_unreachable == 0)
		results_remark(
			r,
			"%" PRIu64
			" entries lead nowhere, but no end port's packets meet them (as between two tops of a tree)",
			c->n_faulty_entries);
	if (c->n_not_minimal)
		remark_path(r, s, "the first detour", &c->detour_at);
	strbuf_fini(&why);
}

void check_show_choices(struct results *r, const struct subnet *s)
{
	struct table *t = results_record(
		r, "adaptive", "ports that switches choose from, by the switch of the destination",
		choice_columns);
	struct choice_row row;

	adaptive_measure(s, &row.size);
	row.ports = ratio(row.size.n_ports, row.size.n_pairs);
	row.around_ports = ratio(row.size.n_around_ports, row.size.n_around);
	table_put_row(t, &row);
	if (!s->adaptive->detours)
		return;
	t = results_record(r, "around", "further ports that lead through a third group",
			   around_columns);
	table_put_row(t, &row);
}

bool check_show_check(struct results *r, const struct subnet *s)
{
	struct table *t =
		results_record(r, "check", "every end port to every other", check_columns);
	struct checked row;
	const struct route_check *c = &row.c;

	route_check(s, &row.c);
	row.hops = ratio(c->hops, c->n_pairs - c->n_unreachable);
	row.minimal = ratio(c->minimal_hops, c->n_pairs - c->n_unreachable);
	table_put_row(t, &row);
	t = results_table(r, "hops", "cables between switches on a path", hops_columns);
	for (unsigned i = 0; i <= CHECK_MAX_HOPS; i++) {
		if (c->n_by_hops[i])
			table_put_row(t, &(struct hops_row){ i, c->n_by_hops[i] });
	}
	remark_faults(r, s, c);
	return route_check_is_clean(c);
}

struct lockup {
	bool is_free;
	uint64_t channels, dependencies;
	const char *vls;
	uint32_t cycle;
};
static const struct column deadlock_columns[] = {
	{ "free of deadlock", NULL, CELL(lockup, is_free), ORIGIN_COMPUTED },
	{ "channels", NULL, CELL(lockup, channels), ORIGIN_COMPUTED },
	{ "dependencies", NULL, CELL(lockup, dependencies), ORIGIN_COMPUTED },
	{ "VLs seen", NULL, CELL(lockup, vls), ORIGIN_COMPUTED },
	{ "cycle", "channels", CELL(lockup, cycle), ORIGIN_COMPUTED },
	{ NULL },
};

struct cycle_row {
	const char *node, *next_node;
	unsigned port, vl, next_port;
};
static const struct column cycle_columns[] = {
	{ "node", NULL, CELL(cycle_row, node), ORIGIN_COMPUTED },
	{ "port", NULL, CELL(cycle_row, port), ORIGIN_COMPUTED },
	{ "VL", NULL, CELL(cycle_row, vl), ORIGIN_COMPUTED },
	{ "next node", NULL, CELL(cycle_row, next_node), ORIGIN_COMPUTED },
	{ "next port", NULL, CELL(cycle_row, next_port), ORIGIN_COMPUTED },
	{ NULL },
};

static const char *set_text(struct table *t, uint16_t set)
{
	struct strbuf text = STRBUF_INIT;

	for (unsigned i = 0; i < 16; i++) {
		if (set >> i & 1)
			strbuf_printf(&text, "%s%u", text.len ? "," : "", i);
	}
	return text.len ? table_take(t, &text) : "none";
}

static void show_cycle(struct results *r, const struct subnet *s, const struct deadlock_check *c)
{
	const struct topo *topo = s->topo;
	struct table *t = results_table(
		r, "cycle", "channels that may wait for each other for ever", cycle_columns);

	for (uint32_t i = 0; i < c->n_cycle; i++) {
		const struct topo_port *from = &topo->ports[c->cycle[i].from];
		const struct topo_port *to = &topo->ports[from->peer];

		table_put_row(t, &(struct cycle_row){ .node = topo->nodes[from->node].name,
						      .port = from->number,
						      .vl = c->cycle[i].vl,
						      .next_node = topo->nodes[to->node].name,
						      .next_port = to->number });
	}
}

bool check_show_deadlock(struct results *r, const struct subnet *s, bool with_switches)
{
	struct deadlock_check c;

	route_check_deadlock(s, with_switches ? DEADLOCK_WITH_SWITCHES : DEADLOCK_PLAIN, &c);
	bool clean = c.n_cycle == 0 && c.n_dropped == 0;
	struct table *t = results_record(r, "deadlock", "dependencies between channels, by VL",
					 deadlock_columns);

	table_put_row(t, &(struct lockup){ .is_free = c.n_cycle == 0,
					   .channels = c.size.n_channels,
					   .dependencies = c.size.n_dependencies,
					   .vls = set_text(t, c.size.vls),
					   .cycle = c.n_cycle });
	if (c.n_cycle)
		show_cycle(r, s, &c);
	if (c.n_cycle && !s->sl_of_path && strcmp(s->engine, "file") == 0)
		results_remark(
			r,
			"every SL was tried on every path: if a manager keeps paths apart by their SL (LASH, DFSSSP, torus-2QoS), --path-sls tells them");
	if (c.n_dropped)
		results_remark(
			r,
			"packets with SL %u are lost at '%s' port %u: the SL2VL table sends them to a VL that the link does not have",
			c.dropped_sl, topo_node_of(s->topo, c.dropped_at)->name,
			s->topo->ports[c.dropped_at].number);
	route_deadlock_fini(&c);
	return clean;
}
