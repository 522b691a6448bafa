/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MEASURE_MINIMISE_H
#define HD_MEASURE_MINIMISE_H

/*
 * Minimises a function without derivatives, such as the error of a simulation,
 * by Nelder and Mead's simplex. The search restarts at its result until a
 * restart brings no improvement, because a simplex can collapse too early. The
 * result is a local minimum near the starting point; callers start at several
 * points to find others. The same arguments give the same result.
 */

#include <stddef.h>

#define MINIMISE_MOST 16 /* dimensions */

typedef double minimise_fn(void *context, const double *x);

struct minimise_options {
	double step;      /* of the first simplex, in every dimension */
	double tolerance; /* of x; and, relatively, of the value */
	size_t calls;     /* maximum number of calls */
};

/* Replaces `x`, of n numbers, by the best point found; returns its value. */
double measure_minimise(minimise_fn *f, void *context, size_t n, const struct minimise_options *o,
			double *x);

#endif
