/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_COMPARE_H
#define HD_BASE_COMPARE_H

/* Comparison functions for qsort and bsearch on numbers, in ascending order. */

#include <stdint.h>

static inline int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static inline int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

#endif
