/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/pack.h"
#include "mgmt/agents/travel.h"
#include "subnet/tables/packet.h"
#include "wire/headers.h"

/*
 * MADs that take their time, by the rules that packets have in the simulator
 * (docs/timing-rules.md) on a fabric without data: a link sends one after the other
 * at its rate (T3); a switch passes one on from its head on, after a while
 * (T6), inputs in turn (T7) and subnet management before all else (T10). A
 * port has room for so many on VL15, until they have left it, and what comes
 * when there is none is lost (A4): subnet management has no credits. Others
 * wait for theirs, and are not lost.
 *
 * Beyond those rules an agent takes its time for each MAD, one after the
 * other, and leaves it in the buffer meanwhile.
 *
 * Times and room are the fabric's (struct mad_times); that of agents alone is
 * ours, for nothing else knows of them.
 */

static const hd_time AGENT_TIME = 10000000; /* ps */

enum {
	MAD_OVERHEAD = PLAIN_OVERHEAD + DETH_SIZE,
	MAD_BLOCKS = (MAD_SIZE + MAD_OVERHEAD + BLOCK_BYTES - 1) / BLOCK_BYTES,
};

/* What happens, in the order of one instant (T2). */
enum event_kind {
	HEAD_ARRIVES, /* of a MAD, at a port */
	ROOM_FREE,    /* for one more, at a port */
	HAS_WAITED,   /* a MAD at the end of its way: it is there, and served */
	LOOK,         /* a port, whether it can send one */
};

/* An event's key: its kind, its turn, and a slot or a port. */
enum { ID_BITS = 24, TURN_BITS = 36 };

static void push(struct agents *a, enum event_kind kind, hd_time when, uint32_t id)
{
	uint64_t turn = a->turn++ & ((UINT64_C(1) << TURN_BITS) - 1);

	eventq_push(a->due, when, (uint64_t)kind << (ID_BITS + TURN_BITS) | turn << ID_BITS | id);
}

/* ---- those under way */

static uint32_t take_slot(struct agents *a)
{
	for (size_t i = 0; i < a->n_flights; i++) {
		uint32_t slot = (uint32_t)((a->next_slot + i) % a->n_flights);

		if (!a->flights[slot].agents) {
			a->next_slot = slot + 1;
			return slot;
		}
	}
	a->flights = hd_grow(a->flights, &a->flights_cap, a->n_flights + 1, sizeof(*a->flights));
	return (uint32_t)a->n_flights++;
}

/* Stays until it is taken; its bytes may be the caller's until then. */
static uint32_t keep(const struct travel *t)
{
	struct agents *a = t->agents;
	uint32_t slot = take_slot(a);

	a->flights[slot] = *t;
	if (t->bytes) {
		uint8_t *bytes = hd_alloc(t->size, 1);

		memcpy(bytes, t->bytes, t->size);
		a->flights[slot].bytes = bytes;
	}
	return slot;
}

/* Goes on now, and ends here or is kept again. */
static void go_on(struct agents *a, uint32_t slot, hd_time now)
{
	struct travel t = a->flights[slot];

	a->flights[slot].agents = NULL;
	t.now = now;
	travel_on(&t);
	free((void *)t.bytes);
}

void flights_init(struct agents *a)
{
	a->due = hd_alloc(1, sizeof(*a->due));
	eventq_init(a->due);
	for (port_id p = 0; p < a->n_ports; p++) {
		struct line *l = &a->ports[p].line;

		l->look_at = HD_TIME_NEVER;
		l->first = NO_FLIGHT;
		/* The first to have its turn is port 0. */
		memset(l->turn, UINT8_MAX, sizeof(l->turn));
	}
}

void flights_fini(struct agents *a)
{
	for (size_t i = 0; i < a->n_flights; i++)
		if (a->flights[i].agents)
			free((void *)a->flights[i].bytes);
	free(a->flights);
	eventq_fini(a->due);
	free(a->due);
}

hd_time flights_next(const struct agents *a)
{
	const struct event *e = eventq_first(a->due);

	return e ? e->when : HD_TIME_NEVER;
}

/* ---- the room of a port */

static void free_room(struct agents *a, port_id p)
{
	a->ports[p].held = (uint16_t)(a->ports[p].held - MAD_BLOCKS);
}

bool flight_land(struct travel *t)
{
	struct agent_port *port = &t->agents->ports[t->at];

	if (!t->way.management)
		return true;
	if (port->held + (uint32_t)MAD_BLOCKS > t->agents->options.times->vl15_blocks) {
		count_more(t->agents, t->at, COUNT_VL15_DROPPED, 1);
		return false;
	}
	port->held = (uint16_t)(port->held + MAD_BLOCKS);
	t->holds = t->at;
	return true;
}

void flight_leave(struct travel *t)
{
	port_id p = t->holds;

	t->holds = TOPO_NONE;
	if (p == TOPO_NONE)
		return;
	if (t->whole > t->now)
		push(t->agents, ROOM_FREE, t->whole, p);
	else
		free_room(t->agents, p);
}

/* ---- links */

/* What a link runs at. */
static struct hd_rate rate_of(const struct agents *a, port_id p)
{
	struct hd_rate said = a->options.times->cables[p].rate;
	struct topo_link_state best;
	enum link_speed speed;
	unsigned lanes;

	if (said.num)
		return said;
	if (!link_is_told(a, p) && topo_link_state(a->topo, p, &best) == HD_OK)
		return best.rate;
	agents_link(a, p, &lanes, &speed);
	return hd_rate_of_link(lanes, speed);
}

/* How long the link of `out` has it. */
static hd_time duration_on(const struct travel *t, port_id out)
{
	uint64_t segments = (t->size + MAD_SIZE - 1) / MAD_SIZE;

	return hd_rate_duration(rate_of(t->agents, out), t->size + segments * MAD_OVERHEAD);
}

/* The port will look at `when`, unless it does before that. */
static void look_at(struct agents *a, port_id out, hd_time when)
{
	struct line *l = &a->ports[out].line;

	if (when >= l->look_at)
		return;
	l->look_at = when;
	push(a, LOOK, when, out);
}

void flight_cross(struct travel *t, port_id here, port_id out)
{
	struct agents *a = t->agents;
	struct line *l = &a->ports[out].line;
	bool passes = topo_node_of(a->topo, out)->kind == NODE_SWITCH;
	hd_time in = t->whole - t->head, duration = duration_on(t, out);

	t->ready = t->head + (passes ? a->options.times->switch_delay : 0);
	if (in > duration)
		t->ready += in - duration;
	t->in = in > 0 ? a->topo->ports[here].number : 0;
	t->next = NO_FLIGHT;
	uint32_t slot = keep(t);

	if (l->first == NO_FLIGHT)
		l->first = slot;
	else
		a->flights[l->last].next = slot;
	l->last = slot;
	look_at(a, out, t->ready > l->busy ? t->ready : l->busy);
}

/* Whether one that is ready goes before another that is, and came earlier. */
static bool goes_before(const struct agents *a, const struct line *l, const struct travel *t,
			const struct travel *other)
{
	unsigned kind = !t->way.management;

	if (kind != !other->way.management)
		return kind == 0;
	if (a->options.times->oldest)
		return t->ready != other->ready ? t->ready < other->ready : t->in < other->in;
	return (uint8_t)(t->in - l->turn[kind] - 1U) < (uint8_t)(other->in - l->turn[kind] - 1U);
}

/* Takes the one whose turn it is out of the line; or NO_FLIGHT. */
static uint32_t pick(struct agents *a, struct line *l, hd_time now)
{
	uint32_t best = NO_FLIGHT, before_best = NO_FLIGHT;

	for (uint32_t i = l->first, before = NO_FLIGHT; i != NO_FLIGHT;
	     before = i, i = a->flights[i].next) {
		const struct travel *t = &a->flights[i];

		if (t->ready > now ||
		    (best != NO_FLIGHT && !goes_before(a, l, t, &a->flights[best])))
			continue;
		best = i;
		before_best = before;
	}
	if (best == NO_FLIGHT)
		return best;
	if (before_best == NO_FLIGHT)
		l->first = a->flights[best].next;
	else
		a->flights[before_best].next = a->flights[best].next;
	if (l->last == best)
		l->last = before_best;
	return best;
}

/* It leaves by `out`, unless the link has gone meanwhile. */
static void grant(struct agents *a, port_id out, uint32_t slot, hd_time now)
{
	struct line *l = &a->ports[out].line;
	struct travel *t = &a->flights[slot];
	hd_time duration = duration_on(t, out);

	t->now = now;
	if (!way_crosses(&t->way, out)) {
		flight_leave(t);
		free((void *)t->bytes);
		t->agents = NULL;
		return;
	}
	l->turn[!t->way.management] = t->in;
	l->busy = now + duration;
	/* What it stood in is free when its tail has left. */
	t->whole = l->busy;
	flight_leave(t);
	t->head = now + a->options.times->cables[out].propagation;
	t->whole = t->head + duration;
	push(a, HEAD_ARRIVES, t->head, slot);
}

static void look(struct agents *a, port_id out, hd_time now)
{
	struct line *l = &a->ports[out].line;
	hd_time next = HD_TIME_NEVER;

	if (l->look_at != now)
		return;
	l->look_at = HD_TIME_NEVER;
	uint32_t slot = l->busy <= now ? pick(a, l, now) : NO_FLIGHT;

	if (slot != NO_FLIGHT)
		grant(a, out, slot, now);
	for (uint32_t i = l->first; i != NO_FLIGHT; i = a->flights[i].next)
		if (a->flights[i].ready < next)
			next = a->flights[i].ready;
	if (next != HD_TIME_NEVER)
		look_at(a, out, next > l->busy ? next : l->busy);
}

/* ---- the end of a way */

bool flight_serve(struct travel *t, bool by_agent)
{
	struct agent_node *n = &t->agents->nodes[t->agents->topo->ports[t->at].node];
	hd_time done = t->whole;

	t->served = true;
	if (by_agent) {
		done = (n->busy > done ? n->busy : done) + AGENT_TIME;
		n->busy = done;
	}
	if (done > t->now)
		push(t->agents, HAS_WAITED, done, keep(t));
	return done > t->now;
}

/* ---- as bytes */

static const struct pack_member times_members[] = {
	PACK(mad_times, switch_delay),
	PACK(mad_times, vl15_blocks),
	PACK(mad_times, oldest),
};
PACK_KNOWS(mad_times, 24);

static const struct pack_member cable_members[] = {
	PACK(mad_cable, propagation),
	PACK(mad_cable, rate.num),
	PACK(mad_cable, rate.den),
};
PACK_KNOWS(mad_cable, 24);

bool mad_times_fit(const struct mad_times *m, const struct topo *t)
{
	const struct hd_rate least = { 1000, 1 };
	bool fit = m->switch_delay <= 2 * HD_S && m->vl15_blocks <= UINT16_MAX;

	for (port_id i = 0; i < t->n_ports && fit; i++) {
		const struct mad_cable *c = &m->cables[i];

		fit = c->propagation >= 1 && c->propagation <= HD_S &&
		      (c->rate.num == 0 ||
		       (c->rate.den > 0 && hd_rate_compare(c->rate, least) >= 0));
	}
	return fit;
}

void mad_times_pack(struct pack *p, const struct topo *t, struct mad_times *m)
{
	PACK_STRUCT(p, times_members, m);
	if (p->reads)
		m->cables = hd_alloc(t->n_ports, sizeof(*m->cables));
	for (port_id i = 0; i < t->n_ports; i++)
		PACK_STRUCT(p, cable_members, &m->cables[i]);
	pack_check(p, mad_times_fit(m, t));
}

/* ---- time passes */

void flights_run(struct agents *a, hd_time now)
{
	const uint64_t ids = (UINT64_C(1) << ID_BITS) - 1;
	struct event e;

	while (flights_next(a) <= now && eventq_pop(a->due, &e)) {
		uint32_t id = (uint32_t)(e.key & ids);

		switch ((enum event_kind)(e.key >> (ID_BITS + TURN_BITS))) {
		case HEAD_ARRIVES:
		case HAS_WAITED:
			go_on(a, id, e.when);
			break;
		case ROOM_FREE:
			free_room(a, id);
			break;
		case LOOK:
			look(a, id, e.when);
			break;
		}
	}
}
