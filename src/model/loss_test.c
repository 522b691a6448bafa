/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/loss.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>

#include "base/rng.h"

/* A^N / N! over the sum of A^k / k!, as Erlang wrote it. */
static double by_definition(uint32_t n, double a)
{
	double term = 1, sum = 1;

	for (uint32_t k = 1; k <= n; k++) {
		term *= a / k;
		sum += term;
	}
	return term / sum;
}

/* Loss of a single class with one place per customer. */
static double lost_of(uint32_t places, double load)
{
	const struct loss_class c = { 1, load };
	double lost;

	loss_shared(places, &c, 1, &lost);
	return lost;
}

static void one_class_of_size_one_is_erlangs(void **state)
{
	(void)state;
	/* 1/2, 1/5 and 1/16: with one erlang and 1, 2 and 3 places. */
	assert_true(fabs(lost_of(1, 1) - 0.5) < 1e-15);
	assert_true(fabs(lost_of(2, 1) - 0.2) < 1e-15);
	assert_true(fabs(lost_of(3, 1) - 0.0625) < 1e-15);
	assert_true(lost_of(0, 3) >= 1);
	for (uint32_t n = 1; n <= 60; n++) {
		for (int tenths = 1; tenths < 800; tenths += tenths / 2 + 1) {
			double a = tenths / 10.0;

			assert_true(fabs(lost_of(n, a) / by_definition(n, a) - 1) < 1e-12);
		}
	}
}

/* B(n) = A B(n-1) / (n + A B(n-1)), which no size makes overflow. */
static void erlangs_recursion_holds_of_large_systems(void **state)
{
	(void)state;
	for (uint32_t places = 1; places <= 2000; places += 333) {
		double a = 0.95 * places, b = 1;

		for (uint32_t n = 1; n <= places; n++)
			b = a * b / (n + a * b);
		assert_true(fabs(lost_of(places, a) / b - 1) < 1e-10);
	}
}

/* Weight of each feasible state (n1, n2): a1^n1/n1! a2^n2/n2!. */
static void enumerate(uint32_t places, const struct loss_class c[2], double lost[2])
{
	double sum = 0, w1 = 1;

	lost[0] = lost[1] = 0;
	for (uint32_t n1 = 0; n1 * c[0].size <= places; n1++) {
		double w = w1;

		for (uint32_t n2 = 0; n1 * c[0].size + n2 * c[1].size <= places; n2++) {
			uint32_t left = places - n1 * c[0].size - n2 * c[1].size;

			sum += w;
			lost[0] += left < c[0].size ? w : 0;
			lost[1] += left < c[1].size ? w : 0;
			w *= c[1].load / (n2 + 1);
		}
		w1 *= c[0].load / (n1 + 1);
	}
	lost[0] /= sum;
	lost[1] /= sum;
}

static void shared_places_lose_by_the_product_form(void **state)
{
	struct rng rng;

	(void)state;
	rng_init(&rng, 11, 0);
	for (int i = 0; i < 300; i++) {
		uint32_t places = 1 + (uint32_t)rng_below(&rng, 60);
		struct loss_class c[2];
		double ours[2], exact[2];

		for (int k = 0; k < 2; k++)
			c[k] = (struct loss_class){
				1 + (uint32_t)rng_below(&rng, 9),
				0.01 + 10 * rng_uniform(&rng),
			};
		loss_shared(places, c, 2, ours);
		enumerate(places, c, exact);
		for (int k = 0; k < 2; k++)
			assert_true(fabs(ours[k] - exact[k]) < 1e-12 + 1e-10 * exact[k]);
	}
}

/* Weights of states beyond what a double holds. */
static void large_systems_neither_overflow_nor_lose_everything(void **state)
{
	const struct loss_class c[2] = { { 1, 9000 }, { 100, 40 } };
	double lost[2];

	(void)state;
	loss_shared(16320, c, 2, lost);
	for (int k = 0; k < 2; k++)
		assert_true(isfinite(lost[k]) && lost[k] > 0 && lost[k] < 0.5);
	assert_true(lost[0] < lost[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_class_of_size_one_is_erlangs),
		cmocka_unit_test(erlangs_recursion_holds_of_large_systems),
		cmocka_unit_test(shared_places_lose_by_the_product_form),
		cmocka_unit_test(large_systems_neither_overflow_nor_lose_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
