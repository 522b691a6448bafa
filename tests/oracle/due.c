/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When anything may happen next: the least time after now that is stored
 * anywhere or follows from what is stored. One too many does no harm.
 */
#include "state.h"

struct least {
	hd_time now, next;
};

static void at(struct least *l, hd_time time)
{
	if (time > l->now && time < l->next)
		l->next = time;
}

static void script_due(const struct oracle *o, struct least *l)
{
	const struct sim_setup *s = o->setup;

	if (o->next_arrival < o->n_arrivals)
		at(l, o->arrivals[o->next_arrival].time);
	if (o->next_fault < s->n_faults)
		at(l, s->faults[o->next_fault].time);
	if (o->next_change < s->n_changes)
		at(l, s->changes[o->next_change].time);
	at(l, vls_next_due(o));
	at(l, settings_next_due(o));
}

/* F5: and its life at the head of its queue. */
static void head_due(const struct oracle *o, struct least *l, uint32_t out, hd_time ready,
		     hd_time first)
{
	hd_time life = o->setup->ports[out].hoq_life;

	at(l, ready);
	if (life == 0 || ready == NEVER || first == NEVER)
		return;
	at(l, later(ready, first) + life);
	at(l, ready + life);
}

static void slot_due(const struct oracle *o, struct least *l, const struct slot *slot)
{
	bool fifo = o->setup->sw.order == SIM_FIFO;

	at(l, slot->head + slot->d_in);
	for (uint32_t i = 0; i < slot->n_copies; i++) {
		const struct copy *c = &slot->copies[i];

		at(l, c->left);
		if (!c->routed)
			at(l, slot->head + o->setup->sw.routing);
		if (!c->taken && c->out != SIM_NONE)
			head_due(o, l, c->out, ready_at(o, slot, c), fifo ? slot->first : c->first);
	}
}

static void port_due(const struct oracle *o, struct least *l, uint32_t port)
{
	const struct port *p = &o->ports[port];

	at(l, p->busy_until);
	at(l, p->crossbar_busy_until);
	at(l, link_next_timer(o, port));
	for (size_t i = 0; i < p->n_slots; i++)
		slot_due(o, l, p->slots[i]);
	for (int vl = 0; vl < ALL_VLS; vl++)
		for (size_t i = 0; i < p->queues[vl].n; i++)
			head_due(o, l, port, p->queues[vl].items[i].ready,
				 p->queues[vl].items[i].first);
	at(l, end_next_due(o, port));
}

static void control_due(const struct oracle *o, struct least *l)
{
	const struct sim_control *c = o->setup->control;

	for (size_t i = 0; i < o->n_waiters; i++) {
		at(l, o->waiters[i]->begins);
		at(l, o->waiters[i]->left_buffer);
		at(l, o->waiters[i]->left_link);
	}
	for (size_t i = 0; i < o->n_hearsay; i++)
		at(l, o->hearsay[i].time);
	for (uint32_t i = 0; c && i < c->n_throttles; i++)
		at(l, o->throttles[i].state.due);
	for (uint32_t i = 0; c && c->timeout > 0 && i < c->n_flows; i++)
		if (o->flows[i].outstanding > 0)
			at(l, o->flows[i].last + c->timeout);
}

hd_time next_due(const struct oracle *o)
{
	struct least l = { o->now, NEVER };

	script_due(o, &l);
	for (size_t i = 0; i < o->n_flights; i++)
		at(&l, o->flights[i].head);
	for (size_t i = 0; i < o->n_messages; i++)
		at(&l, o->messages[i].time);
	for (size_t i = 0; i < o->n_releases; i++)
		at(&l, o->releases[i].time);
	for (uint32_t i = 0; i < o->setup->n_ports; i++)
		port_due(o, &l, i);
	for (uint32_t i = 0; i < o->setup->n_nodes; i++) {
		const struct port *p = &o->ports[o->setup->n_ports + i];

		for (size_t k = 0; k < p->n_slots; k++)
			slot_due(o, &l, p->slots[k]);
	}
	control_due(o, &l);
	at(&l, admission_next_due(o));
	at(&l, pairs_next_due(o));
	at(&l, jobs_next_due(o));
	at(&l, notices_next_due(o));
	at(&l, aggregators_next_due(o));
	at(&l, mads_next_due(o));
	return l.next;
}
