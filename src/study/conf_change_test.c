/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */

#include <math.h>

#include "base/rng.h"
#include "study/conf_change.h"

#define SEEDS   5
#define STUDENT 2.7764451 /* two-sided 95 %, 4 degrees of freedom */

static const struct column goals[] = {
	{ "traffic", NULL, VALUE_TEXT },
	{ "goal", NULL, VALUE_TEXT },
	{ "asked", NULL, VALUE_TEXT },
	{ "found", NULL, VALUE_TEXT, ORIGIN_SIMULATED },
	{ "met", NULL, VALUE_BOOL, ORIGIN_SIMULATED },
	{ NULL },
};

/* A run with one goal: a p99 of at most 10 us, or a throughput of at least 10. */
static struct results *run_with(double found, bool lower)
{
	struct results *r = results_new("sim");
	struct table *t = results_table(r, "goals", "", goals);
	const struct value row[] = {
		value_of_text("row"),
		value_of_text(lower ? "p99" : "throughput"),
		value_of_text(lower ? "<= 10us" : ">= 10Gb/s"),
		value_of_text(table_text(t, "%.17g %s", found, lower ? "us" : "Gb/s")),
		value_of_bool(lower ? found <= 10 : found >= 10),
	};

	table_put_values(t, row);
	return r;
}

static enum conf_change_verdict verdict_of(const double *before, const double *after, bool lower)
{
	struct conf_change_goals g = { 0 };

	for (size_t i = 0; i < SEEDS; i++) {
		struct results *a = run_with(before[i], lower), *b = run_with(after[i], lower);

		conf_change_goals_add(&g, a, b);
		results_free(a);
		results_free(b);
	}
	enum conf_change_verdict verdict = conf_change_goal_verdict(&g.items[0], SEEDS);

	assert_true(conf_change_goals_are_stated(&g));
	assert_int_equal(conf_change_goals_are_worse(&g), verdict == CONF_CHANGE_WORSE);
	conf_change_goals_fini(&g);
	return verdict;
}

/*
 * The rule once more, for five seeds: of five tosses only five equal ones are
 * below 5 %.
 */
static enum conf_change_verdict expected(const double *before, const double *after, bool lower)
{
	double mean = 0, square = 0;
	unsigned had = 0, has = 0, lost = 0, won = 0;

	for (size_t i = 0; i < SEEDS; i++) {
		double gain = lower ? before[i] - after[i] : after[i] - before[i];
		bool met_before = lower ? before[i] <= 10 : before[i] >= 10;
		bool met_after = lower ? after[i] <= 10 : after[i] >= 10;

		mean += gain / SEEDS;
		square += gain * gain;
		had += met_before;
		has += met_after;
		lost += met_before && !met_after;
		won += met_after && !met_before;
	}
	double spread = sqrt((square - SEEDS * mean * mean) / (SEEDS - 1) / SEEDS) * STUDENT;

	if (has == SEEDS)
		return had == SEEDS ? CONF_CHANGE_KEPT : CONF_CHANGE_BETTER;
	if (mean + spread < 0 || (lost == SEEDS && !won))
		return CONF_CHANGE_WORSE;
	if (has < had)
		return CONF_CHANGE_OPEN;
	return mean - spread > 0 ? CONF_CHANGE_BETTER : CONF_CHANGE_MISSED;
}

static void verdicts_are_those_of_student_and_signs(void **state)
{
	unsigned seen[CONF_CHANGE_WORSE + 1] = { 0 };
	struct rng rng;

	(void)state;
	rng_init(&rng, 41, 0);
	for (unsigned round = 0; round < 3000; round++) {
		double before[SEEDS], after[SEEDS];
		double shift = (double)(int)rng_below(&rng, 9) - 4;
		double spread = (double)rng_below(&rng, 5);
		bool lower = rng_below(&rng, 2);

		for (size_t i = 0; i < SEEDS; i++) {
			before[i] = 7 + (double)rng_below(&rng, 7);
			after[i] = before[i] + shift + spread * (double)rng_below(&rng, 3);
		}
		enum conf_change_verdict want = expected(before, after, lower);

		assert_int_equal(verdict_of(before, after, lower), want);
		seen[want]++;
	}
	for (unsigned i = 0; i <= CONF_CHANGE_WORSE; i++)
		assert_true(seen[i] > 20);
}

/* One outlier dominates the mean of the differences; five missed goals count. */
static void goals_lost_on_all_seeds_are_worse(void **state)
{
	static const double before[SEEDS] = { 9, 9, 9, 9, 9 };
	static const double after[SEEDS] = { 11, 11, 11, 11, 1000 };

	(void)state;
	assert_int_equal(verdict_of(before, after, true), CONF_CHANGE_WORSE);
}

static void jobs_must_end_and_runs_not_block(void **state)
{
	static const struct column jobs[] = {
		{ "job", NULL, VALUE_TEXT },
		{ "completion", "us", VALUE_REAL, ORIGIN_SIMULATED },
		{ NULL },
	};
	static const struct column none[] = { { "step", NULL, VALUE_UINT }, { NULL } };
	const struct value ends[] = { value_of_text("train"), value_of_real(5) };
	const struct value hangs[] = { value_of_text("train"), value_of_real(NAN) };
	struct conf_change_goals g = { 0 };

	(void)state;
	for (size_t i = 0; i < SEEDS; i++) {
		struct results *a = results_new("sim"), *b = results_new("sim");

		table_put_values(results_table(a, "jobs", "", jobs), ends);
		table_put_values(results_table(b, "jobs", "", jobs), hangs);
		results_table(b, "deadlock", "", none);
		conf_change_goals_add(&g, a, b);
		results_free(a);
		results_free(b);
	}
	assert_int_equal(g.n, 2);
	assert_false(conf_change_goals_are_stated(&g));
	for (size_t i = 0; i < g.n; i++)
		assert_int_equal(conf_change_goal_verdict(&g.items[i], SEEDS), CONF_CHANGE_WORSE);
	conf_change_goals_fini(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts_are_those_of_student_and_signs),
		cmocka_unit_test(goals_lost_on_all_seeds_are_worse),
		cmocka_unit_test(jobs_must_end_and_runs_not_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
