/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MEASURE_REDUCTION_H
#define HD_MEASURE_REDUCTION_H

/*
 * Reduces the numbers of several rows in a column to one number. NAN is the
 * number of a row without a value.
 */

#include <stddef.h>

enum reduction {
	REDUCE_ONE, /* the only row; the caller refuses several */
	REDUCE_MEAN,
	REDUCE_LEAST, /* LEAST and MOST ignore rows without a value */
	REDUCE_MOST,
	REDUCE_SUM,
	REDUCE_COUNT, /* number of rows */
	REDUCE_FIRST,
	REDUCE_LAST,
	REDUCE_SLOWEST, /* the largest; NAN if a row has no value */
	REDUCE_MISSING, /* number of rows without a value */
};

/* NAN without rows, except for sums and counts. */
double measure_reduce(enum reduction how, const double *x, size_t n);

#endif
