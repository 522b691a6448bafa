/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_FAILURES_SIMULATE_H
#define HD_CLI_FAILURES_SIMULATE_H

/* "heddle failures --simulate": simulates the worst cases of the analysis. */

#include "cli/scenario.h"
#include "subnet/failures/analysis.h"

struct failures_command {
	const struct common_options *common;
	const char *path; /* path of the scenario */
	const struct overrides *overrides;
	const struct failure_analysis *found;
	uint64_t most;
};

/* Parses the kinds of --fail (none: all); false with the exit status if one is invalid. */
bool cli_failures_kinds(const struct command *self, const struct option_list *fail,
			struct failure_options *o, int *status);

/*
 * Simulates cases by verdict, worst first, then in the analysis's order. *is_well becomes false if
 * a run fails.
 */
HD_MUST_CHECK enum hd_status cli_failures_simulate(const struct failures_command *what,
						   struct diag *d, struct results *r,
						   bool *is_well);

/* Shows progress; `context` is a struct progress. False if a signal is pending. */
bool cli_failures_tick(void *context, size_t done, size_t all);

#endif
