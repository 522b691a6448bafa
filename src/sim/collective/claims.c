/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/collective/study.h"

#define LEVEL   0.95
#define LARGE   2048 /* bytes: from here on sizes are "large" */
/* Less of a difference than this share is not "clear" to who looks at it. */
#define VISIBLE 0.01

const struct mcast_study_claim_info mcast_study_claims[N_STUDY_CLAIMS] = {
	[CLAIM_NEVER_SLOWER] = { "multicast is never slower than unicast",
				 "remark 1" },
	[CLAIM_GROWS_WITH_SIZE] = { "the speedup grows with the message size",
				    "remark 2" },
	[CLAIM_GROWS_WITH_GROUP] = { "the speedup grows with the group",
				     "remark 2" },
	[CLAIM_GROWS_WITH_SOURCES] = { "the speedup grows with the number of "
				       "sources",
				       "remark 2" },
	[CLAIM_MORE_LANES] = { "more lanes are never slower", "remark 3" },
	[CLAIM_LANES_HELP_UNICAST] = { "lanes help unicast most", "remark 3" },
	[CLAIM_FREE_LANES] = { "free lanes are at least as fast as dedicated "
			       "ones",
			       "remark 3" },
	[CLAIM_FREE_UNCLEAR_LARGE] = { "from 2 KiB on free and dedicated lanes "
				       "differ by less than 1 %",
				       "cases 1 and 2" },
	[CLAIM_ALL_SLOWER] = { "with all sources it takes longer than with "
			       "40 %",
			       "case 3" },
	[CLAIM_BOUND] = { "no time is below what the cables need", "ours" },
	[CLAIM_ONCE] = { "every member receives every message once", "ours" },
};

/* A claim about to be tried on a case. */
struct trial {
	const struct mcast_study *s;
	struct mcast_study_verdict *out;
	enum mcast_study_claim claim;
	const struct mcast_study_point *point, *other;
	int scheme;
};

/* The claim: value is not less than `than`; samples of the same seeds. */
static void expect(const struct trial *t, const double *value,
		   const double *than)
{
	uint32_t n = t->s->plan.n_seeds;
	double differences[STUDY_MAX_SEEDS];
	struct study_exception x = { .claim = t->claim,
				     .point = t->point,
				     .other = t->other,
				     .scheme = t->scheme };

	t->out->cases[t->claim]++;
	for (uint32_t i = 0; i < n; i++) {
		x.value += value[i] / n;
		x.than += than[i] / n;
		differences[i] = value[i] - than[i];
	}
	/* Equal sums may differ in their last bits. */
	if (x.value >= x.than * (1 - 1e-12))
		return;
	struct interval i = interval_of(differences, n, LEVEL);

	x.clear = n > 1 && i.mean + i.half_width < 0;
	t->out->exceptions[t->claim]++;
	t->out->clear[t->claim] += x.clear;
	t->out->list = hd_grow(t->out->list, &t->out->cap, t->out->n + 1,
			       sizeof(*t->out->list));
	t->out->list[t->out->n++] = x;
}

static void expect_slower(struct trial *t, const struct mcast_study_point *slow,
			  const struct mcast_study_point *fast)
{
	for (t->scheme = 0; t->scheme < N_COLL_SCHEMES; t->scheme++)
		expect(t, slow->completion[t->scheme],
		       fast->completion[t->scheme]);
}

static struct trial trial(const struct mcast_study *s,
			  struct mcast_study_verdict *out,
			  enum mcast_study_claim claim,
			  const struct mcast_study_point *p)
{
	return (struct trial){
		.s = s, .out = out, .claim = claim, .point = p, .scheme = -1
	};
}

/* Its speedup, against that of a point that should have less. */
static void expect_more(const struct mcast_study *s,
			struct mcast_study_verdict *out,
			enum mcast_study_claim claim,
			const struct mcast_study_point *p,
			const struct mcast_study_point *like)
{
	struct trial t = trial(s, out, claim, p);

	t.other = mcast_study_find(s, like);
	if (t.other)
		expect(&t, p->speedup, t.other->speedup);
}

static void judge_growth(const struct mcast_study *s,
			 const struct mcast_study_point *p,
			 struct mcast_study_verdict *out)
{
	struct mcast_study_point like = *p;

	for (uint32_t i = 1; i < s->plan.n_sizes; i++) {
		if (s->plan.sizes[i] != p->bytes)
			continue;
		like.bytes = s->plan.sizes[i - 1];
		expect_more(s, out, CLAIM_GROWS_WITH_SIZE, p, &like);
	}
	like = *p;
	if (p->group == STUDY_EVERYONE) {
		like.group = STUDY_SOME;
		expect_more(s, out, CLAIM_GROWS_WITH_GROUP, p, &like);
	}
	like = *p;
	if (p->sources > STUDY_ONE) {
		like.sources = p->sources - 1;
		expect_more(s, out, CLAIM_GROWS_WITH_SOURCES, p, &like);
	}
}

static void judge_lanes(const struct mcast_study *s,
			const struct mcast_study_point *p,
			struct mcast_study_verdict *out)
{
	struct mcast_study_point like = *p;
	struct trial t = trial(s, out, CLAIM_MORE_LANES, p);
	uint32_t n = s->plan.n_seeds;

	like.lanes = p->lanes / 2;
	if (like.lanes == 1)
		like.use = USE_SINGLE;
	t.other = p->lanes > 1 ? mcast_study_find(s, &like) : NULL;
	if (t.other)
		expect_slower(&t, t.other, p);
	like.lanes = 1;
	like.use = USE_SINGLE;
	t = trial(s, out, CLAIM_LANES_HELP_UNICAST, p);
	t.other = p->lanes > 1 ? mcast_study_find(s, &like) : NULL;
	if (t.other) {
		double gain[N_COLL_SCHEMES][STUDY_MAX_SEEDS];

		for (uint32_t k = 0; k < N_COLL_SCHEMES * n; k++)
			gain[k / n][k % n] = t.other->completion[k / n][k % n] /
					     p->completion[k / n][k % n];
		expect(&t, gain[COLL_UNICAST], gain[COLL_MULTICAST]);
	}
}

/* How much of the faster one the two differ by; within VISIBLE? */
static void expect_close(struct trial *t)
{
	double limit[STUDY_MAX_SEEDS], apart[STUDY_MAX_SEEDS];

	for (t->scheme = 0; t->scheme < N_COLL_SCHEMES; t->scheme++) {
		for (uint32_t i = 0; i < t->s->plan.n_seeds; i++) {
			double a = t->point->completion[t->scheme][i];
			double b = t->other->completion[t->scheme][i];

			limit[i] = VISIBLE;
			apart[i] = a < b ? b / a - 1 : a / b - 1;
		}
		expect(t, limit, apart);
	}
}

static void judge_free(const struct mcast_study *s,
		       const struct mcast_study_point *p,
		       struct mcast_study_verdict *out)
{
	struct mcast_study_point like = *p;
	struct trial t = trial(s, out, CLAIM_FREE_LANES, p);

	if (p->use != USE_BY_SL && p->use != USE_BY_PACKET)
		return;
	like.use = USE_DEDICATED;
	t.other = mcast_study_find(s, &like);
	if (!t.other)
		return;
	expect_slower(&t, t.other, p);
	t.claim = CLAIM_FREE_UNCLEAR_LARGE;
	if (p->bytes >= LARGE)
		expect_close(&t);
}

static void judge_point(const struct mcast_study *s,
			const struct mcast_study_point *p,
			struct mcast_study_verdict *out)
{
	struct mcast_study_point like = *p;
	struct trial t = trial(s, out, CLAIM_NEVER_SLOWER, p);
	const double none[STUDY_MAX_SEEDS] = { 0 };
	double faults[STUDY_MAX_SEEDS] = { 0 };

	expect(&t, p->completion[COLL_UNICAST], p->completion[COLL_MULTICAST]);
	judge_growth(s, p, out);
	judge_lanes(s, p, out);
	judge_free(s, p, out);
	t = trial(s, out, CLAIM_ALL_SLOWER, p);
	like.sources = STUDY_MANY;
	t.other = p->sources == STUDY_ALL ? mcast_study_find(s, &like) : NULL;
	if (t.other)
		expect_slower(&t, p, t.other);
	t = trial(s, out, CLAIM_BOUND, p);
	for (t.scheme = 0; t.scheme < N_COLL_SCHEMES; t.scheme++)
		expect(&t, p->completion[t.scheme], p->bound[t.scheme]);
	t = trial(s, out, CLAIM_ONCE, p);
	faults[0] = (double)p->faults;
	expect(&t, none, faults);
}

void mcast_study_judge(const struct mcast_study *s,
		       struct mcast_study_verdict *out)
{
	*out = (struct mcast_study_verdict){ .list = NULL };
	for (uint32_t i = 0; i < s->n_points; i++)
		judge_point(s, &s->points[i], out);
}

void mcast_study_verdict_fini(struct mcast_study_verdict *v)
{
	free(v->list);
	*v = (struct mcast_study_verdict){ .list = NULL };
}
