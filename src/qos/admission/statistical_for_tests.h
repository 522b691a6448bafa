/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_STATISTICAL_FOR_TESTS_H
#define HD_QOS_ADMISSION_STATISTICAL_FOR_TESTS_H

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "qos/admission/statistical.h"

/*
 * How many sources of one class fit in addition to the others with at most `allowed`
 * violations. 0 < allowed < 1; allowed 0 asks for peaks.
 */
static inline uint32_t stat_most(const struct stat_class *others, unsigned n_others,
				 const struct stat_class *asked, double capacity, double allowed)
{
	struct stat_class *all = hd_alloc(n_others + 1, sizeof(*all));
	uint32_t low = 0, high = (uint32_t)fmin(capacity / asked->mean, 1e9);

	for (unsigned i = 0; i < n_others; i++)
		all[i] = others[i];
	all[n_others] = *asked;
	/* The bound rises with the number, so halving finds the last. */
	while (low < high) {
		uint32_t middle = low + (high - low + 1) / 2;

		all[n_others].n = middle;
		if (stat_overflow(all, n_others + 1, capacity) <= allowed)
			low = middle;
		else
			high = middle - 1;
	}
	free(all);
	return low;
}

#endif
