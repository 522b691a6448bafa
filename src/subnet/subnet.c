/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/subnet.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "subnet/multicast/aggregate.h"
#include "subnet/multicast/mcast.h"
#include "subnet/routing/adaptive.h"
#include "subnet/routing/router.h"
#include "subnet/tables/intern.h"

#define DEFAULT_WEIGHT     4 /* OpenSM's */
#define PREFIX_SITE_LOCAL  UINT64_C(0xFEC0000000000000)
#define OPENSM_SL15_VL     7
#define MAX_MASK_OF_15_VLS 15u

struct sl2vl sl2vl_default(unsigned vls)
{
	/* OpenSM masks VLs, which for 1, 2, 4, 8 is the modulus. */
	unsigned mask = vls >= N_DATA_VLS ? MAX_MASK_OF_15_VLS : vls - 1;
	struct sl2vl table;

	for (unsigned sl = 0; sl < N_SLS; sl++) {
		unsigned vl = sl < N_DATA_VLS ? sl : OPENSM_SL15_VL;

		table.vl[sl] = (uint8_t)(vl & mask);
	}
	return table;
}

struct vlarb vlarb_default(unsigned vls)
{
	struct vlarb table = { .n_low = (uint8_t)vls };

	for (unsigned vl = 0; vl < vls; vl++)
		table.low[vl] = (struct vlarb_entry){
			.vl = (uint8_t)vl,
			.weight = DEFAULT_WEIGHT,
		};
	return table;
}

static uint32_t intern_sl2vl(struct subnet *s, const struct sl2vl *table)
{
	void *tables = s->sl2vl_tables;
	uint32_t id =
		tables_intern(&s->sl2vl_index, &tables, &s->n_sl2vl_tables, table, sizeof(*table));

	s->sl2vl_tables = tables;
	return id;
}

void subnet_set_sl2vl(struct subnet *s, switch_id sw, unsigned in, unsigned out,
		      const struct sl2vl *table)
{
	unsigned n = switch_node(s, sw)->n_ports + 1u;
	uint32_t id = intern_sl2vl(s, table);

	if (s->borrows_pairs)
		subnet_own(s);
	assert(in < n && out < n);
	/* Beyond SUBNET_MOST_SL2VL, which files and fabrics refuse, any. */
	s->sl2vl_of_pair[sw][in * n + out] = (uint16_t)id;
}

void subnet_set_port_sl2vl(struct subnet *s, port_id end_port, const struct sl2vl *table)
{
	s->sl2vl_of_port[end_port] = intern_sl2vl(s, table);
}

uint32_t subnet_keep_vlarb(struct subnet *s, const struct vlarb *table)
{
	void *tables = s->vlarb_tables;
	/* Entries out of use must not make equal tables differ. */
	struct vlarb clean = {
		.n_high = table->n_high,
		.n_low = table->n_low,
		.high_limit = table->high_limit,
	};

	memcpy(clean.high, table->high, table->n_high * sizeof(clean.high[0]));
	memcpy(clean.low, table->low, table->n_low * sizeof(clean.low[0]));
	uint32_t id =
		tables_intern(&s->vlarb_index, &tables, &s->n_vlarb_tables, &clean, sizeof(clean));

	s->vlarb_tables = tables;
	return id;
}

void subnet_set_vlarb(struct subnet *s, port_id port, const struct vlarb *table)
{
	s->vlarb_of_port[port] = subnet_keep_vlarb(s, table);
}

void subnet_set_pkeys(struct subnet *s, port_id port, const uint16_t *keys, unsigned n)
{
	struct pkey_table *p = &s->pkeys[port];

	p->keys = hd_realloc(p->keys, n, sizeof(*p->keys));
	memcpy(p->keys, keys, n * sizeof(*p->keys));
	p->n = (uint16_t)n;
}

/* VLs of the link at `port`, or of the port itself without a link. */
static uint8_t vls_of(const struct topo *t, port_id port, unsigned max)
{
	unsigned vls = t->ports[port].vls;
	port_id peer = t->ports[port].peer;

	if (peer != TOPO_NONE && t->ports[peer].vls < vls)
		vls = t->ports[peer].vls;
	return (uint8_t)(vls < max ? vls : max);
}

static void default_vls_of_switch(struct subnet *s, switch_id sw)
{
	const struct topo_node *v = switch_node(s, sw);
	unsigned n = v->n_ports + 1u;

	for (unsigned out = 0; out < n; out++) {
		unsigned vls = s->vls_of_port[v->first_port + out];
		struct sl2vl table = sl2vl_default(vls);
		uint16_t id = (uint16_t)intern_sl2vl(s, &table);

		for (unsigned in = 0; in < n; in++)
			s->sl2vl_of_pair[sw][in * n + out] = id;
	}
}

void subnet_reset_vls(struct subnet *s)
{
	if (s->borrows_pairs)
		subnet_own(s);
	for (port_id p = 0; p < s->topo->n_ports; p++) {
		struct sl2vl vls = sl2vl_default(s->vls_of_port[p]);

		subnet_set_port_sl2vl(s, p, &vls);
	}
	for (switch_id sw = 0; sw < s->n_switches; sw++)
		default_vls_of_switch(s, sw);
	s->vls_by_engine = false;
}

void subnet_take_vls(struct subnet *s, const struct subnet *from)
{
	uint32_t *id = hd_alloc(from->n_sl2vl_tables, sizeof(*id));

	if (s->borrows_pairs)
		subnet_own(s);
	for (uint32_t i = 0; i < from->n_sl2vl_tables; i++)
		id[i] = intern_sl2vl(s, &from->sl2vl_tables[i]);
	for (port_id p = 0; p < s->topo->n_ports; p++)
		s->sl2vl_of_port[p] = id[from->sl2vl_of_port[p]];
	for (switch_id sw = 0; sw < s->n_switches; sw++) {
		size_t n = s->topo->nodes[s->node_of_switch[sw]].n_ports + 1u;

		for (size_t i = 0; i < n * n; i++)
			s->sl2vl_of_pair[sw][i] = (uint16_t)id[from->sl2vl_of_pair[sw][i]];
	}
	free(id);
}

void subnet_limit_vls(struct subnet *s, unsigned max)
{
	const struct topo *t = s->topo;

	for (port_id p = 0; p < t->n_ports; p++) {
		s->vls_of_port[p] = vls_of(t, p, max);
		struct vlarb weights = vlarb_default(s->vls_of_port[p]);

		subnet_set_vlarb(s, p, &weights);
	}
	subnet_reset_vls(s);
}

static void number_switches(struct subnet *s)
{
	const struct topo *t = s->topo;

	s->switch_of_node = hd_alloc(t->n_nodes, sizeof(*s->switch_of_node));
	s->node_of_switch = hd_alloc(t->n_nodes, sizeof(*s->node_of_switch));
	for (node_id v = 0; v < t->n_nodes; v++) {
		s->switch_of_node[v] = TOPO_NONE;
		if (!topo_is_switch(t, v))
			continue;
		s->switch_of_node[v] = s->n_switches;
		s->node_of_switch[s->n_switches++] = v;
	}
}

static void number_subnets(struct subnet *s)
{
	s->n_subnets = s->topo->n_subnets;
	for (port_id p = 0; p < s->topo->n_ports; p++) {
		if (s->topo->ports[p].subnet >= s->n_subnets)
			s->n_subnets = s->topo->ports[p].subnet + 1u;
	}
	if (s->n_subnets == 0)
		s->n_subnets = 1;
	s->prefix = hd_alloc(s->n_subnets, sizeof(*s->prefix));
	s->port_of_lid = hd_alloc(s->n_subnets, sizeof(*s->port_of_lid));
	s->top_lid = hd_alloc(s->n_subnets, sizeof(*s->top_lid));
	s->mft = hd_alloc(s->n_subnets, sizeof(*s->mft));
	for (unsigned i = 0; i < s->n_subnets; i++) {
		/* A link-local prefix is not routed: several subnets need others. */
		s->prefix[i] = s->n_subnets == 1 ? GID_LINK_LOCAL : PREFIX_SITE_LOCAL + i + 1;
		s->port_of_lid[i] = hd_alloc(LID_MAX_UNICAST + 1, sizeof(port_id));
		memset(s->port_of_lid[i], 0xFF, (LID_MAX_UNICAST + 1) * sizeof(port_id));
	}
}

static void default_partition(struct subnet *s)
{
	static const uint16_t key = PKEY_DEFAULT;
	const struct topo *t = s->topo;

	for (port_id p = 0; p < t->n_ports; p++) {
		bool of_switch = topo_is_switch(t, t->ports[p].node);

		if (topo_is_end_port(t, p) || (of_switch && t->ports[p].number == 0))
			subnet_set_pkeys(s, p, &key, 1);
	}
}

void subnet_init(struct subnet *s, const struct topo *t)
{
	*s = (struct subnet){ .topo = t };
	number_switches(s);
	number_subnets(s);
	s->lid_of_port = hd_alloc(t->n_ports, sizeof(*s->lid_of_port));
	s->lmc_of_port = hd_alloc(t->n_ports, sizeof(*s->lmc_of_port));
	s->vls_of_port = hd_alloc(t->n_ports, sizeof(*s->vls_of_port));
	s->rate_of_port = hd_alloc(t->n_ports, sizeof(*s->rate_of_port));
	for (port_id p = 0; p < t->n_ports; p++) {
		struct topo_link_state link;

		if (t->ports[p].peer != TOPO_NONE && topo_link_state(t, p, &link) == HD_OK)
			s->rate_of_port[p] = link.rate;
	}
	s->pkeys = hd_alloc(t->n_ports, sizeof(*s->pkeys));
	s->sl2vl_of_port = hd_alloc(t->n_ports, sizeof(*s->sl2vl_of_port));
	s->vlarb_of_port = hd_alloc(t->n_ports, sizeof(*s->vlarb_of_port));
	s->sl2vl_of_pair = hd_alloc(s->n_switches, sizeof(*s->sl2vl_of_pair));
	for (switch_id sw = 0; sw < s->n_switches; sw++) {
		size_t n = switch_node(s, sw)->n_ports + 1u;

		s->sl2vl_of_pair[sw] = hd_alloc(n * n, sizeof(uint16_t));
	}
	default_partition(s);
	subnet_limit_vls(s, N_DATA_VLS);
}

void subnet_fini(struct subnet *s)
{
	mcast_clear(s);
	free(s->groups);
	for (unsigned i = 0; i < s->n_subnets; i++)
		free(s->port_of_lid[i]);
	for (switch_id sw = 0; sw < s->n_switches; sw++)
		if (!s->borrows_pairs || !s->borrows_pairs[sw])
			free(s->sl2vl_of_pair[sw]);
	free(s->borrows_pairs);
	for (port_id p = 0; p < s->topo->n_ports; p++)
		free(s->pkeys[p].keys);
	free(s->pkeys);
	free(s->rate_of_port);
	free(s->sl2vl_of_pair);
	free(s->sl2vl_of_port);
	free(s->sl2vl_tables);
	free(s->sl2vl_index.slots);
	free(s->vlarb_of_port);
	free(s->vlarb_tables);
	free(s->vlarb_index.slots);
	free(s->vls_of_port);
	free(s->lmc_of_port);
	free(s->lid_of_port);
	free(s->switch_of_node);
	free(s->node_of_switch);
	free(s->prefix);
	free(s->port_of_lid);
	free(s->top_lid);
	free(s->mft);
	free(s->lft);
	free(s->lft_at);
	subnet_forget_sls(s);
	adaptive_forget(s);
	aggregation_drop(s, 0);
	free(s->aggregations);
	subnet_router_tables_free(s);
	*s = (struct subnet){ .topo = NULL };
}

void subnet_forget_sls(struct subnet *s)
{
	free(s->sl_of_path);
	free(s->sl_row);
	s->sl_of_path = NULL;
	s->sl_row = NULL;
	s->n_sl_rows = 0;
}

void subnet_sls_by_switch(struct subnet *s)
{
	const struct topo *t = s->topo;

	subnet_forget_sls(s);
	s->n_sl_rows = s->n_switches;
	s->sl_of_path = hd_alloc((size_t)s->n_sl_rows * s->lft_stride, 1);
	s->sl_row = hd_alloc(t->n_ports, sizeof(*s->sl_row));
	for (port_id p = 0; p < t->n_ports; p++)
		s->sl_row[p] = topo_is_switch(t, t->ports[p].node)
				       ? s->switch_of_node[t->ports[p].node]
				       : subnet_switch_at(s, p);
}

switch_id subnet_switch_at(const struct subnet *s, port_id port)
{
	port_id peer = s->topo->ports[port].peer;

	if (peer == TOPO_NONE)
		return TOPO_NONE;
	return s->switch_of_node[s->topo->ports[peer].node];
}

bool subnet_target(const struct subnet *s, unsigned subnet, lid_t lid, switch_id *sw, uint8_t *port)
{
	if (subnet >= s->n_subnets || lid > LID_MAX_UNICAST)
		return false;
	port_id owner = s->port_of_lid[subnet][lid];

	if (owner == TOPO_NONE)
		return false;
	node_id node = s->topo->ports[owner].node;

	if (topo_is_switch(s->topo, node)) {
		*sw = s->switch_of_node[node];
		*port = 0;
		return true;
	}
	switch_id at = subnet_switch_at(s, owner);

	if (at == TOPO_NONE)
		return false;
	*sw = at;
	*port = s->topo->ports[s->topo->ports[owner].peer].number;
	return *port != LFT_NO_PORT;
}

uint8_t path_sl(const struct subnet *s, port_id source, lid_t dlid, uint8_t wanted)
{
	const struct vl_split *split = &s->split;
	unsigned first = split->sls * split->class_of_sl[wanted];

	if (!s->sl_of_path)
		return wanted;
	if (s->sl_row[source] == TOPO_NONE || dlid >= s->lft_stride)
		return split->sls ? (uint8_t)first : wanted;
	return (uint8_t)(first + s->sl_of_path[(size_t)s->sl_row[source] * s->lft_stride + dlid]);
}

uint16_t path_sls(const struct subnet *s, port_id source, lid_t dlid)
{
	uint16_t sls = 0;

	for (unsigned sl = 0; sl < N_SLS; sl++)
		sls |= (uint16_t)(1u << path_sl(s, source, dlid, (uint8_t)sl));
	return sls;
}
