/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/metrics/tell.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "sim/checkpoint/saved.h"
#include "sim/domains/distant.h"
#include "sim/metrics/metrics.h"

/* ---- noted: the earliest on top of a heap -------------------------------- */

static bool is_discard(const struct telling *t)
{
	return (uint32_t)t->place == TELLS_ENDED + SIM_LOST_DISCARD;
}

/* Lifetimes that end at one instant do so in the order of the pool, which each
 * part has for itself. */
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

static bool is_before(const struct telling *a, const struct telling *b)
{
	if (a->at != b->at)
		return a->at < b->at;
	if (a->place != b->place)
		return a->place < b->place;
	int packets = is_discard(a) ? by_packet(&a->packet, &b->packet) : 0;

	return packets ? packets < 0 : a->order < b->order;
}

static void push(struct tellings *all, const struct telling *t)
{
	all->heap = hd_grow(all->heap, &all->cap, all->n + 1, sizeof(*all->heap));
	size_t i = all->n++;

	for (; i > 0 && is_before(t, &all->heap[(i - 1) / 2]); i = (i - 1) / 2)
		all->heap[i] = all->heap[(i - 1) / 2];
	all->heap[i] = *t;
}

static void pop(struct tellings *all)
{
	const struct telling *last = &all->heap[--all->n];
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

/* A run that is one need not wait for others. */
static void note(struct sim *s, hd_time at, uint32_t port, unsigned kind, struct telling *t)
{
	if (!s->cut && s->now > 0 && s->tell.queue.n > 0)
		tell_until(s, s->now - 1);
	t->at = at;
	t->place = (uint64_t)port << 32 | kind;
	t->order = s->tell.queue.order++;
	push(&s->tell.queue, t);
}

void tell_ended(struct sim *s, const struct packet *p, const struct ending *e)
{
	struct telling t;

	packet_describe(s, p, &t.packet);
	if (s->tell.ended)
		note(s, e->time, e->where, TELLS_ENDED + e->fate, &t);
	if (s->tell.delivered && e->fate == SIM_DELIVERED)
		note(s, e->time, e->where, TELLS_DELIVERED, &t);
}

void tell_updated(struct sim *s, uint32_t port, const struct sim_update *u)
{
	struct telling t = { .update = *u };

	note(s, s->now, port, TELLS_UPDATED, &t);
}

void tell_granted(struct sim *s, uint32_t port, const struct packet *p, bool lost)
{
	struct telling t;

	packet_describe(s, p, &t.packet);
	t.packet.corrupt = p->flags & P_CORRUPT;
	t.packet.lost = lost;
	note(s, s->now, port, TELLS_GRANTED, &t);
}

void telling_add(struct sim *part, const struct telling *t)
{
	push(&part->tell.queue, t);
}

bool telling_is_sound(const struct sim *part, const struct telling *t)
{
	uint32_t port = (uint32_t)(t->place >> 32), kind = (uint32_t)t->place;

	if (port >= part->setup->n_ports || kind > TELLS_GRANTED)
		return false;
	if (kind == TELLS_UPDATED)
		return t->update.vl <= VL_MANAGEMENT;
	return t->packet.vl <= VL_MANAGEMENT && t->packet.sl < N_SLS &&
	       (t->packet.flow < part->n_flows || t->packet.flow == NONE) &&
	       (t->packet.source < part->setup->n_nodes || t->packet.source == NONE);
}

/* ---- told ---------------------------------------------------------------- */

static void tell_end(const struct sim_observer *o, const struct telling *t, uint32_t port,
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

static void tell_one(const struct sim *s, const struct sim_observer *o, const struct telling *t)
{
	uint32_t port = (uint32_t)(t->place >> 32), kind = (uint32_t)t->place;

	if (kind < TELLS_DELIVERED && o->ended)
		tell_end(o, t, port, (enum sim_fate)kind);
	else if (kind == TELLS_DELIVERED && o->delivered)
		o->delivered(o->context, t->at, s->setup->ports[port].node, &t->packet);
	else if (kind == TELLS_UPDATED && o->updated)
		o->updated(o->context, t->at, port, &t->update);
	else if (kind == TELLS_GRANTED && o->granted)
		o->granted(o->context, t->at, port, &t->packet);
}

/* Who has the earliest of all. */
static struct tellings *earliest(struct sim *s)
{
	struct tellings *best = &s->tell.queue;

	for (uint32_t i = 0; s->parts && i < s->parts->cut.n; i++) {
		struct tellings *t = &s->parts->part[i]->tell.queue;

		if (t->n && (!best->n || is_before(t->heap, best->heap)))
			best = t;
	}
	return best->n ? best : NULL;
}

void tell_until(struct sim *s, hd_time until)
{
	struct tellings *from;

	while (s->tell.n_observers && (from = earliest(s)) && from->heap->at <= until) {
		const struct telling t = *from->heap;

		pop(from);
		for (uint32_t i = 0; i < s->tell.n_observers && is_first_rank(s); i++)
			tell_one(s, &s->tell.observers[i], &t);
	}
}

void tellings_fini(struct sim *s)
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

void told_pack(struct pack *p, struct sim_packet *x)
{
	/* An endpoint's cookie is nobody else's to read. */
	if (x->flow == SIM_NONE)
		x->cookie = 0;
	PACK_STRUCT(p, packet_members, x);
}

static int telling_order(const void *x, const void *y)
{
	const struct telling *a = x, *b = y;

	return is_before(a, b) ? -1 : is_before(b, a);
}

/* What is still to be told, in order; the caller frees it. Two of one place
 * are of one part. */
static struct telling *tellings_gather(const struct saved *v, size_t *n)
{
	struct telling *all;

	*n = 0;
	for (uint32_t i = 0; i < sim_n_parts(v->s); i++)
		*n += sim_part(v->s, i)->tell.queue.n;
	all = hd_alloc(*n, sizeof(*all));
	*n = 0;
	for (uint32_t i = 0; i < sim_n_parts(v->s); i++) {
		const struct tellings *t = &sim_part(v->s, i)->tell.queue;

		for (size_t k = 0; k < t->n; k++)
			all[(*n)++] = t->heap[k];
	}
	if (*n)
		qsort(all, *n, sizeof(*all), telling_order);
	return all;
}

/* Only ends are known ahead of their time. */
static void pack_telling(struct saved *v, struct telling *t)
{
	uint32_t port = (uint32_t)(t->place >> 32), kind = (uint32_t)t->place;

	pack_u64(v->p, &t->at);
	pack_u32(v->p, &port);
	pack_u32(v->p, &kind);
	told_pack(v->p, &t->packet);
	if (!v->p->reads || !pack_check(v->p, kind <= TELLS_DELIVERED && t->at > v->s->now &&
						      port < v->s->setup->n_ports))
		return;
	struct sim *owner = sim_of_port(v->s, port);

	t->place = (uint64_t)port << 32 | kind;
	t->order = owner->tell.queue.order++;
	/* Of several processes, the first one tells. */
	if (is_first_rank(v->s))
		push(&owner->tell.queue, t);
}

void saved_tellings(struct saved *v)
{
	size_t n = 0;

	if (!saved_has_sums(v))
		return;
	struct telling *all = v->p->reads ? NULL : tellings_gather(v, &n);

	n = pack_count(v->p, n);
	for (size_t i = 0; i < n && !v->p->refused; i++) {
		struct telling t = { 0 };

		if (all)
			t = all[i];
		pack_telling(v, &t);
	}
	free(all);
}
