/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_EVENTQ_H
#define HD_BASE_EVENTQ_H

/*
 * The future: pending events, ordered by time and, within an instant, by key.
 *
 * The owner lays out the key so that its order is the model's order (phase
 * first, then ids). Nothing depends on the order of scheduling, so a run
 * depends only on its inputs. Events are 16 bytes and kept by value. Nothing
 * may be scheduled before the event that was popped last. There is no cancel:
 * an owner that changes its mind ignores the event when it comes.
 *
 * Tiers, because most events are near and a few are far:
 *
 *	near    sorted array of the next few; popping is an index
 *	rest    what a slot with many events had more than near takes, sorted
 *	late    events that were scheduled before the end of `rest` or of the
 *		slots in progress, beyond near: a heap
 *	wheel   slots of 2^shift ps, unsorted lists under a bitmap, in two
 *		halves: the one being consumed and the one after it
 *	far     everything later, in lists by the highest bit in which its half
 *		differs from the wheel's last one (a radix heap: each event
 *		moves down a few times at most)
 *
 * The slots' width and number follow the density of events; the order of
 * events cannot.
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

#define EVENTQ_AHEAD 16 /* how many near events a refill tries to keep */

#define EVENTQ_NONE UINT32_MAX

/* An event in a list. The node that was freed last is taken first, so that
 * few are in use and those stay in the cache. */
struct eventq_node {
	struct event e;
	uint32_t next;
};

struct eventq {
	/*
	 * near[at .. end) is sorted, of bounded length, and before rest and late;
	 * the three have all events up to slot `last`. So the cost of an event
	 * depends on the logarithm at most of how many share its slot.
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
	hd_time now;   /* of the event popped last */
	uint64_t pops; /* by eventq_pop */

	/* The wheel holds slots last + 1 .. wheel_end - 1, which is the end
	 * of half `frontier`. */
	unsigned shift, slots_log2;
	uint64_t slot_mask; /* of a slot's number, for its place in heads */
	uint64_t wheel_end;
	uint32_t *heads;
	uint64_t *bits, *summary;
	size_t n_wheel;

	uint64_t frontier;
	uint32_t far[64];
	uint64_t far_mask; /* which lists are not empty */
	size_t n_far;

	struct eventq_node *nodes;
	uint32_t free_node, n_nodes;
	size_t nodes_cap;

	/* What the width follows. */
	uint64_t taken, far_pushes; /* since the last look */
	uint64_t tune_at;           /* next look, in events taken */
	hd_time tuned_when;
};

void eventq_init(struct eventq *q);
void eventq_fini(struct eventq *q);

/* Pending events. */
static inline size_t eventq_count(const struct eventq *q)
{
	return (size_t)(q->end - q->at) + (q->rest_end - q->rest_at) + q->n_late + q->n_wheel +
	       q->n_far;
}

/* What eventq_push does when it is not simple. */
void eventq_push_apart(struct eventq *q, hd_time when, uint64_t key);

/*
 * `when` must not be before q->now. Release builds check it too, where it is
 * cheap (eventq_push_apart): they miss an event only if its slot is after
 * `last`, which needs a q->now that the owner has set without a pop.
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
			/* Perhaps set already: cheaper than to guess. */
			q->bits[i / 64] |= (uint64_t)1 << (i % 64);
			q->summary[i / 4096] |= (uint64_t)1 << (i / 64 % 64);
			return;
		}
	}
	eventq_push_apart(q, when, key);
}

/* For eventq_pop: makes near[] non-empty; false when nothing is pending. */
bool eventq_refill(struct eventq *q);

/* Removes the earliest event into `out`; false when nothing is pending. */
static inline bool eventq_pop(struct eventq *q, struct event *out)
{
	if (q->end - q->at <= EVENTQ_AHEAD && !eventq_refill(q))
		return false;
	*out = q->near[q->at++];
	q->now = out->when;
	q->pops++;
	return true;
}

/* Copies all that are pending, in any order; `out` has room for that many. */
void eventq_list(const struct eventq *q, struct event *out);

/* The earliest event, or NULL. */
static inline const struct event *eventq_first(struct eventq *q)
{
	if (q->at == q->end && !eventq_refill(q))
		return NULL;
	return &q->near[q->at];
}

/*
 * A guess at the event that comes `k` after the next pop (0 = the next), for
 * prefetching what it will touch: NULL if unknown.
 */
static inline const struct event *eventq_ahead(const struct eventq *q, unsigned k)
{
	return q->at + k < q->end ? &q->near[q->at + k] : NULL;
}

#endif
