/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/injection/mark.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "sim/checkpoint/checkpoint_state.h"

#define FIRST_COPIES 4 /* a power of 2 */

static struct mark_output *output_at(const struct sim *s, uint32_t port, unsigned vl)
{
	return &s->marks->outputs[port * s->n_vls + vl];
}

/* Whether the port belongs to a switch. */
static bool counts(const struct sim *s, uint32_t port)
{
	return s->marks->rings[port].copies;
}

/* ---- a copy encoded in an event id ------------------------------------- */

enum { OF_OUTPUT = 1, OF_BUFFER = 2 };

static uint32_t copy_pack(const struct packet_record *p, unsigned what)
{
	return blocks_of(p->bytes) | (uint32_t)p->in << 12 | (uint32_t)p->vl << 20 | what << 24;
}

static uint32_t packed_blocks(uint32_t id)
{
	return id & 0xfff;
}

static unsigned packed_in(uint32_t id)
{
	return id >> 12 & 0xff;
}

static unsigned packed_vl(uint32_t id)
{
	return id >> 20 & 15;
}

/* ---- blocks waiting for an output -------------------------------------- */

/* The ring is full of copies that are not routed yet: doubles it, keeping the order. */
static void mark_ring_grow(struct mark_ring *r)
{
	uint32_t n = r->mask + 1;
	struct mark_copy *more = hd_alloc((size_t)2 * n, sizeof(*more));

	for (uint32_t i = 0; i < n; i++)
		more[i] = r->copies[(r->at + i) & r->mask];
	free(r->copies);
	r->copies = more;
	r->mask = 2 * n - 1;
	r->at = n;
}

/* Blocks that wait for the output now. */
static uint32_t waiting_for(const struct sim *s, uint32_t port, unsigned vl)
{
	const struct mark_ring *r = &s->marks->rings[port];
	uint32_t blocks = s->marks->due[port * s->n_vls + vl];

	for (uint32_t i = 0; i <= r->mask; i++) {
		if (r->copies[i].routed > s->now && r->copies[i].vl == vl)
			blocks -= r->copies[i].blocks;
	}
	return blocks;
}

void mark_expect_apart(struct sim *s, const struct packet_record *p)
{
	if (s->mode.fills) {
		eventq_push(&s->q, p->head + s->routing,
			    event_key(EV_COMES, p->out, p->out_vl, copy_pack(p, 0)));
		return;
	}
	mark_ring_grow(&s->marks->rings[p->out]);
	mark_expect(s, p, false);
}

/* C4: credits as known to the output, before those of this packet are consumed. */
static bool has_credits(struct sim *s, uint32_t port, unsigned vl, uint32_t blk)
{
	struct credits credits = credits_of_link(s, port);

	if (credits.output->flags & L_FAR_END || credits.of_vl[vl] >= 2 * blk)
		return true;
	credit_ring_apply(s, credits, s->now);
	/* cppcheck-suppress knownConditionTrueFalse; VLs are no copy */
	return credits.of_vl[vl] >= 2 * blk;
}

void mark_judge(struct sim *s, uint32_t port, struct packet_record *p, unsigned vl)
{
	struct mark_output *output = output_at(s, port, vl);

	if (!s->mode.fills)
		output->blocks = waiting_for(s, port, vl);
	if (!(p->flags & P_OTHER)) {
		const struct mark_departure about = {
			.bytes = p->bytes,
			.fill = output->blocks,
			.capacity = s->setup->ports[s->links[p->up].peer].in_blocks,
			.has_credits = has_credits(s, port, vl, blocks_of(p->bytes)),
		};

		if (marking_departs(s->marks->config, output, &about)) {
			s->marks->marked += !(p->flags & P_MARKED);
			p->flags |= P_MARKED;
		}
	}
	if (s->mode.fills)
		eventq_push(&s->q, s->links[port].busy_until,
			    event_key(EV_LEAVES, port, vl, copy_pack(p, OF_OUTPUT)));
}

void mark_discard(struct sim *s, uint32_t port, const struct packet_record *p)
{
	if (!counts(s, port) || p->out_vl == VL_MANAGEMENT)
		return;
	if (s->mode.fills) {
		eventq_push(&s->q, s->now,
			    event_key(EV_LEAVES, port, p->out_vl, copy_pack(p, OF_OUTPUT)));
		return;
	}
	s->marks->due[port * s->n_vls + p->out_vl] -= blocks_of(p->bytes);
}

/* ---- buffer occupancy -------------------------------------------------- */

void mark_sent(struct sim *s, const struct sim_output *l, const struct packet_record *p)
{
	if (!counts(s, l->peer) || p->vl == VL_MANAGEMENT)
		return;
	eventq_push(&s->q, p->head, event_key(EV_FILLS, l->peer, p->vl, blocks_of(p->bytes)));
}

void mark_freed(struct sim *s, const struct packet_record *p, hd_time when)
{
	uint32_t in_port = s->links[p->up].peer;

	if (!counts(s, in_port) || p->vl == VL_MANAGEMENT)
		return;
	eventq_push(&s->q, when, event_key(EV_FREES, in_port, p->vl, blocks_of(p->bytes)));
}

void mark_left_buffer(struct sim *s, const struct packet_record *p, hd_time when)
{
	if (!counts(s, p->out) || p->out_vl == VL_MANAGEMENT)
		return;
	eventq_push(&s->q, when, event_key(EV_LEAVES, p->out, p->out_vl, copy_pack(p, OF_BUFFER)));
}

static uint32_t first_port_of(const struct sim *s, uint32_t port)
{
	return s->nodes[s->setup->ports[port].node].first_port;
}

static size_t outputs_of(const struct sim *s, uint32_t port)
{
	return (size_t)s->nodes[s->setup->ports[port].node].n_in * s->n_vls;
}

static uint32_t *wants_of(const struct sim *s, uint32_t in_port, unsigned vl)
{
	const struct marks *m = s->marks;

	return &m->wants[m->wants_at[in_port] + vl * outputs_of(s, in_port)];
}

/* The counter of a packed copy that wants (port, vl). */
static uint32_t *want_at(const struct sim *s, uint32_t port, unsigned vl, uint32_t id)
{
	uint32_t first = first_port_of(s, port);

	return &wants_of(s, first + packed_in(id), packed_vl(id))[(port - first) * s->n_vls + vl];
}

void mark_fills(struct sim *s, uint32_t port, unsigned vl, uint32_t blk)
{
	s->marks->fill[port * s->n_vls + vl] += blk;
}

void mark_frees(struct sim *s, uint32_t port, unsigned vl, uint32_t blk)
{
	s->marks->fill[port * s->n_vls + vl] -= blk;
}

void mark_leaves(struct sim *s, uint32_t port, unsigned vl, uint32_t id)
{
	if (id >> 24 & OF_OUTPUT)
		marking_leave(output_at(s, port, vl), packed_blocks(id));
	else
		--*want_at(s, port, vl, id);
}

/*
 * If the buffer has no room for another packet of this size: notifies all outputs that its
 * copies want.
 */
static void look_for_full(struct sim *s, const struct mark_coming *c)
{
	const struct marks *m = s->marks;
	const uint32_t *wants = wants_of(s, c->port, c->vl);
	struct mark_output *outputs = output_at(s, first_port_of(s, c->port), 0);

	if (m->fill[c->port * s->n_vls + c->vl] + c->blocks <= s->setup->ports[c->port].in_blocks)
		return;
	for (size_t o = 0; o < outputs_of(s, c->port); o++) {
		if (wants[o])
			marking_input_full(m->config, &outputs[o]);
	}
}

void mark_comes(struct sim *s, uint32_t port, unsigned vl, uint32_t id)
{
	struct marks *m = s->marks;
	const struct event *next = eventq_first(&s->q);

	marking_arrive(output_at(s, port, vl), packed_blocks(id));
	++*want_at(s, port, vl, id);
	m->came = hd_grow(m->came, &m->came_cap, m->n_came + 1, sizeof(*m->came));
	m->came[m->n_came++] = (struct mark_coming){
		.port = first_port_of(s, port) + packed_in(id),
		.blocks = packed_blocks(id),
		.vl = packed_vl(id),
	};
	/* All arrivals of this instant come first (C3, a), then the checks (b). */
	if (next && next->when == s->now && key_kind(next->key) == EV_COMES)
		return;
	for (size_t i = 0; i < m->n_came; i++)
		look_for_full(s, &m->came[i]);
	m->n_came = 0;
}

/* ---- start and end ----------------------------------------------------- */

static void fills_init(struct sim *s)
{
	struct marks *m = s->marks;
	uint32_t n = s->setup->n_ports;
	size_t total = 0;

	s->mode.fills = true;
	m->fill = hd_alloc((size_t)n * s->n_vls, sizeof(*m->fill));
	m->wants_at = hd_alloc(n, sizeof(*m->wants_at));
	for (uint32_t i = 0; i < n; i++) {
		m->wants_at[i] = total;
		if (counts(s, i))
			total += s->n_vls * outputs_of(s, i);
	}
	m->wants = hd_alloc(total, sizeof(*m->wants));
}

/*
 * Smallest queue at which a packet can be marked, in blocks; below it marking_departs has no
 * effect.
 */
static uint32_t least_of(const struct sim *s, const struct mark_config *c)
{
	uint32_t smallest = UINT32_MAX;

	for (uint32_t i = 0; i < s->setup->n_ports; i++) {
		const struct sim_port *p = &s->setup->ports[i];

		if (p->peer != SIM_NONE && p->in_blocks < smallest &&
		    s->nodes[p->node].kind == SIM_SWITCH)
			smallest = p->in_blocks;
	}
	if (c->rule == MARK_THRESHOLD)
		return c->depth;
	if (c->rule == MARK_IBA)
		return c->threshold ? (16u - c->threshold) * smallest / 16 : UINT32_MAX;
	return 0; /* two counters: every packet is checked */
}

void marks_init(struct sim *s)
{
	const struct sim_control *c = s->setup->control;

	if (!c || c->marking.rule == MARK_NONE)
		return;
	struct marks *m = hd_alloc(1, sizeof(*m));
	uint32_t n = s->setup->n_ports;

	s->marks = m;
	m->config = &c->marking;
	m->least = least_of(s, m->config);
	m->rings = hd_alloc(n, sizeof(*m->rings));
	m->due = hd_alloc((size_t)n * s->n_vls, sizeof(*m->due));
	m->outputs = hd_alloc((size_t)n * s->n_vls, sizeof(*m->outputs));
	for (uint32_t i = 0; i < n; i++) {
		if (s->nodes[s->setup->ports[i].node].kind != SIM_SWITCH)
			continue;
		m->rings[i].copies = hd_alloc(FIRST_COPIES, sizeof(struct mark_copy));
		m->rings[i].mask = FIRST_COPIES - 1;
	}
	if (c->marking.rule == MARK_TWO_COUNTER)
		fills_init(s);
}

void marks_change(struct sim *s, const struct mark_config *to)
{
	for (uint32_t i = 0; s->marks && i < sim_n_parts(s); i++) {
		struct marks *m = sim_part(s, i)->marks;

		m->config = to;
		m->least = least_of(s, to);
	}
}

void marks_part_init(struct sim *part, const struct sim *whole)
{
	if (!whole->marks)
		return;
	part->marks = hd_alloc(1, sizeof(*part->marks));
	*part->marks = *whole->marks;
}

void marks_part_fini(struct sim *part)
{
	if (part->marks)
		free(part->marks->came);
	free(part->marks);
}

uint64_t marks_made(const struct sim *s)
{
	uint64_t made = 0;

	for (uint32_t i = 0; s->marks && i < sim_n_parts(s); i++)
		made += sim_part(s, i)->marks->marked;
	return made;
}

void marks_fini(struct sim *s)
{
	struct marks *m = s->marks;

	if (!m)
		return;
	for (uint32_t i = 0; i < s->setup->n_ports; i++)
		free(m->rings[i].copies);
	free(m->rings);
	free(m->due);
	free(m->outputs);
	free(m->fill);
	free(m->wants_at);
	free(m->wants);
	free(m->came);
	free(m);
}

/* ---- checkpoint --------------------------------------------------------- */

static const struct pack_member output_members[] = {
	PACK(mark_output, waiting),    PACK(mark_output, blocks), PACK(mark_output, to_mark),
	PACK(mark_output, since_mark), PACK(mark_output, marked),
};

static const struct pack_member copy_members[] = {
	PACK(mark_copy, routed),
	PACK(mark_copy, blocks),
	PACK(mark_copy, vl),
};

/* Only the copies not routed yet are needed, in order. */
static void pack_copies(struct checkpoint_state *v, struct mark_ring *r)
{
	struct mark_ring was = *r;
	size_t n = 0;

	for (uint32_t i = 0; i <= was.mask; i++)
		n += was.copies[i].routed > v->s->now;
	n = pack_count(v->p, n);
	for (uint32_t i = 0; n > 0 && !v->p->refused; i++) {
		struct mark_copy c = was.copies[(was.at + i) & was.mask];

		if (!v->p->reads && c.routed <= v->s->now)
			continue;
		PACK_STRUCT(v->p, copy_members, &c);
		n--;
		if (!v->p->reads)
			continue;
		if (r->copies[r->at & r->mask].routed > v->s->now) {
			mark_ring_grow(r);
			was = *r;
		}
		r->copies[r->at++ & r->mask] = c;
	}
}

static void pack_two_counters(struct checkpoint_state *v)
{
	struct marks *m = v->s->marks;
	uint32_t n = v->s->setup->n_ports;

	for (size_t i = 0; i < (size_t)n * v->s->n_vls; i++) {
		if (checkpoint_state_has_port(v, (uint32_t)(i / v->s->n_vls)))
			pack_u32(v->p, &m->fill[i]);
	}
	for (uint32_t port = 0; port < n; port++) {
		if (!checkpoint_state_has_port(v, port))
			continue;
		size_t wants = counts(v->s, port) ? v->s->n_vls * outputs_of(v->s, port) : 0;

		for (size_t i = 0; i < wants; i++)
			pack_u32(v->p, &m->wants[m->wants_at[port] + i]);
	}
}

void checkpoint_state_marks(struct checkpoint_state *v)
{
	struct sim *s = v->s;
	uint64_t made = marks_made(s);

	if (!s->marks)
		return;
	if (checkpoint_state_has_sums(v)) {
		pack_u64(v->p, &made);
		if (v->p->reads)
			checkpoint_state_first(v)->marks->marked = made;
	}
	for (uint32_t port = 0; port < s->setup->n_ports && !v->p->refused; port++) {
		if (!counts(s, port) || !checkpoint_state_has_port(v, port))
			continue;
		pack_copies(v, &s->marks->rings[port]);
		for (uint32_t i = 0; i < s->n_vls; i++) {
			pack_u32(v->p, &s->marks->due[port * s->n_vls + i]);
			PACK_STRUCT(v->p, output_members, &s->marks->outputs[port * s->n_vls + i]);
		}
	}
	if (s->mode.fills)
		pack_two_counters(v);
}
