/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/expect_for_tests.h"

#include <stdlib.h>

#include "base/rng.h"
#include "model/batch.h"
#include "model/reference_for_tests.h"

/* AJT with the room of a batch fixed when it arrives: 8, 16, 24 places. */
static struct ge_result fixed_rooms(double lambda, double mu3)
{
	struct ge_queue q = ajt_queue(lambda, 4, 12, mu3);
	struct batch_queue b = batch_queue_of(&q);
	struct diag d = { .status = HD_OK };
	double p[25];

	b.room[0] = 8;
	b.room[1] = 16;
	assert_int_equal(batch_check(&b, &d), HD_OK);
	assert_int_equal(batch_solve(&b, NULL, p), HD_OK);
	struct ge_result r = batch_measure(&b, p);

	assert_near(r.throughput, lambda * (1 - r.blocking), 1e-12);
	return r;
}

static void fixed_rooms_meet_their_reference(void **state)
{
	static const struct {
		double lambda, mu3, length, use, blocking;
	} want[] = {
		{ 4, 24, 1.319867, 0.335327, 0.034743 },
		{ 8, 24, 3.280198, 0.555872, 0.045685 },
		{ 4, 12, 1.523521, 0.344339, 0.036235 },
		{ 8, 12, 4.915528, 0.603318, 0.073985 },
	};

	(void)state;
	for (int k = 0; k < 4; k++) {
		struct ge_result r = fixed_rooms(want[k].lambda, want[k].mu3);

		assert_near(r.mean_queue, want[k].length, 1e-6);
		assert_near(r.utilisation, want[k].use, 1e-6);
		assert_near(r.blocking, want[k].blocking, 1e-6);
	}
}

static void a_split_poisson_stream_is_one_stream(void **state)
{
	struct ge_queue q = plain_queue(5, 10);
	struct batch_queue b;
	double p[11], whole[11];

	(void)state;
	q.ca2 = 1;
	ge_solve(&q, whole);
	b = batch_queue_of(&q);
	b.n_classes = 2;
	b.classes[0] = (struct batch_class){ 2, 1 };
	b.classes[1] = (struct batch_class){ 3, 1 };
	assert_int_equal(batch_solve(&b, NULL, p), HD_OK);
	for (int n = 0; n <= 10; n++)
		assert_near(p[n], whole[n], 1e-15);
	/* Poisson arrivals see time averages: both wait alike. */
	struct ge_result one = batch_measure_class(&b, p, 0);
	struct ge_result two = batch_measure_class(&b, p, 1);
	struct ge_result all = ge_des_measure(&q, whole);

	assert_near(one.blocking, p[10], 1e-15);
	assert_near(two.blocking, p[10], 1e-15);
	assert_near(one.response, all.response, 1e-14);
	assert_near(two.response, all.response, 1e-14);
	assert_near(one.mean_queue, all.mean_queue * 2 / 5, 1e-14);
}

static void one_class_waits_by_littles_law(void **state)
{
	struct rng rng;

	(void)state;
	rng_init(&rng, 5, 3);
	for (int k = 0; k < 200; k++) {
		struct ge_queue q =
			plain_queue(1 + 10 * rng_uniform(&rng), 1 + rng_below(&rng, 30));
		struct batch_queue b;
		double p[31];

		q.ca2 = 1 + 10 * rng_uniform(&rng);
		q.cs2 = 1 + 10 * rng_uniform(&rng);
		b = batch_queue_of(&q);
		assert_int_equal(batch_solve(&b, NULL, p), HD_OK);
		struct ge_result alone = batch_measure_class(&b, p, 0);
		struct ge_result all = batch_measure(&b, p);

		assert_near(alone.mean_queue, all.mean_queue, 1e-12);
		assert_near(alone.response, all.response, 1e-12);
		assert_near(alone.utilisation, all.utilisation, 1e-12);
	}
}

static void classes_add_up_to_the_whole(void **state)
{
	struct ge_queue q = plain_queue(1, 12);
	struct batch_queue b = batch_queue_of(&q);
	double p[13], length = 0, use = 0, flow = 0;

	(void)state;
	b.n_classes = 3;
	b.classes[0] = (struct batch_class){ 2, 1 };
	b.classes[1] = (struct batch_class){ 1, 9 };
	b.classes[2] = (struct batch_class){ 3, 4 };
	assert_int_equal(batch_solve(&b, NULL, p), HD_OK);
	struct ge_result all = batch_measure(&b, p);

	for (size_t k = 0; k < 3; k++) {
		struct ge_result r = batch_measure_class(&b, p, k);

		length += r.mean_queue;
		use += r.utilisation;
		flow += r.throughput;
	}
	assert_near(length, all.mean_queue, 1e-12);
	assert_near(use, all.utilisation, 1e-12);
	assert_near(flow, all.throughput, 1e-12);
	/* Bursts block their own class most. */
	assert_true(batch_measure_class(&b, p, 1).blocking >
		    batch_measure_class(&b, p, 2).blocking);
	assert_true(batch_measure_class(&b, p, 2).blocking >
		    batch_measure_class(&b, p, 0).blocking);
}

static void with_thresholds_a_class_has_no_exact_delay(void **state)
{
	struct ge_queue q = et_queue(4, 8);
	struct batch_queue b = batch_queue_of(&q);
	double p[17];

	(void)state;
	assert_int_equal(batch_solve(&b, NULL, p), HD_OK);
	struct ge_result r = batch_measure_class(&b, p, 0);

	assert_true(isnan(r.response) && isnan(r.mean_queue));
	assert_near(r.blocking, et8[3][2], 1e-6);
}

static void refuses(const struct batch_queue *b, const char *words)
{
	struct diag d = { .status = HD_OK };

	assert_int_equal(batch_check(b, &d), HD_ERR_RANGE);
	assert_string_equal(d.message, words);
}

static void each_refusal_names_its_rule(void **state)
{
	struct ge_queue q = ajt_queue(4, 8, 16, 24);
	struct batch_queue b = batch_queue_of(&q);

	(void)state;
	b.room[0] = 7;
	refuses(&b, "room 7 of region 1 is less than the level 8 that ends it");
	b.room[0] = 25;
	refuses(&b, "room 25 exceeds the capacity 24");
	b = batch_queue_of(&q);
	b.room[2] = 23;
	refuses(&b, "room 23 of region 3 is less than the level 24 that ends it");
	b = batch_queue_of(&q);
	b.n_classes = 0;
	refuses(&b, "0 classes: must be 1 to 16");
	b = batch_queue_of(&q);
	b.classes[0].lambda = 0;
	refuses(&b, "arrival rate 0: must be above 0");
	q.capacity = 1001;
	b = batch_queue_of(&q);
	refuses(&b, "capacity 1001: classes and fixed rooms are solved up to 1000");
}

/* An input's fault, in every build: not a bug of ours. */
static void rates_too_far_apart_are_refused(void **state)
{
	struct batch_queue b = {
		.service = { .capacity = 8,
			     .n_regions = 2,
			     .threshold = { 4 },
			     .mu = { 1, 5e-324 },
			     .cs2 = 7 },
		.n_classes = 2,
		.classes = { { 1, 5 }, { 2, 6 } },
		.room = { 8, 8 },
	};
	struct diag d = { .status = HD_OK };
	double p[9];

	(void)state;
	assert_int_equal(batch_check(&b, &d), HD_OK);
	assert_int_equal(batch_solve(&b, &d, p), HD_ERR_RANGE);
	assert_string_equal(d.message,
			    "rates of arrival and service are too far apart to be computed with");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed_rooms_meet_their_reference),
		cmocka_unit_test(a_split_poisson_stream_is_one_stream),
		cmocka_unit_test(one_class_waits_by_littles_law),
		cmocka_unit_test(classes_add_up_to_the_whole),
		cmocka_unit_test(with_thresholds_a_class_has_no_exact_delay),
		cmocka_unit_test(each_refusal_names_its_rule),
		cmocka_unit_test(rates_too_far_apart_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
