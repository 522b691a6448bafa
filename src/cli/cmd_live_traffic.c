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
	const char *pace;
};

static const struct option options[] = {
	LIVE_NAME_OPTION(struct values),
	{ "pace", 0, OPT_TEXT, offsetof(struct values, pace), "FACTOR", "0",
	  "seconds of the run in a second of the clock; 0: as fast as it goes",
	  NULL, 0, 0 },
	{ NULL },
};

/* The words of 'heddle sim', on that fabric. */
static int run(const struct command *self, int argc, char **argv)
{
	struct values v = { 0 };
	enum { ADDED = 4 };
	char **all = hd_alloc((size_t)argc + ADDED, sizeof(*all));
	static char live[] = "--live", pace[] = "--pace";
	int n_args, status;

	if (command_parse(self, &v, argc, argv, &n_args, &status)) {
		all[0] = live;
		all[1] = (char *)v.name;
		all[2] = pace;
		all[3] = (char *)v.pace;
		memcpy(all + ADDED, argv, (size_t)n_args * sizeof(*all));
		status = command_call(&command_sim, n_args + ADDED, all);
	}
	free(all);
	return status;
}

static const struct example examples[] = {
	{ "heddle live traffic load.yaml",
	  "its traffic on the tables as OpenSM programmed them" },
	{ "heddle live traffic load.yaml --pace 1e-4",
	  "slow enough to pull a cable meanwhile" },
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
		"its subnet manager has programmed, over the links that are "
		"active. Routes, groups, lanes, arbitration, partitions, "
		"congestion control and links that change while it runs "
		"change in the run; '--pace 1e-4' gives a "
		"subnet manager a second for 100 us of it. perfquery then "
		"shows what it did.",
	.options = options,
	.examples = examples,
	.run = run,
};
