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

#include "sim/congestion/flows.h"
#include "sim/congestion/tune.h"

/* Three senders and their receiver, and one whose packets stand in the way. */
static const char text[] =
	"fabric:\n"
	"  topology: {kind: two-switch, remote: 3, local: 1, victims: 1}\n"
	"  link: {rate: 100Gb/s, propagation: 500ns}\n"
	"  switch: {input_buffer: 16 packets}\n"
	"qos: {lanes: 1}\n"
	"traffic:\n"
	"  - {name: incast, kind: saturating, pattern: incast,\n"
	"     source: A1..A3, destination: Bc}\n"
	"  - {name: victim, kind: saturating, pattern: pairs, source: Av,\n"
	"     destination: Bv}\n"
	"congestion: {marking: iba, window: 16}\nrun: {warmup: 1ms, measure: 1ms}\n";

/* What the seeds after the first are like. */
struct world {
	struct fabric *build;
	struct congestion_flow *flows;
	struct tune_case given;
	uint32_t window;    /* of the other seeds: few packets, little use */
	uint64_t seeds[64]; /* asked for */
	uint32_t n;
};

static void world_init(struct world *w)
{
	struct diag d = { .status = HD_OK };

	*w = (struct world){ .window = 16 };
	if (fabric_load(text, strlen(text), "x.yaml", NULL, &d, &w->build) != HD_OK ||
	    congestion_flows(w->build, &d, &w->flows) != HD_OK ||
	    congestion_params_init(w->build, &d, &w->given.params) != HD_OK)
		fail_msg("%s", d.message);
	w->given.build = w->build;
	w->given.flows = w->flows;
}

static void world_fini(struct world *w)
{
	free(w->flows);
	fabric_free(w->build);
}

static enum hd_status reseed(void *cases, uint64_t seed, struct diag *d, struct tune_case *out)
{
	struct world *w = cases;

	(void)d;
	assert_true(w->n < 64);
	w->seeds[w->n++] = seed;
	*out = w->given;
	out->params.window = w->window;
	return HD_OK;
}

static void assert_near(double a, double b)
{
	assert_true(fabs(a - b) < 1e-12);
}

static void tune_under(struct world *w, uint32_t stress, struct tune_result *out)
{
	struct diag d = { .status = HD_OK };
	const struct tune_options o = { .floor = 0.8,
					.budget = 4,
					.senders = 8,
					.stress = stress,
					.victims = SIM_NONE,
					.held_out = 3,
					.reseed = reseed,
					.cases = w };

	if (congestion_tune(&w->given, &o, &d, out) != HD_OK)
		fail_msg("%s", d.message);
	assert_true(out->found);
}

static void tune(struct world *w, struct tune_result *out)
{
	tune_under(w, 1, out);
}

/* Everything goes through the cable between the switches: what arrives is no
 * more than its rate, a packet at the window's edge apart. */
static void stress_is_a_slower_hot_link(void **state)
{
	const double rate = 100e9, packet = 2048 * 8 / 1e-3;
	struct tune_result r;
	struct world w;

	(void)state;
	world_init(&w);
	tune_under(&w, 4, &r);
	assert_true(r.none.plain.total > rate / 2);
	assert_true(r.none.stressed.total > rate / 8);
	assert_true(r.none.stressed.total <= rate / 4 + packet);
	tune_result_fini(&r);
	world_fini(&w);
}

static void keeps_a_promise_that_holds_elsewhere(void **state)
{
	struct tune_result r;
	struct world w;

	(void)state;
	world_init(&w);
	tune(&w, &r);
	assert_true(tune_is_kept(&r));
	assert_int_equal(r.n_rounds, 1);
	/* The same dice each time: nothing but the search's own value. */
	assert_near(r.rounds[0].hot.mean, r.best.plain.hot);
	assert_near(r.rounds[0].hot.lowest, r.best.plain.hot);
	assert_near(r.rounds[0].hot.half_width, 0);
	assert_near(r.rounds[0].gain.mean, r.best.plain.victims / r.none.plain.victims);
	/* Seeds after the scenario's, never its own. */
	assert_int_equal(w.n, 3);
	for (uint32_t i = 0; i < w.n; i++)
		assert_int_equal(w.seeds[i], w.build->scenario->run.seed + 1 + i);
	tune_result_fini(&r);
	world_fini(&w);
}

/* With one packet under way a link of that length is hardly used. */
static void breaks_no_promise_in_silence(void **state)
{
	struct tune_result r;
	struct world w;

	(void)state;
	world_init(&w);
	w.window = 1;
	tune(&w, &r);
	assert_false(tune_is_kept(&r));
	/* Missed in windows of twice the length as well: enough is known. */
	assert_int_equal(r.n_rounds, 2);
	for (uint32_t i = 0; i < r.n_rounds; i++) {
		assert_int_equal(r.rounds[i].verdict, TUNE_MISSED);
		assert_int_equal(r.rounds[i].measure, HD_MS << i);
		assert_int_equal(r.rounds[i].warmup, HD_MS << i);
	}
	struct results *out = results_new("cc tune");
	const struct tune_options o = { .floor = 0.8, .stress = 1, .held_out = 3 };
	bool told = false;

	congestion_tune_tables(w.build, &o, &r, out);
	for (size_t i = 0; i < out->n_remarks; i++)
		told |= strstr(out->remarks[i], "promise does not hold") &&
			strstr(out->remarks[i], "--warmup 2ms --measure 2ms");
	assert_true(told);
	results_free(out);
	tune_result_fini(&r);
	world_fini(&w);
}

/* Longer windows would show nothing but the silence after the traffic. */
static void traffic_that_ends_is_judged_by_its_own_windows(void **state)
{
	struct tune_result r;
	struct world w;

	(void)state;
	world_init(&w);
	w.window = 1;
	w.flows[0].stop = HD_MS;
	tune(&w, &r);
	assert_int_equal(r.n_rounds, 1);
	assert_false(tune_is_kept(&r));
	tune_result_fini(&r);
	world_fini(&w);
}

/* A tune_progress_fn: an end when so many trials are made, and it was asked so
 * many times more. */
struct patience {
	uint32_t trials;
	int more;
};

static bool until_then(void *context, uint32_t trials)
{
	struct patience *p = context;

	return trials < p->trials || --p->more > 0;
}

static enum hd_status tune_until(struct world *w, uint32_t trials, int more, struct diag *d,
				 struct tune_result *out)
{
	struct patience p = { trials, more };
	const struct tune_options o = { .floor = 0.8,
					.budget = 4,
					.senders = 8,
					.stress = 1,
					.victims = SIM_NONE,
					.held_out = 3,
					.reseed = reseed,
					.cases = w,
					.progress = until_then,
					.context = &p };

	return congestion_tune(&w->given, &o, d, out);
}

/* Whole trials, as a search that nobody stops makes them; no run that was cut
 * is among them. */
static void one_that_is_stopped_keeps_its_trials(void **state)
{
	struct tune_result whole, part;
	struct diag d = { .status = HD_OK };
	struct world w;

	(void)state;
	world_init(&w);
	tune(&w, &whole);
	assert_false(whole.stopped);
	for (uint32_t n = 1; n <= whole.n_trials; n++) {
		double best = 0;

		assert_int_equal(tune_until(&w, n, 0, &d, &part), HD_OK);
		assert_true(part.stopped);
		assert_int_equal(part.n_trials, n);
		for (uint32_t i = 0; i < n; i++) {
			const struct tune_trial *a = &part.trials[i];
			const struct tune_trial *b = &whole.trials[i];

			assert_memory_equal(&a->plain, &b->plain, sizeof(a->plain));
			assert_int_equal(a->timer, b->timer);
			assert_int_equal(a->shape, b->shape);
			best = fmax(best, a->plain.victims);
		}
		assert_true(!part.found || part.best.plain.victims == best);
		assert_int_equal(part.n_rounds, 0);
		assert_false(tune_is_kept(&part));
		tune_result_fini(&part);
	}
	assert_int_equal(tune_until(&w, 0, 0, &d, &part), HD_ERR_ENV);
	assert_non_null(strstr(d.message, "interrupted"));
	tune_result_fini(&whole);
	world_fini(&w);
}

/* Stopped among the other seeds: the trials are there, and a remark. */
static void one_that_is_stopped_says_so(void **state)
{
	const struct tune_options o = { .floor = 0.8, .stress = 1, .budget = 4, .held_out = 3 };
	struct results *out = results_new("cc tune");
	struct diag d = { .status = HD_OK };
	struct tune_result r;
	struct world w;

	(void)state;
	world_init(&w);
	assert_int_equal(tune_until(&w, 4, 2, &d, &r), HD_OK);
	assert_true(r.found && r.stopped);
	congestion_tune_tables(w.build, &o, &r, out);
	bool told = false;

	for (size_t i = 0; i < out->n_remarks; i++)
		told |= strncmp(out->remarks[i], "interrupted after 4 of at most 4 trials", 39) ==
			0;
	assert_true(told);
	results_free(out);
	tune_result_fini(&r);
	world_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stress_is_a_slower_hot_link),
		cmocka_unit_test(keeps_a_promise_that_holds_elsewhere),
		cmocka_unit_test(breaks_no_promise_in_silence),
		cmocka_unit_test(traffic_that_ends_is_judged_by_its_own_windows),
		cmocka_unit_test(one_that_is_stopped_keeps_its_trials),
		cmocka_unit_test(one_that_is_stopped_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
