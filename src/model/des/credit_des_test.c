/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/des/des_for_tests.h"

#include <stdlib.h>

#include "model/des/credit_des.h"

static struct credit_link thesis_link(size_t n, size_t m)
{
	return (struct credit_link){
		.lambda = 5, .mu1 = 6, .mu2 = 8, .upstream = n, .downstream = m, .phases = 1
	};
}

static struct credit_des_result run(const struct credit_link *link, uint64_t packets)
{
	struct des_options o = options(packets, 1);
	struct credit_des_result t;

	credit_des_run(link, &o, &t);
	return t;
}

static void check(const struct credit_link *link)
{
	struct credit_des_result t = run(link, 300000);
	struct diag d = { .status = HD_OK };
	struct credit_result r;

	assert_int_equal(credit_solve(link, &d, NULL, &r), HD_OK);
	agrees(&t.mean_upstream, r.mean_upstream, "L1");
	agrees(&t.mean_downstream, r.mean_downstream, "L2");
	agrees(&t.mean, r.mean, "L");
	agrees(&t.response, r.response, "R");
	agrees(&t.throughput, r.throughput, "T");
	agrees(&t.loss, r.loss, "loss");
	if (link->delay > 0)
		agrees(&t.in_flight, r.in_flight, "in flight");
}

static void links_without_delay_agree(void **state)
{
	static const size_t sizes[][2] = { { 12, 2 }, { 12, 5 }, { 12, 11 }, { 2, 2 }, { 1, 1 } };

	(void)state;
	for (int k = 0; k < 5; k++) {
		struct credit_link link = thesis_link(sizes[k][0], sizes[k][1]);

		check(&link);
	}
}

static void an_overloaded_link_agrees(void **state)
{
	struct credit_link link = thesis_link(6, 3);

	(void)state;
	link.lambda = 20;
	check(&link);
}

static void delayed_credits_agree(void **state)
{
	struct credit_link link = thesis_link(12, 5);

	(void)state;
	link.delay = 0.6;
	for (link.phases = 1; link.phases <= 4; link.phases++)
		check(&link);
}

static void published_runs_are_met(void **state)
{
	static const double want[3][4] = { { 2, 7.40, 0.785, 4.42 },
					   { 5, 4.18, 1.318, 4.857 },
					   { 11, 3.66, 1.531, 4.892 } };

	(void)state;
	for (int k = 0; k < 3; k++) {
		struct credit_link link = thesis_link(12, (size_t)want[k][0]);
		struct credit_des_result t = run(&link, 1000000);

		assert_near(t.mean_upstream.mean / want[k][1], 1, 0.02);
		assert_near(t.mean_downstream.mean / want[k][2], 1, 0.01);
		assert_near(t.throughput.mean / want[k][3], 1, 0.005);
	}
}

/*
 * With more phases the computed throughput approaches what a constant delay
 * gives in the des; what is missing halves as phases double.
 */
static void many_phases_approach_a_constant_delay(void **state)
{
	struct credit_link link = thesis_link(2, 2);
	struct diag d = { .status = HD_OK };
	struct credit_result r;
	double before = INFINITY, last = 0, previous = 0;

	(void)state;
	link.delay = 0.5;
	link.phases = 0;
	struct credit_des_result t = run(&link, 2000000);

	for (link.phases = 1; link.phases <= 32; link.phases *= 2) {
		assert_int_equal(credit_solve(&link, &d, NULL, &r), HD_OK);
		double gap = fabs(r.throughput - t.throughput.mean);

		assert_true(gap < before);
		before = gap;
		previous = last;
		last = r.throughput;
	}
	agrees(&t.throughput, 2 * last - previous, "T");
}

static void a_wrong_model_is_noticed(void **state)
{
	struct credit_link link = thesis_link(12, 5);
	struct credit_des_result t;
	struct diag d = { .status = HD_OK };
	struct credit_result r;

	(void)state;
	link.delay = 0.3;
	t = run(&link, 300000);
	link.delay = 0;
	assert_int_equal(credit_solve(&link, &d, NULL, &r), HD_OK);
	assert_false(des_agrees(&t.mean_upstream, r.mean_upstream));
	assert_false(des_agrees(&t.response, r.response));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_without_delay_agree),
		cmocka_unit_test(an_overloaded_link_agrees),
		cmocka_unit_test(delayed_credits_agree),
		cmocka_unit_test(published_runs_are_met),
		cmocka_unit_test(many_phases_approach_a_constant_delay),
		cmocka_unit_test(a_wrong_model_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
