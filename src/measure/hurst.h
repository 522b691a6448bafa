/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MEASURE_HURST_H
#define HD_MEASURE_HURST_H

/*
 * Hurst exponent H of a self-similar series, from variances over time scales.
 *
 * If a self-similar series is divided into blocks of m values, the variance of
 * block means decreases as m^(2H - 2): as 1/m for independent values (H = 0.5),
 * more slowly for longer memory. The variance is taken between neighbouring
 * blocks (Allan's), which, unlike the variance about the overall mean, is not
 * biased by long memory. H is the slope over m = first, 2 first, 4 first, ...
 * in logarithms, with each scale weighted by its number of blocks.
 */

#include <stddef.h>

#define HURST_MIN_BLOCKS 32 /* at the largest scale */
#define HURST_MIN_SCALES 4

struct hurst {
	double h;
	double error;       /* of h, approximately one standard deviation */
	unsigned n_scales;  /* used for the slope; 0: series too short */
	size_t first, last; /* smallest and largest m */
};

/*
 * Uses blocks of at least `first` values; at smaller scales the series need not
 * be self-similar. h is NaN if there are fewer than HURST_MIN_SCALES scales, or
 * no variation.
 */
void hurst_estimate(const double *values, size_t n, size_t first, struct hurst *out);

#endif
