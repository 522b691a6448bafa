/* SPDX-License-Identifier: BSD-2-Clause */
#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/congestion/run.h"

static uint32_t new_movement(struct run *r)
{
	uint32_t i = r->free_movement;

	if (i != SIM_NONE) {
		r->free_movement = r->movements[i].next_free;
		return i;
	}
	r->movements = hd_grow(r->movements, &r->movements_cap,
			       r->n_movements + 1u, sizeof(*r->movements));
	return r->n_movements++;
}

static void move_later(struct run *r, enum purpose purpose, hd_time when,
		       const struct traveller *t)
{
	uint32_t number = new_movement(r);

	r->movements[number] = (struct movement){ .buffer = t->buffer,
						  .output = t->output,
						  .wants = t->wants,
						  .blocks = t->blocks };
	sim_timer(r->sim, when, cookie_of(purpose, number));
}

static size_t outputs_of(const struct run *r, uint32_t port)
{
	const struct sim_setup *s = r->setup;

	return (s->nodes[s->ports[port].node].n_ports + 1u) * (size_t)r->lanes;
}

/* A packet has arrived. If it leaves no room for another, who is to blame? */
static void look_for_full(struct run *r, const struct movement *m)
{
	const struct sim_setup *s = r->setup;
	uint32_t port = m->buffer / r->lanes, vl = m->buffer % r->lanes;
	uint32_t first = s->nodes[s->ports[port].node].first_port * r->lanes;
	size_t n = outputs_of(r, port);
	const uint32_t *wants = &r->wants[r->wants_at[port] + vl * n];

	if (r->fill[m->buffer] + m->blocks <= s->ports[port].in_blocks)
		return;
	for (uint32_t o = 0; o < n; o++) {
		if (wants[o])
			mark_input_full(&r->params->marking,
					&r->outputs[first + o]);
	}
}

static void leave_buffer(struct run *r, const struct movement *m)
{
	r->fill[m->buffer] -= m->blocks;
	r->wants[m->wants]--;
}

void cc_switches_move(struct run *r, uint32_t number, enum purpose purpose)
{
	struct movement *m = &r->movements[number];

	if (purpose == TIMER_ARRIVE) {
		r->wants[m->wants]++;
		mark_arrive(&r->outputs[m->output], m->blocks);
		look_for_full(r, m);
	} else if (purpose == TIMER_CROSS) {
		leave_buffer(r, m);
	} else {
		mark_leave(&r->outputs[m->output], m->blocks);
		if (r->setup->sw.queueing == SIM_INPUT_QUEUED)
			leave_buffer(r, m);
	}
	m->next_free = r->free_movement;
	r->free_movement = number;
}

void cc_switches_cross(struct run *r, hd_time end, uint32_t slot)
{
	const struct traveller *t = &r->travellers[slot];

	if (t->buffer != SIM_NONE)
		move_later(r, TIMER_CROSS, end, t);
}

/* Where a switch will send a packet on: false if nowhere. */
static bool find_output(const struct run *r, uint32_t in_port,
			const struct sim_packet *p, uint32_t *number,
			uint8_t *vl)
{
	const struct sim_setup *s = r->setup;
	const struct sim_node *node = &s->nodes[s->ports[in_port].node];

	if (node->kind != SIM_SWITCH)
		return false;
	*number = lft_get(s->subnet, node->sw, p->dlid);
	if (*number > node->n_ports)
		return false;
	*vl = sl2vl_at(s->subnet, node->sw, in_port - node->first_port, *number)
		      ->vl[p->sl];
	return *vl < r->lanes;
}

/*
 * Sent towards an input buffer: its space is taken now, and once it is routed
 * it waits there for its output.
 */
static void enter_buffer(struct run *r, struct traveller *t, uint32_t in_port,
			 const struct sim_packet *p, hd_time now)
{
	const struct sim_setup *s = r->setup;
	uint32_t first = s->nodes[s->ports[in_port].node].first_port;
	uint32_t number;
	uint8_t vl;

	t->buffer = SIM_NONE;
	if (!find_output(r, in_port, p, &number, &vl))
		return;
	uint32_t output = number * r->lanes + vl;

	t->buffer = in_port * r->lanes + p->vl;
	t->output = first * r->lanes + output;
	t->wants = (uint32_t)(r->wants_at[in_port] +
			      p->vl * outputs_of(r, in_port) + output);
	r->fill[t->buffer] += t->blocks;
	/* The credits say so as well; else we would free it too late. */
	assert(r->fill[t->buffer] <= s->ports[in_port].in_blocks);
	move_later(r, TIMER_ARRIVE,
		   now + s->ports[in_port].propagation + s->sw.routing, t);
}

/* Whether the buffer behind the output has room for another, after this one. */
static bool has_credits(const struct run *r, uint32_t port, uint8_t vl,
			uint32_t blocks)
{
	const struct sim_setup *s = r->setup;
	uint32_t peer = s->ports[port].peer;

	if (s->nodes[s->ports[peer].node].kind != SIM_SWITCH)
		return true; /* hosts take what comes */
	return r->fill[peer * r->lanes + vl] + 2 * blocks <=
	       s->ports[peer].in_blocks;
}

/* A switch starts a packet on an output: mark it? and when does it leave? */
static void depart(struct run *r, struct traveller *t, hd_time now,
		   uint32_t port, const struct sim_packet *p)
{
	const struct sim_port *in = &r->setup->ports[t->buffer / r->lanes];
	struct mark_output *output = &r->outputs[t->output];
	struct mark_departure about = { .bytes = p->bytes,
					.fill = output->blocks,
					.capacity = in->in_blocks,
					.has_credits = has_credits(
						r, port, p->vl, t->blocks) };

	if (t->kind == TRAVEL_DATA &&
	    mark_departs(&r->params->marking, output, &about)) {
		r->result->marked += !t->marked;
		t->marked = true;
	}
	move_later(r, TIMER_LEAVE,
		   now + hd_rate_duration(r->setup->ports[port].rate, p->bytes),
		   t);
}

void cc_switches_grant(struct run *r, hd_time now, uint32_t port,
		       const struct sim_packet *p)
{
	struct traveller *t = &r->travellers[p->cookie];

	if (t->buffer != SIM_NONE)
		depart(r, t, now, port, p);
	enter_buffer(r, t, r->setup->ports[port].peer, p, now);
}

void cc_switches_init(struct run *r)
{
	const struct sim_setup *s = r->setup;
	size_t total = 0;

	r->lanes = 1;
	r->free_movement = SIM_NONE;
	r->wants_at = hd_alloc(s->n_ports, sizeof(*r->wants_at));
	for (uint32_t i = 0; i < s->n_ports; i++) {
		if (s->ports[i].vls > r->lanes)
			r->lanes = s->ports[i].vls;
	}
	for (uint32_t i = 0; i < s->n_ports; i++) {
		r->wants_at[i] = total;
		if (s->nodes[s->ports[i].node].kind == SIM_SWITCH)
			total += r->lanes * outputs_of(r, i);
	}
	r->wants = hd_alloc(total, sizeof(*r->wants));
	r->outputs =
		hd_alloc((size_t)s->n_ports * r->lanes, sizeof(*r->outputs));
	r->fill = hd_alloc((size_t)s->n_ports * r->lanes, sizeof(*r->fill));
}

void cc_switches_fini(struct run *r)
{
	free(r->wants_at);
	free(r->wants);
	free(r->outputs);
	free(r->fill);
	free(r->movements);
}
