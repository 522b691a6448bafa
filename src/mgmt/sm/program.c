/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/alloc.h"
#include "base/iba.h"
#include "mgmt/sm/sm_internal.h"
#include "wire/cursor.h"

/*
 * What was planned goes to the nodes: addresses, then tables, then links are
 * armed and activated. What a node has already is not written again.
 */

enum { NO_TABLE = 0, SM_SL = 0 };

struct target {
	const struct found_node *found;
	uint32_t index; /* in the sight */
	node_id node;   /* in the plan */
};

static struct target target_at(const struct manager *m, uint32_t i)
{
	const struct found_node *n = &m->seen.nodes[i];

	return (struct target){ n, i, planned_node(m, n) };
}

/* ---- tables, which are remembered by their hashes */

static uint64_t hash_of(const uint8_t *data)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (unsigned i = 0; i < BLOCK; i++)
		h = (h ^ data[i]) * UINT64_C(0x100000001b3);
	return h | 1; /* 0: not known */
}

static void got_table(struct manager *m, const struct smp *smp, const uint8_t *mad)
{
	if (!mad)
		m->written[smp->written] = NO_TABLE;
}

static void write_table(struct manager *m, const struct target *t, unsigned port,
			uint16_t attribute, uint32_t modifier, const uint8_t *data)
{
	struct smp smp = {
		.done = got_table,
		.path = path_to(t->found, port),
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
	exchange_ask(m, &smp);
}

void manager_forget_tables(struct manager *m)
{
	for (size_t i = 0; i < m->n_written; i++)
		m->written[i] = NO_TABLE;
}

static void write_routes(struct manager *m, const struct target *t)
{
	const struct subnet *s = planned_now(m);
	switch_id sw = s->switch_of_node[t->node];
	unsigned subnet = subnet_of_switch(s, sw);

	for (uint32_t first = 0; first <= s->top_lid[subnet]; first += BLOCK) {
		uint8_t block[BLOCK];

		for (unsigned i = 0; i < BLOCK; i++)
			block[i] = lft_get(s, sw, (lid_t)(first + i));
		write_table(m, t, 0, ATTR_LINEAR_FORWARDING, first / BLOCK, block);
	}
}

static void pack_lanes(const struct sl2vl *table, uint8_t *out)
{
	memset(out, 0, BLOCK);
	for (unsigned sl = 0; sl < N_SLS; sl++)
		out[sl / 2] |= (uint8_t)(table->vl[sl] << (sl % 2 ? 0 : 4));
}

/* Where all inputs have the same, one MAD says so if the switch knows how. */
static void write_switch_lanes(struct manager *m, const struct target *t)
{
	const struct subnet *s = planned_now(m);
	switch_id sw = s->switch_of_node[t->node];
	unsigned n = t->found->n_ports;
	bool optimised = switch_get(m, t->found, SWITCH_OPTIMISED_SL2VL);
	uint8_t first[BLOCK], block[BLOCK];

	for (unsigned out = 1; out <= n; out++) {
		bool same = optimised;

		pack_lanes(sl2vl_at(s, sw, 0, out), first);
		for (unsigned in = 1; in <= n && same; in++) {
			pack_lanes(sl2vl_at(s, sw, in, out), block);
			same = memcmp(first, block, BLOCK) == 0;
		}
		if (same) {
			write_table(m, t, 0, ATTR_SL_TO_VL, 0x20000 | out, first);
			continue;
		}
		for (unsigned in = 0; in <= n; in++) {
			pack_lanes(sl2vl_at(s, sw, in, out), block);
			write_table(m, t, 0, ATTR_SL_TO_VL, in << 8 | out, block);
		}
	}
}

static void write_weights(struct manager *m, const struct target *t, unsigned p)
{
	const struct vlarb *table =
		vlarb_of(planned_now(m), topo_port_of(planned_now(m)->topo, t->node, p));
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

/* ---- partitions: all are in the default one, and in no other */

unsigned keys_blocks(const struct found_node *n, unsigned port)
{
	enum { NODE_KEYS = 28, SWITCH_KEYS = 14 };
	unsigned keys = n->is_switch && port > 0 ? load_be16(n->switch_info + SWITCH_KEYS)
						 : load_be16(n->info + NODE_KEYS);

	return (keys + KEYS_PER_BLOCK - 1) / KEYS_PER_BLOCK;
}

void keys_block(unsigned block, uint8_t *out)
{

	memset(out, 0, BLOCK);
	if (block == 0)
		store_be16(out, PKEY_DEFAULT);
}

static void write_keys(struct manager *m, const struct target *t, unsigned p)
{
	bool is_switch = t->found->is_switch;

	for (unsigned b = 0; b < keys_blocks(t->found, p); b++) {
		uint8_t block[BLOCK];

		keys_block(b, block);
		write_table(m, t, is_switch ? 0 : p, ATTR_PKEY_TABLE, (is_switch ? p : 0) << 16 | b,
			    block);
	}
}

static void write_all_keys(struct manager *m, const struct target *t)
{
	for (unsigned p = 0; p <= t->found->n_ports; p++)
		if (t->found->ports[p].answered && (t->found->is_switch || t->found->ports[p].path))
			write_keys(m, t, p);
}

static bool has_cable(const struct target *t, unsigned p)
{
	return t->found->ports[p].answered && t->found->ports[p].peer != NO_NODE;
}

static void write_groups(struct manager *m, const struct target *t)
{
	uint8_t block[BLOCK];

	for (uint32_t b = 0; b <= m->top_mlid / MLIDS_PER_BLOCK; b++)
		for (unsigned at = 0; at <= t->found->n_ports / 16U; at++) {
			groups_block(m, t->node, b, at, block);
			write_table(m, t, 0, ATTR_MULTICAST_FORWARDING, b | at << 28, block);
		}
}

static void write_tables(struct manager *m)
{
	for (uint32_t i = 0; i < m->seen.n; i++) {
		struct target t = target_at(m, i);

		if (t.node == TOPO_NONE)
			continue;
		write_all_keys(m, &t);
		for (unsigned p = 1; p <= t.found->n_ports; p++) {
			uint8_t block[BLOCK];

			if (!has_cable(&t, p))
				continue;
			write_weights(m, &t, p);
			if (t.found->is_switch)
				continue;
			pack_lanes(sl2vl_of(planned_now(m),
					    topo_port_of(planned_now(m)->topo, t.node, p)),
				   block);
			write_table(m, &t, p, ATTR_SL_TO_VL, 0, block);
		}
		if (!t.found->is_switch)
			continue;
		write_routes(m, &t);
		write_switch_lanes(m, &t);
		write_groups(m, &t);
	}
}

/* ---- PortInfo and SwitchInfo, which are compared with what was seen */

static void got_port(struct manager *m, const struct smp *smp, const uint8_t *mad)
{
	struct found_port *p = &m->seen.nodes[smp->node].ports[smp->port];

	if (mad)
		memcpy(p->info, mad + mad_class(MAD_SMP_DIRECT)->data, BLOCK);
}

static void set_port(struct manager *m, const struct target *t, unsigned port, const uint8_t *info)
{
	struct smp smp = {
		.done = got_port,
		.path = path_to(t->found, port),
		.node = t->index,
		.port = (uint8_t)port,
		.method = MAD_SET,
		.attribute = ATTR_PORT_INFO,
		.modifier = port,
		.written = NO_NODE,
	};

	memcpy(smp.data, info, BLOCK);
	exchange_ask(m, &smp);
}

/* As it is, with nothing said of the link: zeros there change nothing. */
static void begin_port(const struct manager *m, const struct target *t, unsigned port,
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

static void address_port(struct manager *m, const struct target *t, unsigned port)
{
	const struct subnet *s = planned_now(m);
	port_id p = topo_port_of(s->topo, t->node, port);
	const uint8_t *old = t->found->ports[port].info;
	uint8_t info[BLOCK], same[BLOCK];

	begin_port(m, t, port, info);
	memcpy(same, info, BLOCK);
	info_set(m, info, PORT_LID, s->lid_of_port[p]);
	info_set(m, info, PORT_LMC, s->lmc_of_port[p]);
	info_set(m, info, PORT_SM_LID, m->lid);
	info_set(m, info, PORT_SM_SL, SM_SL);
	info_set(m, info, PORT_GID_PREFIX, s->prefix[s->topo->ports[p].subnet]);
	if (m->greets && info_get(m, old, PORT_CAP_MASK) & CAP_REREGISTER)
		info_set(m, info, PORT_REREGISTER, 1);
	if (memcmp(info, same, BLOCK) != 0)
		set_port(m, t, port, info);
}

static void got_switch(struct manager *m, const struct smp *smp, const uint8_t *mad)
{
	if (mad)
		memcpy(m->seen.nodes[smp->node].switch_info, mad + mad_class(MAD_SMP_DIRECT)->data,
		       SWITCH_INFO_SIZE);
}

/* The last group whose block is written; as it is, where nobody looks at it. */
static uint64_t multicast_top(const struct manager *m, const struct target *t)
{
	const uint8_t *own = t->found->ports[0].info;

	return info_get(m, own, PORT_CAP_MASK) & CAP_MCAST_TOP
		       ? LID_FIRST_MCAST + (m->top_mlid | (MLIDS_PER_BLOCK - 1))
		       : switch_get(m, t->found, SWITCH_MCAST_TOP);
}

static void set_switch(struct manager *m, const struct target *t)
{
	const struct subnet *s = planned_now(m);
	uint64_t groups = multicast_top(m, t);
	lid_t top = s->top_lid[subnet_of_switch(s, s->switch_of_node[t->node])];
	struct smp smp = {
		.done = got_switch,
		.path = t->found->path,
		.node = t->index,
		.method = MAD_SET,
		.attribute = ATTR_SWITCH_INFO,
		.written = NO_NODE,
	};

	/* Written as 1, the change is forgotten. */
	if (switch_get(m, t->found, SWITCH_LINEAR_TOP) == top &&
	    switch_get(m, t->found, SWITCH_MCAST_TOP) == groups &&
	    !switch_get(m, t->found, SWITCH_STATE_CHANGE))
		return;
	memcpy(smp.data, t->found->switch_info, SWITCH_INFO_SIZE);
	field_set(&m->switch_fields[SWITCH_LINEAR_TOP], smp.data, top);
	field_set(&m->switch_fields[SWITCH_MCAST_TOP], smp.data, groups);
	exchange_ask(m, &smp);
}

static void address_all(struct manager *m)
{
	for (uint32_t i = 0; i < m->seen.n; i++) {
		struct target t = target_at(m, i);

		if (t.node == TOPO_NONE)
			continue;
		if (t.found->is_switch) {
			address_port(m, &t, 0);
			set_switch(m, &t);
			continue;
		}
		for (unsigned p = 1; p <= t.found->n_ports; p++)
			if (t.found->ports[p].path && t.found->ports[p].answered)
				address_port(m, &t, p);
	}
}

/* ---- links */

static const struct found_port *other_end(const struct manager *m, const struct found_port *p)
{
	return &m->seen.nodes[p->peer].ports[p->number];
}

static uint64_t least(const struct manager *m, const struct found_port *p, enum port_field f)
{
	uint64_t a = info_get(m, p->info, f);
	uint64_t b = info_get(m, other_end(m, p)->info, f);

	return a < b ? a : b;
}

static void move_link(struct manager *m, const struct target *t, unsigned port, uint64_t to)
{
	const struct found_port *f = &t->found->ports[port];
	const struct subnet *s = planned_now(m);
	port_id p = topo_port_of(s->topo, t->node, port);
	uint64_t state = info_get(m, f->info, PORT_STATE);
	uint8_t info[BLOCK], same[BLOCK];

	begin_port(m, t, port, info);
	memcpy(same, info, BLOCK);
	if (state == to - 1)
		info_set(m, info, PORT_STATE, to);
	if (to == LINK_ARMED) {
		info_set(m, info, PORT_NEIGHBOR_MTU, least(m, f, PORT_MTU_CAP));
		info_set(m, info, PORT_OPER_VLS, code_of_vls(s->vls_of_port[p]));
		info_set(m, info, PORT_HIGH_LIMIT, vlarb_of(s, p)->high_limit);
		info_set(m, info, PORT_ENFORCE_IN, 0);
		info_set(m, info, PORT_ENFORCE_OUT, 0);
	}
	if (memcmp(info, same, BLOCK) != 0)
		set_port(m, t, port, info);
}

static void move_links(struct manager *m, uint64_t to)
{
	for (uint32_t i = 0; i < m->seen.n; i++) {
		struct target t = target_at(m, i);

		for (unsigned p = 1; t.node != TOPO_NONE && p <= t.found->n_ports; p++)
			if (has_cable(&t, p) && other_end(m, &t.found->ports[p])->answered)
				move_link(m, &t, p, to);
	}
}

/* ---- step by step */

static void activate(struct manager *m)
{
	void (*then)(struct manager *) = m->programmed;

	move_links(m, LINK_ACTIVE);
	exchange_when_done(m, then);
}

static void arm(struct manager *m)
{
	move_links(m, LINK_ARMED);
	exchange_when_done(m, activate);
}

static void fill_tables(struct manager *m)
{
	write_tables(m);
	exchange_when_done(m, arm);
}

void manager_program(struct manager *m, void (*then)(struct manager *m))
{
	m->programmed = then;
	address_all(m);
	exchange_when_done(m, fill_tables);
}

void manager_program_groups(struct manager *m, void (*then)(struct manager *m))
{
	for (uint32_t i = 0; i < m->seen.n; i++) {
		struct target t = target_at(m, i);

		if (t.node == TOPO_NONE || !t.found->is_switch)
			continue;
		set_switch(m, &t);
		write_groups(m, &t);
	}
	exchange_when_done(m, then);
}
