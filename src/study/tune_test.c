/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/tune.h"

/* Nothing is random: every seed gives the same run. */
#define FABRIC                                                              \
	"fabric:\n"                                                         \
	"  topology: {kind: two-switch, remote: 3, local: 1, victims: 1}\n" \
	"  link: {rate: 100Gb/s, propagation: 500ns}\n"                     \
	"  switch: {input_buffer: 16 packets}\n"                            \
	"qos: {vls: 1}\n"                                                   \
	"congestion: {marking: iba, window: 16}\n"                          \
	"run: {warmup: 1ms, measure: 1ms}\n"                                \
	"traffic:\n"                                                        \
	"- {name: victim, kind: saturating, pattern: pairs, source: Av, destination: Bv}\n"

/* Four senders and their receiver; the victim shares the cable of three. */
static const char text[] = FABRIC "- {name: incast, kind: saturating, pattern: incast,\n"
				  "   source: \"A1..A3,B1\", destination: Bc}\n";
/* All flows share the cable between the switches. */
static const char cable[] = FABRIC "- {name: incast, kind: saturating, pattern: incast,\n"
				   "   source: A1..A3, destination: Bc}\n";

static void read_scenario(const char *yaml, struct scenario *out)
{
	struct diag d = { .status = HD_OK };

	if (scenario_parse(yaml, strlen(yaml), "x.yaml", NULL, &d, out) != HD_OK)
		fail_msg("%s", d.message);
}

static const struct tune_options usual = {
	.floor = 0.8, .budget = 4, .senders = 8, .stress = 1, .held_out = 3, .at_once = 2
};

static void tune(const char *yaml, struct tune_options o, struct tune_result *out)
{
	struct diag d = { .status = HD_OK };
	struct scenario s;

	read_scenario(yaml, &s);
	o.scenario = &s;
	if (tune_search_parameters(&o, &d, out) != HD_OK)
		fail_msg("%s", d.message);
	scenario_fini(&s);
}

static void assert_near(double a, double b)
{
	assert_true(fabs(a - b) < 1e-12);
}

/* Everything crosses the cable between the switches: no more is delivered than
 * its rate, but for a packet at the window's edge. */
static void stress_is_a_slower_hot_link(void **state)
{
	const double rate = 100, packet = 4096 * 8 / 1e-3 / 1e9;
	struct tune_options o = usual;
	struct tune_result r;

	(void)state;
	o.stress = 4;
	tune(cable, o, &r);
	assert_true(r.none.plain.total > rate / 2);
	assert_true(r.none.stressed.total > rate / 8);
	assert_true(r.none.stressed.total <= rate / 4 + packet);
	tune_result_fini(&r);
}

static void keeps_a_promise_that_holds_elsewhere(void **state)
{
	struct tune_result r;

	(void)state;
	tune(text, usual, &r);
	assert_true(r.found);
	assert_int_equal(r.n_rounds, 1);
	assert_int_equal(r.rounds[0].verdict, TUNE_KEPT);
	assert_int_equal(r.n_victims, 1);
	/* Equal seeds give the value of the search. */
	assert_near(r.rounds[0].hot.mean, r.best.plain.hot);
	assert_near(r.rounds[0].hot.lowest, r.best.plain.hot);
	assert_near(r.rounds[0].hot.half_width, 0);
	assert_near(r.rounds[0].gain.mean, r.best.plain.victims / r.none.plain.victims);
	tune_result_fini(&r);
}

static void assert_same_trials(const struct tune_result *a, const struct tune_result *b, uint32_t n)
{
	assert_true(a->n_trials >= n && b->n_trials >= n);
	for (uint32_t i = 0; i < n; i++) {
		const struct tune_trial *x = &a->trials[i], *y = &b->trials[i];

		assert_int_equal(x->threshold, y->threshold);
		assert_int_equal(x->marking_rate, y->marking_rate);
		assert_int_equal(x->increase, y->increase);
		assert_int_equal(x->timer, y->timer);
		assert_int_equal(x->shape, y->shape);
		assert_true(x->plain.victims == y->plain.victims && x->plain.hot == y->plain.hot);
	}
}

/* Idle processes run trials in advance; the search makes the same ones. */
static void trials_do_not_depend_on_processes_or_budget(void **state)
{
	struct tune_options o = usual;
	struct tune_result whole, wide, part;

	(void)state;
	tune(text, o, &whole);
	o.at_once = 5;
	tune(text, o, &wide);
	assert_int_equal(whole.n_trials, wide.n_trials);
	assert_same_trials(&whole, &wide, whole.n_trials);
	o.budget = 2;
	tune(text, o, &part);
	assert_int_equal(part.n_trials, 2);
	assert_same_trials(&whole, &part, 2);
	tune_result_fini(&whole);
	tune_result_fini(&wide);
	tune_result_fini(&part);
}

static bool says(const struct results *r, const char *words)
{
	for (size_t i = 0; i < r->n_remarks; i++) {
		if (strstr(r->remarks[i], words))
			return true;
	}
	return false;
}

/* A floor that other seeds miss, and a goal that is no better than without
 * congestion control. */
static void states_what_does_not_hold(void **state)
{
	struct tune_options o = usual;
	struct tune_result r;

	(void)state;
	tune(text, o, &r);
	assert_true(tune_is_worth(&o, &r));
	r.rounds[0].verdict = TUNE_MISSED;
	r.rounds[0].warmup = r.rounds[0].measure = 2 * HD_MS;
	struct results *out = results_new("cc tune");

	tune_result_tables(&o, &r, out);
	assert_true(says(out, "promise does not hold"));
	assert_true(says(out, "--warmup 2ms --measure 2ms"));
	assert_true(says(out, "Leave congestion control off"));
	assert_false(tune_is_worth(&o, &r));
	results_free(out);
	r.rounds[0].verdict = TUNE_KEPT;
	r.best.plain.victims = r.none.plain.victims;
	assert_false(tune_is_worth(&o, &r));
	tune_result_fini(&r);
}

/* A smaller p99 or completion time is better. */
static void goals_of_time_improve_downwards(void **state)
{
	struct tune_options o = usual;
	const struct tune_outcome none = { .p99 = 10, .completion = 30, .victims = 1 };
	const struct tune_outcome best = { .p99 = 5, .completion = 10, .victims = 4 };
	const struct tune_outcome hangs = { .completion = NAN };
	static const double wanted[] = {
		[TUNE_VICTIMS] = 4, [TUNE_P99] = 2, [TUNE_COMPLETION] = 3
	};

	(void)state;
	for (unsigned goal = 0; goal < 3; goal++) {
		o.goal = (enum tune_goal)goal;
		assert_near(tune_gain(&o, &best, &none), wanted[goal]);
	}
	assert_near(tune_gain(&o, &hangs, &none), 0);
}

/* Jobs have no victims, but a completion. */
static void a_job_can_be_the_goal(void **state)
{
	static const char jobs[] =
		"fabric:\n"
		"  topology: {kind: star, hosts: 5}\n"
		"  link: {rate: 100Gb/s}\n"
		"jobs:\n"
		"  - {name: j, on: 0..3, repeat: 2, program: [{alltoall: 64KiB}]}\n"
		"congestion: {marking: iba}\n";
	struct tune_options o = usual;
	struct diag d = { .status = HD_OK };
	struct tune_result r;
	struct scenario s;

	(void)state;
	o.budget = 2;
	o.floor = 0;
	o.goal = TUNE_COMPLETION;
	o.job = "j";
	tune(jobs, o, &r);
	assert_true(r.none.plain.completion > 0 && r.best.plain.completion > 0);
	assert_int_equal(r.n_rounds, 1);
	tune_result_fini(&r);
	read_scenario(jobs, &s);
	o.scenario = &s;
	o.goal = TUNE_VICTIMS;
	assert_int_equal(tune_search_parameters(&o, &d, &r), HD_ERR_UNFIT);
	assert_non_null(strstr(d.message, "no victim to protect"));
	scenario_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stress_is_a_slower_hot_link),
		cmocka_unit_test(keeps_a_promise_that_holds_elsewhere),
		cmocka_unit_test(trials_do_not_depend_on_processes_or_budget),
		cmocka_unit_test(states_what_does_not_hold),
		cmocka_unit_test(goals_of_time_improve_downwards),
		cmocka_unit_test(a_job_can_be_the_goal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
