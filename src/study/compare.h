/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_COMPARE_H
#define HD_STUDY_COMPARE_H

/*
 * Runs one scenario with several values of one field. Each variant is a
 * separate run in its own process. The cells of a variant's tables equal those
 * of 'heddle sim FILE --set FIELD=VALUE'.
 */

#include "measure/results.h"
#include "scenario/override.h"

struct study_sweep;

struct study_comparison {
	const char *path; /* of the scenario */
	const struct overrides *overrides;
	/* `field`: path of the field; `label`: name of its column. A table that
	 * already has a column of that name uses `field` as the column name. */
	const char *field, *label;
	const char *const *values;
	size_t n;
	uint64_t seeds;   /* of each variant; 0: one */
	bool all;         /* true: tables of 'heddle sim --all', including every port */
	hd_time rates;    /* run_options.rates */
	unsigned at_once; /* processes, at least 1 */
	/* Called once, after the scenario is read and before the first run; may be NULL. */
	void (*begin)(void *context);
	/* Reports the number of completed runs; may be NULL. */
	void (*tick)(void *context, size_t done, size_t all);
	void *context;
	uint64_t seed; /* seed of the first run, set by comparison_run */
	/* Adds tables in place of those of comparison_run; may be NULL. */
	enum hd_status (*tables)(struct study_comparison *c, const struct study_sweep *w,
				 struct diag *d, struct results *out);
	void *tables_context;
};

/*
 * Adds every table of a run. A table has the rows of all variants in order,
 * with the value of the field in the first column. A rejected variant becomes a
 * remark. If all variants are rejected, the function returns the first error.
 */
HD_MUST_CHECK enum hd_status comparison_run(struct study_comparison *c, struct diag *d,
					    struct results *out);

#endif
