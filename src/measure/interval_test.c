/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/rng.h"
#include "measure/interval.h"

__extension__ typedef unsigned __int128 u128;

/* Mean 3, spread 2: three samples 1, 3, 5 by hand. */
static void a_small_sample_gives_the_textbook_interval(void **state)
{
	static const double samples[] = { 1, 3, 5 };
	struct interval in = interval_of(samples, 3, 0.95);

	(void)state;
	/* t(0.975, 2) = 4.30265; 4.30265 * 2 / sqrt(3) = 4.96827 */
	assert_true(in.mean == 3);
	assert_true(fabs(in.half_width - 4.96827) < 1e-4);
	assert_true(in.sound);
}

static void one_sample_has_no_interval(void **state)
{
	static const double sample = 5;
	struct interval in = interval_of(&sample, 1, 0.95);
	struct batch_means b;

	(void)state;
	assert_true(isinf(in.half_width));
	assert_false(in.sound);
	batch_means_init(&b);
	assert_true(isnan(batch_means_interval(&b, 0.95).mean));
}

static double normal(struct rng *r)
{
	double u = 1 - rng_uniform(r), v = rng_uniform(r);

	return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v);
}

/* x' = phi x + noise has mean 0 and lag-1 correlation phi. */
struct coverage {
	unsigned batched, naive, sound;
};

static struct coverage cover(double phi, unsigned runs, unsigned samples)
{
	struct coverage c = { 0 };

	for (unsigned run = 0; run < runs; run++) {
		struct batch_means b;
		struct rng r;
		double squares = 0;

		rng_init(&r, 7, run);
		batch_means_init(&b);
		double x = normal(&r) / sqrt(1 - phi * phi);

		for (unsigned i = 0; i < samples; i++) {
			batch_means_add(&b, x);
			squares += x * x;
			x = phi * x + normal(&r);
		}
		struct interval in = batch_means_interval(&b, 0.95);

		c.batched += fabs(in.mean) <= in.half_width;
		c.sound += in.sound;
		c.naive += fabs(in.mean) <= 1.96 * sqrt(squares) / samples;
	}
	return c;
}

static void intervals_cover_the_mean_of_correlated_samples(void **state)
{
	unsigned runs = 400;
	struct coverage c = cover(0.95, runs, 20000);

	(void)state;
	/* 95 % +- three deviations of a binomial of 400 is 92..98 %. */
	assert_in_range(c.batched, runs * 92 / 100, runs * 98 / 100);
	/* The test has teeth: taking samples for independent fails. */
	assert_true(c.naive < runs / 2);
	assert_true(c.sound > runs * 9 / 10);
}

static void intervals_cover_the_mean_of_independent_samples(void **state)
{
	unsigned runs = 400;
	struct coverage c = cover(0, runs, 1000);

	(void)state;
	assert_in_range(c.batched, runs * 92 / 100, runs * 98 / 100);
}

static void samples_that_stay_correlated_are_called_unsound(void **state)
{
	struct batch_means b;

	(void)state;
	batch_means_init(&b);
	for (int i = 0; i < 10000; i++)
		batch_means_add(&b, i); /* a trend, not a steady state */
	struct interval in = batch_means_interval(&b, 0.95);

	assert_false(in.sound);
	assert_true(in.mean == 4999.5);
}

/* Lag-1 correlation about the common mean, by definition. */
static double correlation(const double *x, unsigned n)
{
	double mean = 0, products = 0, squares = 0;

	for (unsigned i = 0; i < n; i++)
		mean += x[i] / n;
	for (unsigned i = 0; i < n; i++)
		squares += (x[i] - mean) * (x[i] - mean);
	for (unsigned i = 1; i < n; i++)
		products += (x[i] - mean) * (x[i - 1] - mean);
	return products / squares;
}

/*
 * n independent batches have a lag-1 correlation of mean -1/n and deviation
 * 1/sqrt(n) (Kendall's bias), so 5 % of them exceed -1/n + 1.645 / sqrt(n).
 */
static void batches_are_joined_beyond_the_five_percent_point(void **state)
{
	unsigned between = 0, joined = 0, kept = 0;
	struct rng r;

	(void)state;
	rng_init(&r, 5, 5);
	for (unsigned run = 0; run < 3000; run++) {
		unsigned n = 2 * BATCHES_MIN + run % (BATCHES / 2);
		double x[BATCHES], point = 1.645 / sqrt(n);
		struct batch_means b;

		batch_means_init(&b);
		for (unsigned i = 0; i < n; i++) {
			x[i] = normal(&r);
			if (i)
				x[i] += 0.3 * x[i - 1];
			batch_means_add(&b, x[i]);
		}
		double found = correlation(x, n);
		struct interval in = batch_means_interval(&b, 0.95);

		if (fabs(found - (point - 1.0 / n)) < 1e-9)
			continue; /* rounding decides */
		assert_int_equal(in.batch_size > 1, found > point - 1.0 / n);
		joined += in.batch_size > 1;
		kept += in.batch_size == 1;
		between += found > point - 1.0 / n && found <= point;
	}
	assert_true(joined > 500 && kept > 500 && between > 50);
}

static void the_mean_counts_samples_of_the_last_open_batch(void **state)
{
	struct batch_means b;

	(void)state;
	batch_means_init(&b);
	for (int i = 0; i < 129; i++)
		batch_means_add(&b, i == 128 ? 129 : 0);
	assert_true(batch_means_interval(&b, 0.9).mean == 1);
}

/* Against a sum of 128 bits: what a counter of 64 bits cannot hold counts. */
static void whole_numbers_are_summed_without_loss(void **state)
{
	(void)state;
	for (unsigned bits = 1; bits <= 64; bits++) {
		struct batch_counts b;
		u128 sum = 0;
		struct rng r;

		rng_init(&r, 17, bits);
		batch_counts_init(&b);
		for (unsigned n = 1; n <= 200; n++) {
			uint64_t sample = rng_next(&r) >> (64 - bits);

			batch_counts_add(&b, sample, 1);
			sum += sample;
			double mean = (double)sum / n;

			assert_true(fabs(batch_counts_interval(&b, 0.9).mean - mean) <=
				    1e-14 * mean);
		}
	}
}

static void batches_stay_few_and_double_in_size(void **state)
{
	struct batch_means b;

	(void)state;
	batch_means_init(&b);
	for (int i = 0; i < 1000000; i++) {
		batch_means_add(&b, 1);
		assert_true(b.n < BATCHES);
	}
	assert_true(b.n >= BATCHES / 2);
	assert_int_equal(b.size & (b.size - 1), 0);
	assert_true(b.n * b.size + b.filled == 1000000);
	assert_true(batch_means_interval(&b, 0.95).half_width == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_small_sample_gives_the_textbook_interval),
		cmocka_unit_test(one_sample_has_no_interval),
		cmocka_unit_test(intervals_cover_the_mean_of_correlated_samples),
		cmocka_unit_test(intervals_cover_the_mean_of_independent_samples),
		cmocka_unit_test(samples_that_stay_correlated_are_called_unsound),
		cmocka_unit_test(batches_are_joined_beyond_the_five_percent_point),
		cmocka_unit_test(the_mean_counts_samples_of_the_last_open_batch),
		cmocka_unit_test(whole_numbers_are_summed_without_loss),
		cmocka_unit_test(batches_stay_few_and_double_in_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
