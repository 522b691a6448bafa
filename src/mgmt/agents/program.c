/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "mgmt/agents/agents_internal.h"
#include "subnet/multicast/mcast.h"
#include "subnet/subnet.h"
#include "wire/cursor.h"

/*
 * Copies the programmed state to struct subnet, on which the simulator runs: LIDs, forwarding
 * tables, SL2VL, arbitration, partitions.
 */

void agents_copy_lids(const struct agents *a, struct topo *t)
{
	for (port_id p = 0; p < t->n_ports; p++) {
		const uint8_t *info = a->ports[p].info;

		t->ports[p].lid = (uint16_t)info_get(a, info, PORT_LID);
		t->ports[p].lmc = (uint8_t)info_get(a, info, PORT_LMC);
	}
}

void agents_copy_links(const struct agents *a, struct topo *t)
{
	for (port_id p = 0; p < t->n_ports; p++) {
		enum link_speed speed;
		unsigned lanes;

		if (!agents_link_is_limited(a, p))
			continue;
		agents_link(a, p, &lanes, &speed);
		t->ports[p].speeds = (uint16_t)(1U << speed);
		t->ports[p].widths = (uint8_t)info_get(a, a->ports[p].info, PORT_WIDTH);
	}
}

static void program_routes(const struct agents *a, struct subnet *s)
{
	subnet_own(s);
	for (switch_id sw = 0; sw < s->n_switches; sw++) {
		const struct agent_node *n = &a->nodes[s->node_of_switch[sw]];
		uint8_t *row = s->lft + (size_t)sw * s->lft_stride;
		uint64_t top = field_get(&a->switch_fields[SWITCH_LINEAR_TOP], n->switch_info);

		for (uint32_t lid = 0; lid < s->lft_stride; lid++)
			row[lid] = lid < n->lft_size && lid <= top ? n->lft[lid] : LFT_NO_PORT;
	}
}

/* MLIDs for which a switch of the subnet has a table. */
static uint32_t mlids_of(const struct agents *a, const struct subnet *s, unsigned subnet)
{
	uint32_t most = 0;

	for (switch_id sw = 0; sw < s->n_switches; sw++) {
		uint32_t n = a->nodes[s->node_of_switch[sw]].n_mlids;

		if (subnet_of_switch(s, sw) == subnet && n > most)
			most = n;
	}
	return most;
}

/* Port sets of a switch: bits of 16 ports in each position. */
static void program_sets(const struct agents *a, struct subnet *s, switch_id sw)
{
	node_id v = s->node_of_switch[sw];
	const struct agent_node *n = &a->nodes[v];
	const struct mft *m = &s->mft[subnet_of_switch(s, sw)];
	unsigned positions = a->topo->nodes[v].n_ports / 16U + 1;

	for (uint32_t i = 0; i < n->n_mlids; i++) {
		uint64_t *to = &m->ports[((size_t)i * s->n_switches + sw) * m->words];

		for (unsigned k = 0; k < positions; k++)
			to[k / 4] |= (uint64_t)n->mft[(size_t)i * positions + k] << k % 4 * 16;
	}
}

/* Each MLID with ports becomes a group; its members are the end ports that it reaches. */
static void program_groups(const struct agents *a, struct subnet *s)
{
	for (unsigned i = 0; i < s->n_subnets; i++)
		mcast_make_room(s, i, mlids_of(a, s, i));
	for (switch_id sw = 0; sw < s->n_switches; sw++)
		program_sets(a, s, sw);
	mcast_groups_from_tables(s);
}

static struct sl2vl decode_sl2vl(const uint8_t *map)
{
	struct sl2vl out;

	for (unsigned sl = 0; sl < N_SLS; sl++)
		out.vl[sl] = map[sl / 2] >> (sl % 2 ? 0 : 4) & 15;
	return out;
}

static void program_sl2vl(const struct agents *a, struct subnet *s, node_id v)
{
	const struct topo_node *t = &s->topo->nodes[v];
	const struct agent_node *n = &a->nodes[v];
	unsigned ports = t->n_ports + 1U;

	if (!n->sl2vl)
		return;
	for (unsigned in = 0; in < ports; in++) {
		struct sl2vl table;

		if (t->kind != NODE_SWITCH) {
			table = decode_sl2vl(n->sl2vl[in]);
			if (in > 0)
				subnet_set_port_sl2vl(s, t->first_port + in, &table);
			continue;
		}
		for (unsigned out = 0; out < ports; out++) {
			table = decode_sl2vl(n->sl2vl[(size_t)in * ports + out]);
			subnet_set_sl2vl(s, s->switch_of_node[v], in, out, &table);
		}
	}
}

/* Copies entries up to the last with a weight; returns their number. */
static uint8_t copy_entries(const uint8_t (*blocks)[BLOCK_SIZE], unsigned cap,
			    struct vlarb_entry *out)
{
	unsigned n = 0;

	for (unsigned i = 0; i < cap; i++) {
		const uint8_t *entry = &blocks[i / 32][2 * (size_t)(i % 32)];

		out[i].vl = entry[0] & 15;
		out[i].weight = entry[1];
		if (entry[1])
			n = i + 1;
	}
	return (uint8_t)n;
}

static void program_port(const struct agents *a, struct subnet *s, port_id p)
{
	const struct agent_port *port = &a->ports[p];
	struct vlarb table = *vlarb_of(s, p);
	uint16_t keys[CA_PKEY_BLOCKS * PKEY_BLOCK];
	unsigned n = 0;

	if (port->vlarb) {
		const uint8_t(*blocks)[BLOCK_SIZE] = (const uint8_t(*)[BLOCK_SIZE])port->vlarb;

		table.n_low = copy_entries(blocks, a->options.vlarb_cap, table.low);
		table.n_high = copy_entries(blocks + 2, a->options.vlarb_cap, table.high);
	}
	table.high_limit = (uint8_t)info_get(a, port->info, PORT_HIGH_LIMIT);
	subnet_set_vlarb(s, p, &table);
	for (unsigned i = 0; i < agents_pkey_cap(a, p); i++) {
		uint16_t key = agents_pkey(a, p, i);

		if (key & PKEY_BASE)
			keys[n++] = key;
	}
	subnet_set_pkeys(s, p, keys, n);
	s->pkeys[p].enforce_in =
		agents_owner(a, p) == p || info_get(a, port->info, PORT_ENFORCE_IN);
	s->pkeys[p].enforce_out = info_get(a, port->info, PORT_ENFORCE_OUT);
}

void agents_program(const struct agents *a, struct subnet *s)
{
	for (port_id p = 0; p < s->topo->n_ports; p++)
		s->vls_of_port[p] = (uint8_t)agents_data_vls(a, p);
	subnet_reset_vls(s);
	program_routes(a, s);
	program_groups(a, s);
	for (node_id v = 0; v < s->topo->n_nodes; v++)
		program_sl2vl(a, s, v);
	for (port_id p = 0; p < s->topo->n_ports; p++)
		program_port(a, s, p);
	s->engine = "live";
}

enum hd_status agents_subnet(const struct agents *a, struct diag *d, struct topo *t,
			     struct subnet *s)
{
	const struct lid_options lids = { .order = LIDS_KEEP };

	topo_copy(a->topo, t);
	agents_copy_lids(a, t);
	subnet_init(s, t);
	enum hd_status status = subnet_assign_lids(s, &lids, d);

	if (status == HD_OK)
		agents_program(a, s);
	return status;
}
