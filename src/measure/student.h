/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MEASURE_STUDENT_H
#define HD_MEASURE_STUDENT_H

/* Student's t distribution, to about 12 digits at any degree of freedom. */

/* P(T <= t) with `freedom` > 0 degrees of freedom. */
double student_cdf(double t, double freedom);
/* The t with P(T <= t) = p, 0 < p < 1. */
double student_quantile(double p, double freedom);

#endif
