/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random scenarios with routers, in two ways that do not need the oracle's own:
 * held against the oracle on a fabric in which switches stand for them, and
 * where they do what no switch does, against what must hold of any run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/seeds_for_tests.h"
#include "compare.h"
#include "random.h"
#include "sim/sim.h"

#define FIRST_SEED UINT64_C(0x7061)

static unsigned count(void)
{
	return run_is_long() ? 1000 : 150;
}

struct tally {
	unsigned crossed; /* scenarios in which a packet crossed a router */
	unsigned hops;    /* ... in which one was dropped for its hop limit */
	unsigned no_route, discards;
	unsigned right, wrong; /* hosts; tables have mistakes, but few */
};

/* The arrival of an event; arrivals are ordered by time, not by flow. */
static const struct sim_arrival *arrival_of(const struct scenario *s,
					    const struct sim_event_record *e)
{
	for (size_t i = 0; i < s->n_arrivals; i++) {
		const struct sim_arrival *a = &s->arrivals[i];

		if (a->flow == e->flow && a->sequence == e->sequence)
			return a;
	}
	return NULL;
}

static void event_check(const struct scenario *s, const struct sim_event_record *e)
{
	const struct sim_arrival *a = arrival_of(s, e);
	const struct sim_setup *t = &s->fabric.setup;

	assert_non_null(a);
	assert_int_equal(e->time % s->tick, 0);
	assert_true(e->time >= a->time);
	if (e->fate == SIM_LOST_HOPS) {
		assert_int_equal(t->nodes[t->ports[e->where].node].kind, SIM_ROUTER);
		assert_true(a->global && a->hop_limit < 4);
	}
}

static int by_packet(const void *x, const void *y)
{
	const struct sim_event_record *a = x, *b = y;

	if (a->flow != b->flow)
		return a->flow < b->flow ? -1 : 1;
	return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

/* A packet to one host ends at most once. */
static void ends_check(const struct scenario *s, struct sim_record *r)
{
	qsort(r->events, r->n_events, sizeof(*r->events), by_packet);
	for (size_t i = 1; i < r->n_events; i++) {
		if (by_packet(&r->events[i - 1], &r->events[i]) == 0)
			assert_true(arrival_of(s, &r->events[i])->dlid >= LID_FIRST_MCAST);
	}
}

/* All that is received was sent, and by SL as by VL. */
static void counters_check(const struct scenario *s, const struct sim_record *r)
{
	const struct sim_setup *t = &s->fabric.setup;

	for (uint32_t i = 0; i < t->n_ports; i++) {
		const struct sim_counters *c = &r->counters[i];
		uint64_t xmit = 0, rcv = 0;

		if (t->ports[i].peer == SIM_NONE)
			continue;
		const struct sim_counters *far = &r->counters[t->ports[i].peer];

		assert_true(c->rcv_packets <= far->xmit_packets);
		for (unsigned sl = 0; sl < N_SLS; sl++) {
			assert_true(c->rcv_packets_sl[sl] <= far->xmit_packets_sl[sl]);
			xmit += c->xmit_bytes_sl[sl];
			rcv += c->rcv_bytes_sl[sl];
		}
		assert_int_equal(xmit, c->xmit_bytes);
		assert_int_equal(rcv, c->rcv_bytes);
		if (c->hop_limit_exceeded)
			assert_int_equal(t->nodes[t->ports[i].node].kind, SIM_ROUTER);
	}
}

static void tally_add(struct tally *t, const struct scenario *s, const struct sim_record *r)
{
	bool seen[SIM_FATES] = { false }, crossed = false;

	for (size_t i = 0; i < r->n_events; i++) {
		const struct sim_event_record *e = &r->events[i];
		const struct sim_arrival *a = arrival_of(s, e);

		seen[e->fate] = true;
		if (e->fate != SIM_DELIVERED || !a->global || a->dlid >= LID_FIRST_MCAST)
			continue;
		crossed = true;
		if (s->fabric.setup.ports[e->where].origin == a->target)
			t->right++;
		else
			t->wrong++;
	}
	t->crossed += crossed;
	t->hops += seen[SIM_LOST_HOPS];
	t->no_route += seen[SIM_LOST_NO_ROUTE];
	t->discards += seen[SIM_LOST_DISCARD];
}

static void runs_with_routers_lose_and_invent_nothing(void **state)
{
	unsigned n = count();
	struct tally tally = { 0 };

	(void)state;
	for (unsigned i = 0; i < n; i++) {
		struct scenario s;
		struct sim_record r;

		scenario_draw_routed(&s, FIRST_SEED + i);
		sim_replay(&s.fabric.setup, s.arrivals, s.n_arrivals, s.horizon, &r);
		for (size_t k = 0; k < r.n_events; k++)
			event_check(&s, &r.events[k]);
		tally_add(&tally, &s, &r);
		ends_check(&s, &r);
		counters_check(&s, &r);
		sim_record_fini(&r);
		scenario_clear(&s);
	}
	print_message(
		"%u scenarios: %u packets cross routers in %u, %u to the wrong host; %u with hop limits, %u without routes, %u with discards\n",
		n, tally.right, tally.crossed, tally.wrong, tally.hops, tally.no_route,
		tally.discards);
	assert_true(2 * tally.crossed >= n);
	assert_true(tally.wrong <= tally.right / 50);
	assert_true(5 * tally.hops >= n);
	assert_true(10 * tally.no_route >= n && 10 * tally.discards >= n);
}

/*
 * A router without effect on packets is a switch: the engine with routers, the oracle with switches
 * in their place.
 */
static void routers_are_timed_as_switches(void **state)
{
	unsigned n = count(), crossed = 0;

	(void)state;
	for (unsigned i = 0; i < n; i++) {
		struct scenario routed, switched;
		struct sim_record got, want;
		struct oracle_stats stats;
		struct strbuf why = STRBUF_INIT;
		struct tally tally = { 0 };

		scenario_draw_twins(&routed, &switched, FIRST_SEED + i);
		const struct oracle_case c = scenario_case(&switched);

		oracle_run(&c, ORACLE_TRUE, &want, &stats);
		sim_replay(&routed.fabric.setup, routed.arrivals, routed.n_arrivals, routed.horizon,
			   &got);
		tally_add(&tally, &routed, &got);
		crossed += tally.crossed;
		if (records_differ(&want, &got, routed.fabric.setup.n_ports, &why))
			fail_msg("seed %u: %s", i, why.text);
		oracle_record_fini(&want);
		sim_record_fini(&got);
		strbuf_fini(&why);
		scenario_clear(&routed);
		scenario_clear(&switched);
	}
	assert_true(2 * crossed >= n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(routers_are_timed_as_switches),
		cmocka_unit_test(runs_with_routers_lose_and_invent_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
