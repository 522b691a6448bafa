/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_TABLES_ARBITER_H
#define HD_QOS_TABLES_ARBITER_H

/*
 * The VL arbiter of one link (T10, T11): selects one of the data VLs that have a candidate.
 *
 * A table is compiled once and shared by all ports that use it; the state is in struct arbiter, 8
 * bytes per port. Finding the next usable entry takes a few bit operations: each VL has a 64-bit
 * mask of its positions.
 */

#include <stdbool.h>
#include <stdint.h>

#include "subnet/subnet.h"

struct arbiter_list {
	uint64_t places[16]; /* per VL: entries with a weight above 0 */
	uint64_t sets[16];   /* per set of the VLs 0 to 3: union of their `places` */
	uint8_t vl[VLARB_MAX];
	uint8_t weight[VLARB_MAX];
};

enum arbiter_side { ARB_LOW, ARB_HIGH };

struct arbiter_table {
	struct arbiter_list lists[2]; /* by enum arbiter_side */
	uint32_t limit;               /* blocks of High after which it expires, at least 1 */
};

/* In blocks; `high` counts for T11 and saturates. */
struct arbiter {
	int16_t left[2];
	uint16_t high;
	uint8_t at[2];
};

void arbiter_table_init(struct arbiter_table *t, const struct vlarb *from);
void arbiter_init(struct arbiter *a, const struct arbiter_table *t);
/* The table was exchanged: positions stay, what is left is cut to fit. */
void arbiter_adapt(struct arbiter *a, const struct arbiter_table *t);

/* Bit mask of the entries whose VL is one of `vls`. */
static inline uint64_t arbiter_usable(const struct arbiter_list *l, uint32_t vls)
{
	uint64_t usable = l->sets[vls & 15];

	for (vls &= ~15u; vls; vls &= vls - 1)
		usable |= l->places[__builtin_ctz(vls)];
	return usable;
}

/* Returns y if `second`, else x, without a branch, which compilers generate for `? :` here. */
static inline uint64_t arbiter_either(uint64_t x, uint64_t y, bool second)
{
	return x ^ ((x ^ y) & -(uint64_t)second);
}

/*
 * Chooses among the data VLs `vls` (bits, not 0) and moves the arbiter as if
 * that VL's packet were granted; arbiter_charge must follow with its size.
 * Returns 16 if none of them has an entry; then nothing moved.
 *
 * The chosen list, and whether its entry stays current, are unpredictable to the
 * processor: no branch here depends on them.
 */
static inline unsigned arbiter_choose(struct arbiter *a, const struct arbiter_table *t,
				      uint32_t vls, bool *is_high)
{
	uint64_t high = arbiter_usable(&t->lists[ARB_HIGH], vls);
	uint64_t low = arbiter_usable(&t->lists[ARB_LOW], vls);

	if (__builtin_expect(!(high | low), 0))
		return 16;
	bool expired = a->high >= t->limit;
	/* cppcheck-suppress clarifyCondition; no jumps, on purpose */
	bool side = (high != 0) & !(expired & (low != 0));
	const struct arbiter_list *l = &t->lists[side];
	uint64_t usable = arbiter_either(low, high, side);
	unsigned at = a->at[side];
	uint64_t after = usable & ~(((uint64_t)2 << at) - 1);
	unsigned next = (unsigned)__builtin_ctzll(arbiter_either(after, usable, after == 0));
	/* cppcheck-suppress clarifyCondition */
	bool moves = (a->left[side] <= 0) | !(usable >> at & 1);

	/* An expired high list that is served, since the low list is empty, restarts its count. */
	a->high = (uint16_t)arbiter_either(a->high, 0, expired & side);
	a->left[side] = (int16_t)arbiter_either((uint16_t)a->left[side], l->weight[next], moves);
	at = (unsigned)arbiter_either(at, next, moves);
	a->at[side] = (uint8_t)at;
	*is_high = side;
	return l->vl[at];
}

static inline void arbiter_charge(struct arbiter *a, bool is_high, uint32_t blk)
{
	uint32_t sum = a->high + blk;

	a->left[is_high] = (int16_t)(a->left[is_high] - (int32_t)blk);
	sum = sum < UINT16_MAX ? sum : UINT16_MAX;
	a->high = (uint16_t)arbiter_either(0, sum, is_high);
}

#endif
