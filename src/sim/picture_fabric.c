/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "scenario/words.h"
#include "sim/picture.h"
#include "sim/tables_parts.h"
#include "topo/layout.h"

#define MAX_MAPPINGS 50000 /* rows of lane mappings */
#define MAX_PATHS    240   /* flows whose way is shown */
#define ANY          "any"

/* ---- where things are --------------------------------------------------- */

struct layout_row {
	const char *kind;
	bool wraps;
	const char *routing;
};

static const struct column layout_columns[] = {
	{ "kind", NULL, CELL(layout_row, kind), ORIGIN_COMPUTED },
	{ "wraps", NULL, CELL(layout_row, wraps), ORIGIN_COMPUTED },
	{ "routing", NULL, CELL(layout_row, routing) },
	{ NULL },
};

struct node_row {
	uint64_t node;
	const char *name, *kind;
	uint64_t tier, lid;
	double x, y;
};

static const struct column node_columns[] = {
	{ "node", NULL, CELL(node_row, node) },
	{ "name", NULL, CELL(node_row, name) },
	{ "kind", NULL, CELL(node_row, kind) },
	{ "tier", NULL, CELL(node_row, tier), ORIGIN_COMPUTED },
	{ "LID", NULL, CELL(node_row, lid), ORIGIN_COMPUTED },
	{ "x", NULL, CELL(node_row, x), ORIGIN_COMPUTED, 3 },
	{ "y", NULL, CELL(node_row, y), ORIGIN_COMPUTED, 3 },
	{ NULL },
};

/* The LID of a switch is that of port 0, of others that of their first. */
static lid_t lid_of(const struct fabric *b, node_id node)
{
	const struct topo_node *v = &b->topo.nodes[node];

	for (unsigned n = 0; n <= v->n_ports; n++) {
		lid_t lid = b->subnet.lid_of_port[v->first_port + n];

		if (lid)
			return lid;
	}
	return 0;
}

static void put_node(const struct fabric *b, node_id node,
		     const struct point *at, struct table *t)
{
	static const char *const kinds[] = { [NODE_CA] = "host",
					     [NODE_SWITCH] = "switch",
					     [NODE_ROUTER] = "router" };
	const struct topo_node *v = &b->topo.nodes[node];

	const struct node_row row = {
		.node = node,
		.name = v->name,
		.kind = kinds[v->kind],
		.tier = v->tier,
		.lid = lid_of(b, node),
		.x = at ? at->x : NAN,
		.y = at ? at->y : NAN,
	};

	table_put_row(t, &row);
}

/* Hosts that belong to a switch have no place of their own. */
static void put_nodes(const struct fabric *b, struct results *r)
{
	struct shape s;
	struct layout l;

	shape_init(&s, &b->topo);
	layout_init(&l, &b->topo, &s);
	struct table *t = results_record(r, "layout", "how to draw the fabric",
					 layout_columns);

	const struct layout_row row = {
		.kind = l.is_layered ? "layers"
			: l.is_grid  ? "grid"
				     : "springs",
		.wraps = l.has_wraps,
		.routing = b->subnet.engine ? b->subnet.engine : "none",
	};

	table_put_row(t, &row);
	t = results_table(r, "nodes", "switches, hosts and routers",
			  node_columns);
	for (node_id v = 0; v < b->topo.n_nodes; v++) {
		uint32_t vertex = s.vertex_of[v];
		bool own = vertex < s.n && s.node[vertex] == v;

		put_node(b, v, own ? &l.at[vertex] : NULL, t);
	}
	layout_fini(&l);
	shape_fini(&s);
}

struct link_row {
	uint64_t link;
	const char *port;
	uint64_t from, out, to, in;
	struct hd_rate rate;
	double used, waiting;
};

static const struct column link_columns[] = {
	{ "link", NULL, CELL(link_row, link) },
	{ "port", NULL, CELL(link_row, port) },
	{ "from", "node", CELL(link_row, from) },
	{ "out", "port", CELL(link_row, out) },
	{ "to", "node", CELL(link_row, to) },
	{ "in", "port", CELL(link_row, in) },
	{ "rate", "Gb/s", CELL(link_row, rate), ORIGIN_GIVEN, 1 },
	{ "used", "%", CELL(link_row, used), ORIGIN_SIMULATED, 1 },
	{ "waiting", "%", CELL(link_row, waiting), ORIGIN_SIMULATED, 1 },
	{ NULL },
};

/* The same order as sim_samples has. */
static void put_links(const struct sim_findings *f, struct results *r)
{
	const struct fabric *b = f->build;
	struct table *t = results_table(
		r, "links", "each direction of each cable", link_columns);
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->setup.n_ports; i++) {
		const struct sim_port *p = &b->setup.ports[i];

		if (p->peer == SIM_NONE)
			continue;
		const struct topo_port *from = &b->topo.ports[p->origin];
		const struct topo_port *to =
			&b->topo.ports[b->setup.ports[p->peer].origin];

		const struct link_row row = {
			.link = n++,
			.port = findings_port_name(b, i, t),
			.from = from->node,
			.out = from->number,
			.to = to->node,
			.in = to->number,
			.rate = p->rate,
			.used = 100 * f->metrics->ports[i].utilisation,
			.waiting = 100 * f->metrics->ports[i].wait,
		};

		table_put_row(t, &row);
	}
}

/* ---- what happens to it ------------------------------------------------- */

struct happening_row {
	double time;
	const char *event, *port;
};

static const struct column event_columns[] = {
	{ "time", "us", CELL(happening_row, time), ORIGIN_GIVEN, 3 },
	{ "event", NULL, CELL(happening_row, event) },
	{ "port", NULL, CELL(happening_row, port) },
	{ NULL },
};

static void put_event(const struct sim_findings *f, hd_time time,
		      const char *event, uint32_t port, struct table *t)
{
	const struct happening_row row = {
		.time = ((double)time - (double)f->metrics->from) /
			(double)HD_US,
		.event = event,
		.port = findings_port_name(f->build, port, t),
	};

	if (time <= f->metrics->to)
		table_put_row(t, &row);
}

static void put_events(const struct sim_findings *f, struct results *r)
{
	const struct sim_setup *s = &f->build->setup;

	if (!s->n_faults && !s->n_changes)
		return;
	struct table *t = results_table(
		r, "events",
		"links and tables that change, since measuring began",
		event_columns);

	for (uint32_t i = 0; i < s->n_faults; i++)
		put_event(f, s->faults[i].time,
			  scn_event_words[s->faults[i].kind], s->faults[i].port,
			  t);
	for (uint32_t i = 0; i < s->n_changes; i++)
		put_event(f, s->changes[i].time, "tables", s->changes[i].port,
			  t);
}

/* ---- tables of the subnet ----------------------------------------------- */

struct forwarding_row {
	const char *switch_, *lft;
};

static const struct column forwarding_columns[] = {
	{ "switch", NULL, CELL(forwarding_row, switch_) },
	{ "LFT", "LID:port", CELL(forwarding_row, lft), ORIGIN_COMPUTED },
	{ NULL },
};

/* "1-4:2 5:3": LIDs that leave by the same port stand together. */
static void put_lft(const struct subnet *s, switch_id sw, struct table *t)
{
	struct strbuf text = STRBUF_INIT;
	unsigned top = s->top_lid[subnet_of_switch(s, sw)];

	for (unsigned lid = 1; lid <= top;) {
		uint8_t port = lft_get(s, sw, (lid_t)lid);
		unsigned first = lid++;

		while (lid <= top && lft_get(s, sw, (lid_t)lid) == port)
			lid++;
		if (port == LFT_NO_PORT)
			continue;
		strbuf_printf(&text, "%s%u", text.len ? " " : "", first);
		if (lid - 1 > first)
			strbuf_printf(&text, "-%u", lid - 1);
		strbuf_printf(&text, ":%u", port);
	}
	const struct forwarding_row row = {
		.switch_ = s->topo->nodes[s->node_of_switch[sw]].name,
		.lft = text.text,
	};

	table_put_row(t, &row);
	strbuf_fini(&text);
}

static void put_forwarding(const struct subnet *s, struct results *r)
{
	if ((uint64_t)s->n_switches * s->lft_stride > SIM_PICTURE_ENTRIES) {
		results_remark(r,
			       "the forwarding tables (%u switches, LIDs up to "
			       "%u) are too many for a record: 'heddle route' "
			       "shows them",
			       s->n_switches, s->lft_stride - 1);
		return;
	}
	struct table *t = results_table(r, "forwarding",
					"where each switch sends each LID",
					forwarding_columns);

	for (switch_id sw = 0; sw < s->n_switches; sw++)
		put_lft(s, sw, t);
}

struct mapping_row {
	const char *node, *in, *out, *sl2vl;
};

static const struct column mapping_columns[] = {
	{ "node", NULL, CELL(mapping_row, node) },
	{ "in", "port", CELL(mapping_row, in) },
	{ "out", "port", CELL(mapping_row, out) },
	{ "SL2VL", "VL of SL 0, 1, ...", CELL(mapping_row, sl2vl),
	  ORIGIN_COMPUTED },
	{ NULL },
};

static void put_mapping(struct table *t, const char *node, const char *in,
			const char *out, const struct sl2vl *map)
{
	struct strbuf text = STRBUF_INIT;

	for (unsigned sl = 0; sl < N_SLS; sl++)
		strbuf_printf(&text, "%s%u", sl ? " " : "", map->vl[sl]);
	const struct mapping_row row = {
		.node = node,
		.in = in,
		.out = out,
		.sl2vl = text.text,
	};

	table_put_row(t, &row);
	strbuf_fini(&text);
}

static bool is_cabled(const struct topo *t, node_id node, unsigned number)
{
	return number == 0 ||
	       t->ports[t->nodes[node].first_port + number].peer != TOPO_NONE;
}

/* The one table of all of a switch's pairs of cabled ports; NULL if several. */
static const struct sl2vl *only_mapping(const struct subnet *s, switch_id sw)
{
	node_id node = s->node_of_switch[sw];
	unsigned n = s->topo->nodes[node].n_ports;
	const struct sl2vl *only = NULL;

	for (unsigned in = 0; in <= n; in++) {
		for (unsigned out = 1; out <= n; out++) {
			if (in == out || !is_cabled(s->topo, node, in) ||
			    !is_cabled(s->topo, node, out))
				continue;
			const struct sl2vl *map = sl2vl_at(s, sw, in, out);

			if (only && memcmp(only, map, sizeof(*map)) != 0)
				return NULL;
			only = map;
		}
	}
	return only ? only : sl2vl_at(s, sw, 0, 0);
}

static void put_pairs(const struct subnet *s, switch_id sw, struct table *t)
{
	node_id node = s->node_of_switch[sw];
	unsigned n = s->topo->nodes[node].n_ports;

	for (unsigned in = 0; in <= n; in++) {
		for (unsigned out = 1; out <= n; out++) {
			char a[8], b[8];

			if (in == out || !is_cabled(s->topo, node, in) ||
			    !is_cabled(s->topo, node, out))
				continue;
			snprintf(a, sizeof(a), "%u", in);
			snprintf(b, sizeof(b), "%u", out);
			put_mapping(t, s->topo->nodes[node].name, a, b,
				    sl2vl_at(s, sw, in, out));
		}
	}
}

/* What all ends or all switches share stands in one row, for "any". */
static void put_mappings(const struct fabric *b, struct results *r)
{
	const struct subnet *s = &b->subnet;
	struct table *t = results_table(
		r, "lane mapping",
		"the VL of each SL; 'any' stands for those without a row of "
		"their own",
		mapping_columns);
	const struct sl2vl *first = s->n_switches ? only_mapping(s, 0) : NULL;
	struct sl2vl common = first ? *first : sl2vl_default(N_DATA_VLS);

	put_mapping(t, ANY, ANY, ANY, &common);
	for (port_id p = 0; p < b->topo.n_ports; p++) {
		if (topo_is_end_port(&b->topo, p) &&
		    memcmp(sl2vl_of(s, p), &common, sizeof(common)) != 0 &&
		    table_rows(t) < MAX_MAPPINGS)
			put_mapping(t, topo_node_of(&b->topo, p)->name, ANY,
				    ANY, sl2vl_of(s, p));
	}
	for (switch_id sw = 0; sw < s->n_switches; sw++) {
		const struct sl2vl *only = only_mapping(s, sw);

		if (table_rows(t) >= MAX_MAPPINGS)
			break;
		if (!only)
			put_pairs(s, sw, t);
		else if (memcmp(only, &common, sizeof(common)) != 0)
			put_mapping(t,
				    b->topo.nodes[s->node_of_switch[sw]].name,
				    ANY, ANY, only);
	}
}

struct arbitration_row {
	const char *port, *high, *low;
	uint64_t limit;
};

static const struct column arbitration_columns[] = {
	{ "port", NULL, CELL(arbitration_row, port) },
	{ "high", "VL:weight", CELL(arbitration_row, high), ORIGIN_COMPUTED },
	{ "low", "VL:weight", CELL(arbitration_row, low), ORIGIN_COMPUTED },
	{ "limit", "of high", CELL(arbitration_row, limit), ORIGIN_COMPUTED },
	{ NULL },
};

static const char *entries_text(struct table *t,
				const struct vlarb_entry *entries, unsigned n)
{
	struct strbuf text = STRBUF_INIT;

	for (unsigned i = 0; i < n; i++) {
		if (entries[i].weight)
			strbuf_printf(&text, "%s%u:%u", text.len ? "," : "",
				      entries[i].vl, entries[i].weight);
	}
	return text.len ? table_take(t, &text) : "empty";
}

/* The table that most ports have stands in one row, for "any". */
static void put_arbitration(const struct fabric *b, struct results *r)
{
	const struct subnet *s = &b->subnet;
	uint32_t *uses = hd_alloc(s->n_vlarb_tables + 1, sizeof(*uses));
	uint32_t most = 0;
	struct table *t = results_table(
		r, "arbitration",
		"VL arbitration; 'any' stands for ports without a row of "
		"their own",
		arbitration_columns);

	for (uint32_t i = 0; i < b->setup.n_ports; i++) {
		if (b->setup.ports[i].peer != SIM_NONE)
			uses[s->vlarb_of_port[b->setup.ports[i].origin]]++;
	}
	for (uint32_t i = 1; i < s->n_vlarb_tables; i++)
		most = uses[i] > uses[most] ? i : most;
	for (uint32_t i = 0; i <= b->setup.n_ports; i++) {
		const struct sim_port *p = i ? &b->setup.ports[i - 1] : NULL;

		if (p && (p->peer == SIM_NONE ||
			  s->vlarb_of_port[p->origin] == most))
			continue;
		const struct vlarb *a =
			p ? vlarb_of(s, p->origin) : &s->vlarb_tables[most];

		const struct arbitration_row shown = {
			.port = p ? findings_port_name(b, i - 1, t) : ANY,
			.high = entries_text(t, a->high, a->n_high),
			.low = entries_text(t, a->low, a->n_low),
			.limit = a->high_limit,
		};

		table_put_row(t, &shown);
	}
	free(uses);
}

/* ---- the way of a packet ------------------------------------------------- */

#define NO_PORT TOPO_MAX_PORTS

struct path_row {
	const char *path;
	unsigned hop, in, out, sl, vl;
	node_id node;
};

static const struct column path_columns[] = {
	{ "path", NULL, CELL(path_row, path) },
	{ "hop", NULL, CELL(path_row, hop) },
	{ "node", NULL, CELL(path_row, node) },
	{ "in", "port", CELL_UNLESS(path_row, in, NO_PORT), ORIGIN_COMPUTED },
	{ "out", "port", CELL_UNLESS(path_row, out, NO_PORT), ORIGIN_COMPUTED },
	{ "SL", NULL, CELL(path_row, sl) },
	{ "VL", NULL, CELL_UNLESS(path_row, vl, NO_PORT), ORIGIN_COMPUTED },
	{ NULL },
};

struct walk {
	const struct fabric *b;
	struct table *t;
	const char *name;
	uint8_t sl;
	unsigned hop;
};

/* The last node of a path has no way out, and so no lane. */
static void put_hop(struct walk *w, node_id node, unsigned in, unsigned out,
		    unsigned vl)
{
	const struct path_row row = {
		.path = w->name,
		.hop = w->hop++,
		.node = node,
		.in = in,
		.out = out,
		.sl = w->sl,
		.vl = out == NO_PORT ? NO_PORT : vl,
	};

	table_put_row(w->t, &row);
}

/* From an end port to a LID of its subnet, switch by switch. */
static void walk_path(struct walk *w, port_id from, lid_t dlid)
{
	const struct topo *t = &w->b->topo;
	const struct subnet *s = &w->b->subnet;
	port_id at = t->ports[from].peer;

	if (t->ports[from].number == 0)
		at = from; /* a switch's own host */
	else
		put_hop(w, t->ports[from].node, NO_PORT, t->ports[from].number,
			sl2vl_of(s, from)->vl[w->sl]);
	while (at != TOPO_NONE && w->hop <= t->n_nodes) {
		const struct topo_port *in = &t->ports[at];
		const struct topo_node *v = &t->nodes[in->node];

		if (v->kind != NODE_SWITCH) {
			put_hop(w, in->node, in->number, NO_PORT, 0);
			return;
		}
		switch_id sw = s->switch_of_node[in->node];
		uint8_t out = lft_get(s, sw, dlid);

		if (out > v->n_ports || out == 0) {
			put_hop(w, in->node, in->number, NO_PORT, 0);
			return;
		}
		put_hop(w, in->node, in->number, out,
			sl2vl_at(s, sw, in->number, out)->vl[w->sl]);
		at = t->ports[v->first_port + out].peer;
	}
}

/* Some destination of the flow: its own, or one half way around the list. */
static const struct sim_address *some_address(const struct sim_flow *f)
{
	if (!f->to.list || !f->to.n)
		return NULL;
	if (f->to.choice == SIM_TO_FIXED || f->to.self == SIM_NONE)
		return &f->to.list[0];
	return &f->to.list[(f->to.self + f->to.n / 2) % f->to.n];
}

static void put_path(const struct fabric *b, uint32_t flow, struct table *t)
{
	const struct sim_flow *f = &b->flows[flow];
	const struct sim_address *to = some_address(f);
	uint32_t port = b->setup.nodes[f->source].first_port + 1;
	port_id from = b->setup.ports[port].origin;
	struct strbuf name = STRBUF_INIT;

	if (!to || to->dlid >= LID_FIRST_MCAST || f->management)
		return;
	port_id owner =
		b->subnet.port_of_lid[b->topo.ports[from].subnet][to->dlid];

	sim_flow_name(b, flow, &name);
	if (b->flow_target[flow] == TOPO_NONE && owner != TOPO_NONE)
		strbuf_printf(&name, " -> %s",
			      topo_node_of(&b->topo, owner)->name);
	struct walk w = { .b = b, .t = t, .name = name.text, .sl = f->sl };

	walk_path(&w, from, to->dlid);
	strbuf_fini(&name);
}

/* Evenly over all flows, so that every row has some. */
static void put_paths(const struct fabric *b, struct results *r)
{
	uint32_t step = b->n_flows / MAX_PATHS + 1;
	struct table *t = results_table(
		r, "paths", "the way of a packet of some flows, hop by hop",
		path_columns);

	for (uint32_t i = 0; i < b->n_flows; i += step)
		put_path(b, i, t);
}

void sim_picture_fabric(const struct sim_findings *f, struct results *r)
{
	put_nodes(f->build, r);
	put_links(f, r);
	put_events(f, r);
	put_forwarding(&f->build->subnet, r);
	put_mappings(f->build, r);
	put_arbitration(f->build, r);
	put_paths(f->build, r);
}
