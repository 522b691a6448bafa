/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CORE_RING_H
#define HD_SIM_CORE_RING_H

/*
 * Returning credits: to the sender of a link (T5, delay mode), or space of an output buffer to
 * its crossbar output (T9). Entries are sorted by time and added only when the count is needed.
 * Usually the count suffices for any packet without recent returns; `low_credit` of the output
 * marks the VLs for which it may not.
 */

#include <assert.h>

#include "sim/core/sim_internal.h"

#define RING_VL_SHIFT 12
#define RING_BLOCKS   ((1u << RING_VL_SHIFT) - 1)

/* Inserts into a full ring; the earliest entries stay inline. */
void credit_ring_spill(struct sim *s, struct ring *r, hd_time when, uint16_t what);
/* Refills the inline entries from the spill. */
void credit_ring_unspill(struct sim *s, struct ring *r);

/* The credit counters of an output. */
struct credits {
	struct sim_output *output;
	struct ring *ring;
	uint16_t *of_vl;
};

static inline struct credits credits_of_link(struct sim *s, uint32_t port)
{
	return (struct credits){ &s->links[port], &s->rings[port], &s->credits[port * s->n_vls] };
}

static inline struct credits credits_of_outlet(struct sim *s, uint32_t port)
{
	return (struct credits){ &s->outlets[port], &s->outlet_rings[port],
				 &s->outlet_credits[port * s->n_vls] };
}

static inline void credits_set(const struct sim *s, struct credits r, unsigned vl, uint32_t blocks)
{
	uint32_t bit = 1u << vl;

	/* cppcheck-suppress unreadVariable; r is a copy, its VLs are not */
	r.of_vl[index_of_vl(s, vl)] = (uint16_t)blocks;
	if (blocks < s->max_blk)
		r.output->low_credit |= (uint16_t)bit;
	else
		r.output->low_credit &= (uint16_t)~bit;
}

static inline uint16_t credit_ring_what(uint32_t blocks, unsigned vl)
{
	return (uint16_t)(blocks | vl << RING_VL_SHIFT);
}

/* Removes the first n >= 1 entries. Returns true if the next entry may be due, too. */
static inline bool ring_drop(struct sim *s, struct ring *r, unsigned n)
{
	unsigned rest = r->n - n;

	for (unsigned i = 0; i < rest; i++) {
		r->when[i] = r->when[n + i];
		r->what[i] = r->what[n + i];
	}
	r->n = (uint8_t)rest;
	if (likely(r->spill == NONE))
		return false;
	credit_ring_unspill(s, r);
	return rest == 0;
}

/* Adds all credits due by `now`. Does not access the output. */
static inline void credit_ring_apply(struct sim *s, struct credits credits, hd_time now)
{
	const struct ring *r = credits.ring;
	unsigned n;

	do {
		for (n = 0; n < r->n && r->when[n] <= now; n++) {
			unsigned vl = r->what[n] >> RING_VL_SHIFT;
			uint16_t *port_vl = &credits.of_vl[index_of_vl(s, vl)];

			*port_vl = (uint16_t)(*port_vl + (r->what[n] & RING_BLOCKS));
		}
	} while (n > 0 && ring_drop(s, credits.ring, n));
}

/* Adds an entry. If the ring is full, entries that are due should have been applied before. */
HOT void ring_insert(struct sim *s, struct ring *r, hd_time when, uint16_t what)
{
	unsigned i = r->n;

	if (unlikely(i == RING_INLINE || r->spill != NONE)) {
		credit_ring_spill(s, r, when, what);
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

HOT void credit_ring_push(struct sim *s, struct credits credits, hd_time when, uint16_t what)
{
	if (unlikely(credits.ring->n == RING_INLINE))
		credit_ring_apply(s, credits, s->now);
	ring_insert(s, credits.ring, when, what);
}

/* Time of the first credits for one of these VLs; NEVER if none are returning. */
hd_time credit_ring_next_spilled(const struct sim *s, const struct ring *r, uint32_t vls);

static inline hd_time credit_ring_next(const struct sim *s, const struct ring *r, uint32_t vls)
{
	for (unsigned i = 0; i < r->n; i++) {
		if (vls >> (r->what[i] >> RING_VL_SHIFT) & 1)
			return r->when[i];
	}
	return likely(r->spill == NONE) ? NEVER : credit_ring_next_spilled(s, r, vls);
}

#endif
