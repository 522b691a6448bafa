/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/model/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/scenario.h"
#include "sim/loans/study.h"

struct values {
	struct common_options common;
	struct option_list set;
};

static const struct option options[] = {
	OPTION_SET(struct values, set),
	{ .name = NULL },
};

static const struct example examples[] = {
	{ "heddle model fabric examples/entry-threshold.yaml",
	  "what an entry threshold does, simulated and predicted" },
	{ "heddle model fabric examples/job-threshold.yaml --json",
	  "job thresholds, for programs" },
	{ NULL, NULL },
};

static bool show_progress(void *context, const struct sim_progress *p)
{
	struct progress *progress = context;

	progress->total = p->share > 0 ? (double)p->delivered / p->share : 0;
	progress_show(progress, (double)p->delivered);
	return true;
}

static int study(struct values *v, const struct overrides *overrides,
		 const char *path, struct diag *d)
{
	struct progress progress;
	struct loan_study *s;

	progress_begin(&progress, &v->common, "packets", 0);
	enum hd_status status = loan_study_run(path, overrides, show_progress,
					       &progress, d, &s);

	progress_end(&progress);
	if (status != HD_OK)
		return command_refuse(d);
	struct results *r = results_new("model fabric");

	v->common.seed = loan_study_seed(s);
	loan_study_tables(s, r);
	loan_study_free(s);
	return output_results(&v->common, r, true);
}

static int run(const struct command *self, int argc, char **argv)
{
	struct values v = { .common.seed = SEED_OF_SCENARIO };
	struct overrides overrides = { 0 };
	struct diag d = { .status = HD_OK };
	int n_args, status;

	if (!command_parse(self, &v, argc, argv, &n_args, &status))
		; /* all is said */
	else if (n_args != 1)
		status = command_usage(self, "expected one scenario, not %d",
				       n_args);
	else if (overrides_from_options(&v.set, v.common.seed, &overrides,
					&d) != HD_OK)
		status = command_refuse(&d);
	else
		status = study(&v, &overrides, argv[0], &d);
	overrides_fini(&overrides);
	option_list_fini(&v.set);
	return status;
}

const struct command command_model_fabric = {
	.name = "model fabric",
	.summary = "thresholds in a simulated fabric, beside their model",
	.arguments = "FILE",
	.description =
		"Runs the scenario in FILE (heddle-scenario(5); it has\n"
		"qos.thresholds) on the fabric simulator, once with one lane per VL\n"
		"and once as it says, and compares queue length, blocking and delay\n"
		"of each host's lanes with the model's prediction. Says which of the\n"
		"model's assumptions the fabric keeps.\n",
	.options = options,
	.examples = examples,
	.run = run,
};
