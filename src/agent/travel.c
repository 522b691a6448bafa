/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "agent/state.h"
#include "subnet/subnet.h"
#include "wire/cursor.h"

/*
 * How MADs travel. A MAD stands at a port of a node: that by which it came, or
 * a switch's port 0 or an adapter's port if it begins there. It moves on
 * through a port of that node, over the cable, to the port at the other end.
 */

enum {
	PERMISSIVE = 0xFFFF,
	MAX_HOPS = 63,
	/* Of an SMP that says its route. */
	DR_HOP_POINTER = 6,
	DR_HOP_COUNT = 7,
	DR_SLID = 32,
	DR_DLID = 34,
	DR_INITIAL_PATH = 128,
	DR_RETURN_PATH = 192,
};

/* A MAD under way. */
struct travel {
	struct agents *agents;
	port_id at;
	bool management; /* on VL15: passes links that are not active yet */
	struct mad_address from; /* of whoever sent it; its keys */
	uint16_t to_lid;
	uint32_t to_qp;
	hd_time now;
};

static bool is_open(const struct travel *t, port_id p)
{
	uint64_t state =
		info_get(t->agents, t->agents->ports[p].info, PORT_STATE);

	return t->management ? state >= LINK_INIT : state == LINK_ACTIVE;
}

/* ---- partitions: of whatever is no subnet management */

/* Whether one of a port's keys lets the packet pass: a full member is there. */
static bool key_passes(const struct agents *a, port_id p, uint16_t key)
{
	for (unsigned i = 0; (key & 0x7FFF) && i < agents_pkey_cap(a, p); i++)
		if (pkey_matches(agents_pkey(a, p, i), key))
			return true;
	return false;
}

static void refuse(const struct travel *t, port_id p, bool is_qkey)
{
	const struct violation v = {
		.is_qkey = is_qkey,
		.slid = t->from.lid,
		.dlid = t->to_lid,
		.sl = t->from.sl,
		.key = is_qkey ? t->from.qkey : t->from.pkey,
		.from_qp = t->from.qp,
		.to_qp = t->to_qp,
	};

	agents_violation(t->agents, p, &v, 1, t->now);
}

/* Whether a switch lets it through by `p`, if it enforces partitions there. */
static bool is_let(const struct travel *t, port_id p, enum port_field enforce,
		   unsigned counter)
{
	struct agents *a = t->agents;

	if (t->management || a->topo->ports[p].number == 0 ||
	    topo_node_of(a->topo, p)->kind != NODE_SWITCH ||
	    !info_get(a, a->ports[p].info, enforce) ||
	    key_passes(a, p, t->from.pkey))
		return true;
	agents_count(a, p, counter, 1);
	refuse(t, p, false);
	return false;
}

/* Whether the end of the way takes it: by both its keys. */
static bool is_taken(const struct travel *t)
{
	port_id p = agents_owner(t->agents, t->at);

	if (t->management)
		return true;
	if (!key_passes(t->agents, p, t->from.pkey)) {
		refuse(t, p, false);
		return false;
	}
	if (t->to_qp == 1 && t->from.qkey != MAD_QKEY) {
		refuse(t, p, true);
		return false;
	}
	return true;
}

/* Out of port `number` of the node, over the cable. */
static bool cross(struct travel *t, unsigned number)
{
	const struct topo *topo = t->agents->topo;
	const struct topo_node *n = topo_node_of(topo, t->at);

	if (number == 0 || number > n->n_ports)
		return false;
	port_id out = n->first_port + number;
	port_id in = topo->ports[out].peer;

	if (in == TOPO_NONE || !is_open(t, out) || !is_open(t, in) ||
	    !is_let(t, out, PORT_ENFORCE_OUT, COUNT_XMIT_CONSTRAINT))
		return false;
	t->at = in;
	return is_let(t, in, PORT_ENFORCE_IN, COUNT_RCV_CONSTRAINT);
}

static bool has_lid(const struct agents *a, port_id p, uint16_t lid)
{
	const uint8_t *info = a->ports[agents_owner(a, p)].info;
	uint64_t base = info_get(a, info, PORT_LID);
	uint64_t n = UINT64_C(1) << info_get(a, info, PORT_LMC);

	return base != 0 && lid >= base && lid < base + n;
}

/* Whether a switch lets a packet of `sl` pass from one port to another. */
static bool has_lane(const struct travel *t, const struct agent_node *n,
		     unsigned in, unsigned out, unsigned ports)
{
	unsigned sl = t->from.sl;

	if (t->management || !n->sl2vl)
		return true;
	const uint8_t *map = n->sl2vl[(size_t)in * ports + out];

	return (map[sl / 2] >> (sl % 2 ? 0 : 4) & 15) != VL_MANAGEMENT;
}

/* By the forwarding tables to whoever has `lid`; false if it is lost. */
static bool go_to_lid(struct travel *t, uint16_t lid)
{
	const struct agents *a = t->agents;

	for (unsigned hops = 0; hops <= MAX_HOPS; hops++) {
		const struct topo_port *p = &a->topo->ports[t->at];
		const struct agent_node *n = &a->nodes[p->node];

		if (has_lid(a, t->at, lid))
			return true;
		if (topo_node_of(a->topo, t->at)->kind != NODE_SWITCH) {
			if (hops > 0 || !cross(t, p->number))
				return false;
			continue;
		}
		unsigned out = lid < n->lft_size ? n->lft[lid] : LFT_NO_PORT;
		unsigned ports = topo_node_of(a->topo, t->at)->n_ports + 1U;

		if (out == 0 || out >= ports ||
		    !has_lane(t, n, p->number, out, ports) || !cross(t, out))
			return false;
	}
	return false;
}

/* ---- routes that a MAD says itself */

/*
 * There: out of the ports of the initial path, noting by which one came in.
 * Only switches pass anything on.
 */
static bool go_out(struct travel *t, uint8_t *mad)
{
	unsigned hops = mad[DR_HOP_COUNT];

	if (hops > MAX_HOPS)
		return false;
	for (unsigned i = 1; i <= hops; i++) {
		if (i > 1 &&
		    topo_node_of(t->agents->topo, t->at)->kind != NODE_SWITCH)
			return false;
		if (!cross(t, mad[DR_INITIAL_PATH + i]))
			return false;
		mad[DR_RETURN_PATH + i] = t->agents->topo->ports[t->at].number;
	}
	mad[DR_HOP_POINTER] = (uint8_t)(hops + 1);
	return true;
}

/* And back the same way. */
static bool go_back(struct travel *t, uint8_t *mad)
{
	unsigned hops = mad[DR_HOP_COUNT];

	if (hops > MAX_HOPS)
		return false;
	for (unsigned i = hops; i >= 1; i--)
		if (!cross(t, mad[DR_RETURN_PATH + i]))
			return false;
	mad[DR_HOP_POINTER] = 0;
	return true;
}

/* The way of an SMP that says its own; LIDs may come before or after it. */
static bool go_directed(struct travel *t, uint8_t *mad, uint16_t lid)
{
	bool back = load_be16(mad + 4) & MAD_DIRECTION;
	uint16_t first = load_be16(mad + (back ? DR_DLID : DR_SLID));
	uint16_t last = load_be16(mad + (back ? DR_SLID : DR_DLID));

	if (first != PERMISSIVE && lid != PERMISSIVE && !go_to_lid(t, lid))
		return false;
	if (!(back ? go_back(t, mad) : go_out(t, mad)))
		return false;
	return last == PERMISSIVE || go_to_lid(t, last);
}

/* ---- at the end of the way */

static void hand_over(const struct travel *t, const uint8_t *mad, size_t size)
{
	const struct agents_events *e = &t->agents->events;

	e->arrived(e->context, t->at, &t->from, mad, size);
}

static bool go(struct travel *t, uint8_t *mad, uint16_t lid)
{
	return mad[1] == MAD_SMP_DIRECT ? go_directed(t, mad, lid)
					: go_to_lid(t, lid);
}

static uint16_t lid_of(const struct agents *a, port_id p)
{
	return (uint16_t)info_get(a, a->ports[agents_owner(a, p)].info,
				  PORT_LID);
}

/* Of the partition that a MAD came in: with what the node is in it. */
static uint16_t own_key(const struct travel *t)
{
	port_id p = agents_owner(t->agents, t->at);
	int i = agents_pkey_find(t->agents, p, t->from.pkey);

	return i < 0 ? 0 : agents_pkey(t->agents, p, (unsigned)i);
}

/* An answer of the agent where the MAD is now; to whoever sent it. */
static void answer(struct travel *t, uint8_t *mad, uint16_t status)
{
	uint16_t to = t->from.lid;

	t->to_lid = to;
	t->from.pkey = own_key(t);
	mad[3] = MAD_GET_RESP;
	if (mad[1] == MAD_SMP_DIRECT)
		status |= MAD_DIRECTION;
	store_be16(mad + 4, status);
	if (topo_node_of(t->agents->topo, t->at)->kind == NODE_SWITCH &&
	    mad[1] != MAD_SMP_DIRECT)
		t->at = agents_owner(t->agents, t->at);
	t->from.lid = mad[1] == MAD_SMP_DIRECT &&
				      load_be16(mad + DR_DLID) == PERMISSIVE
			      ? PERMISSIVE
			      : lid_of(t->agents, t->at);
	if (go(t, mad, to))
		hand_over(t, mad, MAD_SIZE);
}

static uint16_t ask(const struct travel *t, uint8_t *mad)
{
	struct request r = {
		.agents = t->agents,
		.port = t->at,
		.bytes = mad,
		.method = mad[3],
		.attribute = load_be16(mad + 16),
		.modifier = load_be32(mad + 20),
		.now = t->now,
	};
	const struct mad_class *class = mad_class(mad[1]);
	const struct mad_attribute *attribute =
		mad_attribute(class, r.attribute);

	r.data = mad + (attribute && attribute->offset ? attribute->offset
						       : class->data);
	if (mad[2] != class->version)
		return MAD_UNSUPPORTED_VERSION;
	switch (mad[1]) {
	case MAD_PERF:
		return performance_agent(&r);
	case MAD_CC:
		return congestion_agent(&r);
	default:
		return subnet_agent(&r);
	}
}

/* Whether it is for the agents of a node rather than a program there. */
static bool is_for_agent(const uint8_t *mad)
{
	bool subnet = mad[1] == MAD_SMP || mad[1] == MAD_SMP_DIRECT;

	if (mad[3] != MAD_GET && mad[3] != MAD_SET)
		return false;
	return (subnet && load_be16(mad + 16) != ATTR_SM_INFO) ||
	       mad[1] == MAD_PERF || mad[1] == MAD_CC;
}

static bool is_repress(const uint8_t *mad)
{
	return (mad[1] == MAD_SMP || mad[1] == MAD_SMP_DIRECT) &&
	       mad[3] == MAD_TRAP_REPRESS;
}

static void receive(struct travel *t, uint8_t *mad, size_t size)
{
	bool is_switch =
		topo_node_of(t->agents->topo, t->at)->kind == NODE_SWITCH;

	if (is_for_agent(mad)) {
		uint16_t status = ask(t, mad);

		if (status != MAD_NO_ANSWER)
			answer(t, mad, status);
	} else if (is_repress(mad)) {
		notice_repress(t->agents, agents_owner(t->agents, t->at),
			       load_be16(mad + mad_class(MAD_SMP)->data + 4),
			       load_be64(mad + 8));
	} else if (!is_switch ||
		   topo_is_end_port(t->agents->topo,
				    agents_owner(t->agents, t->at))) {
		if (is_switch)
			t->at = agents_owner(t->agents, t->at);
		hand_over(t, mad, size);
	} else if (!mad_is_response(mad) &&
		   (mad[3] == MAD_GET || mad[3] == MAD_SET)) {
		answer(t, mad, MAD_UNSUPPORTED);
	}
}

static void send(struct agents *a, port_id from, const struct mad_address *to,
		 const uint8_t *mad, size_t size, hd_time now)
{
	struct travel t = {
		.agents = a,
		.at = from,
		.from = *to,
		.now = now,
	};
	uint8_t first[MAD_SIZE] = { 0 };

	/* Only what agents take apart is changed on its way. */
	memcpy(first, mad, size < MAD_SIZE ? size : MAD_SIZE);
	t.management = first[1] == MAD_SMP || first[1] == MAD_SMP_DIRECT;
	t.from.lid = lid_of(a, from);
	t.from.qp = t.management ? 0 : 1;
	t.to_lid = to->lid;
	t.to_qp = to->qp;
	if (first[1] == MAD_SMP_DIRECT &&
	    load_be16(first + DR_SLID) == PERMISSIVE)
		t.from.lid = PERMISSIVE;
	if (!go(&t, first, to->lid) || !is_taken(&t))
		return;
	if (size > MAD_SIZE)
		hand_over(&t, mad, size);
	else
		receive(&t, first, MAD_SIZE);
}

void agents_send(struct agents *a, port_id from, const struct mad_address *to,
		 const uint8_t *mad, size_t size, hd_time now)
{
	if (size >= MAD_SIZE || (size > 0 && mad[1] != 0))
		send(a, from, to, mad, size, now);
}

void agents_send_own(struct agents *a, port_id owner,
		     const struct mad_address *to, const uint8_t *mad,
		     hd_time now)
{
	send(a, owner, to, mad, MAD_SIZE, now);
}
