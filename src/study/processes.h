/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_PROCESSES_H
#define HD_STUDY_PROCESSES_H

/*
 * Runs independent jobs in separate processes, several at a time. Each process
 * writes its results to a database in a scratch folder; the parent reads them
 * from there. Processes share no state, so the number of concurrent processes
 * affects the duration only. A failure of one job does not affect the others.
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
	 * Runs in the new process, with standard input and output closed, and
	 * writes the results to `db`. A returned error is the failure of the
	 * job. The function may also execute another program.
	 */
	enum hd_status (*work)(void *context, size_t job, const char *db, struct diag *d);
	/* Called when a job ends, in any order; takes ownership of `outcome`.
	 * False ends the other jobs. */
	bool (*done)(void *context, size_t job, struct point_outcome *outcome);
	void *context;
};

/*
 * Runs jobs 0 to n - 1. A failed job is not an error. After a deadly signal
 * (base/cleanup.h) no further jobs are started and running jobs are ended.
 * HD_ERR_IO if the scratch folder cannot be created.
 */
HD_MUST_CHECK enum hd_status processes_run(const struct processes *jobs, size_t n, struct diag *d);

/* Value for `at_once`: `asked`, or if that is 0, the number that fills the
 * processors given the threads of each process. */
unsigned processes_at_once(uint64_t asked);
/* "--threads=N" for a job that executes another heddle; the caller frees it. */
char *processes_threads_word(void);

#endif
