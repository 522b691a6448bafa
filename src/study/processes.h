/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_PROCESSES_H
#define HD_STUDY_PROCESSES_H

/*
 * Independent work in processes of its own, several at once. Each process
 * leaves its results in a database of a scratch folder, from where they are
 * brought back; it knows nothing of the others, so how many run at once
 * changes nothing but the time it takes. What fails, fails alone.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "measure/results.h"

/* The outcome of a job: results, or a failure; neither if the job did not end. */
struct point_outcome {
	struct results *results;
	char *failure; /* the first line of the error message */
	bool again;    /* the host caused the failure: another attempt may succeed */
	double seconds;
};

void point_outcome_fini(struct point_outcome *o);
/* Whether the job ended, with results or with a failure. */
bool point_outcome_is_known(const struct point_outcome *o);

struct processes {
	unsigned at_once; /* at least 1 */
	/*
	 * In the new process, with closed standard input and output: works
	 * and leaves its results in `db`. A refusal is the failure. It may also
	 * become another program.
	 */
	enum hd_status (*work)(void *context, size_t job, const char *db, struct diag *d);
	/* Called when a job ends, in any order; owns `outcome`; false ends the other jobs. */
	bool (*done)(void *context, size_t job, struct point_outcome *outcome);
	void *context;
};

/*
 * Runs jobs 0 to n - 1. One that fails is no refusal. When a deadly signal
 * comes (base/cleanup.h) no more are begun, and those that run are ended.
 * HD_ERR_IO if there is no place to work in.
 */
HD_MUST_CHECK enum hd_status processes_run(const struct processes *jobs, size_t n, struct diag *d);

/* For `at_once`: what a user asked for, or if that is 0 as many as there are
 * processors for all their threads. */
unsigned processes_at_once(uint64_t asked);
/* In a job that becomes another heddle: "--threads=N", to be freed. */
char *processes_threads_word(void);

#endif
