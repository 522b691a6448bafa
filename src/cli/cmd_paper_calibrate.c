/* SPDX-License-Identifier: BSD-2-Clause */
#include <limits.h>

#include "cli/commands.h"
#include "cli/paper_session.h"

static int fit(struct paper_session *s, const char *name)
{
	struct diag d = { .status = HD_OK };

	if (review_has_open(&s->review, &d) != HD_OK)
		return command_refuse(&d);
	if (paper_session_run(s, &d) != HD_OK)
		return command_refuse(&d);
	struct results *r = results_new(name);

	review_fit(&s->review, r);
	return paper_session_print(s, r, true);
}

static int run_fit(const struct command *self, int argc, char **argv)
{
	static const struct paper_session_action wish = {
		.act = fit,
		.runs = true,
		.least = 1,
		.most = INT_MAX,
		.wrong =
			"missing argument: expected ID or FILE; 'heddle paper list' lists the experiments",
	};

	return paper_session_call(self, argc, argv, &wish);
}

static const struct option fit_options[] = {
	PAPER_OPTION_QUICK,
	PAPER_OPTION_JOBS,
	{ .name = "vary",
	  .kind = OPT_LIST,
	  .offset = offsetof(struct paper_session_options, vary),
	  .value = "AXIS=VALUES",
	  .help = "values of an open parameter: a list, LOW..HIGH:STEP or LOW..HIGH:*FACTOR" },
	{ .name = NULL },
};

static const struct example fit_examples[] = {
	{ "heddle paper calibrate 004/em5.2 --quick",
	  "find the thresholds with the published error" },
	{ "heddle paper calibrate 004/table3.2 --vary buffer=2packets,4packets,8packets",
	  "find a buffer size that fits the rates" },
	{ NULL, NULL },
};

const struct command command_paper_calibrate = {
	.name = "paper calibrate",
	.summary = "fit a paper's open parameters to its published results",
	.arguments = "ID | FILE ...",
	.description =
		"Sweeps the parameters that a paper leaves open. Shows the settings for which\n"
		"its numbers and claims hold, how many of them, and the deviation of the\n"
		"others.\n",
	.words = paper_session_words,
	.options = fit_options,
	.examples = fit_examples,
	.run = run_fit,
	.is_long = true,
};
