/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/scenario.h"
#include "cli/sweep/session.h"
#include "study/axis.h"

static const struct option options[] = {
	{ .name = "vary",
	  .kind = OPT_LIST,
	  .offset = offsetof(struct sweep_values, vary),
	  .value = "FIELD=VALUES",
	  .help = "values of a field: a list, LOW..HIGH:STEP or LOW..HIGH:*FACTOR; "
		  "several make a grid, 'A=1,2 & B=3,4' go along together" },
	OPTION_SET(struct sweep_values, set),
	{ .name = "seeds",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct sweep_values, seeds),
	  .value = "N",
	  .low = 1,
	  .high = STUDY_MOST_POINTS,
	  .help = "runs of each cell of the grid, with seeds that count on from "
		  "the scenario's; 1, or what the study says" },
	{ .name = "skip",
	  .kind = OPT_LIST,
	  .offset = offsetof(struct sweep_values, skip),
	  .value = "CONDITION",
	  .help = "leave out cells, as 'fabric.routing = updn and traffic.0.load > "
		  "80%'" },
	{ .name = "stop",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct sweep_values, stop),
	  .value = "RULE",
	  .help = "'FIELD when CONDITION': run nothing beyond its first value "
		  "where a condition on measures holds; FIELD alone: when less "
		  "than 95% of what is offered is delivered" },
	{ .name = "find",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct sweep_values, find),
	  .value = "RULE",
	  .help = "'largest FIELD with p99 < 5us', or smallest: by bisection "
		  "over the field's values" },
	{ .name = "keep",
	  .kind = OPT_LIST,
	  .offset = offsetof(struct sweep_values, keep),
	  .value = "TABLE",
	  .help = "keep this table of each point too, or all of them; headline "
		  "numbers are always kept" },
	{ .name = "jobs",
	  .letter = 'j',
	  .kind = OPT_UINT,
	  .offset = offsetof(struct sweep_values, jobs),
	  .value = "N",
	  .initial = "0",
	  .high = 1024,
	  .help = "points to run at once; 0 is one per core. Results do not "
		  "depend on it" },
	{ .name = "shard",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct sweep_values, shard),
	  .value = "I/N",
	  .help = "run only the I-th of N parts, with a --db of its own; auto: "
		  "by Slurm's SLURM_ARRAY_TASK_ID and _COUNT" },
	{ .name = "wide",
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct sweep_values, wide),
	  .help = "a row per point, not one per point and measure" },
	{ .name = "curves",
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct sweep_values, curves),
	  .help = "a row per cell: means over the seeds with 95 % confidence; "
		  "text shows that anyway" },
	{ .name = NULL },
};

static int run(const struct command *self, int argc, char **argv)
{
	struct sweep_values v = { .common = { .db = sweep_default_db,
					      .seed = SEED_OF_SCENARIO } };
	int n, status;

	if (command_parse(self, &v, argc, argv, &n, &status))
		status = sweep_words(self, &v, n, argv);
	option_list_fini(&v.vary);
	option_list_fini(&v.set);
	option_list_fini(&v.skip);
	option_list_fini(&v.keep);
	return status;
}

static const struct example examples[] = {
	{ "heddle sweep examples/fat-tree-70.yaml --vary traffic.0.load=10%..90%:20% --vary fabric.routing=ftree,updn",
	  "two routing engines at five loads" },
	{ "heddle sweep examples/study.yaml --csv -o study.csv",
	  "a study that is a file, for a spreadsheet" },
	{ "heddle sweep examples/fat-tree-70.yaml --vary traffic.0.load=50%..99%:1% --find 'largest traffic.0.load with p99 < 20us'",
	  "what the fabric can take" },
	{ NULL, NULL },
};

const struct command command_sweep = {
	.name = "sweep",
	.summary = "many points of a scenario, on all cores",
	.arguments = "SCENARIO | STUDY | merge DATABASE...",
	.description =
		"Runs a scenario for every combination of values and seeds, "
		"each point in a process of its own. Points that are done are "
		"kept in the database (heddle.db, or that of --db): what was "
		"interrupted goes on there when it is called again. A point "
		"that fails is a row with its reason, and the exit status 1 "
		"then. docs/sweeps.md tells of studies and measures.\n\n"
		"'heddle sweep merge' joins what shards left in their "
		"databases, in any order, to what a single run gives.",
	.options = options,
	.examples = examples,
	.run = run,
};
