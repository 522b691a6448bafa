/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/live/live.h"

struct values {
	/* cppcheck-suppress unusedStructMember ; read by command_parse */
	struct common_options common;
	const char *name;
};

static const struct option options[] = {
	LIVE_NAME_OPTION(struct values),
	{ NULL },
};

static int run(const struct command *self, int argc, char **argv)
{
	struct values v = { 0 };
	struct strbuf out = STRBUF_INIT;
	int n_args, status;

	if (!command_parse(self, &v, argc, argv, &n_args, &status))
		return status;
	status = live_ask(v.name, "clock", argv, n_args, &out);
	if (status == EXIT_DONE && out.len > 0)
		fputs(out.text, stdout);
	strbuf_fini(&out);
	return status;
}

static const struct example examples[] = {
	{ "heddle live clock hold", "start programs, and let none send yet" },
	{ "heddle live clock go", "now" },
	{ NULL, NULL },
};

const struct command command_live_clock = {
	.name = "live clock",
	.summary = "stop the time of data, let it go on, or show it",
	.arguments = "[hold|go]",
	.description =
		"Of a fabric that was started with '--pace-data timed'. Time "
		"goes on while programs wait for what they have sent; those "
		"that are to begin at the same time are started while it is "
		"held. Without a word: the time, how many programs there are, "
		"and what they have asked for.",
	.options = options,
	.examples = examples,
	.run = run,
};
