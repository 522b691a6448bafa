/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_REPORT_COMPARE_H
#define HD_REPORT_COMPARE_H

/*
 * What differs between runs. Tables are matched by name, columns by name and
 * unit, rows by what labels them: their texts and given numbers. A label that
 * comes several times in a table is told apart by counting.
 */

#include "measure/results.h"

struct compared {
	int64_t id; /* names its column: "run 3" */
	const struct results *results;
};

struct compare_options {
	const char
		*table; /* only this one; NULL: all of up to MOST_ROWS rows */
	bool all;       /* equal values too */
};

/* A table that is longer is compared only when asked for by name. */
#define COMPARE_MOST_ROWS 200

/*
 * Adds the tables "parameters" (those that differ), "values" (numbers, with
 * the change from the first run to the last) and "texts" to `out`, each only
 * if it has a row; remarks say what was equal or left out.
 */
void compare_runs(const struct compared *runs, size_t n,
		  const struct compare_options *o, struct results *out);

#endif
