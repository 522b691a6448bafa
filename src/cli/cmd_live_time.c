/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/live.h"

static const struct example examples[] = {
	{ "heddle live time pause", "start programs, and let none send yet" },
	{ "heddle live time resume", "now" },
	{ NULL, NULL },
};

const struct command command_live_time = {
	.name = "live time",
	.summary = "stop, resume or show the simulated time",
	.arguments = "[pause|resume]",
	.description = "Of a fabric that was started with '--clock simulated'. Time "
		       "continues while programs wait for what they have sent; those "
		       "that are to begin at the same time are started while it is "
		       "held. Without a word: the time, how many programs there are, "
		       "and what they have asked for.",
	.options = cli_live_name_options,
	.examples = examples,
	.writes = WRITES_NOTHING,
	COMMAND_CALL(cli_live_forward, struct cli_live_name, 0, ANY_NUMBER),
};
