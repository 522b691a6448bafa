/* SPDX-License-Identifier: BSD-2-Clause */
/* Acknowledgements and notifications that destinations send back (docs/timing-rules.md, C5). */
#include "sim/injection/ack.h"
#include "sim/injection/control.h"
#include "sim/injection/probe.h"
#include "sim/injection/source.h"

static void answer_send(struct sim *s, uint32_t port, const struct arrived *data,
			enum sim_packet_kind kind, bool marked)
{
	const struct sim_setup *setup = s->setup;
	uint32_t to = s->nodes[data->source].first_port + 1;
	uint32_t id = packet_new(s);

	s->pool.all[id] = (struct packet_record){
		.born = s->now,
		.ready = s->now,
		.next = NONE,
		.flow = data->flow,
		.sequence = data->sequence,
		.out = port,
		.up = NONE,
		.slot = NONE,
		.bytes = kind == SIM_CNP ? SIM_CNP_BYTES : SIM_ACK_BYTES,
		.dlid = setup->subnet->lid_of_port[setup->ports[to].origin],
		.pkey = data->pkey | PKEY_FULL,
		.sl = data->sl,
		.flags = P_TOLD | P_OTHER | (marked ? P_MARKED : 0),
	};
	s->pool.extras[id] = (struct packet_extra){
		.source = setup->ports[port].node,
		.target = TOPO_NONE,
		.nth = data->nth,
		.kind = (uint8_t)kind,
	};
	if (kind == SIM_CNP)
		s->control->counts.cnps++;
	else
		s->control->counts.acks++;
	s->control->counts.echoed += kind == SIM_ACK && marked;
	source_packet_enter(s, id);
}

static void data_delivered(struct sim *s, uint32_t port, const struct arrived *data)
{
	const struct sim_control *r = s->control->rules;
	bool marked = data->marked;

	if (r->echo == SIM_ECHO_CNP) {
		if (marked)
			answer_send(s, port, data, SIM_CNP, true);
		marked = false;
	}
	if (r->ack_delay == 0) {
		answer_send(s, port, data, SIM_ACK, marked);
		return;
	}
	const struct delayed d = {
		.when = s->now + r->ack_delay,
		.flow = data->flow,
		.sequence = data->sequence,
		.nth = data->nth,
		.marked = marked,
	};

	ack_delay_answer(s, &d);
}

/* A wrong forwarding table may deliver an answer to a source that does not have the flow. */
static bool is_for(const struct sim *s, uint32_t port, const struct arrived *p)
{
	const struct control *c = s->control;

	return (p->kind != SIM_ACK && p->kind != SIM_CNP) ||
	       c->throttles[c->flows[p->flow].throttle].port == port;
}

void ack_delivered(struct sim *s, uint32_t port, const struct arrived *p)
{
	if (!is_for(s, port, p))
		return;
	switch (p->kind) {
	case SIM_DATA:
		data_delivered(s, port, p);
		break;
	case SIM_ACK:
		flow_acknowledged(s, p->flow, p->nth, p->marked);
		break;
	case SIM_CNP:
		flow_notified(s, p->flow);
		break;
	default:
		probe_delivered(s, p->flow, p->kind, p->device);
	}
}
