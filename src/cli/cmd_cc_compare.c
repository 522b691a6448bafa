/* SPDX-License-Identifier: BSD-2-Clause */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "measure/fairness.h"
#include "scenario/scenario.h"
#include "sim/build.h"
#include "sim/congestion/flows.h"

#define MAX_TEXT ((size_t)16 << 20)

static const char *const mark_names[] = { "two-counter", "published",
					  "threshold", "iba", NULL };

struct values {
	struct common_options common;
	unsigned marking;
	uint64_t depth, threshold, window, steps;
	hd_time ack_delay, warmup, measure, sample;
	double m;
};

static const struct option options[] = {
	{ .name = "marking",
	  .kind = OPT_CHOICE,
	  .offset = offsetof(struct values, marking),
	  .choices = mark_names,
	  .help = "when switches mark: with a full buffer (guarded, or as "
		  "published), a depth, or InfiniBand's threshold" },
	{ .name = "depth",
	  .kind = OPT_SIZE,
	  .offset = offsetof(struct values, depth),
	  .value = "SIZE",
	  .help = "waiting for an output from which on 'threshold' marks" },
	{ .name = "threshold",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, threshold),
	  .value = "N",
	  .low = 0,
	  .high = 15,
	  .help = "of 'iba': 0 never, 1 loose, 15 aggressive" },
	{ .name = "window",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, window),
	  .value = "N",
	  .low = 1,
	  .high = 4096,
	  .help = "unacknowledged packets of a flow" },
	{ .name = "ack-delay",
	  .kind = OPT_TIME,
	  .offset = offsetof(struct values, ack_delay),
	  .value = "TIME",
	  .help = "acknowledge after this time; 0: by packets of 30 bytes" },
	{ .name = "rate-steps",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, steps),
	  .value = "N",
	  .low = 2,
	  .high = 1000000,
	  .help = "highest rate over lowest" },
	{ .name = "m",
	  .kind = OPT_DOUBLE,
	  .offset = offsetof(struct values, m),
	  .value = "M",
	  .help = "factor (FIMD, AIMD) or root (PIPD) of a decrease" },
	{ .name = "warmup",
	  .kind = OPT_TIME,
	  .offset = offsetof(struct values, warmup),
	  .value = "TIME",
	  .help = "simulated time before measuring" },
	{ .name = "measure",
	  .kind = OPT_TIME,
	  .offset = offsetof(struct values, measure),
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

static const struct column row_columns[] = {
	{ "algorithm", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "row", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "flows", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "goodput", "Mb/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "of the link", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "rate variable", "Mb/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "marks per flow", "1/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column total_columns[] = {
	{ "algorithm", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "goodput", "Mb/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "busiest link", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "fairness", NULL, VALUE_REAL, ORIGIN_SIMULATED, 4 },
	{ "marked", "1/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column sample_columns[] = {
	{ "time", "us", VALUE_REAL, ORIGIN_GIVEN, 3 },
	{ "algorithm", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "flow", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "rate", "1/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

struct session {
	struct values v;
	struct strbuf text;
	struct scenario scenario;
	struct sim_build build;
	struct congestion_flow *flows;
	struct congestion_params params;
	struct results *results;
	struct table *rows, *totals, *samples;
	double link_bits; /* of the first flow's link */
};

struct row_sum {
	double goodput, rate, marks;
	uint64_t flows;
};

static void show_rows(struct session *s, const char *name,
		      const struct congestion_result *r)
{
	size_t n_rows = s->scenario.n_traffic;
	struct row_sum *sum = hd_alloc(n_rows, sizeof(*sum));

	for (uint32_t i = 0; i < r->n_flows; i++) {
		struct row_sum *row = &sum[s->build.flows[i].row];
		double bits = 8.0 * s->flows[i].bytes;

		row->flows++;
		row->goodput += r->flows[i].goodput * bits;
		row->rate += r->flows[i].rate * bits;
		row->marks += r->flows[i].marks;
	}
	for (size_t i = 0; i < n_rows; i++) {
		table_put_text(s->rows, name);
		table_put_text(s->rows, s->scenario.traffic[i].name);
		table_put_uint(s->rows, sum[i].flows);
		table_put_real(s->rows, sum[i].goodput / 1e6);
		table_put_real(s->rows, 100 * sum[i].goodput / s->link_bits);
		table_put_real(s->rows, sum[i].rate / 1e6);
		table_put_real(s->rows, sum[i].marks / (double)sum[i].flows);
	}
	free(sum);
}

static void show_total(struct session *s, const char *name,
		       const struct congestion_result *r)
{
	double *goodput = hd_alloc(r->n_flows, sizeof(*goodput));
	double sum = 0, busiest = 0;

	for (uint32_t i = 0; i < r->n_flows; i++) {
		goodput[i] = r->flows[i].goodput * 8 * s->flows[i].bytes;
		sum += goodput[i];
	}
	for (uint32_t i = 0; i < r->n_ports; i++) {
		if (r->utilisation[i] > busiest)
			busiest = r->utilisation[i];
	}
	table_put_text(s->totals, name);
	table_put_real(s->totals, sum / 1e6);
	table_put_real(s->totals, 100 * busiest);
	table_put_real(s->totals, jain_index(goodput, r->n_flows));
	table_put_real(s->totals, (double)r->marked / ((double)s->params.stop /
						       (double)HD_S));
	free(goodput);
}

static enum hd_status
try_algorithm(struct session *s, const struct cc_algorithm *a, struct diag *d)
{
	const char *name = a ? a->name : "none";
	struct congestion_result r;

	enum mark_rule rule = s->params.marking.rule;

	s->params.algorithm = a;
	if (!a)
		s->params.marking.rule = MARK_NONE;
	enum hd_status status = congestion_run(
		&s->build.setup, s->flows, s->build.n_flows, &s->params, d, &r);

	s->params.marking.rule = rule;
	if (status != HD_OK)
		return status;
	show_rows(s, name, &r);
	show_total(s, name, &r);
	for (size_t i = 0; i < r.n_samples; i++) {
		table_put_time(s->samples, r.samples[i].time);
		table_put_text(s->samples, name);
		table_put_uint(s->samples, r.samples[i].flow);
		table_put_real(s->samples, r.samples[i].rate);
	}
	congestion_result_fini(&r);
	return HD_OK;
}

static enum hd_status compare(struct session *s, struct diag *d)
{
	enum hd_status status = congestion_flows(&s->build, d, &s->flows);

	if (status != HD_OK)
		return status;
	s->link_bits = congestion_link_bits(&s->build, &s->flows[0]);
	status = congestion_params_init(&s->build, s->flows, d, &s->params);
	if (status != HD_OK)
		return status;
	s->params.sample = s->v.sample;
	s->rows =
		results_table(s->results, "rows",
			      "what each row of traffic received", row_columns);
	s->totals = results_table(s->results, "totals", "all of them together",
				  total_columns);
	if (s->v.sample)
		s->samples = results_series(s->results, "rates",
					    "the rate variables over time",
					    sample_columns);
	status = try_algorithm(s, NULL, d);
	for (size_t i = 0; status == HD_OK && cc_algorithms[i]; i++)
		status = try_algorithm(s, cc_algorithms[i], d);
	return status;
}

/* Options weigh more than the file. */
static void override(const struct values *v, struct scn_congestion *c)
{
	static const enum scn_marking rules[] = { SCN_MARK_TWO_COUNTER,
						  SCN_MARK_PUBLISHED,
						  SCN_MARK_THRESHOLD,
						  SCN_MARK_IBA };

	if (v->marking != UINT_MAX)
		c->marking = rules[v->marking];
	if (v->depth != UINT64_MAX)
		c->depth = v->depth;
	if (v->threshold != UINT64_MAX)
		c->threshold = v->threshold;
	if (v->window != UINT64_MAX)
		c->window = v->window;
	if (v->ack_delay != HD_TIME_NEVER)
		c->ack_delay = v->ack_delay;
	if (v->steps != UINT64_MAX)
		c->rate_steps = v->steps;
	if (v->m > 0)
		c->m = v->m;
	if (v->warmup)
		c->warmup = v->warmup;
	if (v->measure)
		c->measure = v->measure;
}

static enum hd_status open_scenario(struct session *s, const char *path,
				    struct diag *d)
{
	enum hd_status status = file_read(path, MAX_TEXT, d, &s->text);

	if (status == HD_OK)
		status = scenario_parse(s->text.text, s->text.len, path, d,
					&s->scenario);
	if (status != HD_OK)
		return status;
	override(&s->v, &s->scenario.congestion);
	status = sim_build(&s->scenario, d, &s->build);
	if (status != HD_OK) {
		d->file = path; /* it pointed into the scenario */
		scenario_fini(&s->scenario);
	}
	return status;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct session s = { .text = STRBUF_INIT,
			     .v = { .marking = UINT_MAX,
				    .depth = UINT64_MAX,
				    .threshold = UINT64_MAX,
				    .window = UINT64_MAX,
				    .ack_delay = HD_TIME_NEVER,
				    .steps = UINT64_MAX } };
	struct diag d = { .status = HD_OK };
	int n, status;

	if (!command_parse(self, &s.v, argc, argv, &n, &status))
		return status;
	if (n != 1)
		return command_usage(self, "which scenario?");
	if (open_scenario(&s, argv[0], &d) != HD_OK) {
		strbuf_fini(&s.text);
		return command_refuse(&d);
	}
	s.results = results_new("cc compare");
	results_set_scenario(s.results, s.text.text);
	d.file = NULL;
	if (compare(&s, &d) == HD_OK) {
		status = output_results(&s.v.common, s.results, true);
	} else {
		results_free(s.results);
		status = command_refuse(&d);
	}
	free(s.flows);
	sim_build_fini(&s.build);
	scenario_fini(&s.scenario);
	strbuf_fini(&s.text);
	return status;
}

static const struct example examples[] = {
	{ "heddle cc compare examples/two-switch-congestion.yaml",
	  "what control does for the victim of congestion" },
	{ "heddle cc compare --marking published --ack-delay 2us --window 1 examples/two-switch-congestion.yaml",
	  "marking as the thesis prints it" },
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
		"stands beside the goodput, since the two can be far apart.\n",
	.options = options,
	.examples = examples,
	.run = run,
};
