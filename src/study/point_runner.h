/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_POINT_RUNNER_H
#define HD_STUDY_POINT_RUNNER_H

/*
 * Runs points of studies in processes of their own, several at a time. The
 * points may belong to different studies. Outcomes are stored in the order of
 * the jobs, whatever the order in which the processes end, so that a database
 * has the same runs in the same order on any number of processors.
 */

#include "study/point.h"
#include "study/processes.h"

struct point_job {
	const struct study *study;
	size_t point;
	struct point_id id;
	/* The caller's. A job whose outcome is known already is stored, but not run. */
	struct point_outcome *outcome;
};

struct point_runner {
	struct point_job *jobs;
	size_t n;
	unsigned at_once; /* processes, at least 1 */
	/* Called when a process has ended, in any order. */
	void (*ended)(void *context, size_t job);
	/* Called for each job whose outcome is known, in the order of the jobs. */
	enum hd_status (*store)(void *context, size_t job, struct diag *d);
	void *context;
};

/*
 * A point that fails is an outcome. The first refusal of `store` ends the
 * other processes and is returned. Jobs that a signal prevented have no outcome.
 */
HD_MUST_CHECK enum hd_status point_runner_run(const struct point_runner *r, struct diag *d);

#endif
