/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/cc_variants.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/threads.h"

struct cc_tune_options {
	struct common_options common;
	struct fabric_choice scenario;
	struct hd_ratio floor; /* den 0: not given */
	uint64_t budget, senders, stress, held_out;
	unsigned goal; /* enum tune_goal */
	const char *victims, *job, *conf;
};

#define FIELD(name) offsetof(struct cc_tune_options, name)

static const struct option options[] = {
	{ "goal", 0, OPT_CHOICE, FIELD(goal), "GOAL", "victims",
	  "what is improved: what the victims are delivered, the p99 latency (of --victims, or of all packets), or the completion of jobs",
	  tune_goal_names },
	{ "floor", 0, OPT_RATIO, FIELD(floor), "SHARE", NULL,
	  "least use of the hot link (default: 90% for --goal victims, else 0%)" },
	{ "victims", 0, OPT_TEXT, FIELD(victims), "ROW", NULL,
	  "the traffic row to protect; without it, all flows that do not end at the hot link" },
	{ "job", 0, OPT_TEXT, FIELD(job), "JOB", NULL,
	  "the job of --goal completion; without it, the slowest" },
	{ "budget", 0, OPT_UINT, FIELD(budget), "N", "60", "trials at most, of two runs each",
	  .low = 1, .high = 100000 },
	{ "senders", 0, OPT_UINT, FIELD(senders), "N", "256",
	  "how many may meet on one link: the table ends at one Nth of its rate, and marks hold twice as many",
	  .low = 2, .high = 999 },
	{ "stress", 0, OPT_UINT, FIELD(stress), "N", "4",
	  "try everything also with a hot link N times slower, as if there were N times the senders; 1: not",
	  .low = 1, .high = 64 },
	{ "held-out", 0, OPT_UINT, FIELD(held_out), "N", "5",
	  "seeds that the search does not see, on which what it found must keep the floor",
	  .low = 2, .high = 1000 },
	{ "conf", 0, OPT_OUTPUT, FIELD(conf), "FILE", NULL,
	  "write the lines for opensm.conf to FILE too" },
	OPTIONS_OPENSM(struct cc_tune_options, scenario),
	OPTION_SET(struct cc_tune_options, scenario),
	OPTION_CC_WINDOWS(FIELD(scenario.set)),
	OPTION_VERBOSE,
	{ .name = NULL },
};

static int show(const struct cc_tune_options *v, struct tune_options *o, struct diag *d)
{
	struct tune_result found;
	enum hd_status status = cli_cc_tune_run(o, &v->common, d, &found);

	if (status != HD_OK)
		return command_refuse(d);
	struct results *r = results_new("cc tune");
	bool is_worth = tune_is_worth(o, &found);

	results_set_scenario(r, o->scenario->text);
	tune_result_tables(o, &found, r);
	if (v->conf && is_worth)
		status = opensm_cc_save(&found.conf, v->conf, d);
	tune_result_fini(&found);
	if (status == HD_OK)
		return output_results(&v->common, r, is_worth);
	results_free(r);
	return command_refuse(d);
}

static int tune(struct cc_tune_options *v, const struct scenario *scenario, struct diag *d)
{
	double floor = v->goal == TUNE_VICTIMS ? 0.9 : 0;
	struct tune_options o = {
		.scenario = scenario,
		.overrides = &v->scenario.overrides,
		.goal = (enum tune_goal)v->goal,
		.row = v->victims,
		.job = v->job,
		.floor = v->floor.den ? (double)v->floor.num / (double)v->floor.den : floor,
		.budget = (uint32_t)v->budget,
		.senders = (uint32_t)v->senders,
		.stress = (uint32_t)v->stress,
		.held_out = (uint32_t)v->held_out,
	};
	uint32_t row;

	d->file = NULL;
	v->common.seed = scenario->run.seed;
	if (scenario_find_row(scenario, v->victims, "--victims", d, &row) != HD_OK)
		return command_refuse(d);
	return show(v, &o, d);
}

static int run(const struct command *self, void *values, int n, char **args)
{
	struct cc_tune_options *v = values;
	struct diag d = { .status = HD_OK };
	struct scenario scenario = { 0 };

	(void)n;
	if (v->floor.num > v->floor.den)
		return command_usage(self, "option --floor: the share must be at most 100%%");
	enum hd_status status = fabric_choice_overrides(&v->scenario, v->common.seed, &d);

	if (status == HD_OK)
		status = scenario_read(args[0], &v->scenario.overrides, &d, &scenario);
	if (status == HD_OK)
		status = scenario_needs_traffic(&scenario, &d);
	int ends = status == HD_OK ? tune(v, &scenario, &d) : command_refuse(&d);

	scenario_fini(&scenario);
	fabric_choice_fini(&v->scenario);
	return ends;
}

static const struct cc_tune_options initial = { .common.seed = SEED_OF_SCENARIO };

static const struct example examples[] = {
	{ "heddle cc tune examples/incast.yaml --conf cc.conf",
	  "lines for opensm.conf that free an incast's victims" },
	{ "heddle cc tune --floor 95% --budget 120 examples/incast.yaml",
	  "more use of the hot link, a longer search" },
	{ "heddle cc tune --goal completion --job train examples/jobs.yaml",
	  "parameters for a job" },
	{ NULL, NULL },
};

const struct command command_cc_tune = {
	.name = "cc tune",
	.summary = "search parameters of InfiniBand congestion control",
	.arguments = "SCENARIO",
	.description =
		"Searches threshold, marking rate, CCTI increase, CCTI timer and the table's shape\n"
		"for the best goal (--goal), as long as the hot link is used to the stated floor;\n"
		"prints lines for opensm.conf, and the gain against no control and against OpenSM's\n"
		"defaults. Each run is the scenario with other fields of 'congestion', as 'heddle\n"
		"sim' computes it; runs use all cores. After the first one a line on stderr says\n"
		"how long it may take. The same scenario gives the same answer.\n\n"
		"The answer is then tried on other seeds (--held-out), over windows of up to eight\n"
		"times the length if that is needed to tell. Ends with 1 if nothing keeps the floor\n"
		"or is better than no congestion control: then it should be left off.\n\n"
		"'heddle cc compare --opensm FILE' runs the answer on another scenario.\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL_FROM(run, initial, 1, 1),
	.is_long = true,
};
