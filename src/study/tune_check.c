/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "base/alloc.h"
#include "measure/interval.h"
#include "study/tune_internal.h"

#define LEVEL 0.95

/* Runs per seed: without control, with control, and with a slower hot link. */
static size_t per_seed(const struct tune_options *o)
{
	return o->stress > 1 ? 3 : 2;
}

static struct tune_held held_of(const double *samples, uint32_t n)
{
	struct interval in = interval_of(samples, n, LEVEL);
	struct tune_held h = { in.mean, in.half_width, samples[0] };

	for (uint32_t i = 1; i < n; i++)
		h.lowest = fmin(h.lowest, samples[i]);
	return h;
}

static enum tune_verdict judge(const struct tune_held *hot, double floor)
{
	if (hot->mean - hot->half_width >= floor)
		return TUNE_KEPT;
	return hot->mean + hot->half_width < floor ? TUNE_MISSED : TUNE_OPEN;
}

static void read_round(const struct tune_options *o, const struct tune_run *runs,
		       struct tune_round *out)
{
	double *hot = hd_alloc(o->held_out, sizeof(*hot));
	double *gain = hd_alloc(o->held_out, sizeof(*gain));

	for (uint32_t i = 0; i < o->held_out; i++) {
		const struct tune_run *seed = &runs[per_seed(o) * i];
		const struct tune_run *last = &seed[per_seed(o) - 1];

		hot[i] = fmin(seed[1].outcome.hot, last->outcome.hot);
		gain[i] = tune_gain(o, &seed[1].outcome, &seed[0].outcome);
		conf_change_goals_add(&out->goals, seed[0].results, seed[1].results);
	}
	out->hot = held_of(hot, o->held_out);
	out->gain = held_of(gain, o->held_out);
	out->verdict = judge(&out->hot, o->floor);
	free(hot);
	free(gain);
}

static enum hd_status run_round(struct tune_stage *s, const struct opensm_cc *conf, uint32_t factor,
				struct diag *d, struct tune_round *out)
{
	const struct tune_options *o = s->options;
	const struct scn_run *windows = &o->scenario->run;
	size_t each = per_seed(o), n = each * o->held_out;
	struct tune_run *runs = hd_alloc(n, sizeof(*runs));

	for (size_t i = 0; i < n; i++)
		runs[i] = (struct tune_run){ .conf = (i % each) ? conf : NULL,
					     .stressed = i % each == 2,
					     .keeps = i % each < 2,
					     .seed = windows->seed + 1 + i / each,
					     .factor = factor };
	enum hd_status status = tune_stage_run(s, runs, n, d);

	if (status == HD_OK && !s->stopped) {
		*out = (struct tune_round){ .warmup = windows->warmup.value * factor,
					    .measure = windows->measure.value * factor };
		read_round(o, runs, out);
	}
	for (size_t i = 0; i < n; i++)
		results_free(runs[i].results);
	free(runs);
	return status;
}

/* Longer windows add nothing to traffic that ends by itself. */
static bool goes_on(const struct scenario *s)
{
	for (size_t i = 0; i < s->n_traffic; i++) {
		if (s->traffic[i].stop != HD_TIME_NEVER || s->traffic[i].count != SCN_UNLIMITED)
			return false;
	}
	return !s->n_jobs && s->run.warmup.unit == SCN_PLAIN && s->run.measure.unit == SCN_PLAIN;
}

enum hd_status tune_validate(struct tune_stage *s, struct diag *d, struct tune_result *out)
{
	uint32_t most = goes_on(s->options->scenario) ? TUNE_ROUNDS : 1;
	enum hd_status status = HD_OK;
	unsigned missed = 0; /* consecutive rounds that missed the floor */

	while (out->n_rounds < most && status == HD_OK) {
		struct tune_round *round = &out->rounds[out->n_rounds];

		status = run_round(s, &out->conf, 1u << out->n_rounds, d, round);
		if (s->stopped)
			break;
		out->n_rounds++;
		missed = round->verdict == TUNE_MISSED ? missed + 1 : 0;
		/* Missed with twice the window length as well: the result is certain. */
		if (round->verdict == TUNE_KEPT || missed == 2)
			break;
	}
	return status;
}
