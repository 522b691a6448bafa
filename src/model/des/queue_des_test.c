/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/des/des_for_tests.h"

#include <stdlib.h>

#include "model/des/queue_des.h"

static void run(const struct queue_des *q, struct queue_des_result *t, struct interval *conserved)
{
	struct des_options o = options(400000, 1);

	queue_des_run(q, &o, t, conserved);
}

static void agrees_with(const struct queue_des_result *t, const struct queue_result *r)
{
	agrees(&t->mean_queue, r->mean_queue, "L");
	agrees(&t->response, r->response, "W");
	agrees(&t->wait, r->wait, "Wq");
	agrees(&t->utilisation, r->utilisation, "U");
	agrees(&t->blocking, r->blocking, "blocking");
	agrees(&t->throughput, r->throughput, "throughput");
}

static void unlimited_queues_agree_at_any_variability(void **state)
{
	static const double cs2[] = { 0, 0.25, 1, 4 };

	(void)state;
	for (int k = 0; k < 4; k++) {
		struct queue_des q = { .n_classes = 1, .classes = { { 3, 5, cs2[k] } } };
		struct diag d = { .status = HD_OK };
		struct queue_des_result t;
		struct queue_result r;
		struct interval conserved;

		run(&q, &t, &conserved);
		assert_int_equal(queue_mg1(3, 5, cs2[k], &d, &r), HD_OK);
		agrees_with(&t, &r);
		agrees(&conserved, queue_conserved(q.classes, 1), "conserved");
	}
}

static void limited_queues_agree_at_any_load(void **state)
{
	static const double lambda[] = { 3, 5, 9 };

	(void)state;
	for (int k = 0; k < 3; k++) {
		struct queue_des q = { .n_classes = 1,
				       .classes = { { lambda[k], 5, 1 } },
				       .capacity = 6 };
		struct diag d = { .status = HD_OK };
		struct queue_des_result t;
		struct queue_result r;
		struct interval conserved;

		run(&q, &t, &conserved);
		assert_int_equal(queue_mm1n(lambda[k], 5, 6, &d, &r), HD_OK);
		agrees_with(&t, &r);
	}
}

static void priorities_agree_class_by_class(void **state)
{
	struct queue_des q = {
		.n_classes = 3,
		.classes = { { 1, 4, 0 }, { 2, 10, 1 }, { 0.3, 1, 3 } },
	};
	struct diag d = { .status = HD_OK };
	struct queue_des_result t[3];
	struct queue_result r[3];
	struct interval conserved;

	(void)state;
	run(&q, t, &conserved);
	assert_int_equal(queue_priority(q.classes, 3, &d, r), HD_OK);
	for (int k = 0; k < 3; k++)
		agrees_with(&t[k], &r[k]);
	agrees(&conserved, queue_conserved(q.classes, 3), "conserved");
}

static void a_high_class_agrees_beside_an_overloaded_one(void **state)
{
	struct queue_des q = { .n_classes = 2, .classes = { { 2, 5, 1 }, { 9, 3, 0 } } };
	struct diag d = { .status = HD_OK };
	struct queue_des_result t[2];
	struct queue_result r[2];
	struct interval conserved;

	(void)state;
	run(&q, t, &conserved);
	assert_int_equal(queue_priority(q.classes, 2, &d, r), HD_OK);
	agrees_with(&t[0], &r[0]);
	agrees(&t[1].throughput, r[1].throughput, "throughput of the rest");
}

static void turns_share_as_computed(void **state)
{
	/* Unit packets on a link of rate 6: two VLs request more than the link has. */
	struct queue_des q = {
		.order = QUEUE_TURNS,
		.n_classes = 3,
		.classes = { { 10, 6, 0 }, { 7, 6, 0 }, { 1, 6, 0 } },
		.turn = { 1, 3, 2 },
	};
	const struct share_class c[] = { { 10, 1 }, { 7, 3 }, { 1, 2 } };
	struct diag d = { .status = HD_OK };
	struct queue_des_result t[3];
	struct interval conserved;
	double got[3];

	(void)state;
	run(&q, t, &conserved);
	assert_int_equal(queue_share(c, 3, 6, &d, got), HD_OK);
	assert_near(got[0], 1.25, 1e-12);
	for (int k = 0; k < 3; k++)
		agrees(&t[k].throughput, got[k], "share");
}

static void turns_conserve_the_work_that_waits(void **state)
{
	struct queue_des q = {
		.order = QUEUE_TURNS,
		.n_classes = 2,
		.classes = { { 2, 6, 1 }, { 2, 5, 0 } },
		.turn = { 1, 4 },
	};
	struct queue_des_result t[2];
	struct interval conserved;

	(void)state;
	run(&q, t, &conserved);
	agrees(&conserved, queue_conserved(q.classes, 2), "conserved");
	/* ... though the VLs do not wait alike. */
	assert_true(t[0].wait.mean > t[1].wait.mean);
}

/* A des_options.tick that has seen enough at once. */
static bool enough(void *arg, uint64_t arrivals)
{
	*(uint64_t *)arg = arrivals;
	return false;
}

/* The run would take years and is stopped. */
static void one_that_is_stopped_stops(void **state)
{
	const struct queue_des q = { .n_classes = 1, .classes = { { 0.5, 1, 1 } } };
	uint64_t arrivals = 0;
	struct des_options o = { .packets = DES_MAX_PACKETS,
				 .seed = 1,
				 .level = 0.999,
				 .tick = enough,
				 .arg = &arrivals };
	struct queue_des_result t[QUEUE_MAX_CLASSES];
	struct interval conserved;

	(void)state;
	queue_des_run(&q, &o, t, &conserved);
	assert_in_range(arrivals, 1, 1 << 18);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_is_stopped_stops),
		cmocka_unit_test(unlimited_queues_agree_at_any_variability),
		cmocka_unit_test(limited_queues_agree_at_any_load),
		cmocka_unit_test(priorities_agree_class_by_class),
		cmocka_unit_test(a_high_class_agrees_beside_an_overloaded_one),
		cmocka_unit_test(turns_share_as_computed),
		cmocka_unit_test(turns_conserve_the_work_that_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
