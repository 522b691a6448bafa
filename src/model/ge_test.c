/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/seeds_for_tests.h"
#include "model/expect_for_tests.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "model/batch.h"
#include "model/reference_for_tests.h"

static struct ge_result solve(const struct ge_queue *q, double *p)
{
	struct diag d = { .status = HD_OK };
	double own[64];

	assert_int_equal(ge_check(q, &d), HD_OK);
	ge_solve(q, p ? p : own);
	return ge_des_measure(q, p ? p : own);
}

static void plain_queues_meet_their_reference(void **state)
{
	(void)state;
	for (int k = 0; k < 8; k++) {
		struct ge_queue q = plain_queue(k + 1, 8);
		double p[9];
		struct ge_result r = solve(&q, p);
		const double *want = plain8[k];

		assert_near(p[0], want[3], 1e-6);
		assert_near(p[8], want[4], 1e-6);
		assert_near(r.mean_queue, want[5], 1e-6);
		assert_near(r.utilisation, want[6], 1e-6);
		assert_near(r.blocking, want[7], 1e-6);
		assert_near(r.throughput, want[8], 1e-6);
		assert_near(r.response, want[5] / want[8], 1e-5);

		q = plain_queue(k + 1, 16);
		r = solve(&q, NULL);
		assert_near(r.mean_queue, plain16[k][0], 1e-6);
		assert_near(r.blocking, plain16[k][1], 1e-6);
	}
}

static void every_level_meets_its_reference(void **state)
{
	struct ge_queue plain = plain_queue(4, 8), et = et_queue(4, 8);
	double p[17];

	(void)state;
	solve(&plain, p);
	for (int n = 0; n <= 8; n++)
		assert_near(p[n], plain8_levels[n], 6e-9);
	solve(&et, p);
	for (int n = 0; n <= 16; n++)
		assert_near(p[n], et8_levels[n], 6e-9);
}

static void entry_thresholds_meet_their_reference(void **state)
{
	(void)state;
	for (int k = 0; k < 8; k++) {
		for (size_t t = 4; t <= 8; t += 4) {
			struct ge_queue q = et_queue(k + 1, t);
			struct ge_result r = solve(&q, NULL);
			const double *want = t == 8 ? et8[k] : et4[k];

			assert_near(r.mean_queue, want[0], 1e-6);
			assert_near(r.utilisation, want[1], 1e-6);
			assert_near(r.blocking, want[2], 1e-6);
			assert_near(r.throughput, want[3], 1e-6);
		}
	}
}

static void check_jobs(size_t t1, size_t t2, double mu3, const double want[8][3])
{
	for (int k = 0; k < 8; k++) {
		struct ge_queue q = ajt_queue(k + 1, t1, t2, mu3);
		struct ge_result r = solve(&q, NULL);

		assert_near(r.mean_queue, want[k][0], 1e-6);
		assert_near(r.utilisation, want[k][1], 1e-6);
		assert_near(r.blocking, want[k][2], 1e-6);
	}
}

static void job_thresholds_meet_their_reference(void **state)
{
	(void)state;
	check_jobs(8, 16, 24, ajt_8_16_fast);
	check_jobs(8, 16, 12, ajt_8_16_slow);
	check_jobs(4, 12, 24, ajt_4_12_fast);
	check_jobs(4, 12, 12, ajt_4_12_slow);
}

static void without_bursts_it_is_the_simple_queue(void **state)
{
	struct ge_queue q = {
		.lambda = 1, .ca2 = 1, .cs2 = 1, .capacity = 8, .n_regions = 1, .mu = { 2 }
	};
	double p[9];
	struct ge_result r = solve(&q, p);

	(void)state;
	assert_near(r.mean_queue, 0.98238748, 5e-9);
	assert_near(r.blocking, 0.00195695, 5e-9);
	for (int n = 1; n <= 8; n++)
		assert_near(p[n] / p[n - 1], 0.5, 1e-15);
	q.lambda = 2; /* load 1: uniform */
	solve(&q, p);
	for (int n = 0; n <= 8; n++)
		assert_near(p[n], 1.0 / 9, 1e-15);
}

static void a_large_buffer_is_an_infinite_one(void **state)
{
	struct ge_queue q = {
		.lambda = 1, .ca2 = 5, .cs2 = 7, .capacity = 2000, .n_regions = 1, .mu = { 2 }
	};
	double p[2001];

	(void)state;
	assert_near(solve(&q, p).mean_queue, 4.5, 1e-9);
}

static void overload_neither_overflows_nor_loses_balance(void **state)
{
	struct ge_queue q = {
		.lambda = 1e6, .ca2 = 1, .cs2 = 1, .capacity = 2000, .n_regions = 1, .mu = { 1 }
	};
	double *p = hd_alloc(2001, sizeof(*p));
	struct ge_result r = solve(&q, p);

	(void)state;
	assert_near(r.throughput, 1, 1e-12);
	assert_near(r.blocking, 1 - 1e-6, 1e-12);
	assert_near(r.mean_queue, 2000 - 1e-6, 1e-8);
	free(p);
}

/* A queue with any number of regions, loads from idle to far overloaded. */
static struct ge_queue random_queue(struct rng *r)
{
	struct ge_queue q = {
		.lambda = 0.05 + 20 * rng_uniform(r),
		.ca2 = rng_below(r, 4) ? 1 + 20 * rng_uniform(r) : 1,
		.cs2 = rng_below(r, 4) ? 1 + 20 * rng_uniform(r) : 1,
		.capacity = 1 + rng_below(r, 40),
		.n_regions = 1,
	};
	size_t next = 2;

	q.mu[0] = 0.1 + 10 * rng_uniform(r);
	while (next <= q.capacity && rng_below(r, 3)) {
		q.threshold[q.n_regions - 1] = next + rng_below(r, q.capacity - next + 1);
		next = q.threshold[q.n_regions - 1] + 1;
		q.mu[q.n_regions++] = 0.1 + 20 * rng_uniform(r);
	}
	return q;
}

static void the_recursion_solves_the_full_generator(void **state)
{
	struct rng rng;
	const int sets = run_is_long() ? 10000 : 1000;

	(void)state;
	rng_init(&rng, 5, 1);
	for (int k = 0; k < sets; k++) {
		struct ge_queue q = random_queue(&rng);
		struct batch_queue b = batch_queue_of(&q);
		double p[41], whole[41];
		struct ge_result r = solve(&q, p);
		struct ge_result w;

		assert_int_equal(batch_solve(&b, NULL, whole), HD_OK);
		w = batch_measure(&b, whole);
		for (size_t n = 0; n <= q.capacity; n++)
			assert_near(p[n], whole[n], 1e-13);
		assert_near(r.blocking, w.blocking, 1e-12);
		/* Flow balance: accepted packets equal served packets. */
		assert_near(r.throughput, q.lambda * (1 - r.blocking), 1e-12 * q.lambda);
	}
}

static void refuses(struct ge_queue q, const char *words)
{
	struct diag d = { .status = HD_OK };

	assert_int_equal(ge_check(&q, &d), HD_ERR_RANGE);
	assert_string_equal(d.message, words);
}

static void each_refusal_names_its_rule(void **state)
{
	struct ge_queue q = et_queue(4, 8);

	(void)state;
	q.lambda = 0;
	refuses(q, "arrival rate 0: must be above 0");
	q = et_queue(4, 8);
	q.lambda = NAN;
	refuses(q, "arrival rate nan: must be above 0");
	q = et_queue(4, 8);
	q.lambda = 1e308;
	refuses(q, "arrival rate 1e+308: must be at most 1e100");
	q = et_queue(4, 8);
	q.mu[1] = -3;
	refuses(q, "service rate -3: must be above 0");
	q = et_queue(4, 8);
	q.ca2 = 0.5;
	refuses(q, "arrivals: squared coefficient of variation Ca2 = 0.5: must be 1 to 1e9");
	q = et_queue(4, 8);
	q.cs2 = 0.99;
	refuses(q, "service: squared coefficient of variation Cs2 = 0.99: must be 1 to 1e9");
	q = et_queue(4, 8);
	q.capacity = 0;
	refuses(q, "capacity 0: must be 1 to 10000000");
	refuses(et_queue(4, 17), "threshold 17 lies beyond the capacity 16");
	refuses(et_queue(4, 1),
		"threshold 1: must be at least 2, the first service rate applies below it");
	refuses(ajt_queue(4, 8, 8, 24), "threshold 8 follows 8: thresholds must rise");
	refuses(ajt_queue(4, 12, 4, 24), "threshold 4 follows 12: thresholds must rise");
	q = et_queue(4, 8);
	q.n_regions = 0;
	refuses(q, "0 service rates: must be 1 to 64");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_queues_meet_their_reference),
		cmocka_unit_test(every_level_meets_its_reference),
		cmocka_unit_test(entry_thresholds_meet_their_reference),
		cmocka_unit_test(job_thresholds_meet_their_reference),
		cmocka_unit_test(without_bursts_it_is_the_simple_queue),
		cmocka_unit_test(a_large_buffer_is_an_infinite_one),
		cmocka_unit_test(overload_neither_overflows_nor_loses_balance),
		cmocka_unit_test(the_recursion_solves_the_full_generator),
		cmocka_unit_test(each_refusal_names_its_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
