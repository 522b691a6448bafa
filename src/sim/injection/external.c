/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets that no flow makes: of a list given in advance, and of endpoints. */
#include <assert.h>

#include "sim/core/sim_internal.h"
#include "sim/injection/injection.h"
#include "sim/injection/source.h"

/* Makes the packet, not yet in any queue. */
static uint32_t packet_from(struct sim *s, const struct sim_arrival *a)
{
	uint32_t id = packet_new(s);

	assert(a->bytes <= s->max_bytes);
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

void sim_inject(struct sim *s, uint32_t endpoint, const struct sim_arrival *a, uint32_t cookie)
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
	sender_expect(s, endpoint, id);
}
