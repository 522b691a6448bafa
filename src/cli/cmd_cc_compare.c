/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/cc/compare.h"
#include "cli/cc/session.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/ports.h"
#include "cli/progress.h"
#include "sim/congestion/opensm_cc.h"
#include "sim/watch.h"

#define MAX_CONF ((size_t)1 << 20)

struct values {
	struct common_options common;
	struct cc_override override;
	hd_time sample;
	struct option_list algorithms;
	const char *conf, *pcap;
	struct option_list ports;
	bool all;
};

#define OVERRIDE(member) offsetof(struct values, override.member)

static const struct option options[] = {
	{ .name = "algorithm",
	  .kind = OPT_LIST,
	  .offset = offsetof(struct values, algorithms),
	  .value = "NAME",
	  .help = "only this one (none, fimd, lipd, pipd, aimd, cct)" },
	OPTION_SET(struct values, override.set),
	{ .name = "conf",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct values, conf),
	  .value = "FILE",
	  .help = "mark, and run cct, as this opensm.conf says" },
	{ .name = "pcap",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct values, pcap),
	  .value = "FILE",
	  .help = "write the packets to FILE, for Wireshark; with one "
		  "--algorithm only" },
	{ .name = "port",
	  .kind = OPT_LIST,
	  .offset = offsetof(struct values, ports),
	  .value = "NODE:PORT",
	  .help = "only at this port (--pcap)" },
	{ .name = "all",
	  .letter = 'a',
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct values, all),
	  .help = "show every flow and link, not only the busiest links" },
	{ .name = "marking",
	  .kind = OPT_CHOICE,
	  .offset = OVERRIDE(marking),
	  .choices = cc_marking_names,
	  .help = "when switches mark: with a full buffer (guarded, or as "
		  "published), from a depth on, or InfiniBand's threshold" },
	{ .name = "depth",
	  .kind = OPT_SIZE,
	  .offset = OVERRIDE(depth),
	  .value = "SIZE",
	  .help = "waiting for an output from which on 'threshold' marks" },
	{ .name = "threshold",
	  .kind = OPT_UINT,
	  .offset = OVERRIDE(threshold),
	  .value = "N",
	  .low = 0,
	  .high = 15,
	  .help = "of 'iba': 0 never, 1 loose, 15 aggressive" },
	{ .name = "window",
	  .kind = OPT_UINT,
	  .offset = OVERRIDE(window),
	  .value = "N",
	  .low = 1,
	  .high = 4096,
	  .help = "unacknowledged packets of a flow" },
	{ .name = "ack-delay",
	  .kind = OPT_TIME,
	  .offset = OVERRIDE(ack_delay),
	  .value = "TIME",
	  .help = "acknowledge after this time; 0: by packets of 30 bytes" },
	{ .name = "rate-steps",
	  .kind = OPT_UINT,
	  .offset = OVERRIDE(steps),
	  .value = "N",
	  .low = 2,
	  .high = 1000000,
	  .help = "highest rate over lowest" },
	{ .name = "m",
	  .kind = OPT_DOUBLE,
	  .offset = OVERRIDE(m),
	  .value = "M",
	  .help = "factor (FIMD, AIMD) or root (PIPD) of a decrease" },
	{ .name = "warmup",
	  .kind = OPT_TIME,
	  .offset = OVERRIDE(warmup),
	  .value = "TIME",
	  .help = "simulated time before measuring" },
	{ .name = "measure",
	  .kind = OPT_TIME,
	  .offset = OVERRIDE(measure),
	  .value = "TIME",
	  .help = "simulated time measured" },
	{ .name = "sample",
	  .kind = OPT_TIME,
	  .offset = offsetof(struct values, sample),
	  .value = "TIME",
	  .initial = "0ns",
	  .help = "record every flow's rate this often; 0: not" },
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

static bool show_progress(void *context, const struct sim_progress *p)
{
	struct progress *progress = context;

	progress_show(progress, (double)p->now / (double)HD_MS);
	return true;
}

/* The algorithms one after the other, as the user wants them. */
static enum hd_status compare(struct cc_comparison *c, const struct values *v,
			      struct diag *d)
{
	struct progress progress;
	enum hd_status status = HD_OK;

	progress_begin(&progress, &v->common, "simulated ms",
		       (double)c->session->params.stop / (double)HD_MS);
	c->session->params.progress = show_progress;
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
	enum hd_status status = ports_choose(s->build, &v->ports, d, &ports);

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

	if (cc_session_open(&s, path, &v->override, &v->common.seed, &d) !=
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

static int run(const struct command *self, int argc, char **argv)
{
	struct values v = { .common.seed = SEED_OF_SCENARIO,
			    .override = cc_override_none };
	int n, status;

	if (!command_parse(self, &v, argc, argv, &n, &status))
		; /* all is said */
	else if (n != 1)
		status = command_usage(self, "which scenario?");
	else if (unknown_name(&v))
		status = command_usage(self,
				       "option --algorithm: there is no '%s'",
				       unknown_name(&v));
	else if (v.pcap && v.algorithms.n != 1)
		status = command_usage(
			self, "--pcap is of one run: name one --algorithm");
	else
		status = execute(&v, argv[0]);
	option_list_fini(&v.algorithms);
	option_list_fini(&v.ports);
	option_list_fini(&v.override.set);
	return status;
}

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
	.run = run,
};
