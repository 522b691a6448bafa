/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/live.h"

static const struct example examples[] = {
	{ "heddle live time pause", "stop the time, then start programs" },
	{ "heddle live time resume", "let the programs run" },
	{ NULL, NULL },
};

const struct command command_live_time = {
	.name = "live time",
	.summary = "stop, resume or show the simulated time",
	.arguments = "[pause|resume]",
	.description =
		"Stops, resumes or shows the time of a fabric that was started with '--clock\n"
		"simulated'. Time advances while programs wait for their messages. Stop it to\n"
		"start programs that should begin at the same simulated time. Without an\n"
		"argument, shows the time, the number of programs and what they wait for.\n",
	.options = cli_live_name_options,
	.examples = examples,
	.writes = WRITES_NOTHING,
	COMMAND_CALL(cli_live_forward, struct cli_live_name, 0, ANY_NUMBER),
};
