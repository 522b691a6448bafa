/* SPDX-License-Identifier: BSD-2-Clause */
#include "measure/reduction.h"

#include <math.h>

double measure_reduce(enum reduction how, const double *x, size_t n)
{
	double sum = 0, least = NAN, most = NAN;
	size_t missing = 0;

	for (size_t i = 0; i < n; i++) {
		sum += x[i];
		least = fmin(least, x[i]);
		most = fmax(most, x[i]);
		missing += isnan(x[i]) ? 1 : 0;
	}
	switch (how) {
	case REDUCE_MEAN:
		return sum / (double)n;
	case REDUCE_LEAST:
		return least;
	case REDUCE_MOST:
		return most;
	case REDUCE_SUM:
		return sum;
	case REDUCE_COUNT:
		return (double)n;
	case REDUCE_LAST:
		return n ? x[n - 1] : NAN;
	case REDUCE_SLOWEST:
		return missing ? NAN : most;
	case REDUCE_MISSING:
		return (double)missing;
	case REDUCE_ONE:
	case REDUCE_FIRST:
		break;
	}
	return n ? x[0] : NAN;
}
