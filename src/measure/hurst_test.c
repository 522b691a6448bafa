/* SPDX-License-Identifier: BSD-2-Clause */
#include "measure/hurst.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/rng.h"

static double normal(struct rng *r)
{
	double radius = sqrt(-2 * log(1 - rng_uniform(r)));

	return radius * cos(2 * acos(-1) * rng_uniform(r));
}

/* Autocovariance of fractional Gaussian noise. */
static double covariance(double h, double k)
{
	return 0.5 * (pow(fabs(k + 1), 2 * h) - 2 * pow(fabs(k), 2 * h) + pow(fabs(k - 1), 2 * h));
}

/* Hosking's recursion: fractional Gaussian noise, exact. */
static void make_noise(struct rng *r, double h, double *x, size_t n)
{
	double *phi = hd_alloc(n, sizeof(*phi));
	double *old = hd_alloc(n, sizeof(*old));
	double *c = hd_alloc(n, sizeof(*c));
	double variance = 1;

	for (size_t k = 0; k < n; k++)
		c[k] = covariance(h, (double)k);
	x[0] = normal(r);
	for (size_t i = 1; i < n; i++) {
		double sum = c[i], mean = 0;

		for (size_t k = 1; k < i; k++)
			sum -= old[k] * c[i - k];
		phi[i] = sum / variance;
		for (size_t k = 1; k < i; k++)
			phi[k] = old[k] - phi[i] * old[i - k];
		variance *= 1 - phi[i] * phi[i];
		for (size_t k = 1; k <= i; k++) {
			mean += phi[k] * x[i - k];
			old[k] = phi[k];
		}
		x[i] = mean + sqrt(variance) * normal(r);
	}
	free(phi);
	free(old);
	free(c);
}

static void finds_the_exponent_of_fractional_noise(void **state)
{
	static const double exponents[] = { 0.5, 0.6, 0.7, 0.8, 0.9 };
	enum { N = 1024, RUNS = 12 };
	double x[N];

	(void)state;
	for (size_t e = 0; e < sizeof(exponents) / sizeof(exponents[0]); e++) {
		double h = exponents[e], sum = 0, squares = 0;

		for (unsigned run = 0; run < RUNS; run++) {
			struct rng r;
			struct hurst found;

			rng_init(&r, 7, e * RUNS + run);
			make_noise(&r, h, x, N);
			hurst_estimate(x, N, 1, &found);
			assert_int_equal(found.n_scales, 6); /* 1 .. 32 */
			assert_int_equal(found.last, 32);
			sum += found.h;
			squares += (found.h - h) * (found.h - h);
			/* Five standard deviations as reported. */
			assert_true(fabs(found.h - h) < 5 * found.error);
		}
		/* Unbiased, and within the reported uncertainty. */
		assert_true(fabs(sum / RUNS - h) < 0.025);
		assert_true(sqrt(squares / RUNS) < 0.05);
	}
}

static void a_constant_has_no_exponent(void **state)
{
	double x[256] = { 0 };
	struct hurst found;

	(void)state;
	hurst_estimate(x, 256, 1, &found);
	assert_int_equal(found.n_scales, 0);
	assert_true(isnan(found.h));
}

static void too_short_a_series_has_none_either(void **state)
{
	double x[256];
	struct rng r;
	struct hurst found;

	(void)state;
	rng_init(&r, 1, 1);
	for (unsigned i = 0; i < 256; i++)
		x[i] = normal(&r);
	hurst_estimate(x, 255, 1, &found); /* 31 blocks at m = 8 */
	assert_int_equal(found.n_scales, 0);
	hurst_estimate(x, 256, 1, &found);
	assert_int_equal(found.n_scales, 4);
	hurst_estimate(x, 256, 2, &found);
	assert_int_equal(found.n_scales, 0);
	hurst_estimate(NULL, 0, 1, &found);
	assert_int_equal(found.n_scales, 0);
}

/* White noise with a short memory deviates at scales within it. */
static void scales_below_the_first_do_not_count(void **state)
{
	enum { N = 1 << 15 };
	double *x = hd_alloc(N, sizeof(*x));
	struct rng r;
	struct hurst all, large;
	double last = 0;

	(void)state;
	rng_init(&r, 3, 0);
	for (unsigned i = 0; i < N; i++)
		x[i] = last = 0.8 * last + normal(&r);
	hurst_estimate(x, N, 1, &all);
	hurst_estimate(x, N, 64, &large);
	assert_true(all.h > 0.6);
	assert_true(fabs(large.h - 0.5) < 0.12);
	free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_exponent_of_fractional_noise),
		cmocka_unit_test(a_constant_has_no_exponent),
		cmocka_unit_test(too_short_a_series_has_none_either),
		cmocka_unit_test(scales_below_the_first_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
