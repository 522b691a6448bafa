/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/evaluation_tables.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A small fabric of fast connections: thousands of packets in no time. */
static struct eval_plan small_plan(enum eval_shape shape, uint32_t payload)
{
	struct eval_plan p = eval_plan_default();

	p.shape = shape;
	p.switches = 8;
	p.payload = payload;
	p.mix = EVAL_MIX_HIGH;
	return p;
}

static struct eval_result run(const struct eval_plan *plan)
{
	struct diag d = { .status = HD_OK };
	struct eval_result r;

	if (eval_run(plan, NULL, NULL, &d, &r) != HD_OK)
		fail_msg("%u: %s", d.line, d.message);
	return r;
}

static void what_is_reserved_is_delivered(void **state)
{
	(void)state;
	for (unsigned shape = 0; shape < N_EVAL_SHAPES; shape++) {
		struct eval_plan plan = small_plan((enum eval_shape)shape, 256);
		struct eval_result r = run(&plan);
		uint64_t sum = 0;

		assert_true(r.complete);
		assert_int_equal(r.lost, 0);
		assert_true(fabs(r.delivered / r.reserved - 1) < 0.02);
		assert_true(r.reserved <= 0.8);
		/* Each connection sends through one host port. */
		assert_true(fabs(r.host_use / r.offered - 1) < 0.02);
		for (unsigned sl = 0; sl < N_SLS; sl++) {
			const struct eval_sl *s = &r.sl[sl];

			sum += s->all.packets;
			for (unsigned i = 1; i < SIM_DEADLINES; i++)
				assert_true(s->all.within[i] >= s->all.within[i - 1]);
			assert_true(s->latest <= 1 || s->all.within[6] < s->all.packets);
		}
		assert_int_equal(sum, r.delivered_packets);
		/* 8 switches have 4 hosts; a mesh of 4 x 2 has 10 cables. */
		assert_int_equal(r.n_host_ports, 32);
		if (shape == EVAL_MESH)
			assert_int_equal(r.n_ports, 32 + 32 + 2 * 10);
		eval_result_fini(&r);
	}
}

/* Fewer tried: all established, and less delivered. */
static void load_grows_with_connections(void **state)
{
	(void)state;
	struct eval_plan plan = small_plan(EVAL_MESH, 4096);
	double before = 0;

	for (plan.tried = 100; plan.tried <= 400; plan.tried += 100) {
		struct eval_result r = run(&plan);

		assert_int_equal(r.established.established, plan.tried);
		assert_true(r.delivered > before);
		before = r.delivered;
		eval_result_fini(&r);
	}
}

static bool stop_at_once(void *context, const struct sim_progress *p)
{
	(void)context;
	(void)p;
	return false;
}

static bool stop_after(void *context, const struct sim_progress *p)
{
	unsigned *left = context;

	return !p->warm || --*left > 0;
}

static void interrupted_run_has_a_remark(void **state)
{
	(void)state;
	struct eval_plan plan = small_plan(EVAL_MESH, 256);
	struct diag d = { .status = HD_OK };
	struct eval_result r;

	plan.rule = EVAL_PAPER;
	assert_int_equal(eval_run(&plan, stop_at_once, NULL, &d, &r), HD_OK);
	assert_false(r.complete);
	eval_result_fini(&r);
}

/* Deadlines determine the SL, and the high table meets the tightest ones best. */
static void deadlines_are_kept_beside_db(void **state)
{
	(void)state;
	struct eval_plan plan = small_plan(EVAL_MESH, 256);

	plan.mix = EVAL_MIX_DEADLINES;
	plan.tried = 400;
	struct diag d = { .status = HD_OK };
	struct eval_result r;
	unsigned left = 10; /* SL 0 would take long */

	assert_int_equal(eval_run(&plan, stop_after, &left, &d, &r), HD_OK);

	for (unsigned sl = 4; sl < 8; sl++) {
		assert_true(r.sl[sl].connections > 0);
		assert_int_equal(r.sl[sl].all.within[6], r.sl[sl].all.packets);
	}
	eval_result_fini(&r);
}

static const struct value *cell(const struct table *t, size_t row, const char *column)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		if (strcmp(t->columns[i].name, column) == 0)
			return table_cell(t, row, i);
	}
	fail_msg("no column '%s'", column);
	return NULL;
}

/* 16,320 slots of 64 bytes at 2.5, 10 and 30 Gb/s. */
static void a_frame_is_all_slots(void **state)
{
	static const uint32_t widths[] = { 1, 4, 12 };
	struct eval_result x[3] = { 0 };
	struct eval_runs runs = { x, 3 };
	struct results *r = results_new("test");

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		x[i].plan = eval_plan_default();
		x[i].plan.width = widths[i];
	}
	eval_tables(r, &runs);
	const struct table *t = results_find(r, "runs");

	assert_int_equal(table_rows(t), 3);
	for (unsigned i = 0; i < 3; i++)
		assert_true(fabs(cell(t, i, "frame")->real -
				 16320 * 512 / 2.5e9 / widths[i] * 1e3) < 1e-9);
	results_free(r);
}

/* Tables show the counters of the run. */
static void tables_show_what_was_counted(void **state)
{
	struct eval_plan plan = small_plan(EVAL_MESH, 256);
	struct eval_result x = run(&plan);
	struct eval_runs runs = { &x, 1 };
	struct results *r = results_new("test");

	(void)state;
	eval_tables(r, &runs);
	const struct table *levels = results_find(r, "levels");
	const struct table *delay = results_find(r, "delay");
	const struct table *jitter = results_find(r, "jitter");
	uint64_t packets = 0;
	double shares = 0;

	for (size_t i = 0; i < table_rows(levels); i++)
		packets += cell(levels, i, "packets")->u;
	assert_int_equal(packets, x.delivered_packets);
	assert_int_equal(table_rows(delay), SIM_DEADLINES * table_rows(levels));
	for (size_t i = 0; i < table_rows(jitter); i++)
		shares += cell(jitter, i, "share")->real;
	assert_true(fabs(shares - 100.0 * (double)table_rows(levels)) < 1e-6);
	assert_int_equal(table_rows(results_find(r, "ports")), x.n_ports);
	results_free(r);
	eval_result_fini(&x);
}

/* Within IAT/2 the best connection of an SL is no worse than the worst. */
static void extremes_are_in_order(void **state)
{
	struct eval_plan plan = small_plan(EVAL_HYPERCUBE, 4096);
	struct eval_result x = run(&plan);
	struct eval_runs runs = { &x, 1 };
	struct results *r = results_new("test");

	(void)state;
	eval_tables(r, &runs);
	const struct table *t = results_find(r, "extremes");

	assert_true(table_rows(t) > 0);
	for (size_t i = 0; i < table_rows(t); i++) {
		if (fabs(cell(t, i, "within")->real - 0.5) < 1e-9)
			assert_true(cell(t, i, "best")->real >= cell(t, i, "worst")->real);
	}
	results_free(r);
	eval_result_fini(&x);
}

/* Connections without simulation have no results. */
static void established_connections_have_no_results(void **state)
{
	struct eval_plan plan = small_plan(EVAL_MESH, 4096);

	(void)state;
	plan.establish_only = true;
	struct eval_result x = run(&plan);
	struct eval_runs runs = { &x, 1 };
	struct results *r = results_new("test");

	eval_tables(r, &runs);
	assert_int_equal(table_rows(results_find(r, "runs")), 1);
	assert_true(cell(results_find(r, "runs"), 0, "established")->u > 100);
	assert_int_equal(table_rows(results_find(r, "delay")), 0);
	assert_int_equal(table_rows(results_find(r, "ports")), 0);
	results_free(r);
	eval_result_fini(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_reserved_is_delivered),
		cmocka_unit_test(load_grows_with_connections),
		cmocka_unit_test(interrupted_run_has_a_remark),
		cmocka_unit_test(deadlines_are_kept_beside_db),
		cmocka_unit_test(a_frame_is_all_slots),
		cmocka_unit_test(tables_show_what_was_counted),
		cmocka_unit_test(extremes_are_in_order),
		cmocka_unit_test(established_connections_have_no_results),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
