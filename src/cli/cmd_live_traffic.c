/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/commands.h"
#include "cli/live.h"
#include "cli/scenario.h"

struct live_traffic_options {
	/* cppcheck-suppress unusedStructMember ; read by command_parse */
	struct common_options common;
	struct fabric_choice scenario;
	const char *name;
	const char *pace;
};

static const struct option options[] = {
	LIVE_NAME_OPTION(struct live_traffic_options),
	OPTION_SET(struct live_traffic_options, scenario),
	{ "pace", 0, OPT_TEXT, offsetof(struct live_traffic_options, pace), "FACTOR", "0",
	  "seconds of the run in a second of the clock; 0: as fast as it goes", NULL, 0, 0 },
	{ NULL },
};

/* The words of 'heddle sim', on that fabric. */
static int run(const struct command *self, void *values, int n, char **args)
{
	const struct live_traffic_options *v = values;
	const struct option_settings *set = &v->scenario.set;
	char *const added[] = { "--live", (char *)v->name, "--pace", (char *)v->pace };
	enum { ADDED = sizeof(added) / sizeof(*added) };
	char **all = hd_alloc((size_t)n + ADDED + 2 * set->n, sizeof(*all));
	int n_all = ADDED;

	(void)self;
	memcpy(all, added, sizeof(added));
	for (size_t i = 0; i < set->n; i++) {
		all[n_all++] = "--set";
		all[n_all++] = (char *)set->items[i].text;
	}
	memcpy(all + n_all, args, (size_t)n * sizeof(*all));
	int status = command_call(&command_sim, n_all + n, all);

	free(all);
	return status;
}

static const struct example examples[] = {
	{ "heddle live traffic load.yaml", "its traffic on the tables as OpenSM programmed them" },
	{ "heddle live traffic load.yaml --pace 1e-4", "slow enough to pull a cable meanwhile" },
	{ "heddle live traffic load.yaml -- --json --threads 2", "with options of 'heddle sim'" },
	{ NULL, NULL },
};

const struct command command_live_traffic = {
	.name = "live traffic",
	.summary = "run a scenario's traffic on a live fabric",
	.arguments = "FILE [-- OPTION...]",
	.description = "What 'heddle sim --live NAME' does: the traffic of the "
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
	.writes = BECOMES_ANOTHER,
	COMMAND_CALL(run, struct live_traffic_options, 0, ANY_NUMBER),
};
