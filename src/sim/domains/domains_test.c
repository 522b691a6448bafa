/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The results of a run are identical, to the bit, for any number of domains and threads. The oracle
 * checks that packets take the same paths (tests/oracle/compare_test.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <time.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "fabric/build_for_tests.h"
#include "sim/core/modes_for_tests.h"
#include "sim/core/same_for_tests.h"
#include "sim/core/workload_for_tests.h"

/* ---- threads that dawdle ---------------------------------------------- */

/*
 * An endpoint with slow timers in changing domains, so that threads wait for each other at changing
 * positions.
 */
static const struct timespec naps[] = { { 0, 0 }, { 0, 2000 }, { 0, 60000 } };

static void nap(void *context, hd_time now, uint32_t node)
{
	struct sim *part = context;
	struct rng r;

	rng_init(&r, node, now);
	nanosleep(&naps[rng_below(&r, 3)], NULL);
	sim_timer(part, 0, node, now + 1 + rng_below(&r, 2 * HD_US), node);
}

static void nap_in_parts(void *context, const struct sim_cut *cut, void **contexts)
{
	(void)context;
	for (uint32_t i = 0; i < cut->n; i++)
		contexts[i] = cut->parts[i];
}

static void dawdle(struct sim *s, const struct sim_setup *setup)
{
	const struct sim_endpoint e = { .context = s, .timer = nap, .cut = nap_in_parts };

	sim_attach(s, &e);
	for (uint32_t i = 0; i < setup->n_nodes; i += 3) {
		if (setup->nodes[i].kind == SIM_END)
			sim_timer(s, 0, i, 1 + i, i);
	}
}

static struct sim *run(const struct workload *w, struct sim_rules *r, uint32_t parts,
		       uint32_t threads, enum sim_state want)
{
	const char *why;

	r->parts = parts;
	r->threads = threads;
	r->cut_seed = parts + threads;
	struct sim *s = sim_new(&w->fabric.setup, w->flows, w->n_flows, r);

	if (r->packets)
		dawdle(s, &w->fabric.setup);

	/* A pause does not change the results. */
	assert_int_equal(sim_run(s, 3 * HD_US + 321, NULL, NULL), SIM_PAUSED);
	sim_metrics(s);
	assert_int_equal(sim_run(s, HD_TIME_NEVER, NULL, NULL), want);
	assert_int_equal(sim_is_cut(s, &why), parts);
	assert_null(why);
	return s;
}

static void check(const struct workload *w, enum sim_state want)
{
	static const uint32_t cuts[][2] = { { 2, 2 }, { 3, 1 }, { 7, 3 } };

	for (unsigned which = 0; which < RULES; which++) {
		struct sim_rules r;

		rules_of(which, &r);
		struct sim *one = run(w, &r, 1, 1, want);

		for (unsigned i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
			struct sim *s = run(w, &r, cuts[i][0], cuts[i][1], want);

			same_metrics(sim_metrics(one), sim_metrics(s));
			assert_int_equal(sim_now(one), sim_now(s));
			sim_free(s);
		}
		sim_free(one);
	}
}

static void parts_measure_what_the_whole_does(void **state)
{
	struct workload w;

	(void)state;
	workload_init(&w, workload_find("fat tree, 16 hosts"));
	check(&w, SIM_ENDED);
	workload_fini(&w);
}

/* All hosts send at the same instants, so that the order within an instant matters. */
static void parts_agree_on_instants(void **state)
{
	struct workload w;

	(void)state;
	workload_init(&w, workload_find("fat tree, 16 hosts"));
	for (uint32_t i = 0; i < w.n_flows; i++) {
		w.flows[i].kind = SIM_CBR;
		/* Some flows have one destination, and jitter. */
		if (i % 3 == 0)
			w.flows[i].to.choice = SIM_TO_FIXED;
		if (i % 3 == 0 && w.flows[i].to.self == 0)
			w.flows[i].to.list = &w.fabric.ends[5];
	}
	check(&w, SIM_ENDED);
	workload_fini(&w);
}

/* Flows that end: no work is left before the rules decide. */
static void ends_by_itself(enum sim_credits credits, double loss, hd_time propagation)
{
	struct workload w;

	workload_init(&w, workload_find("fat tree, 16 hosts"));
	for (uint32_t i = 0; i < w.n_flows; i++)
		w.flows[i].count = 6;
	w.fabric.setup.credits = credits;
	for (uint32_t i = 0; i < w.fabric.setup.n_ports; i++) {
		w.fabric.setup.ports[i].update_loss = loss;
		w.fabric.setup.ports[i].propagation = propagation;
	}
	struct sim_rules r;

	sim_rules_init(&r);
	struct sim *one = run(&w, &r, 1, 1, SIM_IDLE);
	struct sim *many = run(&w, &r, 5, 2, SIM_IDLE);

	same_metrics(sim_metrics(one), sim_metrics(many));
	assert_int_equal(sim_now(one), sim_now(many));
	assert_int_equal(sim_metrics(one)->delivered, 6 * w.n_flows);
	sim_free(one);
	sim_free(many);
	workload_fini(&w);
}

static void parts_become_idle_at_the_same_time(void **state)
{
	(void)state;
	ends_by_itself(SIM_CREDITS_DELAY, 0, 10 * HD_NS);
	/* Timers of flow control do not run beyond that, although they would in the same window. */
	for (hd_time p = 2 * HD_US; p < 5 * HD_US; p += HD_US) {
		ends_by_itself(SIM_CREDITS_EXACT, 0, p);
		ends_by_itself(SIM_CREDITS_EXACT, 0.2, p);
		ends_by_itself(SIM_CREDITS_DELAY, 0.2, p);
	}
}

/* ---- whole scenarios ----------------------------------------------------- */

static void scenario_is_the_same(const char *text, size_t turn)
{
	static const uint32_t cuts[][2] = { { 2, 2 }, { 3, 1 }, { 20, 3 } };
	struct fabric *fabric;

	must_build(text, &fabric);
	struct workload w = { .fabric.setup = fabric->setup,
			      .flows = fabric->flows,
			      .n_flows = fabric->n_flows };
	struct sim_rules r = fabric->rules;
	struct sim *one = run(&w, &r, 1, 1, SIM_ENDED);

	assert_true(sim_metrics(one)->delivered > 100);
	for (unsigned i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
		if (!has_its_turn(i, 3, turn))
			continue;
		struct sim *s = run(&w, &r, cuts[i][0], cuts[i][1], SIM_ENDED);

		same_metrics(sim_metrics(one), sim_metrics(s));
		if (fabric->setup.control)
			same_control(one, s, fabric->n_flows);
		same_vls(one, s, fabric->setup.n_ports);
		sim_free(s);
	}
	sim_free(one);
	fabric_free(fabric);
}

static struct told hear_run(const struct fabric *fabric, uint32_t parts, uint32_t threads)
{
	struct told told = { 0, 0 };
	struct sim_observer o = hearer;
	struct sim_rules r = fabric->rules;

	o.context = &told;
	r.parts = parts;
	r.threads = threads;
	r.cut_seed = parts;
	struct sim *s = sim_new(&fabric->setup, fabric->flows, fabric->n_flows, &r);

	sim_observe(s, &o);
	sim_run(s, HD_TIME_NEVER, NULL, NULL);
	sim_free(s);
	return told;
}

static void observers_are_notified_in_one_order(void **state)
{
	static const uint32_t cuts[][2] = { { 2, 2 }, { 7, 3 }, { 20, 1 } };

	(void)state;
	for (size_t i = 0; i < MODES_WATCHED; i++) {
		struct fabric *fabric;

		must_build(modes_watched[i], &fabric);
		struct told one = hear_run(fabric, 1, 1);

		assert_true(one.n > 10000);
		for (size_t k = 0; k < sizeof(cuts) / sizeof(*cuts); k++) {
			if (!has_its_turn(k, 3, i))
				continue;
			struct told many = hear_run(fabric, cuts[k][0], cuts[k][1]);

			assert_int_equal(one.n, many.n);
			assert_int_equal(one.sum, many.sum);
		}
		fabric_free(fabric);
	}
}

static void control_probes_and_vl_sharing_are_the_same_in_parts(void **state)
{
	(void)state;
	for (size_t i = 0; i < MODES; i++)
		scenario_is_the_same(mode_scenarios[i], i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_measure_what_the_whole_does),
		cmocka_unit_test(parts_agree_on_instants),
		cmocka_unit_test(parts_become_idle_at_the_same_time),
		cmocka_unit_test(observers_are_notified_in_one_order),
		cmocka_unit_test(control_probes_and_vl_sharing_are_the_same_in_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
