/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_ARBITER_H
#define HD_SIM_ARBITER_H

/*
 * The VL arbiter of one link (T10, T11): which data VL of those that
 * have a candidate goes next.
 *
 * A table is compiled once and shared by all ports that use it; what moves is
 * in struct arbiter, 10 bytes a port. Finding the next usable entry is a few
 * bit operations: per VL the positions that name it are a 64-bit mask.
 */

#include <stdbool.h>
#include <stdint.h>

#include "subnet/subnet.h"

struct arbiter_list {
	uint64_t places[16]; /* per VL: entries with a weight above 0 */
	uint64_t sets[16];   /* per set of VLs 0 to 3: of any of them */
	uint8_t vl[VLARB_MAX];
	uint8_t weight[VLARB_MAX];
};

struct arbiter_table {
	struct arbiter_list high, low;
	uint32_t limit; /* blocks of High after which it expires */
	bool unlimited; /* limit 255 */
};

/* In blocks; `high` counts for T11 and stops at its own maximum. */
struct arbiter {
	int16_t high_left, low_left;
	uint16_t high;
	uint8_t high_at, low_at;
};

void arbiter_table_init(struct arbiter_table *t, const struct vlarb *from);
bool arbiter_table_equal(const struct arbiter_table *a,
			 const struct arbiter_table *b);
void arbiter_init(struct arbiter *a, const struct arbiter_table *t);
/* The table was exchanged: positions stay, what is left is cut to fit. */
void arbiter_adapt(struct arbiter *a, const struct arbiter_table *t);

/* Entries whose VL is one of `vls`, a bit each. */
static inline uint64_t arbiter_usable(const struct arbiter_list *l,
				      uint32_t vls)
{
	uint64_t usable = l->sets[vls & 15];

	for (vls &= ~15u; vls; vls &= vls - 1)
		usable |= l->places[__builtin_ctz(vls)];
	return usable;
}

/* T10 within one list: moves to the entry that goes; returns its VL. */
static inline unsigned arbiter_step(const struct arbiter_list *l,
				    uint64_t usable, uint8_t *at, int16_t *left)
{
	if (*left <= 0 || !(usable >> *at & 1)) {
		uint64_t after = usable & ~(((uint64_t)2 << *at) - 1);

		*at = (uint8_t)__builtin_ctzll(after ? after : usable);
		*left = l->weight[*at];
	}
	return l->vl[*at];
}

/*
 * Chooses among the data VLs `vls` (bits, not 0) and moves the arbiter as if
 * that VL's packet were granted; arbiter_charge must follow with its size.
 * Returns 16 if none of them has an entry; then nothing moved.
 */
static inline unsigned arbiter_choose(struct arbiter *a,
				      const struct arbiter_table *t,
				      uint32_t vls, bool *is_high)
{
	uint64_t high = arbiter_usable(&t->high, vls);
	uint64_t low = arbiter_usable(&t->low, vls);
	bool expired = !t->unlimited && a->high > 0 && a->high >= t->limit;

	*is_high = high && !(expired && low);
	if (*is_high) {
		if (expired)
			a->high = 0; /* low had nothing: count anew */
		return arbiter_step(&t->high, high, &a->high_at, &a->high_left);
	}
	if (!low)
		return 16;
	return arbiter_step(&t->low, low, &a->low_at, &a->low_left);
}

static inline void arbiter_charge(struct arbiter *a, bool is_high, uint32_t blk)
{
	if (is_high) {
		uint32_t sum = a->high + blk;

		a->high_left = (int16_t)(a->high_left - (int32_t)blk);
		a->high = (uint16_t)(sum < UINT16_MAX ? sum : UINT16_MAX);
	} else {
		a->low_left = (int16_t)(a->low_left - (int32_t)blk);
		a->high = 0;
	}
}

#endif
