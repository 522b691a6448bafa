/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What switches count and whom they mark (docs/model.md, C3 and C4).
 *
 * Most rules look at what waits for an output only when a packet starts there.
 * All that started before it has left by then, so what waits is what was
 * routed to the output and has not been granted: copies on their way there
 * stand in a ring until their time, as credits do, and nothing is an event.
 * The two-counter rule must notice an input buffer becoming full, at once:
 * there the heads, routings and departures of copies are events.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/control.h"

/* An input buffer that a copy has come to at this instant. */
struct coming {
	uint32_t port, blocks;
	unsigned vl;
};

struct marks {
	const struct mark_config *config;
	struct ring *rings;          /* per port; RING_MARKS: of a switch */
	struct mark_output *outputs; /* per port and lane */
	uint64_t marked;             /* packets that had no mark before */
	/* Two counters only: */
	uint32_t *fill; /* blocks, per input port and lane */
	/*
	 * Copies in an input lane that want an output lane: from
	 * wants_at[input port], lane by lane, the node's outputs times lanes.
	 */
	uint32_t *wants;
	size_t *wants_at;
	struct coming *came;
	size_t n_came, came_cap;
};

static struct mark_output *output_at(const struct sim *s, uint32_t port,
				     unsigned vl)
{
	return &s->marks->outputs[port * s->n_lanes + vl];
}

static bool counts(const struct sim *s, uint32_t port)
{
	return s->marks->rings[port].mode == RING_MARKS;
}

/* ---- a copy, in the id of an event ----------------------------------- */

enum { OF_OUTPUT = 1, OF_BUFFER = 2 };

static uint32_t copy_pack(const struct packet *p, unsigned what)
{
	return blocks_of(p->bytes) | (uint32_t)p->in << 12 |
	       (uint32_t)p->vl << 20 | what << 24;
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

/* ---- what waits for an output ---------------------------------------- */

static void take_arrived(struct sim *s, uint32_t port)
{
	struct ring *r = &s->marks->rings[port];
	unsigned n;

	do {
		for (n = 0; n < r->n && r->when[n] <= s->now; n++)
			mark_arrive(
				output_at(s, port, r->what[n] >> RING_VL_SHIFT),
				r->what[n] & RING_BLOCKS);
	} while (n > 0 && ring_drop(s, r, n));
}

void mark_expect(struct sim *s, const struct packet *p)
{
	struct ring *r = &s->marks->rings[p->out];
	hd_time routed = p->head + s->routing;

	if (r->mode != RING_MARKS || p->out_vl == VL_MANAGEMENT)
		return;
	if (s->fills) {
		eventq_push(&s->q, routed,
			    event_key(EV_COMES, p->out, p->out_vl,
				      copy_pack(p, 0)));
		return;
	}
	if (unlikely(r->n == RING_INLINE))
		take_arrived(s, p->out);
	ring_insert(s, r, routed, ring_what(blocks_of(p->bytes), p->out_vl));
}

/* C4: as the output knows it, before this one's are taken. */
static bool has_credits(struct sim *s, uint32_t port, unsigned vl, uint32_t blk)
{
	struct room room = room_of_link(s, port);

	if (room.server->flags & L_FAR_END || room.lanes[vl] >= 2 * blk)
		return true;
	ring_apply(s, room, s->now);
	return room.lanes[vl] >= 2 * blk;
}

void mark_grant(struct sim *s, uint32_t port, struct packet *p, unsigned vl)
{
	uint32_t blk = blocks_of(p->bytes);

	if (!counts(s, port) || vl == VL_MANAGEMENT)
		return;
	struct mark_output *output = output_at(s, port, vl);

	if (!s->fills)
		take_arrived(s, port);
	if (!(p->flags & P_OTHER)) {
		const struct mark_departure about = {
			.bytes = p->bytes,
			.fill = output->blocks,
			.capacity =
				s->setup->ports[s->links[p->up].peer].in_blocks,
			.has_credits = has_credits(s, port, vl, blk),
		};

		if (mark_departs(s->marks->config, output, &about)) {
			s->marks->marked += !(p->flags & P_MARKED);
			p->flags |= P_MARKED;
		}
	}
	if (s->fills)
		eventq_push(&s->q, s->links[port].busy_until,
			    event_key(EV_LEAVES, port, vl,
				      copy_pack(p, OF_OUTPUT)));
	else
		mark_leave(output, blk);
}

void mark_discard(struct sim *s, uint32_t port, const struct packet *p)
{
	if (!counts(s, port) || p->out_vl == VL_MANAGEMENT)
		return;
	if (s->fills) {
		eventq_push(&s->q, s->now,
			    event_key(EV_LEAVES, port, p->out_vl,
				      copy_pack(p, OF_OUTPUT)));
		return;
	}
	take_arrived(s, port);
	mark_leave(output_at(s, port, p->out_vl), blocks_of(p->bytes));
}

/* ---- how full buffers are -------------------------------------------- */

void mark_sent(struct sim *s, const struct server *l, const struct packet *p)
{
	if (!counts(s, l->peer) || p->vl == VL_MANAGEMENT)
		return;
	eventq_push(&s->q, p->head,
		    event_key(EV_FILLS, l->peer, p->vl, blocks_of(p->bytes)));
}

void mark_freed(struct sim *s, const struct packet *p, hd_time when)
{
	uint32_t in_port = s->links[p->up].peer;

	if (!counts(s, in_port) || p->vl == VL_MANAGEMENT)
		return;
	eventq_push(&s->q, when,
		    event_key(EV_FREES, in_port, p->vl, blocks_of(p->bytes)));
}

void mark_left_buffer(struct sim *s, const struct packet *p, hd_time when)
{
	if (!counts(s, p->out) || p->out_vl == VL_MANAGEMENT)
		return;
	eventq_push(&s->q, when,
		    event_key(EV_LEAVES, p->out, p->out_vl,
			      copy_pack(p, OF_BUFFER)));
}

static uint32_t first_port_of(const struct sim *s, uint32_t port)
{
	return s->nodes[s->setup->ports[port].node].first_port;
}

static size_t outputs_of(const struct sim *s, uint32_t port)
{
	return (size_t)s->nodes[s->setup->ports[port].node].n_in * s->n_lanes;
}

static uint32_t *wants_of(const struct sim *s, uint32_t in_port, unsigned vl)
{
	const struct marks *m = s->marks;

	return &m->wants[m->wants_at[in_port] + vl * outputs_of(s, in_port)];
}

/* The counter of a packed copy that wants (port, vl). */
static uint32_t *want_at(const struct sim *s, uint32_t port, unsigned vl,
			 uint32_t id)
{
	uint32_t first = first_port_of(s, port);

	return &wants_of(s, first + packed_in(id),
			 packed_vl(id))[(port - first) * s->n_lanes + vl];
}

void mark_fills(struct sim *s, uint32_t port, unsigned vl, uint32_t blk)
{
	s->marks->fill[port * s->n_lanes + vl] += blk;
}

void mark_frees(struct sim *s, uint32_t port, unsigned vl, uint32_t blk)
{
	s->marks->fill[port * s->n_lanes + vl] -= blk;
}

void mark_leaves(struct sim *s, uint32_t port, unsigned vl, uint32_t id)
{
	if (id >> 24 & OF_OUTPUT)
		mark_leave(output_at(s, port, vl), packed_blocks(id));
	else
		--*want_at(s, port, vl, id);
}

/* It leaves no room for another like the one that came: who is wanted? */
static void look_for_full(struct sim *s, const struct coming *c)
{
	const struct marks *m = s->marks;
	const uint32_t *wants = wants_of(s, c->port, c->vl);
	struct mark_output *outputs =
		output_at(s, first_port_of(s, c->port), 0);

	if (m->fill[c->port * s->n_lanes + c->vl] + c->blocks <=
	    s->setup->ports[c->port].in_blocks)
		return;
	for (size_t o = 0; o < outputs_of(s, c->port); o++) {
		if (wants[o])
			mark_input_full(m->config, &outputs[o]);
	}
}

void mark_comes(struct sim *s, uint32_t port, unsigned vl, uint32_t id)
{
	struct marks *m = s->marks;
	const struct event *next = eventq_first(&s->q);

	mark_arrive(output_at(s, port, vl), packed_blocks(id));
	++*want_at(s, port, vl, id);
	m->came =
		hd_grow(m->came, &m->came_cap, m->n_came + 1, sizeof(*m->came));
	m->came[m->n_came++] = (struct coming){
		.port = first_port_of(s, port) + packed_in(id),
		.blocks = packed_blocks(id),
		.vl = packed_vl(id),
	};
	/* All of this instant first (C3, a), then the looks (b). */
	if (next && next->when == s->now && key_kind(next->key) == EV_COMES)
		return;
	for (size_t i = 0; i < m->n_came; i++)
		look_for_full(s, &m->came[i]);
	m->n_came = 0;
}

/* ---- beginning and end ----------------------------------------------- */

static void fills_init(struct sim *s)
{
	struct marks *m = s->marks;
	uint32_t n = s->setup->n_ports;
	size_t total = 0;

	s->fills = true;
	m->fill = hd_alloc((size_t)n * s->n_lanes, sizeof(*m->fill));
	m->wants_at = hd_alloc(n, sizeof(*m->wants_at));
	for (uint32_t i = 0; i < n; i++) {
		m->wants_at[i] = total;
		if (counts(s, i))
			total += s->n_lanes * outputs_of(s, i);
	}
	m->wants = hd_alloc(total, sizeof(*m->wants));
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
	m->rings = hd_alloc_dense(n, sizeof(*m->rings));
	m->outputs = hd_alloc((size_t)n * s->n_lanes, sizeof(*m->outputs));
	for (uint32_t i = 0; i < n; i++) {
		m->rings[i].spill = NONE;
		if (s->nodes[s->setup->ports[i].node].kind == SIM_SWITCH)
			m->rings[i].mode = RING_MARKS;
	}
	if (c->marking.rule == MARK_TWO_COUNTER)
		fills_init(s);
}

uint64_t marks_made(const struct sim *s)
{
	return s->marks ? s->marks->marked : 0;
}

void marks_fini(struct sim *s)
{
	struct marks *m = s->marks;

	if (!m)
		return;
	free(m->rings);
	free(m->outputs);
	free(m->fill);
	free(m->wants_at);
	free(m->wants);
	free(m->came);
	free(m);
}
