/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_THREADS_H
#define HD_CLI_THREADS_H

/* Number of threads of a command (base/parallel_for.h), and the report of it. */

#include "cli/command.h"

/* Option row of commands that run fabrics. */
#define OPTION_VERBOSE                                                      \
	{                                                                   \
		.name = "verbose", .letter = 'v', .kind = OPT_FLAG,         \
		.offset = offsetof(struct common_options, verbose),         \
		.help = "say on standard error on how many threads it was " \
			"computed, and why if on one"                       \
	}

/* Applies the command's options. */
void threads_apply(const struct common_options *common);
/* At the command's end: prints how many threads were used, if --verbose is given. */
void threads_report(void);

#endif
