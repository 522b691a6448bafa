/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_SWEEP_SESSION_H
#define HD_CLI_SWEEP_SESSION_H

/* Call of "heddle sweep": its options, run and results. */

#include "cli/scenario.h"
#include "study/sweep.h"

struct sweep_session_options {
	struct common_options common;
	struct fabric_choice scenario;
	struct option_list vary, labels, skip, keep;
	uint64_t seeds, jobs;
	const char *stop, *find, *shard;
	bool wide, curves;
};

/* The database used without --db. */
extern const char cli_sweep_default_db[];

/* Options of a command that can be swept; NULL if it cannot. */
const struct option *const *cli_sweep_options_of(const char *name);

/* Runs a sweep whose study and sources are set; shows and records its results. */
int cli_sweep_run_and_show(struct sweep_session_options *v, struct study_sweep *w);

/* Executes the words after the options; returns the exit status. */
int cli_sweep_run_words(const struct command *self, struct sweep_session_options *v, int n,
			char **words);

#endif
