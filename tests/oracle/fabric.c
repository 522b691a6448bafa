/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "subnet/multicast/mcast.h"
#include "subnet/routing/adaptive.h"
#include "subnet/routing/router.h"

#define MFT_WORDS 1

void fabric_init(struct fabric *fabric)
{
	*fabric = (struct fabric){ 0 };
	topo_init(&fabric->topo);
}

node_id fabric_switch(struct fabric *fabric, unsigned n_ports)
{
	char name[32];

	snprintf(name, sizeof(name), "switch-%u", (unsigned)fabric->topo.n_nodes);
	return topo_add_node(&fabric->topo, NODE_SWITCH, n_ports, name);
}

node_id fabric_router(struct fabric *fabric, unsigned n_ports)
{
	char name[32];

	snprintf(name, sizeof(name), "router-%u", (unsigned)fabric->topo.n_nodes);
	return topo_add_node(&fabric->topo, NODE_ROUTER, n_ports, name);
}

node_id fabric_host(struct fabric *fabric)
{
	char name[32];

	snprintf(name, sizeof(name), "host-%u", (unsigned)fabric->topo.n_nodes);
	return topo_add_node(&fabric->topo, NODE_CA, 1, name);
}

void fabric_cable(struct fabric *fabric, node_id a, unsigned an, node_id b, unsigned bn)
{
	topo_link(&fabric->topo, topo_port_of(&fabric->topo, a, an),
		  topo_port_of(&fabric->topo, b, bn));
}

/* ---- the setup: sim nodes and ports ---- */

static uint32_t own_hosts(const struct fabric *fabric)
{
	uint32_t n = 0;

	for (node_id v = 0; v < fabric->topo.n_nodes; v++)
		n += fabric->own_host[v];
	return n;
}

static void ports_copy(struct fabric *fabric)
{
	struct sim_setup *s = &fabric->setup;

	for (port_id p = 0; p < fabric->topo.n_ports; p++)
		s->ports[p] = (struct sim_port){
			.node = fabric->topo.ports[p].node,
			.peer = fabric->topo.ports[p].peer,
			.origin = p,
		};
}

/* A host on port 0 of switch v is a node of its own, and both ends of its
 * cable are the same port of the topology.
 */
static void own_host_add(struct fabric *fabric, node_id v)
{
	struct sim_setup *s = &fabric->setup;
	uint32_t first = s->n_ports;
	port_id origin = topo_port_of(&fabric->topo, v, 0);

	s->nodes[s->n_nodes] = (struct sim_node){
		.kind = SIM_END,
		.first_port = first,
		.n_ports = 1,
		.sw = TOPO_NONE,
		.node = v,
	};
	s->ports[first] =
		(struct sim_port){ .node = s->n_nodes, .peer = SIM_NONE, .origin = origin };
	s->ports[first + 1] =
		(struct sim_port){ .node = s->n_nodes, .peer = origin, .origin = origin };
	s->ports[origin].peer = first + 1;
	s->n_ports += 2;
	fabric->ends[fabric->n_ends++] = s->n_nodes++;
	fabric->topo.nodes[v].enhanced_port0 = true;
}

static void setup_build(struct fabric *fabric)
{
	struct sim_setup *s = &fabric->setup;
	uint32_t extra = own_hosts(fabric);

	s->subnet = &fabric->subnet;
	s->nodes = hd_alloc(fabric->topo.n_nodes + extra, sizeof(*s->nodes));
	s->ports = hd_alloc(fabric->topo.n_ports + 2 * extra, sizeof(*s->ports));
	s->n_nodes = fabric->topo.n_nodes;
	s->n_ports = fabric->topo.n_ports;
	s->sw.speedup = (struct hd_ratio){ 1, 1 };
	fabric->ends = hd_alloc(fabric->topo.n_nodes + extra, sizeof(*fabric->ends));
	ports_copy(fabric);
	for (node_id v = 0; v < fabric->topo.n_nodes; v++) {
		static const enum sim_node_kind kinds[] = {
			[NODE_CA] = SIM_END,
			[NODE_SWITCH] = SIM_SWITCH,
			[NODE_ROUTER] = SIM_ROUTER,
		};

		s->nodes[v] = (struct sim_node){
			.kind = kinds[fabric->topo.nodes[v].kind],
			.first_port = fabric->topo.nodes[v].first_port,
			.n_ports = fabric->topo.nodes[v].n_ports,
			.sw = fabric->subnet.switch_of_node[v],
			.node = v,
		};
		if (s->nodes[v].kind == SIM_END)
			fabric->ends[fabric->n_ends++] = v;
	}
	for (node_id v = 0; v < fabric->topo.n_nodes; v++)
		if (fabric->own_host[v])
			own_host_add(fabric, v);
}

/* ---- the subnet ---- */

static void switches_number(struct fabric *fabric)
{
	struct subnet *s = &fabric->subnet;
	uint32_t n = fabric->topo.n_nodes;

	s->switch_of_node = hd_alloc(n, sizeof(*s->switch_of_node));
	s->node_of_switch = hd_alloc(n, sizeof(*s->node_of_switch));
	s->sl2vl_of_pair = hd_alloc(n, sizeof(uint16_t *));
	for (node_id v = 0; v < n; v++) {
		size_t side = fabric->topo.nodes[v].n_ports + (size_t)1;

		s->switch_of_node[v] = TOPO_NONE;
		if (!topo_is_switch(&fabric->topo, v))
			continue;
		s->switch_of_node[v] = s->n_switches;
		s->node_of_switch[s->n_switches] = v;
		s->sl2vl_of_pair[s->n_switches++] = hd_alloc(side * side, sizeof(uint16_t));
	}
}

static void tables_build(struct fabric *fabric)
{
	struct subnet *s = &fabric->subnet;
	uint32_t n_ports = fabric->topo.n_ports;

	s->sl2vl_tables = hd_alloc(FABRIC_TABLES, sizeof(*s->sl2vl_tables));
	s->n_sl2vl_tables = 1;
	for (unsigned sl = 0; sl < N_SLS; sl++)
		s->sl2vl_tables[0].vl[sl] = (uint8_t)sl;
	s->sl2vl_of_port = hd_alloc(n_ports, sizeof(*s->sl2vl_of_port));
	s->vlarb_tables = hd_alloc(FABRIC_TABLES, sizeof(*s->vlarb_tables));
	s->n_vlarb_tables = 1;
	s->vlarb_tables[0].n_low = N_DATA_VLS;
	for (uint8_t vl = 0; vl < N_DATA_VLS; vl++)
		s->vlarb_tables[0].low[vl] = (struct vlarb_entry){ vl, 255 };
	s->vlarb_of_port = hd_alloc(n_ports, sizeof(*s->vlarb_of_port));
	s->vls_of_port = hd_alloc(n_ports, sizeof(*s->vls_of_port));
	s->pkeys = hd_alloc(n_ports, sizeof(*s->pkeys));
	for (port_id p = 0; p < n_ports; p++)
		s->pkeys[p].keys = hd_alloc(FABRIC_PKEYS, sizeof(uint16_t));
}

static void forwarding_build(struct fabric *fabric)
{
	struct subnet *s = &fabric->subnet;

	s->lft_stride = FABRIC_LIDS;
	s->lft = hd_alloc((size_t)s->n_switches * FABRIC_LIDS, 1);
	memset(s->lft, LFT_NO_PORT, (size_t)s->n_switches * FABRIC_LIDS);
	s->mft = hd_alloc(s->n_subnets, sizeof(*s->mft));
	s->mft->n_mlids = FABRIC_GROUPS;
	s->mft->cap = FABRIC_GROUPS;
	s->mft->words = MFT_WORDS;
	s->mft->ports =
		hd_alloc((size_t)FABRIC_GROUPS * s->n_switches * MFT_WORDS, sizeof(uint64_t));
	/* Rows are of switches, so all subnets can share them. */
	for (uint32_t i = 1; i < s->n_subnets; i++)
		s->mft[i] = s->mft[0];
}

static void lid_give(struct fabric *fabric, port_id p, lid_t lid)
{
	struct subnet *s = &fabric->subnet;
	unsigned subnet = fabric->topo.ports[p].subnet;

	assert(lid < FABRIC_LIDS);
	s->lid_of_port[p] = lid;
	s->port_of_lid[subnet][lid] = p;
	s->top_lid[subnet] = lid;
}

static void lids_assign(struct fabric *fabric)
{
	struct subnet *s = &fabric->subnet;
	lid_t next = 1;

	s->lid_of_port = hd_alloc(fabric->topo.n_ports, sizeof(*s->lid_of_port));
	s->lmc_of_port = hd_alloc(fabric->topo.n_ports, sizeof(*s->lmc_of_port));
	s->prefix = hd_alloc(s->n_subnets, sizeof(*s->prefix));
	s->port_of_lid = hd_alloc(s->n_subnets, sizeof(port_id *));
	s->top_lid = hd_alloc(s->n_subnets, sizeof(*s->top_lid));
	for (uint32_t i = 0; i < s->n_subnets; i++) {
		s->prefix[i] = UINT64_C(0xfe80000000000000) + i;
		s->port_of_lid[i] = hd_alloc(FABRIC_LIDS, sizeof(port_id));
		for (lid_t lid = 0; lid < FABRIC_LIDS; lid++)
			s->port_of_lid[i][lid] = TOPO_NONE;
	}
	for (uint32_t i = 0; i < fabric->n_ends; i++)
		lid_give(fabric, fabric->setup.ports[fabric_end_port(fabric, i)].origin, next++);
	for (port_id p = 0; p < fabric->topo.n_ports; p++) {
		if (topo_node_of(&fabric->topo, p)->kind == NODE_ROUTER &&
		    topo_is_end_port(&fabric->topo, p))
			lid_give(fabric, p, next++);
	}
	subnet_router_tables_init(s);
}

void fabric_finish(struct fabric *fabric)
{
	topo_number_subnets(&fabric->topo);
	fabric->subnet.n_subnets = fabric->topo.n_subnets;
	fabric->subnet.topo = &fabric->topo;
	fabric->subnet.engine = "by hand";
	switches_number(fabric);
	tables_build(fabric);
	forwarding_build(fabric);
	setup_build(fabric);
	lids_assign(fabric);
}

void fabric_links_set(struct fabric *fabric, const struct fabric_link *link)
{
	struct sim_setup *s = &fabric->setup;

	for (uint32_t i = 0; i < s->n_ports; i++) {
		struct sim_port *p = &s->ports[i];

		if (p->peer == SIM_NONE)
			continue;
		p->rate = link->rate;
		p->propagation = link->propagation;
		p->in_blocks = link->in_blocks;
		p->out_blocks = link->out_blocks;
		p->vl15_blocks = link->vl15_blocks;
		p->vls = link->vls;
		fabric->subnet.vls_of_port[p->origin] = link->vls;
	}
}

void fabric_route(struct fabric *fabric, node_id sw, lid_t lid, unsigned port)
{
	size_t row = fabric->subnet.switch_of_node[sw];

	fabric->subnet.lft[row * FABRIC_LIDS + lid] = (uint8_t)port;
}

void fabric_group_add(struct fabric *fabric, lid_t mlid, node_id sw, unsigned port)
{
	size_t group = mlid - LID_FIRST_MCAST;
	size_t row = group * fabric->subnet.n_switches + fabric->subnet.switch_of_node[sw];

	fabric->subnet.mft->ports[row * MFT_WORDS] |= UINT64_C(1) << port;
}

static void subnet_free(struct fabric *fabric)
{
	struct subnet *s = &fabric->subnet;

	for (switch_id w = 0; w < s->n_switches; w++)
		free(s->sl2vl_of_pair[w]);
	for (port_id p = 0; p < fabric->topo.n_ports; p++)
		free(s->pkeys[p].keys);
	free(s->sl2vl_of_pair);
	free(s->pkeys);
	free(s->switch_of_node);
	free(s->node_of_switch);
	free(s->sl2vl_tables);
	free(s->sl2vl_of_port);
	free(s->vlarb_tables);
	free(s->vlarb_index.slots);
	free(s->vlarb_of_port);
	free(s->vls_of_port);
	free(s->lft);
	mcast_drop(s, 0);
	free(s->groups);
	free(s->mft->ports);
	free(s->mft);
	free(s->lid_of_port);
	free(s->lmc_of_port);
	free(s->prefix);
	for (uint32_t i = 0; i < s->n_subnets; i++)
		free(s->port_of_lid[i]);
	subnet_router_tables_free(s);
	adaptive_forget(s);
	free(s->port_of_lid);
	free(s->top_lid);
}

void fabric_fini(struct fabric *fabric)
{
	subnet_free(fabric);
	free(fabric->setup.nodes);
	free(fabric->setup.ports);
	free(fabric->setup.faults);
	free(fabric->setup.changes);
	free(fabric->setup.routes);
	free(fabric->setup.paths);
	free(fabric->setup.settings);
	free(fabric->sl_of_tclass);
	free(fabric->tclass_of_sl);
	free(fabric->ends);
	topo_fini(&fabric->topo);
}
