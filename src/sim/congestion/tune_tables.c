/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "sim/congestion/tune.h"

static const struct column gain_columns[] = {
	{ "control", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "hot link's rate", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "victims", "Mb/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "gain", NULL, VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "hot link", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "goodput", "Mb/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "fairness", NULL, VALUE_REAL, ORIGIN_SIMULATED, 4 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column parameter_columns[] = {
	{ "hot link", NULL, VALUE_TEXT, ORIGIN_SIMULATED, 0 },
	{ "floor", "%", VALUE_REAL, ORIGIN_GIVEN, 1 },
	{ "floor kept", NULL, VALUE_BOOL, ORIGIN_SIMULATED, 0 },
	{ "victim flows", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "threshold", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "marking rate", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "increase", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "timer", "us", VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "table", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "holds", "senders", VALUE_REAL, ORIGIN_COMPUTED, 0 },
	{ "trials", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column trial_columns[] = {
	{ "trial", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "threshold", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "marking rate", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "increase", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "timer", "us", VALUE_REAL, ORIGIN_GIVEN, 3 },
	{ "table", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "victims", "Mb/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "hot link", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "stressed victims", "Mb/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "stressed hot link", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column conf_columns[] = {
	{ "opensm.conf", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static void put_settings(struct table *t, const struct tune_trial *trial)
{
	table_put_uint(t, trial->threshold);
	table_put_uint(t, trial->marking_rate);
	table_put_uint(t, trial->increase);
	table_put_real(t, trial->timer * 1.024);
	table_put_text(t, tune_shape_name(trial->shape));
}

static void put_gain(struct table *t, const char *name, const char *rate,
		     const struct tune_outcome *trial,
		     const struct tune_outcome *none)
{
	table_put_text(t, name);
	table_put_text(t, rate);
	table_put_real(t, trial->victims / 1e6);
	table_put_real(t, trial->victims / none->victims);
	table_put_real(t, 100 * trial->hot);
	table_put_real(t, trial->total / 1e6);
	table_put_real(t, trial->fairness);
}

static void put_gains(struct table *t, const char *rate,
		      const struct tune_outcome *none,
		      const struct tune_outcome *opensm,
		      const struct tune_outcome *best)
{
	put_gain(t, "none", rate, none, none);
	put_gain(t, "OpenSM's defaults", rate, opensm, none);
	put_gain(t, "tuned", rate, best, none);
}

static void put_conf(const struct opensm_cc *conf, struct results *r)
{
	struct table *t = results_table(
		r, "opensm.conf", "lines for OpenSM, none above 1023 bytes",
		conf_columns);
	struct strbuf text = STRBUF_INIT;
	char *rest, *line;

	opensm_cc_write(conf, &text);
	rest = text.text;
	while ((line = strtok_r(rest, "\n", &rest)))
		table_put_text(t, line);
	strbuf_fini(&text);
}

void congestion_tune_tables(const struct fabric *b,
			    const struct tune_options *options,
			    const struct tune_result *t, struct results *r)
{
	struct table *gain = results_table(
		r, "gain", "what the victims receive, and what it costs",
		gain_columns);
	struct table *found = results_record(
		r, "parameters", "the best that was found", parameter_columns);
	struct strbuf name = STRBUF_INIT;

	put_gains(gain, "whole", &t->none.plain, &t->opensm.plain,
		  &t->best.plain);
	if (options->stress > 1) {
		char rate[32];

		snprintf(rate, sizeof(rate), "1/%u", options->stress);
		put_gains(gain, rate, &t->none.stressed, &t->opensm.stressed,
			  &t->best.stressed);
	}
	fabric_port_name(b, t->hot, &name);
	table_put_text(found, name.text);
	strbuf_fini(&name);
	table_put_real(found, 100 * options->floor);
	table_put_bool(found, t->found);
	table_put_uint(found, t->n_victims);
	put_settings(found, &t->best);
	table_put_real(found, t->best.reach);
	table_put_uint(found, t->n_trials);
	put_conf(&t->conf, r);
	struct table *trials = results_series(
		r, "trials", "what was tried, in order", trial_columns);

	for (uint32_t i = 0; i < t->n_trials; i++) {
		table_put_uint(trials, i + 1);
		put_settings(trials, &t->trials[i]);
		table_put_real(trials, t->trials[i].plain.victims / 1e6);
		table_put_real(trials, 100 * t->trials[i].plain.hot);
		table_put_real(trials, t->trials[i].stressed.victims / 1e6);
		table_put_real(trials, 100 * t->trials[i].stressed.hot);
	}
	results_remark(
		r,
		"OpenSM's own defaults are zero throughout: threshold 0 marks nothing. How full a threshold is, no standard says: here T marks once (16 - T)/16 of an input buffer wait for the output.");
	if (!t->found)
		results_remark(
			r,
			"No trial kept the hot link at %g %%; the one that used it most is shown.",
			100 * options->floor);
}
