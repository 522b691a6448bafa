/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_PAPER_RUNNER_H
#define HD_PAPER_RUNNER_H

/*
 * Runs commands of this program as jobs (study/processes.h), and brings their
 * results back. Each starts in a scratch folder that holds the built-in files
 * of papers/ and those that come with papers.
 */

#include "paper/paper.h"
#include "study/processes.h"

struct paper_job {
	char *command; /* words after "heddle"; 'one word' in quotes; owned */
	struct process_end end;
	bool known; /* from an earlier call: it is not run */
};

/* Told as jobs end, in any order; false ends the others. May be NULL. */
typedef bool paper_tick_fn(void *context, const struct paper_job *job);

struct paper_runner {
	const char *program;                     /* path of the heddle to run */
	const struct paper_catalogue *catalogue; /* NULL: no papers' files */
	unsigned at_once;                        /* at least 1 */
	paper_tick_fn *tick;
	void *context;
};

/* Runs those of `jobs` that are not known, as processes_run does. */
HD_MUST_CHECK enum hd_status paper_run(const struct paper_runner *runner, struct paper_job *jobs,
				       size_t n, struct diag *d);
void paper_jobs_free(struct paper_job *jobs, size_t n);

#endif
