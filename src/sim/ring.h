/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_RING_H
#define HD_SIM_RING_H

/*
 * Room on its way back: credits to a link's sender (T5, delay mode), space of
 * an output buffer to its crossbar output (T9). Sorted by time; applied when
 * somebody looks.
 */

#include <assert.h>

#include "sim/state.h"

/* For a full ring; keeps the earliest ones inline. */
void ring_spill(struct sim *s, struct ring *r, hd_time when, uint32_t what);
/* After the inline ones were taken. */
void ring_unspill(struct sim *s, struct ring *r);

static inline void ring_push(struct sim *s, struct ring *r, hd_time when,
			     uint32_t what)
{
	unsigned i = r->n;

	if (unlikely(i == RING_INLINE || r->spill != NONE)) {
		ring_spill(s, r, when, what);
		return;
	}
	for (; i > 0 && r->when[i - 1] > when; i--) {
		r->when[i] = r->when[i - 1];
		r->what[i] = r->what[i - 1];
	}
	r->when[i] = when;
	r->what[i] = what;
	r->n++;
}

/* Adds what has come back by now to the lanes' room. */
static inline void ring_apply(struct sim *s, struct ring *r, struct lane *lanes,
			      hd_time now)
{
	while (r->n > 0 && r->when[0] <= now) {
		struct lane *lane = &lanes[lane_of(s, r->what[0] >> 16)];

		lane->room = (uint16_t)(lane->room + (r->what[0] & 0xffff));
		r->n--;
		/* All of it, whatever n is: shorter than a loop. */
		r->when[0] = r->when[1];
		r->when[1] = r->when[2];
		r->what[0] = r->what[1];
		r->what[1] = r->what[2];
		if (unlikely(r->spill != NONE))
			ring_unspill(s, r);
	}
}

/* When room of one of these VLs comes back first; NEVER if none is coming. */
hd_time ring_next_spilled(const struct sim *s, const struct ring *r,
			  uint32_t vls);

static inline hd_time ring_next(const struct sim *s, const struct ring *r,
				uint32_t vls)
{
	for (unsigned i = 0; i < r->n; i++) {
		if (vls >> (r->what[i] >> 16) & 1)
			return r->when[i];
	}
	return likely(r->spill == NONE) ? NEVER : ring_next_spilled(s, r, vls);
}

#endif
