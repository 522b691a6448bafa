/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/cleanup.h"
#include "cli/model_commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/scenario.h"
#include "study/vl_sharing.h"

struct model_fabric_options {
	struct common_options common;
	struct fabric_choice scenario;
};

static const struct option options[] = {
	OPTION_SET(struct model_fabric_options, scenario),
	{ .name = NULL },
};

static const struct example examples[] = {
	{ "heddle model fabric examples/entry-threshold.yaml",
	  "compare an entry threshold with its prediction" },
	{ "heddle model fabric examples/job-threshold.yaml --json",
	  "compare job thresholds, as JSON" },
	{ NULL, NULL },
};

/* Runs the study and frees it. */
static int show(const struct command *self, struct model_fabric_options *v,
		struct study_vl_sharing *s)
{
	struct diag d = { .status = HD_OK };
	struct progress progress;
	int status;

	progress_begin(&progress, &v->common, "packets", 0);
	enum hd_status done = study_vl_sharing_run(s, progress_packets, &progress, &d);

	progress_end(&progress);
	if (done == HD_OK) {
		struct results *r = results_new(self->name);

		v->common.seed = study_vl_sharing_seed(s);
		study_vl_sharing_tables(s, r);
		if (cleanup_signal_is_pending())
			results_remark(r, "interrupted: runs that were not at their end were cut");
		status = output_results(&v->common, r, true);
	} else {
		status = command_refuse(&d);
	}
	study_vl_sharing_free(s);
	return status;
}

static int run(const struct command *self, void *values, int n, char **args)
{
	struct model_fabric_options *v = values;
	struct diag d = { .status = HD_OK };
	struct study_vl_sharing *s;
	enum hd_status done = fabric_choice_overrides(&v->scenario, v->common.seed, &d);
	int status;

	(void)n;
	if (done == HD_OK)
		done = study_vl_sharing_new(args[0], &v->scenario.overrides, &d, &s);
	status = done == HD_OK ? show(self, v, s) : command_refuse(&d);
	fabric_choice_fini(&v->scenario);
	return status;
}

static const struct model_fabric_options initial = { .common.seed = SEED_OF_SCENARIO };

const struct command command_model_fabric = {
	.name = "model fabric",
	.summary = "compare thresholds in a simulated fabric with the model",
	.arguments = "FILE",
	.description =
		"Simulates the scenario in FILE (heddle-scenario(5); it has qos.thresholds)\n"
		"without acquired VLs and as it is, and compares queue length, blocking and\n"
		"delay of each VL of a host with the model's prediction. Shows which\n"
		"assumptions of the model hold in the fabric.\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL_FROM(run, initial, 1, 1),
	.is_long = true,
};
