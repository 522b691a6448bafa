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

/* What became of a job; all is NULL if it was not run to its end. */
struct process_end {
	struct results *results; /* NULL if it failed */
	char *failure;           /* what it said then, one line */
	bool again;              /* the host was to blame: it may go well next time */
	double seconds;          /* it took */
};

void process_end_fini(struct process_end *end);

struct processes {
	unsigned at_once; /* at least 1 */
	/*
	 * In the new process, with nothing to read and nobody who reads: works
	 * and leaves its results in `db`. A refusal is the failure. It may also
	 * become another program.
	 */
	enum hd_status (*work)(void *context, size_t job, const char *db, struct diag *d);
	/* Told as jobs end, in any order, and owns `end`; false ends others. */
	bool (*done)(void *context, size_t job, struct process_end *end);
	/* Fills the scratch folder before anything starts; may be NULL. */
	enum hd_status (*prepare)(void *context, const char *folder, struct diag *d);
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
