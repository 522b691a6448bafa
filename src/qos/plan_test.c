/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/plan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* The goal form that operators know: MPI 70 %, storage 30 %. */
static void shares_become_weights_of_whole_packets(void **state)
{
	(void)state;
	struct plan_class c[] = { { "mpi", { 7, 10 }, 2048, false },
				  { "ost", { 3, 10 }, 4096, false } };
	struct diag d = { .status = HD_OK };
	struct plan p;

	assert_int_equal(plan_make(c, 2, 8, 26, &d, &p), HD_OK);
	assert_int_equal(p.tables.vlarb.n_high, 0);
	for (unsigned i = 0; i < p.tables.vlarb.n_low; i++) {
		unsigned blocks = p.tables.vlarb.low[i].vl == 0 ? 33 : 65;

		assert_int_equal(p.tables.vlarb.low[i].weight % blocks, 0);
	}
	assert_true(fabs(p.outcome[0].achieved - 0.7) < 0.01);
	assert_true(fabs(p.outcome[1].achieved - 0.3) < 0.01);
	assert_int_equal(p.outcome[1].sl, 1);
	assert_int_equal(p.remarks.len, 0);
	plan_fini(&p);
}

static void latency_goes_first_and_is_limited(void **state)
{
	(void)state;
	struct plan_class c[] = { { "mds", { 1, 2 }, 256, true },
				  { "bulk", { 1, 2 }, 4096, false } };
	struct diag d = { .status = HD_OK };
	struct plan p;

	assert_int_equal(plan_make(c, 2, 4, 26, &d, &p), HD_OK);
	assert_int_equal(p.tables.vlarb.n_high, 1);
	assert_int_equal(p.tables.vlarb.high[0].vl, 0);
	/*
	 * Limit 1: 4096 bytes are 12.8 packets of 320 (5 blocks), so 13 of
	 * 282 bytes pass before one of 4122: 47 %. Limit 2: 26, or 64 %.
	 */
	assert_int_equal(p.tables.vlarb.high_limit, 2);
	assert_true(fabs(p.outcome[0].floor - 26 * 282. / (26 * 282 + 4122)) <
		    1e-9);
	assert_true(fabs(p.outcome[0].achieved - 0.5) < 1e-9);
	assert_true(fabs(p.outcome[1].achieved - 0.5) < 1e-9);
	assert_non_null(strstr(p.remarks.text, "up to 64.0%"));
	plan_fini(&p);
}

/* One high packet of 2 KiB against each low one of the same size. */
static void limit_zero_serves_where_it_is_enough(void **state)
{
	(void)state;
	struct plan_class c[] = { { "fast", { 1, 2 }, 2048, true },
				  { "bulk", { 1, 2 }, 2048, false } };
	struct diag d = { .status = HD_OK };
	struct plan p;

	assert_int_equal(plan_make(c, 2, 4, 26, &d, &p), HD_OK);
	assert_int_equal(p.tables.vlarb.high_limit, 0);
	assert_true(fabs(p.outcome[0].floor - 0.5) < 1e-9);
	plan_fini(&p);
}

static void fewer_lanes_than_classes_are_said(void **state)
{
	(void)state;
	struct plan_class c[] = { { "a", { 1, 2 }, 2048, false },
				  { "b", { 1, 4 }, 2048, false },
				  { "c", { 1, 4 }, 2048, false } };
	struct diag d = { .status = HD_OK };
	struct plan p;

	assert_int_equal(plan_make(c, 3, 2, 26, &d, &p), HD_OK);
	assert_int_equal(p.outcome[2].vl, 1);
	assert_non_null(strstr(p.remarks.text, "'c' shares lane 1"));
	assert_true(fabs(p.outcome[2].achieved - 0.25) < 0.01);
	plan_fini(&p);
}

static void impossible_goals_are_refused(void **state)
{
	(void)state;
	struct plan_class more[] = { { "a", { 3, 4 }, 2048, false },
				     { "b", { 1, 2 }, 2048, false } };
	struct plan_class none[] = { { "a", { 0, 1 }, 2048, false } };
	struct diag d = { .status = HD_OK };
	struct plan p;

	assert_int_equal(plan_make(more, 2, 8, 26, &d, &p), HD_ERR_RANGE);
	assert_non_null(strstr(d.message, "125%"));
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(plan_make(none, 1, 8, 26, &d, &p), HD_ERR_RANGE);
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(plan_make(none, 0, 8, 26, &d, &p), HD_ERR_RANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_become_weights_of_whole_packets),
		cmocka_unit_test(latency_goes_first_and_is_limited),
		cmocka_unit_test(limit_zero_serves_where_it_is_enough),
		cmocka_unit_test(fewer_lanes_than_classes_are_said),
		cmocka_unit_test(impossible_goals_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
