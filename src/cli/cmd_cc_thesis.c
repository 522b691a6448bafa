/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "sim/congestion/thesis.h"

struct values {
	struct common_options common;
	hd_time warmup, measure;
	bool scenario;
};

static const struct option options[] = {
	{ .name = "warmup",
	  .kind = OPT_TIME,
	  .offset = offsetof(struct values, warmup),
	  .value = "TIME",
	  .initial = "150ms",
	  .help = "simulated time before measuring, of each run" },
	{ .name = "measure",
	  .kind = OPT_TIME,
	  .offset = offsetof(struct values, measure),
	  .value = "TIME",
	  .initial = "200ms",
	  .help = "simulated time measured, of each run" },
	{ .name = "scenario",
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct values, scenario),
	  .help = "print the scenario of the two classes, and run nothing" },
	{ .name = NULL },
};

static void show_progress(void *context, unsigned done, unsigned all)
{
	struct progress *p = context;

	p->total = all;
	progress_show(p, done);
}

static int run(const struct command *self, int argc, char **argv)
{
	struct values v = { .common.seed = 1 };
	struct diag d = { .status = HD_OK };
	struct progress progress;
	int n, status;

	if (!command_parse(self, &v, argc, argv, &n, &status))
		return status;
	if (n != 0)
		return command_usage(self, "no arguments expected");
	if (v.scenario &&
	    output_check_own(self, &v.common, "--scenario") != EXIT_DONE)
		return EXIT_USAGE;
	if (v.scenario)
		return output_bytes(&v.common, congestion_thesis_scenario,
				    strlen(congestion_thesis_scenario), true);
	if (v.warmup == 0 || v.measure == 0)
		return command_usage(self,
				     "--warmup and --measure must be above 0");
	struct thesis_options o = { .warmup = v.warmup,
				    .measure = v.measure,
				    .seed = v.common.seed,
				    .progress = show_progress,
				    .context = &progress };
	struct results *r = results_new("cc thesis");

	progress_begin(&progress, &v.common, "runs", 0);
	enum hd_status done = congestion_thesis(&o, &d, r);

	progress_end(&progress);
	if (done != HD_OK) {
		results_free(r);
		return command_refuse(&d);
	}
	return output_results(&v.common, r, true);
}

static const struct example examples[] = {
	{ "heddle cc thesis --json | jq .tables.claims",
	  "what is claimed, and what we see" },
	{ "heddle cc thesis -o chapter3.csv", "every table and figure" },
	{ NULL, NULL },
};

const struct command command_cc_thesis = {
	.name = "cc thesis",
	.summary = "the thesis' experiments on congestion control",
	.arguments = "",
	.description =
		"Chapter 3 of the thesis: two classes under admission and congestion\n"
		"control on two switches, its Tables 3.2 and 3.3 and Figures 3.4 to 3.7\n"
		"beside ours, starts of a lone flow, totals, marking thresholds against\n"
		"depths of buffers; and what it claims, each claim with whether our\n"
		"numbers bear it out. Some do not.\n",
	.options = options,
	.examples = examples,
	.run = run,
};
