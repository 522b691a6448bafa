/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/check/picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "subnet/routing/load.h"
#include "topo/layout.h"

#define MAX_MAPPINGS    50000      /* rows of VL mappings */
#define PICTURE_ENTRIES (4u << 20) /* of all forwarding tables together */
#define ANY             "any"

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

struct picture_node_row {
	uint64_t node;
	const char *name, *kind;
	uint64_t tier, lid;
	double x, y;
};

static const struct column node_columns[] = {
	{ "node", NULL, CELL(picture_node_row, node) },
	{ "name", NULL, CELL(picture_node_row, name) },
	{ "kind", NULL, CELL(picture_node_row, kind) },
	{ "tier", NULL, CELL(picture_node_row, tier), ORIGIN_COMPUTED },
	{ "LID", NULL, CELL(picture_node_row, lid), ORIGIN_COMPUTED },
	{ "x", NULL, CELL(picture_node_row, x), ORIGIN_COMPUTED, 3 },
	{ "y", NULL, CELL(picture_node_row, y), ORIGIN_COMPUTED, 3 },
	{ NULL },
};

/* The LID of a switch is that of port 0, of others that of their first. */
static lid_t lid_of(const struct subnet *s, node_id node)
{
	const struct topo_node *v = &s->topo->nodes[node];

	for (unsigned n = 0; n <= v->n_ports; n++) {
		lid_t lid = s->lid_of_port[v->first_port + n];

		if (lid)
			return lid;
	}
	return 0;
}

static void put_node(const struct subnet *s, node_id node, const struct point *at, struct table *t)
{
	static const char *const kinds[] = {
		[NODE_CA] = "host", [NODE_SWITCH] = "switch", [NODE_ROUTER] = "router"
	};
	const struct topo_node *v = &s->topo->nodes[node];

	const struct picture_node_row row = {
		.node = node,
		.name = v->name,
		.kind = kinds[v->kind],
		.tier = v->tier,
		.lid = lid_of(s, node),
		.x = at ? at->x : NAN,
		.y = at ? at->y : NAN,
	};

	table_put_row(t, &row);
}

/* Hosts inside a switch have no position of their own. */
void picture_nodes(const struct subnet *s, struct results *r)
{
	const struct topo *topo = s->topo;
	struct shape shape;
	struct layout l;

	shape_init(&shape, topo);
	layout_init(&l, topo, &shape);
	struct table *t = results_record(r, "layout", "how to draw the fabric", layout_columns);

	const struct layout_row row = {
		.kind = l.is_layered ? "layers"
			: l.is_grid  ? "grid"
				     : "springs",
		.wraps = l.has_wraps,
		.routing = s->engine ? s->engine : "none",
	};

	table_put_row(t, &row);
	t = results_table(r, "nodes", "switches, hosts and routers", node_columns);
	for (node_id v = 0; v < topo->n_nodes; v++) {
		uint32_t vertex = shape.vertex_of[v];
		bool own = vertex < shape.n && shape.node[vertex] == v;

		put_node(s, v, own ? &l.at[vertex] : NULL, t);
	}
	layout_fini(&l);
	shape_fini(&shape);
}

struct picture_link_row {
	uint64_t link;
	const char *port;
	uint64_t from, out, to, in;
	struct hd_rate rate;
	double used, waiting;
};

static const struct column link_columns[] = {
	{ "link", NULL, CELL(picture_link_row, link) },
	{ "port", NULL, CELL(picture_link_row, port) },
	{ "from", "node", CELL(picture_link_row, from) },
	{ "out", "port", CELL(picture_link_row, out) },
	{ "to", "node", CELL(picture_link_row, to) },
	{ "in", "port", CELL(picture_link_row, in) },
	{ "rate", "Gb/s", CELL(picture_link_row, rate), ORIGIN_GIVEN, 1 },
	{ "used", "%", CELL(picture_link_row, used), ORIGIN_SIMULATED, 1 },
	{ "waiting", "%", CELL(picture_link_row, waiting), ORIGIN_SIMULATED, 1 },
	{ NULL },
};

void picture_port_name(const struct topo *t, port_id port, struct strbuf *out)
{
	const struct topo_node *node = topo_node_of(t, port);

	strbuf_puts(out, node->name);
	if (node->kind == NODE_SWITCH || node->n_ports > 1)
		strbuf_printf(out, ":%u", t->ports[port].number);
}

static const char *port_name(const struct topo *topo, port_id port, struct table *t)
{
	struct strbuf name = STRBUF_INIT;

	picture_port_name(topo, port, &name);
	return table_take(t, &name);
}

void picture_links(const struct topo *topo, const struct picture_link *links, size_t n,
		   struct results *r)
{
	struct table *t = results_table(r, "links", "each direction of each cable", link_columns);

	for (size_t i = 0; i < n; i++) {
		const struct topo_port *from = &topo->ports[links[i].from];
		const struct topo_port *to = &topo->ports[links[i].to];
		const struct picture_link_row row = {
			.link = i,
			.port = port_name(topo, links[i].from, t),
			.from = from->node,
			.out = from->number,
			.to = to->node,
			.in = to->number,
			.rate = links[i].rate,
			.used = 100 * links[i].used,
			.waiting = 100 * links[i].waiting,
		};

		table_put_row(t, &row);
	}
}

/* ---- links by what tables make of them ---------------------------------- */

struct load_row {
	uint64_t link;
	const char *port;
	uint64_t from, out, to, in;
	struct hd_rate rate;
	uint64_t flows, shifted, sent;
	double all_pairs, shifts, traffic;
};

#define LOAD_COLUMNS                                                                              \
	{ "link", NULL, CELL(load_row, link) }, { "port", NULL, CELL(load_row, port) },           \
		{ "from", "node", CELL(load_row, from) }, { "out", "port", CELL(load_row, out) }, \
		{ "to", "node", CELL(load_row, to) }, { "in", "port", CELL(load_row, in) },       \
		{ "rate", "Gb/s", CELL(load_row, rate), ORIGIN_GIVEN, 1 },                        \
		{ "flows", NULL, CELL(load_row, flows), ORIGIN_COMPUTED },                        \
		{ "flows of a shift", NULL, CELL(load_row, shifted), ORIGIN_COMPUTED },           \
		{ "all pairs", "%", CELL(load_row, all_pairs), ORIGIN_COMPUTED, 1 },              \
	{                                                                                         \
		"shifts", "%", CELL(load_row, shifts), ORIGIN_COMPUTED, 1                         \
	}
static const struct column load_columns[] = { LOAD_COLUMNS, { NULL } };
static const struct column traffic_columns[] = {
	LOAD_COLUMNS,
	{ "flows of the traffic", NULL, CELL(load_row, sent), ORIGIN_COMPUTED },
	{ "traffic", "%", CELL(load_row, traffic), ORIGIN_COMPUTED, 1 },
	{ NULL },
};

/* Time of the flows on a link, at one bit each. */
static double time_of(const struct subnet *s, port_id port, uint64_t flows)
{
	const struct hd_rate rate = s->rate_of_port[port];

	return rate.num ? (double)flows / hd_rate_bps(rate) : 0;
}

static double longest(const struct subnet *s, const uint64_t *flows)
{
	double most = 0;

	for (port_id p = 0; p < s->topo->n_ports; p++)
		most = fmax(most, time_of(s, p, flows[p]));
	return most;
}

static double of_longest(double time, double most)
{
	return most > 0 ? 100 * time / most : 0;
}

static void put_loads(const struct subnet *s, const struct load_map *m, struct table *t)
{
	const struct topo *topo = s->topo;
	const double pairs = longest(s, m->all_pairs);
	const double shifts = longest(s, m->shifts);
	const double traffic = m->traffic ? longest(s, m->traffic) : 0;
	uint64_t n = 0;

	for (port_id p = 0; p < topo->n_ports; p++) {
		if (topo->ports[p].peer == TOPO_NONE)
			continue;
		const struct topo_port *from = &topo->ports[p];
		const struct topo_port *to = &topo->ports[from->peer];
		struct load_row row = {
			.link = n++,
			.port = port_name(topo, p, t),
			.from = from->node,
			.out = from->number,
			.to = to->node,
			.in = to->number,
			.rate = s->rate_of_port[p],
			.flows = m->all_pairs[p],
			.shifted = m->shifts[p],
			.all_pairs = of_longest(time_of(s, p, m->all_pairs[p]), pairs),
			.shifts = of_longest(time_of(s, p, m->shifts[p]), shifts),
			.sent = m->traffic ? m->traffic[p] : 0,
		};

		row.traffic = of_longest(time_of(s, p, row.sent), traffic);
		table_put_row(t, &row);
	}
}

void picture_loads(const struct subnet *s, unsigned n, const struct load_traffic *traffic,
		   struct results *r)
{
	struct load_map m;

	picture_nodes(s, r);
	struct table *t = results_table(
		r, "links",
		"each direction of each cable: flows if every pair sends, and the most of any shift; and how long they take it, of the busiest",
		traffic->list ? traffic_columns : load_columns);

	load_map_init(&m, s, n, traffic);
	put_loads(s, &m, t);
	load_map_fini(&m);
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

/* "1-4:2 5:3": consecutive LIDs with the same port form one range. */
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
		.switch_ = switch_node(s, sw)->name,
		.lft = text.text,
	};

	table_put_row(t, &row);
	strbuf_fini(&text);
}

static void put_forwarding(const struct subnet *s, struct results *r)
{
	if ((uint64_t)s->n_switches * s->lft_stride > PICTURE_ENTRIES) {
		results_remark(
			r,
			"the forwarding tables (%u switches, LIDs up to %u) are too many for a record: 'heddle route' shows them",
			s->n_switches, s->lft_stride - 1);
		return;
	}
	struct table *t = results_table(r, "forwarding", "where each switch sends each LID",
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
	{ "SL2VL", "VL of SL 0, 1, ...", CELL(mapping_row, sl2vl), ORIGIN_COMPUTED },
	{ NULL },
};

static void put_mapping(struct table *t, const char *node, const char *in, const char *out,
			const struct sl2vl *map)
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
	return number == 0 || t->ports[t->nodes[node].first_port + number].peer != TOPO_NONE;
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
			put_mapping(t, s->topo->nodes[node].name, a, b, sl2vl_at(s, sw, in, out));
		}
	}
}

/* A mapping that all end ports or all switches share is one row, "any". */
static void put_mappings(const struct subnet *s, struct results *r)
{
	const struct topo *topo = s->topo;
	struct table *t = results_table(
		r, "VL mapping",
		"the VL of each SL; 'any' applies to ports without a row of their own",
		mapping_columns);
	const struct sl2vl *first = s->n_switches ? only_mapping(s, 0) : NULL;
	struct sl2vl common = first ? *first : sl2vl_default(N_DATA_VLS);

	put_mapping(t, ANY, ANY, ANY, &common);
	for (port_id p = 0; p < topo->n_ports; p++) {
		if (topo_is_end_port(topo, p) &&
		    memcmp(sl2vl_of(s, p), &common, sizeof(common)) != 0 &&
		    table_rows(t) < MAX_MAPPINGS)
			put_mapping(t, topo_node_of(topo, p)->name, ANY, ANY, sl2vl_of(s, p));
	}
	for (switch_id sw = 0; sw < s->n_switches; sw++) {
		const struct sl2vl *only = only_mapping(s, sw);

		if (table_rows(t) >= MAX_MAPPINGS)
			break;
		if (!only)
			put_pairs(s, sw, t);
		else if (memcmp(only, &common, sizeof(common)) != 0)
			put_mapping(t, switch_node(s, sw)->name, ANY, ANY, only);
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

static const char *entries_text(struct table *t, const struct vlarb_entry *entries, unsigned n)
{
	struct strbuf text = STRBUF_INIT;

	for (unsigned i = 0; i < n; i++) {
		if (entries[i].weight)
			strbuf_printf(&text, "%s%u:%u", text.len ? "," : "", entries[i].vl,
				      entries[i].weight);
	}
	return text.len ? table_take(t, &text) : "empty";
}

/* The table that most ports have is one row, "any". */
static void put_arbitration(const struct subnet *s, const struct picture_link *links, size_t n,
			    struct results *r)
{
	uint32_t *uses = hd_alloc(s->n_vlarb_tables + 1, sizeof(*uses));
	uint32_t most = 0;
	struct table *t =
		results_table(r, "arbitration",
			      "VL arbitration; 'any' applies to ports without a row of their own",
			      arbitration_columns);

	for (size_t i = 0; i < n; i++)
		uses[s->vlarb_of_port[links[i].from]]++;
	for (uint32_t i = 1; i < s->n_vlarb_tables; i++)
		most = uses[i] > uses[most] ? i : most;
	for (size_t i = 0; i <= n; i++) {
		const struct picture_link *l = i ? &links[i - 1] : NULL;

		if (l && s->vlarb_of_port[l->from] == most)
			continue;
		const struct vlarb *a = l ? vlarb_of(s, l->from) : &s->vlarb_tables[most];

		const struct arbitration_row shown = {
			.port = l ? port_name(s->topo, l->from, t) : ANY,
			.high = entries_text(t, a->high, a->n_high),
			.low = entries_text(t, a->low, a->n_low),
			.limit = a->high_limit,
		};

		table_put_row(t, &shown);
	}
	free(uses);
}

void picture_tables(const struct subnet *s, const struct picture_link *links, size_t n,
		    struct results *r)
{
	put_forwarding(s, r);
	put_mappings(s, r);
	put_arbitration(s, links, n, r);
}
