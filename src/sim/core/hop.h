/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CORE_HOP_H
#define HD_SIM_CORE_HOP_H

/*
 * One hop of a packet: ready at an output, arbitrated, granted, launched, forwarded by the
 * next switch or taken by a sink.
 *
 * Every function is compiled once per constant `variant`, so that checks for cases that cannot
 * occur are removed by the compiler. HOP_FAST: input-queued voq switches with delayed credits,
 * without faults, VL15, readers, lifetimes or observers of grants. HOP_CONTROLLED: the same with
 * senders, congestion control and adaptive switches. HOP_GENERAL: all other runs. Each variant
 * also exists for one domain of a partitioned fabric (domains.h), where the far end of a link
 * may be in another domain. All variants share one implementation of each rule.
 */

#include <assert.h>

#include "sim/core/crossbar.h"
#include "sim/core/engine.h"
#include "sim/core/switch.h"
#include "sim/core/update.h"
#include "sim/core/vl_sharing.h"
#include "sim/domains/domains.h"
#include "sim/faults/fault.h"
#include "sim/injection/injection.h"
#include "sim/injection/mark.h"
#include "sim/injection/probe.h"
#include "sim/injection/source.h"
#include "sim/metrics/metrics.h"
#include "sim/routing/choose.h"

/* Only in the GENERAL variants. */
#define IF_GENERAL(x)  (!IS_NOT_GENERAL && unlikely(x))
/* Not in the FAST variants. */
#define IF_SENDERS(x)  (!IS_FAST && (x))
/* Only in the DOMAIN variants. */
#define IF_DOMAIN(x)   ((variant & HOP_DOMAIN) && (x))
#define IS_NOT_GENERAL (variant % HOP_DOMAIN != HOP_GENERAL)
#define IS_FAST        (variant % HOP_DOMAIN == HOP_FAST)

/* ---- wanting to send ---------------------------------------------------- */

HOT void hop_request(struct sim *s, uint32_t port, const enum hop_variant variant)
{
	struct sim_output *l = &s->links[port];

	if (IF_GENERAL(!(l->flags & L_UP))) {
		link_request(s, port);
	} else if (l->busy_until > s->now) {
		if (l->wake_at > l->busy_until)
			link_wake(s, port, l->busy_until);
	} else if (!(l->flags & L_PENDING)) {
		l->flags |= L_PENDING;
		port_list_add(&s->instant.pending_links, port);
	}
}

HOT uint32_t hop_vl_index(const struct sim *s, unsigned vl, const enum hop_variant variant)
{
	return IS_NOT_GENERAL ? vl : index_of_vl(s, vl);
}

HOT void hop_ready(struct sim *s, struct packet_record *p, uint32_t port, unsigned vl,
		   const enum hop_variant variant)
{
	struct sim_output *v = &s->outlets[port];
	struct port_vl *port_vl = &s->outlet_vls[port * s->n_vls + hop_vl_index(s, vl, variant)];

	if (IF_GENERAL(s->mode.merges)) {
		fifo_ready(s, port_vl, p);
		return;
	}
	voq_push(s, port_vl, p, IS_NOT_GENERAL);
	if (!v->requests)
		v->since = s->now;
	v->requests |= (uint16_t)(1u << vl);
	if (IF_GENERAL(s->mode.cioq)) {
		crossbar_request(s, port);
		return;
	}
	if (IF_GENERAL(s->sharing != NULL))
		vl_sharing_ready(s, port, vl);
	hop_request(s, port, variant);
	if (IF_GENERAL(s->mode.hoq) && voq_first(s, port_vl, p->in) == packet_id(s, p))
		fault_hoq_start(s, p);
}

/* ---- leaving a buffer --------------------------------------------------- */

HOT void hop_space(struct sim *s, const struct packet_record *p, hd_time when,
		   const enum hop_variant variant)
{
	uint32_t up = p->up, blk = blocks_of(p->bytes);
	unsigned vl = p->vl;

	if (IF_GENERAL(is_made_here(p)))
		return;
	struct credits credits = credits_of_link(s, up);
	struct ring *r = credits.ring;
	uint64_t area = (uint64_t)blk * (when - p->head);

	if (IF_SENDERS(s->mode.fills))
		mark_freed(s, p, when);
	if (IF_DOMAIN(port_is_remote(s, up))) {
		bool plain = !IF_GENERAL(r->mode != RING_PLAIN || vl == VL_MANAGEMENT);
		const struct partition_credit c = {
			.when = when,
			.area = area,
			.up = up,
			.what = plain ? credit_ring_what(blk, vl) : 0,
		};

		mail_credit(s, &c);
		if (plain)
			return;
	} else {
		r->area += area;
	}
	if (IF_GENERAL(r->mode != RING_PLAIN || vl == VL_MANAGEMENT)) {
		eventq_push(&s->q, when, event_key(EV_SPACE, s->links[up].peer, vl, blk));
		return;
	}
	when += r->delay;
	credit_ring_push(s, credits, when, credit_ring_what(blk, vl));
	if (unlikely(r->waiting_for_credit)) {
		const struct sim_output *l = credits.output;

		if ((l->requests >> vl & 1) && when < l->wake_at)
			link_wake(s, up, when);
	}
}

HOT void hop_leave(struct sim *s, struct packet_record *p, hd_time when,
		   const enum hop_variant variant)
{
	if (IF_SENDERS(s->mode.fills))
		mark_left_buffer(s, p, when);
	if (unlikely(p->slot != NONE)) {
		switch_slot_leave(s, p, when);
		p->slot = NONE;
		return;
	}
	if (IF_GENERAL(s->mode.fifo))
		fifo_leave(s, p->up, p->vl, when);
	hop_space(s, p, when, variant);
}

/* ---- arriving ----------------------------------------------------------- */

/* T6: extra delay so that the output link does not run dry within a packet. */
HOT hd_time hop_underrun(struct sim *s, const struct packet_record *p)
{
	if (likely(s->mode.one_rate) || s->mode.cioq || is_made_here(p))
		return 0;
	hd_time d_in = duration_of(s, s->links[p->up].rate, p->bytes);
	hd_time d_out = duration_of(s, s->links[p->out].rate, p->bytes);

	return d_in > d_out ? d_in - d_out : 0;
}

HOT void hop_place(struct sim *s, struct packet_record *p, const enum hop_variant variant)
{
	if (IF_SENDERS(s->marks))
		mark_expect(s, p, IS_NOT_GENERAL);
	if (IF_GENERAL(s->mode.fifo)) {
		fifo_arrive(s, p);
		return;
	}
	hd_time ready = p->head + s->delay + hop_underrun(s, p);

	if (!IS_NOT_GENERAL || IF_SENDERS(s->notifies_passages))
		p->ready = ready;
	eventq_push(&s->q, ready, event_key(EV_READY, p->out, p->out_vl, packet_id(s, p)));
}

/* Shortcut for a packet whose output and VL follow from the LFT and one SL2VL row. */
HOT void hop_forward(struct sim *s, uint32_t port, const struct sim_output *l,
		     struct packet_record *p, const enum hop_variant variant)
{
	const struct node *n = &s->nodes[l->far_node];

	if (likely(n->plain) && !IF_GENERAL((p->flags & P_CORRUPT) || p->vl == VL_MANAGEMENT)) {
		uint32_t out = *lft_entry(s, n, p->dlid);
		unsigned vl = n->vl_of_sl[p->sl];

		if (likely(out - n->low < (uint32_t)LFT_NO_PORT - n->low && vl < n->vls)) {
			p->out = n->first_port + out;
			p->out_vl = (uint8_t)vl;
			p->in = (uint8_t)(l->peer - n->first_port);
			hop_place(s, p, variant);
			return;
		}
	}
	switch_arrive(s, port, p);
}

HOT void hop_sink(struct sim *s, const struct sim_output *l, struct packet_record *p,
		  const enum hop_variant variant)
{
	hd_time tail = p->head + duration_of(s, l->rate, p->bytes), when = tail;

	if (IF_GENERAL(p->flags & P_CORRUPT)) {
		switch_corrupt(s, p, l->peer);
		return;
	}
	if (IF_GENERAL(l->flags & L_SLOW_PATH)) {
		if (switch_end_refuses(s, p, l->peer))
			return;
		when = fault_sink_delivery(s, l->peer, when);
	}
	if (likely(IS_NOT_GENERAL || when != NEVER))
		hop_space(s, p, when, variant);
	if (IF_SENDERS(p->flags & P_TOLD)) {
		metrics_schedule_delivery(s, l->peer, p, tail, when);
		return;
	}
	metrics_delivered(s, p, l->peer, when);
	packet_free(s, p);
}

/* The packet is on the link and will reach the far end. */
HOT void hop_travel(struct sim *s, uint32_t port, const struct sim_output *l,
		    struct packet_record *p, const enum hop_variant variant)
{
	if (IF_SENDERS(s->mode.fills))
		mark_sent(s, l, p);
	if (IF_GENERAL(s->mode.exact || p->vl == VL_MANAGEMENT || packet_router(s, p))) {
		eventq_push(&s->q, p->head, event_key(EV_HEAD, port, p->vl, packet_id(s, p)));
		return;
	}
	if (l->flags & L_FAR_END)
		hop_sink(s, l, p, variant);
	else
		hop_forward(s, port, l, p, variant);
}

/* T3, T4: the packet leaves the sender. */
HOT void hop_launch(struct sim *s, uint32_t port, struct sim_output *l, struct packet_record *p,
		    unsigned vl, const enum hop_variant variant)
{
	p->head = s->now + l->prop;
	p->up = port;
	p->vl = (uint8_t)vl;
	if (IF_GENERAL(l->flags & L_SLOW_PATH) && !fault_link_fate(s, port, p))
		return;
	if (unlikely(p->head > s->horizon))
		metrics_packet_missed(s, port, p);
	if (IF_DOMAIN(node_is_remote(s, l->far_node)))
		mail_packet(s, port, p);
	else
		hop_travel(s, port, l, p, variant);
}

/* ---- granting ----------------------------------------------------------- */

/* Whether this VL has a packet that may start now. Credits due by now have been added. */
HOT bool hop_offers(struct sim *s, uint32_t port, const struct sim_output *l,
		    struct port_vl *port_vl, unsigned vl, const enum hop_variant variant)
{
	uint32_t credits = s->credits[port_vl - s->port_vls];

	if (credits >= s->max_blk && !IF_GENERAL(s->n_readers))
		return true;
	if (IF_GENERAL(s->sharing != NULL))
		port_vl = vl_sharing_queue(s, port, port_vl, vl);
	if (l->flags & L_QUEUED)
		return IF_SENDERS(l->flags & L_PULLS)
			       ? injection_pick(s, port, port_vl, credits) != NONE
			       : blocks_of(packet_at(s, port_vl->queue.first)->bytes) <= credits;
	return hop_pick_input(s, port, port_vl, credits) != NONE;
}

/* The set of VLs that have a packet that may start now. */
HOT uint32_t hop_offered(struct sim *s, uint32_t port, struct sim_output *l,
			 const enum hop_variant variant)
{
	struct credits credits = credits_of_link(s, port);
	uint32_t vls = 0;

	credits.ring->waiting_for_credit = 0;
	credit_ring_apply(s, credits, s->now);
	for (uint32_t rest = l->requests; rest; rest &= rest - 1) {
		unsigned vl = (unsigned)__builtin_ctz(rest);

		credits_set(s, credits, vl, credits.of_vl[hop_vl_index(s, vl, variant)]);
		uint32_t i = port * s->n_vls + hop_vl_index(s, vl, variant);

		if (hop_offers(s, port, l, &s->port_vls[i], vl, variant))
			vls |= 1u << vl;
	}
	return vls;
}

/* Removes the first packet of an injection or output queue. */
HOT struct packet_record *hop_queue_pop(struct sim *s, struct sim_output *l,
					struct port_vl *port_vl, unsigned vl,
					const enum hop_variant variant)
{
	struct packet_record *p = packet_at(s, port_vl->queue.first);

	port_vl->queue.first = p->next;
	if (p->next == NONE) {
		port_vl->queue.last = NONE;
		l->requests &= (uint16_t) ~(1u << vl);
	} else if (IF_GENERAL(!(l->flags & L_END))) {
		struct packet_record *next = packet_at(s, p->next);

		if (next->ready > s->now)
			l->requests &= (uint16_t) ~(1u << vl);
		else if (s->mode.hoq)
			fault_hoq_start(s, next);
	}
	return p;
}

HOT struct packet_record *hop_take(struct sim *s, uint32_t port, struct sim_output *l,
				   struct port_vl *port_vl, unsigned vl,
				   const enum hop_variant variant)
{
	const uint16_t *credits = &s->credits[port_vl - s->port_vls];
	unsigned in;

	if (IF_GENERAL(s->sharing != NULL))
		port_vl = vl_sharing_queue(s, port, port_vl, vl);
	if (l->flags & L_QUEUED) {
		if (IF_SENDERS(l->flags & L_PULLS))
			return injection_take(s, port, port_vl, *credits);
		return hop_queue_pop(s, l, port_vl, vl, variant);
	}
	if (IS_NOT_GENERAL && likely(!(l->low_credit >> vl & 1)))
		in = bits_after(port_vl->inputs, port_vl->rr & 63);
	else
		in = hop_pick_input(s, port, port_vl, *credits);
	assert(in < 256);
	struct packet_record *p = voq_pop(s, port_vl, in, IS_NOT_GENERAL);

	port_vl->rr = (uint8_t)in;
	if (!port_vl->inputs)
		l->requests &= (uint16_t) ~(1u << (IS_NOT_GENERAL ? vl : p->out_vl));
	if (IF_GENERAL(s->mode.hoq) && !s->mode.merges &&
	    inputs_has(s, port_vl, in, IS_NOT_GENERAL))
		fault_hoq_start(s, packet_at(s, voq_first(s, port_vl, in)));
	return p;
}

HOT void hop_depart(struct sim *s, uint32_t port, const struct sim_output *l,
		    struct packet_record *p, unsigned vl, const enum hop_variant variant)
{
	if (l->flags & L_END)
		return;
	if (IF_GENERAL(s->mode.cioq)) {
		hop_leave_output(s, port, vl, blocks_of(p->bytes), l->busy_until);
		return;
	}
	if (IF_GENERAL(s->n_readers)) {
		if (!is_made_here(p))
			crossbar_reader_take(s, s->links[p->up].peer, p->slot, l->busy_until);
		s->cross.granted[port] = s->now + 1;
	}
	hop_leave(s, p, l->busy_until, variant);
}

/* Credits are consumed at the grant: T3. */
HOT void hop_pay(struct sim *s, uint32_t port, struct port_vl *port_vl, unsigned vl, uint32_t blk,
		 const enum hop_variant variant)
{
	uint16_t *credits = &s->credits[port_vl - s->port_vls];

	if (IF_GENERAL(vl == VL_MANAGEMENT))
		return;
	assert(*credits >= blk);
	*credits = (uint16_t)(*credits - blk);
	if (unlikely(*credits < port_vl->least)) {
		/* Not certain yet: credits due in the ring may not have been added. */
		credit_ring_apply(s, credits_of_link(s, port), s->now);
		port_vl->least = *credits < port_vl->least ? *credits : port_vl->least;
	}
	if (unlikely(*credits < s->max_blk))
		s->links[port].low_credit |= (uint16_t)(1u << vl);
	if (IF_GENERAL(s->fc)) {
		struct flow_control *fc = &s->fc[port * s->n_vls + vl];

		fc->sent = (fc->sent + blk) & 4095;
	}
}

/* Returns the packet's size in blocks. */
HOT uint32_t hop_grant(struct sim *s, uint32_t port, struct sim_output *l, struct port_vl *port_vl,
		       unsigned vl, const enum hop_variant variant)
{
	/* Before hop_take: T14 counts the wait until the request is removed. */
	hd_time start = l->busy_until > l->since ? l->busy_until : l->since;
	struct packet_record *p = hop_take(s, port, l, port_vl, vl, variant);
	uint32_t bytes = p->bytes, blk = blocks_of(bytes);
	/* The grant of a saturating flow's packet at its host creates the next packet. */
	uint32_t refills = unlikely(p->flags & P_SOURCE) && (l->flags & L_END) ? p->flow : NONE;

	l->waited += s->now - start;
	l->busy_until = s->now + duration_of(s, l->rate, bytes);
	port_vl->bytes += bytes;
	if (unlikely(++port_vl->packets == 0))
		s->sums.carries[port_vl - s->port_vls]++;
	s->outcome.hops++;
	if (unlikely(p->dlid >= LID_FIRST_MCAST))
		s->sums.rare[port].multicast_sent++;
	if (unlikely(s->sums.by_sl)) {
		struct count *c = &s->sums.by_sl[port * s->n_sls + s->sl_index[p->sl]];

		c->bytes += bytes;
		c->packets++;
	}
	if (IF_GENERAL(s->sharing != NULL))
		vl_sharing_granted(s, port, p);
	if (IF_SENDERS(s->notifies_passages))
		injection_packet_passes(s, port, p);
	if (IF_SENDERS(s->marks) && !(l->flags & L_END))
		mark_grant(s, port, p, IS_NOT_GENERAL ? vl : p->out_vl, IS_NOT_GENERAL);
	if (IF_SENDERS(p->flags & P_LAST))
		probe_pass(s, p->flow, port);
	hop_pay(s, port, port_vl, vl, blk, variant);
	if (IF_SENDERS(s->choices) && !(l->flags & L_END))
		choice_leaves(s, port, p);
	if (!IS_FAST)
		p->flags &= P_STAYS;
	hop_depart(s, port, l, p, vl, variant);
	hop_launch(s, port, l, p, vl, variant);
	if (unlikely(refills != NONE))
		source_granted(s, refills);
	if (IF_SENDERS(l->flags & L_PULLS))
		injection_granted(s, port);
	if (l->requests || (IF_GENERAL(s->mode.exact) && rare_at(s, port)->pending))
		hop_request(s, port, variant);
	return blk;
}

/* The link is idle but no packet can start: wait for credits. */
static inline void hop_block(struct sim *s, uint32_t port, struct sim_output *l)
{
	struct credits credits = credits_of_link(s, port);

	credit_ring_apply(s, credits, s->now);
	hd_time when = credit_ring_next(s, credits.ring, l->requests);

	credits.ring->waiting_for_credit = 1;
	if (when < l->wake_at)
		link_wake(s, port, when);
}

/* T10, T11: arbitration among the data VLs `vls`. */
HOT void hop_choose(struct sim *s, uint32_t port, struct sim_output *l, struct port_vl *port_vls,
		    uint32_t vls, const enum hop_variant variant)
{
	bool is_high;
	unsigned vl;

	if (l->flags & L_LOWEST) {
		vl = (unsigned)__builtin_ctz(vls);
		hop_grant(s, port, l, &port_vls[vl], vl, variant);
		return;
	}
	vl = arbiter_choose(&l->arb, &s->arb.tables[l->table], vls, &is_high);
	if (unlikely(vl == 16)) {
		/* No table entry serves these VLs (T10); packets of other VLs may still arrive. */
		hop_block(s, port, l);
		return;
	}
	uint32_t blk = hop_grant(s, port, l, &port_vls[vl], vl, variant);

	arbiter_charge(&l->arb, is_high, blk);
}

HOT void hop_arbitrate(struct sim *s, uint32_t port, const enum hop_variant variant)
{
	struct sim_output *l = &s->links[port];
	struct port_vl *port_vls = &s->port_vls[port * s->n_vls];
	uint32_t vls = l->requests;

	l->flags &= (uint8_t)~L_PENDING;
	if (unlikely(vls & l->low_credit) || IF_GENERAL(s->n_readers))
		vls = hop_offered(s, port, l, variant);
	if (IF_GENERAL(vls >> VL_MANAGEMENT))
		hop_grant(s, port, l, &port_vls[s->vl15], VL_MANAGEMENT, variant);
	else if (IF_GENERAL(s->mode.exact) && rare_at(s, port)->pending)
		update_send(s, port);
	else if (likely(vls))
		hop_choose(s, port, l, port_vls, vls, variant);
	else if (l->requests)
		hop_block(s, port, l);
}

#endif
