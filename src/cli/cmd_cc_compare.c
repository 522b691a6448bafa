/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/cc/compare.h"
#include "cli/cc/session.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/threads.h"
#include "sim/congestion/opensm_cc.h"
#include "sim/watch.h"

#define MAX_CONF ((size_t)1 << 20)

struct values {
	struct common_options common;
	struct fabric_choice scenario;
	hd_time sample;
	struct option_list algorithms;
	const char *conf, *pcap;
	struct option_list ports;
	bool all;
};

#define FIELD(name) offsetof(struct values, name)

static const struct option options[] = {
	{ "algorithm", 0, OPT_LIST, FIELD(algorithms), "NAME", NULL,
	  "only this one (none, fimd, lipd, pipd, aimd, cct)" },
	OPTION_SET(struct values, scenario),
	{ "conf", 0, OPT_TEXT, FIELD(conf), "FILE", NULL,
	  "mark, and run cct, as this opensm.conf says" },
	{ "pcap", 0, OPT_TEXT, FIELD(pcap), "FILE", NULL,
	  "write the packets to FILE, for Wireshark; with one --algorithm only" },
	{ "port", 0, OPT_LIST, FIELD(ports), "NODE:PORT", NULL,
	  "only at this port (--pcap)" },
	{ "all", 'a', OPT_FLAG, FIELD(all), NULL, NULL,
	  "show every flow and link, not only the busiest links" },
	{ "marking", 0, OPT_SET, FIELD(scenario.set), NULL, NULL,
	  "when switches mark: with a full buffer (guarded, or as published), from a depth on, or InfiniBand's threshold",
	  cc_marking_names, .path = "congestion.marking.rule",
	  .as = OPT_CHOICE },
	{ "depth", 0, OPT_SET, FIELD(scenario.set), "SIZE", NULL,
	  "waiting for an output from which on 'threshold' marks",
	  .path = "congestion.marking.depth", .as = OPT_SIZE },
	{ "threshold", 0, OPT_SET, FIELD(scenario.set), "N", NULL,
	  "of 'iba': 0 never, 1 loose, 15 aggressive", .low = 0, .high = 15,
	  .path = "congestion.marking.threshold", .as = OPT_UINT },
	{ "window", 0, OPT_SET, FIELD(scenario.set), "N", NULL,
	  "unacknowledged packets of a flow", .low = 1, .high = 4096,
	  .path = "congestion.window", .as = OPT_UINT },
	{ "ack-delay", 0, OPT_SET, FIELD(scenario.set), "TIME", NULL,
	  "acknowledge after this time; 0: by packets of 30 bytes",
	  .path = "congestion.ack.delay", .as = OPT_TIME },
	{ "rate-steps", 0, OPT_SET, FIELD(scenario.set), "N", NULL,
	  "highest rate over lowest", .low = 2, .high = 1000000,
	  .path = "congestion.rate_steps", .as = OPT_UINT },
	{ "m", 0, OPT_SET, FIELD(scenario.set), "M", NULL,
	  "factor (FIMD, AIMD) or root (PIPD) of a decrease",
	  .path = "congestion.m", .as = OPT_DOUBLE },
	{ "warmup", 0, OPT_SET, FIELD(scenario.set), "TIME", NULL,
	  "simulated time before measuring", .path = "congestion.warmup",
	  .as = OPT_TIME },
	{ "measure", 0, OPT_SET, FIELD(scenario.set), "TIME", NULL,
	  "simulated time measured", .path = "congestion.measure",
	  .as = OPT_TIME },
	{ "sample", 0, OPT_TIME, FIELD(sample), "TIME", "0ns",
	  "record every flow's rate this often; 0: not" },
	OPTION_VERBOSE,
	{ .name = NULL },
};

static bool is_wanted(const struct values *v, const char *name)
{
	for (size_t i = 0; i < v->algorithms.n; i++) {
		if (strcmp(v->algorithms.items[i], name) == 0)
			return true;
	}
	return v->algorithms.n == 0;
}

/* The first algorithm asked for that there is not, or NULL. */
static const char *unknown_name(const struct values *v)
{
	for (size_t i = 0; i < v->algorithms.n; i++) {
		const char *name = v->algorithms.items[i];

		if (strcmp(name, "none") != 0 && !cc_find(name))
			return name;
	}
	return NULL;
}

static enum hd_status read_conf(const struct values *v, struct cc_session *s,
				struct diag *d)
{
	struct strbuf text = STRBUF_INIT;
	struct opensm_cc conf;

	if (!v->conf)
		return HD_OK;
	enum hd_status status = file_read(v->conf, MAX_CONF, d, &text);

	if (status == HD_OK)
		status = opensm_cc_read(text.text, d, &conf);
	if (status == HD_OK)
		opensm_cc_apply(&conf, &s->params);
	strbuf_fini(&text);
	return status;
}

/* The algorithms one after the other, as the user wants them. */
static enum hd_status compare(struct cc_comparison *c, const struct values *v,
			      struct diag *d)
{
	struct progress progress;
	enum hd_status status = HD_OK;

	progress_begin(&progress, &v->common, "simulated ms",
		       (double)c->session->params.stop / (double)HD_MS);
	c->session->params.progress = progress_packets;
	c->session->params.progress_context = &progress;
	if (is_wanted(v, "none"))
		status = cc_compare_run(c, NULL, d);
	for (size_t i = 0; status == HD_OK && cc_algorithms[i]; i++) {
		if (is_wanted(v, cc_algorithms[i]->name))
			status = cc_compare_run(c, cc_algorithms[i], d);
	}
	progress_end(&progress);
	return status;
}

static enum hd_status capture(struct cc_comparison *c, const struct values *v,
			      struct diag *d)
{
	struct cc_session *s = c->session;
	struct file_writer file;
	bool *ports;
	enum hd_status status = fabric_ports(s->build, &v->ports, d, &ports);

	if (status != HD_OK)
		return status;
	status = file_create(&file, v->pcap, d);
	if (status != HD_OK) {
		free(ports);
		return status;
	}
	status = sim_capture_new(s->build, file.stream, ports, SIM_FLOW_NONE, d,
				 &s->params.capture);
	if (status == HD_OK)
		status = compare(c, v, d);
	if (status == HD_OK) {
		status = sim_capture_finish(s->params.capture);
		if (status != HD_OK)
			diag_fail(d, status, "the capture cannot be written");
	}
	if (status == HD_OK)
		status = file_commit(&file, d);
	else
		file_abandon(&file);
	sim_capture_free(s->params.capture);
	free(ports);
	return status;
}

static int execute(struct values *v, const char *path)
{
	struct diag d = { .status = HD_OK };
	struct cc_session s;
	struct cc_comparison c = { .session = &s,
				   .sample = v->sample,
				   .all = v->all };
	int status;

	if (cc_session_open(&s, path, &v->scenario, &v->common.seed, &d) !=
	    HD_OK) {
		cc_session_fini(&s);
		return command_refuse(&d);
	}
	d.file = NULL;
	cc_compare_begin(&c);
	if (read_conf(v, &s, &d) == HD_OK &&
	    (v->pcap ? capture(&c, v, &d) : compare(&c, v, &d)) == HD_OK) {
		status = output_results(&v->common, c.results, true);
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
	int status;

	(void)n;
	if (unknown_name(v))
		return command_usage(self,
				     "option --algorithm: there is no '%s'",
				     unknown_name(v));
	if (v->pcap && v->algorithms.n != 1)
		return command_usage(
			self, "--pcap is of one run: name one --algorithm");
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
	{ "heddle cc compare --algorithm none --algorithm cct --conf cc.conf examples/incast.yaml",
	  "what an opensm.conf would do" },
	{ "heddle cc compare --algorithm cct --pcap run.pcap --port h0 --measure 100us examples/incast.yaml",
	  "packets with FECN and BECN, for Wireshark" },
	{ NULL, NULL },
};

const struct command command_cc_compare = {
	.name = "cc compare",
	.summary = "every algorithm on one scenario",
	.arguments = "SCENARIO",
	.description =
		"Runs the scenario's flows without control and under each algorithm:\n"
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
};
