/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_FAILURES_SIMULATE_H
#define HD_CLI_FAILURES_SIMULATE_H

/* "heddle failures --simulate": the worst of what was found, run. */

#include "cli/scenario.h"
#include "subnet/failures/analysis.h"

struct failures_command {
	const struct common_options *common;
	const char *path; /* of the scenario */
	const struct overrides *overrides;
	const struct failure_analysis *found;
	uint64_t most;
};

/* What --fail names, or all; else what to return. */
bool cli_failures_kinds(const struct command *self, const struct option_list *fail,
			struct failure_options *o, int *status);

/*
 * Cases by verdict, the worst first, and then in the analysis's order. *is_well
 * becomes false if a run is not.
 */
HD_MUST_CHECK enum hd_status cli_failures_simulate(const struct failures_command *what,
						   struct diag *d, struct results *r,
						   bool *is_well);

/* Shows progress, whose context it is; false if a signal wants an end. */
bool cli_failures_tick(void *context, size_t done, size_t all);

#endif
