/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "study/tune_internal.h"

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
struct tune_point {
	uint8_t at[DIMS];
};

static const struct tune_point starts[] = {
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
		out->cct[i] = opensm_cct_entry(delay);
	}
}

/*
 * Number of senders that the marks of a link can hold at its rate: the link
 * marks a fixed fraction of its packets; a mark increases an index, and a timer
 * decreases the index of each sender.
 */
static double reach_of(double packets, uint32_t increase, uint32_t timer, uint32_t marking_rate)
{
	return packets * increase * timer * 1.024e-6 / (marking_rate + 1.0);
}

static struct tune_trial trial_at(const struct tune_point *p, double packets)
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

/* ---- the goal ---------------------------------------------------------- */

const char *const tune_goal_names[] = { "victims", "p99", "completion", NULL };

double tune_value(const struct tune_options *o, const struct tune_outcome *a)
{
	double value = o->goal == TUNE_VICTIMS ? a->victims
		       : o->goal == TUNE_P99   ? -a->p99
					       : -a->completion;

	return isnan(value) ? -INFINITY : value;
}

double tune_gain(const struct tune_options *o, const struct tune_outcome *a,
		 const struct tune_outcome *none)
{
	double x = tune_value(o, a), y = tune_value(o, none);

	return o->goal == TUNE_VICTIMS ? x / y : y / x;
}

/* The smaller value of both runs. */
static double value_of(const struct tune_options *o, const struct tune_trial *t)
{
	return fmin(tune_value(o, &t->plain), tune_value(o, &t->stressed));
}

/* ---- trials ------------------------------------------------------------ */

struct tune_search {
	struct tune_stage stage;
	const struct tune_options *options;
	struct diag *d;
	double packets; /* per second on the hot link */
	double reach;   /* required */
	/* Trials that were run in advance; the search may not need them. */
	struct tune_trial *known;
	size_t n_known, known_cap;
	double seconds; /* of the longest run */
	struct tune_result *out;
};

static void conf_of(const struct tune_search *s, const struct tune_trial *t, struct opensm_cc *out)
{
	const struct scn_congestion *c = &s->options->scenario->congestion;

	*out = (struct opensm_cc){ .enabled = true,
				   .threshold = t->threshold,
				   .marking_rate = t->marking_rate,
				   .victims = c->victims,
				   .per_sl = c->per == SCN_PER_SL,
				   .sls = s->stage.sls,
				   .ccti_timer = t->timer,
				   .ccti_increase = t->increase };
	tune_table(t->shape, s->options->senders, out);
}

static bool is_same(const struct tune_trial *a, const struct tune_trial *b)
{
	return a->threshold == b->threshold && a->marking_rate == b->marking_rate &&
	       a->increase == b->increase && a->timer == b->timer && a->shape == b->shape;
}

static const struct tune_trial *find(const struct tune_trial *all, size_t n,
				     const struct tune_trial *t)
{
	for (size_t i = 0; i < n; i++) {
		if (is_same(&all[i], t))
			return &all[i];
	}
	return NULL;
}

static bool is_better(const struct tune_search *s, const struct tune_trial *a,
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
	uint64_t met = ~s->out->none.plain.missed;
	int order = __builtin_popcountll(a->plain.missed & met) -
		    __builtin_popcountll(b->plain.missed & met);

	if (order == 0)
		order = __builtin_popcountll(a->plain.missed) -
			__builtin_popcountll(b->plain.missed);
	if (order)
		return order < 0;
	return value_of(s->options, a) > value_of(s->options, b);
}

/* Runs of a trial. */
static size_t per_trial(const struct tune_options *o)
{
	return o->stress > 1 ? 2 : 1;
}

/* Remaining runs after the first trial, if validation needs one round. */
static size_t runs_left(const struct tune_options *o)
{
	size_t each = per_trial(o);

	return (o->budget - 1) * each + (size_t)o->held_out * (1 + each);
}

/* Executes all trials in parallel; false if interrupted or rejected. */
static bool try_all(struct tune_search *s, struct tune_trial *trials, const struct opensm_cc *confs,
		    size_t n)
{
	size_t each = per_trial(s->options);
	struct tune_run *runs = hd_alloc(n * each, sizeof(*runs));

	for (size_t i = 0; i < n * each; i++)
		runs[i] = (struct tune_run){ .conf = confs ? &confs[i / each] : NULL,
					     .stressed = i % each == 1,
					     .seed = s->options->scenario->run.seed,
					     .factor = 1 };
	bool good = tune_stage_run(&s->stage, runs, n * each, s->d) == HD_OK && !s->stage.stopped;

	for (size_t i = 0; i < n * each && good; i++)
		s->seconds = fmax(s->seconds, runs[i].seconds);
	for (size_t i = 0; i < n && good; i++) {
		trials[i].plain = runs[each * i].outcome;
		trials[i].stressed = runs[each * i + each - 1].outcome;
	}
	free(runs);
	return good;
}

/* Likely next trials of the search, as many as there are idle processes. */
static size_t guess(const struct tune_search *s, const struct tune_point *p, struct tune_trial *out,
		    size_t n)
{
	size_t most = s->options->at_once / per_trial(s->options);

	for (unsigned k = 0; k < 2 * DIMS && n < most; k++) {
		struct tune_point q = *p;
		int to = q.at[k / 2] + (k % 2 ? -1 : 1);

		if (to < 0 || to >= lengths[k / 2])
			continue;
		q.at[k / 2] = (uint8_t)to;
		out[n] = trial_at(&q, s->packets);
		if (out[n].reach >= s->reach && !find(s->known, s->n_known, &out[n]))
			n++;
	}
	return n;
}

static bool learn(struct tune_search *s, const struct tune_point *p,
		  const struct tune_trial *wanted)
{
	size_t most = 1 + s->options->at_once;
	struct tune_trial *trials = hd_alloc(most, sizeof(*trials));
	struct opensm_cc *confs = hd_alloc(most, sizeof(*confs));

	trials[0] = *wanted;
	size_t n = guess(s, p, trials, 1);

	for (size_t i = 0; i < n; i++)
		conf_of(s, &trials[i], &confs[i]);
	bool good = try_all(s, trials, confs, n);

	if (good && !s->n_known && s->options->estimate)
		s->options->estimate(s->options->context, runs_left(s->options), s->seconds);
	for (size_t i = 0; i < n && good; i++) {
		s->known = hd_grow(s->known, &s->known_cap, s->n_known + 1, sizeof(*s->known));
		s->known[s->n_known++] = trials[i];
	}
	free(trials);
	free(confs);
	return good;
}

/* Returns the trial of a point, executed or cached; false if the budget is exhausted. */
static bool visit(struct tune_search *s, const struct tune_point *p, struct tune_trial *out)
{
	struct tune_result *r = s->out;
	struct tune_trial t = trial_at(p, s->packets);
	const struct tune_trial *made = find(r->trials, r->n_trials, &t);

	*out = made ? *made : t;
	if (made || t.reach < s->reach)
		return true; /* not worth a trial */
	if (r->n_trials == s->options->budget || s->stage.stopped)
		return false;
	if (!find(s->known, s->n_known, &t) && !learn(s, p, &t))
		return false;
	*out = *find(s->known, s->n_known, &t);
	r->trials = hd_grow(r->trials, &r->trials_cap, r->n_trials + 1u, sizeof(*r->trials));
	r->trials[r->n_trials++] = *out;
	s->stage.n_trials = r->n_trials;
	return true;
}

/* ---- the search -------------------------------------------------------- */

/* Moves in one direction while the value improves; true if it did. */
static bool walk(struct tune_search *s, unsigned dim, int step, struct tune_point *here,
		 struct tune_trial *best)
{
	bool moved = false;

	for (;;) {
		struct tune_point next = *here;
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

static void descend(struct tune_search *s, const struct tune_point *start)
{
	struct tune_point here = *start;
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
 * Marks during half of the time must hold all senders: a link that must mark
 * permanently never drains its buffers.
 */
static void want_reach(struct tune_search *s)
{
	uint64_t bytes = scenario_largest_packet(s->options->scenario);

	s->packets = s->stage.rate * 1e9 / (8.0 * (double)bytes);
	/* The maximum that any parameters reach, on slow links. */
	s->reach = fmin(2.0 * s->options->senders,
			reach_of(s->packets, increases[LENGTH(increases) - 1],
				 timers[LENGTH(timers) - 1], rates[0]));
}

static enum hd_status measure_baselines(struct tune_search *s)
{
	const struct opensm_cc defaults = { .enabled = true };
	struct tune_result *out = s->out;
	struct tune_run first;
	enum hd_status status = tune_stage_begin(&s->stage, s->d, &first);

	if (status != HD_OK || s->stage.stopped)
		return status;
	out->hot = hd_strdup(s->stage.hot);
	out->n_victims = s->stage.n_victims;
	want_reach(s);
	out->none.shape = out->opensm.shape = TUNE_SHAPES;
	if (try_all(s, &out->none, NULL, 1))
		try_all(s, &out->opensm, &defaults, 1);
	return s->d->status;
}

static enum hd_status search(struct tune_search *s)
{
	struct tune_result *out = s->out;
	enum hd_status status = measure_baselines(s);

	for (size_t i = 0; i < LENGTH(starts) && status == HD_OK && !s->stage.stopped; i++) {
		descend(s, &starts[i]);
		status = s->d->status;
	}
	for (uint32_t i = 0; i < out->n_trials; i++) {
		if (i == 0 || is_better(s, &out->trials[i], &out->best))
			out->best = out->trials[i];
	}
	if (status != HD_OK || !out->n_trials)
		return status;
	out->found = tune_hot(&out->best) >= s->options->floor;
	conf_of(s, &out->best, &out->conf);
	return status;
}

enum hd_status tune_search_parameters(const struct tune_options *options, struct diag *d,
				      struct tune_result *out)
{
	struct tune_search s = {
		.stage = { .options = options }, .options = options, .d = d, .out = out
	};

	*out = (struct tune_result){ .n_trials = 0 };
	enum hd_status status = search(&s);

	if (status == HD_OK && out->n_trials && !s.stage.stopped)
		status = tune_validate(&s.stage, d, out);
	out->stopped = s.stage.stopped;
	tune_stage_fini(&s.stage);
	free(s.known);
	if (status != HD_OK)
		tune_result_fini(out);
	return status;
}

bool tune_is_worth(const struct tune_options *options, const struct tune_result *t)
{
	const struct tune_round *last = &t->rounds[t->n_rounds ? t->n_rounds - 1 : 0];
	bool gains = last->gain.mean - last->gain.half_width > 1 &&
		     tune_gain(options, &t->best.plain, &t->none.plain) > 1;

	return t->found && t->n_rounds && last->verdict == TUNE_KEPT &&
	       !conf_change_goals_are_worse(&last->goals) &&
	       (gains || conf_change_goals_are_better(&last->goals));
}

void tune_result_fini(struct tune_result *result)
{
	for (uint32_t i = 0; i < result->n_rounds; i++)
		conf_change_goals_fini(&result->rounds[i].goals);
	free(result->hot);
	free(result->trials);
	*result = (struct tune_result){ 0 };
}
