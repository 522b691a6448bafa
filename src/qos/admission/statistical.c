/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/statistical.h"

#include <assert.h>
#include <math.h>

/* ln E[exp(t rate)] of one source, without overflow for large t. */
static double log_moment(const struct stat_class *c, double t)
{
	double on = c->mean / c->peak;
	double x = t * c->peak;

	if (on >= 1)
		return x;
	return x > 30 ? x + log(on) + log1p((1 - on) / on * exp(-x)) : log1p(on * expm1(x));
}

static double exponent(const struct stat_class *classes, unsigned n, double capacity, double t)
{
	double sum = -t * capacity;

	for (unsigned i = 0; i < n; i++)
		sum += classes[i].n * log_moment(&classes[i], t);
	return sum;
}

double stat_overflow(const struct stat_class *classes, unsigned n_classes, double capacity)
{
	double peaks = 0, means = 0;

	for (unsigned i = 0; i < n_classes; i++) {
		assert(classes[i].peak > 0 && classes[i].mean > 0);
		assert(classes[i].mean <= classes[i].peak);
		peaks += classes[i].n * classes[i].peak;
		means += classes[i].n * classes[i].mean;
	}
	if (peaks <= capacity)
		return 0;
	if (means >= capacity)
		return 1;
	/* Convex in t and decreasing at 0: ternary search for the minimum. */
	double low = 0, high = 1 / capacity;

	while (exponent(classes, n_classes, capacity, 2 * high) <
	       exponent(classes, n_classes, capacity, high))
		high *= 2;
	high *= 2;
	for (int i = 0; i < 100; i++) {
		double a = low + (high - low) / 3, b = high - (high - low) / 3;

		if (exponent(classes, n_classes, capacity, a) <
		    exponent(classes, n_classes, capacity, b))
			high = b;
		else
			low = a;
	}
	return fmin(1, exp(exponent(classes, n_classes, capacity, low)));
}
