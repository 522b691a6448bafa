/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/cc/session.h"
#include "cli/cc/variants.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/threads.h"
#include "sim/congestion/tune.h"

struct values {
	struct common_options common;
	struct fabric_choice scenario;
	struct hd_ratio floor;
	uint64_t budget, senders, stress, held_out;
	const char *victims, *conf;
};

#define FIELD(name) offsetof(struct values, name)

static const struct option options[] = {
	{ "floor", 0, OPT_RATIO, FIELD(floor), "SHARE", "90%", "least use of the hot link" },
	{ "victims", 0, OPT_TEXT, FIELD(victims), "ROW", NULL,
	  "the traffic row to protect; without it, all flows that do not end at the hot link" },
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
	OPTIONS_OPENSM(struct values, scenario),
	OPTION_SET(struct values, scenario),
	OPTION_CC_WINDOWS(FIELD(scenario.set)),
	OPTION_VERBOSE,
	{ .name = NULL },
};

static bool show_progress(void *context, uint32_t trials)
{
	return progress_show(context, trials);
}

static int tune(struct values *v, struct cc_session *s, struct diag *d)
{
	struct progress progress;
	struct cc_held_out held = { .searched = s };
	const struct tune_case given = cc_session_case(s);
	struct tune_options o = {
		.floor = (double)v->floor.num / (double)v->floor.den,
		.budget = (uint32_t)v->budget,
		.senders = (uint32_t)v->senders,
		.stress = (uint32_t)v->stress,
		.held_out = (uint32_t)v->held_out,
		.reseed = cc_reseed,
		.cases = &held,
		.progress = show_progress,
		.context = &progress,
	};
	struct tune_result result;

	d->file = NULL;
	if (scenario_find_row(s->build->scenario, v->victims, "--victims", d, &o.victims) != HD_OK)
		return command_refuse(d);
	progress_begin(&progress, &v->common, "trials", (double)v->budget);
	enum hd_status status = congestion_tune(&given, &o, d, &result);

	cc_session_fini(&held.current);
	progress_end(&progress);
	if (status != HD_OK)
		return command_refuse(d);
	struct results *r = results_new("cc tune");
	bool kept = tune_is_kept(&result);

	results_set_scenario(r, s->build->scenario->text);
	congestion_tune_tables(s->build, &o, &result, r);
	/* What was not found to its end is not for a subnet manager. */
	if (v->conf && !result.stopped)
		status = opensm_cc_save(&result.conf, v->conf, d);
	tune_result_fini(&result);
	if (status != HD_OK) {
		results_free(r);
		return command_refuse(d);
	}
	return output_results(&v->common, r, kept);
}

static int run(const struct command *self, void *values, int n, char **args)
{
	struct values *v = values;
	struct diag d = { .status = HD_OK };
	struct cc_session s;

	(void)n;
	if (v->floor.num > v->floor.den)
		return command_usage(self, "--floor is at most 100%%");
	int status = cc_session_open(&s, args[0], &v->scenario, &v->common.seed, &d) == HD_OK
			     ? tune(v, &s, &d)
			     : command_refuse(&d);

	cc_session_fini(&s);
	fabric_choice_fini(&v->scenario);
	return status;
}

static const struct values initial = { .common.seed = SEED_OF_SCENARIO };

static const struct example examples[] = {
	{ "heddle cc tune examples/incast.yaml --conf cc.conf",
	  "lines for opensm.conf that free an incast's victims" },
	{ "heddle cc tune --floor 95% --budget 120 examples/incast.yaml",
	  "dearer throughput, a longer search" },
	{ NULL, NULL },
};

const struct command command_cc_tune = {
	.name = "cc tune",
	.summary = "find parameters of InfiniBand's congestion control",
	.arguments = "SCENARIO",
	.description =
		"Searches threshold, marking rate, CCTI increase, CCTI timer and the table's shape for\n"
		"the most goodput of the victims of congestion, as long as the hot link is used to the\n"
		"stated floor; prints lines for opensm.conf, and what is gained against no control and\n"
		"against OpenSM's defaults. The same scenario gives the same answer.\n\n"
		"What was found is then tried on other seeds (--held-out), over windows of up to eight\n"
		"times the length if it takes that to tell. Ends with 1 if nothing keeps the floor, or\n"
		"not on these seeds; the answer then says which windows the search needs.\n\n"
		"'heddle cc compare --opensm FILE' runs what was found on another scenario.\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL_FROM(run, initial, 1, 1),
	.is_long = true,
};
