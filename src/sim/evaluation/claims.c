/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/evaluation/figures.h"

#include <math.h>

/*
 * A share that reads 100.0 % counts as all: a plot shows no more. The paper
 * says "near" and "close" without a number; ours are here.
 */
#define ALL         0.9995
#define NEAR_80     0.72 /* mean use of links */
#define CLOSE_POINT 0.10 /* between best and worst connection, at IAT/2 */
#define LOAD_OFF    0.05 /* from the published load */
#define FLAT        0.98 /* delivered of what is reserved */

/* What is judged of one run, and whether the claim holds there. */
struct finding {
	bool spoken; /* the claim speaks of this run */
	bool holds;
	double value;
};

static bool is_full(const struct eval_result *r)
{
	return r->plan.tried == UINT32_MAX && r->delivered_packets > 0;
}

static double share_of(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 1;
}

/* The least over SLs first .. last, of those with packets. */
static double least_within(const struct eval_result *r, unsigned first,
			   unsigned last, unsigned deadline)
{
	double least = 1;

	for (unsigned sl = first; sl <= last; sl++) {
		if (r->sl[sl].all.packets)
			least = fmin(least,
				     eval_within(&r->sl[sl].all, deadline));
	}
	return least;
}

/* Jitter within `steps` eighths of the IAT, to either side. */
static double least_jitter(const struct eval_result *r, unsigned first,
			   unsigned last, unsigned steps)
{
	double least = 1;

	for (unsigned sl = first; sl <= last; sl++) {
		uint64_t in = 0;

		for (unsigned i = 9 - steps; i < 9 + steps; i++)
			in += r->sl[sl].jitter[i];
		least = fmin(least, share_of(in, r->sl[sl].jitter_n));
	}
	return least;
}

/*
 * How far the histogram is from rising to the middle and falling after it, in
 * standard deviations of a bin's count.
 */
static double off_bell(const struct eval_sl *sl)
{
	double worst = 0;

	for (unsigned i = 1; i < 8; i++) {
		double outer = (double)sl->jitter[i];
		double inner = (double)sl->jitter[i + 1];
		double mirror_outer = (double)sl->jitter[17 - i];
		double mirror_inner = (double)sl->jitter[16 - i];

		worst = fmax(worst, (outer - inner) / sqrt(outer + inner + 1));
		worst = fmax(worst,
			     (mirror_outer - mirror_inner) /
				     sqrt(mirror_outer + mirror_inner + 1));
	}
	return worst;
}

static double gap_at_half(const struct eval_sl *sl)
{
	return eval_within(&sl->best, 4) - eval_within(&sl->worst, 4);
}

static double most_over_sls(const struct eval_result *r,
			    double (*of)(const struct eval_sl *))
{
	double most = 0;

	for (unsigned sl = 0; sl < N_SLS; sl++) {
		if (r->sl[sl].all.packets)
			most = fmax(most, of(&r->sl[sl]));
	}
	return most;
}

static double latest_of(const struct eval_sl *sl)
{
	return sl->latest;
}

static double published_load(const struct eval_result *r)
{
	return r->plan.payload == 256 ? 0.769 : 0.757;
}

/* The run with large packets that differs from r in nothing else. */
static const struct eval_result *large_twin(const struct figures_runs *runs,
					    const struct eval_result *r)
{
	for (uint32_t i = 0; i < runs->n; i++) {
		const struct eval_result *x = &runs->items[i];

		if (x->plan.payload == 4096 && x->plan.shape == r->plan.shape &&
		    x->plan.width == r->plan.width && is_full(x) &&
		    x->plan.switches == r->plan.switches)
			return x;
	}
	return NULL;
}

static struct finding at_least(double value, double limit)
{
	return (struct finding){ true, value >= limit, value };
}

static struct finding at_most(double value, double limit)
{
	return (struct finding){ true, value <= limit, value };
}

static struct finding judge_shares(const struct eval_result *r,
				   enum figures_claim claim)
{
	switch (claim) {
	case CLAIM_SLOW_WITHIN_32ND:
		return at_least(least_within(r, 0, 1, 0), ALL);
	case CLAIM_ALL_WITHIN_3_4:
		return at_least(least_within(r, 0, 3, 5), ALL);
	case CLAIM_SLOW_JITTER:
		return at_least(least_jitter(r, 0, 1, 1), ALL);
	case CLAIM_FAST_JITTER_WITHIN:
		return at_least(least_jitter(r, 2, 3, 8), ALL);
	case CLAIM_FAST_JITTER_BELL:
		return at_most(fmax(off_bell(&r->sl[2]), off_bell(&r->sl[3])),
			       3);
	case CLAIM_WORST_WITHIN_IAT:
		return at_most(most_over_sls(r, latest_of), 1);
	default:
		return at_most(most_over_sls(r, gap_at_half), CLOSE_POINT);
	}
}

static struct finding judge_load(const struct figures_runs *runs,
				 const struct eval_result *r,
				 enum figures_claim claim)
{
	const struct eval_result *large;

	switch (claim) {
	case CLAIM_LOAD:
		return at_most(fabs(r->delivered / published_load(r) - 1),
			       LOAD_OFF);
	case CLAIM_SMALL_ABOVE_LARGE:
		large = large_twin(runs, r);
		if (r->plan.payload != 256 || !large)
			return (struct finding){ 0 };
		return at_least(r->delivered - large->delivered, 0);
	case CLAIM_USE_NEAR_80:
		return at_least(fmin(r->host_use, r->switch_use), NEAR_80);
	case CLAIM_SOME_ABOVE_80:
		return at_least(r->most_use, 0.8);
	default:
		return at_most((double)r->lost, 0);
	}
}

/* The run on 16 switches that differs from r in nothing else. */
static const struct eval_result *usual_twin(const struct figures_runs *runs,
					    const struct eval_result *r)
{
	for (uint32_t i = 0; i < runs->n; i++) {
		const struct eval_result *x = &runs->items[i];

		if (x->plan.switches == 16 && x->plan.shape == r->plan.shape &&
		    x->plan.width == r->plan.width && is_full(x) &&
		    x->plan.payload == r->plan.payload)
			return x;
	}
	return NULL;
}

/* How many claims about delay and jitter come out otherwise there. */
static struct finding judge_tendency(const struct figures_runs *runs,
				     const struct eval_result *r)
{
	const struct eval_result *usual = usual_twin(runs, r);
	double differ = 0;

	if (!usual || usual == r)
		return (struct finding){ 0 };
	for (unsigned c = 0; c < CLAIM_LOAD; c++)
		differ += judge_shares(r, (enum figures_claim)c).holds !=
			  judge_shares(usual, (enum figures_claim)c).holds;
	differ += fabs(r->delivered / usual->delivered - 1) > LOAD_OFF;
	return at_most(differ, 0);
}

static struct finding judge(const struct figures_runs *runs,
			    const struct eval_result *r,
			    enum figures_claim claim)
{
	if (claim == CLAIM_NOT_FLAT && r->delivered_packets)
		return at_least(r->delivered / r->reserved, FLAT);
	if (!is_full(r) || claim == CLAIM_NOT_FLAT)
		return (struct finding){ 0 };
	if (claim == CLAIM_SAME_TENDENCY)
		return judge_tendency(runs, r);
	if (claim < CLAIM_LOAD)
		return judge_shares(r, claim);
	return judge_load(runs, r, claim);
}

/* Is a less than b the worse of the two? */
static bool low_is_bad(enum figures_claim claim)
{
	switch (claim) {
	case CLAIM_FAST_JITTER_BELL:
	case CLAIM_WORST_WITHIN_IAT:
	case CLAIM_WORST_NEAR_BEST:
	case CLAIM_LOAD:
	case CLAIM_NOTHING_LOST:
	case CLAIM_SAME_TENDENCY:
		return false;
	default:
		return true;
	}
}

struct figures_verdict figures_judge(const struct figures_runs *runs,
				     enum figures_claim claim)
{
	struct figures_verdict v = { 0 };

	for (uint32_t i = 0; i < runs->n; i++) {
		struct finding f = judge(runs, &runs->items[i], claim);

		if (!f.spoken)
			continue;
		v.cases++;
		v.holds += f.holds;
		if (!v.at || (low_is_bad(claim) ? f.value < v.worst
						: f.value > v.worst)) {
			v.worst = f.value;
			v.at = &runs->items[i];
		}
	}
	return v;
}
