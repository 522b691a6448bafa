/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
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

/* The words of 'heddle sim', on that fabric. */
static int run(const struct command *self, int argc, char **argv)
{
	struct values v = { 0 };
	char **all = hd_alloc((size_t)argc + 2, sizeof(*all));
	static char live[] = "--live";
	int n_args, status;

	if (command_parse(self, &v, argc, argv, &n_args, &status)) {
		all[0] = live;
		all[1] = (char *)v.name;
		memcpy(all + 2, argv, (size_t)n_args * sizeof(*all));
		status = command_call(&command_sim, n_args + 2, all);
	}
	free(all);
	return status;
}

static const struct example examples[] = {
	{ "heddle live traffic load.yaml",
	  "its traffic on the tables as OpenSM programmed them" },
	{ "heddle live traffic load.yaml -- --json --threads 2",
	  "with options of 'heddle sim'" },
	{ NULL, NULL },
};

const struct command command_live_traffic = {
	.name = "live traffic",
	.summary = "run a scenario's traffic on a live fabric",
	.arguments = "FILE [-- OPTION...]",
	.description =
		"What 'heddle sim --live NAME' does: the traffic of the "
		"scenario FILE, whose fabric must be the one that runs, "
		"forwarded by the tables, lanes, weights and partitions that "
		"its subnet manager has programmed by now, over the links that "
		"are active. perfquery then shows what it did.",
	.options = options,
	.examples = examples,
	.run = run,
};
