/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MEASURE_HURST_H
#define HD_MEASURE_HURST_H

/*
 * How self-similar a series is: its Hurst exponent H, from variances over
 * time scales.
 *
 * Cut into blocks of m values, a self-similar series has block means whose
 * variance falls as m^(2H - 2): as 1/m for independent values (H = 0.5), more
 * slowly the longer the memory. The variance is taken between neighbouring
 * blocks (Allan's), which, unlike the variance about the overall mean, is not
 * biased by long memory; H is the slope over m = first, 2 first, 4 first, ...
 * in logarithms, each scale weighted by the number of its blocks.
 */

#include <stddef.h>

#define HURST_MIN_BLOCKS 32 /* at the largest scale */
#define HURST_MIN_SCALES 4

struct hurst {
	double h;
	double error;       /* of h, one standard deviation, about */
	unsigned n_scales;  /* that the slope rests on; 0: too short */
	size_t first, last; /* smallest and largest m */
};

/*
 * Looks at blocks from `first` values on: scales below are those at which the
 * series is not yet self-similar. h is NaN if there are fewer than
 * HURST_MIN_SCALES scales, or nothing varies.
 */
void hurst_estimate(const double *values, size_t n, size_t first, struct hurst *out);

#endif
