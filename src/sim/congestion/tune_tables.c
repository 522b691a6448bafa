/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
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

static const struct column held_columns[] = {
	{ "warm-up", "ms", VALUE_REAL, ORIGIN_GIVEN, 3 },
	{ "measured", "ms", VALUE_REAL, ORIGIN_GIVEN, 3 },
	{ "promised", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "hot link", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "hot link +-", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "lowest", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "gain", NULL, VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "gain +-", NULL, VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "floor", NULL, VALUE_TEXT, ORIGIN_SIMULATED, 0 },
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

static void put_held_out(const struct tune_options *o,
			 const struct tune_result *t, struct results *r)
{
	static const char *const verdicts[] = { [TUNE_OPEN] = "cannot tell",
						[TUNE_KEPT] = "kept",
						[TUNE_MISSED] = "missed" };
	char title[80];

	snprintf(title, sizeof(title),
		 "on %u seeds that the search did not see, 95 %% intervals",
		 o->held_out);
	struct table *held = results_table(r, "held out", title, held_columns);

	for (uint32_t i = 0; i < t->n_rounds; i++) {
		const struct tune_round *round = &t->rounds[i];

		table_put_real(held, (double)round->warmup / (double)HD_MS);
		table_put_real(held, (double)round->measure / (double)HD_MS);
		table_put_real(held, 100 * fmin(t->best.plain.hot,
						t->best.stressed.hot));
		table_put_real(held, 100 * round->hot.mean);
		table_put_real(held, 100 * round->hot.half_width);
		table_put_real(held, 100 * round->hot.lowest);
		table_put_real(held, round->gain.mean);
		table_put_real(held, round->gain.half_width);
		table_put_text(held, verdicts[round->verdict]);
	}
}

/* What the user is to know before he believes it. */
static void remark_held_out(const struct tune_options *o,
			    const struct tune_result *t, struct results *r)
{
	const struct tune_round *last = &t->rounds[t->n_rounds - 1];
	struct strbuf warmup = STRBUF_INIT, measure = STRBUF_INIT;

	hd_time_print(last->warmup, &warmup);
	hd_time_print(last->measure, &measure);
	if (tune_is_kept(t) && t->n_rounds > 1)
		results_remark(
			r,
			"The windows are too short to tell whether the hot link stays at %g %% on other seeds. It takes --warmup %s --measure %s: over those it does.",
			100 * o->floor, warmup.text, measure.text);
	else if (!tune_is_kept(t))
		results_remark(
			r,
			"The promise does not hold: on %u seeds that the search did not see the hot link is used to %.1f +- %.1f %%, and the floor is %g %%. The windows of the search are too short for these dice; search again with --warmup %s --measure %s, or with a lower --floor.",
			o->held_out, 100 * last->hot.mean,
			100 * last->hot.half_width, 100 * o->floor, warmup.text,
			measure.text);
	strbuf_fini(&warmup);
	strbuf_fini(&measure);
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
	if (t->n_rounds)
		put_held_out(options, t, r);
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
	else
		remark_held_out(options, t, r);
}
