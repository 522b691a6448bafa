/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"

static const struct command *const subcommands[] = {
	&command_job_show,
	NULL,
};

static const struct example examples[] = {
	{ "heddle job show trace.goal", "what a trace does, and with whom" },
	{ NULL, NULL },
};

const struct command command_job = {
	.name = "job",
	.summary = "look at files of what parallel programs do",
	.arguments = "",
	.description =
		"Files are GOAL text, as LogGOPSim and ATLAHS read it, or connection\n"
		"matrices of htsim. 'heddle sim' runs them on a fabric: 'jobs' in\n"
		"heddle-scenario(5).\n",
	.examples = examples,
	.subcommands = subcommands,
};
