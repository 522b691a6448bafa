/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/injection/congestion_flows_for_tests.h"

/*
 * Two switches: hosts A1..A3 on A, B1..B3 and the receiver Bc on B, links of
 * 8 Gb/s. Each request reserves 3 Gb/s: two fit a link, three do not.
 */
struct world {
	struct fabric *fabric;
	struct congestion_flow *flows;
	struct congestion_params params;
	struct congestion_result result;
};

static void world_init(struct world *w, const char *traffic, const char *more)
{
	struct diag d = { .status = HD_OK };
	struct strbuf text = STRBUF_INIT;

	memset(w, 0, sizeof(*w));
	strbuf_printf(&text,
		      "fabric:\n"
		      "  topology: {kind: two-switch, remote: 3, local: 3, victims: 1}\n"
		      "  link: {rate: 8Gb/s}\n"
		      "qos: {vls: 2}\n"
		      "traffic:\n%scongestion: {%s}\n"
		      "run: {warmup: 100us, measure: 2ms}\n",
		      traffic, more);
	if (fabric_load(text.text, text.len, "x.yaml", NULL, &d, &w->fabric) != HD_OK ||
	    congestion_flows(w->fabric, &d, &w->flows) != HD_OK ||
	    congestion_params_init(w->fabric, &d, &w->params) != HD_OK)
		fail_msg("refused: %u: %s", d.line, d.message);
	/* Flows start one after the other. */
	for (uint32_t i = 0; i < w->fabric->n_flows; i++)
		w->flows[i].start =
			w->fabric->scenario->traffic[w->flows[i].row].start + i * 20 * HD_US;
	strbuf_fini(&text);
	if (congestion_run(&w->fabric->setup, w->flows, w->fabric->n_flows, &w->params, &d,
			   &w->result) != HD_OK)
		fail_msg("refused: %s", d.message);
}

static void world_fini(struct world *w)
{
	congestion_result_fini(&w->result);
	free(w->flows);
	fabric_free(w->fabric);
}

static void assert_answer(const struct world *w, uint32_t flow, enum sim_answer answer)
{
	if (w->result.flows[flow].answer != answer)
		fail_msg("flow %u was %s, not %s", flow,
			 sim_answer_name(w->result.flows[flow].answer), sim_answer_name(answer));
}

static uint64_t all_reserved(const struct world *w)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < w->result.n_ports; i++)
		sum += w->result.reserved[i];
	return sum;
}

#define REMOTE                                                                  \
	"  - {name: remote, kind: saturating, pattern: incast, reserve: 3Gb/s," \
	" source: A1..A3, destination: Bc}\n"
#define LOCAL                                                                  \
	"  - {name: local, kind: saturating, pattern: incast, reserve: 3Gb/s," \
	" source: B1..B3, destination: Bc}\n"

/*
 * A1, A2 pass three links each. A rejects the probe of A3, because its cable to B is full, and one
 * link (A3's own) is released. 2 flows on 3 links.
 */
static void a_full_cable_turns_the_probe_back(void **state)
{
	(void)state;
	struct world w;

	world_init(&w, REMOTE, "window: 4");
	assert_answer(&w, 0, SIM_ADMITTED);
	assert_answer(&w, 1, SIM_ADMITTED);
	assert_answer(&w, 2, SIM_REJECTED);
	assert_true(all_reserved(&w) == 2 * 3 * UINT64_C(3000000000));
	/* To A and B and Bc; to A and B and Bc; to A. Then A3 is notified. */
	assert_int_equal(w.result.probes, 7);
	assert_int_equal(w.result.accepts, 2);
	assert_int_equal(w.result.rejects, 1);
	assert_int_equal(w.result.flows[2].delivered, 0);
	assert_true(w.result.flows[0].delivered > 100);
	world_fini(&w);
}

/*
 * B1 and B2 fill the receiver's link. The adapter and A admit A1, and B rejects it: the reject
 * takes two hops and releases both links.
 */
static void late_reject_releases_all_links(void **state)
{
	(void)state;
	struct world w;

	world_init(
		&w,
		LOCAL
		"  - {name: too-late, kind: saturating, pattern: pairs, reserve: 3Gb/s, source: A1, destination: Bc, start: 500us}\n",
		"window: 4");
	assert_answer(&w, 0, SIM_ADMITTED);
	assert_answer(&w, 1, SIM_ADMITTED);
	assert_answer(&w, 2, SIM_REJECTED);
	assert_answer(&w, 3, SIM_REJECTED);
	/* Two flows on two links. */
	assert_true(all_reserved(&w) == 2 * 2 * UINT64_C(3000000000));
	/* B answers to B3, and by way of A to A1. */
	assert_int_equal(w.result.rejects, 1 + 2);
	assert_true(w.result.flows[3].rejected_by == w.result.flows[2].rejected_by);
	world_fini(&w);
}

/* Requested and reserved rates together must stay below the link's rate. */
static void full_rate_is_rejected(void **state)
{
	(void)state;
	struct world w;

	world_init(
		&w,
		"  - {name: a, kind: saturating, pattern: incast, reserve: 4Gb/s, source: B1..B2, destination: Bc}\n",
		"window: 4");
	assert_answer(&w, 0, SIM_ADMITTED);
	assert_answer(&w, 1, SIM_REJECTED);
	world_fini(&w);
	/* And the adapter itself refuses what no link has. */
	world_init(
		&w,
		"  - {name: a, kind: saturating, pattern: pairs, reserve: 8Gb/s, source: B1, destination: Bc}\n",
		"window: 4");
	assert_answer(&w, 0, SIM_REJECTED);
	assert_int_equal(w.result.probes + w.result.rejects, 0);
	assert_true(w.result.flows[0].answered == 0);
	world_fini(&w);
}

/* 40 % of 8 Gb/s: one of 3 Gb/s fits SL 1; SL 0 has the whole link. */
static void each_sl_has_its_share(void **state)
{
	(void)state;
	struct world w;

	world_init(
		&w,
		"  - {name: a, kind: saturating, pattern: incast, sl: 1, reserve: 3Gb/s, source: B1..B2, destination: Bc}\n"
		"  - {name: b, kind: saturating, pattern: pairs, sl: 0, reserve: 3Gb/s, source: B3, destination: Bc}\n",
		"window: 4, limits: [{sl: 1, share: 40%}]");
	assert_answer(&w, 0, SIM_ADMITTED);
	assert_answer(&w, 1, SIM_REJECTED);
	assert_answer(&w, 2, SIM_ADMITTED);
	world_fini(&w);
}

/* Flows that end release all links of their path for later flows. */
static void the_last_packet_frees_the_links(void **state)
{
	(void)state;
	struct world w;

	world_init(
		&w,
		"  - {name: first, kind: saturating, pattern: incast, reserve: 3Gb/s, source: A1..A2, destination: Bc, count: 10}\n"
		"  - {name: then, kind: saturating, pattern: pairs, reserve: 3Gb/s, source: A3, destination: Bc, start: 1ms, stop: 1500us}\n",
		"window: 4");
	assert_answer(&w, 0, SIM_RELEASED);
	assert_answer(&w, 1, SIM_RELEASED);
	assert_answer(&w, 2, SIM_RELEASED);
	assert_int_equal(w.result.rejects, 0);
	assert_true(all_reserved(&w) == 0);
	world_fini(&w);
	/* Without the end of the first two, the third is refused. */
	world_init(
		&w,
		"  - {name: first, kind: saturating, pattern: incast, reserve: 3Gb/s, source: A1..A2, destination: Bc}\n"
		"  - {name: then, kind: saturating, pattern: pairs, reserve: 3Gb/s, source: A3, destination: Bc, start: 1ms}\n",
		"window: 4");
	assert_answer(&w, 2, SIM_REJECTED);
	world_fini(&w);
}

/* Admission requires agents. */
static void a_fabric_without_agents_is_refused(void **state)
{
	(void)state;
	struct world w;
	struct congestion_result again;
	struct diag d = { .status = HD_OK };

	world_init(&w,
		   "  - {name: a, kind: saturating, pattern: pairs, source: B1, destination: Bc}\n",
		   "window: 4");
	assert_answer(&w, 0, SIM_NOT_ASKED);
	w.flows[0].reserve = 1000;
	assert_int_equal(congestion_run(&w.fabric->setup, w.flows, 1, &w.params, &d, &again),
			 HD_ERR_UNFIT);
	world_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_cable_turns_the_probe_back),
		cmocka_unit_test(late_reject_releases_all_links),
		cmocka_unit_test(full_rate_is_rejected),
		cmocka_unit_test(each_sl_has_its_share),
		cmocka_unit_test(the_last_packet_frees_the_links),
		cmocka_unit_test(a_fabric_without_agents_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
