/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "subnet/multicast/mcast.h"
#include "subnet/routing/deadlock.h"
#include "subnet/routing/order.h"
#include "subnet/routing/route.h"
#include "subnet/routing/vls.h"
#include "subnet/tables/paths.h"
#include "subnet/tables/tables.h"
#include "topo/write.h"

#define MCAST_CAP 0x400 /* MLIDs that tools show at least */

static const char *kind_name(const struct topo_node *v)
{
	static const char *const names[] = {
		[NODE_CA] = "Channel Adapter",
		[NODE_SWITCH] = "Switch",
		[NODE_ROUTER] = "Router",
	};

	return names[v->kind];
}

/* Switches in the order of the tools' lists; returns their number. */
static uint32_t listed_switches(const struct subnet *s, switch_id *out)
{
	node_id *order = topo_file_order(s->topo, false);
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->topo->n_nodes; i++) {
		if (s->switch_of_node[order[i]] != TOPO_NONE)
			out[n++] = s->switch_of_node[order[i]];
	}
	free(order);
	return n;
}

/* By GUID, as OpenSM's maps are. */
static uint32_t mapped_switches(const struct subnet *s, switch_id *out)
{
	port_id *ports = hd_alloc(s->topo->n_ports, sizeof(*ports));
	uint32_t n_ports = order_ports_by_guid(s, ports), n = 0;

	for (uint32_t i = 0; i < n_ports; i++) {
		switch_id sw = s->switch_of_node[s->topo->ports[ports[i]].node];

		if (sw != TOPO_NONE)
			out[n++] = sw;
	}
	free(ports);
	return n;
}

/* Directed routes: the port and the node from which each node was found. */
struct discovery_routes {
	uint8_t *by; /* 0: where discovery began */
	node_id *from;
	bool *found;
};

static port_id discovery_port(const struct topo *t)
{
	port_id first = TOPO_NONE;

	for (port_id p = 0; p < t->n_ports; p++) {
		if (!topo_is_end_port(t, p))
			continue;
		if (first == TOPO_NONE)
			first = p;
		if (t->source.from_port && order_port_guid(t, p) == t->source.from_port)
			return p;
	}
	return first;
}

static void routes_init(struct discovery_routes *r, const struct topo *t)
{
	node_id *queue = hd_alloc(t->n_nodes, sizeof(*queue));
	uint32_t head = 0, tail = 0;
	port_id start = discovery_port(t);

	r->by = hd_alloc(t->n_nodes, sizeof(*r->by));
	r->from = hd_alloc(t->n_nodes, sizeof(*r->from));
	r->found = hd_alloc(t->n_nodes, sizeof(*r->found));
	if (start != TOPO_NONE) {
		queue[tail++] = t->ports[start].node;
		r->found[t->ports[start].node] = true;
	}
	while (head < tail) {
		node_id v = queue[head++];
		const struct topo_node *node = &t->nodes[v];

		/* Only the first adapter and switches forward requests. */
		for (unsigned n = 1; n <= node->n_ports; n++) {
			port_id p = node->first_port + n, peer = t->ports[p].peer;
			bool passes = node->kind == NODE_SWITCH || p == start;

			if (!passes || peer == TOPO_NONE || r->found[t->ports[peer].node])
				continue;
			node_id to = t->ports[peer].node;

			r->found[to] = true;
			r->by[to] = (uint8_t)n;
			r->from[to] = v;
			queue[tail++] = to;
		}
	}
	free(queue);
}

static void routes_fini(struct discovery_routes *r)
{
	free(r->by);
	free(r->from);
	free(r->found);
}

/* "0,1,3" */
static void print_route(const struct discovery_routes *r, node_id v, struct strbuf *out)
{
	uint8_t path[256];
	unsigned n = 0;

	for (; n < sizeof(path) && r->by[v]; v = r->from[v])
		path[n++] = r->by[v];
	strbuf_putc(out, '0');
	while (n > 0)
		strbuf_printf(out, ",%u", path[--n]);
}

/* dump_fts' description of the owner of a LID. */
static void print_owner(const struct subnet *s, unsigned sub, lid_t lid, struct strbuf *out)
{
	port_id p = s->port_of_lid[sub][lid];

	if (p == TOPO_NONE) {
		strbuf_puts(out, ": (unknown node and type)");
		return;
	}
	uint64_t guid = order_port_guid(s->topo, p);
	unsigned path = lid - s->lid_of_port[p];

	if (path > 0) {
		strbuf_printf(out, ": (path #%u out of %u: portguid 0x%016" PRIx64 ")", path + 1,
			      1u << s->lmc_of_port[p], guid);
		return;
	}
	strbuf_printf(out, ": (%s portguid 0x%016" PRIx64 ": '",
		      kind_name(topo_node_of(s->topo, p)), guid);
	strbuf_puts(out, topo_node_of(s->topo, p)->name);
	strbuf_puts(out, "')");
}

static void write_fts_of(const struct subnet *s, switch_id sw, struct strbuf *out)
{
	unsigned sub = subnet_of_switch(s, sw), n = 0;

	for (uint32_t lid = 0; lid <= s->top_lid[sub]; lid++) {
		uint8_t port = lft_get(s, sw, (lid_t)lid);

		if (port > switch_node(s, sw)->n_ports || port == LFT_NO_PORT)
			continue;
		strbuf_printf(out, "0x%04x %03u ", lid, port);
		print_owner(s, sub, (lid_t)lid, out);
		strbuf_putc(out, '\n');
		n++;
	}
	strbuf_printf(out, "%u valid lids dumped \n", n);
}

/* Name of a switch as in dump_fts: directed route, GUID and description. */
static void print_switch(const struct discovery_routes *r, const struct subnet *s, switch_id sw,
			 struct strbuf *out)
{
	const struct topo_node *v = switch_node(s, sw);

	strbuf_puts(out, " of switch DR path slid 0; dlid 0; ");
	print_route(r, s->node_of_switch[sw], out);
	strbuf_printf(out, " guid 0x%016" PRIx64 " (", v->guid);
	strbuf_puts(out, v->name);
	strbuf_puts(out, "):\n");
}

static void write_fts(const struct subnet *s, struct strbuf *out)
{
	switch_id *order = hd_alloc(s->n_switches, sizeof(*order));
	uint32_t n = listed_switches(s, order);
	struct discovery_routes r;

	routes_init(&r, s->topo);
	for (uint32_t i = 0; i < n; i++) {
		strbuf_printf(out, "Unicast lids [0x0-0x%x]",
			      s->top_lid[subnet_of_switch(s, order[i])]);
		print_switch(&r, s, order[i], out);
		strbuf_puts(out, "  Lid  Out   Destination\n"
				 "       Port     Info \n");
		write_fts_of(s, order[i], out);
	}
	routes_fini(&r);
	free(order);
}

static void write_lfts(const struct subnet *s, struct strbuf *out)
{
	write_fts(s, out);
	strbuf_puts(out, "\n*** WARNING ***: this command has been replaced by dump_fts\n\n\n");
}

static void write_opensm_of(const struct subnet *s, switch_id sw, struct strbuf *out)
{
	const struct topo_node *v = switch_node(s, sw);
	unsigned sub = subnet_of_switch(s, sw);

	strbuf_printf(out, "Unicast lids [0-%u] of switch Lid %u guid 0x%016" PRIx64 " ('",
		      s->top_lid[sub], s->lid_of_port[v->first_port], v->guid);
	strbuf_puts(out, v->name);
	strbuf_puts(out, "'):\n");
	for (uint32_t lid = 1; lid <= s->top_lid[sub]; lid++) {
		uint8_t port = lft_get(s, sw, (lid_t)lid);
		port_id p = s->port_of_lid[sub][lid];

		if (port > v->n_ports || port == LFT_NO_PORT)
			continue;
		strbuf_printf(out, "0x%04x %03u # ", lid, port);
		if (p == TOPO_NONE) {
			strbuf_puts(out, "unknown node and type\n");
			continue;
		}
		strbuf_printf(out, "%s portguid 0x%016" PRIx64 ": '",
			      kind_name(topo_node_of(s->topo, p)), order_port_guid(s->topo, p));
		strbuf_puts(out, topo_node_of(s->topo, p)->name);
		strbuf_puts(out, "'\n");
	}
	strbuf_printf(out, "%u lids dumped\n", s->top_lid[sub]);
}

static void write_opensm(const struct subnet *s, struct strbuf *out)
{
	switch_id *order = hd_alloc(s->n_switches, sizeof(*order));
	uint32_t n = mapped_switches(s, order);

	for (uint32_t i = 0; i < n; i++)
		write_opensm_of(s, order[i], out);
	free(order);
}

/* Hop counts of OpenSM: one more to an adapter than to its switch. */
struct hop_counts {
	struct sw_graph g;
	uint16_t *dist; /* [target][switch] */
	switch_id *queue;
};

static unsigned least_hops(const struct subnet *s, const struct hop_counts *h, switch_id from,
			   unsigned sub, lid_t lid)
{
	switch_id sw;
	uint8_t port;

	if (!subnet_target(s, sub, lid, &sw, &port))
		return GRAPH_FAR;
	uint16_t hops = h->dist[(size_t)sw * h->g.n + from];

	if (hops == GRAPH_FAR)
		return GRAPH_FAR;
	return hops + (port > 0 ? 1u : 0u);
}

/* Through one port: a hop, and what is left behind it. */
static unsigned hops_by(const struct subnet *s, const struct hop_counts *h, switch_id from,
			lid_t lid, uint8_t port)
{
	unsigned sub = subnet_of_switch(s, from);
	edge_id e = edge_of(&h->g, from, port);

	if (e == TOPO_NONE)
		return least_hops(s, h, from, sub, lid);
	return 1 + least_hops(s, h, h->g.edges[e].to, sub, lid);
}

static void write_fdbs_of(const struct subnet *s, const struct hop_counts *h, switch_id sw,
			  struct strbuf *out)
{
	unsigned sub = subnet_of_switch(s, sw);

	strbuf_printf(
		out, "dump_ucast_routes: Switch 0x%016" PRIx64 "\nLID    : Port : Hops : Optimal\n",
		switch_node(s, sw)->guid);
	for (uint32_t lid = 1; lid <= s->top_lid[sub]; lid++) {
		uint8_t port = lft_get(s, sw, (lid_t)lid);
		unsigned least = least_hops(s, h, sw, sub, (lid_t)lid);

		strbuf_printf(out, "0x%04X : ", lid);
		if (port == LFT_NO_PORT || least == GRAPH_FAR) {
			strbuf_puts(out, "UNREACHABLE\n");
			continue;
		}
		unsigned hops = hops_by(s, h, sw, (lid_t)lid, port);

		strbuf_printf(out, "%03u  : %02u   : ", port, hops);
		if (hops <= least)
			strbuf_puts(out, "yes\n");
		else
			strbuf_printf(out, "No %u hop path possible!\n", least);
	}
}

static void write_fdbs(const struct subnet *s, struct strbuf *out)
{
	switch_id *order = hd_alloc(s->n_switches, sizeof(*order));
	uint32_t n = mapped_switches(s, order);
	struct hop_counts h;

	graph_init(&h.g, s);
	h.dist = hd_alloc((size_t)h.g.n * h.g.n, sizeof(*h.dist));
	h.queue = hd_alloc(h.g.n, sizeof(*h.queue));
	for (switch_id sw = 0; sw < h.g.n; sw++)
		graph_distances(&h.g, sw, &h.dist[(size_t)sw * h.g.n], h.queue);
	for (uint32_t i = 0; i < n; i++)
		write_fdbs_of(s, &h, order[i], out);
	free(h.dist);
	free(h.queue);
	graph_fini(&h.g);
	free(order);
}

/* The port set of a switch for an MLID, or NULL if it has none. */
static const uint64_t *mcast_row(const struct subnet *s, switch_id sw, uint32_t mlid)
{
	const struct mft *m = &s->mft[subnet_of_switch(s, sw)];
	const uint64_t *row = mft_get(m, sw, s->n_switches, (lid_t)mlid);

	for (uint32_t i = 0; row && i < m->words; i++) {
		if (row[i])
			return row;
	}
	return NULL;
}

static uint32_t last_mlid(const struct subnet *s, switch_id sw)
{
	return LID_FIRST_MCAST + s->mft[subnet_of_switch(s, sw)].n_mlids - 1;
}

static void write_ruler(unsigned n_ports, struct strbuf *out)
{
	if (n_ports > 9) {
		strbuf_pad(out, ' ', 12);
		for (unsigned n = 0; n <= n_ports; n++) {
			if (n % 10 == 0)
				strbuf_printf(out, "%-2u", n / 10);
			else
				strbuf_puts(out, "  ");
		}
		strbuf_putc(out, '\n');
	}
	strbuf_puts(out, "     Ports: ");
	for (unsigned n = 0; n <= n_ports; n++)
		strbuf_printf(out, "%u ", n % 10);
	strbuf_puts(out, "\n MLid\n");
}

static void write_mfts_of(const struct subnet *s, switch_id sw, struct strbuf *out)
{
	unsigned n_ports = switch_node(s, sw)->n_ports, n = 0;

	write_ruler(n_ports, out);
	for (uint32_t mlid = LID_FIRST_MCAST; mlid <= last_mlid(s, sw); mlid++) {
		const uint64_t *row = mcast_row(s, sw, mlid);

		if (!row)
			continue;
		strbuf_printf(out, "0x%04x      ", mlid);
		for (unsigned port = 0; port <= n_ports; port++)
			strbuf_puts(out, mcast_has_port(row, port) ? "x " : "  ");
		strbuf_putc(out, '\n');
		n++;
	}
	strbuf_printf(out, "%u valid mlids dumped \n", n);
}

static void write_mfts(const struct subnet *s, struct strbuf *out)
{
	switch_id *order = hd_alloc(s->n_switches, sizeof(*order));
	uint32_t n = listed_switches(s, order);
	struct discovery_routes r;

	routes_init(&r, s->topo);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t end = LID_FIRST_MCAST + MCAST_CAP - 1;

		if (last_mlid(s, order[i]) > end)
			end = last_mlid(s, order[i]);
		strbuf_printf(out, "Multicast mlids [0x%x-0x%x]", LID_FIRST_MCAST, end);
		print_switch(&r, s, order[i], out);
		write_mfts_of(s, order[i], out);
	}
	routes_fini(&r);
	free(order);
}

static void write_mcfdbs_of(const struct subnet *s, switch_id sw, struct strbuf *out)
{
	const struct topo_node *v = switch_node(s, sw);
	bool any = false;

	for (uint32_t mlid = LID_FIRST_MCAST; mlid <= last_mlid(s, sw); mlid++) {
		const uint64_t *row = mcast_row(s, sw, mlid);

		if (!row)
			continue;
		if (!any)
			strbuf_printf(out, "\nSwitch 0x%016" PRIx64 "\nLID    : Out Port(s)\n",
				      v->guid);
		any = true;
		strbuf_printf(out, "0x%04X :", mlid);
		for (unsigned port = 0; port <= v->n_ports; port++) {
			if (mcast_has_port(row, port))
				strbuf_printf(out, " 0x%03X ", port);
		}
		strbuf_putc(out, '\n');
	}
}

static void write_mcfdbs(const struct subnet *s, struct strbuf *out)
{
	switch_id *order = hd_alloc(s->n_switches, sizeof(*order));
	uint32_t n = mapped_switches(s, order);

	for (uint32_t i = 0; i < n; i++)
		write_mcfdbs_of(s, order[i], out);
	free(order);
}

const struct table_writer tables_writers[] = {
	{ "fts", "unicast tables as dump_fts prints them", false, false, write_fts },
	{ "lfts", "unicast tables as dump_lfts prints them", false, false, write_lfts },
	{ "opensm", "unicast tables as OpenSM dumps and takes them", false, true, write_opensm },
	{ "fdbs", "unicast tables with hops, as OpenSM dumps them", false, false, write_fdbs },
	{ "mfts", "multicast tables as dump_fts -M prints them", true, false, write_mfts },
	{ "mcfdbs", "multicast tables as OpenSM dumps them", true, false, write_mcfdbs },
	{ "sl2vl", "SL2VL tables as OpenSM dumps them", false, false, sl2vl_write },
	{ "json", "LIDs, all tables and path SLs, for programs", false, false, tables_write_json },
	{ NULL, NULL, false, false, NULL },
};

const struct table_writer *tables_writer_find(const char *name)
{
	for (const struct table_writer *w = tables_writers; w->name; w++) {
		if (strcmp(w->name, name) == 0)
			return w;
	}
	return NULL;
}

enum hd_status tables_check_export(const struct subnet *s, const struct table_writer *w,
				   struct diag *d)
{
	const struct route_engine *e = s->engine ? route_engine_find(s->engine) : NULL;
	struct deadlock_check c;

	if (!w->for_manager || (!s->sl_of_path && !s->vls_by_engine))
		return HD_OK;
	route_check_deadlock(s, DEADLOCK_ONE_VL, &c);
	uint32_t n_cycle = c.n_cycle;

	route_deadlock_fini(&c);
	if (n_cycle == 0)
		return HD_OK;
	return diag_fail(
		d, HD_ERR_UNFIT,
		"the tables of '%s' count on its VLs, which OpenSM cannot take from a file: with every path on SL 0, %u channels could wait for each other; %s%s%s",
		s->engine ? s->engine : "?", n_cycle,
		e && e->opensm ? "let OpenSM route (-R " : "export ",
		e && e->opensm ? e->opensm : "those of 'updn'",
		e && e->opensm ? "), or export those of 'updn'" : "");
}
