/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams with a route of their own, and their answers: A5. */
#include <stdlib.h>

#include "base/alloc.h"
#include "state.h"

/* How far each datagram has come. */
struct mad_state {
	bool sent;
	uint32_t crossed; /* links */
};

void mads_init(struct oracle *o)
{
	if (!o->mads)
		return;
	o->mad_states = hd_alloc(o->mads->n, sizeof(*o->mad_states));
	o->mad_next = hd_alloc(o->setup->n_nodes, sizeof(*o->mad_next));
}

void mads_fini(struct oracle *o)
{
	free(o->mad_states);
	free(o->mad_next);
}

int mad_of(const struct oracle *o, const struct packet *packet)
{
	for (uint32_t i = 0; o->mads && i < o->mads->n; i++)
		if (o->mads->list[i].flow == packet->as.flow)
			return (int)i;
	return ORACLE_NO_MAD;
}

/* A copy for the output that the datagram takes next. */
static void copy_add(struct oracle *o, int i, uint32_t in, struct slot *slot)
{
	const struct oracle_mad *m = &o->mads->list[i];
	uint32_t step = o->mad_states[i].crossed;
	struct copy *copy = &slot->copies[slot->n_copies++];

	*copy = (struct copy){
		.packet = slot->packet,
		.out = m->route[step].out,
		.vl = m->management ? VL_MANAGEMENT : m->route[step].vl,
		.d_out = duration_on(o, m->route[step].out, m->bytes),
		.first = NEVER,
		.left = NEVER,
	};
	copy->waiter = waiter_add(o, in, slot, copy);
}

/* A switch sends: by input 0, which is no buffer. */
static void enter_switch(struct oracle *o, int i, const struct packet *packet)
{
	const struct oracle_mad *m = &o->mads->list[i];
	const struct sim_node *n = &o->setup->nodes[m->from];
	struct slot *slot = hd_alloc(1, sizeof(*slot));
	uint32_t in = n->first_port;

	if (o->mutation == MUT_MAD_OF_SWITCH_BY_LAST_INPUT)
		in += n->n_ports;
	*slot = (struct slot){
		.packet = packet,
		.vl = m->management ? VL_MANAGEMENT : 0,
		.head = later(o->now, o->mad_next[m->from]),
		.first = NEVER,
		.freed = true,
		.made_here = true,
	};
	o->mad_next[m->from] = slot->head + 1;
	if (o->mutation == MUT_MAD_OF_SWITCH_AT_ONCE)
		slot->head -= later(o->setup->sw.routing + o->setup->sw.arbitration, slot->head);
	slot_add(&o->ports[in], slot);
	copy_add(o, i, in, slot);
	firsts_note(o, in);
	o->stats->mads_of_switches++;
}

static void mad_send(struct oracle *o, int i)
{
	const struct oracle_mad *m = &o->mads->list[i];
	const struct packet made = { .as = { .time = o->now,
					     .flow = m->flow,
					     .source = m->from,
					     .bytes = m->bytes,
					     .dlid = 1,
					     .target = TOPO_NONE,
					     .sl = m->sl,
					     .management = m->management } };
	struct packet *packet = packet_new(o, &made);

	o->mad_states[i].sent = true;
	if (o->setup->nodes[m->from].kind != SIM_END) {
		enter_switch(o, i, packet);
		return;
	}
	uint32_t port = port_of_end(o, m->from);

	packet->as.sender = (uint16_t)(o->ports[port].n_senders - 1);
	end_enter(o, port, packet);
}

void mads_send(struct oracle *o)
{
	for (uint32_t i = 0; o->mads && i < o->mads->n; i++)
		if (!o->mad_states[i].sent && o->mads->list[i].time <= o->now)
			mad_send(o, (int)i);
}

void mad_arrive(struct oracle *o, int i, uint32_t in, struct slot *slot)
{
	const struct oracle_mad *m = &o->mads->list[i];

	if (++o->mad_states[i].crossed < m->n) {
		copy_add(o, i, in, slot);
		firsts_note(o, in);
	} else {
		slot->until = slot->head + slot->d_in +
			      (o->mutation == MUT_MAD_FREED_AT_TAIL ? 0 : m->serves);
	}
}

static void deliver(struct oracle *o, uint32_t port, const struct slot *slot)
{
	int i = mad_of(o, slot->packet), answer = o->mads->list[i].answer;

	record_end(o, slot->packet, port, SIM_DELIVERED);
	link_space_freed(o, port, slot->vl, packet_blocks(slot->packet));
	o->ports[port].leaving[slot->vl] += packet_blocks(slot->packet);
	o->stats->mads++;
	if (answer != ORACLE_NO_MAD)
		mad_send(o, answer);
}

/* Also at switches, and at sinks that are stuck. */
void mads_deliver(struct oracle *o)
{
	for (uint32_t port = 0; o->mads && port < o->setup->n_ports; port++) {
		struct port *p = &o->ports[port];

		for (size_t i = 0; i < p->n_slots; i++) {
			struct slot *slot = p->slots[i];

			if (slot->until == 0 || slot->until > o->now)
				continue;
			for (size_t k = i + 1; k < p->n_slots; k++)
				p->slots[k - 1] = p->slots[k];
			p->n_slots--;
			i--;
			deliver(o, port, slot);
			free(slot);
		}
	}
}

hd_time mads_next_due(const struct oracle *o)
{
	hd_time next = NEVER;

	for (uint32_t i = 0; o->mads && i < o->mads->n; i++) {
		hd_time time = o->mads->list[i].time;

		if (!o->mad_states[i].sent && time < next)
			next = time;
	}
	for (uint32_t port = 0; o->mads && port < o->setup->n_ports; port++)
		for (size_t i = 0; i < o->ports[port].n_slots; i++) {
			hd_time until = o->ports[port].slots[i]->until;

			if (until > o->now && until < next)
				next = until;
		}
	return next;
}
