/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/congestion/tune.h"

struct gain_row {
	const char *control, *rate;
	double victims, gain, goodput;
	struct tune_outcome outcome;
};

static const struct column gain_columns[] = {
	{ "control", NULL, CELL(gain_row, control) },
	{ "hot link's rate", NULL, CELL(gain_row, rate) },
	{ "victims", "Mb/s", CELL(gain_row, victims), ORIGIN_SIMULATED, 1 },
	{ "gain", NULL, CELL(gain_row, gain), ORIGIN_SIMULATED, 2 },
	{ "hot link", "%", CELL_SHARE(gain_row, outcome.hot), ORIGIN_SIMULATED, 2 },
	{ "goodput", "Mb/s", CELL(gain_row, goodput), ORIGIN_SIMULATED, 1 },
	{ "fairness", NULL, CELL(gain_row, outcome.fairness), ORIGIN_SIMULATED, 4 },
	{ NULL },
};

/* What was found, or a trial on the way. */
struct trial_row {
	const char *hot_link, *shape;
	double floor; /* share */
	bool kept;
	uint32_t n_victims, n_trials, trial;
	double timer, plain_victims, stressed_victims;
	struct tune_trial of;
};

static const struct column parameter_columns[] = {
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
	{ "victims", "Mb/s", CELL(trial_row, plain_victims), ORIGIN_SIMULATED, 1 },
	{ "hot link", "%", CELL_SHARE(trial_row, of.plain.hot), ORIGIN_SIMULATED, 2 },
	{ "stressed victims", "Mb/s", CELL(trial_row, stressed_victims), ORIGIN_SIMULATED, 1 },
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

static struct trial_row row_of(const struct tune_trial *trial)
{
	return (struct trial_row){
		.shape = tune_shape_name(trial->shape),
		.timer = trial->timer * 1.024,
		.plain_victims = trial->plain.victims / 1e6,
		.stressed_victims = trial->stressed.victims / 1e6,
		.of = *trial,
	};
}

static void put_gain(struct table *t, const char *name, const char *rate,
		     const struct tune_outcome *trial, const struct tune_outcome *none)
{
	const struct gain_row row = {
		.control = name,
		.rate = rate,
		.victims = trial->victims / 1e6,
		.gain = trial->victims / none->victims,
		.goodput = trial->total / 1e6,
		.outcome = *trial,
	};

	table_put_row(t, &row);
}

static void put_gains(struct table *t, const char *rate, const struct tune_outcome *none,
		      const struct tune_outcome *opensm, const struct tune_outcome *best)
{
	put_gain(t, "none", rate, none, none);
	put_gain(t, "OpenSM's defaults", rate, opensm, none);
	put_gain(t, "tuned", rate, best, none);
}

static void put_found(const struct fabric *b, const struct tune_options *options,
		      const struct tune_result *t, struct results *r)
{
	struct table *found =
		results_record(r, "parameters", "the best that was found", parameter_columns);
	struct trial_row row = row_of(&t->best);
	struct strbuf name = STRBUF_INIT;

	fabric_port_name(b, t->hot, &name);
	row.hot_link = table_take(found, &name);
	row.floor = options->floor;
	row.kept = t->found;
	row.n_victims = t->n_victims;
	row.n_trials = t->n_trials;
	table_put_row(found, &row);
}

static void put_trials(const struct tune_result *t, struct results *r)
{
	struct table *trials =
		results_series(r, "trials", "what was tried, in order", trial_columns);

	for (uint32_t i = 0; i < t->n_trials; i++) {
		struct trial_row row = row_of(&t->trials[i]);

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

/* What the user is to know before he believes it. */
static void remark_held_out(const struct tune_options *o, const struct tune_result *t,
			    struct results *r)
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
			o->held_out, 100 * last->hot.mean, 100 * last->hot.half_width,
			100 * o->floor, warmup.text, measure.text);
	strbuf_fini(&warmup);
	strbuf_fini(&measure);
}

void congestion_tune_tables(const struct fabric *b, const struct tune_options *options,
			    const struct tune_result *t, struct results *r)
{
	struct table *gain = results_table(r, "gain", "what the victims receive, and what it costs",
					   gain_columns);

	put_gains(gain, "whole", &t->none.plain, &t->opensm.plain, &t->best.plain);
	if (options->stress > 1) {
		char rate[32];

		snprintf(rate, sizeof(rate), "1/%u", options->stress);
		put_gains(gain, rate, &t->none.stressed, &t->opensm.stressed, &t->best.stressed);
	}
	put_found(b, options, t, r);
	if (t->n_rounds)
		put_held_out(options, t, r);
	put_conf(&t->conf, r);
	put_trials(t, r);
	results_remark(
		r,
		"OpenSM's own defaults are zero throughout: threshold 0 marks nothing. How full a threshold is, no standard says: here T marks once (16 - T)/16 of an input buffer wait for the output.");
	if (t->stopped)
		results_remark(
			r,
			"interrupted after %u of at most %u trials: the best of them, not tried on all that the search does not see; no file for OpenSM was written",
			t->n_trials, options->budget);
	else if (!t->found)
		results_remark(
			r,
			"No trial kept the hot link at %g %%; the one that used it most is shown.",
			100 * options->floor);
	else
		remark_held_out(options, t, r);
}
