/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_EVENTQ_H
#define HD_BASE_EVENTQ_H

/*
 * Event queue: pending events, ordered by time and, at the same time, by key.
 *
 * The owner chooses the key so that its order is the model's order (phase first,
 * then ids). The order of events does not depend on the order of scheduling, so
 * a run depends on its inputs only. Events are 16 bytes and stored by value. No
 * event may be scheduled before the time of the last popped event. There is no
 * cancellation: the owner ignores events that became obsolete.
 *
 * There are several tiers, because most events are near and a few are far:
 *
 *	near    sorted array of the next few events; popping is an index
 *	rest    sorted remainder of a slot with more events than `near` holds
 *	late    heap of events scheduled before the end of `rest` or of the
 *		slots in progress, and after `near`
 *	wheel   slots of 2^shift ps, unsorted lists under a bitmap, in two
 *		halves: the one being consumed and the next one
 *	far     all later events, in lists by the highest bit in which their
 *		half differs from the wheel's last half (a radix heap: each
 *		event moves down a few times at most)
 *
 * The width and number of the slots adapt to the density of events; they do not
 * affect the order of events.
 */

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/units.h"

struct event {
	hd_time when;
	uint64_t key;
};

#define EVENTQ_AHEAD 16 /* target number of near events per refill */

#define EVENTQ_NONE UINT32_MAX

/* An event in a list. Freed nodes are reused in LIFO order, so that few nodes
 * are in use and stay in the cache. */
struct eventq_node {
	struct event e;
	uint32_t next;
};

struct eventq {
	/*
	 * near[at .. end) is sorted, of bounded length, and before `rest` and
	 * `late`. Together the three contain all events up to slot `last`. The
	 * cost of an event is therefore at most logarithmic in the number of
	 * events in its slot.
	 */
	struct event *near;
	uint32_t at, end;
	size_t near_cap;
	uint64_t last;
	struct event *rest; /* [rest_at .. rest_end) is sorted */
	uint32_t rest_at, rest_end;
	size_t rest_cap;
	struct event *late; /* a 4-ary heap */
	uint32_t n_late;
	size_t late_cap;
	hd_time now;   /* time of the last popped event */
	uint64_t pops; /* number of events popped by eventq_pop */

	/* The wheel contains slots last + 1 .. wheel_end - 1; the latter is the
	 * end of half `frontier`. */
	unsigned shift, slots_log2;
	uint64_t slot_mask; /* mask of a slot number; gives its index in heads */
	uint64_t wheel_end;
	uint32_t *heads;
	uint64_t *bits, *summary;
	size_t n_wheel;

	uint64_t frontier;
	uint32_t far[64];
	uint64_t far_mask; /* bit set of non-empty lists */
	size_t n_far;

	struct eventq_node *nodes;
	uint32_t free_node, n_nodes;
	size_t nodes_cap;

	/* Statistics for adapting the slot width. */
	uint64_t taken, far_pushes; /* since the last adaptation */
	uint64_t tune_at;           /* next adaptation, in events taken */
	hd_time tuned_when;
};

void eventq_init(struct eventq *q);
void eventq_fini(struct eventq *q);

/* Number of pending events. */
static inline size_t eventq_count(const struct eventq *q)
{
	return (size_t)(q->end - q->at) + (q->rest_end - q->rest_at) + q->n_late + q->n_wheel +
	       q->n_far;
}

/* Slow path of eventq_push. */
void eventq_push_apart(struct eventq *q, hd_time when, uint64_t key);

/*
 * `when` must not be before q->now. Release builds check it only in
 * eventq_push_apart, where the check is cheap. They miss a violation only if
 * the event's slot is after `last`, which requires that the owner set q->now
 * without a pop.
 */
static inline void eventq_push(struct eventq *q, hd_time when, uint64_t key)
{
	uint64_t number = when >> q->shift;

	assert(when >= q->now);
	if (__builtin_expect(number > q->last && number < q->wheel_end, 1)) {
		uint64_t i = number & q->slot_mask;
		uint32_t id = q->free_node;

		if (__builtin_expect(id != EVENTQ_NONE, 1)) {
			struct eventq_node *node = &q->nodes[id];
			uint32_t head = q->heads[i];

			q->free_node = node->next;
			node->e.when = when;
			node->e.key = key;
			node->next = head;
			q->heads[i] = id;
			q->n_wheel++;
			/* The bit may be set already; a branch would cost more than the write. */
			q->bits[i / 64] |= (uint64_t)1 << (i % 64);
			q->summary[i / 4096] |= (uint64_t)1 << (i / 64 % 64);
			return;
		}
	}
	eventq_push_apart(q, when, key);
}

/* For eventq_pop: makes near[] non-empty; false if no event is pending. */
bool eventq_refill(struct eventq *q);

/* Removes the earliest event and stores it in `out`; false if no event is pending. */
static inline bool eventq_pop(struct eventq *q, struct event *out)
{
	if (q->end - q->at <= EVENTQ_AHEAD && !eventq_refill(q))
		return false;
	*out = q->near[q->at++];
	q->now = out->when;
	q->pops++;
	return true;
}

/* Copies all pending events, in any order; `out` has room for eventq_count. */
void eventq_list(const struct eventq *q, struct event *out);

/* The earliest event, or NULL. */
static inline const struct event *eventq_first(struct eventq *q)
{
	if (q->at == q->end && !eventq_refill(q))
		return NULL;
	return &q->near[q->at];
}

/*
 * An estimate of the event `k` positions after the next pop (0 = the next), for
 * prefetching its data; NULL if unknown.
 */
static inline const struct event *eventq_ahead(const struct eventq *q, unsigned k)
{
	return q->at + k < q->end ? &q->near[q->at + k] : NULL;
}

#endif
