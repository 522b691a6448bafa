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
 * Three tiers, because most events are near and a few are far:
 *
 *	near    sorted array of the next few; popping is an index
 *	wheel   slots of 2^shift ps, unsorted lists under a bitmap, in two
 *		halves: the one being consumed and the one after it
 *	far     everything later, in lists by the highest bit in which its half
 *		differs from the wheel's last one (a radix heap: each event
 *moves down a few times at most)
 *
 * The slots' width and number follow the density of events; the order of
 * events cannot.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/units.h"

struct event {
	hd_time when;
	uint64_t key;
};

#define EVENTQ_AHEAD 8 /* how many near events a refill tries to keep */

struct eventq_node; /* an event in a list */

struct eventq {
	/* near[at .. end) is sorted and is all up to slot `last`. */
	struct event *near;
	uint32_t at, end;
	size_t near_cap;
	uint64_t last;
	hd_time now; /* of the event popped last */

	/* The wheel holds slots last + 1 .. the end of half `frontier`. */
	unsigned shift, slots_log2;
	uint32_t *heads;
	uint64_t *bits, *summary;
	uint32_t n_wheel;

	uint64_t frontier;
	uint32_t far[64];
	uint64_t far_mask; /* which lists are not empty */

	struct eventq_node *nodes;
	uint32_t free_node, n_nodes;
	size_t nodes_cap;

	size_t n; /* pending events, all tiers */

	/* What the width follows. */
	uint64_t pops, far_pushes;
	uint64_t tune_at; /* next look, in pops */
	hd_time tuned_when;
};

void eventq_init(struct eventq *q);
void eventq_fini(struct eventq *q);

/* `when` must not be before q->now. */
void eventq_push(struct eventq *q, hd_time when, uint64_t key);

/* For eventq_pop: makes near[] non-empty; false when nothing is pending. */
bool eventq_refill(struct eventq *q);

/* Removes the earliest event into `out`; false when nothing is pending. */
static inline bool eventq_pop(struct eventq *q, struct event *out)
{
	if (q->end - q->at <= EVENTQ_AHEAD && !eventq_refill(q))
		return false;
	*out = q->near[q->at++];
	q->now = out->when;
	q->n--;
	q->pops++;
	return true;
}

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
static inline const struct event *eventq_ahead(const struct eventq *q,
					       unsigned k)
{
	return q->at + k < q->end ? &q->near[q->at + k] : NULL;
}

#endif
