/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs on stars and trees, compared with closed forms: exact to the picosecond. */
#include "sim/jobs/run_for_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"

/* ---- running one -------------------------------------------------------- */

static hd_time time_of(const char *text)
{
	struct outcome o = run_on(text, 1);

	results_free(o.results);
	return o.completion[0];
}

/* The step's time on a star of p hosts with 4x HDR. */
static hd_time star_time(uint32_t p, const char *step)
{
	char text[512];

	snprintf(
		text, sizeof(text),
		"fabric: {topology: {kind: star, hosts: %u}, link: {rate: 4x HDR}}\njobs:\n- {name: a, ranks: %u, program: [{%s}]}\n",
		p, p, step);
	return time_of(text);
}

/* ---- closed forms ------------------------------------------------------- */

/* c(s): two cables of 5 ns, a switch with 80 + 20 ns, packets of 4096 bytes
 * and 26 more, one after the other at 25 bytes a ns (40 ps a byte). */
static hd_time crossing(uint64_t bytes, uint64_t overhead)
{
	uint64_t packets = bytes ? (bytes + 4095) / 4096 : 1;

	return 110 * HD_NS + 40 * (bytes + packets * overhead);
}

static hd_time message(uint64_t bytes)
{
	return crossing(bytes, 26);
}

static void worked_values_come_out(void **state)
{
	(void)state;
	assert_int_equal(star_time(8, "allreduce: 512KiB, algorithm: ring"), 38473120);
	assert_int_equal(star_time(8, "allreduce: 64KiB, algorithm: doubling"), 8244240);
	assert_int_equal(star_time(8, "barrier: 0"), 333120);
}

static const uint32_t counts[] = { 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 64 };

static hd_time sum_of(uint32_t p, uint64_t m, bool halves)
{
	hd_time sum = 0;

	for (uint32_t n = 1; n < p; n *= 2)
		sum += message(halves ? m / (2 * n) : m * n);
	return sum;
}

static hd_time bruck_time(uint32_t p, uint64_t m)
{
	hd_time sum = 0;

	for (uint32_t bit = 1; bit < p; bit *= 2) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < p; i++)
			n += (i & bit) != 0;
		sum += message(m * n);
	}
	return sum;
}

static hd_time of_step(uint32_t p, const char *format, uint64_t m)
{
	char step[128];

	snprintf(step, sizeof(step), format, (unsigned long long)m);
	return star_time(p, step);
}

static void collectives_take_what_closed_forms_say(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		uint32_t p = counts[i];
		uint64_t each = 3000, m = each * p;

		assert_int_equal(of_step(p, "barrier: %llu", 0), levels(p) * message(0));
		assert_int_equal(of_step(p, "allreduce: %llu", m), 2 * (p - 1) * message(each));
		assert_int_equal(of_step(p, "reduce_scatter: %llu", m), (p - 1) * message(each));
		assert_int_equal(of_step(p, "allgather: %llu", each), (p - 1) * message(each));
		assert_int_equal(of_step(p, "alltoall: %llu", 9000), (p - 1) * message(9000));
		assert_int_equal(of_step(p, "alltoall: %llu, algorithm: bruck", each),
				 bruck_time(p, each));
		assert_int_equal(of_step(p, "broadcast: %llu, algorithm: multicast", 9000),
				 crossing(9000, 66));
	}
}

static void collectives_of_powers_of_two_do_too(void **state)
{
	(void)state;
	for (uint32_t p = 2; p <= 64; p *= 2) {
		uint64_t each = 3000, m = each * p;

		assert_int_equal(of_step(p, "broadcast: %llu", m), levels(p) * message(m));
		assert_int_equal(of_step(p, "reduce: %llu", m), levels(p) * message(m));
		assert_int_equal(of_step(p, "allreduce: %llu, algorithm: doubling", m),
				 levels(p) * message(m));
		assert_int_equal(of_step(p, "allreduce: %llu, algorithm: rabenseifner", m),
				 2 * sum_of(p, m, true));
		assert_int_equal(of_step(p, "allgather: %llu, algorithm: doubling", each),
				 sum_of(p, each, false));
		assert_int_equal(of_step(p, "reduce_scatter: %llu, algorithm: halving", m),
				 sum_of(p, m, true));
	}
}

/*
 * The root sends to its k-th child k sends later than to the first, which forwards the message: the
 * time is the latest of all.
 */
static hd_time binomial_time(uint32_t p, uint64_t m)
{
	hd_time *at = hd_alloc(p, sizeof(*at)), last = 0;
	hd_time send = message(m) - 110 * HD_NS;

	for (uint32_t v = 1; v < p; v++) {
		unsigned k = levels(v + 1) - 1;
		uint32_t parent = v - (UINT32_C(1) << k);
		unsigned first = parent ? levels(parent + 1) : 0;

		at[v] = at[parent] + (k - first) * send + message(m);
		last = at[v] > last ? at[v] : last;
	}
	free(at);
	return last;
}

static void binomial_trees_overlap_where_they_can(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		assert_int_equal(of_step(counts[i], "broadcast: %llu", 20000),
				 binomial_time(counts[i], 20000));
}

/*
 * Both trees need a path up and down of at least one message each, and no port sends faster than
 * its link.
 */
static void two_trees_keep_their_bounds(void **state)
{
	(void)state;
	for (uint32_t p = 4; p <= 64; p *= 2) {
		hd_time whole = of_step(p, "allreduce: %llu, algorithm: tree", 1 << 20);
		hd_time pipelined =
			of_step(p, "allreduce: %llu, algorithm: tree, segment: 32KiB", 1 << 20);

		/* 2 (p - 1)/p S/B, and the depth of a tree of halves. */
		assert_true(pipelined >= 2 * (p - 1) * 40 * (1 << 20) / p);
		assert_true(pipelined <= whole);
		assert_true(whole <= 2 * (levels(p) + 1) * 2 * message(1 << 19));
	}
}

/* ---- storage, neighbours, hosts ----------------------------------------- */

static void requests_follow_each_other(void **state)
{
	static const char write[] =
		"fabric: {topology: {kind: star, hosts: 4}, link: {rate: 4x HDR}}\njobs:\n- {name: a, ranks: 1, on: h0, program: [{write: 40960, to: h2, request: 4096, outstanding: 1}]}\n";
	static const char read[] =
		"fabric: {topology: {kind: star, hosts: 4}, link: {rate: 4x HDR}}\njobs:\n- {name: a, ranks: 1, on: h0, program: [{read: 40960, to: h2, request: 4096, outstanding: 10}]}\n";

	(void)state;
	/* Ten times there with bytes and back without. */
	assert_int_equal(time_of(write), 10 * (message(4096) + message(0)));
	/* All requested at once: the responses arrive one after the other. */
	assert_int_equal(time_of(read), message(0) + message(0) + 10 * 40 * 4122 - 40 * 26);
}

/*
 * Two ranks write 100 bytes to a server, twice, with a g of 1 us at both ends. The server has the
 * first two at 115.04 and 120.08 ns, and sends its four responses from then on 1 us apart, in the
 * order of the requests.
 */
static void a_server_has_one_line_for_all_steps(void **state)
{
	hd_time asked = message(100);

	(void)state;
	assert_int_equal(
		time_of("fabric: {topology: {kind: star, hosts: 3}, link: {rate: 4x HDR}}\njobs:\n"
			"- {name: a, ranks: 2, gap: 1us, program: [{write: 100, to: h2}, {write: 100, to: h2}]}\n"),
		asked + 3 * HD_US + message(0));
}

static void neighbours_and_shifts_are_one_round(void **state)
{
	(void)state;
	/* Four messages one after the other, into four different ports. */
	assert_int_equal(star_time(9, "halo: 4096, grid: 3x3"), message(4 * 4096));
	assert_int_equal(star_time(9, "shift: 4096"), message(4096));
	assert_int_equal(star_time(12, "allgather: 4096, groups: 3"), 3 * message(4096));
	assert_int_equal(star_time(12, "allgather: 4096, groups: 3, layout: strides"),
			 3 * message(4096));
}

static void hosts_and_rendezvous_cost(void **state)
{
	static const char job[] =
		"fabric: {topology: {kind: star, hosts: 2}, link: {rate: 4x HDR}}\njobs:\n- {name: a, program: [{shift: 4096}], %s}\n";
	static const struct {
		const char *with;
		hd_time more;
	} rows[] = {
		{ "overhead: 1us", 2 * HD_US },
		{ "overhead: 1us, per_byte: 1ns", 2 * HD_US + 2 * 4096 * HD_NS },
		/* Request, and grant. */
		{ "eager: 4095", 2 * (110 * HD_NS + 40 * 26) },
		{ "eager: 4096", 0 },
		{ "gap: 1us", 0 },
		{ "gap: 1us, repeat: 3", 2 * HD_US },
		{ "repeat: 3", 2 * 40 * 4122 },
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(text, sizeof(text), job, rows[i].with);
		assert_int_equal(time_of(text), message(4096) + rows[i].more);
	}
}

/* ---- several jobs ------------------------------------------------------- */

static void apart_they_do_not_meet(void **state)
{
	static const char text[] =
		"fabric: {topology: {kind: xgft, down: '4,2', up: '1,4'}, link: {rate: 4x HDR}}\njobs:\n"
		"- {name: a, on: h0..h3, program: [{allreduce: 64KiB}]}\n"
		"- {name: b, on: h4..h7, program: [{allreduce: 64KiB}]}\n";
	struct outcome o = run_on(text, 1);

	(void)state;
	assert_int_equal(o.completion[0], 6 * message(16384));
	assert_int_equal(o.completion[1], 6 * message(16384));
	assert_true(o.well);
	results_free(o.results);
}

/* Two rings of two over one cable between two switches, whose bytes take
 * twice as long together. */
static void over_one_uplink_they_get_half(void **state)
{
	static const char one[] =
		"fabric: {topology: {kind: xgft, down: '2,2', up: '1,1'}, link: {rate: 4x HDR}}\njobs:\n"
		"- {name: a, on: 'h0,h2', program: [{allreduce: 8MiB}]}\n";
	static const char both[] =
		"fabric: {topology: {kind: xgft, down: '2,2', up: '1,1'}, link: {rate: 4x HDR}}\njobs:\n"
		"- {name: a, on: 'h0,h2', program: [{allreduce: 8MiB}]}\n"
		"- {name: b, on: 'h1,h3', program: [{allreduce: 8MiB}]}\n";
	hd_time alone = time_of(one);
	struct outcome o = run_on(both, 1);
	/* 2 messages of 1024 packets, 3 switches on the way. */
	hd_time wires = 2 * UINT64_C(1024) * 40 * 4122;

	(void)state;
	assert_int_equal(alone, wires + 2 * 320 * HD_NS);
	/* All packets of both cross the cable, without a gap but for ends. */
	for (unsigned i = 0; i < 2; i++) {
		assert_true(o.completion[i] >= 2 * wires - 2 * 40 * 4122);
		assert_true(o.completion[i] <= 2 * wires + 4 * HD_US);
	}
	results_free(o.results);
}

static void packed_is_not_slower_than_random_on_a_tapered_tree(void **state)
{
	static const char text[] =
		"fabric: {topology: {kind: xgft, down: '8,4', up: '1,2'}, link: {rate: 4x HDR}}\njobs:\n"
		"- {name: a, place: %s, program: [{allreduce: 1MiB}]}\n";
	char packed[512], random[512];

	(void)state;
	snprintf(packed, sizeof(packed), text, "leaf");
	snprintf(random, sizeof(random), text, "random");
	assert_true(time_of(packed) <= time_of(random));
}

/* ---- parts -------------------------------------------------------------- */

static const char busy[] =
	"fabric: {topology: {kind: xgft, down: '4,4', up: '1,2'}, link: {rate: 4x HDR}}\njobs:\n"
	"- {name: a, place: random, repeat: 3, overhead: 100ns, eager: 8KiB, "
	"program: [{compute: 1us}, {allreduce: 100000, algorithm: "
	"rabenseifner}, {alltoall: 5000, algorithm: linear}, {broadcast: "
	"20000, algorithm: multicast}]}\n"
	"- {name: b, place: random, ranks: 9, program: [{allreduce: 77777, algorithm: tree, segment: 5000}, {write: 100000, to: h15, request: 7000, outstanding: 3}]}\n";

static void parts_make_no_difference(void **state)
{
	struct outcome whole = run_on(busy, 1);

	(void)state;
	assert_true(whole.well);
	for (uint32_t parts = 2; parts <= 4; parts++) {
		struct outcome o = run_on(busy, parts);

		assert_int_equal(o.checksum, whole.checksum);
		for (unsigned i = 0; i < 2; i++)
			assert_int_equal(o.completion[i], whole.completion[i]);
		outcome_same(&o, &whole);
		results_free(o.results);
	}
	results_free(whole.results);
}

/* ---- what hangs --------------------------------------------------------- */

static const char *cell_of(const struct outcome *o, size_t row, const char *column)
{
	return outcome_cell(o, "failed operations", row, column)->text;
}

static void what_hangs_is_named(void **state)
{
	struct outcome o = run_goal("",
				    "num_ranks 2\n"
				    "rank 0 { send 10b to 1 tag 1 }\n"
				    "rank 1 {\n"
				    "recv 10b from 0 tag 2\n}\n",
				    "");

	(void)state;
	assert_false(o.well);
	assert_true(o.completion[0] == HD_TIME_NEVER);
	assert_string_equal(cell_of(&o, 0, "operation"), "send");
	assert_non_null(strstr(cell_of(&o, 0, "where"), ":2"));
	assert_string_equal(cell_of(&o, 0, "problem"), "it has no receive");
	assert_string_equal(cell_of(&o, 1, "operation"), "receive");
	assert_non_null(strstr(cell_of(&o, 1, "where"), ":4"));
	assert_string_equal(cell_of(&o, 1, "peer"), "rank 0 (h0)");
	assert_string_equal(cell_of(&o, 1, "problem"), "no message arrives for it");
	results_free(o.results);
}

/* Asked for, done, and the answer is lost. */
static void lost_answers_of_servers_are_named(void **state)
{
	struct outcome o =
		run_on("fabric: {topology: {kind: star, hosts: 3}, link: {rate: 4x HDR}}\njobs:\n"
		       "- {name: a, ranks: 2, on: 'h0, h1', program: [{barrier: 0},\n"
		       "   {write: 4KiB, to: h2}]}\n"
		       "faults: {events: [{at: 450ns, kind: link-down, port: 'h0:1'}]}\n",
		       1);

	(void)state;
	assert_false(o.well);
	assert_string_equal(cell_of(&o, 0, "operation"), "read or write");
	assert_non_null(strstr(cell_of(&o, 0, "where"), "x.yaml:4 write"));
	assert_string_equal(cell_of(&o, 0, "host"), "h0");
	assert_string_equal(cell_of(&o, 0, "peer"), "h2");
	assert_string_equal(cell_of(&o, 0, "problem"), "packets of it are lost");
	results_free(o.results);
}

static void messages_that_do_not_fit_are_named(void **state)
{
	struct outcome o = run_goal("",
				    "num_ranks 2\n"
				    "rank 0 { send 11b to 1 }\n"
				    "rank 1 {\n"
				    "recv 10b from 0\n}\n",
				    "");

	(void)state;
	assert_false(o.well);
	assert_int_equal(o.completion[0], message(11));
	assert_string_equal(cell_of(&o, 0, "problem"), "its message has 11 bytes");
	results_free(o.results);
}

static void losses_are_named(void **state)
{
	struct outcome o = run_goal(
		"",
		"num_ranks 2\n"
		"rank 0 {\nsend 40960b to 1\n}\n"
		"rank 1 {\nrecv 40960b from 0\n}\n",
		"faults: {events: [{at: 500ns, kind: link-down, port: 'h1:1'}, {at: 600ns, kind: link-up, port: 'h1:1'}]}");

	(void)state;
	assert_false(o.well);
	assert_string_equal(cell_of(&o, 0, "problem"), "packets of it are lost");
	assert_non_null(strstr(cell_of(&o, 0, "where"), ":3"));
	assert_string_equal(cell_of(&o, 1, "problem"), "its message does not arrive");
	results_free(o.results);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worked_values_come_out),
		cmocka_unit_test(collectives_take_what_closed_forms_say),
		cmocka_unit_test(collectives_of_powers_of_two_do_too),
		cmocka_unit_test(binomial_trees_overlap_where_they_can),
		cmocka_unit_test(two_trees_keep_their_bounds),
		cmocka_unit_test(requests_follow_each_other),
		cmocka_unit_test(a_server_has_one_line_for_all_steps),
		cmocka_unit_test(neighbours_and_shifts_are_one_round),
		cmocka_unit_test(hosts_and_rendezvous_cost),
		cmocka_unit_test(apart_they_do_not_meet),
		cmocka_unit_test(over_one_uplink_they_get_half),
		cmocka_unit_test(packed_is_not_slower_than_random_on_a_tapered_tree),
		cmocka_unit_test(parts_make_no_difference),
		cmocka_unit_test(what_hangs_is_named),
		cmocka_unit_test(lost_answers_of_servers_are_named),
		cmocka_unit_test(messages_that_do_not_fit_are_named),
		cmocka_unit_test(losses_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
