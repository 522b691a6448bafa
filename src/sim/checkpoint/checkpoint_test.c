/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run that is saved and read into another one measures the same, to the bit,
 * and tells its observers the same; so does the one that was saved and continued.
 * That packets take the same way, in every mode, is the oracle's business
 * (tests/oracle/restart_test.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "fabric/build_for_tests.h"
#include "sim/core/modes_for_tests.h"
#include "sim/core/same_for_tests.h"
#include "sim/core/workload_for_tests.h"

/* A run, and how often it is saved. */
struct course {
	const struct sim_setup *setup;
	const struct sim_flow *flows;
	uint32_t n_flows;
	struct sim_rules rules;
};

static struct sim *begin(const struct course *c, uint32_t parts, struct told *told)
{
	struct sim_rules r = c->rules;
	struct sim_observer o = hearer;

	r.parts = parts;
	r.threads = 1 + parts % 2;
	r.cut_seed = parts;
	struct sim *s = sim_new(c->setup, c->flows, c->n_flows, &r);

	o.context = told;
	if (told)
		sim_observe(s, &o);
	return s;
}

/* A fresh run with the state of s, which would save the same bytes. */
static struct sim *change_over(const struct course *c, struct sim *s, uint32_t parts,
			       struct told *told)
{
	struct strbuf state = STRBUF_INIT, again = STRBUF_INIT;

	assert_null(sim_not_saved(s));
	sim_save(s, &state);
	struct sim *next = begin(c, parts, told);

	assert_true(sim_load(next, state.text, state.len));
	assert_int_equal(sim_now(next), sim_now(s));
	sim_save(next, &again);
	assert_int_equal(again.len, state.len);
	assert_memory_equal(again.text, state.text, state.len);
	strbuf_fini(&state);
	strbuf_fini(&again);
	return next;
}

/* From run to run at these instants, or until it ends before. */
static struct sim *relay(const struct course *c, const hd_time *at, size_t n, struct rng *rng,
			 struct told *told)
{
	static const uint32_t cuts[] = { 1, 2, 3, 20 };
	struct sim *s = begin(c, cuts[rng_below(rng, 4)], told);

	for (size_t i = 0; i < n; i++) {
		if (sim_run(s, at[i], NULL, NULL) != SIM_PAUSED)
			break;
		sim_forget_pause(s);
		struct sim *next = change_over(c, s, cuts[rng_below(rng, 4)], told);

		sim_free(s);
		s = next;
	}
	sim_run(s, HD_TIME_NEVER, NULL, NULL);
	return s;
}

static void check_same(const struct course *c, struct sim *a, struct sim *b)
{
	assert_int_equal(sim_now(a), sim_now(b));
	same_metrics(sim_metrics(a), sim_metrics(b));
	if (c->setup->control)
		same_control(a, b, c->n_flows);
	same_vls(a, b, c->setup->n_ports);
}

#define STOPS 3

static void check_course(const struct course *c, uint64_t seed, bool observed)
{
	struct told one = { 0, 0 }, many = { 0, 0 };
	struct sim *whole = begin(c, 1, observed ? &one : NULL);
	hd_time at[STOPS];
	struct rng rng;

	rng_init(&rng, seed, 0);
	sim_run(whole, HD_TIME_NEVER, NULL, NULL);
	at[0] = rng_below(&rng, sim_now(whole) / 3 + 1);
	at[1] = at[0] + 1 + rng_below(&rng, sim_now(whole) / 3 + 1);
	at[2] = at[1] + 1 + rng_below(&rng, sim_now(whole) / 3 + 1);
	struct sim *s = relay(c, at, STOPS, &rng, observed ? &many : NULL);

	check_same(c, whole, s);
	assert_int_equal(one.n, many.n);
	assert_int_equal(one.sum, many.sum);
	/* Saving does not change the run. */
	struct sim *saved = begin(c, 2, NULL);
	struct strbuf state = STRBUF_INIT;

	if (sim_run(saved, at[1], NULL, NULL) == SIM_PAUSED) {
		sim_forget_pause(saved);
		sim_save(saved, &state);
	}
	sim_run(saved, HD_TIME_NEVER, NULL, NULL);
	check_same(c, whole, saved);
	strbuf_fini(&state);
	sim_free(saved);
	sim_free(s);
	sim_free(whole);
}

static void check_text(const char *text, uint64_t seed, bool observed)
{
	struct fabric *fabric;

	must_build(text, &fabric);
	const struct course c = { &fabric->setup, fabric->flows, fabric->n_flows, fabric->rules };

	check_course(&c, seed, observed);
	fabric_free(fabric);
}

static void control_probes_and_vl_sharing_resume_unchanged(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MODES; i++) {
		for (unsigned k = 0; k < cases_of_run(2, 8); k++)
			check_text(mode_scenarios[i], 100 * k + i, false);
	}
}

static void observers_are_notified_of_the_rest(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MODES_WATCHED; i++) {
		for (unsigned k = 0; k < cases_of_run(2, 8); k++)
			check_text(modes_watched[i], 50 * k + i, true);
	}
	check_text(mode_scenarios[0], 7, true);
}

/* Kinds of traffic, tables and routes that change, groups, routers. */
static const char *const others[] = {
	TREE
	"traffic:\n"
	"- {name: a, kind: cbr, load: 20%, payload: 512}\n"
	"- {name: b, kind: on-off, on: 3us, off: 5us, load: 20%, payload: 1KiB, pattern: hotspot, hotspot: h3, hot_share: 30%}\n"
	"- {name: c, kind: pareto, on: 2us, off: 4us, shape: 1.5, load: 10%, payload: 256}\n"
	"- {name: d, kind: ge, scv: 4, load: 20%, payload: 512, payload_scv: 2}\n"
	"- {name: e, kind: saturating, pattern: pairs, source: h0, destination: h7, payload: 4KiB}\n"
	"- {name: f, kind: messages, count: 9, start: 7us, payload: 20KiB}\n" ENDS,
	"fabric:\n  topology: {kind: fat-tree, radix: 4, levels: 3}\n"
	"  switch: {order: fifo, input_buffer: 4 packets}\n" LOADED ENDS,
};

static void kinds_of_traffic_resume_unchanged(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(others) / sizeof(*others); i++)
		check_text(others[i], i, i % 2);
}

/* Flows that end; timers of flow control continue, but not for ever. */
static void idle_runs_end_at_the_same_time(void **state)
{
	struct workload w;

	(void)state;
	workload_init(&w, workload_find("fat tree, 16 hosts"));
	w.fabric.setup.credits = SIM_CREDITS_EXACT;
	for (uint32_t i = 0; i < w.n_flows; i++)
		w.flows[i].count = 6;
	for (uint32_t i = 0; i < w.fabric.setup.n_ports; i++)
		w.fabric.setup.ports[i].propagation = 3 * HD_US;
	for (unsigned seed = 0; seed < 12; seed++) {
		struct course c = { &w.fabric.setup, w.flows, w.n_flows };

		sim_rules_init(&c.rules);
		check_course(&c, seed, false);
	}
	workload_fini(&w);
}

/* Rules that count packets, before and after their decision. */
static void rules_resume_unchanged(void **state)
{
	struct workload w;

	(void)state;
	workload_init(&w, workload_find("fat tree, 16 hosts"));
	for (unsigned which = 0; which < 18; which++) {
		struct course c = { &w.fabric.setup, w.flows, w.n_flows };
		struct sim_rules *r = &c.rules;

		sim_rules_init(r);
		r->check_order = true;
		r->warmup = 2 * HD_US;
		r->stop = 30 * HD_US;
		r->packets = which % 6 == 1 ? 777 : 0;
		r->packets_per_flow = which % 6 == 2 ? 6 : 0;
		r->packets_per_sl = which % 6 == 3 ? 300 : 0;
		r->warmup_packets = which % 6 == 3 ? 100 : 0;
		r->precision = which % 6 == 4 ? 0.05 : 0;
		r->flow_metrics = which % 6 != 5;
		r->port_metrics = which % 6 != 5;
		check_course(&c, which, which % 4 == 0);
	}
	workload_fini(&w);
}

/* ---- what is not a checkpoint ------------------------------------------- */

static void cut_short_and_altered_states_are_refused(void **state)
{
	struct strbuf bytes = STRBUF_INIT;
	struct fabric *fabric, *other;

	(void)state;
	must_build(mode_scenarios[0], &fabric);
	must_build(mode_scenarios[2], &other);
	const struct course c = { &fabric->setup, fabric->flows, fabric->n_flows, fabric->rules };
	const struct course d = { &other->setup, other->flows, other->n_flows, other->rules };
	struct sim *s = begin(&c, 1, NULL);

	sim_run(s, 9 * HD_US, NULL, NULL);
	sim_save(s, &bytes);
	sim_free(s);
	for (size_t len = 0; len < bytes.len; len += 1 + bytes.len / 40) {
		s = begin(&c, 1 + (uint32_t)(len % 3), NULL);
		assert_false(sim_load(s, bytes.text, len));
		sim_free(s);
	}
	s = begin(&d, 1, NULL);
	assert_false(sim_load(s, bytes.text, bytes.len));
	sim_free(s);
	strbuf_putc(&bytes, 0);
	s = begin(&c, 1, NULL);
	assert_false(sim_load(s, bytes.text, bytes.len));
	sim_free(s);
	strbuf_fini(&bytes);
	fabric_free(fabric);
	fabric_free(other);
}

/* Whatever the bytes are, only memory of the run is touched. */
static void altered_states_do_no_harm(void **state)
{
	struct strbuf bytes = STRBUF_INIT;
	struct fabric *fabric;
	struct rng rng;

	(void)state;
	rng_init(&rng, 4, 0);
	must_build(modes_watched[0], &fabric);
	const struct course c = { &fabric->setup, fabric->flows, fabric->n_flows, fabric->rules };
	struct sim *s = begin(&c, 1, NULL);

	sim_run(s, 14 * HD_US, NULL, NULL);
	sim_save(s, &bytes);
	sim_free(s);
	for (unsigned i = 0; i < 300; i++) {
		size_t at = (size_t)rng_below(&rng, bytes.len);
		char was = bytes.text[at];

		bytes.text[at] = (char)rng_next(&rng);
		s = begin(&c, 1 + i % 3, NULL);
		if (sim_load(s, bytes.text, bytes.len))
			assert_true(sim_now(s) < HD_TIME_NEVER);
		sim_free(s);
		bytes.text[at] = was;
	}
	strbuf_fini(&bytes);
	fabric_free(fabric);
}

/* Programs on end ports cannot be saved. */
static void endpoints_must_agree(void **state)
{
	const struct sim_endpoint program = { .context = NULL };
	struct fabric *fabric;

	(void)state;
	must_build(others[0], &fabric);
	const struct course c = { &fabric->setup, fabric->flows, fabric->n_flows, fabric->rules };
	struct sim *s = begin(&c, 1, NULL);

	assert_null(sim_not_saved(s));
	sim_attach(s, &program);
	assert_string_equal(sim_not_saved(s), "programs run on its adapters");
	sim_free(s);
	fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_probes_and_vl_sharing_resume_unchanged),
		cmocka_unit_test(observers_are_notified_of_the_rest),
		cmocka_unit_test(kinds_of_traffic_resume_unchanged),
		cmocka_unit_test(idle_runs_end_at_the_same_time),
		cmocka_unit_test(rules_resume_unchanged),
		cmocka_unit_test(cut_short_and_altered_states_are_refused),
		cmocka_unit_test(altered_states_do_no_harm),
		cmocka_unit_test(endpoints_must_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
