/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"

static const struct command *const subcommands[] = {
	&command_job_show,
	&command_job_record,
	NULL,
};

static const struct example examples[] = {
	{ "heddle job show trace.goal", "operations, messages and pairs of ranks of a trace" },
	{ "heddle job record -o app.goal -- mpirun -n 8 ./app", "what a program does" },
	{ NULL, NULL },
};

const struct command command_job = {
	.name = "job",
	.summary = "show or record the messages of parallel programs",
	.arguments = "",
	.description = "Files are GOAL text, as LogGOPSim and ATLAHS read it, or connection\n"
		       "matrices of htsim. 'heddle sim' runs them on a fabric: 'jobs' in\n"
		       "heddle-scenario(5).\n",
	.examples = examples,
	.subcommands = subcommands,
};
