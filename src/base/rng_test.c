/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "base/seeds_for_tests.h"

static unsigned draws(void)
{
	return run_is_long() ? 10000000 : 200000;
}

/* The published outputs of xoshiro256** from the state 1, 2, 3, 4. */
static void the_generator_is_xoshiro256starstar(void **state)
{
	static const uint64_t expected[] = {
		11520u,
		0u,
		1509978240u,
		1215971899390074240u,
		1216172134540287360u,
		607988272756665600u,
		16172922978634559625u,
		8476171486693032832u,
		10595114339597558777u,
		2904607092377533576u,
	};
	struct rng r = { { 1, 2, 3, 4 } };

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_true(rng_next(&r) == expected[i]);
}

/*
 * Lua 5.4 has the same generator: math.randomseed(1, 2) makes the state 1, 255,
 * 2, 0 and drops 16 numbers; then math.random(0) gives these.
 */
static void lua_draws_the_same_numbers(void **state)
{
	static const uint64_t expected[] = {
		UINT64_C(0x731202e581a88881),
		UINT64_C(0x39cbfbf32ca9af88),
		UINT64_C(0xbd549d3ffec50c9c),
		UINT64_C(0x57d2422019f85ab7),
	};
	struct rng r = { { 1, 255, 2, 0 } };

	(void)state;
	for (unsigned i = 0; i < 16; i++)
		rng_next(&r);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_true(rng_next(&r) == expected[i]);
}

static void streams_do_not_depend_on_the_order_of_creation(void **state)
{
	struct rng forward[50], backward[50];

	(void)state;
	for (unsigned i = 0; i < 50; i++) {
		rng_init(&forward[i], 9, i);
		rng_next(&forward[0]); /* others draw in between */
		rng_init(&backward[49 - i], 9, 49 - i);
	}
	rng_init(&forward[0], 9, 0);
	for (unsigned i = 0; i < 50; i++) {
		for (unsigned k = 0; k < 100; k++)
			assert_true(rng_next(&forward[i]) == rng_next(&backward[i]));
	}
}

/* Correlation of two uniform streams; about N(0, 1/n) if independent. */
static double correlation(struct rng *a, struct rng *b, unsigned n)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += (rng_uniform(a) - 0.5) * (rng_uniform(b) - 0.5);
	return sum * 12 / n;
}

static void neighbouring_seeds_and_ids_share_nothing(void **state)
{
	unsigned n = draws() / 20;

	(void)state;
	for (uint64_t seed = 0; seed < 4; seed++) {
		for (uint64_t id = 0; id < 4; id++) {
			struct rng a, by_id, by_seed, swapped;

			rng_init(&a, seed, id);
			rng_init(&by_id, seed, id + 1);
			rng_init(&by_seed, seed + 1, id);
			rng_init(&swapped, id, seed);
			double limit = 4.5 / sqrt(n);

			assert_true(fabs(correlation(&a, &by_id, n)) < limit);
			rng_init(&a, seed, id);
			assert_true(fabs(correlation(&a, &by_seed, n)) < limit);
			rng_init(&a, seed, id);
			if (seed != id)
				assert_true(fabs(correlation(&a, &swapped, n)) < limit);
		}
	}
}

/*
 * Chi-square of counts against equal or given shares: the deviation from the degrees of freedom in
 * standard deviations; above 4 is significant.
 */
static double chi_square_off(const unsigned *counts, const double *shares, unsigned cells,
			     unsigned n)
{
	double chi = 0, freedom = cells - 1;

	for (unsigned i = 0; i < cells; i++) {
		double expected = n * (shares ? shares[i] : 1.0 / cells);
		double off = counts[i] - expected;

		chi += off * off / expected;
	}
	return (chi - freedom) / sqrt(2 * freedom);
}

static void whole_numbers_below_n_are_equally_likely(void **state)
{
	static const uint64_t sizes[] = { 2, 3, 10, 37, 64 };
	struct rng r;

	(void)state;
	rng_init(&r, 4, 1);
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		unsigned counts[64] = { 0 };

		for (unsigned i = 0; i < draws(); i++)
			counts[rng_below(&r, sizes[s])]++;
		assert_true(chi_square_off(counts, NULL, (unsigned)sizes[s], draws()) < 4);
	}
	assert_int_equal(rng_below(&r, 1), 0);
	/* Bias would show most where n is two thirds of 2^64. */
	uint64_t n = UINT64_C(0xaaaaaaaaaaaaaaaa);
	unsigned counts[2] = { 0 };

	for (unsigned i = 0; i < draws(); i++) {
		uint64_t x = rng_below(&r, n);

		assert_true(x < n);
		counts[x >= n / 2]++;
	}
	assert_true(chi_square_off(counts, NULL, 2, draws()) < 8);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Kolmogorov-Smirnov of samples against a distribution, times sqrt(n). */
static double ks(double *samples, unsigned n, double (*cdf)(double x))
{
	double worst = 0;

	qsort(samples, n, sizeof(*samples), by_value);
	for (unsigned i = 0; i < n; i++) {
		double f = cdf(samples[i]);

		worst = fmax(worst, fmax(f - (double)i / n, (double)(i + 1) / n - f));
	}
	return worst * sqrt(n);
}

static double uniform_cdf(double x)
{
	return x < 0 ? 0 : x > 1 ? 1 : x;
}

static double exponential_cdf(double x)
{
	return x < 0 ? 0 : 1 - exp(-x / 250);
}

static void uniform_and_exponential_pass_kolmogorov_smirnov(void **state)
{
	unsigned n = draws();
	double *samples = hd_alloc(n, sizeof(*samples));
	struct rng r;

	(void)state;
	rng_init(&r, 5, 1);
	for (unsigned i = 0; i < n; i++) {
		samples[i] = rng_uniform(&r);
		assert_true(samples[i] >= 0 && samples[i] < 1);
	}
	assert_true(ks(samples, n, uniform_cdf) < 1.95); /* 0.1 % */
	for (unsigned i = 0; i < n; i++)
		samples[i] = rng_exponential(&r, 250);
	assert_true(ks(samples, n, exponential_cdf) < 1.95);
	/* The test has teeth: the same samples are not uniform. */
	assert_true(ks(samples, n, uniform_cdf) > 10);
	free(samples);
}

/* Zero with probability 1 - tau, else exponential: tau = 2 / (scv + 1). */
static void ge_has_its_mean_its_zeros_and_its_variance(void **state)
{
	static const double scvs[] = { 1, 3, 8 };
	unsigned n = draws();
	struct rng r;

	(void)state;
	rng_init(&r, 7, 1);
	for (unsigned k = 0; k < 3; k++) {
		double sum = 0, squares = 0, tau = 2 / (scvs[k] + 1);
		unsigned zeros = 0;

		for (unsigned i = 0; i < n; i++) {
			double x = rng_ge(&r, 10, scvs[k]);

			sum += x;
			squares += x * x;
			zeros += x == 0;
		}
		double mean = sum / n, scv = squares / n / (mean * mean) - 1;
		double zero_deviation = sqrt(tau * (1 - tau) * n) + 1;

		assert_true(fabs(zeros - (1 - tau) * n) < 4 * zero_deviation);
		assert_true(fabs(mean / 10 - 1) < 4 * sqrt(scvs[k] / n));
		assert_true(fabs(scv / scvs[k] - 1) < 40 / sqrt(n));
	}
}

static void shuffling_keeps_all_and_favours_none(void **state)
{
	/* The 24 orders of four items, numbered by their digits. */
	unsigned counts[24] = { 0 }, seen[256], orders = 0;
	struct rng r;

	(void)state;
	rng_init(&r, 8, 1);
	memset(seen, 0xff, sizeof(seen));
	for (unsigned i = 0; i < draws(); i++) {
		uint32_t items[] = { 0, 1, 2, 3 };

		rng_shuffle(&r, items, 4);
		assert_int_equal(1u << items[0] | 1u << items[1] | 1u << items[2] | 1u << items[3],
				 15);
		unsigned code = items[0] << 6 | items[1] << 4 | items[2] << 2 | items[3];

		if (seen[code] == UINT32_MAX)
			seen[code] = orders++;
		counts[seen[code]]++;
	}
	assert_int_equal(orders, 24);
	assert_true(chi_square_off(counts, NULL, 24, draws()) < 4);
	rng_shuffle(&r, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_generator_is_xoshiro256starstar),
		cmocka_unit_test(lua_draws_the_same_numbers),
		cmocka_unit_test(streams_do_not_depend_on_the_order_of_creation),
		cmocka_unit_test(neighbouring_seeds_and_ids_share_nothing),
		cmocka_unit_test(whole_numbers_below_n_are_equally_likely),
		cmocka_unit_test(uniform_and_exponential_pass_kolmogorov_smirnov),
		cmocka_unit_test(ge_has_its_mean_its_zeros_and_its_variance),
		cmocka_unit_test(shuffling_keeps_all_and_favours_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
