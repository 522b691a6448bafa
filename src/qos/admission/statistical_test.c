/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/statistical.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/rng.h"
#include "qos/admission/binomial_for_tests.h"
#include "qos/admission/statistical_for_tests.h"

static void the_bound_holds_and_is_not_far_off(void **state)
{
	(void)state;
	for (uint32_t n = 20; n <= 400; n += 20) {
		/* Unit peaks, a fifth of the time on, capacity n / 2. */
		struct stat_class c = { 1, 0.2, n };
		double exact = binomial_tail(n, 0.2, n / 2);
		double bound = stat_overflow(&c, 1, 0.5 * n);

		assert_true(bound >= exact);
		/* Chernoff is right in the exponent. */
		assert_true(log(bound) < 0.5 * log(exact) || exact > 1e-3);
	}
}

static void peaks_that_fit_never_violate(void **state)
{
	(void)state;
	struct stat_class c = { 10, 1, 10 };

	assert_true(stat_overflow(&c, 1, 100) == 0);
	assert_true(stat_overflow(&c, 1, 99) > 0);
	c.n = 100;
	assert_true(stat_overflow(&c, 1, 100) == 1); /* means alone fill it */
}

/* Draws the total demand of all sources at one instant. */
static double draw_demand(struct rng *rng, const struct stat_class *c, int n)
{
	double demand = 0;

	for (int i = 0; i < n; i++) {
		for (uint32_t k = 0; k < c[i].n; k++) {
			if (rng_uniform(rng) < c[i].mean / c[i].peak)
				demand += c[i].peak;
		}
	}
	return demand;
}

/* Admitted mixes violate no more often than allowed, by random draws. */
static void admitted_mixes_keep_their_promise(void **state)
{
	(void)state;
	struct rng rng;
	const double capacity = 1000, allowed = 0.02;
	const int draws = 4000;

	rng_init(&rng, 8, 0);
	for (int round = 0; round < 10; round++) {
		struct stat_class c[2] = {
			{ 5 + 20 * rng_uniform(&rng), 0, 0 },
			{ 2 + 5 * rng_uniform(&rng), 0, 20 + (uint32_t)rng_below(&rng, 60) },
		};
		int seen = 0;

		for (int i = 0; i < 2; i++)
			c[i].mean = c[i].peak * (0.05 + 0.4 * rng_uniform(&rng));
		c[0].n = stat_most(&c[1], 1, &c[0], capacity, allowed);
		assert_true(c[0].n >= stat_most(&c[1], 1, &c[0], capacity, 0));
		for (int i = 0; i < draws; i++)
			seen += draw_demand(&rng, c, 2) > capacity;
		assert_true(seen <= draws * allowed);
	}
}

/* More violations allowed, more sources; always more than by peaks. */
static void tolerance_buys_sources(void **state)
{
	(void)state;
	struct stat_class c = { 1, 0.1, 0 };
	uint32_t last = stat_most(NULL, 0, &c, 100, 0);

	assert_int_equal(last, 100);
	for (int power = 9; power >= 1; power -= 2) {
		uint32_t most = stat_most(NULL, 0, &c, 100, pow(10, -power));

		assert_true(most > last);
		assert_true(most * c.mean < 100);
		last = most;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_bound_holds_and_is_not_far_off),
		cmocka_unit_test(peaks_that_fit_never_violate),
		cmocka_unit_test(admitted_mixes_keep_their_promise),
		cmocka_unit_test(tolerance_buys_sources),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
