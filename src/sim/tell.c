/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/tell.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "sim/parts.h"

/* ---- noted: the earliest on top of a heap -------------------------------- */

static bool is_before(const struct telling *a, const struct telling *b)
{
	if (a->at != b->at)
		return a->at < b->at;
	return a->place != b->place ? a->place < b->place : a->order < b->order;
}

static void push(struct tellings *all, const struct telling *t)
{
	all->heap =
		hd_grow(all->heap, &all->cap, all->n + 1, sizeof(*all->heap));
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

		if (child + 1 < all->n &&
		    is_before(&all->heap[child + 1], &all->heap[child]))
			child++;
		if (child >= all->n || is_before(last, &all->heap[child]))
			break;
		all->heap[i] = all->heap[child];
		i = child;
	}
	all->heap[i] = *last;
}

/* A run that is one need not wait for others. */
static void note(struct sim *s, hd_time at, uint32_t port, unsigned kind,
		 struct telling *t)
{
	if (!s->cut && s->now > 0 && s->tellings.n > 0)
		tell_until(s, s->now - 1);
	t->at = at;
	t->place = (uint64_t)port << 32 | kind;
	t->order = s->tellings.order++;
	push(&s->tellings, t);
}

void tell_ended(struct sim *s, const struct packet *p, const struct ending *e)
{
	struct telling t;

	packet_describe(s, p, &t.packet);
	if (s->tells_ended)
		note(s, e->time, e->where, TELLS_ENDED + e->fate, &t);
	if (s->tells_delivered && e->fate == SIM_DELIVERED)
		note(s, e->time, e->where, TELLS_DELIVERED, &t);
}

void tell_updated(struct sim *s, uint32_t port, const struct sim_update *u)
{
	struct telling t = { .update = *u };

	note(s, s->now, port, TELLS_UPDATED, &t);
}

void tell_granted(struct sim *s, uint32_t port, const struct packet *p,
		  bool lost)
{
	struct telling t;

	packet_describe(s, p, &t.packet);
	t.packet.corrupt = p->flags & P_CORRUPT;
	t.packet.lost = lost;
	note(s, s->now, port, TELLS_GRANTED, &t);
}

/* ---- told ---------------------------------------------------------------- */

static void tell_end(const struct sim_observer *o, const struct telling *t,
		     uint32_t port, enum sim_fate fate)
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

static void tell_one(const struct sim *s, const struct sim_observer *o,
		     const struct telling *t)
{
	uint32_t port = (uint32_t)(t->place >> 32), kind = (uint32_t)t->place;

	if (kind < TELLS_DELIVERED && o->ended)
		tell_end(o, t, port, (enum sim_fate)kind);
	else if (kind == TELLS_DELIVERED && o->delivered)
		o->delivered(o->context, t->at, s->setup->ports[port].node,
			     &t->packet);
	else if (kind == TELLS_UPDATED && o->updated)
		o->updated(o->context, t->at, port, &t->update);
	else if (kind == TELLS_GRANTED && o->granted)
		o->granted(o->context, t->at, port, &t->packet);
}

/* Who has the earliest of all. */
static struct tellings *earliest(struct sim *s)
{
	struct tellings *best = &s->tellings;

	for (uint32_t i = 0; s->parts && i < s->parts->cut.n; i++) {
		struct tellings *t = &s->parts->part[i]->tellings;

		if (t->n && (!best->n || is_before(t->heap, best->heap)))
			best = t;
	}
	return best->n ? best : NULL;
}

void tell_until(struct sim *s, hd_time until)
{
	struct tellings *from;

	while (s->n_observers && (from = earliest(s)) &&
	       from->heap->at <= until) {
		const struct telling t = *from->heap;

		pop(from);
		for (uint32_t i = 0; i < s->n_observers; i++)
			tell_one(s, &s->observers[i], &t);
	}
}

void tellings_fini(struct sim *s)
{
	free(s->tellings.heap);
}
