/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_SURVEY_SIMULATE_H
#define HD_CLI_SURVEY_SIMULATE_H

/* "heddle survey --simulate": the worst of what was found, run. */

#include "cli/scenario.h"
#include "subnet/failures/survey.h"

struct survey_runs {
	const struct common_options *common;
	const char *path; /* of the scenario */
	const struct overrides *overrides;
	const struct survey *found;
	uint64_t most;
};

/* What --fail names, or all; else what to return. */
bool survey_kinds(const struct command *self, const struct option_list *fail,
		  struct survey_options *o, int *status);

/*
 * Cases by verdict, the worst first, and then in the survey's order. *is_well
 * becomes false if a run is not.
 */
HD_MUST_CHECK enum hd_status survey_simulate(const struct survey_runs *what, struct diag *d,
					     struct results *r, bool *is_well);

/* Shows progress, whose context it is; false if a signal wants an end. */
bool survey_tick(void *context, size_t done, size_t all);

#endif
