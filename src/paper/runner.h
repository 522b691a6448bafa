/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_PAPER_RUNNER_H
#define HD_PAPER_RUNNER_H

/*
 * Runs commands of this program as processes of their own, several at once,
 * and brings their results back. Each starts in a scratch folder that holds
 * the built-in files of papers/, writes its results there into a database, and
 * knows nothing of the others: how many run at once changes nothing but the
 * time it takes.
 */

#include "measure/results.h"
#include "paper/paper.h"

struct paper_job {
	const char *command; /* words after "heddle"; 'one word' in quotes */

	struct results *results; /* NULL if it failed */
	char *failure;           /* what it said then, one line; both NULL if
				  * it was not run to its end */
	double seconds;          /* it took */
};

/* Told as jobs end, in any order; false ends the others. May be NULL. */
typedef bool paper_tick_fn(void *context, const struct paper_job *job);

struct paper_runner {
	const char *program; /* path of the heddle to run */
	unsigned at_once;    /* at least 1 */
	paper_tick_fn *tick;
	void *context;
};

/*
 * Runs all of `jobs`. One that fails is no refusal: it has a failure. When a
 * deadly signal comes (base/unfinished.h) no more are begun, and those that
 * run are ended. HD_ERR_IO if there is no place to work in.
 */
HD_MUST_CHECK enum hd_status paper_run(const struct paper_runner *runner,
				       struct paper_job *jobs, size_t n,
				       struct diag *d);
void paper_jobs_free(struct paper_job *jobs, size_t n);

#endif
