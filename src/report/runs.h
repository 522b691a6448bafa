/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_REPORT_RUNS_H
#define HD_REPORT_RUNS_H

/*
 * The runs of a database: all of them in a list, and those that were asked for
 * with their results, to be shown, compared or put on a page.
 */

#include "report/compare.h"
#include "report/database.h"
#include "report/page.h"

struct recorded_runs {
	const char *path; /* borrowed */
	struct run_info *infos;
	size_t n_infos;
	/* Those asked for. */
	struct compared *runs;
	struct results **results; /* what `runs` points to */
	size_t n;
};

/*
 * The runs whose numbers stand in `words`; with `all`, and without words, every
 * run that was finished. On failure too, free with recorded_runs_fini.
 */
HD_MUST_CHECK enum hd_status recorded_runs_read(struct recorded_runs *s, const char *path, bool all,
						int n_words, char **words, struct diag *d);
void recorded_runs_fini(struct recorded_runs *s);

/* A row for every run of the file; a remark for every one that is lost. */
void recorded_runs_list(const struct recorded_runs *s, struct results *r);

/*
 * What differs between those asked for. HD_ERR_NOT_FOUND if none has the table
 * that `how` names.
 */
HD_MUST_CHECK enum hd_status recorded_runs_compare(const struct recorded_runs *s,
						   const struct compare_options *how,
						   struct results *r, struct diag *d);

/*
 * The only run asked for, which is the caller's then: the table that `how`
 * names, or in brief the first and those of up to SHOWN_ROWS rows, or all.
 */
#define SHOWN_ROWS 40
HD_MUST_CHECK enum hd_status recorded_runs_take(struct recorded_runs *s,
						const struct compare_options *how, struct diag *d,
						struct results **out);

/*
 * The selected runs as parts of a page; `first`, unless NULL, precedes them.
 * The caller frees. HD_ERR_INPUT if no run is selected.
 */
HD_MUST_CHECK enum hd_status recorded_runs_parts(const struct recorded_runs *s,
						 const struct results *first, struct diag *d,
						 struct page_run **out, size_t *n);

#endif
