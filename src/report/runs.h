/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_REPORT_RUNS_H
#define HD_REPORT_RUNS_H

/*
 * Runs of a database: a list of all runs, and the selected runs with their
 * results, for display, comparison or a page.
 */

#include "report/compare.h"
#include "report/database.h"
#include "report/page.h"

struct recorded_runs {
	const char *path; /* borrowed */
	struct run_info *infos;
	size_t n_infos;
	/* The selected runs. */
	struct compared *runs;
	struct results **results; /* results of `runs` */
	size_t n;
};

/*
 * Reads the runs whose numbers are in `words`; with `all`, and without words,
 * every finished run. Call recorded_runs_fini even after an error.
 */
HD_MUST_CHECK enum hd_status recorded_runs_read(struct recorded_runs *s, const char *path, bool all,
						int n_words, char **words, struct diag *d);
void recorded_runs_fini(struct recorded_runs *s);

/* Adds a row for every run of the file, and a remark for every lost run. */
void recorded_runs_list(const struct recorded_runs *s, struct results *r);

/*
 * Adds the differences between the selected runs. HD_ERR_NOT_FOUND if none has
 * the table that `how` names.
 */
HD_MUST_CHECK enum hd_status recorded_runs_compare(const struct recorded_runs *s,
						   const struct compare_options *how,
						   struct results *r, struct diag *d);

/*
 * Returns the results of the only selected run; the caller owns them. They have
 * the table that `how` names; in brief, the first table and those of up to
 * SHOWN_ROWS rows; or all tables.
 */
#define SHOWN_ROWS 40
HD_MUST_CHECK enum hd_status recorded_runs_take(struct recorded_runs *s,
						const struct compare_options *how, struct diag *d,
						struct results **out);

/*
 * The selected runs as parts of a page; `first`, unless NULL, precedes them.
 * The caller frees them. HD_ERR_INPUT if no run is selected.
 */
HD_MUST_CHECK enum hd_status recorded_runs_parts(const struct recorded_runs *s,
						 const struct results *first, struct diag *d,
						 struct page_run **out, size_t *n);

#endif
