/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "bench/params.h"
#include "bench/virtual.h"

static struct bench_params base(enum bench_core core, enum bench_verb verb)
{
	return (struct bench_params){
		.core = core,
		.verb = verb,
		.transport = QP_RC,
		.size = 64,
		.iterations = 50,
		.warmup = 4,
		.window = 16,
		.qps = 1,
		.segments = 1,
		.max_sge = 1,
		.mtu = 1024,
		.pkey = 0xffff,
		.peer_pkey = 0xffff,
		.reuse = 100,
		.entries = 64,
	};
}

static struct bench_point *run(const char *profile, const struct bench_params *params)
{
	const struct virtual_options o = { .profile = profile };
	struct bench_point *point = hd_alloc(1, sizeof(*point));
	struct diag d = { .status = HD_OK };
	struct nic_backend b;

	point->params = *params;
	histogram_init(&point->found.latency);
	assert_int_equal(virtual_open(&o, &d, &b), HD_OK);
	b.wants_group = params->core == CORE_MULTICAST;
	b.wants_pairs = params->core == CORE_THREADS;
	if (b.run(&b, bench_ranks(params), bench_program, point, &d) != HD_OK)
		fail_msg("%s; %s", d.message, point->found.why.message);
	if (!point->found.done)
		fail_msg("%s", point->found.why.message);
	b.close(&b);
	return point;
}

static void drop(struct bench_point *point)
{
	histogram_fini(&point->found.latency);
	free(point);
}

static double mean_us(const struct bench_point *p)
{
	return histogram_mean(&p->found.latency) / 1e6;
}

static void every_verb_has_a_latency(void **state)
{
	(void)state;
	for (unsigned verb = VERB_SEND; verb <= VERB_ATOMIC; verb++) {
		struct bench_params p = base(CORE_LATENCY, (enum bench_verb)verb);
		struct bench_point *point = run("mt23108", &p);

		assert_int_equal(point->found.latency.n, 50);
		print_message("verb %u: %.2f us\n", verb, mean_us(point));
		assert_true(mean_us(point) > 2 && mean_us(point) < 30);
		drop(point);
	}
}

static void bandwidth_is_below_the_link_and_the_bus(void **state)
{
	(void)state;
	for (unsigned core = CORE_BANDWIDTH; core <= CORE_BIDIRECTIONAL; core++) {
		struct bench_params p = base((enum bench_core)core, VERB_SEND);

		p.size = 65536;
		struct bench_point *point = run("mt23108", &p);
		double mbs = bench_bandwidth(&point->found);

		print_message("core %u: %.1f MB/s\n", core, mbs);
		assert_true(mbs > 500 && mbs < 1067);
		drop(point);
	}
}

/* The sequences that the paper prints for ten buffers and 25 %. */
static void buffers_are_reused_as_published(void **state)
{
	const unsigned one[] = { 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3 };
	const unsigned two[] = { 0, 1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9 };

	(void)state;
	for (unsigned i = 0; i < 12; i++) {
		assert_int_equal(bench_buffer(1, 25, 10, i), one[i]);
		assert_int_equal(bench_buffer(2, 25, 10, i), two[i]);
		assert_int_equal(bench_buffer(0, 25, 10, i), 0);
		assert_int_equal(bench_buffer(2, 100, 10, i), 0);
	}
	unsigned same = 0;

	for (unsigned i = 0; i < 1000; i++)
		same += bench_buffer(2, 75, 100, i) == 0;
	assert_in_range(same, 749, 751);
}

static void everything_else_runs(void **state)
{
	struct bench_params list[] = {
		base(CORE_COMPUTE, VERB_SEND),   base(CORE_BANDWIDTH, VERB_WRITE),
		base(CORE_MULTICAST, VERB_SEND), base(CORE_LATENCY, VERB_SEND),
		base(CORE_LATENCY, VERB_SEND),   base(CORE_BANDWIDTH, VERB_SEND),
		base(CORE_BANDWIDTH, VERB_SEND), base(CORE_BANDWIDTH, VERB_READ),
	};

	(void)state;
	list[0].work_share = 50;
	list[1].contenders = 6;
	list[2].transport = QP_UD;
	list[2].receivers = 5;
	list[3].events = true;
	list[4].duration = 2 * HD_MS;
	list[5].qps = 16;
	list[5].segments = list[5].max_sge = 4;
	list[6].scheme = 2;
	list[6].reuse = 25;
	for (unsigned i = 0; i < sizeof(list) / sizeof(*list); i++)
		drop(run("mt23108", &list[i]));
}

static void costs_are_the_profiles(void **state)
{
	static const struct {
		enum bench_cost cost;
		double us;
	} table1[] = {
		{ COST_CONNECT, 296 },  { COST_DISCONNECT, 1e5 }, { COST_POST_RECV, .6 },
		{ COST_POST_SEND, .9 }, { COST_POLL_FULL, 1.0 },  { COST_POLL_EMPTY, .3 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(table1) / sizeof(*table1); i++) {
		struct bench_params p = base(CORE_COST, VERB_SEND);

		p.cost = table1[i].cost;
		p.iterations = 10;
		struct bench_point *point = run("mt23108", &p);
		double us = mean_us(point);

		if (us < .95 * table1[i].us || us > 1.05 * table1[i].us)
			fail_msg("cost %u: %f us, published %f", table1[i].cost, us, table1[i].us);
		drop(point);
	}
}

/* Duration of the measured part of a point. */
static double took_ms(const struct bench_point *point)
{
	const struct bench_found *f = &point->found;

	/* A latency is half of its iteration. */
	return f->elapsed ? (double)f->elapsed / 1e9
			  : 2 * mean_us(point) * (double)f->latency.n / 1e3;
}

/*
 * With a million iterations, a limit leaves those that fit into its time, and a duration is filled;
 * fewer iterations than a limit allows are all executed.
 */
static void time_bounds_a_point(void **state)
{
	static const enum bench_core cores[] = { CORE_LATENCY, CORE_BANDWIDTH, CORE_BIDIRECTIONAL,
						 CORE_COMPUTE, CORE_SHARES,    CORE_THREADS };

	(void)state;
	for (unsigned i = 0; i < 2 * sizeof(cores) / sizeof(*cores); i++) {
		enum bench_core core = cores[i / 2];
		struct bench_params p = base(
			core, core == CORE_SHARES || core == CORE_THREADS ? VERB_WRITE : VERB_SEND);

		p.threads = 2;
		p.iterations = 1000000;
		if (i % 2)
			p.duration = 4 * HD_MS;
		else
			p.limit = 4 * HD_MS;
		struct bench_point *point = run("mt23108", &p);

		print_message("core %u: %.2f ms\n", core, took_ms(point));
		assert_true(took_ms(point) > 2.4 && took_ms(point) < 5.6);
		drop(point);
	}
	struct bench_params p = base(CORE_LATENCY, VERB_SEND);

	p.limit = HD_S;
	struct bench_point *point = run("mt23108", &p);

	assert_int_equal(point->found.latency.n, p.iterations);
	drop(point);
}

/*
 * One rank fails (its queue pairs need weights) while the others wait elsewhere: all ranks return
 * with the reason.
 */
static void a_refusal_ends_all_ranks(void **state)
{
	const struct virtual_options o = { .profile = "mt23108" };
	struct bench_params p = base(CORE_SHARES, VERB_WRITE);
	struct bench_point *point = hd_alloc(1, sizeof(*point));
	struct diag d = { .status = HD_OK };
	struct nic_backend b;

	(void)state;
	p.weighted = true;
	p.qps = 4;
	p.contenders = 2;
	p.loaders = 2;
	point->params = p;
	histogram_init(&point->found.latency);
	assert_int_equal(virtual_open(&o, &d, &b), HD_OK);
	assert_int_equal(b.run(&b, bench_ranks(&p), bench_program, point, &d), HD_OK);
	assert_false(point->found.done || point->found.opened);
	assert_string_equal(
		point->found.why.message,
		"no weights among queue pairs: the profile's schedule is not 'weighted'");
	b.close(&b);
	drop(point);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_verb_has_a_latency),
		cmocka_unit_test(bandwidth_is_below_the_link_and_the_bus),
		cmocka_unit_test(buffers_are_reused_as_published),
		cmocka_unit_test(everything_else_runs),
		cmocka_unit_test(costs_are_the_profiles),
		cmocka_unit_test(time_bounds_a_point),
		cmocka_unit_test(a_refusal_ends_all_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
