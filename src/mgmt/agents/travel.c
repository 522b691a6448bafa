/* SPDX-License-Identifier: BSD-2-Clause */
#include "mgmt/agents/travel.h"

#include <string.h>

#include "subnet/subnet.h"
#include "wire/cursor.h"

/*
 * How MADs travel. A MAD stands at a port of a node: that by which it came, or
 * a switch's port 0 or an adapter's port if it begins there. It moves on
 * through a port of that node, over the cable, to the port at the other end.
 */

/* ---- partitions: of whatever is no subnet management */

/* Whether one of a port's keys lets the packet pass: a full member is there. */
static bool key_passes(const struct agents *a, port_id p, uint16_t key)
{
	for (unsigned i = 0; (key & PKEY_BASE) && i < agents_pkey_cap(a, p); i++)
		if (pkey_matches(agents_pkey(a, p, i), key))
			return true;
	return false;
}

/* Whether it names the partition: a limited member may send there, too. */
static bool key_enters(const struct agents *a, port_id p, uint16_t key)
{
	return agents_pkey_find(a, p, key) >= 0;
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

	violation_note(t->agents, p, &v, 1, t->now);
}

/* Whether a switch lets it through by `p`, if it enforces partitions there. */
static bool is_let(const struct travel *t, port_id p, enum port_field enforce, unsigned counter)
{
	struct agents *a = t->agents;

	if (t->way.management || a->topo->ports[p].number == 0 ||
	    topo_node_of(a->topo, p)->kind != NODE_SWITCH ||
	    !info_get(a, a->ports[p].info, enforce) ||
	    (enforce == PORT_ENFORCE_IN ? key_enters(a, p, t->from.pkey)
					: key_passes(a, p, t->from.pkey)))
		return true;
	count_more(a, p, counter, 1);
	refuse(t, p, false);
	return false;
}

/* Whether the end of the way takes it: by both its keys. */
static bool is_taken(const struct travel *t)
{
	port_id p = agents_owner(t->agents, t->at);

	if (t->way.management)
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

/* ---- from port to port */

static bool is_back(const struct travel *t)
{
	return load_be16(t->first + MAD_STATUS) & MAD_DIRECTION;
}

static bool is_directed(const struct travel *t)
{
	return t->first[MAD_CLASS] == MAD_SMP_DIRECT;
}

/* Says what has crossed a cable, as it stood there. */
static void tell_crossing(const struct travel *t)
{
	const struct agents_events *e = &t->agents->events;
	struct agents_crossing c = {
		.now = t->now,
		.out = t->agents->topo->ports[t->at].peer,
		.in = t->at,
		.vl = t->vl,
		.from = t->from,
		.dlid = t->leg == LEG_DIRECTED ? LID_PERMISSIVE : t->way.lid,
		.to_qp = t->to_qp,
		.psn = t->psn,
		.mad = t->bytes ? t->bytes : t->first,
		.size = t->size,
	};

	if (t->way.management)
		c.from.pkey = PKEY_DEFAULT;
	if (t->leg == LEG_DIRECTED)
		c.from.lid = LID_PERMISSIVE;
	if (e->crossed)
		e->crossed(e->context, &c);
}

/* Out of a port; false if the switch does not let it. */
static bool leave(struct travel *t, port_id out)
{
	if (!is_let(t, out, PORT_ENFORCE_OUT, COUNT_XMIT_CONSTRAINT))
		return false;
	t->vl = (uint8_t)way_lane(&t->way, t->at, out);
	t->at = t->agents->topo->ports[out].peer;
	t->hops++;
	t->crosses = true;
	return true;
}

/* At the other end of the cable; false if it is not taken there. */
static bool land(struct travel *t)
{
	t->crosses = false;
	if (t->agents->options.times && !flight_land(t))
		return false;
	tell_crossing(t);
	return is_let(t, t->at, PORT_ENFORCE_IN, COUNT_RCV_CONSTRAINT);
}

/*
 * The next cable of a route that a MAD says itself: out of the ports of the
 * initial path, noting by which one came in; and back the same way. Only
 * switches pass anything on.
 */
static enum way_end next_directed(struct travel *t, port_id *out)
{
	const struct topo_node *n = topo_node_of(t->agents->topo, t->at);
	unsigned hops = t->first[DR_HOP_COUNT];
	bool back = is_back(t);

	if (hops > WAY_MAX_HOPS)
		return WAY_LOST;
	if (!back && t->hops > 0)
		t->first[DR_RETURN_PATH + t->hops] = t->agents->topo->ports[t->at].number;
	if (t->hops == hops) {
		t->first[DR_HOP_POINTER] = (uint8_t)(back ? 0 : hops + 1);
		return WAY_HERE;
	}
	if (t->hops > 0 && n->kind != NODE_SWITCH)
		return WAY_LOST;
	unsigned hop = back ? hops - t->hops : t->hops + 1;
	unsigned number = t->first[(back ? DR_RETURN_PATH : DR_INITIAL_PATH) + hop];

	if (number == 0 || number > n->n_ports)
		return WAY_LOST;
	t->first[DR_HOP_POINTER] = (uint8_t)hop;
	*out = n->first_port + number;
	return way_crosses(&t->way, *out) ? WAY_ON : WAY_LOST;
}

static void begin_leg(struct travel *t, enum leg leg, uint16_t lid)
{
	t->leg = leg;
	t->hops = 0;
	t->way.lid = lid;
}

static enum way_end next(struct travel *t, port_id *out)
{
	if (t->leg == LEG_DIRECTED) {
		enum way_end end = next_directed(t, out);
		uint16_t last = load_be16(t->first + (is_back(t) ? DR_SLID : DR_DLID));

		if (end != WAY_HERE || last == LID_PERMISSIVE)
			return end;
		begin_leg(t, LEG_LAST, last);
	}
	if (t->hops > WAY_MAX_HOPS)
		return WAY_LOST;
	enum way_end end = way_next(&t->way, t->at, t->hops == 0, out);

	if (end != WAY_HERE || t->leg == LEG_LAST || !is_directed(t))
		return end;
	begin_leg(t, LEG_DIRECTED, LID_PERMISSIVE);
	return next_directed(t, out);
}

/* ---- at the end of the way */

static void hand_over(const struct travel *t, port_id end)
{
	const struct agents_events *e = &t->agents->events;

	if (e->arrived)
		e->arrived(e->context, end, &t->from, t->bytes ? t->bytes : t->first, t->size);
}

/* The way begins, to `lid` or as the MAD says itself. */
static void set_out(struct travel *t, uint16_t lid)
{
	uint16_t first = load_be16(t->first + (is_back(t) ? DR_DLID : DR_SLID));

	t->to_lid = lid;
	t->head = t->whole = t->now;
	t->served = false;
	t->psn = t->agents->next_psn++ & 0xFFFFFF;
	if (is_directed(t) && (first == LID_PERMISSIVE || lid == LID_PERMISSIVE))
		begin_leg(t, LEG_DIRECTED, LID_PERMISSIVE);
	else
		begin_leg(t, LEG_FIRST, lid);
}

static uint16_t lid_of(const struct agents *a, port_id p)
{
	return (uint16_t)info_get(a, a->ports[agents_owner(a, p)].info, PORT_LID);
}

/* Of the partition that a MAD came in: with what the node is in it. */
static uint16_t own_key(const struct travel *t)
{
	port_id p = agents_owner(t->agents, t->at);
	int i = agents_pkey_find(t->agents, p, t->from.pkey);

	return i < 0 ? 0 : agents_pkey(t->agents, p, (unsigned)i);
}

/* Becomes the answer of the agent where it is now; to whoever sent it. */
static void turn_back(struct travel *t, uint16_t status)
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
	set_out(t, to);
}

static uint16_t ask(struct travel *t)
{
	uint8_t *mad = t->first;
	struct request r = {
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
	if (mad[MAD_METHOD] != MAD_GET && mad[MAD_METHOD] != MAD_SET)
		return false;
	return (mad_is_smp(mad) && load_be16(mad + MAD_ATTRIBUTE) != ATTR_SM_INFO) ||
	       mad[MAD_CLASS] == MAD_PERF || mad[MAD_CLASS] == MAD_CC;
}

static bool is_repress(const uint8_t *mad)
{
	return mad_is_smp(mad) && mad[MAD_METHOD] == MAD_TRAP_REPRESS;
}

/* At the end of the way; true if an answer goes back from there. */
static bool receive(struct travel *t)
{
	const uint8_t *mad = t->first;
	port_id owner = agents_owner(t->agents, t->at);
	uint16_t status = MAD_NO_ANSWER;

	if (!t->bytes && is_for_agent(mad)) {
		status = ask(t);
	} else if (!t->bytes && is_repress(mad)) {
		notice_repress(t->agents, owner, load_be16(mad + mad_class(MAD_SMP)->data + 4),
			       load_be64(mad + MAD_TID));
	} else if (topo_is_end_port(t->agents->topo, owner)) {
		hand_over(t, owner);
	} else if (mad[MAD_METHOD] == MAD_GET || mad[MAD_METHOD] == MAD_SET) {
		status = MAD_UNSUPPORTED;
	}
	if (status != MAD_NO_ANSWER)
		turn_back(t, status);
	return status != MAD_NO_ANSWER;
}

/* A step of the way; false if it ends here, or goes on later. */
static bool step(struct travel *t)
{
	bool timed = t->agents->options.times;
	port_id here = t->at, out = TOPO_NONE;

	/* It is where it was to go, whatever tables say by now. */
	if (t->served) {
		flight_leave(t);
		return receive(t);
	}
	switch (next(t, &out)) {
	case WAY_ON:
		if (!leave(t, out))
			break;
		if (!timed)
			return true;
		flight_cross(t, here, out);
		return false;
	case WAY_HERE:
		if (!is_taken(t))
			break;
		if (timed && flight_serve(t, is_for_agent(t->first)))
			return false;
		flight_leave(t);
		return receive(t);
	case WAY_LOST:
		break;
	}
	flight_leave(t);
	return false;
}

void travel_on(struct travel *t)
{
	do {
		if (t->crosses && !land(t)) {
			flight_leave(t);
			return;
		}
	} while (step(t));
}

void mad_send(struct agents *a, port_id from, const struct mad_address *to, const uint8_t *mad,
	      size_t size, hd_time now)
{
	struct travel t = {
		.agents = a,
		.at = from,
		.way = { .agents = a, .sl = to->sl & 15 },
		.from = *to,
		.to_qp = to->qp,
		.now = now,
		.holds = TOPO_NONE,
		.bytes = size > MAD_SIZE ? mad : NULL,
		.size = size > MAD_SIZE ? size : MAD_SIZE,
	};

	memcpy(t.first, mad, size < MAD_SIZE ? size : MAD_SIZE);
	t.way.management = mad_is_smp(t.first);
	t.from.lid = lid_of(a, from);
	t.from.qp = t.way.management ? 0 : 1;
	if (is_directed(&t) && load_be16(t.first + DR_SLID) == LID_PERMISSIVE)
		t.from.lid = LID_PERMISSIVE;
	set_out(&t, to->lid);
	travel_on(&t);
}
