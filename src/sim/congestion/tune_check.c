/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "base/alloc.h"
#include "measure/interval.h"
#include "sim/congestion/tune_parts.h"

#define LEVEL 0.95

/* What one seed says. */
struct held_sample {
	double hot, gain;
};

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

/* The scenario with one other seed, over windows `factor` times as long. */
static enum hd_status sample(struct tune_watch *watch, uint64_t seed, uint32_t factor,
			     const struct opensm_cc *conf, struct diag *d, struct held_sample *out)
{
	const struct tune_options *o = watch->options;
	struct tune_stage stage = { .options = o, .watch = watch };
	enum hd_status status = o->reseed(o->cases, seed, d, &stage.given);

	if (status != HD_OK)
		return status;
	struct tune_trial trial;

	stage.given.params.warmup *= factor;
	stage.given.params.stop *= factor;
	status = stage_begin(&stage, d);
	if (status == HD_OK && !watch->stopped)
		status = stage_try(&stage, conf, d, &trial);
	if (status == HD_OK && !watch->stopped)
		*out = (struct held_sample){
			.hot = tune_hot(&trial),
			.gain = trial.plain.victims / stage.uncontrolled,
		};
	stage_fini(&stage);
	return status;
}

static enum hd_status run_round(const struct tune_case *given, struct tune_watch *watch,
				const struct opensm_cc *conf, uint32_t factor, struct diag *d,
				struct tune_round *out)
{
	const struct tune_options *o = watch->options;
	double *hot = hd_alloc(o->held_out, sizeof(*hot));
	double *gain = hd_alloc(o->held_out, sizeof(*gain));
	enum hd_status status = HD_OK;

	for (uint32_t i = 0; i < o->held_out && status == HD_OK && !watch->stopped; i++) {
		struct held_sample s = { 0 };

		status = sample(watch, given->build->scenario->run.seed + 1 + i, factor, conf, d,
				&s);
		hot[i] = s.hot;
		gain[i] = s.gain;
	}
	if (status == HD_OK && !watch->stopped) {
		const struct congestion_params *p = &given->params;

		*out = (struct tune_round){
			.warmup = p->warmup * factor,
			.measure = (p->stop - p->warmup) * factor,
			.hot = held_of(hot, o->held_out),
			.gain = held_of(gain, o->held_out),
		};
		out->verdict = judge(&out->hot, o->floor);
	}
	free(hot);
	free(gain);
	return status;
}

/* What ends by itself has nothing to show in longer windows. */
static bool goes_on(const struct tune_case *c)
{
	for (uint32_t i = 0; i < c->build->n_flows; i++) {
		if (c->flows[i].stop || c->flows[i].count)
			return false;
	}
	return true;
}

bool tune_is_kept(const struct tune_result *result)
{
	return result->n_rounds && result->rounds[result->n_rounds - 1].verdict == TUNE_KEPT;
}

enum hd_status tune_validate(const struct tune_case *given, struct tune_watch *watch,
			     struct diag *d, struct tune_result *out)
{
	uint32_t most = goes_on(given) ? TUNE_ROUNDS : 1;
	enum hd_status status = HD_OK;
	unsigned missed = 0; /* one after the other */

	while (out->n_rounds < most && status == HD_OK) {
		struct tune_round *round = &out->rounds[out->n_rounds];

		status = run_round(given, watch, &out->conf, 1u << out->n_rounds, d, round);
		if (watch->stopped)
			break;
		out->n_rounds++;
		missed = round->verdict == TUNE_MISSED ? missed + 1 : 0;
		/* Twice the time, and it is missed all the same: it is. */
		if (round->verdict == TUNE_KEPT || missed == 2)
			break;
	}
	return status;
}
