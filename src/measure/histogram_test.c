/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/compare.h"
#include "base/rng.h"
#include "measure/histogram.h"

/* Percentiles as the header defines them, from the sorted samples. */
static uint64_t exact_percentile(const uint64_t *sorted, size_t n, double p)
{
	size_t rank = (size_t)ceil(p / 100 * (double)n);

	return sorted[rank ? rank - 1 : 0];
}

static void fill(struct rng *r, unsigned shape, uint64_t *samples, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		switch (shape) {
		case 0: /* all magnitudes */
			samples[i] = rng_next(r) >> rng_below(r, 64);
			break;
		case 1:
			samples[i] = (uint64_t)rng_exponential(r, 1e6);
			break;
		case 2: /* narrow, far from zero */
			samples[i] = 5000000 + rng_below(r, 100);
			break;
		default:
			samples[i] = rng_below(r, 200);
			break;
		}
	}
}

static void percentiles_are_within_one_percent(void **state)
{
	static const double percents[] = { 0.01, 1, 25, 50, 75, 90, 99, 99.9, 99.99, 100 };
	struct rng r;
	size_t n = 20000;
	uint64_t *samples = hd_alloc(n, sizeof(*samples));

	(void)state;
	rng_init(&r, 1, 1);
	for (unsigned shape = 0; shape < 4; shape++) {
		struct histogram h;

		histogram_init(&h);
		fill(&r, shape, samples, n);
		for (size_t i = 0; i < n; i++)
			histogram_record(&h, samples[i]);
		qsort(samples, n, sizeof(*samples), compare_u64);
		for (size_t i = 0; i < sizeof(percents) / sizeof(double); i++) {
			double exact = (double)exact_percentile(samples, n, percents[i]);
			double got = (double)histogram_percentile(&h, percents[i]);

			assert_true(fabs(got - exact) <= exact / 128);
		}
		histogram_fini(&h);
	}
	free(samples);
}

static void every_value_falls_into_a_bucket_that_holds_it(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 64; bit++) {
		for (int off = -2; off <= 2; off++) {
			uint64_t value = (UINT64_C(1) << bit) + (uint64_t)off;
			struct histogram h;
			struct histogram_bucket b;
			unsigned at = 0;

			histogram_init(&h);
			histogram_record(&h, value);
			assert_true(histogram_next(&h, &at, &b));
			assert_true(b.low <= value && value <= b.high);
			assert_int_equal(b.n, 1);
			/* Never wider than 1/64 of its value. */
			assert_true(b.high - b.low <= b.low / 64);
			assert_false(histogram_next(&h, &at, &b));
			histogram_fini(&h);
		}
	}
}

static void buckets_meet_without_gap_or_overlap(void **state)
{
	struct histogram h;
	struct histogram_bucket b;
	uint64_t value = 0, expected = 0;
	unsigned at = 0;

	(void)state;
	histogram_init(&h);
	/* Puts one sample into each bucket, starting at the end of the previous one. */
	for (;;) {
		struct histogram one;
		unsigned from = 0;

		histogram_init(&one);
		histogram_record(&one, value);
		histogram_record(&h, value);
		assert_true(histogram_next(&one, &from, &b));
		histogram_fini(&one);
		if (b.high == UINT64_MAX)
			break;
		value = b.high + 1;
	}
	while (histogram_next(&h, &at, &b)) {
		assert_int_equal(b.n, 1);
		assert_int_equal(b.low, expected);
		expected = b.high + 1;
	}
	assert_int_equal(b.high, UINT64_MAX);
	histogram_fini(&h);
}

static void mean_minimum_and_maximum_are_exact(void **state)
{
	struct histogram h;

	(void)state;
	histogram_init(&h);
	histogram_record(&h, 1000003);
	histogram_record(&h, 7);
	histogram_record(&h, 1000000007);
	assert_true(histogram_mean(&h) == 1001000017.0 / 3);
	assert_int_equal(h.min, 7);
	assert_int_equal(h.max, 1000000007);
	assert_int_equal(histogram_percentile(&h, 0), 7);
	assert_int_equal(histogram_percentile(&h, 100), 1000000007);
	histogram_fini(&h);
}

static void sums_beyond_64_bits_keep_the_mean(void **state)
{
	struct histogram h;

	(void)state;
	histogram_init(&h);
	for (int i = 0; i < 1000; i++)
		histogram_record(&h, UINT64_MAX - 2000);
	assert_true(histogram_mean(&h) == (double)(UINT64_MAX - 2000));
	assert_int_equal(histogram_percentile(&h, 50), UINT64_MAX - 2000);
	histogram_fini(&h);
}

static void merged_sums_beyond_64_bits_keep_the_mean(void **state)
{
	const uint64_t value = UINT64_C(3) << 62; /* two exceed 2^64 */
	struct histogram a, b;

	(void)state;
	histogram_init(&a);
	histogram_init(&b);
	histogram_record(&a, value);
	histogram_record(&b, value);
	for (unsigned n = 2; n <= 5; n++) {
		histogram_merge(&a, &b);
		assert_int_equal(a.n, n);
		assert_true(histogram_mean(&a) == (double)value);
		assert_true(histogram_deviation(&a) == 0);
	}
	histogram_fini(&a);
	histogram_fini(&b);
}

static void deviation_of_a_narrow_far_distribution_keeps_its_digits(void **s)
{
	struct histogram h;

	(void)s;
	histogram_init(&h);
	/* 10^15 + {1..5}: sample variance of 1..5 is 2.5. */
	for (uint64_t i = 1; i <= 5; i++)
		histogram_record(&h, UINT64_C(1000000000000000) + i);
	assert_true(fabs(histogram_deviation(&h) - sqrt(2.5)) < 1e-12);
	histogram_fini(&h);
}

static void merging_equals_recording_together(void **state)
{
	struct histogram parts[3], merged, whole;
	struct histogram_bucket a, b;
	struct rng r;
	unsigned at_a = 0, at_b = 0;

	(void)state;
	rng_init(&r, 2, 2);
	histogram_init(&merged);
	histogram_init(&whole);
	for (unsigned p = 0; p < 3; p++) {
		histogram_init(&parts[p]);
		for (int i = 0; i < 1000; i++) {
			uint64_t v = rng_below(&r, UINT64_C(10) << (10 * p));

			histogram_record(&parts[p], v);
			histogram_record(&whole, v);
		}
	}
	for (unsigned p = 0; p < 3; p++)
		histogram_merge(&merged, &parts[2 - p]);
	assert_int_equal(merged.n, whole.n);
	assert_int_equal(merged.min, whole.min);
	assert_int_equal(merged.max, whole.max);
	assert_true(histogram_mean(&merged) == histogram_mean(&whole));
	assert_true(fabs(histogram_deviation(&merged) / histogram_deviation(&whole) - 1) < 1e-12);
	while (histogram_next(&whole, &at_a, &a)) {
		assert_true(histogram_next(&merged, &at_b, &b));
		assert_memory_equal(&a, &b, sizeof(a));
	}
	assert_false(histogram_next(&merged, &at_b, &b));
	for (unsigned p = 0; p < 3; p++)
		histogram_fini(&parts[p]);
	histogram_fini(&merged);
	histogram_fini(&whole);
}

static void an_empty_histogram_has_no_mean_and_clearing_empties(void **state)
{
	struct histogram h;
	unsigned at = 0;
	struct histogram_bucket b;

	(void)state;
	histogram_init(&h);
	assert_true(isnan(histogram_mean(&h)));
	histogram_record(&h, 12345);
	histogram_clear(&h);
	assert_int_equal(h.n, 0);
	assert_true(isnan(histogram_mean(&h)));
	assert_false(histogram_next(&h, &at, &b));
	histogram_record(&h, 3);
	assert_int_equal(histogram_percentile(&h, 99), 3);
	assert_int_equal(h.max, 3);
	histogram_fini(&h);
}

/* More than one block of the pool, and rows of many histograms mixed. */
static void histograms_in_a_pool_are_those_that_own_their_rows(void **state)
{
	enum { N = 500 };
	struct histogram *alone = hd_alloc(N, sizeof(*alone));
	struct histogram *pooled = hd_alloc(N, sizeof(*pooled));
	struct histogram_pool pool;
	struct rng r;

	(void)state;
	rng_init(&r, 5, 1);
	histogram_pool_init(&pool);
	for (unsigned i = 0; i < N; i++) {
		histogram_init(&alone[i]);
		histogram_init_in(&pooled[i], &pool);
	}
	for (unsigned i = 0; i < 100 * N; i++) {
		uint64_t value = rng_next(&r) >> rng_below(&r, 64);
		uint64_t which = rng_below(&r, N);

		histogram_record(&alone[which], value);
		histogram_record(&pooled[which], value);
	}
	assert_true(pool.n_blocks > 1);
	for (unsigned i = 0; i < N; i++) {
		struct histogram_bucket a, b;
		unsigned at = 0, too = 0;

		while (histogram_next(&alone[i], &at, &a)) {
			assert_true(histogram_next(&pooled[i], &too, &b));
			assert_memory_equal(&a, &b, sizeof(a));
		}
		assert_false(histogram_next(&pooled[i], &too, &b));
		histogram_fini(&alone[i]);
		histogram_fini(&pooled[i]);
	}
	histogram_pool_fini(&pool);
	free(alone);
	free(pooled);
}

/* Huge and small, in two orders, in one histogram or many: the same bits. */
static void order_and_merging_leave_no_trace(void **state)
{
	enum { PARTS = 7, SAMPLES = 5000 };
	struct histogram forth, back, parts[PARTS], all;
	static uint64_t samples[SAMPLES];
	struct rng r;

	(void)state;
	rng_init(&r, 3, 0);
	histogram_init(&forth);
	histogram_init(&back);
	histogram_init(&all);
	for (unsigned i = 0; i < PARTS; i++)
		histogram_init(&parts[i]);
	for (unsigned i = 0; i < SAMPLES; i++) {
		unsigned shift = (unsigned)rng_below(&r, 64);

		samples[i] = rng_below(&r, UINT64_MAX) >> shift;
		histogram_record(&forth, samples[i]);
		histogram_record(&parts[rng_below(&r, PARTS)], samples[i]);
	}
	for (unsigned i = SAMPLES; i-- > 0;)
		histogram_record(&back, samples[i]);
	for (unsigned i = PARTS; i-- > 0;)
		histogram_merge(&all, &parts[i]);
	assert_memory_equal(forth.squares, back.squares, sizeof(all.squares));
	assert_memory_equal(forth.squares, all.squares, sizeof(all.squares));
	double one = histogram_deviation(&forth);
	double two = histogram_deviation(&back);
	double three = histogram_deviation(&all);

	assert_memory_equal(&one, &two, sizeof(one));
	assert_memory_equal(&one, &three, sizeof(one));
	histogram_fini(&forth);
	histogram_fini(&back);
	histogram_fini(&all);
	for (unsigned i = 0; i < PARTS; i++)
		histogram_fini(&parts[i]);
}

static void bytes_keep_all_of_it(void **state)
{
	struct strbuf bytes = STRBUF_INIT, again = STRBUF_INIT;
	struct histogram h, back;
	struct rng r;
	struct pack p;

	(void)state;
	rng_init(&r, 9, 0);
	histogram_init(&h);
	histogram_init(&back);
	for (unsigned i = 0; i < 3000; i++)
		histogram_record(&h, rng_next(&r) >> rng_below(&r, 64));
	pack_to(&p, &bytes);
	histogram_pack(&p, &h);
	for (size_t len = 0; len < bytes.len; len += 97) {
		pack_from(&p, bytes.text, len);
		histogram_pack(&p, &back);
		assert_true(p.refused);
		histogram_fini(&back);
	}
	pack_from(&p, bytes.text, bytes.len);
	histogram_pack(&p, &back);
	assert_true(pack_is_done(&p));
	for (unsigned half = 0; half <= 200; half++)
		assert_int_equal(histogram_percentile(&h, half / 2.0),
				 histogram_percentile(&back, half / 2.0));
	assert_memory_equal(h.squares, back.squares, sizeof(h.squares));
	pack_to(&p, &again);
	histogram_pack(&p, &back);
	assert_int_equal(again.len, bytes.len);
	assert_memory_equal(again.text, bytes.text, bytes.len);
	strbuf_fini(&bytes);
	strbuf_fini(&again);
	histogram_fini(&h);
	histogram_fini(&back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles_are_within_one_percent),
		cmocka_unit_test(every_value_falls_into_a_bucket_that_holds_it),
		cmocka_unit_test(buckets_meet_without_gap_or_overlap),
		cmocka_unit_test(mean_minimum_and_maximum_are_exact),
		cmocka_unit_test(sums_beyond_64_bits_keep_the_mean),
		cmocka_unit_test(merged_sums_beyond_64_bits_keep_the_mean),
		cmocka_unit_test(deviation_of_a_narrow_far_distribution_keeps_its_digits),
		cmocka_unit_test(histograms_in_a_pool_are_those_that_own_their_rows),
		cmocka_unit_test(merging_equals_recording_together),
		cmocka_unit_test(an_empty_histogram_has_no_mean_and_clearing_empties),
		cmocka_unit_test(order_and_merging_leave_no_trace),
		cmocka_unit_test(bytes_keep_all_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
