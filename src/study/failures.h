/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_FAILURES_H
#define HD_STUDY_FAILURES_H

/*
 * Simulates single cable failures of a scenario. The scenario is run unchanged,
 * then once without each of the cables (fabric.failed_links) with routing
 * computed again. Each run has its own process. The results do not depend on
 * the number of concurrent processes.
 */

#include "measure/results.h"
#include "scenario/override.h"

/* One failed component. */
struct failure {
	const char *name;    /* displayed name */
	const char *without; /* value of fabric.failed_links */
};

struct failures {
	const char *path; /* of the scenario */
	const struct overrides *overrides;
	const struct failure *items;
	size_t n;
	unsigned at_once; /* processes, at least 1 */
	/* Reports the number of completed runs; may be NULL. */
	void (*tick)(void *context, size_t done, size_t all);
	void *context;
};

/*
 * Adds a table of the failures, the worst first. The order is: rejected
 * scenarios; jobs with fewer ranks or unfinished jobs; missed goals; slowdown
 * of the slowest job; loss of delivered traffic. *is_well is false if the
 * verdict of any failure is worse than that of the intact scenario.
 */
HD_MUST_CHECK enum hd_status failures_simulate(const struct failures *f, struct diag *d,
					       struct results *out, bool *is_well);

#endif
