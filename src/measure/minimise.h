/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MEASURE_MINIMISE_H
#define HD_MEASURE_MINIMISE_H

/*
 * The least value of a function that has no derivative to be had, such as the
 * error of a simulation: Nelder and Mead's simplex, begun anew where it ended
 * until that gains nothing, since a simplex can collapse before it is there.
 * It finds a minimum near where it begins; whoever fears others begins at
 * several places. The same arguments give the same answer.
 */

#include <stddef.h>

#define MINIMISE_MOST 16 /* dimensions */

typedef double minimise_fn(void *context, const double *x);

struct minimise_options {
	double step;      /* of the first simplex, in every dimension */
	double tolerance; /* of x; and, relatively, of the value */
	size_t calls;     /* at most */
};

/* Goes from `x`, of n numbers, to the best that it found; its value. */
double measure_minimise(minimise_fn *f, void *context, size_t n, const struct minimise_options *o,
			double *x);

#endif
