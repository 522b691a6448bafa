/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "agent/travel.h"
#include "base/alloc.h"

/*
 * MADs that take their time, as packets do: each link sends one after the
 * other at its rate, each switch takes its time to pass one on, and each agent
 * to answer one. A port has room for so many on VL15, and what comes when
 * there is none is lost (VL15Dropped): subnet management has no credits.
 * Others wait for theirs, and are not lost.
 *
 * Times and room are the simulator's, unless a scenario says otherwise there.
 */

static const hd_time CABLE_TIME = 5000;    /* ps */
static const hd_time SWITCH_TIME = 100000; /* to route and to arbitrate */
static const hd_time AGENT_TIME = 10000000;

enum {
	PACKET_OVERHEAD = 34, /* LRH, BTH, DETH, ICRC, VCRC */
	ROOM = 4096 / (MAD_SIZE + PACKET_OVERHEAD),
	SLOT_BITS = 24, /* of an event's key; above them its turn */
};

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
	a->flights = hd_grow(a->flights, &a->flights_cap, a->n_flights + 1,
			     sizeof(*a->flights));
	return (uint32_t)a->n_flights++;
}

/* Comes back to it at `when`; its bytes may be the caller's until then. */
static void put(const struct travel *t, hd_time when)
{
	struct agents *a = t->agents;
	uint32_t slot = take_slot(a);

	a->flights[slot] = *t;
	if (t->bytes) {
		uint8_t *bytes = hd_alloc(t->size, 1);

		memcpy(bytes, t->bytes, t->size);
		a->flights[slot].bytes = bytes;
	}
	eventq_push(a->due, when, a->turn++ << SLOT_BITS | slot);
}

void flights_init(struct agents *a)
{
	a->due = hd_alloc(1, sizeof(*a->due));
	eventq_init(a->due);
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

void flights_run(struct agents *a, hd_time now)
{
	struct event e;

	while (flights_next(a) <= now && eventq_pop(a->due, &e)) {
		uint32_t slot = (uint32_t)(e.key & ((1U << SLOT_BITS) - 1));
		struct travel t = a->flights[slot];

		a->flights[slot].agents = NULL;
		t.now = e.when;
		travel_on(&t);
		free((void *)t.bytes);
	}
}

/* ---- what they wait for */

/* What a link runs at. */
static struct hd_rate rate_of(const struct agents *a, port_id p)
{
	const uint8_t *info = a->ports[p].info;
	unsigned lanes = topo_widest((unsigned)info_get(a, info, PORT_WIDTH));
	uint64_t extended = info_get(a, info, PORT_EXT_SPEED);
	uint64_t set = extended ? extended : info_get(a, info, PORT_SPEED);
	unsigned speed = extended ? SPEED_FDR : SPEED_SDR;

	while ((set >>= 1) && speed < SPEED_COUNT - 1)
		speed++;
	return hd_rate_of_link(lanes ? lanes : 1, (enum link_speed)speed);
}

void flight_cross(struct travel *t, port_id out)
{
	struct agent_port *port = &t->agents->ports[out];
	bool passes = topo_node_of(t->agents->topo, out)->kind == NODE_SWITCH;
	hd_time start = t->now + (passes ? SWITCH_TIME : 0);
	uint64_t segments = (t->size + MAD_SIZE - 1) / MAD_SIZE;

	if (start < port->busy)
		start = port->busy;
	port->busy =
		start + hd_rate_duration(rate_of(t->agents, out),
					 t->size + segments * PACKET_OVERHEAD);
	put(t, port->busy + CABLE_TIME);
}

void flight_leave(struct travel *t)
{
	if (t->holds != TOPO_NONE)
		t->agents->ports[t->holds].held--;
	t->holds = TOPO_NONE;
}

bool flight_land(struct travel *t)
{
	struct agent_port *port = &t->agents->ports[t->at];

	flight_leave(t);
	if (!t->way.management)
		return true;
	if (port->held == ROOM) {
		count_more(t->agents, t->at, COUNT_VL15_DROPPED, 1);
		return false;
	}
	port->held++;
	t->holds = t->at;
	return true;
}

void flight_serve(struct travel *t)
{
	struct agent_node *n =
		&t->agents->nodes[t->agents->topo->ports[t->at].node];

	n->busy = (n->busy > t->now ? n->busy : t->now) + AGENT_TIME;
	t->served = true;
	put(t, n->busy);
}
