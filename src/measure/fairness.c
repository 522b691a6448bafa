/* SPDX-License-Identifier: BSD-2-Clause */
#include "measure/fairness.h"

#include <assert.h>
#include <math.h>

double measure_jain_index(const double *shares, size_t n)
{
	double largest = 0, sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		assert(shares[i] >= 0);
		largest = shares[i] > largest ? shares[i] : largest;
	}
	if (largest == 0)
		return NAN;
	/* Relative to the largest, the squares neither overflow nor vanish. */
	for (size_t i = 0; i < n; i++) {
		double x = shares[i] / largest;

		sum += x;
		squares += x * x;
	}
	return sum * sum / ((double)n * squares);
}
