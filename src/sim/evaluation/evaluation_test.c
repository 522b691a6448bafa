/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/seeds_for_tests.h"
#include "sim/evaluation/figures.h"

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
		/* Every connection sends through one host port. */
		assert_true(fabs(r.host_use / r.offered - 1) < 0.02);
		for (unsigned sl = 0; sl < N_SLS; sl++) {
			const struct eval_sl *s = &r.sl[sl];

			sum += s->all.packets;
			for (unsigned i = 1; i < SIM_DEADLINES; i++)
				assert_true(s->all.within[i] >=
					    s->all.within[i - 1]);
			assert_true(s->latest <= 1 ||
				    s->all.within[6] < s->all.packets);
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

static void an_interrupted_run_says_so(void **state)
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

/* Deadlines decide the SL, and the high table keeps the tightest best. */
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

/* A run as the paper has it: all in time, nothing lost. */
static struct eval_result ideal(uint32_t payload)
{
	struct eval_result r = { .plan = eval_plan_default(),
				 .delivered_packets = 4000,
				 .reserved = 0.76,
				 .delivered = payload == 256 ? 0.769 : 0.757,
				 .host_use = 0.78,
				 .switch_use = 0.79,
				 .most_use = 0.81 };

	r.plan.payload = payload;
	for (unsigned sl = 0; sl < 4; sl++) {
		struct eval_sl *s = &r.sl[sl];

		s->all.packets = s->best.packets = s->worst.packets = 1000;
		for (unsigned i = 0; i < SIM_DEADLINES; i++)
			s->all.within[i] = s->best.within[i] =
				s->worst.within[i] = 1000;
		s->jitter[8] = s->jitter[9] = 400;
		s->jitter[7] = s->jitter[10] = sl < 2 ? 0 : 100;
		s->jitter_n = sl < 2 ? 800 : 1000;
		s->latest = 0.7;
	}
	return r;
}

static bool holds(const struct eval_result *r, uint32_t n, int claim)
{
	struct figures_runs runs = { r, n };
	struct figures_verdict v =
		figures_judge(&runs, (enum figures_claim)claim);

	assert_true(v.cases > 0);
	return v.holds == v.cases;
}

static void claims_hold_of_an_ideal_run(void **state)
{
	(void)state;
	struct eval_result r[3] = { ideal(256), ideal(4096), ideal(4096) };

	r[2].plan.switches = 64;
	for (int i = 0; i < N_FIGURES_CLAIMS; i++)
		assert_true(holds(r, 3, i));
}

/* Each flaw refutes the claim that speaks of it. */
static void each_flaw_is_noticed(void **state)
{
	(void)state;
	for (int i = 0; i < N_FIGURES_CLAIMS; i++) {
		struct eval_result r[3] = { ideal(256), ideal(4096),
					    ideal(4096) };

		r[2].plan.switches = 64;
		if (i == CLAIM_SAME_TENDENCY)
			r[2].sl[3].latest = 1.2;
		r[0].sl[1].all.within[0] -= i == CLAIM_SLOW_WITHIN_32ND;
		r[0].sl[3].all.within[5] -= i == CLAIM_ALL_WITHIN_3_4;
		if (i == CLAIM_SLOW_JITTER)
			r[0].sl[0].jitter[9]--;
		if (i == CLAIM_FAST_JITTER_WITHIN)
			r[0].sl[2].jitter[9]--;
		if (i == CLAIM_FAST_JITTER_BELL)
			r[0].sl[2].jitter[12] = 200;
		if (i == CLAIM_WORST_WITHIN_IAT)
			r[1].sl[3].latest = 1.01;
		if (i == CLAIM_WORST_NEAR_BEST)
			r[1].sl[3].worst.within[4] = 890;
		if (i == CLAIM_LOAD)
			r[1].delivered = 0.757 * 1.06;
		if (i == CLAIM_SMALL_ABOVE_LARGE)
			r[0].delivered = 0.756;
		if (i == CLAIM_NOT_FLAT)
			r[1].reserved = 0.80;
		if (i == CLAIM_USE_NEAR_80)
			r[1].switch_use = 0.6;
		if (i == CLAIM_SOME_ABOVE_80)
			r[1].most_use = 0.79;
		if (i == CLAIM_NOTHING_LOST)
			r[1].lost = 1;
		assert_false(holds(r, 3, i));
	}
}

static void frames_are_the_published_ones(void **state)
{
	(void)state;
	struct results *r = results_new("test");

	figures_frames(r);
	const struct table *t = results_find(r, "frames");

	assert_int_equal(table_rows(t), 3);
	for (size_t i = 0; i < 3; i++)
		assert_true(fabs(table_cell(t, i, 2)->real -
				 table_cell(t, i, 3)->real) < 5e-7);
	results_free(r);
}

/* 1x, mesh, 4096 B: Table 2 ends at 2598 (Tables 3, 4: HD_LONG). */
static void connections_are_within_the_expected_deviation(void **state)
{
	(void)state;
	const uint32_t widths[] = { 1, 4, 12 };

	for (int i = 0; i < (run_is_long() ? 3 : 1); i++) {
		struct results *r = results_new("test");
		struct figures_connections c = { 0 };
		struct eval_plan plan = eval_plan_default();
		struct diag d = { .status = HD_OK };

		plan.shape = EVAL_MESH;
		plan.width = widths[i];
		assert_int_equal(figures_connections_add(&c, r, &plan, &d),
				 HD_OK);
		print_message("%ux: %+.1f %%\n", plan.width, 100 * c.worst);
		if (i == 0)
			assert_true(fabs(c.worst) < 0.05);
		else
			assert_true(c.worst > -0.12 && c.worst < -0.05);
		results_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_reserved_is_delivered),
		cmocka_unit_test(load_grows_with_connections),
		cmocka_unit_test(an_interrupted_run_says_so),
		cmocka_unit_test(deadlines_are_kept_beside_db),
		cmocka_unit_test(claims_hold_of_an_ideal_run),
		cmocka_unit_test(each_flaw_is_noticed),
		cmocka_unit_test(frames_are_the_published_ones),
		cmocka_unit_test(connections_are_within_the_expected_deviation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
