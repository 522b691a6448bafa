/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_FAILURES_H
#define HD_STUDY_FAILURES_H

/*
 * What a scenario suffers without some of its cables, by simulation: it is run
 * as it is, and once more without each of them (fabric.failed_links), routed again,
 * each run in a process of its own. What comes out does not depend on how many
 * run at once.
 */

#include "measure/results.h"
#include "scenario/override.h"

/* Something that is missing. */
struct failure {
	const char *name;    /* for people */
	const char *without; /* as fabric.failed_links has it */
};

struct failures {
	const char *path; /* of the scenario */
	const struct overrides *overrides;
	const struct failure *items;
	size_t n;
	unsigned at_once; /* processes, at least 1 */
	/* How many runs are done; or NULL. */
	void (*tick)(void *context, size_t done, size_t all);
	void *context;
};

/*
 * Adds a table of them, the worst first: those that are refused; those in which
 * jobs have fewer ranks, or do not come to their end; those that miss goals;
 * then by how much the slowest job is slower, and by how much less is
 * delivered. *is_well is false if one of these was found that the whole
 * scenario is not.
 */
HD_MUST_CHECK enum hd_status failures_simulate(const struct failures *f, struct diag *d,
					       struct results *out, bool *is_well);

#endif
