/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/inspect/show.h"

#include <inttypes.h>
#include <string.h>

#include "subnet/check.h"
#include "subnet/deadlock.h"
#include "subnet/route.h"
#include "topo/topo.h"

static const struct column engine_columns[] = {
	{ "engine", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "needs", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

void show_engines(struct results *r)
{
	struct table *t =
		results_table(r, "engines", "routing engines", engine_columns);

	for (unsigned i = 0; i < n_route_engines; i++) {
		table_put_text(t, route_engines[i].name);
		table_put_text(t, route_engines[i].needs);
	}
}

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
