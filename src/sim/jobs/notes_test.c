/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of jobs during a run: paths, waits, links, times, pairs. */
#include "sim/jobs/run_for_tests.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/seeds_for_tests.h"

#define HDR_STAR(hosts) "fabric: {topology: {kind: star, hosts: " hosts "}, link: {rate: 4x HDR}}\n"
/* Two leaves of 4 hosts and one spine: a cable up from each. */
#define ONE_UPLINK                                                            \
	"fabric: {topology: {kind: xgft, down: \"4,2\", up: \"1,1\"}, link: " \
	"{rate: 4x HDR}}\n"

/* D of a packet of 4096 bytes: 4122 bytes at 40 ps each. */
#define PACKET ((hd_time)(4122 * 40))

static size_t rows(const struct outcome *o, const char *table)
{
	return table_rows(outcome_table(o, table));
}

static const char *text_at(const struct outcome *o, const char *table, size_t row,
			   const char *column)
{
	return outcome_cell(o, table, row, column)->text;
}

static uint64_t number_at(const struct outcome *o, const char *table, size_t row,
			  const char *column)
{
	return outcome_cell(o, table, row, column)->u;
}

/* ---- critical paths ----------------------------------------------------- */

/* Each message is posted when the previous one has arrived, from start to end. */
static void a_path_has_no_gaps(void **state)
{
	struct outcome o = run_on(
		HDR_STAR(
			"8") "jobs: [{name: a, program: [{allreduce: 64KiB, algorithm: ring}, {barrier: 0}]}]\n",
		1);
	size_t n = rows(&o, "path messages");
	hd_time at = 0;

	(void)state;
	assert_int_equal(n, 2 * 7 + 3);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(outcome_time(&o, "path messages", i, "posted"), at);
		at = outcome_time(&o, "path messages", i, "end");
		assert_string_equal(text_at(&o, "path messages", i, "until it"), "arrives");
		/* No message blocks another. */
		assert_null(text_at(&o, "path messages", i, "link"));
	}
	assert_int_equal(at, o.completion[0]);
	assert_int_equal(rows(&o, "path links"), 0);
	results_free(o.results);
}

/* Two ranks send a packet to a third at once: one of them waits for the other. */
static void the_link_that_it_waits_for_is_named(void **state)
{
	struct outcome o = run_on(
		HDR_STAR("3") "jobs:\n"
			      "- {name: a, ranks: 2, on: 'h0, h2', program: [{shift: 4096}]}\n"
			      "- {name: b, ranks: 2, on: 'h1, h2', program: [{shift: 4096}]}\n",
		1);

	(void)state;
	/* Both take the time of an empty star, and b one packet more. */
	assert_int_equal(o.completion[0], 110 * HD_NS + PACKET);
	assert_int_equal(o.completion[1], 110 * HD_NS + 2 * PACKET);
	assert_int_equal(rows(&o, "path links"), 1);
	assert_string_equal(text_at(&o, "path links", 0, "job"), "b");
	assert_string_equal(text_at(&o, "path links", 0, "to"), "h2");
	assert_int_equal(outcome_time(&o, "path links", 0, "waited"), PACKET);
	results_free(o.results);
}

/*
 * A message after a send waits until the last byte has left the host; which of its packets wait
 * behind that byte is not determined.
 */
static void sent_messages_wait_for_no_link(void **state)
{
	struct outcome o = run_on(
		"fabric: {topology: {kind: xgft, down: \"8,2\", up: \"1,1\"}, link: {rate: 4x HDR}}\n"
		"jobs: [{name: a, on: '0..3, 8..11', program: [{alltoall: 64KiB}]}]\n"
		"traffic: [{name: storm, kind: saturating, pattern: incast, source: '4..7, 12, 13', destination: h15, payload: 4KiB}]\n"
		"run: {warmup: 0us, horizon: 5ms}\n",
		1);
	size_t left = 0;

	(void)state;
	for (size_t i = 0; i < rows(&o, "path messages"); i++) {
		if (strcmp(text_at(&o, "path messages", i, "until it"), "has left") != 0)
			continue;
		assert_null(text_at(&o, "path messages", i, "link"));
		left++;
	}
	assert_true(left > 0);
	results_free(o.results);
}

/*
 * 4 messages of a rank are queued; the last waits for three of 2 packets, which leave without a
 * pause.
 */
static void a_line_is_no_wait_for_links(void **state)
{
	struct outcome o = run_on(
		HDR_STAR("5") "jobs: [{name: a, program: [{alltoall: 8KiB, algorithm: linear}]}]\n",
		1);
	size_t last = rows(&o, "path messages") - 1;

	(void)state;
	assert_int_equal(outcome_time(&o, "path messages", last, "in line"), 3 * 2 * PACKET);
	results_free(o.results);
}

/* Of long paths the end is shown, with a remark on the omitted part. */
static void long_paths_have_a_remark_on_their_begin(void **state)
{
	/* 2^20 messages are kept, half of them for each rank. */
	unsigned n = run_is_long() ? 540000 : 5000;
	char text[256];

	snprintf(text, sizeof(text),
		 HDR_STAR("4") "jobs: [{name: a, ranks: 2, repeat: %u, program: [{shift: 1}]}]\n",
		 n);
	struct outcome o = run_on(text, 1);

	(void)state;
	assert_int_equal(rows(&o, "path messages"), 4096);
	assert_int_equal(number_at(&o, "path messages", 4095, "number"),
			 n < 1u << 19 ? n - 1 : (1u << 19) - 1);
	assert_non_null(strstr(o.results->remarks[n > 5000], "are shown"));
	if (n > 5000)
		assert_non_null(strstr(o.results->remarks[0], "known from"));
	results_free(o.results);
}

/* ---- links -------------------------------------------------------------- */

/* A job of each half of two leaves, all over one cable; shares of it. */
static void links_know_what_they_carried_for_whom(void **state)
{
	struct outcome o = run_on(ONE_UPLINK "jobs:\n"
					     "- {name: a, on: '0, 4', program: [{shift: 1MiB}]}\n"
					     "- {name: b, on: '1, 5', program: [{shift: 3MiB}]}\n",
				  1);
	uint64_t bytes[2] = { 0 };
	double share[2] = { 0 };

	(void)state;
	for (size_t i = 0; i < rows(&o, "job links"); i++) {
		bool is_b = text_at(&o, "job links", i, "job")[0] == 'b';
		uint64_t mib = is_b ? 3 : 1;

		/* 256 packets a MiB, with 26 bytes each. */
		assert_int_equal(number_at(&o, "job links", i, "bytes"), mib * 256 * 4122);
		if (strcmp(text_at(&o, "job links", i, "link"), "s1-0:5") != 0)
			continue;
		bytes[is_b] = mib;
		share[is_b] = outcome_cell(&o, "job links", i, "share")->real;
	}
	assert_int_equal(bytes[0], 1);
	assert_int_equal(bytes[1], 3);
	assert_float_equal(share[0], 25, 1e-9);
	assert_float_equal(share[1], 75, 1e-9);
	results_free(o.results);
}

/* ---- times -------------------------------------------------------------- */

/* Spans follow each other; what a rank did is all of its time. */
static void check_timeline(const struct outcome *o, uint64_t ranks)
{
	static const char *const doing[] = { "compute", "send", "receive", "wait" };
	hd_time *at = hd_alloc(ranks, sizeof(*at));
	hd_time *busy = hd_alloc(ranks, sizeof(*busy));

	for (size_t i = 0; i < rows(o, "rank timeline"); i++) {
		uint64_t rank = number_at(o, "rank timeline", i, "rank");
		hd_time sum = at[rank];

		assert_int_equal(outcome_time(o, "rank timeline", i, "begin"), at[rank]);
		for (unsigned k = 0; k < 4; k++)
			sum += outcome_time(o, "rank timeline", i, doing[k]);
		at[rank] = outcome_time(o, "rank timeline", i, "end");
		assert_int_equal(sum, at[rank]);
		busy[rank] += outcome_time(o, "rank timeline", i, "compute");
	}
	for (uint64_t i = 0; i < ranks; i++) {
		assert_int_equal(at[i] / 1000, outcome_time(o, "ranks", i, "end") / 1000);
		assert_int_equal(busy[i], outcome_time(o, "ranks", i, "busy"));
	}
	free(at);
	free(busy);
}

static void a_timeline_has_all_of_the_time(void **state)
{
	struct outcome o = run_on(
		HDR_STAR("4") "jobs: [{name: a, program: [{compute: 1us}, {alltoall: 64KiB}]}]\n",
		1);

	(void)state;
	check_timeline(&o, 4);
	/* 1 us of computing; then 3 rounds, each sends until its last byte has
	 * left, and waits for the way: some of it with packets arriving. */
	assert_int_equal(outcome_time(&o, "rank timeline", 0, "compute"), HD_US);
	assert_int_equal(outcome_time(&o, "rank timeline", 1, "send"), 16 * PACKET);
	assert_int_equal(outcome_time(&o, "rank timeline", 2, "receive"), 110 * HD_NS);
	results_free(o.results);
}

static void a_long_timeline_has_all_of_the_time(void **state)
{
	struct outcome o = run_on(
		HDR_STAR(
			"4") "jobs: [{name: a, repeat: 1000, program: [{compute: 100ns}, {alltoall: 64}]}]\n",
		1);

	(void)state;
	assert_true(rows(&o, "rank timeline") <= 4 * 512);
	check_timeline(&o, 4);
	results_free(o.results);
}

/* ---- pairs -------------------------------------------------------------- */

static void pairs_have_all_bytes(void **state)
{
	struct outcome o = run_on(
		HDR_STAR("8") "jobs: [{name: a, program: [{allreduce: 64KiB, algorithm: ring}]}]\n",
		1);

	(void)state;
	assert_int_equal(rows(&o, "job pairs"), 8);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(number_at(&o, "job pairs", i, "bytes"), 2 * 7 * 8192);
	assert_string_equal(text_at(&o, "job pairs", 7, "from"), "rank 7");
	assert_string_equal(text_at(&o, "job pairs", 7, "to"), "rank 0");
	results_free(o.results);
}

/* 64 of them are still listed separately. */
static void few_are_listed_separately(void **state)
{
	struct outcome o = run_on(
		"fabric: {topology: {kind: xgft, down: \"4,16\", up: \"1,4\"}, link: {rate: 4x HDR}}\n"
		"jobs: [{name: a, program: [{shift: 1000}]}]\n",
		1);

	(void)state;
	assert_int_equal(rows(&o, "job pairs"), 63);
	assert_string_equal(text_at(&o, "job pairs", 62, "from"), "rank 62");
	assert_string_equal(text_at(&o, "job pairs", 62, "to"), "rank 63");
	results_free(o.results);
}

/* 72 ranks on 18 leaves of 4: a ring stays on a leaf but for its last. */
static void many_are_sorted_by_leaf(void **state)
{
	struct outcome o = run_on(
		"fabric: {topology: {kind: xgft, down: \"4,18\", up: \"1,4\"}, link: {rate: 4x HDR}}\n"
		"jobs: [{name: a, program: [{shift: 1000}]}]\n",
		1);

	(void)state;
	assert_int_equal(rows(&o, "job pairs"), 17 + 18);
	for (size_t i = 0; i < 35; i++) {
		bool within = strcmp(text_at(&o, "job pairs", i, "from"),
				     text_at(&o, "job pairs", i, "to")) == 0;

		assert_int_equal(number_at(&o, "job pairs", i, "bytes"), within ? 3000 : 1000);
	}
	assert_string_equal(text_at(&o, "job pairs", 0, "from"), "s1-0");
	results_free(o.results);
}

static void a_multicast_goes_to_each(void **state)
{
	struct outcome o = run_on(
		HDR_STAR(
			"6") "jobs: [{name: a, program: [{broadcast: 1KiB, algorithm: multicast}]}]\n",
		1);

	(void)state;
	assert_int_equal(rows(&o, "job pairs"), 5);
	results_free(o.results);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_has_no_gaps),
		cmocka_unit_test(the_link_that_it_waits_for_is_named),
		cmocka_unit_test(sent_messages_wait_for_no_link),
		cmocka_unit_test(a_line_is_no_wait_for_links),
		cmocka_unit_test(long_paths_have_a_remark_on_their_begin),
		cmocka_unit_test(links_know_what_they_carried_for_whom),
		cmocka_unit_test(a_timeline_has_all_of_the_time),
		cmocka_unit_test(a_long_timeline_has_all_of_the_time),
		cmocka_unit_test(pairs_have_all_bytes),
		cmocka_unit_test(few_are_listed_separately),
		cmocka_unit_test(many_are_sorted_by_leaf),
		cmocka_unit_test(a_multicast_goes_to_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
