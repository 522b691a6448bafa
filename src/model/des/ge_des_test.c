/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/des/des_for_tests.h"

#include <stdlib.h>

#include "model/des/ge_des.h"
#include "model/reference_for_tests.h"

static void agrees_with(const struct ge_des_result *t, const struct ge_result *r)
{
	agrees(&t->mean_queue, r->mean_queue, "L");
	agrees(&t->utilisation, r->utilisation, "U");
	agrees(&t->blocking, r->blocking, "blocking");
	agrees(&t->throughput, r->throughput, "throughput");
	agrees(&t->response, r->response, "W");
}

static void check(const struct batch_queue *b, uint64_t seed)
{
	struct des_options o = options(200000, seed);
	struct ge_des_result t;
	double p[64];

	assert_int_equal(batch_solve(b, NULL, p), HD_OK);
	struct ge_result r = batch_measure(b, p);

	ge_des_run(b, &o, &t, NULL);
	agrees_with(&t, &r);
}

static void plain_queues_agree_below_at_and_above_load_1(void **state)
{
	(void)state;
	for (int lambda = 4; lambda <= 12; lambda += 4) {
		struct ge_queue q = plain_queue(lambda, 8);
		struct batch_queue b = batch_queue_of(&q);

		check(&b, 1);
	}
}

static void thresholds_agree(void **state)
{
	struct ge_queue et = et_queue(7, 8), ajt = ajt_queue(7, 4, 12, 24);
	struct batch_queue b = batch_queue_of(&et);

	(void)state;
	check(&b, 1);
	b = batch_queue_of(&ajt);
	check(&b, 1);
}

static void fixed_rooms_agree(void **state)
{
	struct ge_queue q = ajt_queue(6, 4, 12, 24);
	struct batch_queue b = batch_queue_of(&q);

	(void)state;
	b.room[0] = 8;
	b.room[1] = 16;
	check(&b, 1);
}

static void four_thresholds_agree(void **state)
{
	struct ge_queue q = { .lambda = 9,
			      .ca2 = 3,
			      .cs2 = 2,
			      .capacity = 30,
			      .n_regions = 5,
			      .mu = { 4, 7, 9, 8, 14 },
			      .threshold = { 3, 9, 15, 24 } };
	struct batch_queue b = batch_queue_of(&q);

	(void)state;
	check(&b, 1);
}

static void classes_agree_one_by_one(void **state)
{
	struct ge_queue q = plain_queue(1, 12);
	struct batch_queue b = batch_queue_of(&q);
	struct des_options o = options(400000, 1);
	struct ge_des_result all, t[2];
	double p[13];

	(void)state;
	b.n_classes = 2;
	b.classes[0] = (struct batch_class){ 3, 1 };
	b.classes[1] = (struct batch_class){ 2, 8 };
	assert_int_equal(batch_solve(&b, NULL, p), HD_OK);
	ge_des_run(&b, &o, &all, t);
	struct ge_result r = batch_measure(&b, p);

	agrees_with(&all, &r);
	for (size_t k = 0; k < 2; k++) {
		r = batch_measure_class(&b, p, k);
		agrees_with(&t[k], &r);
	}
}

/* Published results of longer runs, within their stated spread. */
static void published_runs_are_met(void **state)
{
	static const double want[3][4] = { { 2, 0.8735, 0.22620, 0.00614 },
					   { 4, 2.0311, 0.40990, 0.02164 },
					   { 7, 3.9693, 0.60808, 0.06851 } };

	(void)state;
	for (int k = 0; k < 3; k++) {
		struct ge_queue q = et_queue(want[k][0], 8);
		struct batch_queue b = batch_queue_of(&q);
		struct des_options o = options(1000000, 1);
		struct ge_des_result t;

		ge_des_run(&b, &o, &t, NULL);
		assert_near(t.mean_queue.mean / want[k][1], 1, 0.03);
		assert_near(t.utilisation.mean / want[k][2], 1, 0.015);
		assert_near(t.blocking.mean / want[k][3], 1, 0.06);
	}
}

static void a_wrong_model_is_noticed(void **state)
{
	struct ge_queue q = et_queue(7, 8);
	struct batch_queue b = batch_queue_of(&q);
	struct des_options o = options(400000, 1);
	struct ge_des_result t;
	double p[17];

	(void)state;
	ge_des_run(&b, &o, &t, NULL);
	q.threshold[0] = 6; /* another queue than the simulated one */
	ge_solve(&q, p);
	struct ge_result r = ge_des_measure(&q, p);

	assert_false(des_agrees(&t.mean_queue, r.mean_queue));
	assert_false(des_agrees(&t.response, r.response));
}

/* 90 % intervals that hold the truth in far more or fewer runs would lie. */
static void intervals_hold_as_often_as_they_say(void **state)
{
	struct ge_queue q = et_queue(5, 8);
	struct batch_queue b = batch_queue_of(&q);
	const int runs = run_is_long() ? 1000 : 100;
	double p[17];
	int held = 0;

	(void)state;
	ge_solve(&q, p);
	struct ge_result r = ge_des_measure(&q, p);

	for (int k = 0; k < runs; k++) {
		struct des_options o = { .packets = 30000,
					 .seed = 100 + (uint64_t)k,
					 .level = 0.9 };
		struct ge_des_result t;

		ge_des_run(&b, &o, &t, NULL);
		held += fabs(t.mean_queue.mean - r.mean_queue) <= t.mean_queue.half_width;
	}
	assert_in_range(held, runs * 82 / 100, runs * 97 / 100);
}

static void a_run_is_its_seed(void **state)
{
	struct ge_queue q = et_queue(5, 8);
	struct batch_queue b = batch_queue_of(&q);
	struct des_options o = options(5000, 3);
	struct ge_des_result one, two;

	(void)state;
	ge_des_run(&b, &o, &one, NULL);
	ge_des_run(&b, &o, &two, NULL);
	assert_true(one.mean_queue.mean == two.mean_queue.mean);
	assert_true(one.response.mean == two.response.mean);
	assert_true(one.response.half_width == two.response.half_width);
	assert_int_equal(one.lost, two.lost);
	o.seed = 4;
	ge_des_run(&b, &o, &two, NULL);
	assert_true(one.mean_queue.mean != two.mean_queue.mean);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_queues_agree_below_at_and_above_load_1),
		cmocka_unit_test(thresholds_agree),
		cmocka_unit_test(fixed_rooms_agree),
		cmocka_unit_test(four_thresholds_agree),
		cmocka_unit_test(classes_agree_one_by_one),
		cmocka_unit_test(published_runs_are_met),
		cmocka_unit_test(a_wrong_model_is_noticed),
		cmocka_unit_test(intervals_hold_as_often_as_they_say),
		cmocka_unit_test(a_run_is_its_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
