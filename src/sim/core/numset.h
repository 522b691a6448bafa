/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CORE_NUMSET_H
#define HD_SIM_CORE_NUMSET_H

/*
 * Sets of small numbers for round robin. The caller owns the words; number i is bit i % 64 of
 * word i / 64.
 */

#include <stdbool.h>
#include <stdint.h>

#define NUMSET_NONE UINT32_MAX

static inline void numset_add(uint64_t *set, uint32_t i)
{
	set[i / 64] |= (uint64_t)1 << (i % 64);
}

static inline void numset_remove(uint64_t *set, uint32_t i)
{
	set[i / 64] &= ~((uint64_t)1 << (i % 64));
}

static inline bool numset_is_empty(const uint64_t *set, uint32_t words)
{
	for (uint32_t w = 0; w < words; w++) {
		if (set[w])
			return false;
	}
	return true;
}

/*
 * The first member after i in cyclic order, where i itself is the last candidate; or
 * NUMSET_NONE.
 */
static inline uint32_t numset_after(const uint64_t *set, uint32_t words, uint32_t i)
{
	uint32_t w = i / 64;
	uint64_t bits = set[w] >> (i % 64) >> 1;

	if (bits)
		return i + 1 + (uint32_t)__builtin_ctzll(bits);
	for (uint32_t k = 0; k < words; k++) {
		w = w + 1 < words ? w + 1 : 0;
		if (set[w])
			return 64 * w + (uint32_t)__builtin_ctzll(set[w]);
	}
	return NUMSET_NONE;
}

#endif
