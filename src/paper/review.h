/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_PAPER_REVIEW_H
#define HD_PAPER_REVIEW_H

/*
 * A choice of experiments, run and judged. Experiments with the same command
 * share one run of it.
 *
 *	struct paper_review s;
 *	review_init(&s, &catalogue, quick);
 *	status = review_add(&s, "000/table2", &d);
 *	status = review_run(&s, &runner, &d);
 *	review_tables(&s, results);
 *	review_fini(&s);
 */

#include "paper/judge.h"
#include "paper/paper.h"
#include "paper/runner.h"

struct review_item {
	const struct paper *paper;
	const struct paper_experiment *experiment;
	size_t job;                   /* SIZE_MAX: there is nothing to run */
	struct judgement *judgements; /* one per check, once run */
	enum paper_verdict verdict;   /* found; recorded if nothing ran */
};

struct paper_review {
	const struct paper_catalogue *catalogue;
	bool quick;
	struct review_item *items;
	size_t n_items, items_cap;
	struct paper_job *jobs;
	size_t n_jobs, jobs_cap;
};

void review_init(struct paper_review *s, const struct paper_catalogue *c,
		 bool quick);
void review_fini(struct paper_review *s);

/*
 * Adds "000/table2", all of "000", or everything ("all"). HD_ERR_NOT_FOUND
 * with the nearest name. What is there already is not added again.
 */
HD_MUST_CHECK enum hd_status review_add(struct paper_review *s,
					const char *name, struct diag *d);

/* Experiments are judged when runner->tick hears of their job. */
HD_MUST_CHECK enum hd_status review_run(struct paper_review *s,
					const struct paper_runner *runner,
					struct diag *d);

/* Whether the job came to its end, be it with a failure. */
bool review_is_done(const struct paper_review *s, size_t job);

/* What there is, without running it. */
void review_list(const struct paper_review *s, struct results *r);
/*
 * Ours beside theirs, of what is done; true if every verdict is the recorded
 * one.
 */
bool review_tables(const struct paper_review *s, struct results *r);
/*
 * A job's own results, as a run for the record: under the names of its
 * experiments, with the comparison added.
 */
void review_annotate(const struct paper_review *s, size_t job);

#endif
