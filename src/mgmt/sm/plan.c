/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/iba.h"
#include "mgmt/sm/sm_internal.h"
#include "subnet/routing/order.h"
#include "wire/cursor.h"

/*
 * LIDs and routes from the result of a sweep. A fabric with a new node or cable is planned from the
 * beginning, and ports keep their LIDs; a fabric that lacks some is replanned
 * (subnet/routing/replan.h).
 */

/* Offsets in NodeInfo. */
enum { TYPE = 2, SYSTEM_GUID = 4, DEVICE = 30, VENDOR = 37 };
/* Data VLs used without port tables, as in 'heddle route'. */
enum { MAX_VLS = 8 };

const struct subnet *sm_plan(const struct sm *m)
{
	return m->has_replan ? &m->replans[m->last].subnet : &m->whole;
}

struct subnet *sm_plan_mutable(struct sm *m)
{
	return m->has_replan ? &m->replans[m->last].subnet : &m->whole;
}

node_id sm_plan_node(const struct sm *m, const struct found_node *n)
{
	uint32_t v = map_get(&m->node_of_guid, n->guid);

	return v == MAP_NONE ? TOPO_NONE : v;
}

/* ---- topology */

static void add_port(const struct sm *m, const struct found_port *f, struct topo_port *out)
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

static void add_node(struct sm *m, const struct found_node *f)
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

static port_id port_of(const struct sm *m, uint32_t node, unsigned port)
{
	node_id v = sm_plan_node(m, &m->found.nodes[node]);

	return v == TOPO_NONE ? TOPO_NONE : topo_port_of(&m->topo, v, port);
}

void sm_plan_fini(struct sm *m)
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

struct guid_index {
	uint64_t guid;
	uint32_t node; /* index in the discovery */
};

static int compare_guids(const void *a, const void *b)
{
	const struct guid_index *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

/*
 * Nodes are ordered by GUID, so that routes do not depend on the manager's position or on the order
 * of responses.
 */
static void build_topology(struct sm *m)
{
	const struct sm_discovery *s = &m->found;
	struct guid_index *order = hd_alloc(s->n, sizeof(*order));

	topo_init(&m->topo);
	for (uint32_t i = 0; i < s->n; i++)
		order[i] = (struct guid_index){ s->nodes[i].guid, i };
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

static bool is_free(const struct sm *m, uint32_t lid)
{
	return lid > 0 && lid <= LID_MAX_UNICAST && !m->lid_taken[lid];
}

static void assign_lid(struct sm *m, uint64_t guid, uint32_t lid)
{
	m->lid_taken[lid] = true;
	map_put(&m->lid_of_guid, guid, lid);
}

/* Keeps the LID in the port's PortInfo if it is valid and unused. */
static void keep_lid(struct sm *m, const struct found_node *n, unsigned p)
{
	node_id v = sm_plan_node(m, n);
	port_id port = topo_port_of(&m->topo, v, p);
	uint64_t guid = order_port_guid(&m->topo, port);
	uint64_t lid = info_get(m, n->ports[p].info, PORT_LID);

	if (n->ports[p].answered && map_get(&m->lid_of_guid, guid) == MAP_NONE &&
	    is_free(m, (uint32_t)lid))
		assign_lid(m, guid, (uint32_t)lid);
}

static bool has_own_lid(const struct found_node *n, unsigned p)
{
	return n->is_switch ? p == 0 : n->ports[p].path != NULL;
}

/* Ports with a LID keep it; others get the lowest free ones. */
static enum hd_status keep_lids(struct sm *m, struct diag *d)
{
	struct lid_options o = { .order = LIDS_KEEP };
	struct topo *t = &m->topo;
	uint32_t next = 1;

	for (port_id p = 0; p < t->n_ports; p++) {
		bool owns = topo_is_switch(t, t->ports[p].node) ? t->ports[p].number == 0
								: topo_is_end_port(t, p);
		uint32_t lid = map_get(&m->lid_of_guid, order_port_guid(t, p));

		if (!owns)
			continue;
		if (lid == MAP_NONE) {
			while (next <= LID_MAX_UNICAST && !is_free(m, next))
				next++;
			if (next > LID_MAX_UNICAST)
				return diag_fail(d, HD_ERR_FULL, "no unicast LID is left");
			lid = next;
			assign_lid(m, order_port_guid(t, p), lid);
		}
		t->ports[p].lid = (uint16_t)lid;
	}
	return subnet_assign_lids(&m->whole, &o, d);
}

static enum hd_status assign_lids(struct sm *m, struct diag *d)
{
	struct lid_options o = { .order = LIDS_OPENSM };

	for (uint32_t i = 0; i < m->found.n; i++)
		for (unsigned p = 0; p <= m->found.nodes[i].n_ports; p++)
			if (has_own_lid(&m->found.nodes[i], p))
				keep_lid(m, &m->found.nodes[i], p);
	if (m->lid_of_guid.n > 0)
		return keep_lids(m, d);
	/* No port has a LID: OpenSM's assignment. */
	o.sm_port = port_of(m, 0, m->found.own_port);
	enum hd_status status = subnet_assign_lids(&m->whole, &o, d);

	for (port_id p = 0; status == HD_OK && p < m->topo.n_ports; p++)
		if (m->whole.lid_of_port[p])
			assign_lid(m, order_port_guid(&m->topo, p), m->whole.lid_of_port[p]);
	return status;
}

/* ---- routes */

static bool report_refusal(struct sm *m, const struct diag *d)
{
	sm_log(m, "%s; programmed tables are unchanged", d->message);
	m->refusal = *d;
	return false;
}

/* A port with smaller arbitration tables would truncate the given ones. */
static enum hd_status check_capacity(const struct sm *m, const struct found_node *n, unsigned p,
				     struct diag *d)
{
	const struct port_table *row = port_tables_find(m->options.tables, n->guid, p);
	const uint8_t *info = n->ports[p].info;

	if (!row || !n->ports[p].answered ||
	    (row->vlarb.n_low <= info_get(m, info, PORT_LOW_CAP) &&
	     row->vlarb.n_high <= info_get(m, info, PORT_HIGH_CAP)))
		return HD_OK;
	return diag_fail(
		d, HD_ERR_UNFIT,
		"port %u of node 0x%016llx has smaller arbitration tables than the given ones", p,
		(unsigned long long)n->guid);
}

/* Applies the given port tables to a plan. */
static enum hd_status apply_tables(const struct sm *m, struct subnet *s, struct diag *d)
{
	const struct port_tables *tables = m->options.tables;
	size_t n;

	if (!tables)
		return HD_OK;
	for (uint32_t i = 0; i < m->found.n; i++)
		for (unsigned p = 1; p <= m->found.nodes[i].n_ports; p++)
			if (check_capacity(m, &m->found.nodes[i], p, d) != HD_OK)
				return d->status;
	enum hd_status status = port_tables_apply(tables, s, d, &n);

	if (status == HD_OK)
		sm_log(m, "port tables: %zu given, %zu of them for discovered ports", tables->n, n);
	return status;
}

static bool plan_anew(struct sm *m)
{
	const struct route_options none = { .n_roots = 0 };
	struct diag d = { .status = HD_OK };

	sm_plan_fini(m);
	build_topology(m);
	subnet_init(&m->whole, &m->topo);
	subnet_limit_vls(&m->whole, m->options.tables ? m->options.tables->vls : MAX_VLS);
	m->has_whole = true;
	if (assign_lids(m, &d) != HD_OK ||
	    subnet_route(&m->whole, m->options.engine, &none, &d) != HD_OK ||
	    apply_tables(m, &m->whole, &d) != HD_OK) {
		bool good = report_refusal(m, &d);

		sm_plan_fini(m);
		return good;
	}
	return true;
}

/* Marks missing cables; false if a node or cable is new. */
static bool mark_down(const struct sm *m, bool *down)
{
	const struct sm_discovery *s = &m->found;

	for (port_id p = 0; p < m->topo.n_ports; p++)
		down[p] = m->topo.ports[p].peer != TOPO_NONE;
	for (uint32_t i = 0; i < s->n; i++) {
		node_id v = sm_plan_node(m, &s->nodes[i]);

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

static bool plan_again(struct sm *m, const bool *down)
{
	struct replan_options o = {
		.engine = m->options.engine,
		.mode = REPLAN_AS_OPENSM,
		.manager = port_of(m, 0, m->found.own_port),
	};
	struct diag d = { .status = HD_OK };
	unsigned next = 1 - m->last;

	if (replan(&m->whole, sm_plan(m), down, &o, &d, &m->replans[next]) != HD_OK)
		return report_refusal(m, &d);
	if (apply_tables(m, &m->replans[next].subnet, &d) != HD_OK) {
		replan_fini(&m->replans[next]);
		return report_refusal(m, &d);
	}
	if (m->has_replan)
		replan_fini(&m->replans[m->last]);
	m->last = next;
	m->has_replan = true;
	return true;
}

bool sm_plan_routes(struct sm *m)
{
	bool *down, good;

	m->refusal.status = HD_OK;
	if (!m->has_whole)
		return plan_anew(m);
	down = hd_alloc(m->topo.n_ports, sizeof(*down));
	good = mark_down(m, down) ? plan_again(m, down) : plan_anew(m);
	free(down);
	return good;
}
