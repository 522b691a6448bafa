/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_REPORT_COMPARE_H
#define HD_REPORT_COMPARE_H

/*
 * Differences between runs. Tables are matched by name, columns by name and
 * unit, rows by their labels: the cells of origin "given", or the texts in a
 * table without such cells. Equal labels within a table are numbered in row
 * order.
 */

#include "measure/results.h"

struct compared {
	int64_t id; /* determines the column's name: "run 3" */
	const struct results *results;
};

struct compare_options {
	const char *table; /* NULL: all tables of up to COMPARE_MOST_ROWS rows */
	bool all;          /* include equal values */
	bool brief;        /* output that fits a screen; excludes the other options */
};

/* Larger tables are compared only if selected by name. */
#define COMPARE_MOST_ROWS 200
#define COMPARE_MOST_RUNS 32 /* maximum number of runs */

/*
 * Adds to `out` the tables "parameters" (those that differ), "values" (numbers,
 * with the change from the first run to the last) and "texts", each only if it
 * has a row. Remarks list equal and omitted tables.
 *
 * The brief form replaces values and texts by "goals" (values and whether they
 * are met), "headline" (differences in the records of a run as a whole, or in
 * the curves of a sweep) and "changes" (the largest of all other differences),
 * and a remark with the number of omitted changes. Confidence intervals ("p99
 * +-") are among the changes.
 */
#define COMPARE_HEADLINE 16 /* maximum number of rows */
#define COMPARE_LARGEST  8
#define COMPARE_LABEL    32 /* maximum length of a row's label in bytes */
void compare_runs(const struct compared *runs, size_t n, const struct compare_options *o,
		  struct results *out);

#endif
