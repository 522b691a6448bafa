/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/congestion/tune_parts.h"

/* ---- the space --------------------------------------------------------- */

enum { DIM_SHAPE, DIM_TIMER, DIM_INCREASE, DIM_RATE, DIM_THRESHOLD, DIMS };

static const uint8_t thresholds[] = { 1, 2, 4, 6, 8, 10, 12, 14, 15 };
static const uint16_t rates[] = { 0, 1, 3, 7, 15, 31, 63 };
static const uint8_t increases[] = { 1, 2, 4, 8, 16 };
static const uint16_t timers[] = { 2, 4, 8, 16, 32, 64, 128, 256, 512 };

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const uint8_t lengths[DIMS] = {
	[DIM_SHAPE] = TUNE_SHAPES,
	[DIM_TIMER] = LENGTH(timers),
	[DIM_INCREASE] = LENGTH(increases),
	[DIM_RATE] = LENGTH(rates),
	[DIM_THRESHOLD] = LENGTH(thresholds),
};

/* A point is an index into each list. */
struct point {
	uint8_t at[DIMS];
};

static const struct point starts[] = {
	{ { TUNE_GEOMETRIC, 5, 0, 0, 4 } },
	{ { TUNE_LINEAR, 3, 0, 2, 7 } },
	{ { TUNE_QUADRATIC, 4, 2, 4, 1 } },
};

const char *tune_shape_name(enum tune_shape shape)
{
	static const char *const names[] = { "linear", "quadratic", "geometric" };

	return shape < TUNE_SHAPES ? names[shape] : "none";
}

void tune_table(enum tune_shape shape, uint32_t senders, struct opensm_cc *out)
{
	double most = senders - 1.0;

	out->n_cct = CCT_MAX_ENTRIES;
	for (unsigned i = 0; i < CCT_MAX_ENTRIES; i++) {
		double x = i / (CCT_MAX_ENTRIES - 1.0);
		double delay = most * x;

		if (shape == TUNE_QUADRATIC)
			delay = most * x * x;
		else if (shape == TUNE_GEOMETRIC)
			delay = pow(senders, x) - 1;
		out->cct[i] = cct_entry(delay);
	}
}

/*
 * How many senders the marks of a link can hold at its rate: it marks every so
 * many of its packets, and what a mark adds to an index a timer takes away
 * from each of them.
 */
static double reach_of(double packets, uint32_t increase, uint32_t timer, uint32_t marking_rate)
{
	return packets * increase * timer * 1.024e-6 / (marking_rate + 1.0);
}

static struct tune_trial trial_at(const struct point *p, double packets)
{
	return (struct tune_trial){
		.reach = reach_of(packets, increases[p->at[DIM_INCREASE]], timers[p->at[DIM_TIMER]],
				  rates[p->at[DIM_RATE]]),
		.threshold = thresholds[p->at[DIM_THRESHOLD]],
		.marking_rate = rates[p->at[DIM_RATE]],
		.increase = increases[p->at[DIM_INCREASE]],
		.timer = timers[p->at[DIM_TIMER]],
		.shape = (enum tune_shape)p->at[DIM_SHAPE],
	};
}

/* ---- trials ------------------------------------------------------------ */

struct search {
	struct tune_stage stage;
	const struct tune_options *options;
	struct tune_watch *watch;
	struct diag *d;
	double packets; /* per second on the hot link */
	double reach;   /* wanted */
	struct tune_result *out;
};

static void conf_of(const struct search *s, const struct tune_trial *t, struct opensm_cc *out)
{
	const struct tune_case *c = &s->stage.given;

	*out = (struct opensm_cc){ .enabled = true,
				   .threshold = t->threshold,
				   .marking_rate = t->marking_rate,
				   .victims = c->params.marking.mark_victims,
				   .per_sl = c->params.per_sl,
				   .ccti_timer = t->timer,
				   .ccti_increase = t->increase };
	for (uint32_t i = 0; i < c->build->n_flows; i++)
		out->sls |= (uint16_t)(1u << c->flows[i].sl);
	tune_table(t->shape, s->options->senders, out);
}

static bool is_same(const struct tune_trial *a, const struct tune_trial *b)
{
	return a->threshold == b->threshold && a->marking_rate == b->marking_rate &&
	       a->increase == b->increase && a->timer == b->timer && a->shape == b->shape;
}

static bool is_better(const struct search *s, const struct tune_trial *a,
		      const struct tune_trial *b)
{
	double a_hot = tune_hot(a), b_hot = tune_hot(b);

	if (a->reach < s->reach || b->reach < s->reach)
		return a->reach > b->reach && b->reach < s->reach;
	bool a_keeps = a_hot >= s->options->floor;
	bool b_keeps = b_hot >= s->options->floor;

	if (a_keeps != b_keeps)
		return a_keeps;
	if (!a_keeps)
		return a_hot > b_hot;
	return fmin(a->plain.victims, a->stressed.victims) >
	       fmin(b->plain.victims, b->stressed.victims);
}

/* The trial of a point, made or remembered; false if no more are allowed. */
static bool visit(struct search *s, const struct point *p, struct tune_trial *out)
{
	struct tune_result *r = s->out;
	struct opensm_cc conf;

	*out = trial_at(p, s->packets);
	if (out->reach < s->reach)
		return true; /* no need to try */
	for (uint32_t i = 0; i < r->n_trials; i++) {
		if (is_same(&r->trials[i], out)) {
			*out = r->trials[i];
			return true;
		}
	}
	if (r->n_trials == s->options->budget)
		return false;
	conf_of(s, out, &conf);
	if (stage_try(&s->stage, &conf, s->d, out) != HD_OK || s->watch->stopped)
		return false;
	r->trials = hd_grow(r->trials, &r->trials_cap, r->n_trials + 1u, sizeof(*r->trials));
	r->trials[r->n_trials++] = *out;
	s->watch->n_trials = r->n_trials;
	return true;
}

/* ---- the search -------------------------------------------------------- */

/* As far as it gets better in one direction; true if it did. */
static bool walk(struct search *s, unsigned dim, int step, struct point *here,
		 struct tune_trial *best)
{
	bool moved = false;

	for (;;) {
		struct point next = *here;
		int to = next.at[dim] + step;
		struct tune_trial t;

		if (to < 0 || to >= lengths[dim])
			return moved;
		next.at[dim] = (uint8_t)to;
		if (!visit(s, &next, &t) || !is_better(s, &t, best))
			return moved;
		*here = next;
		*best = t;
		moved = true;
	}
}

static void descend(struct search *s, const struct point *start)
{
	struct point here = *start;
	struct tune_trial best;
	bool moved = visit(s, &here, &best);

	while (moved) {
		moved = false;
		for (unsigned dim = 0; dim < DIMS; dim++) {
			if (walk(s, dim, 1, &here, &best) || walk(s, dim, -1, &here, &best))
				moved = true;
		}
	}
}

/*
 * Marks of half of the time must hold all senders: a link that has to mark
 * without end is one whose buffers are never empty enough.
 */
static void want_reach(struct search *s)
{
	const struct tune_case *c = &s->stage.given;
	const struct sim_port *hot = &c->build->setup.ports[s->stage.hot];
	uint32_t bytes = 1;

	for (uint32_t i = 0; i < c->build->n_flows; i++) {
		if (c->flows[i].bytes > bytes)
			bytes = c->flows[i].bytes;
	}
	s->packets = hd_rate_bps(hot->rate) / (8.0 * bytes);
	/* As far as any parameters go, on slow links. */
	s->reach = fmin(2.0 * s->options->senders,
			reach_of(s->packets, increases[LENGTH(increases) - 1],
				 timers[LENGTH(timers) - 1], rates[0]));
}

static enum hd_status measure_baselines(struct search *s)
{
	struct opensm_cc defaults = { .enabled = true };
	enum hd_status status = stage_begin(&s->stage, s->d);

	if (status != HD_OK || s->watch->stopped)
		return status;
	s->out->hot = s->stage.hot;
	s->out->n_victims = s->stage.n_victims;
	want_reach(s);
	s->out->none.shape = s->out->opensm.shape = TUNE_SHAPES;
	status = stage_try(&s->stage, NULL, s->d, &s->out->none);
	return status == HD_OK && !s->watch->stopped
		       ? stage_try(&s->stage, &defaults, s->d, &s->out->opensm)
		       : status;
}

static enum hd_status search(struct search *s)
{
	struct tune_result *out = s->out;
	enum hd_status status = measure_baselines(s);

	for (size_t i = 0; i < LENGTH(starts) && status == HD_OK && !s->watch->stopped; i++) {
		descend(s, &starts[i]);
		status = s->d->status;
	}
	for (uint32_t i = 0; i < out->n_trials; i++) {
		if (i == 0 || is_better(s, &out->trials[i], &out->best))
			out->best = out->trials[i];
	}
	if (status == HD_OK && !out->n_trials)
		return diag_fail(
			s->d, HD_ERR_ENV,
			"interrupted before the end of the first trial: there is nothing to show");
	out->found = tune_hot(&out->best) >= s->options->floor;
	conf_of(s, &out->best, &out->conf);
	return status;
}

enum hd_status congestion_tune(const struct tune_case *given, const struct tune_options *options,
			       struct diag *d, struct tune_result *out)
{
	struct tune_watch watch = { .options = options };
	struct search s = { .stage = { .given = *given, .options = options, .watch = &watch },
			    .options = options,
			    .watch = &watch,
			    .d = d,
			    .out = out };

	*out = (struct tune_result){ .n_trials = 0 };
	enum hd_status status = search(&s);

	stage_fini(&s.stage);
	if (status == HD_OK && out->found && !watch.stopped)
		status = tune_validate(given, &watch, d, out);
	out->stopped = watch.stopped;
	if (status != HD_OK)
		tune_result_fini(out);
	return status;
}

void tune_result_fini(struct tune_result *result)
{
	free(result->trials);
	*result = (struct tune_result){ 0 };
}
