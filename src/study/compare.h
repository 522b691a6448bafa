/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_COMPARE_H
#define HD_STUDY_COMPARE_H

/*
 * One scenario with several values of one field: each variant is a run of its
 * own in a process of its own, and its cells are those of
 * 'heddle sim FILE --set FIELD=VALUE'.
 */

#include "measure/results.h"
#include "scenario/override.h"

struct study_sweep;

struct study_comparison {
	const char *path; /* of the scenario */
	const struct overrides *overrides;
	/* The field, and the name of its column; a table with a column of that
	 * name has `field` instead. */
	const char *field, *label;
	const char *const *values;
	size_t n;
	uint64_t seeds;   /* of each variant; 0: one */
	bool all;         /* the tables of 'heddle sim --all', every port */
	hd_time rates;    /* run_options.rates */
	unsigned at_once; /* processes, at least 1 */
	/* Called once the scenario has been read, before the first run; or NULL. */
	void (*begin)(void *context);
	/* How many runs are done; or NULL. */
	void (*tick)(void *context, size_t done, size_t all);
	void *context;
	uint64_t seed; /* set by comparison_run: of the first run */
	/* Tables in place of those that comparison_run adds; or NULL. */
	enum hd_status (*tables)(struct study_comparison *c, const struct study_sweep *w,
				 struct diag *d, struct results *out);
	void *tables_context;
};

/*
 * Adds every table of a run, with the rows of all variants one after the other
 * and the value of the field in the first column. A variant that is refused is
 * a remark; if all are, the first refusal is returned.
 */
HD_MUST_CHECK enum hd_status comparison_run(struct study_comparison *c, struct diag *d,
					    struct results *out);

#endif
