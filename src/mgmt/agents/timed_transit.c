/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/pack.h"
#include "mgmt/agents/agents_internal.h"
#include "subnet/tables/packet.h"
#include "wire/headers.h"

/*
 * MADs that take time. The rules are those of the simulator (docs/timing-rules.md) for a fabric
 * without data: a link transmits one packet at a time at its rate (T3); a switch forwards a packet
 * after its head has been there for the switch delay (T6), inputs in turn (T7), VL15 first (T10). A
 * port has a VL15 buffer; VL15 has no credits, so a MAD that finds it full is lost (A4). MADs on
 * other VLs wait for credits and are not lost.
 *
 * Each agent processes one MAD at a time, for AGENT_TIME, and the MAD stays in the buffer
 * meanwhile. Delays and buffers come from struct agents_timing; only AGENT_TIME is defined here.
 */

static const hd_time AGENT_TIME = 10000000; /* in ps */

enum {
	MAD_OVERHEAD = PLAIN_OVERHEAD + DETH_SIZE,
	MAD_BLOCKS = (MAD_SIZE + MAD_OVERHEAD + BLOCK_BYTES - 1) / BLOCK_BYTES,
};

/* Events in their order within one instant (T2). */
enum event_kind {
	HEAD_ARRIVES,    /* of a MAD at a port */
	BUFFER_RELEASED, /* a VL15 buffer is released at a port */
	SERVED,          /* a MAD has been processed at its destination */
	ARBITRATE,       /* arbitration at an output port */
};

/* The key of an event: its kind, its turn, and a slot or a port. */
enum { ID_BITS = 24, TURN_BITS = 36 };

static void push(struct agents *a, enum event_kind kind, hd_time when, uint32_t id)
{
	uint64_t turn = a->turn++ & ((UINT64_C(1) << TURN_BITS) - 1);

	eventq_push(a->due, when, (uint64_t)kind << (ID_BITS + TURN_BITS) | turn << ID_BITS | id);
}

/* ---- MADs in transit */

static uint32_t take_slot(struct agents *a)
{
	for (size_t i = 0; i < a->n_transits; i++) {
		uint32_t slot = (uint32_t)((a->next_slot + i) % a->n_transits);

		if (!a->transits[slot].agents) {
			a->next_slot = slot + 1;
			return slot;
		}
	}
	a->transits =
		hd_grow(a->transits, &a->transits_cap, a->n_transits + 1, sizeof(*a->transits));
	return (uint32_t)a->n_transits++;
}

/* Stores a transit until it is taken; copies its bytes, which the caller owns. */
static uint32_t store_transit(const struct mad_transit *t)
{
	struct agents *a = t->agents;
	uint32_t slot = take_slot(a);

	a->transits[slot] = *t;
	if (t->bytes) {
		uint8_t *bytes = hd_alloc(t->size, 1);

		memcpy(bytes, t->bytes, t->size);
		a->transits[slot].bytes = bytes;
	}
	return slot;
}

/* Advances a stored transit; it ends, or is stored again. */
static void resume(struct agents *a, uint32_t slot, hd_time now)
{
	struct mad_transit t = a->transits[slot];

	a->transits[slot].agents = NULL;
	t.now = now;
	agents_transit_advance(&t);
	free((void *)t.bytes);
}

void agents_transits_init(struct agents *a)
{
	a->due = hd_alloc(1, sizeof(*a->due));
	eventq_init(a->due);
	for (port_id p = 0; p < a->n_ports; p++) {
		struct tx_queue *l = &a->ports[p].tx;

		l->arbitrate_at = HD_TIME_NEVER;
		l->first = NO_TRANSIT;
		/* Round robin begins with port 0. */
		memset(l->turn, UINT8_MAX, sizeof(l->turn));
	}
}

void agents_transits_fini(struct agents *a)
{
	for (size_t i = 0; i < a->n_transits; i++)
		if (a->transits[i].agents)
			free((void *)a->transits[i].bytes);
	free(a->transits);
	eventq_fini(a->due);
	free(a->due);
}

hd_time agents_transits_next(const struct agents *a)
{
	const struct event *e = eventq_first(a->due);

	return e ? e->when : HD_TIME_NEVER;
}

/* ---- buffers */

static void release_buffer(struct agents *a, port_id p)
{
	a->ports[p].held = (uint16_t)(a->ports[p].held - MAD_BLOCKS);
}

bool agents_transit_occupy(struct mad_transit *t)
{
	struct agent_port *port = &t->agents->ports[t->at];

	if (!t->path.management)
		return true;
	if (port->held + (uint32_t)MAD_BLOCKS > t->agents->options.times->vl15_blocks) {
		agents_counter_add(t->agents, t->at, COUNT_VL15_DROPPED, 1);
		return false;
	}
	port->held = (uint16_t)(port->held + MAD_BLOCKS);
	t->holds = t->at;
	return true;
}

void agents_transit_release(struct mad_transit *t)
{
	port_id p = t->holds;

	t->holds = TOPO_NONE;
	if (p == TOPO_NONE)
		return;
	if (t->whole > t->now)
		push(t->agents, BUFFER_RELEASED, t->whole, p);
	else
		release_buffer(t->agents, p);
}

/* ---- links */

/* Rate of the link at port `p`. */
static struct hd_rate link_rate(const struct agents *a, port_id p)
{
	struct hd_rate configured = a->options.times->cables[p].rate;
	struct topo_link_state best;
	enum link_speed speed;
	unsigned lanes;

	if (configured.num)
		return configured;
	if (!agents_link_is_limited(a, p) && topo_link_state(a->topo, p, &best) == HD_OK)
		return best.rate;
	agents_link(a, p, &lanes, &speed);
	return hd_rate_of_link(lanes, speed);
}

/* Transmission time on the link of `out`. */
static hd_time transmission_time(const struct mad_transit *t, port_id out)
{
	uint64_t segments = (t->size + MAD_SIZE - 1) / MAD_SIZE;

	return hd_rate_duration(link_rate(t->agents, out), t->size + segments * MAD_OVERHEAD);
}

/* Schedules arbitration of output `out` at `when`, unless an earlier one is pending. */
static void arbitrate_at(struct agents *a, port_id out, hd_time when)
{
	struct tx_queue *l = &a->ports[out].tx;

	if (when >= l->arbitrate_at)
		return;
	l->arbitrate_at = when;
	push(a, ARBITRATE, when, out);
}

void agents_transit_queue(struct mad_transit *t, port_id here, port_id out)
{
	struct agents *a = t->agents;
	struct tx_queue *l = &a->ports[out].tx;
	bool passes = topo_node_of(a->topo, out)->kind == NODE_SWITCH;
	hd_time in = t->whole - t->head, duration = transmission_time(t, out);

	t->ready = t->head + (passes ? a->options.times->switch_delay : 0);
	if (in > duration)
		t->ready += in - duration;
	t->in = in > 0 ? a->topo->ports[here].number : 0;
	t->next = NO_TRANSIT;
	uint32_t slot = store_transit(t);

	if (l->first == NO_TRANSIT)
		l->first = slot;
	else
		a->transits[l->last].next = slot;
	l->last = slot;
	arbitrate_at(a, out, t->ready > l->busy ? t->ready : l->busy);
}

/* True if ready MAD `t` is granted before `other`, which came earlier. */
static bool precedes(const struct agents *a, const struct tx_queue *l, const struct mad_transit *t,
		     const struct mad_transit *other)
{
	unsigned kind = !t->path.management;

	if (kind != !other->path.management)
		return kind == 0;
	if (a->options.times->oldest)
		return t->ready != other->ready ? t->ready < other->ready : t->in < other->in;
	return (uint8_t)(t->in - l->turn[kind] - 1U) < (uint8_t)(other->in - l->turn[kind] - 1U);
}

/* Removes the MAD that is granted next from the queue; or NO_TRANSIT. */
static uint32_t pick(struct agents *a, struct tx_queue *l, hd_time now)
{
	uint32_t best = NO_TRANSIT, before_best = NO_TRANSIT;

	for (uint32_t i = l->first, before = NO_TRANSIT; i != NO_TRANSIT;
	     before = i, i = a->transits[i].next) {
		const struct mad_transit *t = &a->transits[i];

		if (t->ready > now ||
		    (best != NO_TRANSIT && !precedes(a, l, t, &a->transits[best])))
			continue;
		best = i;
		before_best = before;
	}
	if (best == NO_TRANSIT)
		return best;
	if (before_best == NO_TRANSIT)
		l->first = a->transits[best].next;
	else
		a->transits[before_best].next = a->transits[best].next;
	if (l->last == best)
		l->last = before_best;
	return best;
}

/* Transmits a MAD by `out`; it is lost if the link has gone down. */
static void grant(struct agents *a, port_id out, uint32_t slot, hd_time now)
{
	struct tx_queue *l = &a->ports[out].tx;
	struct mad_transit *t = &a->transits[slot];
	hd_time duration = transmission_time(t, out);

	t->now = now;
	if (!agents_path_open(&t->path, out)) {
		agents_transit_release(t);
		free((void *)t->bytes);
		t->agents = NULL;
		return;
	}
	l->turn[!t->path.management] = t->in;
	l->busy = now + duration;
	/* The buffer is released when the tail has left. */
	t->whole = l->busy;
	agents_transit_release(t);
	t->head = now + a->options.times->cables[out].propagation;
	t->whole = t->head + duration;
	push(a, HEAD_ARRIVES, t->head, slot);
}

static void arbitrate(struct agents *a, port_id out, hd_time now)
{
	struct tx_queue *l = &a->ports[out].tx;
	hd_time next = HD_TIME_NEVER;

	if (l->arbitrate_at != now)
		return;
	l->arbitrate_at = HD_TIME_NEVER;
	uint32_t slot = l->busy <= now ? pick(a, l, now) : NO_TRANSIT;

	if (slot != NO_TRANSIT)
		grant(a, out, slot, now);
	for (uint32_t i = l->first; i != NO_TRANSIT; i = a->transits[i].next)
		if (a->transits[i].ready < next)
			next = a->transits[i].ready;
	if (next != HD_TIME_NEVER)
		arbitrate_at(a, out, next > l->busy ? next : l->busy);
}

/* ---- destination */

bool agents_transit_serve(struct mad_transit *t, bool by_agent)
{
	struct agent_node *n = &t->agents->nodes[t->agents->topo->ports[t->at].node];
	hd_time done = t->whole;

	t->served = true;
	if (by_agent) {
		done = (n->busy > done ? n->busy : done) + AGENT_TIME;
		n->busy = done;
	}
	if (done > t->now)
		push(t->agents, SERVED, done, store_transit(t));
	return done > t->now;
}

/* ---- packing */

static const struct pack_member times_members[] = {
	PACK(agents_timing, switch_delay),
	PACK(agents_timing, vl15_blocks),
	PACK(agents_timing, oldest),
};
PACK_KNOWS(agents_timing, 24);

static const struct pack_member cable_members[] = {
	PACK(agents_cable_timing, propagation),
	PACK(agents_cable_timing, rate.num),
	PACK(agents_cable_timing, rate.den),
};
PACK_KNOWS(agents_cable_timing, 24);

bool agents_timing_valid(const struct agents_timing *m, const struct topo *t)
{
	const struct hd_rate least = { 1000, 1 };
	bool fit = m->switch_delay <= 2 * HD_S && m->vl15_blocks <= UINT16_MAX;

	for (port_id i = 0; i < t->n_ports && fit; i++) {
		const struct agents_cable_timing *c = &m->cables[i];

		fit = c->propagation >= 1 && c->propagation <= HD_S &&
		      (c->rate.num == 0 ||
		       (c->rate.den > 0 && hd_rate_compare(c->rate, least) >= 0));
	}
	return fit;
}

void agents_timing_pack(struct pack *p, const struct topo *t, struct agents_timing *m)
{
	PACK_STRUCT(p, times_members, m);
	if (p->reads)
		m->cables = hd_alloc(t->n_ports, sizeof(*m->cables));
	for (port_id i = 0; i < t->n_ports; i++)
		PACK_STRUCT(p, cable_members, &m->cables[i]);
	pack_check(p, agents_timing_valid(m, t));
}

/* ---- events */

void agents_transits_run(struct agents *a, hd_time now)
{
	const uint64_t ids = (UINT64_C(1) << ID_BITS) - 1;
	struct event e;

	while (agents_transits_next(a) <= now && eventq_pop(a->due, &e)) {
		uint32_t id = (uint32_t)(e.key & ids);

		switch ((enum event_kind)(e.key >> (ID_BITS + TURN_BITS))) {
		case HEAD_ARRIVES:
		case SERVED:
			resume(a, id, e.when);
			break;
		case BUFFER_RELEASED:
			release_buffer(a, id);
			break;
		case ARBITRATE:
			arbitrate(a, id, e.when);
			break;
		}
	}
}
