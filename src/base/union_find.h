/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_UNION_FIND_H
#define HD_BASE_UNION_FIND_H

/*
 * Disjoint sets of small numbers (union-find): of[i] is a member of the set of
 * i that is closer to the set's lowest number, or i itself if i is the lowest.
 */

#include <stdint.h>

#include "base/alloc.h"

/* `n` sets of one number each; to be freed. */
static inline uint32_t *union_find_new(uint32_t n)
{
	uint32_t *of = hd_alloc(n, sizeof(*of));

	for (uint32_t i = 0; i < n; i++)
		of[i] = i;
	return of;
}

/* The lowest number of the set of `i`; independent of the order of joins. */
static inline uint32_t union_find_root(uint32_t *of, uint32_t i)
{
	while (of[i] != i) {
		of[i] = of[of[i]];
		i = of[i];
	}
	return i;
}

static inline void union_find_join(uint32_t *of, uint32_t a, uint32_t b)
{
	a = union_find_root(of, a);
	b = union_find_root(of, b);
	if (a < b)
		of[b] = a;
	else
		of[a] = b;
}

#endif
