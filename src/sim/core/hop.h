/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CORE_HOP_H
#define HD_SIM_CORE_HOP_H

/*
 * One hop of a packet: ready at an output, arbitrated, granted, launched,
 * forwarded by the next switch or taken by a sink.
 *
 * Every function is compiled for several constants `way`, in which
 * the questions that cannot arise fold away: WAY_PLAIN for runs of input-queued
 * voq switches with delayed credits and without faults, VL15, readers,
 * lifetimes or anybody who must be told; WAY_SIMPLE for the same with senders
 * and congestion control; WAY_GENERAL for all others. Each of them exists
 * also for a part of a fabric (parts.h), where the far end of a link may be
 * another part's. There is one text of each rule.
 */

#include <assert.h>

#include "sim/core/crossbar.h"
#include "sim/core/engine.h"
#include "sim/core/switch.h"
#include "sim/core/update.h"
#include "sim/domains/parts.h"
#include "sim/faults/fault.h"
#include "sim/injection/mark.h"
#include "sim/injection/probe.h"
#include "sim/injection/pull.h"
#include "sim/injection/source.h"
#include "sim/metrics/metrics.h"
#include "sim/routing/choose.h"

/* Can a run that is not simple have this? */
#define MAYBE(x)   (!IS_SIMPLE && unlikely(x))
/* Can one that is not plain? */
#define SENDERS(x) (!IS_PLAIN && (x))
/* Can a part? */
#define CUT(x)     ((way & WAY_CUT) && (x))
#define IS_SIMPLE  (way % WAY_CUT != WAY_GENERAL)
#define IS_PLAIN   (way % WAY_CUT == WAY_PLAIN)

/* ---- wanting to send ---------------------------------------------------- */

HOT void hop_request(struct sim *s, uint32_t port, const enum way way)
{
	struct output *l = &s->links[port];

	if (MAYBE(!(l->flags & L_UP))) {
		link_request(s, port);
	} else if (l->busy_until > s->now) {
		if (l->wake_at > l->busy_until)
			link_wake(s, port, l->busy_until);
	} else if (!(l->flags & L_TOUCHED)) {
		l->flags |= L_TOUCHED;
		port_list_add(&s->instant.touched, port);
	}
}

HOT uint32_t hop_lane(const struct sim *s, unsigned vl, const enum way way)
{
	return IS_SIMPLE ? vl : lane_of(s, vl);
}

HOT void hop_ready(struct sim *s, struct packet *p, uint32_t port, unsigned vl, const enum way way)
{
	struct output *v = &s->outlets[port];
	struct lane *lane = &s->outlet_lanes[port * s->n_lanes + hop_lane(s, vl, way)];

	if (MAYBE(s->mode.merges)) {
		fifo_ready(s, lane, p);
		return;
	}
	voq_push(s, lane, p, IS_SIMPLE);
	if (!v->requests)
		v->since = s->now;
	v->requests |= (uint16_t)(1u << vl);
	if (MAYBE(s->mode.cioq)) {
		cross_request(s, port);
		return;
	}
	hop_request(s, port, way);
	if (MAYBE(s->mode.hoq) && voq_first(s, lane, p->in) == packet_id(s, p))
		hoq_start(s, p);
}

/* ---- leaving a buffer --------------------------------------------------- */

HOT void hop_space(struct sim *s, const struct packet *p, hd_time when, const enum way way)
{
	uint32_t up = p->up, blk = blocks_of(p->bytes);
	unsigned vl = p->vl;

	if (MAYBE(is_made_here(p)))
		return;
	struct credits credits = credits_of_link(s, up);
	struct ring *r = credits.ring;
	uint64_t area = (uint64_t)blk * (when - p->head);

	if (SENDERS(s->mode.fills))
		mark_freed(s, p, when);
	if (CUT(port_is_remote(s, up))) {
		bool plain = !MAYBE(r->mode != RING_PLAIN || vl == VL_MANAGEMENT);
		const struct cut_credit c = {
			.when = when,
			.area = area,
			.up = up,
			.what = plain ? ring_what(blk, vl) : 0,
		};

		mail_credit(s, &c);
		if (plain)
			return;
	} else {
		r->area += area;
	}
	if (MAYBE(r->mode != RING_PLAIN || vl == VL_MANAGEMENT)) {
		eventq_push(&s->q, when, event_key(EV_SPACE, s->links[up].peer, vl, blk));
		return;
	}
	when += r->delay;
	ring_push(s, credits, when, ring_what(blk, vl));
	if (unlikely(r->blocked)) {
		const struct output *l = credits.output;

		if ((l->requests >> vl & 1) && when < l->wake_at)
			link_wake(s, up, when);
	}
}

HOT void hop_leave(struct sim *s, struct packet *p, hd_time when, const enum way way)
{
	if (SENDERS(s->mode.fills))
		mark_left_buffer(s, p, when);
	if (unlikely(p->slot != NONE)) {
		slot_leave(s, p, when);
		p->slot = NONE;
		return;
	}
	if (MAYBE(s->mode.fifo))
		fifo_leave(s, p->up, p->vl, when);
	hop_space(s, p, when, way);
}

/* ---- arriving ----------------------------------------------------------- */

/* T6: what keeps a link from running dry inside a packet. */
HOT hd_time hop_underrun(struct sim *s, const struct packet *p)
{
	if (likely(s->mode.one_rate) || s->mode.cioq || is_made_here(p))
		return 0;
	hd_time d_in = duration_of(s, s->links[p->up].rate, p->bytes);
	hd_time d_out = duration_of(s, s->links[p->out].rate, p->bytes);

	return d_in > d_out ? d_in - d_out : 0;
}

HOT void hop_place(struct sim *s, struct packet *p, const enum way way)
{
	if (SENDERS(s->marks))
		mark_expect(s, p, IS_SIMPLE);
	if (MAYBE(s->mode.fifo)) {
		fifo_arrive(s, p);
		return;
	}
	hd_time ready = p->head + s->delay + hop_underrun(s, p);

	if (!IS_SIMPLE || SENDERS(s->tells_passing))
		p->ready = ready;
	eventq_push(&s->q, ready, event_key(EV_READY, p->out, p->out_vl, packet_id(s, p)));
}

/* A packet of which everything is known goes straight to its output. */
HOT void hop_forward(struct sim *s, uint32_t port, const struct output *l, struct packet *p,
		     const enum way way)
{
	const struct node *n = &s->nodes[l->far_node];

	if (likely(n->plain) && !MAYBE((p->flags & P_CORRUPT) || p->vl == VL_MANAGEMENT)) {
		uint32_t out = *lft_entry(s, n, p->dlid);
		unsigned vl = n->vl_of_sl[p->sl];

		if (likely(out - n->low < (uint32_t)LFT_NO_PORT - n->low && vl < n->vls)) {
			p->out = n->first_port + out;
			p->out_vl = (uint8_t)vl;
			p->in = (uint8_t)(l->peer - n->first_port);
			hop_place(s, p, way);
			return;
		}
	}
	switch_arrive(s, port, p);
}

HOT void hop_sink(struct sim *s, const struct output *l, struct packet *p, const enum way way)
{
	hd_time tail = p->head + duration_of(s, l->rate, p->bytes), when = tail;

	if (MAYBE(p->flags & P_CORRUPT)) {
		packet_corrupt(s, p, l->peer);
		return;
	}
	if (MAYBE(l->flags & L_CARE)) {
		if (end_refuses(s, p, l->peer))
			return;
		when = sink_delivery(s, l->peer, when);
	}
	if (likely(IS_SIMPLE || when != NEVER))
		hop_space(s, p, when, way);
	if (SENDERS(p->flags & P_TOLD)) {
		delivery_schedule(s, l->peer, p, tail, when);
		return;
	}
	packet_delivered(s, p, l->peer, when);
	packet_free(s, p);
}

/* The packet is on the link, and reaches the far end for sure. */
HOT void hop_travel(struct sim *s, uint32_t port, const struct output *l, struct packet *p,
		    const enum way way)
{
	if (SENDERS(s->mode.fills))
		mark_sent(s, l, p);
	if (MAYBE(s->mode.exact || p->vl == VL_MANAGEMENT)) {
		eventq_push(&s->q, p->head, event_key(EV_HEAD, port, p->vl, packet_id(s, p)));
		return;
	}
	if (l->flags & L_FAR_END)
		hop_sink(s, l, p, way);
	else
		hop_forward(s, port, l, p, way);
}

/* The packet's way behind the sender: T3, T4. */
HOT void hop_launch(struct sim *s, uint32_t port, struct output *l, struct packet *p, unsigned vl,
		    const enum way way)
{
	p->head = s->now + l->prop;
	p->up = port;
	p->vl = (uint8_t)vl;
	if (MAYBE(l->flags & L_CARE) && !link_fate(s, port, p))
		return;
	if (unlikely(p->head > s->horizon))
		packet_missed(s, port, p);
	if (CUT(node_is_remote(s, l->far_node)))
		mail_packet(s, port, p);
	else
		hop_travel(s, port, l, p, way);
}

/* ---- granting ----------------------------------------------------------- */

/* Has this lane a packet that may start now? Credits have been looked at. */
HOT bool hop_offers(struct sim *s, uint32_t port, const struct output *l, const struct lane *lane,
		    const enum way way)
{
	uint32_t credits = s->credits[lane - s->lanes];

	if (credits >= s->max_blk && !MAYBE(s->n_readers))
		return true;
	if (l->flags & L_QUEUED)
		return SENDERS(l->flags & L_PULLS)
			       ? pull_pick(s, port, lane) != NONE
			       : blocks_of(packet_at(s, lane->queue.first)->bytes) <= credits;
	return lane_pick(s, port, lane) != NONE;
}

/* The VLs that have a packet that may start now. */
HOT uint32_t hop_offered(struct sim *s, uint32_t port, struct output *l, const enum way way)
{
	struct credits credits = credits_of_link(s, port);
	uint32_t vls = 0;

	credits.ring->blocked = 0;
	ring_apply(s, credits, s->now);
	for (uint32_t rest = l->requests; rest; rest &= rest - 1) {
		unsigned vl = (unsigned)__builtin_ctz(rest);

		credits_set(s, credits, vl, credits.lanes[hop_lane(s, vl, way)]);
		uint32_t i = port * s->n_lanes + hop_lane(s, vl, way);

		if (hop_offers(s, port, l, &s->lanes[i], way))
			vls |= 1u << vl;
	}
	return vls;
}

/* Removes the first packet of an injection or output queue. */
HOT struct packet *hop_queue_pop(struct sim *s, struct output *l, struct lane *lane, unsigned vl,
				 const enum way way)
{
	struct packet *p = packet_at(s, lane->queue.first);

	lane->queue.first = p->next;
	if (p->next == NONE) {
		lane->queue.last = NONE;
		l->requests &= (uint16_t) ~(1u << vl);
	} else if (MAYBE(!(l->flags & L_END))) {
		struct packet *next = packet_at(s, p->next);

		if (next->ready > s->now)
			l->requests &= (uint16_t) ~(1u << vl);
		else if (s->mode.hoq)
			hoq_start(s, next);
	}
	return p;
}

HOT struct packet *hop_take(struct sim *s, uint32_t port, struct output *l, struct lane *lane,
			    unsigned vl, const enum way way)
{
	unsigned in;

	if (l->flags & L_QUEUED) {
		if (SENDERS(l->flags & L_PULLS))
			return pull_take(s, port, lane, vl);
		return hop_queue_pop(s, l, lane, vl, way);
	}
	if (IS_SIMPLE && likely(!(l->tight >> vl & 1)))
		in = bits_after(lane->inputs, lane->rr & 63);
	else
		in = lane_pick(s, port, lane);
	assert(in < 256);
	struct packet *p = voq_pop(s, lane, in, IS_SIMPLE);

	lane->rr = (uint8_t)in;
	if (!lane->inputs)
		l->requests &= (uint16_t) ~(1u << vl);
	if (MAYBE(s->mode.hoq) && !s->mode.merges && inputs_has(s, lane, in, IS_SIMPLE))
		hoq_start(s, packet_at(s, voq_first(s, lane, in)));
	return p;
}

HOT void hop_depart(struct sim *s, uint32_t port, const struct output *l, struct packet *p,
		    unsigned vl, const enum way way)
{
	if (l->flags & L_END)
		return;
	if (MAYBE(s->mode.cioq)) {
		output_leave(s, port, vl, blocks_of(p->bytes), l->busy_until);
		return;
	}
	if (MAYBE(s->n_readers)) {
		if (!is_made_here(p))
			reader_take(s, s->links[p->up].peer, p->slot, l->busy_until);
		s->cross.granted[port] = s->now + 1;
	}
	hop_leave(s, p, l->busy_until, way);
}

/* Credits are consumed at the grant: T3. */
HOT void hop_pay(struct sim *s, uint32_t port, struct lane *lane, unsigned vl, uint32_t blk,
		 const enum way way)
{
	uint16_t *credits = &s->credits[lane - s->lanes];

	if (MAYBE(vl == VL_MANAGEMENT))
		return;
	assert(*credits >= blk);
	*credits = (uint16_t)(*credits - blk);
	if (unlikely(*credits < lane->least)) {
		/* Perhaps: some may have come back unseen. */
		ring_apply(s, credits_of_link(s, port), s->now);
		lane->least = *credits < lane->least ? *credits : lane->least;
	}
	if (unlikely(*credits < s->max_blk))
		s->links[port].tight |= (uint16_t)(1u << vl);
	if (MAYBE(s->fc)) {
		struct flow_control *fc = &s->fc[port * s->n_lanes + vl];

		fc->sent = (fc->sent + blk) & 4095;
	}
}

/* Returns the packet's size in blocks. */
HOT uint32_t hop_grant(struct sim *s, uint32_t port, struct output *l, struct lane *lane,
		       unsigned vl, const enum way way)
{
	/* Before taking: T14 counts while the request stands. */
	hd_time start = l->busy_until > l->since ? l->busy_until : l->since;
	struct packet *p = hop_take(s, port, l, lane, vl, way);
	uint32_t bytes = p->bytes, blk = blocks_of(bytes);
	/* A saturating flow's packet leaves its host. */
	uint32_t refills = unlikely(p->flags & P_SOURCE) && (l->flags & L_END) ? p->flow : NONE;

	l->waited += s->now - start;
	l->busy_until = s->now + duration_of(s, l->rate, bytes);
	lane->bytes += bytes;
	if (unlikely(++lane->packets == 0))
		s->sums.carries[lane - s->lanes]++;
	s->outcome.hops++;
	if (unlikely(p->dlid >= LID_FIRST_MCAST))
		s->sums.cold[port].multicast_sent++;
	if (unlikely(s->sums.by_sl)) {
		struct count *c = &s->sums.by_sl[port * s->n_sls + s->sl_index[p->sl]];

		c->bytes += bytes;
		c->packets++;
	}
	if (SENDERS(s->tells_passing))
		packet_passes(s, port, p);
	if (SENDERS(s->marks) && !(l->flags & L_END))
		mark_grant(s, port, p, vl, IS_SIMPLE);
	if (SENDERS(p->flags & P_LAST))
		probe_pass(s, p->flow, port);
	hop_pay(s, port, lane, vl, blk, way);
	if (MAYBE(s->choices) && !(l->flags & L_END))
		choice_leaves(s, port, p);
	if (!IS_PLAIN)
		p->flags &= P_STAYS;
	hop_depart(s, port, l, p, vl, way);
	hop_launch(s, port, l, p, vl, way);
	if (unlikely(refills != NONE))
		source_granted(s, refills);
	if (SENDERS(l->flags & L_PULLS))
		pull_granted(s, port);
	if (l->requests || (MAYBE(s->mode.exact) && cold_at(s, port)->pending))
		hop_request(s, port, way);
	return blk;
}

/* Nothing can start though the link is free: wait for credits. */
static inline void hop_block(struct sim *s, uint32_t port, struct output *l)
{
	struct credits credits = credits_of_link(s, port);

	ring_apply(s, credits, s->now);
	hd_time when = ring_next(s, credits.ring, l->requests);

	credits.ring->blocked = 1;
	if (when < l->wake_at)
		link_wake(s, port, when);
}

/* T10, T11 among the data VLs `vls`. */
HOT void hop_choose(struct sim *s, uint32_t port, struct output *l, struct lane *lanes,
		    uint32_t vls, const enum way way)
{
	bool is_high;
	unsigned vl;

	if (l->flags & L_LOWEST) {
		vl = (unsigned)__builtin_ctz(vls);
		hop_grant(s, port, l, &lanes[vl], vl, way);
		return;
	}
	vl = arbiter_choose(&l->arb, &s->arb.tables[l->table], vls, &is_high);
	if (unlikely(vl == 16)) {
		/* No entry names what waits (T10): others may still come. */
		hop_block(s, port, l);
		return;
	}
	uint32_t blk = hop_grant(s, port, l, &lanes[vl], vl, way);

	arbiter_charge(&l->arb, is_high, blk);
}

HOT void hop_arbitrate(struct sim *s, uint32_t port, const enum way way)
{
	struct output *l = &s->links[port];
	struct lane *lanes = &s->lanes[port * s->n_lanes];
	uint32_t vls = l->requests;

	l->flags &= (uint8_t)~L_TOUCHED;
	if (unlikely(vls & l->tight) || MAYBE(s->n_readers))
		vls = hop_offered(s, port, l, way);
	if (MAYBE(vls >> VL_MANAGEMENT))
		hop_grant(s, port, l, &lanes[s->vl15], VL_MANAGEMENT, way);
	else if (MAYBE(s->mode.exact) && cold_at(s, port)->pending)
		update_send(s, port);
	else if (likely(vls))
		hop_choose(s, port, l, lanes, vls, way);
	else if (l->requests)
		hop_block(s, port, l);
}

#endif
