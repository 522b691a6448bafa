/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_SERIES_H
#define HD_BASE_SERIES_H

/*
 * The values that a sweep goes through, as users write them: numbers and
 * ranges with an optional step, separated by commas.
 *
 *	4            4
 *	1,2,4        1 2 4
 *	1..5         1 2 3 4 5
 *	0.5..2:0.5   0.5 1 1.5 2
 *	1,2..6:2     1 2 4 6
 *
 * A range must rise. Its last value is the end if the steps meet it. Values
 * are what the same decimal would read as: the third of 0.1..1:0.1 is 0.3,
 * not 0.30000000000000004.
 */

#include <stddef.h>

#include "base/diag.h"

#define SERIES_MAX 100000

struct series {
	double *values;
	size_t n, cap;
};

/* On refusal nothing is allocated. Free with series_fini. */
HD_MUST_CHECK enum hd_status series_parse(const char *text, struct diag *d, struct series *out);
void series_fini(struct series *s);

#endif
