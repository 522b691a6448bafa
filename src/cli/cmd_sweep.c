/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/scenario.h"
#include "cli/sweep_session.h"
#include "cli/threads.h"
#include "study/axis.h"

#define FIELD(name) offsetof(struct sweep_session_options, name)

static const struct option options[] = {
	{ "vary", 0, OPT_LIST, FIELD(vary), "FIELD=VALUES", NULL,
	  "values of a field: a list, LOW..HIGH:STEP or LOW..HIGH:*FACTOR; several make a grid, 'A=1,2 & B=3,4' go along together" },
	{ "label", 0, OPT_LIST, FIELD(labels), "FIELD=LABELS", NULL,
	  "a label for each value of a varied field, in their order, shown in tables and plots" },
	OPTIONS_OPENSM(struct sweep_session_options, scenario),
	OPTION_SET(struct sweep_session_options, scenario),
	{ "seeds", 0, OPT_UINT, FIELD(seeds), "N", NULL,
	  "runs of each cell of the grid, with seeds that count on from the scenario's; 1, or what the study says",
	  .low = 1, .high = STUDY_MOST_POINTS },
	{ "skip", 0, OPT_LIST, FIELD(skip), "CONDITION", NULL,
	  "leave out cells, as 'fabric.routing = updn and traffic.0.load > 80%'" },
	{ "stop", 0, OPT_TEXT, FIELD(stop), "RULE", NULL,
	  "'FIELD when CONDITION': run nothing beyond its first value where a condition on measures holds; FIELD alone: when less than 95% of what is offered is delivered" },
	{ "find", 0, OPT_TEXT, FIELD(find), "RULE", NULL,
	  "'largest FIELD with p99 < 5us', or smallest: by bisection over the field's values" },
	{ "keep", 0, OPT_LIST, FIELD(keep), "TABLE", NULL,
	  "keep this table of each point too, or all of them; headline numbers are always kept" },
	{ "jobs", 'j', OPT_UINT, FIELD(jobs), "N", "0",
	  "points to run at once; 0 is one per core. Results do not depend on it", .high = 1024 },
	{ "shard", 0, OPT_TEXT, FIELD(shard), "I/N", NULL,
	  "run only the I-th of N parts, with a --db of its own; auto: by Slurm's SLURM_ARRAY_TASK_ID and _COUNT" },
	{ "wide", 0, OPT_FLAG, FIELD(wide), NULL, NULL,
	  "a row per point, not one per point and measure" },
	{ "curves", 0, OPT_FLAG, FIELD(curves), NULL, NULL,
	  "a row per cell: means over the seeds with 95 % confidence; text, LaTeX and gnuplot show that anyway" },
	OPTION_VERBOSE,
	{ .name = NULL },
};

static int run(const struct command *self, void *values, int n, char **args)
{
	struct sweep_session_options *v = values;
	int status = cli_sweep_run_words(self, v, n, args);

	fabric_choice_fini(&v->scenario);
	return status;
}

static const struct sweep_session_options initial = {
	.common = { .db = cli_sweep_default_db, .seed = SEED_OF_SCENARIO },
};

static const struct example examples[] = {
	{ "heddle sweep examples/fat-tree-70.yaml --vary traffic.0.load=10%..90%:20% --vary fabric.routing=ftree,updn",
	  "two routing engines at five loads" },
	{ "heddle sweep examples/study.yaml --csv -o study.csv",
	  "a study that is a file, for a spreadsheet" },
	{ "heddle sweep examples/fat-tree-70.yaml --vary traffic.0.load=50%..99%:1% --find 'largest traffic.0.load with p99 < 20us'",
	  "what the fabric can take" },
	{ "heddle sweep model credit --vary lambda=1..5:1 --vary downstream=2,4,8",
	  "a model's options instead of a scenario's fields" },
	{ NULL, NULL },
};

const struct command command_sweep = {
	.name = "sweep",
	.summary = "run a scenario or command for many parameter values",
	.arguments = "[COMMAND] SCENARIO | STUDY | merge DATABASE...",
	.description =
		"Runs a scenario for every combination of values and seeds, "
		"each point in a process of its own. Points that are done are "
		"kept in the database (heddle.db, or that of --db): what was "
		"interrupted sweep continues there when it is called again. A point "
		"that fails is a row with its reason, and the exit status is 1 "
		"then, and where goals are missed or jobs do not finish. docs/sweeps.md tells of studies and measures. The page "
		"of --html draws each measure over the first field that is a "
		"number, and latencies over what was delivered, too, if that "
		"is the load of a row of traffic.\n\n"
		"COMMAND is sim if none is named, or cc compare, mcast compare, "
		"qos admit, qos bound, bench, model credit, ge, et, ajt, queue, "
		"loss or fabric. Fields with a dot are the scenario's, others are "
		"options of the command: '--vary lambda=1..5:1', '--set mu=6'. "
		"A point is one row of what the command shows.\n\n"
		"Among ranks that mpirun or srun started, each runs its part, and the last one joins them.\n\n"
		"'heddle sweep merge' joins what shards left in their databases, in any order, to what a single run gives.",
	.options = options,
	.examples = examples,
	COMMAND_CALL_FROM(run, initial, 0, ANY_NUMBER),
	.is_long = true,
};
