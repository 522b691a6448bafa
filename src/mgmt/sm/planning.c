/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/iba.h"
#include "mgmt/sm/sm_internal.h"
#include "subnet/routing/order.h"
#include "wire/cursor.h"

/*
 * From what a sweep saw to LIDs and routes. A fabric that has a node or cable
 * that was never there is taken up anew, with the LIDs that its ports have;
 * one that lacks some is planned again (subnet/routing/replan.h).
 */

/* Where things stand in NodeInfo. */
enum { TYPE = 2, SYSTEM_GUID = 4, DEVICE = 30, VENDOR = 37 };
/* As many data lanes as 'heddle route' uses, if it is not told. */
enum { MOST_VLS = 8 };

const struct subnet *planned_now(const struct manager *m)
{
	return m->has_replan ? &m->replans[m->last].subnet : &m->whole;
}

struct subnet *planned_tables(struct manager *m)
{
	return m->has_replan ? &m->replans[m->last].subnet : &m->whole;
}

node_id planned_node(const struct manager *m, const struct found_node *n)
{
	uint32_t v = map_get(&m->node_of_guid, n->guid);

	return v == MAP_NONE ? TOPO_NONE : v;
}

/* ---- a topology */

static void add_port(const struct manager *m, const struct found_port *f, struct topo_port *out)
{
	uint64_t vls = info_get(m, f->info, PORT_VL_CAP);
	uint64_t mtu = info_get(m, f->info, PORT_MTU_CAP);

	if (!f->answered)
		return;
	out->guid = f->guid;
	out->widths = (uint8_t)info_get(m, f->info, PORT_WIDTHS);
	out->speeds = (uint16_t)(info_get(m, f->info, PORT_SPEEDS) |
				 info_get(m, f->info, PORT_EXT_SPEEDS) << SPEED_FDR);
	out->vls = (uint8_t)vls_of_code(vls ? vls : 1);
	out->mtu = (uint16_t)mtu_of_code(mtu);
}

static void add_node(struct manager *m, const struct found_node *f)
{
	static const enum node_kind kinds[] = { NODE_CA, NODE_CA, NODE_SWITCH, NODE_ROUTER };
	char name[BLOCK + 1] = { 0 };

	memcpy(name, f->name, BLOCK);
	node_id v = topo_add_node(&m->topo, kinds[f->info[TYPE] < 4 ? f->info[TYPE] : 0],
				  f->n_ports, name);
	struct topo_node *n = &m->topo.nodes[v];

	n->guid = f->guid;
	n->system_guid = load_be64(f->info + SYSTEM_GUID);
	n->device = load_be16(f->info + DEVICE);
	n->vendor = load_be24(f->info + VENDOR);
	n->enhanced_port0 = f->is_switch && switch_get(m, f, SWITCH_ENHANCED);
	for (unsigned p = 0; p <= f->n_ports; p++)
		add_port(m, &f->ports[p], &m->topo.ports[n->first_port + p]);
	map_put(&m->node_of_guid, f->guid, v);
}

static port_id port_of(const struct manager *m, uint32_t node, unsigned port)
{
	node_id v = planned_node(m, &m->seen.nodes[node]);

	return v == TOPO_NONE ? TOPO_NONE : topo_port_of(&m->topo, v, port);
}

void planned_fini(struct manager *m)
{
	if (m->has_replan)
		replan_fini(&m->replans[m->last]);
	if (m->has_whole) {
		subnet_fini(&m->whole);
		topo_fini(&m->topo);
		map_fini(&m->node_of_guid);
		m->node_of_guid = (struct map){ 0 };
	}
	m->has_replan = m->has_whole = false;
}

struct keyed {
	uint64_t guid;
	uint32_t node; /* of the sight */
};

static int compare_guids(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

/* By GUID: routes do not depend on where the manager is, or on who answers
 * first. */
static void take_topology(struct manager *m)
{
	const struct sight *s = &m->seen;
	struct keyed *order = hd_alloc(s->n, sizeof(*order));

	topo_init(&m->topo);
	for (uint32_t i = 0; i < s->n; i++)
		order[i] = (struct keyed){ s->nodes[i].guid, i };
	qsort(order, s->n, sizeof(*order), compare_guids);
	for (uint32_t i = 0; i < s->n; i++)
		add_node(m, &s->nodes[order[i].node]);
	free(order);
	for (uint32_t i = 0; i < s->n; i++)
		for (unsigned p = 1; p <= s->nodes[i].n_ports; p++) {
			const struct found_port *f = &s->nodes[i].ports[p];
			port_id a = port_of(m, i, p), b;

			if (f->peer == NO_NODE)
				continue;
			b = port_of(m, f->peer, f->number);
			if (a < b)
				topo_link(&m->topo, a, b);
		}
	topo_number_subnets(&m->topo);
}

/* ---- LIDs */

static bool is_free(const struct manager *m, uint32_t lid)
{
	return lid > 0 && lid <= LID_MAX_UNICAST && !m->lid_taken[lid];
}

static void take_lid(struct manager *m, uint64_t guid, uint32_t lid)
{
	m->lid_taken[lid] = true;
	map_put(&m->lid_of_guid, guid, lid);
}

/* What a port answered that its LID is, if it is one that it may keep. */
static void keep_lid(struct manager *m, const struct found_node *n, unsigned p)
{
	node_id v = planned_node(m, n);
	port_id port = topo_port_of(&m->topo, v, p);
	uint64_t guid = port_guid(&m->topo, port);
	uint64_t lid = info_get(m, n->ports[p].info, PORT_LID);

	if (n->ports[p].answered && map_get(&m->lid_of_guid, guid) == MAP_NONE &&
	    is_free(m, (uint32_t)lid))
		take_lid(m, guid, (uint32_t)lid);
}

static bool has_own_lid(const struct found_node *n, unsigned p)
{
	return n->is_switch ? p == 0 : n->ports[p].path != NULL;
}

/* Those of ports that have one, the least free ones for others. */
static enum hd_status keep_lids(struct manager *m, struct diag *d)
{
	struct lid_options o = { .order = LIDS_KEEP };
	struct topo *t = &m->topo;
	uint32_t next = 1;

	for (port_id p = 0; p < t->n_ports; p++) {
		bool owns = topo_is_switch(t, t->ports[p].node) ? t->ports[p].number == 0
								: topo_is_end_port(t, p);
		uint32_t lid = map_get(&m->lid_of_guid, port_guid(t, p));

		if (!owns)
			continue;
		if (lid == MAP_NONE) {
			while (next <= LID_MAX_UNICAST && !is_free(m, next))
				next++;
			if (next > LID_MAX_UNICAST)
				return diag_fail(d, HD_ERR_FULL, "no LID is left");
			lid = next;
			take_lid(m, port_guid(t, p), lid);
		}
		t->ports[p].lid = (uint16_t)lid;
	}
	return subnet_assign_lids(&m->whole, &o, d);
}

static enum hd_status assign_lids(struct manager *m, struct diag *d)
{
	struct lid_options o = { .order = LIDS_OPENSM };

	for (uint32_t i = 0; i < m->seen.n; i++)
		for (unsigned p = 0; p <= m->seen.nodes[i].n_ports; p++)
			if (has_own_lid(&m->seen.nodes[i], p))
				keep_lid(m, &m->seen.nodes[i], p);
	if (m->lid_of_guid.n > 0)
		return keep_lids(m, d);
	/* Nobody has been here: as OpenSM would. */
	o.sm_port = port_of(m, 0, m->seen.own_port);
	enum hd_status status = subnet_assign_lids(&m->whole, &o, d);

	for (port_id p = 0; status == HD_OK && p < m->topo.n_ports; p++)
		if (m->whole.lid_of_port[p])
			take_lid(m, port_guid(&m->topo, p), m->whole.lid_of_port[p]);
	return status;
}

/* ---- routes */

static bool refuse(struct manager *m, const struct diag *d)
{
	manager_say(m, "%s; tables stay as they are", d->message);
	m->refusal = *d;
	return false;
}

/* A port with less room would cut its tables, and what they promise. */
static enum hd_status check_room(const struct manager *m, const struct found_node *n, unsigned p,
				 struct diag *d)
{
	const struct port_table *row = port_tables_find(m->options.tables, n->guid, p);
	const uint8_t *info = n->ports[p].info;

	if (!row || !n->ports[p].answered ||
	    (row->vlarb.n_low <= info_get(m, info, PORT_LOW_CAP) &&
	     row->vlarb.n_high <= info_get(m, info, PORT_HIGH_CAP)))
		return HD_OK;
	return diag_fail(d, HD_ERR_UNFIT,
			 "port %u of node 0x%016llx has no room for its arbitration tables", p,
			 (unsigned long long)n->guid);
}

/* The tables that were given, into a plan. */
static enum hd_status take_tables(const struct manager *m, struct subnet *s, struct diag *d)
{
	const struct port_tables *tables = m->options.tables;
	size_t n;

	if (!tables)
		return HD_OK;
	for (uint32_t i = 0; i < m->seen.n; i++)
		for (unsigned p = 1; p <= m->seen.nodes[i].n_ports; p++)
			if (check_room(m, &m->seen.nodes[i], p, d) != HD_OK)
				return d->status;
	enum hd_status status = port_tables_apply(tables, s, d, &n);

	if (status == HD_OK)
		manager_say(m, "tables of %zu ports given, of %zu ports found", tables->n, n);
	return status;
}

static bool take_up(struct manager *m)
{
	const struct route_options none = { .n_roots = 0 };
	struct diag d = { .status = HD_OK };

	planned_fini(m);
	take_topology(m);
	subnet_init(&m->whole, &m->topo);
	subnet_limit_vls(&m->whole, m->options.tables ? m->options.tables->vls : MOST_VLS);
	m->has_whole = true;
	if (assign_lids(m, &d) != HD_OK ||
	    subnet_route(&m->whole, m->options.engine, &none, &d) != HD_OK ||
	    take_tables(m, &m->whole, &d) != HD_OK) {
		bool good = refuse(m, &d);

		planned_fini(m);
		return good;
	}
	return true;
}

/* Marks what is not there now; false if something is there that is new. */
static bool mark_down(const struct manager *m, bool *down)
{
	const struct sight *s = &m->seen;

	for (port_id p = 0; p < m->topo.n_ports; p++)
		down[p] = m->topo.ports[p].peer != TOPO_NONE;
	for (uint32_t i = 0; i < s->n; i++) {
		node_id v = planned_node(m, &s->nodes[i]);

		if (v == TOPO_NONE || m->topo.nodes[v].n_ports != s->nodes[i].n_ports)
			return false;
		for (unsigned p = 1; p <= s->nodes[i].n_ports; p++) {
			const struct found_port *f = &s->nodes[i].ports[p];
			port_id a = topo_port_of(&m->topo, v, p);

			if (f->peer == NO_NODE)
				continue;
			if (m->topo.ports[a].peer != port_of(m, f->peer, f->number))
				return false;
			down[a] = false;
		}
	}
	return true;
}

static bool route_again(struct manager *m, const bool *down)
{
	struct replan_options o = {
		.engine = m->options.engine,
		.mode = REPLAN_AS_OPENSM,
		.manager = port_of(m, 0, m->seen.own_port),
	};
	struct diag d = { .status = HD_OK };
	unsigned next = 1 - m->last;

	if (replan(&m->whole, planned_now(m), down, &o, &d, &m->replans[next]) != HD_OK)
		return refuse(m, &d);
	if (take_tables(m, &m->replans[next].subnet, &d) != HD_OK) {
		replan_fini(&m->replans[next]);
		return refuse(m, &d);
	}
	if (m->has_replan)
		replan_fini(&m->replans[m->last]);
	m->last = next;
	m->has_replan = true;
	return true;
}

bool plan_routes(struct manager *m)
{
	bool *down, good;

	m->refusal.status = HD_OK;
	if (!m->has_whole)
		return take_up(m);
	down = hd_alloc(m->topo.n_ports, sizeof(*down));
	good = mark_down(m, down) ? route_again(m, down) : take_up(m);
	free(down);
	return good;
}
