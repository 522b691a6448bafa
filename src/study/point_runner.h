/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_POINT_RUNNER_H
#define HD_STUDY_POINT_RUNNER_H

/*
 * Runs points of studies in separate processes, several at a time. The points
 * may belong to different studies. Outcomes are stored in the order of the
 * jobs, regardless of the order in which the processes end. A database
 * therefore has the same runs in the same order for any number of processes.
 */

#include "study/point.h"
#include "study/processes.h"

struct point_job {
	const struct study *study;
	size_t point;
	struct point_id id;
	/* Owned by the caller. A job with a known outcome is stored without a run. */
	struct point_outcome *outcome;
};

struct point_runner {
	struct point_job *jobs;
	size_t n;
	unsigned at_once; /* processes, at least 1 */
	/* Called when a process has ended; the order of jobs is undefined. */
	void (*ended)(void *context, size_t job);
	/* Called for each job whose outcome is known, in the order of the jobs. */
	enum hd_status (*store)(void *context, size_t job, struct diag *d);
	void *context;
};

/*
 * A failure of a point is an outcome, not an error. The first error of `store`
 * ends the other processes and is returned. Jobs that a signal prevented have
 * no outcome.
 */
HD_MUST_CHECK enum hd_status point_runner_run(const struct point_runner *r, struct diag *d);

#endif
