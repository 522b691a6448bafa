/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/expect_for_tests.h"

#include "model/ge.h"
#include "model/queue.h"

static struct queue_result mg1(double lambda, double mu, double cs2)
{
	struct diag d = { .status = HD_OK };
	struct queue_result r;

	assert_int_equal(queue_mg1(lambda, mu, cs2, &d, &r), HD_OK);
	return r;
}

static void an_exponential_server_gives_the_textbook_values(void **state)
{
	struct queue_result r = mg1(4, 5, 1);

	(void)state;
	assert_near(r.mean_queue, 4, 1e-14); /* rho / (1 - rho) */
	assert_near(r.response, 1, 1e-14);   /* 1 / (mu - lambda) */
	assert_near(r.wait, 0.8, 1e-14);
	assert_near(r.utilisation, 0.8, 1e-14);
}

static void a_fixed_service_halves_the_wait(void **state)
{
	(void)state;
	assert_near(mg1(4, 5, 0).wait, mg1(4, 5, 1).wait / 2, 1e-14);
	/* L of M/D/1: rho + rho^2 / (2 (1 - rho)). */
	assert_near(mg1(4, 5, 0).mean_queue, 0.8 + 0.64 / 0.4, 1e-14);
}

static void bursty_service_agrees_with_the_ge_queue(void **state)
{
	struct ge_queue q = {
		.lambda = 3, .ca2 = 1, .cs2 = 4, .capacity = 3000, .n_regions = 1, .mu = { 5 }
	};
	double p[3001];

	(void)state;
	ge_solve(&q, p);
	assert_near(mg1(3, 5, 4).mean_queue, ge_des_measure(&q, p).mean_queue, 1e-9);
}

static void a_limited_queue_gives_the_textbook_values(void **state)
{
	struct diag d = { .status = HD_OK };
	struct queue_result r;

	(void)state;
	assert_int_equal(queue_mm1n(1, 2, 8, &d, &r), HD_OK);
	assert_near(r.mean_queue, 0.98238748, 5e-9);
	assert_near(r.blocking, 0.00195695, 5e-9);
	assert_int_equal(queue_mm1n(5, 6, 12, &d, &r), HD_OK);
	assert_near(r.mean_queue, 3.659700, 1e-6);
	assert_near(r.blocking, 0.020620, 1e-6);
	assert_near(r.throughput, 4.896900, 1e-6);
	assert_int_equal(queue_mm1n(2, 2, 9, &d, &r), HD_OK);
	assert_near(r.mean_queue, 4.5, 1e-13);
	assert_near(r.blocking, 0.1, 1e-15);
	/* Capacity 1: Erlang's loss formula. */
	assert_int_equal(queue_mm1n(3, 1, 1, &d, &r), HD_OK);
	assert_near(r.blocking, 0.75, 1e-15);
	assert_near(r.wait, 0, 1e-15);
}

static void a_limited_queue_is_the_ge_queue_without_bursts(void **state)
{
	(void)state;
	for (int k = 0; k < 7; k++) {
		double lambda = 0.25 * pow(11, k);
		struct ge_queue q = { .lambda = lambda,
				      .ca2 = 1,
				      .cs2 = 1,
				      .capacity = 70,
				      .n_regions = 1,
				      .mu = { 2 } };
		struct diag d = { .status = HD_OK };
		struct queue_result r;
		double p[71];

		ge_solve(&q, p);
		struct ge_result g = ge_des_measure(&q, p);

		assert_int_equal(queue_mm1n(lambda, 2, 70, &d, &r), HD_OK);
		assert_near(r.mean_queue, g.mean_queue, 1e-11);
		assert_near(r.blocking, g.blocking, 1e-14);
		assert_near(r.throughput, g.throughput, 1e-13);
		assert_near(r.response, g.response, 1e-11);
	}
}

static void priorities_keep_the_conserved_sum(void **state)
{
	const struct queue_class c[] = { { 1, 4, 0 }, { 2, 10, 1 }, { 0.3, 1, 6 } };
	struct diag d = { .status = HD_OK };
	struct queue_result r[3];
	double sum = 0;

	(void)state;
	assert_int_equal(queue_priority(c, 3, &d, r), HD_OK);
	for (int k = 0; k < 3; k++)
		sum += c[k].lambda / c[k].mu * r[k].wait;
	assert_near(sum, queue_conserved(c, 3), 1e-14);
	/* Cobham by hand: 1/32 + 2/100 + 0.3 * 7 / 2 = 1.10125. */
	assert_near(r[0].wait, 1.10125 / 0.75, 1e-14);
	assert_near(r[1].wait, 1.10125 / (0.75 * 0.55), 1e-13);
	assert_near(r[2].wait, 1.10125 / (0.55 * 0.25), 1e-13);
}

static void one_priority_is_no_priority(void **state)
{
	const struct queue_class c = { 3, 5, 2 };
	struct diag d = { .status = HD_OK };
	struct queue_result r;

	(void)state;
	assert_int_equal(queue_priority(&c, 1, &d, &r), HD_OK);
	assert_near(r.wait, mg1(3, 5, 2).wait, 1e-15);
	assert_near(r.mean_queue, mg1(3, 5, 2).mean_queue, 1e-15);
}

static void an_overloaded_class_takes_what_is_left(void **state)
{
	/* The second class always has work, so the first finds one of its
	 * services under way with probability 1 - 0.4. */
	const struct queue_class c[] = { { 2, 5, 1 }, { 9, 3, 0 }, { 1, 1, 1 } };
	struct diag d = { .status = HD_OK };
	struct queue_result r[3];

	(void)state;
	assert_int_equal(queue_priority(c, 3, &d, r), HD_OK);
	assert_near(r[0].wait, (0.4 / 5 + 0.6 / 6) / 0.6, 1e-14);
	assert_near(r[1].throughput, 0.6 * 3, 1e-14);
	assert_true(isinf(r[1].wait) && isinf(r[2].wait));
	assert_near(r[2].throughput, 0, 0);
	assert_true(isinf(queue_conserved(c, 3)));
}

static void shares_follow_weights_once_all_want_more(void **state)
{
	const struct share_class c[] = { { 10, 1 }, { 10, 2 }, { 10, 5 } };
	struct diag d = { .status = HD_OK };
	double got[3];

	(void)state;
	assert_int_equal(queue_share(c, 3, 8, &d, got), HD_OK);
	assert_near(got[0], 1, 1e-15);
	assert_near(got[1], 2, 1e-15);
	assert_near(got[2], 5, 1e-15);
}

static void other_vls_divide_the_unused_share(void **state)
{
	/* 6 for everybody; the third wants 1, so 5 are left for 1 : 2; the
	 * second wants 3, so 2 are left for the first. */
	const struct share_class c[] = { { 10, 1 }, { 3, 2 }, { 1, 3 } };
	struct diag d = { .status = HD_OK };
	double got[3];

	(void)state;
	assert_int_equal(queue_share(c, 3, 6, &d, got), HD_OK);
	assert_near(got[2], 1, 1e-15);
	assert_near(got[1], 3, 1e-15);
	assert_near(got[0], 2, 1e-15);
	assert_int_equal(queue_share(c, 3, 20, &d, got), HD_OK);
	assert_near(got[0] + got[1] + got[2], 14, 1e-15);
}

static void quanta_are_whole_packets(void **state)
{
	(void)state;
	assert_near(queue_share_quantum(4, 256), 256, 0);
	assert_near(queue_share_quantum(4, 2048), 2048, 0);
	assert_near(queue_share_quantum(5, 256), 512, 0);
	assert_near(queue_share_quantum(6, 65), 195, 0); /* two blocks each */
	assert_near(queue_share_quantum(255, 64), 255 * 64, 0);
}

static void refuses_mg1(double lambda, double mu, double cs2, const char *words)
{
	struct diag d = { .status = HD_OK };
	struct queue_result r;

	assert_int_equal(queue_mg1(lambda, mu, cs2, &d, &r), HD_ERR_RANGE);
	assert_string_equal(d.message, words);
}

static void each_refusal_names_its_rule(void **state)
{
	const struct share_class none = { 1, 0 }, silent = { 0, 1 };
	struct diag d = { .status = HD_OK };
	struct queue_result r;
	double got;

	(void)state;
	refuses_mg1(0, 1, 1, "arrival rate 0: must be above 0");
	refuses_mg1(1, 0, 1, "service rate 0: must be above 0");
	refuses_mg1(1, 2, -1, "service variability Cs2 = -1: must not be negative");
	refuses_mg1(2, 2, 1, "lambda 2 is not below mu 2: an unlimited queue would grow for ever");
	assert_int_equal(queue_mm1n(1, 1, 0, &d, &r), HD_ERR_RANGE);
	assert_string_equal(d.message, "capacity 0: must be 1 to 100000000");
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(queue_share(&none, 1, 1, &d, &got), HD_ERR_RANGE);
	assert_string_equal(d.message, "weight 0: must be above 0");
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(queue_share(&silent, 1, 1, &d, &got), HD_ERR_RANGE);
	assert_string_equal(d.message, "offered load 0: must be above 0");
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(queue_share(&none, 1, 0, &d, &got), HD_ERR_RANGE);
	assert_string_equal(d.message, "link rate 0: must be above 0");
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(queue_priority(NULL, 0, &d, &r), HD_ERR_RANGE);
	assert_string_equal(d.message, "0 classes: must be 1 to 16");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_exponential_server_gives_the_textbook_values),
		cmocka_unit_test(a_fixed_service_halves_the_wait),
		cmocka_unit_test(bursty_service_agrees_with_the_ge_queue),
		cmocka_unit_test(a_limited_queue_gives_the_textbook_values),
		cmocka_unit_test(a_limited_queue_is_the_ge_queue_without_bursts),
		cmocka_unit_test(priorities_keep_the_conserved_sum),
		cmocka_unit_test(one_priority_is_no_priority),
		cmocka_unit_test(an_overloaded_class_takes_what_is_left),
		cmocka_unit_test(shares_follow_weights_once_all_want_more),
		cmocka_unit_test(other_vls_divide_the_unused_share),
		cmocka_unit_test(quanta_are_whole_packets),
		cmocka_unit_test(each_refusal_names_its_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
