/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_SWEEP_SESSION_H
#define HD_CLI_SWEEP_SESSION_H

/* A call of "heddle sweep": what it was told, and its way to results. */

#include "cli/scenario.h"
#include "study/sweep.h"

struct sweep_session_options {
	struct common_options common;
	struct fabric_choice scenario;
	struct option_list vary, skip, keep;
	uint64_t seeds, jobs;
	const char *stop, *find, *shard;
	bool wide, curves;
};

/* The database used without --db. */
extern const char cli_sweep_default_db[];

/* The options of a command that a study may be made of; NULL: none. */
const struct option *const *cli_sweep_options_of(const char *name);

/* Runs a sweep whose study and sources are set; shows and records it. */
int cli_sweep_run_and_show(struct sweep_session_options *v, struct study_sweep *w);

/* What the words after the options ask for; the exit status. */
int cli_sweep_run_words(const struct command *self, struct sweep_session_options *v, int n,
			char **words);

#endif
