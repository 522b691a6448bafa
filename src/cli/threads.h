/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_THREADS_H
#define HD_CLI_THREADS_H

/* On how many threads a command computes (base/parallel_for.h), and saying so. */

#include "cli/command.h"

/* A row of the options of commands that run fabrics. */
#define OPTION_VERBOSE                                                      \
	{                                                                   \
		.name = "verbose", .letter = 'v', .kind = OPT_FLAG,         \
		.offset = offsetof(struct common_options, verbose),         \
		.help = "say on standard error on how many threads it was " \
			"computed, and why if on one"                       \
	}

/* As the command's options have it. */
void threads_apply(const struct common_options *common);
/* At its end: says how it was computed, if it was asked to. */
void threads_report(void);

#endif
