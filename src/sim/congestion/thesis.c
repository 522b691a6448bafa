/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/congestion/thesis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "sim/congestion/thesis_runs.h"

/* ---- stages ------------------------------------------------------------ */

enum hd_status stage_open(struct thesis *t, const char *text, struct stage *s)
{
	struct diag *d = t->d;

	*s = (struct stage){ .flows = NULL };
	overrides_put(&s->overrides, "--seed", "run.seed", "%llu",
		      (unsigned long long)t->options->seed);
	enum hd_status status = fabric_load(text, strlen(text), NULL,
					    &s->overrides, d, &s->build);

	if (status != HD_OK) {
		overrides_fini(&s->overrides);
		return status;
	}
	status = congestion_flows(s->build, d, &s->flows);
	if (status == HD_OK)
		status = congestion_params_init(s->build, d, &s->params);
	if (status != HD_OK) {
		stage_close(s);
		return status;
	}
	if (t->options->measure) {
		s->params.warmup = t->options->warmup;
		s->params.stop = t->options->warmup + t->options->measure;
	}
	return HD_OK;
}

void stage_close(struct stage *s)
{
	free(s->flows);
	fabric_free(s->build);
	overrides_fini(&s->overrides);
}

enum hd_status stage_run(struct thesis *t, struct stage *s,
			 struct congestion_result *out)
{
	enum hd_status status =
		congestion_run(&s->build->setup, s->flows, s->build->n_flows,
			       &s->params, t->d, out);

	t->done++;
	if (t->options->progress)
		t->options->progress(t->options->context, t->done, t->all);
	return status;
}

enum hd_status stage_open_switches(struct thesis *t, unsigned n,
				   unsigned buffer, struct stage *s)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_printf(
		&text,
		"fabric:\n"
		"  topology: {kind: two-switch, remote: %u, local: %u, victims: 1}\n"
		"  link: {rate: 1GB/s, propagation: 10ns}\n"
		"  switch: {order: fifo, input_buffer: %u packets, routing: 0ns, arbitration: 5ns}\n"
		"  packet: {overhead: 20}\n"
		"qos: {lanes: 1}\n"
		"traffic:\n"
		"  - {name: remote, kind: saturating, pattern: incast, source: A1..A%u, destination: Bc}\n"
		"  - {name: local, kind: saturating, pattern: incast, source: B1..B%u, destination: Bc}\n"
		"  - {name: victim, kind: saturating, pattern: pairs, source: Av, destination: Bv}\n"
		"congestion: {cap: false, warmup: 150ms, measure: 200ms}\n"
		"run: {measure: 1ms}\n",
		n, n, buffer, n, n);
	enum hd_status status = stage_open(t, text.text, s);

	strbuf_fini(&text);
	return status;
}

/* ---- tables ------------------------------------------------------------ */

static const struct column parameter_columns[] = {
	{ "parameter", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "value", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const char *const parameters[][2] = {
	{ "link bandwidth", "1 GB/s" },
	{ "packet header", "20 B" },
	{ "data packet", "2068 B" },
	{ "packet transmission time", "2.068 us" },
	{ "input buffer per port", "4 packets, 8272 B" },
	{ "highest rate Rmax", "483559 packets/s" },
	{ "lowest rate, high class", "Rmax/128, 3777.8 packets/s" },
	{ "lowest rate, low class", "Rmax/256, 1888.9 packets/s" },
	{ "m of PIPD, n of FIMD", "4" },
	{ "reservations, high and low class", "2 Gb/s, 1 Gb/s" },
	{ "window", "4 packets" },
};

static void put_parameters(struct results *r)
{
	struct table *t = results_table(
		r, "parameters",
		"the thesis' Table 3.1, lost and reconstructed, and what it left open",
		parameter_columns);

	for (size_t i = 0; i < sizeof(parameters) / sizeof(*parameters); i++) {
		table_put_text(t, parameters[i][0]);
		table_put_text(t, parameters[i][1]);
	}
}

static const struct column claim_columns[] = {
	{ "claim", NULL, VALUE_TEXT, ORIGIN_PUBLISHED, 0 },
	{ "published", NULL, VALUE_TEXT, ORIGIN_PUBLISHED, 0 },
	{ "holds", NULL, VALUE_BOOL, ORIGIN_SIMULATED, 0 },
	{ "ours", NULL, VALUE_TEXT, ORIGIN_SIMULATED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

void thesis_claim(struct thesis *t, const char *said, const char *published,
		  bool holds, const char *ours, ...)
{
	char text[384];
	va_list args;

	va_start(args, ours);
	vsnprintf(text, sizeof(text), ours, args);
	va_end(args);
	table_put_text(t->claims, said);
	table_put_text(t->claims, published);
	table_put_bool(t->claims, holds);
	table_put_text(t->claims, text);
}

enum hd_status congestion_thesis(const struct thesis_options *o, struct diag *d,
				 struct results *r)
{
	struct thesis t = {
		.options = o, .d = d, .results = r, .all = THESIS_RUNS
	};

	results_set_scenario(r, congestion_thesis_scenario);
	put_parameters(r);
	t.claims = results_table(r, "claims", "what is said, and what we see",
				 claim_columns);
	enum hd_status status = thesis_classes(&t);

	if (status == HD_OK)
		status = thesis_start(&t);
	if (status == HD_OK)
		status = thesis_totals(&t);
	if (status == HD_OK)
		status = thesis_thresholds(&t);
	results_remark(
		r,
		"Absolute values of Tables 3.2 and 3.3 cannot be reproduced: their parameters are lost, PIPD's unit is not given, and the four rates together exceed the link. The order of the classes and the spreading of congestion can.");
	return status;
}
