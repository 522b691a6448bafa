/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MEASURE_FAIRNESS_H
#define HD_MEASURE_FAIRNESS_H

#include <stddef.h>

/*
 * Jain's index of n shares, none negative: (sum x)^2 / (n * sum x^2), from
 * 1/n (one has all) to 1 (all have the same). NAN if the sum is 0.
 */
double measure_jain_index(const double *shares, size_t n);

#endif
