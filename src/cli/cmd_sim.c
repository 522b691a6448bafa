/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/live/live.h"
#include "cli/output.h"
#include "cli/ports.h"
#include "cli/progress.h"
#include "cli/record.h"
#include "cli/scenario.h"
#include "fabric/fabric.h"
#include "scenario/scenario.h"
#include "sim/perfquery.h"
#include "sim/picture.h"
#include "sim/sim.h"
#include "sim/tables.h"
#include "sim/watch.h"
#include "verbs/traffic.h"

struct sim_options {
	struct common_options common;
	bool explain;
	bool all;
	bool counters;
	bool checksum;
	const char *pcap;
	unsigned flow_control; /* enum sim_capture_flow */
	const char *trace;
	hd_time sample;
	uint64_t threads; /* 0: as many as are worth it */
	bool verbose;
	const char *live; /* the name of a live fabric, or NULL */
	struct option_list ports, set;
};

static const char *const flow_controls[] = { "none", "bare", "padded", NULL };

static const struct option options[] = {
	{ .name = "live",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct sim_options, live),
	  .value = "NAME",
	  .help = "run on the tables, lanes and links of the live fabric NAME "
		  "as they are now, and count there what the traffic does" },
	{ .name = "explain",
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct sim_options, explain),
	  .help = "print the scenario with every default filled in, and run "
		  "nothing" },
	OPTION_SET(struct sim_options, set),
	{ .name = "all",
	  .letter = 'a',
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct sim_options, all),
	  .help = "show every port and flow, not only the busiest ports" },
	{ .name = "counters",
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct sim_options, counters),
	  .help = "print the ports' counters as perfquery does, instead of "
		  "results" },
	{ .name = "checksum",
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct sim_options, checksum),
	  .help = "print one number that all deliveries and counters enter, "
		  "instead of results" },
	{ .name = "pcap",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct sim_options, pcap),
	  .value = "FILE",
	  .help = "write the packets to FILE, for Wireshark" },
	{ .name = "flow-control",
	  .kind = OPT_CHOICE,
	  .offset = offsetof(struct sim_options, flow_control),
	  .value = "HOW",
	  .initial = "none",
	  .choices = flow_controls,
	  .help = "with --pcap and 'fabric.credits: exact', flow-control "
		  "packets too: bare as they are, 6 bytes, or padded, which "
		  "Wireshark 4.0 needs not to call them malformed" },
	{ .name = "trace",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct sim_options, trace),
	  .value = "FILE",
	  .help = "write a line for every packet sent, received or lost" },
	{ .name = "port",
	  .kind = OPT_LIST,
	  .offset = offsetof(struct sim_options, ports),
	  .value = "NODE:PORT",
	  .help = "only at this port (--pcap, --trace, --counters)" },
	{ .name = "sample",
	  .kind = OPT_TIME,
	  .offset = offsetof(struct sim_options, sample),
	  .value = "TIME",
	  .initial = "0s",
	  .help = "how often --db and --html note the use of links; 0: "
		  "about a hundred times" },
	{ .name = "threads",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct sim_options, threads),
	  .value = "N",
	  .help = "compute on N threads, with the same results for any N; "
		  "without this option as many as there are processors, if "
		  "the fabric is large enough to keep them busy",
	  .low = 1,
	  .high = 1024 },
	{ .name = "verbose",
	  .letter = 'v',
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct sim_options, verbose),
	  .help = "say on standard error on how many threads it was computed, "
		  "and why if on one in spite of --threads" },
	{ .name = NULL },
};

static const struct example examples[] = {
	{ "heddle sim examples/quickstart.yaml",
	  "three classes of traffic on a mesh" },
	{ "heddle sim examples/quickstart.yaml --seed 7 --json",
	  "the same with other dice, for programs" },
	{ "heddle sim examples/quickstart.yaml --set traffic.0.load=70% --set qos.lanes=4",
	  "the same with other values than the file's" },
	{ "heddle sim --explain examples/quickstart.yaml",
	  "what the scenario says, and what it leaves to defaults" },
	{ "heddle sim examples/quickstart.yaml --pcap run.pcap --port h0",
	  "what a cable carried, for Wireshark" },
	{ "heddle sim examples/quickstart.yaml --counters --port s-0-0:1",
	  "a port's counters, as perfquery shows them" },
	{ NULL, NULL },
};

/* A run and all that it needs. */
struct session {
	struct sim_options options;
	struct overrides overrides;
	struct fabric *build;
	bool *ports; /* per sim port, or NULL: all */
	struct sim_watch watch;
	struct file_writer pcap, trace;
	bool pcap_open, trace_open;
	struct progress progress;
	struct sim_samples samples;
	struct sim *sim;
	struct qp_rows *queue_pairs; /* or NULL */
	enum sim_state state;
};

static bool is_recorded(const struct session *s)
{
	return s->options.common.db || s->options.common.html;
}

static bool show_progress(void *context, const struct sim_progress *p)
{
	struct session *s = context;

	s->progress.total = p->share > 0 ? (double)p->delivered / p->share : 0;
	progress_show(&s->progress, (double)p->delivered);
	return true;
}

static enum hd_status open_files(struct session *s, struct diag *d)
{
	enum hd_status status = HD_OK;

	sim_watch_init(&s->watch, s->build);
	d->file = NULL;
	if (s->options.pcap) {
		status = file_create(&s->pcap, s->options.pcap, d);
		s->pcap_open = status == HD_OK;
		if (status == HD_OK) {
			d->file = s->build->scenario->file;
			status = sim_watch_capture(
				&s->watch, s->pcap.stream, s->ports,
				(enum sim_capture_flow)s->options.flow_control,
				d);
		}
	}
	if (status == HD_OK && s->options.trace) {
		status = file_create(&s->trace, s->options.trace, d);
		s->trace_open = status == HD_OK;
		if (status == HD_OK)
			sim_watch_trace(&s->watch, s->trace.stream, s->ports);
	}
	return status;
}

static enum hd_status close_files(struct session *s, struct diag *d)
{
	enum hd_status status = sim_watch_finish(&s->watch, d);

	if (status != HD_OK)
		d->file = s->pcap_open && ferror(s->pcap.stream)
				  ? s->options.pcap
				  : s->options.trace;
	if (status == HD_OK && s->pcap_open) {
		s->pcap_open = false;
		status = file_commit(&s->pcap, d);
	}
	if (status == HD_OK && s->trace_open) {
		s->trace_open = false;
		status = file_commit(&s->trace, d);
	}
	return status;
}

/* Pauses to look change nothing in the run. */
static void run_sampled(struct session *s)
{
	hd_time until = HD_TIME_NEVER;

	if (is_recorded(s))
		sim_samples_init(&s->samples, s->build, s->sim,
				 s->options.sample);
	do {
		if (s->samples.build)
			until = sim_samples_next(&s->samples);
		s->state = sim_run(s->sim, until, show_progress, s);
		if (s->samples.build)
			sim_samples_take(&s->samples);
	} while (s->state == SIM_PAUSED);
}

static unsigned threads_of(const struct session *s)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (s->options.threads)
		return (unsigned)s->options.threads;
	return sim_threads(&s->build->setup, cores > 1 ? (unsigned)cores : 1);
}

static void say_threads(const struct session *s, unsigned asked)
{
	const char *why;
	uint32_t parts = sim_is_cut(s->sim, &why);

	if (!why && !s->options.threads)
		why = "more would not pay on so small a fabric";
	if (parts > 1)
		fprintf(stderr, "heddle: computed in %u parts on %u threads\n",
			parts, asked < parts ? asked : parts);
	else
		fprintf(stderr, "heddle: computed on one thread%s%s\n",
			why ? ": " : "", why ? why : "");
}

static enum hd_status make_sim(struct session *s, struct sim_rules *rules,
			       struct diag *d)
{
	bool any = qp_rows_any(s->build);

	if (any)
		lab_rules(rules);
	s->sim = sim_new(&s->build->setup, s->build->flows, s->build->n_flows,
			 rules);
	return any ? qp_rows_new(s->build, s->sim, d, &s->queue_pairs) : HD_OK;
}

static enum hd_status run(struct session *s, const char *path, struct diag *d)
{
	enum hd_status status =
		s->options.live
			? live_fabric_read(s->options.live, path, &s->overrides,
					   d, &s->build)
			: fabric_read(path, &s->overrides, d, &s->build);

	if (status == HD_OK)
		status = scenario_needs_traffic(s->build->scenario, d);
	if (status != HD_OK)
		return status;
	s->options.common.seed = s->build->scenario->run.seed;
	status = ports_choose(s->build, &s->options.ports, d, &s->ports);
	if (status == HD_OK)
		status = open_files(s, d);
	if (status != HD_OK)
		return status;
	struct sim_rules rules = s->build->rules;

	rules.yields = true;
	rules.threads = threads_of(s);
	status = make_sim(s, &rules, d);
	if (status != HD_OK)
		return status;
	sim_watch_attach(&s->watch, s->sim);
	progress_begin(&s->progress, &s->options.common, "packets", 0);
	run_sampled(s);
	progress_end(&s->progress);
	if (s->options.verbose)
		say_threads(s, rules.threads);
	status = close_files(s, d);
	if (status == HD_OK && s->options.live)
		status = live_count(s->options.live, s->build,
				    sim_metrics(s->sim), d);
	return status;
}

static void put_setting(void *context, const char *name, const char *value)
{
	results_parameter(context, name, value);
}

/* Why a run that filled the memory ended early. */
static void describe_crowd(struct session *s, struct strbuf *out)
{
	struct sim_crowd crowd;

	sim_crowd(s->sim, &crowd);
	strbuf_puts(out, "out of memory at ");
	hd_time_print(sim_now(s->sim), out);
	strbuf_printf(out,
		      ": %llu packets wait in the fabric, %llu of them at ",
		      (unsigned long long)crowd.packets,
		      (unsigned long long)crowd.waiting);
	fabric_port_name(s->build, crowd.port, out);
}

/* The tables; true if every goal was met and nothing stands still. */
static bool make_results(struct session *s, bool all, struct results *r)
{
	const struct sim_findings f = {
		.build = s->build,
		.metrics = sim_metrics(s->sim),
		.state = s->state,
		.all = all,
	};

	results_set_scenario(r, s->build->scenario->text);
	scenario_settings(s->build->scenario, put_setting, r);
	if (s->state == SIM_DEADLOCK)
		sim_deadlock_table(&f, s->sim, r);
	bool met = sim_tables(&f, r);

	if (s->queue_pairs)
		qp_rows_table(s->queue_pairs, f.metrics, r);
	sim_control_tables(&f, s->sim, r);
	sim_loans_table(&f, s->sim, r);

	sim_watch_similarity(&s->watch, f.metrics, r);
	if (s->state == SIM_FULL) {
		struct strbuf why = STRBUF_INIT;

		describe_crowd(s, &why);
		results_remark(r, "%s; this is what came before", why.text);
		strbuf_fini(&why);
	}
	return met && s->state != SIM_DEADLOCK;
}

/* A record is for looking up anything, the screen is not. */
static int record(struct session *s)
{
	const struct sim_findings f = {
		.build = s->build,
		.metrics = sim_metrics(s->sim),
		.state = s->state,
		.all = true,
	};
	struct results *r = results_new("sim");

	make_results(s, true, r);
	sim_picture_curves(&f, r);
	sim_samples_tables(&s->samples, r);
	sim_picture_fabric(&f, r);
	int status = record_results(&s->options.common, r);

	results_free(r);
	return status;
}

static int show_results(struct session *s)
{
	struct common_options common = s->options.common;
	struct results *r = results_new("sim");
	bool met = make_results(s, s->options.all, r);

	common.db = NULL;
	common.html = NULL;
	int recorded = is_recorded(s) ? record(s) : EXIT_DONE;
	int status = output_results(&common, r, met);

	return recorded == EXIT_DONE ? status : recorded;
}

static int show(struct session *s)
{
	const struct sim_metrics *m = sim_metrics(s->sim);
	struct strbuf out = STRBUF_INIT;
	int status;

	if (!s->options.checksum && !s->options.counters)
		return show_results(s);
	if (s->options.checksum)
		strbuf_printf(&out, "%016llx\n",
			      (unsigned long long)m->checksum);
	else
		perfquery_print(s->build, m, s->ports, &out);
	status = output_bytes(&s->options.common, out.text, out.len,
			      s->state != SIM_DEADLOCK);
	strbuf_fini(&out);
	return status;
}

/* What was measured until memory ran short is shown, and then said. */
static int show_all(struct session *s)
{
	int status = show(s);
	struct strbuf why = STRBUF_INIT;

	if (s->state != SIM_FULL)
		return status;
	describe_crowd(s, &why);
	fprintf(stderr, "heddle: %s; --memory says how much there may be\n",
		why.text);
	strbuf_fini(&why);
	return EXIT_ENVIRONMENT;
}

static void session_fini(struct session *s)
{
	if (s->pcap_open)
		file_abandon(&s->pcap);
	if (s->trace_open)
		file_abandon(&s->trace);
	if (s->queue_pairs)
		qp_rows_free(s->queue_pairs);
	if (s->sim)
		sim_free(s->sim);
	sim_samples_fini(&s->samples);
	if (s->watch.build)
		sim_watch_fini(&s->watch);
	if (s->build)
		fabric_free(s->build);
	overrides_fini(&s->overrides);
	option_list_fini(&s->options.ports);
	option_list_fini(&s->options.set);
	free(s->ports);
}

static int explain(const struct session *s, const char *path, struct diag *d)
{
	struct strbuf out = STRBUF_INIT;
	struct scenario scenario;
	int status;

	if (scenario_read(path, &s->overrides, d, &scenario) == HD_OK) {
		scenario_explain(&scenario, &out);
		status = output_bytes(&s->options.common, out.text, out.len,
				      true);
	} else {
		status = command_refuse(d);
	}
	scenario_fini(&scenario);
	strbuf_fini(&out);
	return status;
}

static int execute(struct session *s, const char *path)
{
	struct diag d = { .status = HD_OK };

	if (overrides_from_options(&s->options.set, s->options.common.seed,
				   &s->overrides, &d) != HD_OK)
		return command_refuse(&d);
	if (s->options.explain)
		return explain(s, path, &d);
	return run(s, path, &d) == HD_OK ? show_all(s) : command_refuse(&d);
}

/* What the command line alone says; EXIT_DONE if it makes sense. */
static int check_options(const struct command *self,
			 const struct sim_options *o, int n_args)
{
	const char *own = o->explain    ? "--explain"
			  : o->checksum ? "--checksum"
			  : o->counters ? "--counters"
					: NULL;

	if (n_args != 1)
		return command_usage(self, "expected one scenario, not %d",
				     n_args);
	if (o->explain + o->checksum + o->counters > 1)
		return command_usage(self, "choose one of --explain, "
					   "--checksum and --counters");
	if (o->pcap && o->trace && strcmp(o->pcap, o->trace) == 0)
		return command_usage(self, "--pcap and --trace need files of "
					   "their own");
	return own ? output_check_own(self, &o->common, own) : EXIT_DONE;
}

static int run_sim(const struct command *self, int argc, char **argv)
{
	struct session s = { .options.common.seed = SEED_OF_SCENARIO };
	int n_args, status = EXIT_DONE;

	if (command_parse(self, &s.options, argc, argv, &n_args, &status))
		status = check_options(self, &s.options, n_args);
	else
		n_args = 0;
	if (status == EXIT_DONE && n_args)
		status = execute(&s, argv[0]);
	session_fini(&s);
	return status;
}

const struct command command_sim = {
	.name = "sim",
	.summary = "run a scenario on a simulated fabric",
	.arguments = "FILE",
	.description =
		"Simulates the scenario in FILE ('-': standard input), exact "
		"to the picosecond and the same on every machine, and shows "
		"what became of its traffic. heddle-scenario(5) describes the "
		"file.\n\n"
		"Results: the run as a whole, each traffic row with offered "
		"and delivered payload rates and latencies, the busiest ports. "
		"Ends with 1 if a goal of the scenario is missed, or if "
		"packets wait for each other in a circle (a deadlock, which is "
		"shown).",
	.options = options,
	.examples = examples,
	.run = run_sim,
};
