/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/engine.h"

#include <assert.h>

/* ---- leaving a buffer -------------------------------------------------- */

/* Credits of `ring` come back at `when`: who waits for them must know. */
static inline void link_credit_due(struct sim *s, uint32_t port, unsigned vl,
				   hd_time when)
{
	struct server *l = &s->links[port];

	if ((l->requests >> vl & 1) && when < l->wake_at)
		link_wake(s, port, when);
}

static inline void space_send(struct sim *s, uint32_t up, unsigned vl,
			      uint32_t blk, hd_time head, hd_time when)
{
	struct ring *r = &s->rings[up];

	if (s->depths)
		r->area += (uint64_t)blk * (when - head);
	if (unlikely(r->mode != RING_PLAIN || vl == VL_MANAGEMENT)) {
		eventq_push(&s->q, when,
			    event_key(EV_SPACE, s->links[up].peer, vl, blk));
		return;
	}
	when += r->delay;
	ring_push(s, r, when, blk | (uint32_t)vl << 16);
	if (unlikely(r->blocked))
		link_credit_due(s, up, vl, when);
}

void space_return(struct sim *s, uint32_t up, unsigned vl, uint32_t blk,
		  hd_time head, hd_time when)
{
	space_send(s, up, vl, blk, head, when);
}

void copy_leave(struct sim *s, struct packet *p, hd_time when)
{
	if (unlikely(p->slot != NONE)) {
		slot_leave(s, p, when);
		return;
	}
	if (unlikely(s->fifo))
		fifo_leave(s, p->up, p->vl, when);
	space_send(s, p->up, p->vl, blocks_of(p->bytes), p->head, when);
}

/* ---- arriving ---------------------------------------------------------- */

void copy_ready(struct sim *s, struct packet *p)
{
	struct lane *lane =
		&s->outlet_lanes[p->out * s->n_lanes + lane_of(s, p->out_vl)];

	if (unlikely(s->merges)) {
		fifo_ready(s, lane, p);
		return;
	}
	voq_push(s, lane, p);
	outlet_request(s, p->out, p->out_vl);
	if (unlikely(s->hoq) && !s->cioq &&
	    *voq_head(s, lane, p->in) == packet_id(s, p))
		hoq_start(s, p);
}

/* T6: what keeps a link from running dry inside a packet. */
static inline hd_time underrun_delay(struct sim *s, const struct packet *p)
{
	if (likely(s->one_rate) || s->cioq)
		return 0;
	hd_time d_in = duration_of(s, s->links[p->up].rate, p->bytes);
	hd_time d_out = duration_of(s, s->links[p->out].rate, p->bytes);

	return d_in > d_out ? d_in - d_out : 0;
}

static inline void copy_schedule(struct sim *s, struct packet *p)
{
	p->ready = p->head + s->delay + underrun_delay(s, p);
	eventq_push(&s->q, p->ready,
		    event_key(EV_READY, p->out, p->out_vl, packet_id(s, p)));
}

void copy_place(struct sim *s, struct packet *p)
{
	if (unlikely(s->fifo))
		fifo_arrive(s, p);
	else
		copy_schedule(s, p);
}

/* A packet of which everything is known goes straight to its output. */
static inline void switch_forward(struct sim *s, uint32_t port,
				  const struct server *l, struct packet *p)
{
	const struct node *n = &s->nodes[l->far_node];

	if (likely(n->plain && p->dlid < n->lft_len && !p->flags &&
		   p->vl != VL_MANAGEMENT)) {
		unsigned out = n->lft[p->dlid];
		unsigned vl = n->vl_of_sl[p->sl];

		if (likely(out != LFT_NO_PORT && vl < n->vls)) {
			p->out = n->first_port + out;
			p->out_vl = (uint8_t)vl;
			p->in = (uint8_t)(l->peer - n->first_port);
			copy_place(s, p);
			return;
		}
	}
	switch_arrive(s, port, p);
}

static void sink_arrive(struct sim *s, uint32_t port, const struct server *l,
			struct packet *p)
{
	hd_time tail = p->head + duration_of(s, l->rate, p->bytes);
	hd_time when = tail;

	if (unlikely(p->flags & P_CORRUPT)) {
		packet_corrupt(s, p, l->peer);
		return;
	}
	if (unlikely(l->flags & L_CARE))
		when = sink_delivery(s, l->peer, tail);
	if (unlikely(s->hooks.delivered)) {
		if (when != NEVER)
			eventq_push(&s->q, when,
				    event_key(EV_DELIVER, l->peer, 0,
					      packet_id(s, p)));
	} else {
		packet_delivered(s, p, l->peer, when);
	}
	if (likely(when != NEVER))
		space_send(s, port, p->vl, blocks_of(p->bytes), p->head, when);
	if (likely(!s->hooks.delivered))
		packet_free(s, p);
}

void packet_arrive(struct sim *s, uint32_t port, struct packet *p)
{
	const struct server *l = &s->links[port];

	if (l->flags & L_FAR_END)
		sink_arrive(s, port, l, p);
	else
		switch_forward(s, port, l, p);
}

/* ---- granting ---------------------------------------------------------- */

bool lane_fits(struct sim *s, uint32_t port, const struct lane *lane,
	       const struct packet *p)
{
	if (blocks_of(p->bytes) > lane->room)
		return false;
	if (s->n_readers == 0 || (s->links[port].flags & L_END))
		return true;
	return reader_free(s, s->links[p->up].peer, p->slot);
}

static uint32_t lane_pick_oldest(struct sim *s, uint32_t port,
				 const struct lane *lane)
{
	unsigned first = inputs_after(s, lane, UINT8_MAX);
	unsigned in = first;
	uint32_t best = NONE;
	hd_time oldest = NEVER;

	do {
		const struct packet *p = packet_at(s, *voq_head(s, lane, in));

		/* Inputs come by number, so that ties go to the lower one. */
		if (p->ready < oldest && lane_fits(s, port, lane, p)) {
			oldest = p->ready;
			best = in;
		}
		in = inputs_after(s, lane, in);
	} while (in != first);
	return best;
}

uint32_t lane_pick(struct sim *s, uint32_t port, const struct lane *lane)
{
	unsigned first = inputs_after(s, lane, lane->rr);
	unsigned in = first;

	if (unlikely(s->oldest))
		return lane_pick_oldest(s, port, lane);
	if (lane->room >= s->max_blk && s->n_readers == 0)
		return first;
	do {
		const struct packet *p = packet_at(s, *voq_head(s, lane, in));

		if (lane_fits(s, port, lane, p))
			return in;
		in = inputs_after(s, lane, in);
	} while (in != first);
	return NONE;
}

/* Has this lane a packet that may start now? */
static inline bool link_offers(struct sim *s, uint32_t port,
			       const struct server *l, const struct lane *lane)
{
	if (likely(lane->room >= s->max_blk && s->n_readers == 0))
		return true;
	if (l->flags & L_QUEUED)
		return blocks_of(packet_at(s, lane->queue.first)->bytes) <=
		       lane->room;
	return lane_pick(s, port, lane) != NONE;
}

/* Removes the first packet of an injection or output queue. */
static struct packet *queue_pop(struct sim *s, struct server *l,
				struct lane *lane, unsigned vl)
{
	struct packet *p = packet_at(s, lane->queue.first);

	lane->queue.first = p->next;
	if (p->next == NONE) {
		lane->queue.last = NONE;
		l->requests &= (uint16_t) ~(1u << vl);
	} else if (!(l->flags & L_END)) {
		struct packet *next = packet_at(s, p->next);

		if (next->ready > s->now)
			l->requests &= (uint16_t) ~(1u << vl);
		else if (unlikely(s->hoq))
			hoq_start(s, next);
	}
	return p;
}

static inline struct packet *link_take(struct sim *s, uint32_t port,
				       struct server *l, struct lane *lane,
				       unsigned vl)
{
	if (l->flags & L_QUEUED)
		return queue_pop(s, l, lane, vl);
	unsigned in = lane_pick(s, port, lane);
	assert(in < 256);
	struct packet *p = voq_pop(s, lane, in);

	lane->rr = (uint8_t)in;
	if (!lane->inputs)
		l->requests &= (uint16_t) ~(1u << vl);
	if (unlikely(s->hoq) && !s->merges && inputs_has(s, lane, in))
		hoq_start(s, packet_at(s, *voq_head(s, lane, in)));
	return p;
}

/* The packet's way behind the sender: T3, T4. */
static inline void link_launch(struct sim *s, uint32_t port, struct server *l,
			       struct packet *p, unsigned vl)
{
	p->head = s->now + l->prop;
	p->up = port;
	p->vl = (uint8_t)vl;
	p->slot = NONE;
	if (unlikely(l->flags & L_CARE) && !link_fate(s, port, p))
		return;
	if (unlikely(p->head > s->horizon))
		packet_missed(s, port, p);
	if (unlikely((l->flags & L_EXACT) || vl == VL_MANAGEMENT)) {
		eventq_push(&s->q, p->head,
			    event_key(EV_HEAD, port, vl, packet_id(s, p)));
		return;
	}
	packet_arrive(s, port, p);
}

void output_leave(struct sim *s, uint32_t port, unsigned vl, uint32_t blk,
		  hd_time when)
{
	struct ring *r = &s->outlet_rings[port];
	struct server *v = &s->outlets[port];

	ring_push(s, r, when, blk | (uint32_t)vl << 16);
	if (!r->blocked || !(v->requests >> vl & 1))
		return;
	if (when <= s->now) {
		cross_request(s, port);
	} else if (when < v->wake_at) {
		v->wake_at = when;
		eventq_push(&s->q, when, event_key(EV_CROSS, port, 0, 0));
	}
}

static inline void sender_leave(struct sim *s, uint32_t port, struct server *l,
				struct packet *p, unsigned vl)
{
	if (l->flags & L_END)
		return;
	if (unlikely(s->cioq)) {
		output_leave(s, port, vl, blocks_of(p->bytes), l->busy_until);
		return;
	}
	if (unlikely(s->n_readers)) {
		reader_take(s, s->links[p->up].peer, p->slot, l->busy_until);
		s->granted[port] = s->now + 1;
	}
	copy_leave(s, p, l->busy_until);
}

/* Returns the packet's size in blocks. */
static inline uint32_t link_grant(struct sim *s, uint32_t port,
				  struct server *l, struct lane *lane,
				  unsigned vl)
{
	/* Before taking: T14 counts while the request stands. */
	link_waited(s, l);
	struct packet *p = link_take(s, port, l, lane, vl);
	uint32_t blk = blocks_of(p->bytes);
	bool refills = p->flags & P_SOURCE;
	uint32_t flow = p->flow;

	l->busy_until = s->now + duration_of(s, l->rate, p->bytes);
	lane->bytes += p->bytes;
	lane->packets++;
	s->hops++;
	if (likely(s->sl_bytes))
		s->sl_bytes[port * s->n_sls + s->sl_index[p->sl]] += p->bytes;
	if (likely(vl != VL_MANAGEMENT)) {
		struct ring *r = &s->rings[port];

		assert(lane->room >= blk);
		lane->room = (uint16_t)(lane->room - blk);
		if (lane->room < r->least)
			r->least = lane->room;
		if (unlikely(s->fc)) {
			struct flow_control *fc =
				&s->fc[port * s->n_lanes + vl];

			fc->sent = (fc->sent + blk) & 4095;
		}
	}
	p->flags &= (uint8_t) ~(P_SOURCE | P_WAITS) & 15;
	sender_leave(s, port, l, p, vl);
	link_launch(s, port, l, p, vl);
	if (unlikely(refills))
		source_granted(s, flow);
	if (l->requests || (unlikely(s->exact) && s->cold[port].pending))
		link_request(s, port);
	return blk;
}

/* Nothing can start though the link is free: wait for credits. */
static void link_block(struct sim *s, uint32_t port, struct server *l)
{
	struct ring *r = &s->rings[port];
	hd_time when = ring_next(s, r, l->requests);

	r->blocked = 1;
	if (when < l->wake_at)
		link_wake(s, port, when);
}

static void link_arbitrate(struct sim *s, uint32_t port)
{
	struct server *l = &s->links[port];
	struct lane *lanes = &s->lanes[port * s->n_lanes];
	struct ring *r = &s->rings[port];
	uint32_t vls = 0;

	l->flags &= (uint8_t)~L_TOUCHED;
	r->blocked = 0;
	ring_apply(s, r, lanes, s->now);
	for (uint32_t rest = l->requests; rest; rest &= rest - 1) {
		unsigned vl = (unsigned)__builtin_ctz(rest);

		if (link_offers(s, port, l, &lanes[lane_of(s, vl)]))
			vls |= 1u << vl;
	}
	if (unlikely(l->flags & L_EXACT) && s->cold[port].pending &&
	    !(vls >> VL_MANAGEMENT)) {
		update_send(s, port);
		return;
	}
	if (unlikely(vls >> VL_MANAGEMENT)) {
		link_grant(s, port, l, &lanes[s->vl15], VL_MANAGEMENT);
		return;
	}
	if (unlikely(!vls)) {
		if (l->requests)
			link_block(s, port, l);
		return;
	}
	if (l->flags & L_LOWEST) {
		unsigned vl = (unsigned)__builtin_ctz(vls);

		link_grant(s, port, l, &lanes[vl], vl);
		return;
	}
	bool is_high;
	unsigned vl =
		arbiter_choose(&l->arb, &s->tables[l->table], vls, &is_high);

	if (unlikely(vl == 16)) {
		/* No entry names what waits (T10): others may still come. */
		link_block(s, port, l);
		return;
	}
	arbiter_charge(&l->arb, is_high,
		       link_grant(s, port, l, &lanes[vl], vl));
}

/* ---- one instant ------------------------------------------------------- */

static void event_rare(struct sim *s, uint64_t key)
{
	uint32_t port = key_port(key), id = key_id(key);

	switch (key_kind(key)) {
	case EV_FAULT:
		fault_strike(s, id);
		break;
	case EV_MEASURE:
		metrics_start(s);
		break;
	case EV_UPDATE:
		update_arrive(s, port, key_vl(key), id);
		break;
	case EV_HEAD:
		head_arrived(s, port, packet_at(s, id));
		break;
	case EV_SPACE:
		space_freed(s, port, key_vl(key), id);
		break;
	case EV_REFRESH:
		update_refresh(s, port);
		break;
	case EV_FIRST:
		fifo_first(s, packet_at(s, id));
		break;
	case EV_OUT:
		cross_output_ready(s, packet_at(s, id));
		break;
	case EV_HOQ:
		hoq_expire(s, port, id);
		break;
	case EV_DELIVER:
		packet_hand_over(s, port, id);
		break;
	case EV_TIMER:
		s->hooks.timer(s->hooks.context, s->now, id);
		break;
	case EV_ARRIVAL:
		arrivals_fire(s);
		break;
	case EV_INJECT:
		packet_enter(s, id);
		break;
	case EV_RELEASE:
		reader_released(s, port);
		break;
	case EV_CROSS:
		s->outlets[port].wake_at = NEVER;
		if (s->outlets[port].requests)
			cross_request(s, port);
		break;
	default:
		assert(false && "no such event");
	}
}

static inline void event_handle(struct sim *s, uint64_t key)
{
	uint32_t port = key_port(key);

	switch (key_kind(key)) {
	case EV_READY:
		copy_ready(s, packet_at(s, key_id(key)));
		break;
	case EV_WAKE:
		if (s->links[port].wake_at != s->now)
			break;
		s->links[port].wake_at = NEVER;
		if (s->links[port].requests ||
		    (s->exact && s->cold[port].pending))
			link_request(s, port);
		break;
	case EV_SOURCE:
		source_fire(s, key_id(key));
		break;
	default:
		event_rare(s, key);
	}
}

/* Brings in what the events after the next ones will touch. */
static inline void event_prefetch(struct sim *s)
{
	const struct event *e = eventq_ahead(&s->q, 3);

	if (!e)
		return;
	uint32_t port = key_port(e->key);

	__builtin_prefetch(&s->links[port]);
	if (key_kind(e->key) == EV_READY)
		__builtin_prefetch(&s->packets[key_id(e->key)]);
}

/* Phases 0 to 3 of now. */
static void instant_events(struct sim *s)
{
	const struct event *next;

	do {
		struct event e;

		if (!eventq_pop(&s->q, &e))
			break;
		s->events++;
		event_prefetch(s);
		event_handle(s, e.key);
		next = eventq_first(&s->q);
	} while (next && next->when == s->now);
}

/* F4; a discard may make another packet first and ready at this instant. */
static void instant_discards(struct sim *s)
{
	while (s->downed.n > 0) {
		uint32_t port = s->downed.ports[--s->downed.n];

		s->links[port].flags &= (uint8_t)~L_TOUCHED;
		downed_discard(s, port);
		const struct event *next = eventq_first(&s->q);
		if (next && next->when == s->now)
			instant_events(s);
	}
}

bool engine_instant(struct sim *s, hd_time until)
{
	const struct event *first = eventq_first(&s->q);

	if (!first || first->when > until)
		return false;
	s->now = first->when;
	instant_events(s);
	if (unlikely(s->downed.n))
		instant_discards(s);
	for (uint32_t i = 0; i < s->updating.n; i++)
		updates_flush(s, s->updating.ports[i]);
	s->updating.n = 0;

	if (unlikely(s->n_readers))
		ports_by_last_grant(s, s->cioq ? &s->crossed : &s->touched);
	for (uint32_t i = 0; i < s->crossed.n; i++)
		cross_arbitrate(s, s->crossed.ports[i]);
	s->crossed.n = 0;
	if (unlikely(s->downed.n))
		instant_discards(s); /* what has just reached its output */
	for (uint32_t i = 0; i < s->touched.n; i++)
		link_arbitrate(s, s->touched.ports[i]);
	s->touched.n = 0;
	return true;
}
