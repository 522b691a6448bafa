/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/metrics/observers.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "sim/checkpoint/checkpoint_state.h"
#include "sim/domains/remote.h"
#include "sim/metrics/metrics.h"

/* ---- noted: the earliest on top of a heap -------------------------------- */

static bool is_discard(const struct observer_event *t)
{
	return (uint32_t)t->place == OBSERVE_ENDED + SIM_LOST_DISCARD;
}

/* Lifetimes that end in one instant are ordered by the packet pool of their domain. */
static int by_packet(const struct sim_packet *a, const struct sim_packet *b)
{
	if (a->flow != b->flow)
		return a->flow < b->flow ? -1 : 1;
	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

static bool is_before(const struct observer_event *a, const struct observer_event *b)
{
	if (a->at != b->at)
		return a->at < b->at;
	if (a->place != b->place)
		return a->place < b->place;
	int packets = is_discard(a) ? by_packet(&a->packet, &b->packet) : 0;

	return packets ? packets < 0 : a->order < b->order;
}

static void push(struct observer_queue *all, const struct observer_event *t)
{
	all->heap = hd_grow(all->heap, &all->cap, all->n + 1, sizeof(*all->heap));
	size_t i = all->n++;

	for (; i > 0 && is_before(t, &all->heap[(i - 1) / 2]); i = (i - 1) / 2)
		all->heap[i] = all->heap[(i - 1) / 2];
	all->heap[i] = *t;
}

static void pop(struct observer_queue *all)
{
	const struct observer_event *last = &all->heap[--all->n];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < all->n && is_before(&all->heap[child + 1], &all->heap[child]))
			child++;
		if (child >= all->n || is_before(last, &all->heap[child]))
			break;
		all->heap[i] = all->heap[child];
		i = child;
	}
	all->heap[i] = *last;
}

/* A run with one domain notifies at once. */
static void note(struct sim *s, hd_time at, uint32_t port, unsigned kind, struct observer_event *t)
{
	if (!s->cut && s->now > 0 && s->tell.queue.n > 0)
		observers_notify_until(s, s->now - 1);
	t->at = at;
	t->place = (uint64_t)port << 32 | kind;
	t->order = s->tell.queue.order++;
	push(&s->tell.queue, t);
}

void observers_ended(struct sim *s, const struct packet_record *p, const struct ending *e)
{
	struct observer_event t;

	metrics_describe_packet(s, p, &t.packet);
	if (s->tell.ended)
		note(s, e->time, e->where, OBSERVE_ENDED + e->fate, &t);
	if (s->tell.delivered && e->fate == SIM_DELIVERED)
		note(s, e->time, e->where, OBSERVE_DELIVERED, &t);
}

void observers_updated(struct sim *s, uint32_t port, const struct sim_update *u)
{
	struct observer_event t = { .update = *u };

	note(s, s->now, port, OBSERVE_UPDATED, &t);
}

void observers_granted(struct sim *s, uint32_t port, const struct packet_record *p, bool lost)
{
	struct observer_event t;

	metrics_describe_packet(s, p, &t.packet);
	t.packet.corrupt = p->flags & P_CORRUPT;
	t.packet.lost = lost;
	note(s, s->now, port, OBSERVE_GRANTED, &t);
}

void observers_add(struct sim *part, const struct observer_event *t)
{
	push(&part->tell.queue, t);
}

bool observers_event_is_valid(const struct sim *part, const struct observer_event *t)
{
	uint32_t port = (uint32_t)(t->place >> 32), kind = (uint32_t)t->place;

	if (port >= part->setup->n_ports || kind > OBSERVE_GRANTED)
		return false;
	if (kind == OBSERVE_UPDATED)
		return t->update.vl <= VL_MANAGEMENT;
	return t->packet.vl <= VL_MANAGEMENT && t->packet.sl < N_SLS &&
	       (t->packet.flow < part->n_flows || t->packet.flow == NONE) &&
	       (t->packet.source < part->setup->n_nodes || t->packet.source == NONE);
}

/* ---- told ---------------------------------------------------------------- */

static void notify_end(const struct sim_observer *o, const struct observer_event *t, uint32_t port,
		       enum sim_fate fate)
{
	const struct sim_event_record e = {
		.flow = t->packet.flow,
		.sequence = t->packet.sequence,
		.where = port,
		.fate = fate,
		.time = t->at,
		.kind = t->packet.kind,
		.marked = t->packet.marked,
	};

	o->ended(o->context, &e, &t->packet);
}

static void notify_one(const struct sim *s, const struct sim_observer *o,
		       const struct observer_event *t)
{
	uint32_t port = (uint32_t)(t->place >> 32), kind = (uint32_t)t->place;

	if (kind < OBSERVE_DELIVERED && o->ended)
		notify_end(o, t, port, (enum sim_fate)kind);
	else if (kind == OBSERVE_DELIVERED && o->delivered)
		o->delivered(o->context, t->at, s->setup->ports[port].node, &t->packet);
	else if (kind == OBSERVE_UPDATED && o->updated)
		o->updated(o->context, t->at, port, &t->update);
	else if (kind == OBSERVE_GRANTED && o->granted)
		o->granted(o->context, t->at, port, &t->packet);
}

/* The domain with the earliest notification. */
static struct observer_queue *earliest(struct sim *s)
{
	struct observer_queue *best = &s->tell.queue;

	for (uint32_t i = 0; s->parts && i < s->parts->cut.n; i++) {
		struct observer_queue *t = &s->parts->part[i]->tell.queue;

		if (t->n && (!best->n || is_before(t->heap, best->heap)))
			best = t;
	}
	return best->n ? best : NULL;
}

void observers_notify_until(struct sim *s, hd_time until)
{
	struct observer_queue *from;

	while (s->tell.n_observers && (from = earliest(s)) && from->heap->at <= until) {
		const struct observer_event t = *from->heap;

		pop(from);
		for (uint32_t i = 0; i < s->tell.n_observers && is_first_rank(s); i++)
			notify_one(s, &s->tell.observers[i], &t);
	}
}

void observers_fini(struct sim *s)
{
	free(s->tell.queue.heap);
}

/* ---- as bytes ------------------------------------------------------------ */

static const struct pack_member packet_members[] = {
	PACK(sim_packet, born),     PACK(sim_packet, flow),    PACK(sim_packet, sequence),
	PACK(sim_packet, kind),     PACK(sim_packet, marked),  PACK(sim_packet, answered),
	PACK(sim_packet, last),     PACK(sim_packet, reserve), PACK(sim_packet, source),
	PACK(sim_packet, dlid),     PACK(sim_packet, pkey),    PACK(sim_packet, bytes),
	PACK(sim_packet, sl),       PACK(sim_packet, vl),      PACK(sim_packet, cookie),
	PACK(sim_packet, target),   PACK(sim_packet, tclass),  PACK(sim_packet, hop_limit),
	PACK(sim_packet, slid),     PACK(sim_packet, corrupt), PACK(sim_packet, lost),
	PACK(sim_packet, endpoint),
};

void sim_pack_packet(struct pack *p, struct sim_packet *x)
{
	/* Only the endpoint of a packet uses its cookie. */
	if (x->flow == SIM_NONE)
		x->cookie = 0;
	PACK_STRUCT(p, packet_members, x);
}

static int notification_order(const void *x, const void *y)
{
	const struct observer_event *a = x, *b = y;

	return is_before(a, b) ? -1 : is_before(b, a);
}

/*
 * Pending notifications, in order; the caller frees them. Two notifications of one place belong to
 * one domain.
 */
static struct observer_event *notifications_gather(const struct checkpoint_state *v, size_t *n)
{
	struct observer_event *all;

	*n = 0;
	for (uint32_t i = 0; i < sim_n_parts(v->s); i++)
		*n += sim_part(v->s, i)->tell.queue.n;
	all = hd_alloc(*n, sizeof(*all));
	*n = 0;
	for (uint32_t i = 0; i < sim_n_parts(v->s); i++) {
		const struct observer_queue *t = &sim_part(v->s, i)->tell.queue;

		for (size_t k = 0; k < t->n; k++)
			all[(*n)++] = t->heap[k];
	}
	if (*n)
		qsort(all, *n, sizeof(*all), notification_order);
	return all;
}

/* Only ends of packets are known before their time. */
static void pack_notification(struct checkpoint_state *v, struct observer_event *t)
{
	uint32_t port = (uint32_t)(t->place >> 32), kind = (uint32_t)t->place;

	pack_u64(v->p, &t->at);
	pack_u32(v->p, &port);
	pack_u32(v->p, &kind);
	sim_pack_packet(v->p, &t->packet);
	if (!v->p->reads || !pack_check(v->p, kind <= OBSERVE_DELIVERED && t->at > v->s->now &&
						      port < v->s->setup->n_ports))
		return;
	struct sim *owner = sim_of_port(v->s, port);

	t->place = (uint64_t)port << 32 | kind;
	t->order = owner->tell.queue.order++;
	/* The first process notifies observers. */
	if (is_first_rank(v->s))
		push(&owner->tell.queue, t);
}

void checkpoint_state_observers(struct checkpoint_state *v)
{
	size_t n = 0;

	if (!checkpoint_state_has_sums(v))
		return;
	struct observer_event *all = v->p->reads ? NULL : notifications_gather(v, &n);

	n = pack_count(v->p, n);
	for (size_t i = 0; i < n && !v->p->refused; i++) {
		struct observer_event t = { 0 };

		if (all)
			t = all[i];
		pack_notification(v, &t);
	}
	free(all);
}
