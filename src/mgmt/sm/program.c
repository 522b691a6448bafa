/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/alloc.h"
#include "base/iba.h"
#include "mgmt/sm/sm_internal.h"
#include "wire/cursor.h"

/*
 * Programs the plan: addresses, then tables, then links are armed and activated. Values that a node
 * already has are not written again.
 */

enum { NO_TABLE = 0, SM_SL = 0 };

struct program_target {
	const struct found_node *found;
	uint32_t index; /* in the discovery */
	node_id node;   /* in the plan */
};

static struct program_target target_at(const struct sm *m, uint32_t i)
{
	const struct found_node *n = &m->found.nodes[i];

	return (struct program_target){ n, i, sm_plan_node(m, n) };
}

/* ---- tables, known by their hashes */

static uint64_t hash_of(const uint8_t *data)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (unsigned i = 0; i < BLOCK; i++)
		h = (h ^ data[i]) * UINT64_C(0x100000001b3);
	return h | 1; /* 0 is NO_TABLE */
}

static void got_table(struct sm *m, const struct sm_smp *smp, const uint8_t *mad)
{
	if (!mad)
		m->written[smp->written] = NO_TABLE;
}

static void write_table(struct sm *m, const struct program_target *t, unsigned port,
			uint16_t attribute, uint32_t modifier, const uint8_t *data)
{
	struct sm_smp smp = {
		.done = got_table,
		.path = sm_path_to(t->found, port),
		.node = t->index,
		.method = MAD_SET,
		.attribute = attribute,
		.modifier = modifier,
	};
	uint64_t key = t->found->guid * 31 + port;
	uint64_t hash = hash_of(data);

	key = (key * UINT64_C(0x9e3779b97f4a7c15) + attribute) * UINT64_C(0x9e3779b97f4a7c15) +
	      modifier;
	uint32_t at = map_get(&m->written_at, key);

	if (at == MAP_NONE) {
		m->written =
			hd_grow(m->written, &m->written_cap, m->n_written + 1, sizeof(*m->written));
		at = (uint32_t)m->n_written++;
		m->written[at] = NO_TABLE;
		map_put(&m->written_at, key, at);
	}
	if (m->written[at] == hash)
		return;
	m->written[at] = hash;
	smp.written = at;
	memcpy(smp.data, data, BLOCK);
	sm_exchange_send(m, &smp);
}

void sm_forget_tables(struct sm *m)
{
	for (size_t i = 0; i < m->n_written; i++)
		m->written[i] = NO_TABLE;
}

static void write_routes(struct sm *m, const struct program_target *t)
{
	const struct subnet *s = sm_plan(m);
	switch_id sw = s->switch_of_node[t->node];
	unsigned subnet = subnet_of_switch(s, sw);

	for (uint32_t first = 0; first <= s->top_lid[subnet]; first += BLOCK) {
		uint8_t block[BLOCK];

		for (unsigned i = 0; i < BLOCK; i++)
			block[i] = lft_get(s, sw, (lid_t)(first + i));
		write_table(m, t, 0, ATTR_LINEAR_FORWARDING, first / BLOCK, block);
	}
}

static void encode_sl2vl(const struct sl2vl *table, uint8_t *out)
{
	memset(out, 0, BLOCK);
	for (unsigned sl = 0; sl < N_SLS; sl++)
		out[sl / 2] |= (uint8_t)(table->vl[sl] << (sl % 2 ? 0 : 4));
}

/* If all inputs have the same table and the switch supports the wildcard, one MAD sets them. */
static void write_switch_sl2vl(struct sm *m, const struct program_target *t)
{
	const struct subnet *s = sm_plan(m);
	switch_id sw = s->switch_of_node[t->node];
	unsigned n = t->found->n_ports;
	bool optimised = switch_get(m, t->found, SWITCH_OPTIMISED_SL2VL);
	uint8_t first[BLOCK], block[BLOCK];

	for (unsigned out = 1; out <= n; out++) {
		bool same = optimised;

		encode_sl2vl(sl2vl_at(s, sw, 0, out), first);
		for (unsigned in = 1; in <= n && same; in++) {
			encode_sl2vl(sl2vl_at(s, sw, in, out), block);
			same = memcmp(first, block, BLOCK) == 0;
		}
		if (same) {
			write_table(m, t, 0, ATTR_SL_TO_VL, 0x20000 | out, first);
			continue;
		}
		for (unsigned in = 0; in <= n; in++) {
			encode_sl2vl(sl2vl_at(s, sw, in, out), block);
			write_table(m, t, 0, ATTR_SL_TO_VL, in << 8 | out, block);
		}
	}
}

static void write_vlarb(struct sm *m, const struct program_target *t, unsigned p)
{
	const struct vlarb *table =
		vlarb_of(sm_plan(m), topo_port_of(sm_plan(m)->topo, t->node, p));
	const uint8_t *info = t->found->ports[p].info;
	const struct {
		const struct vlarb_entry *entries;
		unsigned n, cap, block;
	} halves[] = {
		{ table->low, table->n_low, (unsigned)info_get(m, info, PORT_LOW_CAP), 1 },
		{ table->high, table->n_high, (unsigned)info_get(m, info, PORT_HIGH_CAP), 3 },
	};

	for (unsigned h = 0; h < 2; h++)
		for (unsigned first = 0; first < halves[h].cap; first += 32) {
			uint8_t block[BLOCK] = { 0 };

			for (unsigned i = 0; i < 32 && first + i < halves[h].n; i++) {
				const struct vlarb_entry *e = &halves[h].entries[first + i];

				block[2 * i] = e->vl;
				block[2 * i + 1] = e->weight;
			}
			write_table(m, t, t->found->is_switch ? 0 : p, ATTR_VL_ARBITRATION,
				    (halves[h].block + first / 32) << 16 |
					    (t->found->is_switch ? p : 0),
				    block);
		}
}

/* ---- partitions: every port is a full member of the default partition */

unsigned sm_pkey_blocks(const struct found_node *n, unsigned port)
{
	enum { NODE_KEYS = 28, SWITCH_KEYS = 14 };
	unsigned keys = n->is_switch && port > 0 ? load_be16(n->switch_info + SWITCH_KEYS)
						 : load_be16(n->info + NODE_KEYS);

	return (keys + PKEYS_PER_BLOCK - 1) / PKEYS_PER_BLOCK;
}

void sm_pkey_block(unsigned block, uint8_t *out)
{

	memset(out, 0, BLOCK);
	if (block == 0)
		store_be16(out, PKEY_DEFAULT);
}

static void write_pkeys(struct sm *m, const struct program_target *t, unsigned p)
{
	bool is_switch = t->found->is_switch;

	for (unsigned b = 0; b < sm_pkey_blocks(t->found, p); b++) {
		uint8_t block[BLOCK];

		sm_pkey_block(b, block);
		write_table(m, t, is_switch ? 0 : p, ATTR_PKEY_TABLE, (is_switch ? p : 0) << 16 | b,
			    block);
	}
}

static void write_all_pkeys(struct sm *m, const struct program_target *t)
{
	for (unsigned p = 0; p <= t->found->n_ports; p++)
		if (t->found->ports[p].answered && (t->found->is_switch || t->found->ports[p].path))
			write_pkeys(m, t, p);
}

static bool has_cable(const struct program_target *t, unsigned p)
{
	return t->found->ports[p].answered && t->found->ports[p].peer != NO_NODE;
}

static void write_groups(struct sm *m, const struct program_target *t)
{
	uint8_t block[BLOCK];

	for (uint32_t b = 0; b <= m->top_mlid / MLIDS_PER_BLOCK; b++)
		for (unsigned at = 0; at <= t->found->n_ports / 16U; at++) {
			sa_groups_mft_block(m, t->node, b, at, block);
			write_table(m, t, 0, ATTR_MULTICAST_FORWARDING, b | at << 28, block);
		}
}

static void write_tables(struct sm *m)
{
	for (uint32_t i = 0; i < m->found.n; i++) {
		struct program_target t = target_at(m, i);

		if (t.node == TOPO_NONE)
			continue;
		write_all_pkeys(m, &t);
		for (unsigned p = 1; p <= t.found->n_ports; p++) {
			uint8_t block[BLOCK];

			if (!has_cable(&t, p))
				continue;
			write_vlarb(m, &t, p);
			if (t.found->is_switch)
				continue;
			encode_sl2vl(
				sl2vl_of(sm_plan(m), topo_port_of(sm_plan(m)->topo, t.node, p)),
				block);
			write_table(m, &t, p, ATTR_SL_TO_VL, 0, block);
		}
		if (!t.found->is_switch)
			continue;
		write_routes(m, &t);
		write_switch_sl2vl(m, &t);
		write_groups(m, &t);
	}
}

/* ---- PortInfo and SwitchInfo, compared with the discovered values */

static void got_port(struct sm *m, const struct sm_smp *smp, const uint8_t *mad)
{
	struct found_port *p = &m->found.nodes[smp->node].ports[smp->port];

	if (mad)
		memcpy(p->info, mad + mad_class(MAD_SMP_DIRECT)->data, BLOCK);
}

static void set_port(struct sm *m, const struct program_target *t, unsigned port,
		     const uint8_t *info)
{
	struct sm_smp smp = {
		.done = got_port,
		.path = sm_path_to(t->found, port),
		.node = t->index,
		.port = (uint8_t)port,
		.method = MAD_SET,
		.attribute = ATTR_PORT_INFO,
		.modifier = port,
		.written = NO_NODE,
	};

	memcpy(smp.data, info, BLOCK);
	sm_exchange_send(m, &smp);
}

/* PortInfo with link fields of 0, which change nothing. */
static void copy_port_info(const struct sm *m, const struct program_target *t, unsigned port,
			   uint8_t *info)
{
	static const enum port_field links[] = {
		PORT_STATE,          PORT_PHYSICAL,   PORT_WIDTHS_ENABLED,
		PORT_SPEEDS_ENABLED, PORT_REREGISTER, PORT_EXT_SPEEDS_ENABLED,
	};

	memcpy(info, t->found->ports[port].info, BLOCK);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		info_set(m, info, links[i], 0);
}

static void set_addresses(struct sm *m, const struct program_target *t, unsigned port)
{
	const struct subnet *s = sm_plan(m);
	port_id p = topo_port_of(s->topo, t->node, port);
	const uint8_t *old = t->found->ports[port].info;
	uint8_t info[BLOCK], same[BLOCK];

	copy_port_info(m, t, port, info);
	memcpy(same, info, BLOCK);
	info_set(m, info, PORT_LID, s->lid_of_port[p]);
	info_set(m, info, PORT_LMC, s->lmc_of_port[p]);
	info_set(m, info, PORT_SM_LID, m->lid);
	info_set(m, info, PORT_SM_SL, SM_SL);
	info_set(m, info, PORT_GID_PREFIX, s->prefix[s->topo->ports[p].subnet]);
	if (m->reregister && info_get(m, old, PORT_CAP_MASK) & CAP_REREGISTER)
		info_set(m, info, PORT_REREGISTER, 1);
	if (memcmp(info, same, BLOCK) != 0)
		set_port(m, t, port, info);
}

static void got_switch(struct sm *m, const struct sm_smp *smp, const uint8_t *mad)
{
	if (mad)
		memcpy(m->found.nodes[smp->node].switch_info, mad + mad_class(MAD_SMP_DIRECT)->data,
		       SWITCH_INFO_SIZE);
}

/*
 * MulticastFDBTop: the last MLID of the last written block; unchanged if the switch does not
 * support it.
 */
static uint64_t multicast_top(const struct sm *m, const struct program_target *t)
{
	const uint8_t *own = t->found->ports[0].info;

	return info_get(m, own, PORT_CAP_MASK) & CAP_MCAST_TOP
		       ? LID_FIRST_MCAST + (m->top_mlid | (MLIDS_PER_BLOCK - 1))
		       : switch_get(m, t->found, SWITCH_MCAST_TOP);
}

static void set_switch(struct sm *m, const struct program_target *t)
{
	const struct subnet *s = sm_plan(m);
	uint64_t groups = multicast_top(m, t);
	lid_t top = s->top_lid[subnet_of_switch(s, s->switch_of_node[t->node])];
	struct sm_smp smp = {
		.done = got_switch,
		.path = t->found->path,
		.node = t->index,
		.method = MAD_SET,
		.attribute = ATTR_SWITCH_INFO,
		.written = NO_NODE,
	};

	/* Writing 1 clears PortStateChange. */
	if (switch_get(m, t->found, SWITCH_LINEAR_TOP) == top &&
	    switch_get(m, t->found, SWITCH_MCAST_TOP) == groups &&
	    !switch_get(m, t->found, SWITCH_STATE_CHANGE))
		return;
	memcpy(smp.data, t->found->switch_info, SWITCH_INFO_SIZE);
	field_set(&m->switch_fields[SWITCH_LINEAR_TOP], smp.data, top);
	field_set(&m->switch_fields[SWITCH_MCAST_TOP], smp.data, groups);
	sm_exchange_send(m, &smp);
}

static void set_all_addresses(struct sm *m)
{
	for (uint32_t i = 0; i < m->found.n; i++) {
		struct program_target t = target_at(m, i);

		if (t.node == TOPO_NONE)
			continue;
		if (t.found->is_switch) {
			set_addresses(m, &t, 0);
			set_switch(m, &t);
			continue;
		}
		for (unsigned p = 1; p <= t.found->n_ports; p++)
			if (t.found->ports[p].path && t.found->ports[p].answered)
				set_addresses(m, &t, p);
	}
}

/* ---- links */

static const struct found_port *other_end(const struct sm *m, const struct found_port *p)
{
	return &m->found.nodes[p->peer].ports[p->number];
}

static uint64_t minimum(const struct sm *m, const struct found_port *p, enum port_field f)
{
	uint64_t a = info_get(m, p->info, f);
	uint64_t b = info_get(m, other_end(m, p)->info, f);

	return a < b ? a : b;
}

static void set_link_state(struct sm *m, const struct program_target *t, unsigned port, uint64_t to)
{
	const struct found_port *f = &t->found->ports[port];
	const struct subnet *s = sm_plan(m);
	port_id p = topo_port_of(s->topo, t->node, port);
	uint64_t state = info_get(m, f->info, PORT_STATE);
	uint8_t info[BLOCK], same[BLOCK];

	copy_port_info(m, t, port, info);
	memcpy(same, info, BLOCK);
	if (state == to - 1)
		info_set(m, info, PORT_STATE, to);
	if (to == LINK_ARMED) {
		info_set(m, info, PORT_NEIGHBOR_MTU, minimum(m, f, PORT_MTU_CAP));
		info_set(m, info, PORT_OPER_VLS, code_of_vls(s->vls_of_port[p]));
		info_set(m, info, PORT_HIGH_LIMIT, vlarb_of(s, p)->high_limit);
		info_set(m, info, PORT_ENFORCE_IN, 0);
		info_set(m, info, PORT_ENFORCE_OUT, 0);
	}
	if (memcmp(info, same, BLOCK) != 0)
		set_port(m, t, port, info);
}

static void set_link_states(struct sm *m, uint64_t to)
{
	for (uint32_t i = 0; i < m->found.n; i++) {
		struct program_target t = target_at(m, i);

		for (unsigned p = 1; t.node != TOPO_NONE && p <= t.found->n_ports; p++)
			if (has_cable(&t, p) && other_end(m, &t.found->ports[p])->answered)
				set_link_state(m, &t, p, to);
	}
}

/* ---- steps */

static void activate(struct sm *m)
{
	void (*on_idle)(struct sm *) = m->programmed;

	set_link_states(m, LINK_ACTIVE);
	sm_exchange_when_done(m, on_idle);
}

static void arm(struct sm *m)
{
	set_link_states(m, LINK_ARMED);
	sm_exchange_when_done(m, activate);
}

static void fill_tables(struct sm *m)
{
	write_tables(m);
	sm_exchange_when_done(m, arm);
}

void sm_program(struct sm *m, void (*on_idle)(struct sm *m))
{
	m->programmed = on_idle;
	set_all_addresses(m);
	sm_exchange_when_done(m, fill_tables);
}

void sm_program_groups(struct sm *m, void (*on_idle)(struct sm *m))
{
	for (uint32_t i = 0; i < m->found.n; i++) {
		struct program_target t = target_at(m, i);

		if (t.node == TOPO_NONE || !t.found->is_switch)
			continue;
		set_switch(m, &t);
		write_groups(m, &t);
	}
	sm_exchange_when_done(m, on_idle);
}
