/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/alloc.h"
#include "mgmt/agents/agents_internal.h"
#include "subnet/subnet.h"
#include "wire/cursor.h"

/*
 * The subnet management agent: one function per attribute for Get and Set, which leaves the current
 * value in the data of the MAD.
 */

static const struct topo_node *node_at(const struct agent_request *r)
{
	return topo_node_of(r->agents->topo, r->port);
}

static struct agent_node *state_at(const struct agent_request *r)
{
	return &r->agents->nodes[r->agents->topo->ports[r->port].node];
}

/* Port `number` of the node; for an adapter, 0 is the receiving port. */
static port_id port_of(const struct agent_request *r, unsigned number)
{
	if (number == 0 && !at_switch(r))
		return r->port;
	if (number > node_at(r)->n_ports)
		return TOPO_NONE;
	return node_at(r)->first_port + number;
}

/* ---- node attributes */

static uint16_t node_description(struct agent_request *r)
{
	struct agent_node *n = state_at(r);
	uint8_t defaults[BLOCK_SIZE] = { 0 };
	size_t len = strlen(node_at(r)->name);

	if (r->method == MAD_SET || n->name)
		return request_exchange(r, ensure(n->name, 1)[0], BLOCK_SIZE);
	memcpy(defaults, node_at(r)->name, len < BLOCK_SIZE ? len : BLOCK_SIZE);
	memcpy(r->data, defaults, BLOCK_SIZE);
	return MAD_OK;
}

static uint16_t node_info(struct agent_request *r)
{
	const struct topo_node *n = node_at(r);
	uint8_t *d = r->data;
	/* NodeInfo's codes: adapter, switch, router. */
	static const uint8_t types[] = { [NODE_CA] = 1, [NODE_SWITCH] = 2, [NODE_ROUTER] = 3 };

	if (r->method == MAD_SET)
		return MAD_UNSUPPORTED;
	d[0] = MAD_BASE_VERSION;
	d[1] = mad_class(MAD_SMP)->version;
	d[2] = types[n->kind];
	d[3] = (uint8_t)n->n_ports;
	store_be64(d + 4, n->system_guid ? n->system_guid : n->guid);
	store_be64(d + 12, n->guid);
	store_be64(d + 20, at_switch(r) ? n->guid : r->agents->topo->ports[r->port].guid);
	store_be16(d + 28,
		   at_switch(r) ? SWITCH_PKEY_BLOCKS * PKEY_BLOCK : CA_PKEY_BLOCKS * PKEY_BLOCK);
	store_be16(d + 30, (uint16_t)n->device);
	d[36] = r->agents->topo->ports[r->port].number;
	store_be24(d + 37, n->vendor);
	return MAD_OK;
}

static uint16_t switch_info(struct agent_request *r)
{
	struct agents *a = r->agents;
	uint8_t *info = state_at(r)->switch_info;
	const struct field *change = &a->switch_fields[SWITCH_STATE_CHANGE];

	if (!at_switch(r))
		return MAD_UNSUPPORTED;
	if (r->method == MAD_SET) {
		if (field_get(&a->switch_fields[SWITCH_LINEAR_TOP], r->data) >=
		    a->options.linear_fdb_cap)
			return MAD_INVALID_FIELD;
		for (size_t i = 0; i < SWITCH_INFO_SIZE; i++)
			info[i] = (uint8_t)((info[i] & ~a->writable_switch[i]) |
					    (r->data[i] & a->writable_switch[i]));
		/* Writing 1 clears PortStateChange. */
		if (field_get(change, r->data))
			field_set(change, info, 0);
	}
	memcpy(r->data, info, SWITCH_INFO_SIZE);
	return MAD_OK;
}

static uint16_t guid_info(struct agent_request *r)
{
	struct agent_port *p = &r->agents->ports[r->port];
	uint64_t guid = at_switch(r) ? node_at(r)->guid : r->agents->topo->ports[r->port].guid;

	if (r->modifier != 0)
		return MAD_INVALID_FIELD;
	if (r->method == MAD_SET)
		memcpy(ensure(p->guids, 1)[0], r->data, BLOCK_SIZE);
	if (p->guids)
		memcpy(r->data, p->guids[0], BLOCK_SIZE);
	/* Entry 0 is the port's own GUID and read-only. */
	store_be64(r->data, guid);
	return MAD_OK;
}

static uint16_t port_info(struct agent_request *r)
{
	port_id p = port_of(r, r->modifier & 0xFF);
	uint16_t status = MAD_OK;
	struct agents *a = r->agents;

	if (p == TOPO_NONE)
		return MAD_INVALID_FIELD;
	bool again = r->method == MAD_SET && info_get(a, r->data, PORT_REREGISTER) != 0;
	if (r->method == MAD_SET)
		status = agents_port_info_set(r, p);
	if (status != MAD_OK)
		return status;
	memcpy(r->data, a->ports[p].info, PORT_INFO_SIZE);
	/* LocalPortNum is the receiving port, not the one that the attribute describes. */
	info_set(a, r->data, PORT_NUMBER, a->topo->ports[r->port].number);
	info_set(a, r->data, PORT_REREGISTER, again);
	/* A response to Set shows the M_Key also if the Set changed it. */
	if (r->method == MAD_GET &&
	    info_get(a, a->ports[agents_owner(a, p)].info, PORT_PROTECT) == 1 &&
	    load_be64(r->bytes + SMP_MKEY) !=
		    info_get(a, a->ports[agents_owner(a, p)].info, PORT_MKEY))
		info_set(a, r->data, PORT_MKEY, 0);
	return MAD_OK;
}

/* ---- tables */

static uint16_t pkey_table(struct agent_request *r)
{
	unsigned block = r->modifier & 0xFFFF;
	port_id p = at_switch(r) ? port_of(r, r->modifier >> 16) : r->port;
	unsigned n = at_switch(r) ? SWITCH_PKEY_BLOCKS : CA_PKEY_BLOCKS;

	if (p == TOPO_NONE || block >= n)
		return MAD_INVALID_FIELD;
	struct agent_port *port = &r->agents->ports[p];

	if (r->method == MAD_SET && !port->pkeys) {
		ensure(port->pkeys, n);
		store_be16(port->pkeys[0], PKEY_DEFAULT);
	}
	if (port->pkeys) {
		uint16_t status = request_exchange(r, port->pkeys[block], BLOCK_SIZE);

		if (r->method == MAD_SET && r->agents->events.pkeys_set)
			r->agents->events.pkeys_set(r->agents->events.context, p);
		return status;
	}
	if (block == 0)
		store_be16(r->data, PKEY_DEFAULT);
	return MAD_OK;
}

/* Default SL2VL table until the first Set. */
static void default_sl2vl(const struct agent_request *r, uint8_t *out)
{
	struct sl2vl map = sl2vl_default(agents_data_vls(r->agents, r->port));

	for (unsigned sl = 0; sl < N_SLS; sl += 2)
		out[sl / 2] = (uint8_t)(map.vl[sl] << 4 | map.vl[sl + 1]);
}

static void make_sl2vl(const struct agent_request *r, struct agent_node *n, size_t count)
{
	if (n->sl2vl)
		return;
	ensure(n->sl2vl, count);
	for (size_t i = 0; i < count; i++)
		default_sl2vl(r, n->sl2vl[i]);
}

/* SL2VL of a switch: one pair of ports, or many with the wildcard bits. */
static uint16_t sl2vl_of_switch(struct agent_request *r)
{
	enum { ALL_OUT = 0x10000, ALL_IN = 0x20000 };
	struct agent_node *n = state_at(r);
	unsigned ports = node_at(r)->n_ports + 1U;
	unsigned in = r->modifier >> 8 & 0xFF, out = r->modifier & 0xFF;
	bool every_in = r->modifier & ALL_IN, every_out = r->modifier & ALL_OUT;

	if ((!every_in && in >= ports) || (!every_out && out >= ports))
		return MAD_INVALID_FIELD;
	if (!n->sl2vl && r->method == MAD_GET) {
		default_sl2vl(r, r->data);
		return MAD_OK;
	}
	make_sl2vl(r, n, (size_t)ports * ports);
	unsigned in_end = every_in ? ports : in + 1;
	unsigned out_end = every_out ? ports : out + 1;

	for (unsigned i = every_in ? 0 : in; i < in_end; i++)
		for (unsigned o = every_out ? 0 : out; o < out_end; o++)
			request_exchange(r, n->sl2vl[(size_t)i * ports + o], SL2VL_SIZE);
	return MAD_OK;
}

static uint16_t sl2vl(struct agent_request *r)
{
	struct agent_node *n = state_at(r);
	unsigned number = r->agents->topo->ports[r->port].number;

	if (at_switch(r))
		return sl2vl_of_switch(r);
	if (!n->sl2vl && r->method == MAD_GET) {
		default_sl2vl(r, r->data);
		return MAD_OK;
	}
	make_sl2vl(r, n, node_at(r)->n_ports + 1U);
	return request_exchange(r, n->sl2vl[number], SL2VL_SIZE);
}

/* OpenSM's built-in tables until the first Set: low 0:4,1:4,... */
static void default_vlarb(uint8_t (*blocks)[BLOCK_SIZE], unsigned vls, unsigned cap)
{
	struct vlarb table = vlarb_default(vls);

	for (unsigned i = 0; i < table.n_low && i < cap; i++) {
		uint8_t *entry = &blocks[i / 32][2 * (i % 32)];

		entry[0] = table.low[i].vl;
		entry[1] = table.low[i].weight;
	}
}

static uint16_t vl_arbitration(struct agent_request *r)
{
	unsigned block = r->modifier >> 16;
	port_id p = at_switch(r) ? port_of(r, r->modifier & 0xFF) : r->port;
	unsigned per_table = r->agents->options.vlarb_cap > 32 ? 2 : 1;

	if (p == TOPO_NONE || block < 1 || block > VLARB_BLOCKS || (block - 1) % 2 >= per_table)
		return MAD_INVALID_FIELD;
	struct agent_port *port = &r->agents->ports[p];
	uint8_t defaults[VLARB_BLOCKS][BLOCK_SIZE] = { 0 };
	uint8_t(*blocks)[BLOCK_SIZE] = port->vlarb;

	if (!blocks) {
		default_vlarb(defaults, agents_data_vls(r->agents, p),
			      r->agents->options.vlarb_cap);
		blocks = defaults;
		if (r->method == MAD_SET) {
			blocks = ensure(port->vlarb, VLARB_BLOCKS);
			memcpy(blocks, defaults, sizeof(defaults));
		}
	}
	return request_exchange(r, blocks[block - 1], BLOCK_SIZE);
}

static uint16_t linear_forwarding(struct agent_request *r)
{
	struct agent_node *n = state_at(r);
	uint32_t first = r->modifier * BLOCK_SIZE;

	if (!at_switch(r))
		return MAD_UNSUPPORTED;
	if (r->modifier >= r->agents->options.linear_fdb_cap / BLOCK_SIZE)
		return MAD_INVALID_FIELD;
	if (first >= n->lft_size) {
		if (r->method == MAD_GET) {
			memset(r->data, LFT_NO_PORT, BLOCK_SIZE);
			return MAD_OK;
		}
		n->lft = hd_realloc(n->lft, first + BLOCK_SIZE, 1);
		memset(n->lft + n->lft_size, LFT_NO_PORT, first + BLOCK_SIZE - n->lft_size);
		n->lft_size = first + BLOCK_SIZE;
	}
	return request_exchange(r, n->lft + first, BLOCK_SIZE);
}

/* Sets of 16 ports each for 32 MLIDs, selected by block and position. */
static uint16_t multicast_forwarding(struct agent_request *r)
{
	enum { PER_BLOCK = BLOCK_SIZE / 2 };
	struct agent_node *n = state_at(r);
	uint32_t first = (r->modifier & 0x1FF) * PER_BLOCK;
	unsigned position = r->modifier >> 28;
	unsigned positions = node_at(r)->n_ports / 16U + 1;

	if (!at_switch(r))
		return MAD_UNSUPPORTED;
	if (first >= r->agents->options.mcast_fdb_cap || position >= positions)
		return MAD_INVALID_FIELD;
	if (first >= n->n_mlids) {
		if (r->method == MAD_GET)
			return MAD_OK;
		n->mft = hd_realloc(n->mft, first + PER_BLOCK, positions * sizeof(*n->mft));
		memset(n->mft + (size_t)n->n_mlids * positions, 0,
		       (first + PER_BLOCK - n->n_mlids) * positions * sizeof(*n->mft));
		n->n_mlids = first + PER_BLOCK;
	}
	for (unsigned i = 0; i < PER_BLOCK; i++) {
		uint16_t *set = &n->mft[(size_t)(first + i) * positions + position];

		if (r->method == MAD_SET)
			*set = load_be16(r->data + (size_t)2 * i);
		store_be16(r->data + (size_t)2 * i, *set);
	}
	return MAD_OK;
}

static uint16_t led_info(struct agent_request *r)
{
	return r->method == MAD_GET ? MAD_OK : MAD_UNSUPPORTED;
}

/* ---- M_Key */

/* Trap 256: sender and route of a MAD with a wrong M_Key. */
static void report_bad_key(const struct agent_request *r, port_id owner)
{
	enum { DIRECT = 0x80, CUT = 0x40, HOPS = 23, PATH = 24, LONGEST = 30 };
	const struct agents *a = r->agents;
	const uint8_t *mad = r->bytes;
	uint8_t details[PATH + LONGEST] = { 0 };
	bool cut = mad[DR_HOP_COUNT] > LONGEST;
	unsigned hops = cut ? LONGEST : mad[DR_HOP_COUNT];

	store_be16(details + 2, (uint16_t)info_get(a, a->ports[owner].info, PORT_LID));
	details[6] = r->method;
	memcpy(details + 8, mad + MAD_ATTRIBUTE, 2);
	memcpy(details + 10, mad + MAD_MODIFIER, 4);
	memcpy(details + 14, mad + SMP_MKEY, 8);
	if (mad[MAD_CLASS] == MAD_SMP_DIRECT) {
		memcpy(details + 4, mad + DR_SLID, 2);
		details[HOPS] = (uint8_t)(DIRECT | (cut ? CUT : 0) | hops);
		memcpy(details + PATH, mad + DR_RETURN_PATH + 1, hops);
	}
	agents_notice_raise(r->agents, owner, 256, details, sizeof(details), r->now);
}

/*
 * Checks the M_Key. A Set needs it; a Get needs it if the port is protected. A request with a wrong
 * key gets no response, raises trap 256 and starts the lease period.
 */
static bool has_key(struct agent_request *r)
{
	struct agents *a = r->agents;
	port_id owner = agents_owner(a, r->port);
	struct agent_port *p = &a->ports[owner];
	uint64_t key = info_get(a, p->info, PORT_MKEY);
	uint64_t violations = info_get(a, p->info, PORT_MKEY_VIOLATIONS);
	uint64_t lease = info_get(a, p->info, PORT_LEASE);

	if (r->now >= p->lease_end) {
		/* The lease has expired: the key can be read and replaced. */
		info_set(a, p->info, PORT_PROTECT, 0);
		p->lease_end = HD_TIME_NEVER;
	}
	if (key == 0 || load_be64(r->bytes + SMP_MKEY) == key) {
		p->lease_end = HD_TIME_NEVER;
		return true;
	}
	if (r->method == MAD_GET && info_get(a, p->info, PORT_PROTECT) < 2)
		return true;
	if (violations < 0xFFFF)
		info_set(a, p->info, PORT_MKEY_VIOLATIONS, violations + 1);
	if (lease && p->lease_end == HD_TIME_NEVER)
		p->lease_end = r->now + lease * HD_S;
	report_bad_key(r, owner);
	return false;
}

uint16_t agents_handle_smp(struct agent_request *r)
{
	static const struct {
		uint16_t id;
		uint16_t (*get_or_set)(struct agent_request *r);
	} attributes[] = {
		{ ATTR_NODE_DESCRIPTION, node_description },
		{ ATTR_NODE_INFO, node_info },
		{ ATTR_SWITCH_INFO, switch_info },
		{ ATTR_GUID_INFO, guid_info },
		{ ATTR_PORT_INFO, port_info },
		{ ATTR_PKEY_TABLE, pkey_table },
		{ ATTR_SL_TO_VL, sl2vl },
		{ ATTR_VL_ARBITRATION, vl_arbitration },
		{ ATTR_LINEAR_FORWARDING, linear_forwarding },
		{ ATTR_MULTICAST_FORWARDING, multicast_forwarding },
		{ ATTR_LED_INFO, led_info },
	};

	if (!has_key(r))
		return MAD_NO_ANSWER;
	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
		if (attributes[i].id != r->attribute)
			continue;
		if (r->method == MAD_GET)
			memset(r->data, 0, BLOCK_SIZE);
		return attributes[i].get_or_set(r);
	}
	return MAD_UNSUPPORTED;
}
