/* SPDX-License-Identifier: BSD-2-Clause */
#include "mgmt/agents/agents.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mgmt/agents/agents_internal.h"
#include "subnet/subnet.h"
#include "wire/cursor.h"

static void switch_init(struct agents *a, node_id v)
{
	const struct topo_node *n = &a->topo->nodes[v];
	const struct {
		enum switch_field field;
		uint64_t value;
	} rows[] = {
		{ SWITCH_LINEAR_CAP, a->options.linear_fdb_cap },
		{ SWITCH_MCAST_CAP, a->options.mcast_fdb_cap },
		{ SWITCH_LIFE_TIME, 18 },
		{ SWITCH_OPTIMISED_SL2VL, 1 },
		{ SWITCH_ENFORCE_CAP, SWITCH_PKEY_BLOCKS * PKEY_BLOCK },
		{ SWITCH_ENFORCE_IN, 1 },
		{ SWITCH_ENFORCE_OUT, 1 },
		{ SWITCH_FILTER_IN, 1 },
		{ SWITCH_FILTER_OUT, 1 },
		{ SWITCH_ENHANCED, n->enhanced_port0 },
		{ SWITCH_MCAST_TOP, LID_FIRST_MCAST - 1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		field_set(&a->switch_fields[rows[i].field], a->nodes[v].switch_info, rows[i].value);
}

struct agents *agents_new(const struct topo *t, const struct agents_options *o,
			  const struct agents_events *events)
{
	struct agents *a = hd_alloc(1, sizeof(*a));

	a->topo = t;
	a->options = *o;
	a->events = *events;
	if (!a->options.linear_fdb_cap)
		a->options.linear_fdb_cap = LID_MAX_UNICAST + 1;
	if (!a->options.mcast_fdb_cap)
		a->options.mcast_fdb_cap = 4096;
	if (!a->options.vlarb_cap)
		a->options.vlarb_cap = 32;
	a->n_nodes = t->n_nodes;
	a->n_ports = t->n_ports;
	a->nodes = hd_alloc(t->n_nodes, sizeof(*a->nodes));
	a->ports = hd_alloc(t->n_ports, sizeof(*a->ports));
	agents_fields_init(a);
	for (port_id p = 0; p < t->n_ports; p++)
		agents_port_info_init(a, p);
	for (node_id v = 0; v < t->n_nodes; v++)
		if (topo_is_switch(t, v))
			switch_init(a, v);
	for (port_id p = 0; p < t->n_ports; p++)
		agents_link_up(a, p, 0);
	/* Notices of the initial training have no receiver. */
	a->n_notices = 0;
	if (o->times)
		agents_timed_init(a);
	return a;
}

void agents_free(struct agents *a)
{
	if (!a)
		return;
	for (node_id v = 0; v < a->n_nodes; v++) {
		free(a->nodes[v].lft);
		free(a->nodes[v].mft);
		free(a->nodes[v].sl2vl);
		free(a->nodes[v].name);
	}
	for (port_id p = 0; p < a->n_ports; p++) {
		free(a->ports[p].vlarb);
		free(a->ports[p].pkeys);
		free(a->ports[p].guids);
		free(a->ports[p].congestion);
		free(a->ports[p].counters);
	}
	free(a->nodes);
	free(a->ports);
	free(a->notices);
	agents_timed_fini(a);
	free(a);
}

const struct topo *agents_topo(const struct agents *a)
{
	return a->topo;
}

uint64_t agents_port_get(const struct agents *a, port_id port, enum port_field f)
{
	return info_get(a, a->ports[port].info, f);
}

unsigned agents_pkey_cap(const struct agents *a, port_id port)
{
	return topo_node_of(a->topo, port)->kind == NODE_SWITCH ? SWITCH_PKEY_BLOCKS * PKEY_BLOCK
								: CA_PKEY_BLOCKS * PKEY_BLOCK;
}

uint16_t agents_pkey(const struct agents *a, port_id port, unsigned i)
{
	const struct agent_port *p = &a->ports[port];

	if (i >= agents_pkey_cap(a, port))
		return 0;
	if (!p->pkeys)
		return i == 0 ? PKEY_DEFAULT : 0;
	return load_be16(p->pkeys[i / PKEY_BLOCK] + (size_t)2 * (i % PKEY_BLOCK));
}

int agents_pkey_find(const struct agents *a, port_id port, uint16_t key)
{
	for (unsigned i = 0; i < agents_pkey_cap(a, port); i++)
		if ((key & PKEY_BASE) != 0 && ((agents_pkey(a, port, i) ^ key) & PKEY_BASE) == 0)
			return (int)i;
	return -1;
}

void agents_sm_set(struct agents *a, port_id port, bool is_sm, hd_time now)
{
	uint8_t *info = a->ports[port].info;
	uint64_t mask = info_get(a, info, PORT_CAP_MASK);
	uint64_t changed = is_sm ? mask | CAP_IS_SM : mask & ~(uint64_t)CAP_IS_SM;
	uint8_t details[10] = { 0 };

	if (changed == mask)
		return;
	info_set(a, info, PORT_CAP_MASK, changed);
	store_be16(details + 2, (uint16_t)info_get(a, info, PORT_LID));
	store_be32(details + 6, (uint32_t)changed);
	agents_notice_raise(a, port, 144, details, sizeof(details), now);
}
