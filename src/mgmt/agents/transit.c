/* SPDX-License-Identifier: BSD-2-Clause */
#include "mgmt/agents/agents_internal.h"

#include <string.h>

#include "subnet/subnet.h"
#include "wire/cursor.h"

/*
 * Transit of a MAD. It is at a port of a node: the input port, or at its source a switch's port 0
 * or an adapter's port. Each step moves it through an output port of that node to the port at the
 * other end of the cable.
 */

/* ---- partitions: of all MADs but SMPs */

/* True if a P_Key of the port matches; one of both must be a full member. */
static bool pkey_accepts(const struct agents *a, port_id p, uint16_t key)
{
	for (unsigned i = 0; (key & PKEY_BASE) && i < agents_pkey_cap(a, p); i++)
		if (pkey_matches(agents_pkey(a, p, i), key))
			return true;
	return false;
}

/* True if the port is in the partition; limited members may send there, too. */
static bool in_partition(const struct agents *a, port_id p, uint16_t key)
{
	return agents_pkey_find(a, p, key) >= 0;
}

static void report_violation(const struct mad_transit *t, port_id p, bool is_qkey)
{
	const struct key_violation v = {
		.is_qkey = is_qkey,
		.slid = t->from.lid,
		.dlid = t->to_lid,
		.sl = t->from.sl,
		.key = is_qkey ? t->from.qkey : t->from.pkey,
		.from_qp = t->from.qp,
		.to_qp = t->to_qp,
	};

	agents_violation_add(t->agents, p, &v, 1, t->now);
}

/*
 * True if the switch forwards the MAD at port `p`; false if it enforces partitions there and the
 * P_Key does not match.
 */
static bool passes_filter(const struct mad_transit *t, port_id p, enum port_field enforce,
			  unsigned counter)
{
	struct agents *a = t->agents;

	if (t->path.management || a->topo->ports[p].number == 0 ||
	    topo_node_of(a->topo, p)->kind != NODE_SWITCH ||
	    !info_get(a, a->ports[p].info, enforce) ||
	    (enforce == PORT_ENFORCE_IN ? in_partition(a, p, t->from.pkey)
					: pkey_accepts(a, p, t->from.pkey)))
		return true;
	agents_counter_add(a, p, counter, 1);
	report_violation(t, p, false);
	return false;
}

/* True if P_Key and Q_Key are accepted at the destination. */
static bool accepts(const struct mad_transit *t)
{
	port_id p = agents_owner(t->agents, t->at);

	if (t->path.management)
		return true;
	if (!pkey_accepts(t->agents, p, t->from.pkey)) {
		report_violation(t, p, false);
		return false;
	}
	if (t->to_qp == 1 && t->from.qkey != MAD_QKEY) {
		report_violation(t, p, true);
		return false;
	}
	return true;
}

/* ---- forwarding */

static bool is_response(const struct mad_transit *t)
{
	return load_be16(t->first + MAD_STATUS) & MAD_DIRECTION;
}

static bool is_directed(const struct mad_transit *t)
{
	return t->first[MAD_CLASS] == MAD_SMP_DIRECT;
}

/* Reports the MAD on the cable that it has just crossed; a message is reported by its head. */
static void report_on_link(const struct mad_transit *t)
{
	const struct agents_events *e = &t->agents->events;
	struct agents_link_event c = {
		.now = t->now,
		.out = t->agents->topo->ports[t->at].peer,
		.in = t->at,
		.vl = t->vl,
		.from = t->from,
		.dlid = t->part == PART_DIRECTED ? LID_PERMISSIVE : t->path.lid,
		.to_qp = t->to_qp,
		.psn = t->psn,
		.mad = t->bytes ? t->bytes : t->first,
		.size = t->size,
	};

	if (t->path.management)
		c.from.pkey = PKEY_DEFAULT;
	if (t->part == PART_DIRECTED)
		c.from.lid = LID_PERMISSIVE;
	if (e->on_link && t->segment == 0)
		e->on_link(e->context, &c);
}

/* Leaves by output port `out`; false if the switch filters it. */
static bool leave(struct mad_transit *t, port_id out)
{
	if (!passes_filter(t, out, PORT_ENFORCE_OUT, COUNT_XMIT_CONSTRAINT))
		return false;
	t->vl = (uint8_t)agents_path_vl(&t->path, t->at, out);
	t->at = t->agents->topo->ports[out].peer;
	t->hops++;
	t->on_cable = t->has_left = true;
	return true;
}

bool agents_transit_land(struct mad_transit *t)
{
	t->on_cable = false;
	report_on_link(t);
	return passes_filter(t, t->at, PORT_ENFORCE_IN, COUNT_RCV_CONSTRAINT);
}

/*
 * The next cable of a directed route: the ports of InitialPath, with the input ports recorded in
 * ReturnPath; a response uses ReturnPath. Only switches forward.
 */
static enum path_step next_directed(struct mad_transit *t, port_id *out)
{
	const struct topo_node *n = topo_node_of(t->agents->topo, t->at);
	unsigned hops = t->first[DR_HOP_COUNT];
	bool back = is_response(t);

	if (hops > PATH_MAX_HOPS)
		return PATH_LOST;
	if (!back && t->hops > 0)
		t->first[DR_RETURN_PATH + t->hops] = t->agents->topo->ports[t->at].number;
	if (t->hops == hops) {
		t->first[DR_HOP_POINTER] = (uint8_t)(back ? 0 : hops + 1);
		return PATH_ARRIVED;
	}
	if (t->has_left && n->kind != NODE_SWITCH)
		return PATH_LOST;
	unsigned hop = back ? hops - t->hops : t->hops + 1;
	unsigned number = t->first[(back ? DR_RETURN_PATH : DR_INITIAL_PATH) + hop];

	if (number == 0 || number > n->n_ports)
		return PATH_LOST;
	t->first[DR_HOP_POINTER] = (uint8_t)hop;
	*out = n->first_port + number;
	return agents_path_open(&t->path, *out) ? PATH_FORWARD : PATH_LOST;
}

static void begin_part(struct mad_transit *t, enum smp_part part, uint16_t lid)
{
	t->part = part;
	t->hops = 0;
	t->path.lid = lid;
}

static enum path_step next(struct mad_transit *t, port_id *out)
{
	if (t->part == PART_DIRECTED) {
		enum path_step end = next_directed(t, out);
		uint16_t last = load_be16(t->first + (is_response(t) ? DR_SLID : DR_DLID));

		if (end != PATH_ARRIVED || last == LID_PERMISSIVE)
			return end;
		begin_part(t, PART_LAST, last);
	}
	if (t->hops > PATH_MAX_HOPS)
		return PATH_LOST;
	enum path_step end = agents_path_next(&t->path, t->at, !t->has_left, out);

	if (end != PATH_ARRIVED || t->part == PART_LAST || !is_directed(t))
		return end;
	begin_part(t, PART_DIRECTED, LID_PERMISSIVE);
	return next_directed(t, out);
}

/* ---- destination */

static void deliver_to_program(const struct mad_transit *t, port_id end)
{
	const struct agents_events *e = &t->agents->events;

	if (e->arrived)
		e->arrived(e->context, end, &t->from, t->bytes ? t->bytes : t->first, t->size);
}

/* Begins transit to `lid`, or by the directed route of the MAD. */
static void begin_transit(struct mad_transit *t, uint16_t lid)
{
	uint16_t first = load_be16(t->first + (is_response(t) ? DR_DLID : DR_SLID));

	t->to_lid = lid;
	t->source = t->at;
	t->has_left = false;
	t->psn = t->agents->next_psn++ & 0xFFFFFF;
	if (is_directed(t) && (first == LID_PERMISSIVE || lid == LID_PERMISSIVE))
		begin_part(t, PART_DIRECTED, LID_PERMISSIVE);
	else
		begin_part(t, PART_FIRST, lid);
}

static uint16_t lid_of(const struct agents *a, port_id p)
{
	return (uint16_t)info_get(a, a->ports[agents_owner(a, p)].info, PORT_LID);
}

/* The node's P_Key, full or limited, for the partition in which the MAD arrived. */
static uint16_t own_key(const struct mad_transit *t)
{
	port_id p = agents_owner(t->agents, t->at);
	int i = agents_pkey_find(t->agents, p, t->from.pkey);

	return i < 0 ? 0 : agents_pkey(t->agents, p, (unsigned)i);
}

/* Becomes the response of the agent at `at`, and returns to the sender. */
static void make_response(struct mad_transit *t, uint16_t status)
{
	uint16_t to = t->from.lid;
	bool directed = is_directed(t);

	t->from.pkey = own_key(t);
	t->first[MAD_METHOD] = MAD_GET_RESP;
	store_be16(t->first + MAD_STATUS, directed ? status | MAD_DIRECTION : status);
	if (topo_node_of(t->agents->topo, t->at)->kind == NODE_SWITCH && !directed)
		t->at = agents_owner(t->agents, t->at);
	t->from.lid = directed && load_be16(t->first + DR_DLID) == LID_PERMISSIVE
			      ? LID_PERMISSIVE
			      : lid_of(t->agents, t->at);
	begin_transit(t, to);
}

static uint16_t call_agent(struct mad_transit *t)
{
	uint8_t *mad = t->first;
	struct agent_request r = {
		.agents = t->agents,
		.port = t->at,
		.bytes = mad,
		.method = mad[MAD_METHOD],
		.attribute = load_be16(mad + MAD_ATTRIBUTE),
		.modifier = load_be32(mad + MAD_MODIFIER),
		.now = t->now,
	};
	const struct mad_class *class = mad_class(mad[MAD_CLASS]);
	const struct mad_attribute *attribute = mad_attribute(class, r.attribute);

	r.data = mad + (attribute && attribute->offset ? attribute->offset : class->data);
	if (mad[MAD_CLASS_VERSION] != class->version)
		return MAD_UNSUPPORTED_VERSION;
	switch (mad[MAD_CLASS]) {
	case MAD_PERF:
		return agents_handle_perf(&r);
	case MAD_CC:
		return agents_handle_cc(&r);
	default:
		return agents_handle_smp(&r);
	}
}

/* True if a MAD is for the agents of a node, not for a program. */
static bool is_for_agent(const uint8_t *mad)
{
	if (mad[MAD_METHOD] != MAD_GET && mad[MAD_METHOD] != MAD_SET)
		return false;
	return (mad_is_smp(mad) && load_be16(mad + MAD_ATTRIBUTE) != ATTR_SM_INFO) ||
	       mad[MAD_CLASS] == MAD_PERF || mad[MAD_CLASS] == MAD_CC;
}

static bool is_repress(const uint8_t *mad)
{
	return mad_is_smp(mad) && mad[MAD_METHOD] == MAD_TRAP_REPRESS;
}

bool agents_transit_is_for_agent(const struct mad_transit *t)
{
	return !t->bytes && is_for_agent(t->first);
}

bool agents_transit_receive(struct mad_transit *t)
{
	const uint8_t *mad = t->first;
	port_id owner = agents_owner(t->agents, t->at);
	uint16_t status = MAD_NO_ANSWER;

	if (agents_transit_is_for_agent(t)) {
		status = call_agent(t);
	} else if (!t->bytes && is_repress(mad)) {
		agents_notice_repress(t->agents, owner,
				      load_be16(mad + mad_class(MAD_SMP)->data + 4),
				      load_be64(mad + MAD_TID));
	} else if (topo_is_end_port(t->agents->topo, owner)) {
		deliver_to_program(t, owner);
	} else if (mad[MAD_METHOD] == MAD_GET || mad[MAD_METHOD] == MAD_SET) {
		status = MAD_UNSUPPORTED;
	}
	if (status != MAD_NO_ANSWER)
		make_response(t, status);
	return status != MAD_NO_ANSWER;
}

enum path_step agents_transit_step(struct mad_transit *t, port_id *out)
{
	enum path_step step = next(t, out);

	if ((step == PATH_FORWARD && !leave(t, *out)) || (step == PATH_ARRIVED && !accepts(t)))
		return PATH_LOST;
	return step;
}

/* One hop at once; false if the transit ends. */
static bool advance(struct mad_transit *t)
{
	port_id out = TOPO_NONE;

	switch (agents_transit_step(t, &out)) {
	case PATH_FORWARD:
		return agents_transit_land(t);
	case PATH_ARRIVED:
		return agents_transit_receive(t);
	case PATH_LOST:
		break;
	}
	return false;
}

void agents_mad_send(struct agents *a, port_id from, const struct mad_address *to,
		     const uint8_t *mad, size_t size, hd_time now)
{
	struct mad_transit t = {
		.agents = a,
		.at = from,
		.path = { .agents = a, .sl = to->sl & 15 },
		.from = *to,
		.to_qp = to->qp,
		.now = now,
		.bytes = size > MAD_SIZE ? mad : NULL,
		.size = size > MAD_SIZE ? size : MAD_SIZE,
	};

	memcpy(t.first, mad, size < MAD_SIZE ? size : MAD_SIZE);
	t.path.management = mad_is_smp(t.first);
	t.from.lid = lid_of(a, from);
	t.from.qp = t.path.management ? 0 : 1;
	if (is_directed(&t) && load_be16(t.first + DR_SLID) == LID_PERMISSIVE)
		t.from.lid = LID_PERMISSIVE;
	begin_transit(&t, to->lid);
	if (a->timed) {
		agents_timed_start(&t);
		return;
	}
	while (advance(&t))
		;
}
