/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets that do not belong to flows: from a list of arrivals, and from endpoints. */
#include <assert.h>

#include "sim/core/engine.h"
#include "sim/core/sim_internal.h"
#include "sim/core/switch.h"
#include "sim/injection/injection.h"
#include "sim/injection/source.h"

/* Creates the packet without queueing it. */
static uint32_t packet_from(struct sim *s, const struct sim_arrival *a)
{
	uint32_t id = packet_new(s);

	assert(a->bytes <= s->max_bytes && s->sl_index[a->sl & 15u] != 255);
	s->pool.all[id] = (struct packet_record){
		.born = a->time,
		.ready = a->time,
		.next = NONE,
		.flow = a->flow,
		.sequence = a->sequence,
		.out = s->nodes[a->source].first_port + 1,
		.up = NONE,
		.slot = NONE,
		.bytes = a->bytes & PACKET_BYTES,
		.dlid = a->dlid,
		.pkey = a->pkey,
		.out_vl = a->management ? VL_MANAGEMENT : 0,
		.sl = a->sl & 15u,
	};
	if (s->pool.extras)
		s->pool.extras[id] = (struct packet_extra){
			.source = a->source,
			.target = a->global ? a->target : TOPO_NONE,
			.tclass = a->tclass,
			.hop_limit = a->hop_limit,
		};
	return id;
}

void source_fire_arrivals(struct sim *s)
{
	while (s->make.next_arrival < s->make.n_arrivals) {
		const struct sim_arrival *a = &s->make.arrivals[s->make.next_arrival];

		if (a->time > s->now) {
			eventq_push(&s->q, a->time, event_key(EV_ARRIVAL, 0, 0, 0));
			return;
		}
		s->make.next_arrival++;
		if (a->sender)
			sender_enter(s, a->sender, packet_from(s, a));
		else
			source_packet_enter(s, packet_from(s, a));
	}
}

/* A packet of an endpoint. */
static uint32_t packet_of(struct sim *s, uint32_t endpoint, const struct sim_arrival *a,
			  uint32_t cookie)
{
	struct sim_arrival mine = *a;

	mine.flow = NONE;
	uint32_t id = packet_from(s, &mine);

	assert(s->pool.extras && endpoint < s->ends.n);
	assert(a->bytes >= SIM_LEAST_BYTES);
	s->pool.all[id].flags = a->kind == SIM_DATA ? P_TOLD : P_TOLD | P_OTHER;
	s->pool.extras[id].kind = (uint8_t)a->kind;
	s->pool.extras[id].cookie = cookie;
	s->pool.extras[id].nth = a->number;
	s->pool.extras[id].turn = a->turn;
	s->pool.extras[id].endpoint = (uint8_t)(endpoint + 1);
	return id;
}

void sim_inject(struct sim *s, uint32_t endpoint, const struct sim_arrival *a, uint32_t cookie)
{
	sender_expect(s, endpoint, packet_of(s, endpoint, a, cookie));
}

/* ---- packets that their endpoint routes (A5) */

static void leave_by(struct sim *s, struct packet_record *p, const struct sim_step *step)
{
	p->out = step->out;
	p->out_vl = p->vl == VL_MANAGEMENT ? VL_MANAGEMENT : step->vl;
	assert(p->out_vl == VL_MANAGEMENT || p->out_vl < s->vl15);
	hop_route_copy(s, p);
}

void sim_inject_at_switch(struct sim *s, uint32_t endpoint, const struct sim_arrival *a,
			  const struct sim_step *step, uint32_t cookie)
{
	struct packet_record *p = packet_at(s, packet_of(s, endpoint, a, cookie));
	hd_time *next = &s->ends.next_at[a->source];

	p->head = a->time > *next ? a->time : *next;
	*next = p->head + 1;
	p->in = 0;
	p->vl = p->out_vl;
	leave_by(s, p, step);
}

void injection_route(struct sim *s, const struct sim_endpoint *e, struct packet_record *p)
{
	const uint32_t id = packet_id(s, p), in_port = s->links[p->up].peer;
	const struct sim_head head = {
		.now = s->now,
		.tail = p->head + duration_of(s, s->links[p->up].rate, p->bytes),
		.port = in_port,
		.cookie = s->pool.extras[id].cookie,
	};
	struct sim_step step = { .kind = SIM_STEP_LOST };

	if (p->flags & P_CORRUPT) {
		switch_corrupt(s, p, in_port);
		return;
	}
	e->routes(e->context, &head, &step);
	/* The endpoint may have injected packets, which may move the packet records. */
	p = packet_at(s, id);
	p->in = (uint8_t)(in_port - s->nodes[s->setup->ports[in_port].node].first_port);
	switch (step.kind) {
	case SIM_STEP_LOST:
		switch_head_unrouted(s, p, in_port);
		break;
	case SIM_STEP_LEAVES:
		leave_by(s, p, &step);
		break;
	case SIM_STEP_ENDS:
		hop_return_space(s, p, step.until);
		eventq_push(&s->q, step.until, event_key(EV_DELIVER, in_port, 1, id));
		break;
	}
}
