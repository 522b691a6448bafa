/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_REPORT_COMPARE_H
#define HD_REPORT_COMPARE_H

/*
 * Differences between runs. Tables are matched by name, columns by name and
 * unit, rows by their labels: the cells of origin "given", or the texts in a
 * table without such cells. Equal labels within a table are numbered in order
 * of their rows.
 */

#include "measure/results.h"

struct compared {
	int64_t id; /* names its column: "run 3" */
	const struct results *results;
};

struct compare_options {
	const char *table; /* only this; NULL: all of up to MOST_ROWS rows */
	bool all;          /* equal values too */
	bool brief;        /* what fits a screen; not with the others */
};

/* A table that is longer is compared only when asked for by name. */
#define COMPARE_MOST_ROWS 200
#define COMPARE_MOST_RUNS 32 /* side by side */

/*
 * Adds the tables "parameters" (those that differ), "values" (numbers, with
 * the change from the first run to the last) and "texts" to `out`, each only
 * if it has a row; remarks say what was equal or left out.
 *
 * In brief there are, instead of values and texts, "goals" (what was found of
 * them, and whether that is enough), "headline" (what differs of
 * the records, which are about a run as a whole, or of the curves of a sweep)
 * and "changes" (the largest of all others), and a remark how many more there
 * are. How well a value is known ("p99 +-") is among those.
 */
#define COMPARE_HEADLINE 16 /* rows at most */
#define COMPARE_LARGEST  8
#define COMPARE_LABEL    32 /* bytes of a row's label */
void compare_runs(const struct compared *runs, size_t n, const struct compare_options *o,
		  struct results *out);

#endif
