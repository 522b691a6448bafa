/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/collective/study.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void run(struct mcast_study *s, const struct mcast_study_plan *plan)
{
	struct diag d = { .status = HD_OK };

	if (mcast_study_run(s, plan, NULL, NULL, &d) != HD_OK)
		fail_msg("%s", d.message);
}

static struct mcast_study_plan small_plan(void)
{
	struct mcast_study_plan plan;

	mcast_study_plan_quick(&plan);
	plan.columns = 5;
	plan.rows = 4;
	plan.n_seeds = 2;
	return plan;
}

static void every_figure_has_its_series(void **state)
{
	struct mcast_study_plan plan = small_plan();
	struct mcast_study s;
	unsigned n[28] = { 0 };

	(void)state;
	run(&s, &plan);
	/* Six rows of figures with one, three and three uses of the lanes. */
	assert_int_equal(s.n_points, 6 * 7 * 3);
	for (uint32_t i = 0; i < s.n_points; i++)
		n[s.points[i].figure]++;
	for (unsigned f = 10; f <= 27; f++)
		assert_int_equal(n[f], (f - 10) % 3 ? 9 : 3);
	/* Fig. 22: all sources, 40 %, one lane. */
	const struct mcast_study_point *p = &s.points[4 * 7 * 3];

	assert_int_equal(p->figure, 22);
	assert_int_equal(p->sources, STUDY_ALL);
	assert_int_equal(p->group, STUDY_SOME);
	assert_int_equal(p->lanes, 1);
	mcast_study_fini(&s);
}

static void what_must_hold_has_no_exceptions(void **state)
{
	struct mcast_study_plan plan = small_plan();
	struct mcast_study s;
	struct mcast_study_verdict v;

	(void)state;
	plan.order = "fifo";
	plan.buffer = 1;
	plan.overhead = 26;
	plan.grh = 40;
	run(&s, &plan);
	mcast_study_judge(&s, &v);
	assert_int_equal(v.cases[CLAIM_BOUND], 2 * s.n_points);
	assert_int_equal(v.exceptions[CLAIM_BOUND], 0);
	assert_int_equal(v.cases[CLAIM_ONCE], s.n_points);
	assert_int_equal(v.exceptions[CLAIM_ONCE], 0);
	mcast_study_verdict_fini(&v);
	mcast_study_fini(&s);
}

/* Two sizes of Fig. 10, their speedups as told. */
static void make(struct mcast_study *s, struct mcast_study_point *points,
		 const double speedup[2][3])
{
	*s = (struct mcast_study){ .points = points, .n_points = 2 };
	mcast_study_plan_init(&s->plan);
	s->plan.n_seeds = 3;
	s->plan.n_sizes = 2;
	for (unsigned i = 0; i < 2; i++) {
		points[i] = (struct mcast_study_point){ .figure = 10,
							.lanes = 1,
							.bytes = 32u << i };
		for (unsigned k = 0; k < 3; k++) {
			points[i].completion[COLL_UNICAST][k] = speedup[i][k];
			points[i].completion[COLL_MULTICAST][k] = 1;
			points[i].speedup[k] = speedup[i][k];
		}
	}
}

static void exceptions_are_found_and_weighed(void **state)
{
	static const double grows[2][3] = { { 2, 3, 4 }, { 3, 4, 5 } };
	static const double falls[2][3] = { { 3, 4, 5 }, { 2, 3, 4.1 } };
	static const double wavers[2][3] = { { 3, 4, 5 }, { 4, 2, 5.5 } };
	static const double slow[2][3] = { { 0.5, 0.6, 0.7 }, { 3, 4, 5 } };
	const struct {
		const double (*speedup)[3];
		enum mcast_study_claim claim;
		unsigned cases, exceptions, clear;
	} cases[] = {
		{ grows, CLAIM_GROWS_WITH_SIZE, 1, 0, 0 },
		{ falls, CLAIM_GROWS_WITH_SIZE, 1, 1, 1 },
		{ wavers, CLAIM_GROWS_WITH_SIZE, 1, 1, 0 },
		{ grows, CLAIM_NEVER_SLOWER, 2, 0, 0 },
		{ slow, CLAIM_NEVER_SLOWER, 2, 1, 1 },
		{ grows, CLAIM_MORE_LANES, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mcast_study_point points[2];
		struct mcast_study s;
		struct mcast_study_verdict v;
		enum mcast_study_claim c = cases[i].claim;

		make(&s, points, cases[i].speedup);
		mcast_study_judge(&s, &v);
		assert_int_equal(v.cases[c], cases[i].cases);
		assert_int_equal(v.exceptions[c], cases[i].exceptions);
		assert_int_equal(v.clear[c], cases[i].clear);
		assert_int_equal(v.n, v.exceptions[c]);
		mcast_study_verdict_fini(&v);
	}
}

/* Of a mesh, the same draws for all sizes: one source, everybody: exact. */
static void a_lone_source_gains_as_much_as_the_bound_says(void **state)
{
	struct mcast_study_plan plan = small_plan();
	struct mcast_study s;

	(void)state;
	plan.first = plan.last = 13;
	run(&s, &plan);
	for (uint32_t i = 0; i < s.n_points; i++) {
		const struct mcast_study_point *p = &s.points[i];

		for (uint32_t k = 0; k < plan.n_seeds; k++) {
			/* 19 messages through one cable, and at most 1. */
			assert_true(p->speedup[k] < 19);
			assert_true(p->completion[COLL_UNICAST][k] * 1e3 >=
				    19.0 * 4 * (double)p->bytes);
			assert_true(p->completion[COLL_MULTICAST][k] ==
				    p->bound[COLL_MULTICAST][k]);
		}
	}
	mcast_study_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_figure_has_its_series),
		cmocka_unit_test(what_must_hold_has_no_exceptions),
		cmocka_unit_test(exceptions_are_found_and_weighed),
		cmocka_unit_test(a_lone_source_gains_as_much_as_the_bound_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
