/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "study/tune_internal.h"

struct gain_row {
	const char *control, *rate;
	double gain;
	struct tune_outcome outcome;
};

static const struct column gain_columns[] = {
	{ "control", NULL, CELL(gain_row, control) },
	{ "hot link's rate", NULL, CELL(gain_row, rate) },
	{ "gain", NULL, CELL(gain_row, gain), ORIGIN_SIMULATED, 2 },
	{ "victims", "Gb/s", CELL(gain_row, outcome.victims), ORIGIN_SIMULATED, 3 },
	{ "p99", "us", CELL(gain_row, outcome.p99), ORIGIN_SIMULATED, 3 },
	{ "completion", "us", CELL(gain_row, outcome.completion), ORIGIN_SIMULATED, 3 },
	{ "hot link", "%", CELL_SHARE(gain_row, outcome.hot), ORIGIN_SIMULATED, 2 },
	{ "delivered", "Gb/s", CELL(gain_row, outcome.total), ORIGIN_SIMULATED, 3 },
	{ "fairness", NULL, CELL(gain_row, outcome.fairness), ORIGIN_SIMULATED, 4 },
	{ NULL },
};

/* The winner, or an intermediate trial. */
struct trial_row {
	const char *hot_link, *shape, *goal;
	double floor; /* share */
	bool kept;
	uint64_t n_victims;
	uint32_t n_trials, trial;
	double timer, value, stressed_value;
	struct tune_trial of;
};

static const struct column parameter_columns[] = {
	{ "goal", NULL, CELL(trial_row, goal), ORIGIN_GIVEN },
	{ "hot link", NULL, CELL(trial_row, hot_link), ORIGIN_SIMULATED },
	{ "floor", "%", CELL_SHARE(trial_row, floor), ORIGIN_GIVEN, 1 },
	{ "floor kept", NULL, CELL(trial_row, kept), ORIGIN_SIMULATED },
	{ "victim flows", NULL, CELL(trial_row, n_victims), ORIGIN_COMPUTED },
	{ "threshold", NULL, CELL(trial_row, of.threshold), ORIGIN_COMPUTED },
	{ "marking rate", NULL, CELL(trial_row, of.marking_rate), ORIGIN_COMPUTED },
	{ "increase", NULL, CELL(trial_row, of.increase), ORIGIN_COMPUTED },
	{ "timer", "us", CELL(trial_row, timer), ORIGIN_COMPUTED, 3 },
	{ "table", NULL, CELL(trial_row, shape), ORIGIN_COMPUTED },
	{ "holds", "senders", CELL(trial_row, of.reach), ORIGIN_COMPUTED },
	{ "trials", NULL, CELL(trial_row, n_trials) },
	{ NULL },
};

struct held_row {
	double promised; /* share */
	const char *floor;
	struct tune_round round;
};

static const struct column held_columns[] = {
	{ "warm-up", "ms", CELL_TIME(held_row, round.warmup), ORIGIN_GIVEN, 3 },
	{ "measured", "ms", CELL_TIME(held_row, round.measure), ORIGIN_GIVEN, 3 },
	{ "promised", "%", CELL_SHARE(held_row, promised), ORIGIN_SIMULATED, 2 },
	{ "hot link", "%", CELL_SHARE(held_row, round.hot.mean), ORIGIN_SIMULATED, 2 },
	{ "hot link +-", "%", CELL_SHARE(held_row, round.hot.half_width), ORIGIN_SIMULATED, 2 },
	{ "lowest", "%", CELL_SHARE(held_row, round.hot.lowest), ORIGIN_SIMULATED, 2 },
	{ "gain", NULL, CELL(held_row, round.gain.mean), ORIGIN_SIMULATED, 2 },
	{ "gain +-", NULL, CELL(held_row, round.gain.half_width), ORIGIN_SIMULATED, 2 },
	{ "floor", NULL, CELL(held_row, floor), ORIGIN_SIMULATED },
	{ NULL },
};

static const struct column trial_columns[] = {
	{ "trial", NULL, CELL(trial_row, trial) },
	{ "threshold", NULL, CELL(trial_row, of.threshold) },
	{ "marking rate", NULL, CELL(trial_row, of.marking_rate) },
	{ "increase", NULL, CELL(trial_row, of.increase) },
	{ "timer", "us", CELL(trial_row, timer), ORIGIN_GIVEN, 3 },
	{ "table", NULL, CELL(trial_row, shape) },
	{ "goal", NULL, CELL(trial_row, value), ORIGIN_SIMULATED, 3 },
	{ "hot link", "%", CELL_SHARE(trial_row, of.plain.hot), ORIGIN_SIMULATED, 2 },
	{ "stressed goal", NULL, CELL(trial_row, stressed_value), ORIGIN_SIMULATED, 3 },
	{ "stressed hot link", "%", CELL_SHARE(trial_row, of.stressed.hot), ORIGIN_SIMULATED, 2 },
	{ NULL },
};

struct conf_row {
	const char *line;
};

static const struct column conf_columns[] = {
	{ "opensm.conf", NULL, CELL(conf_row, line), ORIGIN_COMPUTED },
	{ NULL },
};

static struct trial_row row_of(const struct tune_options *o, const struct tune_trial *trial)
{
	return (struct trial_row){
		.shape = tune_shape_name(trial->shape),
		.goal = tune_goal_names[o->goal],
		.timer = trial->timer * 1.024,
		.value = fabs(tune_value(o, &trial->plain)),
		.stressed_value = fabs(tune_value(o, &trial->stressed)),
		.of = *trial,
	};
}

static void put_gain(const struct tune_options *o, struct table *t, struct gain_row row,
		     const struct tune_outcome *none)
{
	row.gain = tune_gain(o, &row.outcome, none);
	table_put_row(t, &row);
}

static void put_gains(const struct tune_options *o, const struct tune_result *r, bool stressed,
		      struct table *t)
{
	const struct {
		const char *name;
		const struct tune_trial *trial;
	} rows[] = {
		{ "none", &r->none },
		{ "OpenSM's defaults", &r->opensm },
		{ "tuned", &r->best },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct tune_trial *x = rows[i].trial;
		struct gain_row row = {
			.control = rows[i].name,
			.rate = stressed ? table_text(t, "1/%u", o->stress) : "whole",
			.outcome = stressed ? x->stressed : x->plain,
		};

		put_gain(o, t, row, stressed ? &r->none.stressed : &r->none.plain);
	}
}

static void put_found(const struct tune_options *options, const struct tune_result *t,
		      struct results *r)
{
	struct table *found =
		results_record(r, "parameters", "the best that was found", parameter_columns);
	struct trial_row row = row_of(options, &t->best);

	row.hot_link = t->hot;
	row.floor = options->floor;
	row.kept = t->found;
	row.n_victims = t->n_victims;
	row.n_trials = t->n_trials;
	table_put_row(found, &row);
}

static void put_trials(const struct tune_options *o, const struct tune_result *t, struct results *r)
{
	static const char *const titles[] = {
		[TUNE_VICTIMS] = "in order; the goal is Gb/s delivered to the victims",
		[TUNE_P99] = "in order; the goal is the 99th percentile of latency in us",
		[TUNE_COMPLETION] = "in order; the goal is the completion of a job in us",
	};
	struct table *trials = results_series(r, "trials", titles[o->goal], trial_columns);

	for (uint32_t i = 0; i < t->n_trials; i++) {
		struct trial_row row = row_of(o, &t->trials[i]);

		row.trial = i + 1;
		table_put_row(trials, &row);
	}
}

static void put_conf(const struct opensm_cc *conf, struct results *r)
{
	struct table *t = results_table(r, "opensm.conf", "lines for OpenSM, none above 1023 bytes",
					conf_columns);
	struct strbuf text = STRBUF_INIT;
	char *rest, *line;

	opensm_cc_write(conf, &text);
	rest = text.text;
	while ((line = strtok_r(rest, "\n", &rest)))
		table_put_row(t, &(struct conf_row){ line });
	strbuf_fini(&text);
}

static void put_held_out(const struct tune_options *o, const struct tune_result *t,
			 struct results *r)
{
	static const char *const verdicts[] = {
		[TUNE_OPEN] = "cannot tell", [TUNE_KEPT] = "kept", [TUNE_MISSED] = "missed"
	};
	char title[80];

	snprintf(title, sizeof(title), "on %u seeds that the search did not see, 95 %% intervals",
		 o->held_out);
	struct table *held = results_table(r, "held out", title, held_columns);

	for (uint32_t i = 0; i < t->n_rounds; i++) {
		const struct held_row row = {
			.promised = fmin(t->best.plain.hot, t->best.stressed.hot),
			.floor = verdicts[t->rounds[i].verdict],
			.round = t->rounds[i],
		};

		table_put_row(held, &row);
	}
}

static bool is_kept(const struct tune_result *t)
{
	return t->n_rounds && t->rounds[t->n_rounds - 1].verdict == TUNE_KEPT;
}

/* Limits of the answer. */
static void remark_held_out(const struct tune_options *o, const struct tune_result *t,
			    struct results *r)
{
	const struct tune_round *last = &t->rounds[t->n_rounds - 1];
	struct strbuf warmup = STRBUF_INIT, measure = STRBUF_INIT;

	hd_time_print(last->warmup, &warmup);
	hd_time_print(last->measure, &measure);
	if (is_kept(t) && t->n_rounds > 1)
		results_remark(
			r,
			"The windows are too short to tell whether the hot link stays at %g %% on other seeds. It takes --warmup %s --measure %s: over those it does.",
			100 * o->floor, warmup.text, measure.text);
	else if (!is_kept(t))
		results_remark(
			r,
			"The promise does not hold: on %u seeds that the search did not see the hot link is used to %.1f +- %.1f %%, and the floor is %g %%. The windows of the search are too short for these seeds; search again with --warmup %s --measure %s, or with a lower --floor.",
			o->held_out, 100 * last->hot.mean, 100 * last->hot.half_width,
			100 * o->floor, warmup.text, measure.text);
	strbuf_fini(&warmup);
	strbuf_fini(&measure);
}

/* Remark with the reasons, in numbers, to leave congestion control off. */
static void remark_off(const struct tune_options *o, const struct tune_result *t, struct results *r)
{
	const struct tune_round *last = t->n_rounds ? &t->rounds[t->n_rounds - 1] : NULL;

	if (last && conf_change_goals_are_worse(&last->goals))
		results_remark(
			r,
			"Leave congestion control off: the best parameters make a goal worse (table goals). No file for OpenSM was written.");
	else if (last && !isfinite(last->gain.mean))
		results_remark(
			r,
			"Leave congestion control off: on %u other seeds no goal is better, and the victims' throughput cannot be compared. No file for OpenSM was written.",
			o->held_out);
	else if (last)
		results_remark(
			r,
			"Leave congestion control off: on %u other seeds the best parameters are %.2f +- %.2f times as good as none, and no goal is better. No file for OpenSM was written.",
			o->held_out, last->gain.mean, last->gain.half_width);
	else
		results_remark(
			r,
			"Leave congestion control off: no parameters were found that reach the goal better than none and keep the floor. No file for OpenSM was written.");
}

static void put_tables(const struct tune_options *options, const struct tune_result *t,
		       struct results *r)
{
	struct table *gain =
		results_table(r, "gain", "the goal, and what reaching it costs", gain_columns);

	put_gains(options, t, false, gain);
	if (options->stress > 1)
		put_gains(options, t, true, gain);
	if (t->n_rounds)
		conf_change_goals_table(&t->rounds[t->n_rounds - 1].goals, r);
	put_found(options, t, r);
	if (t->n_rounds)
		put_held_out(options, t, r);
	put_conf(&t->conf, r);
	put_trials(options, t, r);
}

void tune_result_tables(const struct tune_options *options, const struct tune_result *t,
			struct results *r)
{
	if (t->n_trials)
		put_tables(options, t, r);
	results_remark(
		r,
		"OpenSM's own defaults are zero throughout: threshold 0 marks nothing. How full a threshold is, no standard says: here T marks once (16 - T)/16 of an input buffer wait for the output.");
	if (t->stopped)
		results_remark(
			r,
			"interrupted after %u of at most %u trials: the best of them, not tried on other seeds; no file for OpenSM was written",
			t->n_trials, options->budget);
	else if (!t->found)
		results_remark(
			r,
			"No trial kept the hot link at %g %%; the one that used it most is shown.",
			100 * options->floor);
	else
		remark_held_out(options, t, r);
	if (!t->stopped && !tune_is_worth(options, t))
		remark_off(options, t, r);
}
