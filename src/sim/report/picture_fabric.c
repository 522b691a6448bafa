/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "scenario/words.h"
#include "sim/report/picture.h"
#include "sim/report/report_internal.h"
#include "subnet/check/picture.h"

#define MAX_PATHS 240 /* number of flows with paths */

/* In the order of report_samples; the caller frees it. */
static struct picture_link *links_of(const struct report_input *f, size_t *n)
{
	const struct sim_setup *s = &f->fabric->setup;
	struct picture_link *links = hd_alloc(s->n_ports + 1, sizeof(*links));

	*n = 0;
	for (uint32_t i = 0; i < s->n_ports; i++) {
		const struct sim_port *p = &s->ports[i];

		if (p->peer != SIM_NONE)
			links[(*n)++] = (struct picture_link){
				.from = p->origin,
				.to = s->ports[p->peer].origin,
				.rate = p->rate,
				.used = f->metrics->ports[i].utilisation,
				.waiting = f->metrics->ports[i].wait,
			};
	}
	return links;
}

/* ---- what happens to it ------------------------------------------------- */

struct happening_row {
	hd_time time;
	const char *event, *port;
};

static const struct column event_columns[] = {
	{ "time", "us", CELL_TIME(happening_row, time), ORIGIN_GIVEN, 3 },
	{ "event", NULL, CELL(happening_row, event) },
	{ "port", NULL, CELL(happening_row, port) },
	{ NULL },
};

static void put_event(const struct report_input *f, hd_time time, const char *event, uint32_t port,
		      struct table *t)
{
	const struct happening_row row = {
		.time = time,
		.event = event,
		.port = findings_port_name(f->fabric, port, t),
	};

	if (time <= f->metrics->to)
		table_put_row(t, &row);
}

static void put_events(const struct report_input *f, struct results *r)
{
	const struct sim_setup *s = &f->fabric->setup;

	if (!s->n_faults && !s->n_changes)
		return;
	struct table *t = results_table(r, "events",
					"links and tables that change, from the start of the run",
					event_columns);

	for (uint32_t i = 0; i < s->n_faults; i++)
		put_event(f, s->faults[i].time, scn_event_words[s->faults[i].kind],
			  s->faults[i].port, t);
	for (uint32_t i = 0; i < s->n_changes; i++)
		put_event(f, s->changes[i].time, "tables", s->changes[i].port, t);
}

/* ---- the way of a packet ------------------------------------------------- */

#define NO_PORT TOPO_MAX_PORTS

struct path_hop_row {
	const char *path;
	unsigned hop, in, out, sl, vl;
	node_id node;
};

static const struct column path_columns[] = {
	{ "path", NULL, CELL(path_hop_row, path) },
	{ "hop", NULL, CELL(path_hop_row, hop) },
	{ "node", NULL, CELL(path_hop_row, node) },
	{ "in", "port", CELL_UNLESS(path_hop_row, in, NO_PORT), ORIGIN_COMPUTED },
	{ "out", "port", CELL_UNLESS(path_hop_row, out, NO_PORT), ORIGIN_COMPUTED },
	{ "SL", NULL, CELL(path_hop_row, sl) },
	{ "VL", NULL, CELL_UNLESS(path_hop_row, vl, NO_PORT), ORIGIN_COMPUTED },
	{ NULL },
};

struct path_walk {
	const struct fabric *fabric;
	struct table *t;
	const char *name;
	uint8_t sl;
	unsigned hop;
};

/* The last node of a path has no output and no VL. */
static void put_hop(struct path_walk *w, node_id node, unsigned in, unsigned out, unsigned vl)
{
	const struct path_hop_row row = {
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

/* Follows the path from an end port to a LID of its subnet, switch by switch. */
static void walk_path(struct path_walk *w, port_id from, lid_t dlid)
{
	const struct topo *t = &w->fabric->topo;
	const struct subnet *s = &w->fabric->subnet;
	port_id at = t->ports[from].peer;

	if (t->ports[from].number == 0)
		at = from; /* the host inside the switch */
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
		put_hop(w, in->node, in->number, out, sl2vl_at(s, sw, in->number, out)->vl[w->sl]);
		at = t->ports[v->first_port + out].peer;
	}
}

/* One destination of the flow: its only one, or the middle of its list. */
static const struct sim_address *some_address(const struct sim_flow *f)
{
	if (!f->to.list || !f->to.n)
		return NULL;
	if (f->to.choice == SIM_TO_FIXED || f->to.self == SIM_NONE)
		return &f->to.list[0];
	return &f->to.list[(f->to.self + f->to.n / 2) % f->to.n];
}

static void put_path(const struct fabric *fabric, uint32_t flow, struct table *t)
{
	const struct sim_flow *f = &fabric->flows[flow];
	const struct sim_address *to = some_address(f);
	uint32_t port = fabric->setup.nodes[f->source].first_port + 1;
	port_id from = fabric->setup.ports[port].origin;
	struct strbuf name = STRBUF_INIT;

	if (!to || to->dlid >= LID_FIRST_MCAST || f->management)
		return;
	port_id owner = fabric->subnet.port_of_lid[fabric->topo.ports[from].subnet][to->dlid];

	findings_flow_name(fabric, flow, &name);
	if (fabric->flow_target[flow] == TOPO_NONE && owner != TOPO_NONE)
		strbuf_printf(&name, " -> %s", topo_node_of(&fabric->topo, owner)->name);
	struct path_walk w = { .fabric = fabric, .t = t, .name = name.text, .sl = f->sl };

	walk_path(&w, from, to->dlid);
	strbuf_fini(&name);
}

/* Selects flows evenly, so that every row has some. */
static void put_paths(const struct fabric *fabric, struct results *r)
{
	uint32_t step = fabric->n_flows / MAX_PATHS + 1;
	struct table *t = results_table(r, "paths", "the way of a packet of some flows, hop by hop",
					path_columns);

	for (uint32_t i = 0; i < fabric->n_flows; i += step)
		put_path(fabric, i, t);
}

void report_picture_fabric(const struct report_input *f, struct results *r)
{
	const struct subnet *s = &f->fabric->subnet;
	size_t n;
	struct picture_link *links = links_of(f, &n);

	picture_nodes(s, r);
	picture_links(s->topo, links, n, r);
	put_events(f, r);
	picture_tables(s, links, n, r);
	put_paths(f->fabric, r);
	free(links);
}
