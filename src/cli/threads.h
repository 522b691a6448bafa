/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_THREADS_H
#define HD_CLI_THREADS_H

/* The option --threads of commands that run a fabric. */

#include "cli/command.h"
#include "fabric/fabric.h"
#include "sim/sim.h"

/* `member` is a uint64_t; 0 if it is not given: as many as are worth it. */
#define OPTION_THREADS(type, member)                                         \
	{                                                                    \
		.name = "threads", .kind = OPT_UINT,                         \
		.offset = offsetof(type, member), .value = "N", .low = 1,    \
		.high = 1024,                                                \
		.help = "compute on N threads, with the same results for "   \
			"any N; without this option as many as there are "   \
			"processors, if the fabric is large enough to keep " \
			"them busy"                                          \
	}

/* On how many threads to run the fabric if the user asked for so many. */
unsigned threads_for(const struct fabric *f, uint64_t asked);
/* After the run, for --verbose: on how many it was, and why if on one. */
void threads_say(const struct sim *s, uint64_t asked, unsigned used);

#endif
