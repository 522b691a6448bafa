/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_STATISTICAL_H
#define HD_QOS_ADMISSION_STATISTICAL_H

/*
 * Statistical admission (thesis, 3.2): for services that tolerate rare violations, a link can admit
 * sources whose peaks sum to more than its capacity.
 *
 * Sources are independent on-off sources: they send at `peak` for a fraction mean/peak of the
 * time, and are silent otherwise. The probability that their demand exceeds the capacity is
 * bounded by Chernoff's inequality,
 *
 *	P(demand > C) <= min over t of exp(sum ln E[exp(t rate)] - t C),
 *
 * so that admitted sources violate the capacity at most as often as allowed, for any
 * mix of sources.
 */

#include <stdint.h>

struct stat_class {
	double peak, mean; /* the same unit as the capacity; mean <= peak */
	uint32_t n;
};

/* Bound on P(demand > capacity); 0 if the sum of peaks fits, 1 if the sum of means does not. */
double stat_overflow(const struct stat_class *classes, unsigned n_classes, double capacity);

#endif
