/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_STATISTICAL_H
#define HD_QOS_ADMISSION_STATISTICAL_H

/*
 * Statistical admission (thesis, 3.2): for services that bear a rare
 * violation, more sources fit a link than their peaks add up to.
 *
 * Sources are independent and on or off: at `peak` a share mean/peak of the
 * time, else silent. The chance that together they want more than the link
 * has is bounded by Chernoff's inequality,
 *
 *	P(demand > C) <= min over t of exp(sum ln E[exp(t rate)] - t C),
 *
 * so that what is admitted violates at most as often as was allowed, whatever
 * the mix of sources.
 */

#include <stdint.h>

struct stat_class {
	double peak, mean; /* the same unit as the capacity; mean <= peak */
	uint32_t n;
};

/* Bound on P(demand > capacity); 0 if the sum of peaks fits, 1 if the sum of means does not. */
double stat_overflow(const struct stat_class *classes, unsigned n_classes, double capacity);

#endif
