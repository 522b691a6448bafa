/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/core/engine.h"

#include <assert.h>

#include "sim/core/arbiters.h"
#include "sim/core/crossbar.h"
#include "sim/core/hop.h"
#include "sim/core/run.h"
#include "sim/core/switch.h"
#include "sim/core/update.h"
#include "sim/core/vl_sharing.h"
#include "sim/faults/fault.h"
#include "sim/injection/control.h"
#include "sim/injection/injection.h"
#include "sim/injection/mark.h"
#include "sim/injection/probe.h"
#include "sim/injection/source.h"
#include "sim/metrics/metrics.h"
#include "sim/metrics/observers.h"
#include "sim/routing/choose.h"
#include "sim/routing/reduce.h"

/* ---- entry points of other modules --------------------------------------- */

void hop_return_space(struct sim *s, const struct packet_record *p, hd_time when)
{
	hop_space(s, p, when, HOP_DOMAIN);
}

void hop_leave_buffer(struct sim *s, struct packet_record *p, hd_time when)
{
	hop_leave(s, p, when, HOP_DOMAIN);
}

void hop_place_copy(struct sim *s, struct packet_record *p)
{
	hop_place(s, p, HOP_DOMAIN);
}

void hop_arrive_at(struct sim *s, uint32_t port, struct packet_record *p)
{
	const struct sim_output *l =
		port_is_remote(s, port) ? &s->cut->wires[port] : &s->links[port];
	const struct sim_endpoint *router = packet_router(s, p);

	if (unlikely(router != NULL)) {
		injection_route(s, router, p);
		return;
	}
	if (l->flags & L_FAR_END)
		hop_sink(s, l, p, HOP_DOMAIN);
	else
		hop_forward(s, port, l, p, HOP_DOMAIN);
}

void hop_leave_output(struct sim *s, uint32_t port, unsigned vl, uint32_t blk, hd_time when)
{
	struct credits credits = credits_of_outlet(s, port);
	struct sim_output *v = credits.output;

	credit_ring_push(s, credits, when, credit_ring_what(blk, vl));
	if (!credits.ring->waiting_for_credit || !(v->requests >> vl & 1))
		return;
	if (when <= s->now) {
		crossbar_request(s, port);
	} else if (when < v->wake_at) {
		v->wake_at = when;
		eventq_push(&s->q, when, event_key(EV_CROSS, port, 0, 0));
	}
}

/* ---- T7: choice of the input ---------------------------------------------- */

/* Whether the first packet of this input may go: readable (T8), and enough credits. */
static bool vl_fits(struct sim *s, uint32_t port, uint32_t credits, const struct packet_record *p)
{
	if (blocks_of(p->bytes) > credits)
		return false;
	if (s->n_readers == 0 || (s->links[port].flags & L_END) || is_made_here(p))
		return true;
	return crossbar_reader_free(s, s->links[p->up].peer, p->slot);
}

static uint32_t vl_pick_oldest(struct sim *s, uint32_t port, const struct port_vl *port_vl,
			       uint32_t credits)
{
	unsigned first = inputs_lowest(s, port, port_vl);
	unsigned in = first;
	uint32_t best = NONE;
	hd_time oldest = NEVER;

	do {
		const struct packet_record *p = packet_at(s, voq_first(s, port_vl, in));

		/* Inputs are visited in ascending order, so ties go to the lower number. */
		if (p->ready < oldest && vl_fits(s, port, credits, p)) {
			oldest = p->ready;
			best = in;
		}
		in = inputs_after(s, port_vl, in);
	} while (in != first);
	return best;
}

uint32_t hop_pick_input(struct sim *s, uint32_t port, const struct port_vl *port_vl,
			uint32_t credits)
{
	unsigned first = inputs_after(s, port_vl, port_vl->rr);
	unsigned in = first;

	if (unlikely(s->mode.oldest))
		return vl_pick_oldest(s, port, port_vl, credits);
	if (credits >= s->max_blk && s->n_readers == 0)
		return first;
	do {
		const struct packet_record *p = packet_at(s, voq_first(s, port_vl, in));

		if (vl_fits(s, port, credits, p))
			return in;
		in = inputs_after(s, port_vl, in);
	} while (in != first);
	return NONE;
}

/* ---- one instant --------------------------------------------------------- */

static void endpoint_timer(struct sim *s, unsigned endpoint, uint32_t cookie)
{
	const struct sim_endpoint *e = &s->ends.all[endpoint];

	e->timer(e->context, s->now, cookie);
}

/* Events of congestion control. */
static void event_control(struct sim *s, uint64_t key)
{
	uint32_t port = key_port(key), id = key_id(key);

	switch (key_kind(key)) {
	case EV_FILLS:
		mark_fills(s, port, key_vl(key), id);
		break;
	case EV_COMES:
		mark_comes(s, port, key_vl(key), id);
		break;
	case EV_LEAVES:
		mark_leaves(s, port, key_vl(key), id);
		break;
	case EV_FREES:
		mark_frees(s, port, key_vl(key), id);
		break;
	case EV_ACKED:
		ack_receive(s, port);
		break;
	case EV_RESPOND:
		throttle_respond(s, id);
		break;
	case EV_TIMEOUT:
		flow_timeout(s, id);
		break;
	case EV_ASK:
		probe_ask(s, id);
		break;
	case EV_PACE:
		throttle_pace(s, id);
		break;
	default:
		assert(false && "no such event");
	}
}

void event_global(struct sim *s, uint64_t key)
{
	switch (key_kind(key)) {
	case EV_FAULT:
		fault_strike(s, key_id(key));
		break;
	case EV_TABLE:
		if (key_id(key) == 0)
			arbiters_change(s);
		else
			control_change(s, key_id(key) - 1);
		break;
	case EV_MEASURE:
		s->background--;
		metrics_start(s);
		break;
	case EV_LOOK:
		metrics_look(s);
		break;
	default:
		assert(key_kind(key) == EV_STUCK);
		deadlock_look(s);
	}
}

static void event_rare(struct sim *s, uint64_t key)
{
	uint32_t port = key_port(key), id = key_id(key);

	if (key_kind(key) <= EV_STUCK) {
		event_global(s, key);
		return;
	}
	switch (key_kind(key)) {
	case EV_UPDATE:
		update_arrive(s, port, key_vl(key), id);
		break;
	case EV_HEAD:
		update_head_arrived(s, port, packet_at(s, id));
		break;
	case EV_SPACE:
		update_space_freed(s, port, key_vl(key), id);
		break;
	case EV_REFRESH:
		update_refresh(s, port);
		break;
	case EV_REDUCED:
		aggregator_emit(s, id);
		break;
	case EV_CHOOSE:
		choice_make(s, packet_at(s, id));
		break;
	case EV_FIRST:
		fifo_first(s, packet_at(s, id));
		break;
	case EV_OUT:
		crossbar_output_ready(s, packet_at(s, id));
		break;
	case EV_HOQ:
		fault_hoq_expire(s, port, id);
		break;
	case EV_TIMER:
		endpoint_timer(s, key_vl(key), id);
		break;
	case EV_ARRIVAL:
		source_fire_arrivals(s);
		break;
	case EV_INJECT:
		sender_arrives(s, port, id);
		break;
	case EV_RELEASE:
		crossbar_reader_released(s, port);
		break;
	case EV_CROSS:
		s->outlets[port].wake_at = NEVER;
		if (s->outlets[port].requests)
			crossbar_request(s, port);
		break;
	default:
		event_control(s, key);
	}
}

HOT void event_handle(struct sim *s, uint64_t key, const enum hop_variant variant)
{
	uint32_t port = key_port(key);
	struct sim_output *l;

	switch (key_kind(key)) {
	case EV_READY:
		hop_ready(s, packet_at(s, key_id(key)), port, key_vl(key), variant);
		break;
	case EV_WAKE:
		l = &s->links[port];
		if (l->wake_at != s->now)
			break;
		l->wake_at = NEVER;
		if (l->requests || (IF_GENERAL(s->mode.exact) && rare_at(s, port)->pending))
			hop_request(s, port, variant);
		break;
	case EV_SOURCE:
		source_fire(s, key_id(key));
		break;
	case EV_DELIVER:
		metrics_deliver(s, port, key_vl(key), key_id(key));
		break;
	default:
		event_rare(s, key);
	}
}

/*
 * Prefetches the memory that later events will access: first the records that the event keys
 * name, then, once these are loaded, the records that they refer to.
 */
#define FAR_AHEAD  12
#define NEAR_AHEAD 5

static inline void prefetch_far(const struct sim *s, uint64_t key)
{
	uint32_t port = key_port(key);

	if (key_kind(key) == EV_SOURCE) {
		__builtin_prefetch(&s->make.sources[key_id(key)], 1);
		return;
	}
	__builtin_prefetch(&s->links[port], 1);
	__builtin_prefetch(&s->port_vls[port * s->n_vls + key_vl(key)], 1);
	if (key_kind(key) == EV_READY)
		__builtin_prefetch(&s->pool.all[key_id(key)], 1);
}

static inline void prefetch_near(const struct sim *s, uint64_t key, const enum hop_variant variant)
{
	const struct sim_output *l = &s->links[key_port(key)];

	if (key_kind(key) == EV_READY) {
		const struct packet_record *p = &s->pool.all[key_id(key)];
		const struct node *n = &s->nodes[l->far_node];

		if (!IF_GENERAL(is_made_here(p)) && !IF_DOMAIN(port_is_remote(s, p->up)))
			__builtin_prefetch(&s->rings[p->up], 1);
		if (!(l->flags & L_FAR_END) && !IF_DOMAIN(node_is_remote(s, l->far_node)))
			__builtin_prefetch(lft_entry(s, n, p->dlid));
	} else if (key_kind(key) == EV_WAKE && l->requests) {
		const struct port_vl *port_vl = &s->port_vls[key_port(key) * s->n_vls +
							     (unsigned)__builtin_ctz(l->requests)];

		__builtin_prefetch(port_vl, 1);
	} else if (key_kind(key) == EV_SOURCE) {
		const struct source *src = &s->make.sources[key_id(key)];
		unsigned vl = src->plan == NONE ? 0 : s->make.plans[src->plan].vl;

		__builtin_prefetch(&s->links[src->out], 1);
		__builtin_prefetch(&s->port_vls[src->out * s->n_vls + vl], 1);
	}
}

static inline void event_prefetch(const struct sim *s, const enum hop_variant variant)
{
	const struct event *e = eventq_ahead(&s->q, FAR_AHEAD);

	if (likely(e))
		prefetch_far(s, e->key);
	e = eventq_ahead(&s->q, NEAR_AHEAD);
	if (likely(e))
		prefetch_near(s, e->key, variant);
}

/* Phases 0 to 3 of the current instant; `next` is the first event of the queue. */
HOT void instant_events(struct sim *s, const struct event *next, const enum hop_variant variant)
{
	struct eventq *q = &s->q;

	do {
		uint64_t key = next->key;

		q->at++;
		s->outcome.events++;
		event_prefetch(s, variant);
		event_handle(s, key, variant);
		if (unlikely(q->end - q->at <= EVENTQ_AHEAD) && !eventq_refill(q))
			return;
		next = &q->near[q->at];
	} while (next->when == s->now);
}

static void instant_events_again(struct sim *s)
{
	const struct event *next = eventq_first(&s->q);

	if (next && next->when == s->now)
		instant_events(s, next, HOP_DOMAIN);
}

/* F4. A discard may make another packet first and ready at this instant. */
static void instant_discards(struct sim *s)
{
	while (s->instant.downed.n > 0) {
		uint32_t port = s->instant.downed.ports[--s->instant.downed.n];

		s->links[port].flags &= (uint8_t)~L_PENDING;
		fault_discard(s, port);
		instant_events_again(s);
	}
}

/* Phases between events and link grants that only some runs have. */
static void instant_middle(struct sim *s)
{
	if (s->instant.downed.n)
		instant_discards(s);
	for (uint32_t i = 0; i < s->instant.updating.n; i++)
		updates_flush(s, s->instant.updating.ports[i]);
	s->instant.updating.n = 0;
	if (s->n_readers)
		crossbar_sort_ports(s,
				    s->mode.cioq ? &s->instant.crossed : &s->instant.pending_links);
	for (uint32_t i = 0; i < s->instant.crossed.n; i++)
		crossbar_arbitrate(s, s->instant.crossed.ports[i]);
	s->instant.crossed.n = 0;
	if (s->instant.downed.n)
		instant_discards(s); /* packets that have just reached their output */
}

/* Runs all instants up to `until`, or until the next progress check. */
HOT bool instants(struct sim *s, hd_time until, const enum hop_variant variant)
{
	const struct event *first = eventq_first(&s->q);

	while (first && first->when <= until) {
		s->now = s->q.now = first->when;
		instant_events(s, first, variant);
		if (!IS_NOT_GENERAL)
			instant_middle(s);
		if (IF_GENERAL(s->sharing != NULL))
			vl_sharing_prepare(s);
		for (uint32_t i = 0; i < s->instant.pending_links.n; i++)
			hop_arbitrate(s, s->instant.pending_links.ports[i], variant);
		s->instant.pending_links.n = 0;
		if (IF_GENERAL(s->tell.queue.n) && !IF_DOMAIN(true))
			observers_notify_until(s, s->now);
		if (unlikely(until > s->horizon))
			until = s->horizon;
		if (unlikely(s->outcome.events >= s->outcome.events_checked))
			return true;
		/*
		 * Timers re-arm for ever, so they do not keep a run alive. A domain keeps its
		 * timers as long as the whole run lasts.
		 */
		if (!IS_NOT_GENERAL && !IF_DOMAIN(!s->mail.stops_dry) && s->pool.alive == 0 &&
		    !s->run.to_the_end && eventq_count(&s->q) <= s->background)
			return false;
		first = eventq_first(&s->q);
	}
	return false;
}

bool sim_run_instants(struct sim *s, hd_time until)
{
	if (until > s->horizon)
		until = s->horizon;
	switch (s->hop_variant) {
	case HOP_FAST:
		return instants(s, until, HOP_FAST);
	case HOP_CONTROLLED:
		return instants(s, until, HOP_CONTROLLED);
	case HOP_DOMAIN_FAST:
		return instants(s, until, HOP_DOMAIN_FAST);
	case HOP_DOMAIN_CONTROLLED:
		return instants(s, until, HOP_DOMAIN_CONTROLLED);
	case HOP_DOMAIN:
		return instants(s, until, HOP_DOMAIN);
	default:
		return instants(s, until, HOP_GENERAL);
	}
}
