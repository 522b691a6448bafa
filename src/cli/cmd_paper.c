/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"

static const struct command *const subcommands[] = {
	&command_paper_list,      &command_paper_show, &command_paper_run,
	&command_paper_calibrate, &command_paper_all,  NULL,
};

static const struct example examples[] = {
	{ "heddle paper list", "list the experiments" },
	{ "heddle paper all --quick", "run all experiments in minutes" },
	{ NULL, NULL },
};

const struct command command_paper = {
	.name = "paper",
	.summary = "reproduce published tables and figures and compare",
	.arguments = "",
	.description =
		"Has every table, figure and tested claim of the five papers behind Heddle as\n"
		"data: a command, the published value, and the rule that compares them.\n",
	.examples = examples,
	.subcommands = subcommands,
};
