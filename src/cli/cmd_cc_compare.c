/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "cc/marking.h"
#include "cli/cc_variants.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/threads.h"

struct cc_compare_options {
	struct common_options common;
	struct fabric_choice scenario;
	struct option_list algorithms; /* none: all, and without control */
	hd_time rates;
	bool all;
};

#define FIELD(name) offsetof(struct cc_compare_options, name)

static const struct option options[] = {
	{ "algorithm", 0, OPT_LIST, FIELD(algorithms), "NAME", NULL,
	  "only this one (none, fimd, lipd, pipd, aimd, cct)" },
	OPTIONS_OPENSM(struct cc_compare_options, scenario),
	OPTION_SET(struct cc_compare_options, scenario),
	{ "all", 'a', OPT_FLAG, FIELD(all), NULL, NULL,
	  "every table of 'heddle sim --all': flows, all ports, arbitration tables" },
	{ "marking", 0, OPT_SET, FIELD(scenario.set), NULL, NULL,
	  "when switches mark: with a full buffer (guarded, or as published), from a depth on, or InfiniBand's threshold",
	  marking_names, .path = "congestion.marking.rule", .as = OPT_CHOICE },
	{ "depth", 0, OPT_SET, FIELD(scenario.set), "SIZE", NULL,
	  "rule 'threshold': bytes queued for an output from which packets are marked",
	  .path = "congestion.marking.depth", .as = OPT_SIZE },
	{ "threshold", 0, OPT_SET, FIELD(scenario.set), "N", NULL,
	  "threshold of 'iba': 0 never marks, 1 late, 15 early", .low = 0, .high = 15,
	  .path = "congestion.marking.threshold", .as = OPT_UINT },
	{ "window", 0, OPT_SET, FIELD(scenario.set), "N", NULL, "unacknowledged packets of a flow",
	  .low = 1, .high = 4096, .path = "congestion.window", .as = OPT_UINT },
	{ "ack-delay", 0, OPT_SET, FIELD(scenario.set), "TIME", NULL,
	  "acknowledge after this time; 0: by packets of 30 bytes", .path = "congestion.ack.delay",
	  .as = OPT_TIME },
	{ "rate-steps", 0, OPT_SET, FIELD(scenario.set), "N", NULL, "highest rate over lowest",
	  .low = 2, .high = 1000000, .path = "congestion.rate_steps", .as = OPT_UINT },
	{ "factor", 0, OPT_SET, FIELD(scenario.set), "M", NULL,
	  "factor (FIMD, AIMD) or root (PIPD) of a decrease", .path = "congestion.m",
	  .as = OPT_DOUBLE },
	OPTION_CC_WINDOWS(FIELD(scenario.set)),
	{ "sample", 0, OPT_TIME, FIELD(rates), "TIME", "0ns",
	  "note the rate that each flow is allowed this often, for --all, --csv, --json, --html and --db; 0: not" },
	OPTION_VERBOSE,
	{ .name = NULL },
};

static int run(const struct command *self, void *values, int n, char **args)
{
	struct cc_compare_options *v = values;
	struct diag d = { .status = HD_OK };
	struct study_comparison c = {
		.path = args[0],
		.overrides = &v->scenario.overrides,
		.all = v->all,
		.rates = v->rates,
	};
	struct results *r = results_new("cc compare");
	int status = cli_cc_variants_read(self, &v->algorithms, &c);

	(void)n;
	if (status == EXIT_DONE &&
	    (fabric_choice_overrides(&v->scenario, v->common.seed, &d) != HD_OK ||
	     cli_cc_variants_run(&c, &v->common, &d, r) != HD_OK))
		status = command_refuse(&d);
	v->common.seed = c.seed;
	free((void *)c.values);
	if (status == EXIT_DONE) {
		struct results *shown =
			cli_cc_variants_shown(r, output_is_text(&v->common) && !v->all);

		status = output_shown_and_recorded(&v->common, shown, r, true);
	} else {
		results_free(r);
	}
	fabric_choice_fini(&v->scenario);
	return status;
}

static const struct cc_compare_options initial = { .common.seed = SEED_OF_SCENARIO };

static const struct example examples[] = {
	{ "heddle cc compare examples/two-switch-congestion.yaml --measure 100ms --warmup 150ms",
	  "what control does for the victim of congestion" },
	{ "heddle cc compare examples/jobs.yaml", "what it does to two jobs" },
	{ "heddle cc compare --marking published --ack-delay 2us --window 1 examples/two-switch-congestion.yaml",
	  "marking as the thesis prints it" },
	{ "heddle cc compare --algorithm none --algorithm cct --opensm cc.conf examples/incast.yaml",
	  "what an opensm.conf would do" },
	{ NULL, NULL },
};

const struct command command_cc_compare = {
	.name = "cc compare",
	.summary = "run a scenario with each congestion control algorithm",
	.arguments = "SCENARIO",
	.description =
		"Runs the scenario without congestion control and with each algorithm, on all\n"
		"cores, and shows the tables of 'heddle sim' with the algorithm in the first\n"
		"column. The rows of an algorithm are those of 'heddle sim SCENARIO\n"
		"--set congestion.algorithm=NAME': same kinds, rates, destinations, jobs and\n"
		"faults.\n\n"
		"'control' shows the allowed rate and the delivered rate of each row; they can\n"
		"differ. 'uncontrolled' lists flows that no algorithm holds back, such as\n"
		"multicast, which has no acknowledgements. A capture of the packets is\n"
		"'heddle sim --set congestion.algorithm=NAME --pcap FILE'.\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL_FROM(run, initial, 1, 1),
	.is_long = true,
};
