/* SPDX-License-Identifier: BSD-2-Clause */

#include "cli/cc/runs.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/threads.h"

struct values {
	struct common_options common;
	struct fabric_choice scenario;
	hd_time sample;
	struct cc_runs runs;
	bool all;
};

#define FIELD(name) offsetof(struct values, name)

static const struct option options[] = {
	{ "algorithm", 0, OPT_LIST, FIELD(runs.algorithms), "NAME", NULL,
	  "only this one (none, fimd, lipd, pipd, aimd, cct)" },
	OPTIONS_OPENSM(struct values, scenario),
	OPTION_SET(struct values, scenario),
	{ "pcap", 0, OPT_OUTPUT, FIELD(runs.pcap), "FILE", NULL,
	  "write the packets to FILE, for Wireshark; with one --algorithm only" },
	{ "port", 0, OPT_LIST, FIELD(runs.ports), "NODE:PORT", NULL, "only at this port (--pcap)" },
	{ "all", 'a', OPT_FLAG, FIELD(all), NULL, NULL,
	  "show every flow and link, not only the busiest links" },
	{ "marking", 0, OPT_SET, FIELD(scenario.set), NULL, NULL,
	  "when switches mark: with a full buffer (guarded, or as published), from a depth on, or InfiniBand's threshold",
	  mark_names, .path = "congestion.marking.rule", .as = OPT_CHOICE },
	{ "depth", 0, OPT_SET, FIELD(scenario.set), "SIZE", NULL,
	  "'threshold' marks from so many bytes waiting for an output on",
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
	{ "m", 0, OPT_SET, FIELD(scenario.set), "M", NULL,
	  "factor (FIMD, AIMD) or root (PIPD) of a decrease", .path = "congestion.m",
	  .as = OPT_DOUBLE },
	OPTION_CC_WINDOWS(FIELD(scenario.set)),
	{ "sample", 0, OPT_TIME, FIELD(sample), "TIME", "0ns",
	  "record every flow's rate this often, for --all, --csv, --json, --html and --db; 0: not" },
	OPTION_VERBOSE,
	{ "conf", .kind = OPT_RENAMED, .value = "opensm" },
	{ .name = NULL },
};

static int execute(struct values *v, const char *path)
{
	struct diag d = { .status = HD_OK };
	struct cc_session s;
	struct cc_comparison c = { .session = &s, .sample = v->sample, .all = v->all };
	int status;

	if (cc_session_open(&s, path, &v->scenario, &v->common.seed, &d) != HD_OK) {
		cc_session_fini(&s);
		return command_refuse(&d);
	}
	d.file = NULL;
	cc_compare_begin(&c);
	if (cc_runs(&c, &v->runs, &v->common, &d) == HD_OK) {
		struct results *shown =
			output_is_text(&v->common) ? cc_compare_shown(&c) : c.results;

		status = output_kept(&v->common, shown, c.results, true);
	} else {
		results_free(c.results);
		status = command_refuse(&d);
	}
	cc_session_fini(&s);
	return status;
}

static int run(const struct command *self, void *values, int n, char **args)
{
	struct values *v = values;
	int status = cc_runs_check(self, &v->runs);

	(void)n;
	if (status != EXIT_DONE)
		return status;
	status = execute(v, args[0]);
	fabric_choice_fini(&v->scenario);
	return status;
}

static const struct values initial = { .common.seed = SEED_OF_SCENARIO };

static const struct example examples[] = {
	{ "heddle cc compare examples/two-switch-congestion.yaml",
	  "what control does for the victim of congestion" },
	{ "heddle cc compare --marking published --ack-delay 2us --window 1 examples/two-switch-congestion.yaml",
	  "marking as the thesis prints it" },
	{ "heddle cc compare --algorithm none --algorithm cct --opensm cc.conf examples/incast.yaml",
	  "what an opensm.conf would do" },
	{ "heddle cc compare --algorithm cct --pcap run.pcap --port h0 --measure 100us examples/incast.yaml",
	  "packets with FECN and BECN, for Wireshark" },
	{ NULL, NULL },
};

const struct command command_cc_compare = {
	.name = "cc compare",
	.summary = "every algorithm on one scenario",
	.arguments = "SCENARIO",
	.description = "Runs the scenario's flows without control and under each algorithm:\n"
		       "switches mark, destinations echo, sources slow down. Rows' kinds and\n"
		       "rates are ignored: every flow sends as fast as its control allows,\n"
		       "and needs a single destination to acknowledge. The rate variable\n"
		       "stands beside the goodput, since the two can be far apart.\n\n"
		       "What a row could have is what the goodput of the other rows leaves on\n"
		       "its way. It has settled once its goodput stays within a quarter of the\n"
		       "mean. Marks balance at the lowest rate, per second in which a flow\n"
		       "could speed up.\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL_FROM(run, initial, 1, 1),
	.is_long = true,
};
