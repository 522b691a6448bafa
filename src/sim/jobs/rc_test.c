/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs over queue pairs (docs/timing-rules.md, J14): exact to the picosecond. */
#include "sim/jobs/run_for_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "base/strbuf.h"
#include "sim/jobs/jobs_internal.h"

/* ---- closed forms -------------------------------------------------------- */

#define BYTE  40            /* ps, on 4x HDR */
#define WAY   (110 * HD_NS) /* two cables of 5 ns, a switch with 80 + 20 */
#define PIECE (1 << 20)

static uint64_t packets_of(uint64_t bytes)
{
	return bytes ? (bytes + 4095) / 4096 : 1;
}

/*
 * Q1 and J14: packets of 4096 bytes with 26 more, the last padded to a multiple
 * of 4 and with 4 more for the message's number; SENDs of 1 MiB.
 */
static hd_time link_time(uint64_t bytes)
{
	hd_time sum = 0;

	do {
		uint64_t piece = bytes < PIECE ? bytes : PIECE;

		sum += BYTE * ((piece + 3) / 4 * 4 + 26 * packets_of(piece) + 4);
		bytes -= piece;
	} while (bytes);
	return sum;
}

/* From its posting until it is there. */
static hd_time message(uint64_t bytes)
{
	return WAY + link_time(bytes);
}

static const hd_time ack_link = BYTE * 30;
static const hd_time ack = WAY + BYTE * 30;

/* ---- running one --------------------------------------------------------- */

#define STAR                                                        \
	"fabric: {topology: {kind: star, hosts: %u}, link: {rate: " \
	"4x HDR}}\njobs:\n"

static struct outcome star(uint32_t hosts, const char *job)
{
	char text[1024];

	snprintf(text, sizeof(text), STAR "- {name: a, transport: rc, %s}\n", hosts, job);
	return run_on(text, 1);
}

static hd_time star_time(uint32_t hosts, const char *job)
{
	struct outcome o = star(hosts, job);

	assert_true(o.well);
	results_free(o.results);
	return o.completion[0];
}

static hd_time of_step(uint32_t p, const char *format, uint64_t m)
{
	char step[128], job[256];

	snprintf(step, sizeof(step), format, (unsigned long long)m);
	snprintf(job, sizeof(job), "program: [{%s}]", step);
	return star_time(p, job);
}

/* A send is done when its last packet is acknowledged. */
static void a_message_takes_its_packets_and_an_ack(void **state)
{
	static const uint64_t sizes[] = { 0,         1,     5,     4096,      4097,         9000,
					  16 * 4096, 70001, PIECE, PIECE + 1, 3 * PIECE + 5 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		assert_int_equal(of_step(2, "shift: %llu", sizes[i]), message(sizes[i]) + ack);
}

/*
 * Every round ends with the acknowledgement of its messages, which is sent when the message of the
 * round has arrived.
 */
static void rounds_take_an_ack_more(void **state)
{
	static const uint32_t counts[] = { 2, 3, 4, 5, 7, 8, 13, 16 };

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		uint32_t p = counts[i];
		uint64_t each = 3001;

		assert_int_equal(of_step(p, "allreduce: %llu", each * p),
				 2 * (p - 1) * (message(each) + ack));
		assert_int_equal(of_step(p, "allgather: %llu", 9000),
				 (p - 1) * (message(9000) + ack));
		assert_int_equal(of_step(p, "alltoall: %llu", 9000),
				 (p - 1) * (message(9000) + ack));
		assert_int_equal(of_step(p, "barrier: %llu", 0), levels(p) * (message(0) + ack));
	}
}

static void hosts_and_rendezvous_cost(void **state)
{
	const hd_time one = message(4096) + ack;
	const struct {
		const char *with;
		hd_time time;
	} rows[] = {
		{ "overhead: 1us", message(4096) + 2 * HD_US },
		{ "gap: 1us", one },
		{ "gap: 1us, repeat: 3", 2 * HD_US + one },
		{ "repeat: 3", 3 * one },
		{ "eager: 4096", one },
		/*
		 * The receiver acknowledges the request before it grants it, and the grant arrives
		 * before the data.
		 */
		{ "eager: 4095", 2 * (message(0) + ack_link) + one },
	};
	char job[256];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(job, sizeof(job), "program: [{shift: 4096}], %s", rows[i].with);
		assert_int_equal(star_time(2, job), rows[i].time);
	}
}

/* The server acknowledges before it answers; then the rank is done. */
static void requests_of_servers_go_over_queue_pairs(void **state)
{
	(void)state;
	assert_int_equal(star_time(2, "ranks: 1, program: [{write: 9000, to: h1}]"),
			 message(9000) + ack_link + message(0));
	assert_int_equal(star_time(2, "ranks: 1, program: [{read: 9000, to: h1}]"),
			 message(0) + ack_link + message(9000));
}

/* Packets with a GRH; the root is done when they have left. */
static void multicasts_stay_plain(void **state)
{
	(void)state;
	assert_int_equal(of_step(4, "broadcast: %llu, algorithm: multicast", 9000),
			 WAY + BYTE * (9000 + 3 * 66));
}

static uint64_t counted(const struct outcome *o, const char *column)
{
	return outcome_cell(o, "job queue pairs", 0, column)->u;
}

static void what_is_sent_is_counted(void **state)
{
	struct outcome o = star(4, "program: [{allreduce: 12000}, {shift: 3MiB}]");

	(void)state;
	/* Around the ring, three of which the shift uses too. */
	assert_int_equal(counted(&o, "pairs"), 4);
	assert_int_equal(counted(&o, "sends"), 4 * 2 * 3 + 3 * 3);
	assert_int_equal(counted(&o, "retries"), 0);
	assert_int_equal(counted(&o, "broken"), 0);
	results_free(o.results);
}

/* Packets one way, an acknowledgement the other, over two links each. */
static void links_carry_acknowledgements_too(void **state)
{
	struct outcome o = star(2, "program: [{shift: 9000}]");
	const uint64_t bytes[] = { 9000 + 3 * 26 + 4, 9000 + 3 * 26 + 4, 30, 30 };

	(void)state;
	assert_int_equal(table_rows(outcome_table(&o, "job links")), 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(outcome_cell(&o, "job links", i, "bytes")->u, bytes[i]);
	results_free(o.results);
}

/* ---- faults -------------------------------------------------------------- */

static const char *problem(const struct outcome *o, size_t row)
{
	return outcome_cell(o, "failed operations", row, "problem")->text;
}

/* One packet in 30 is lost on each link. */
#define ERRORS                                                                 \
	"fabric: {topology: {kind: xgft, down: \"4,4\", up: \"1,2\"}, link: "  \
	"{rate: 4x HDR}}\nfaults: {ber: 1e-6}\njobs:\n- {name: a, ranks: 16, " \
	"place: random, program: [{allreduce: 512KiB}, {alltoall: 9000, "      \
	"algorithm: linear}], transport: %s}\n"

static void bit_errors_are_repaired(void **state)
{
	char text[512];

	(void)state;
	snprintf(text, sizeof(text), ERRORS, "plain");
	struct outcome plain = run_on(text, 1);

	assert_false(plain.well);
	assert_int_equal(plain.completion[0], HD_TIME_NEVER);
	assert_string_equal(problem(&plain, 0), "packets of it are lost");
	results_free(plain.results);
	snprintf(text, sizeof(text), ERRORS, "rc, ack_timeout: 33us");
	struct outcome rc = run_on(text, 1);

	assert_true(rc.well);
	assert_true(counted(&rc, "retries") > 0);
	assert_int_equal(counted(&rc, "broken"), 0);
	/* 30 rounds of a ring, and one in which all send to all. */
	assert_int_equal(counted(&rc, "sends"), 16 * 30 + 16 * 15);
	results_free(rc.results);
}

static void parts_compute_the_same(void **state)
{
	char text[512];

	(void)state;
	snprintf(text, sizeof(text), ERRORS, "rc, ack_timeout: 33us, gap: 1us");
	struct outcome one = run_on(text, 1);

	for (uint32_t parts = 2; parts <= 4; parts++) {
		struct outcome more = run_on(text, parts);

		assert_int_equal(one.completion[0], more.completion[0]);
		assert_int_equal(one.checksum, more.checksum);
		outcome_same(&one, &more);
		results_free(more.results);
	}
	results_free(one.results);
}

#define RANKS    4u
#define MESSAGES 60

/*
 * Messages of any size between any ranks, in an order that all ranks follow, so that they complete
 * whichever ranks wait.
 */
static void draw_goal(struct rng *rng, struct strbuf *out)
{
	struct strbuf ops[RANKS];
	unsigned n[RANKS] = { 0 };

	for (unsigned r = 0; r < RANKS; r++)
		ops[r] = (struct strbuf)STRBUF_INIT;
	for (unsigned i = 0; i < MESSAGES; i++) {
		unsigned from = (unsigned)rng_below(rng, RANKS);
		unsigned to = (from + 1 + (unsigned)rng_below(rng, RANKS - 1)) % RANKS;
		unsigned size = (unsigned)rng_below(rng, 3) * (unsigned)rng_below(rng, 40000);

		strbuf_printf(&ops[from], "l%u: send %ub to %u tag %u\n", n[from]++, size, to, i);
		strbuf_printf(&ops[to], "l%u: recv %ub from %u tag %u\n", n[to]++, size, from, i);
		if (n[to] > 1 && rng_below(rng, 2))
			strbuf_printf(&ops[to], "l%u requires l%u\n", n[to] - 1, n[to] - 2);
	}
	strbuf_printf(out, "num_ranks %u\n", RANKS);
	for (unsigned r = 0; r < RANKS; r++) {
		strbuf_printf(out, "rank %u {\n%s}\n", r, ops[r].text ? ops[r].text : "");
		strbuf_fini(&ops[r]);
	}
}

/* The job's row of table "jobs". */
static uint64_t of_job(const struct outcome *o, const char *column)
{
	return outcome_cell(o, "jobs", 0, column)->u;
}

/* Queue pairs with losses transfer the same messages as a run without either. */
static void any_graph_comes_to_its_end(void **state)
{
	static const char rc[] = "transport: rc, ack_timeout: 33us, eager: 16KiB, ";
	uint64_t retries = 0;

	(void)state;
	for (unsigned i = 0; i < cases_of_run(40, 2000); i++) {
		struct strbuf goal = STRBUF_INIT;
		struct rng rng;

		rng_init(&rng, 19, i);
		draw_goal(&rng, &goal);
		struct outcome plain = run_goal("eager: 16KiB, ", goal.text, "");
		struct outcome o = run_goal(rc, goal.text, "faults: {ber: 3e-7}");

		assert_true(plain.well);
		assert_true(o.well);
		assert_int_equal(of_job(&o, "messages"), of_job(&plain, "messages"));
		assert_int_equal(of_job(&o, "bytes"), of_job(&plain, "bytes"));
		retries += counted(&o, "retries");
		results_free(plain.results);
		results_free(o.results);
		strbuf_fini(&goal);
	}
	assert_true(retries > 0);
}

/*
 * J6, J14: a queue pair from each sender to its target, and one back if a message is longer than
 * `eager`. Ranks only send to higher ranks, so no other queue pairs exist.
 */
static void ways_are_those_of_messages(void **state)
{
	enum { EAGER = 4096 };
	static const unsigned sizes[] = { 0, EAGER - 1, EAGER, EAGER + 1, 3 * EAGER };
	unsigned n_cases = cases_of_run(40, 1000);

	(void)state;
	for (unsigned i = 0; i < n_cases; i++) {
		struct strbuf ops[RANKS], goal = STRBUF_INIT;
		bool expected[RANKS][RANKS] = { { false } };
		size_t n = 0, at = 0;
		char text[512];
		struct rng rng;

		rng_init(&rng, 23, i);
		for (unsigned r = 0; r < RANKS; r++)
			ops[r] = (struct strbuf)STRBUF_INIT;
		for (unsigned k = 1 + (unsigned)rng_below(&rng, 6); k > 0; k--) {
			unsigned from = (unsigned)rng_below(&rng, RANKS - 1);
			unsigned to = from + 1 + (unsigned)rng_below(&rng, RANKS - 1 - from);
			unsigned size = sizes[rng_below(&rng, 5)];

			strbuf_printf(&ops[from], "send %ub to %u tag %u\n", size, to, k);
			strbuf_printf(&ops[to], "recv %ub from %u tag %u\n", size, from, k);
			expected[from][to] = true;
			expected[to][from] |= size > EAGER;
		}
		strbuf_printf(&goal, "num_ranks %u\n", RANKS);
		for (unsigned r = 0; r < RANKS; r++) {
			strbuf_printf(&goal, "rank %u {\n%s}\n", r, ops[r].text ? ops[r].text : "");
			strbuf_fini(&ops[r]);
		}
		char *path = goal_file(goal.text);

		snprintf(text, sizeof(text),
			 STAR "- {name: a, transport: rc, eager: %d, goal: %s}\n", RANKS, EAGER,
			 path);
		struct course c = course_new(text, &(struct sim_rules){ .parts = 1 });
		const struct placed_job *p = &c.jobs->placed[0];

		for (uint64_t s = 0; s < RANKS; s++)
			for (uint64_t t = 0; t < RANKS; t++)
				n += expected[s][t];
		assert_int_equal(p->n_ways, n);
		for (uint64_t s = 0; s < RANKS; s++)
			for (uint64_t t = 0; t < RANKS; t++)
				if (expected[s][t])
					assert_int_equal(p->ways[at++], s << 32 | t);
		course_end(&c);
		struct outcome o = run_on(text, 1);

		assert_true(o.well);
		results_free(o.results);
		unlink(path);
		free(path);
		strbuf_fini(&goal);
	}
}

/*
 * The cable of h1 fails before the packet is on it, and is back 100 us
 * later. The timer of 65.536 us runs out while it is down and once more: what
 * is sent the second time is there.
 */
#define FAILS                                                                \
	"fabric: {topology: {kind: star, hosts: 2}, link: {rate: 4x HDR}}\n" \
	"faults: {events: [{at: 100ns, kind: link-down, port: h1:1}%s]}\n"   \
	"jobs:\n- {name: a, program: [{shift: 4096}], transport: %s}\n"

static void a_link_that_comes_back_costs_time(void **state)
{
	static const char back[] = ", {at: 100us, kind: link-up, port: h1:1}";
	const hd_time timeout = 65536 * HD_NS;
	char text[512];

	(void)state;
	snprintf(text, sizeof(text), FAILS, back, "plain");
	struct outcome plain = run_on(text, 1);

	assert_false(plain.well);
	results_free(plain.results);
	snprintf(text, sizeof(text), FAILS, back, "rc, ack_timeout: 65us");
	struct outcome rc = run_on(text, 1);

	assert_true(rc.well);
	assert_int_equal(rc.completion[0], 2 * timeout + message(4096) + ack);
	assert_int_equal(counted(&rc, "retries"), 2);
	results_free(rc.results);
}

/* Q4: after 7 times without progress the queue pair gives up. */
static void a_link_that_stays_away_is_named(void **state)
{
	char text[512];

	(void)state;
	snprintf(text, sizeof(text), FAILS, "", "rc, ack_timeout: 65us");
	struct outcome o = run_on(text, 1);

	assert_false(o.well);
	assert_int_equal(counted(&o, "broken"), 1);
	assert_int_equal(counted(&o, "retries"), 7);
	assert_string_equal(problem(&o, 0), "its queue pair gave up");
	assert_int_equal(outcome_cell(&o, "failed operations", 0, "rank")->u, 0);
	results_free(o.results);
}

/* ---- with other traffic ------------------------------------------------------- */

static void jobs_apart_do_not_meet(void **state)
{
	static const char text[] =
		"fabric: {topology: {kind: star, hosts: 4}, link: {rate: 4x HDR}}\njobs:\n"
		"- {name: a, transport: rc, on: \"h0,h1\", program: [{shift: 9000}]}\n"
		"- {name: b, on: \"h2,h3\", program: [{shift: 9000}]}\n"
		"- {name: c, transport: rc, on: \"h2,h3\", start: 1ms, program: [{shift: 9000}]}\n";
	struct outcome o = run_on(text, 1);

	(void)state;
	assert_true(o.well);
	assert_int_equal(o.completion[0], message(9000) + ack);
	assert_int_equal(o.completion[1], WAY + BYTE * (9000 + 3 * 26));
	assert_int_equal(o.completion[2], o.completion[0]);
	/* Between two of them only. */
	assert_int_equal(table_rows(outcome_table(&o, "job queue pairs")), 2);
	results_free(o.results);
}

/*
 * 32 packets to rank 1 and then 32 to rank 2. The adapter has room for 16 of
 * the first (Q2); then the two queue pairs take turns, 16 of either, and the
 * rest is all of the second.
 */
static void messages_share_a_port(void **state)
{
	struct outcome o = run_goal("transport: rc, ",
				    "num_ranks 3\n"
				    "rank 0 {\n"
				    "send 131072b to 1\n"
				    "send 131072b to 2\n}\n"
				    "rank 1 {\nrecv 131072b from 0\n}\n"
				    "rank 2 {\nrecv 131072b from 0\n}\n",
				    "");
	const hd_time packet = BYTE * (4096 + 26);

	(void)state;
	assert_true(o.well);
	/* The 16 from the 17th on of the first, each but the last with one of
	 * the second behind it. */
	assert_int_equal(outcome_time(&o, "ranks", 1, "end"), WAY + (16 + 31) * packet + BYTE * 4);
	assert_int_equal(outcome_time(&o, "ranks", 2, "end"), WAY + 64 * packet + BYTE * 8);
	assert_int_equal(o.completion[0], WAY + 64 * packet + BYTE * 8 + ack);
	results_free(o.results);
}

/*
 * Q3: of 300 messages without payload, 128 are in flight; each acknowledgement admits another one,
 * and packets and acknowledgements have the same size.
 */
static void many_wait_for_acknowledgements(void **state)
{
	const hd_time around = message(0) + ack;
	struct strbuf goal = STRBUF_INIT;

	(void)state;
	strbuf_puts(&goal, "num_ranks 2\nrank 0 {\n");
	for (unsigned i = 0; i < 300; i++)
		strbuf_puts(&goal, "send 0b to 1\n");
	strbuf_puts(&goal, "}\nrank 1 {\n");
	for (unsigned i = 0; i < 300; i++)
		strbuf_puts(&goal, "recv 0b from 0\n");
	strbuf_puts(&goal, "}\n");
	struct outcome o = run_goal("transport: rc, ", goal.text, "");

	assert_true(o.well);
	assert_int_equal(o.completion[0], 3 * around + (300 - 1 - 2 * 128) * ack_link);
	results_free(o.results);
	strbuf_fini(&goal);
}

#define RAILS                                                                \
	"fabric:\n  topology: {kind: rail, rails: 4, units: 1, hosts: 2, "   \
	"spines: 2}\n  link: {rate: 4x HDR}\n  intra_host: {rate: 3.6Tb/s, " \
	"latency: 500ns}\njobs:\n- {name: a, transport: rc, rails: %s, "     \
	"program: [{alltoall: 4096}]}\n"

/*
 * No queue pairs inside hosts (J12), and with peers only those of a rail (J13): 8 ranks, of which 4
 * are on other hosts.
 */
static void rails_have_queue_pairs_of_their_own(void **state)
{
	static const struct {
		const char *rails;
		uint64_t pairs;
	} rows[] = { { "own", 8 * 4 }, { "peer", 8 } };
	char text[512];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), RAILS, rows[i].rails);
		struct outcome o = run_on(text, 1);

		assert_true(o.well);
		assert_int_equal(counted(&o, "pairs"), rows[i].pairs);
		assert_int_equal(counted(&o, "sends"), 8 * 4);
		results_free(o.results);
	}
}

/* J14: the adapter delivers messages to a server at its own port. */
static void servers_at_home_take_no_time(void **state)
{
	(void)state;
	assert_int_equal(star_time(2, "ranks: 1, program: [{write: 9000, to: h0}]"), 0);
}

/*
 * A2: h0 is a full member of the partition, h1 and h2 are limited ones, h3 is
 * none. Who may not talk waits for ever, over queue pairs or without.
 */
static void partitions_keep_jobs_apart(void **state)
{
	static const struct {
		const char *on, *partition;
		bool passes, passes_enforced;
	} cases[] = {
		{ "h0, h1", ", partition: p", true, true },
		{ "h1, h0", ", partition: p", true, true },
		{ "h1, h2", ", partition: p", false, false },
		{ "h0, h3", ", partition: p", false, false },
		/* Its port lacks the key, which only a switch checks. */
		{ "h3, h0", ", partition: p", true, false },
		{ "h1, h2", "", true, true },
		{ "h0, h3", "", true, true },
	};

	(void)state;
	for (size_t i = 0; i < 4 * sizeof(cases) / sizeof(*cases); i++) {
		bool is_rc = i & 1, enforced = i & 2;
		char text[1024];

		snprintf(
			text, sizeof(text),
			"fabric: {topology: {kind: star, hosts: 4}}\nqos:\n"
			"  enforce: %s\n  partitions: [{name: p, key: 5, full: h0, limited: [h1, h2]}]\njobs:\n- {name: a, transport: %s, ranks: 2, on: [%s]%s, program: [{shift: 100}]}\nrun: {horizon: 20ms}\n",
			enforced ? "true" : "false", is_rc ? "rc" : "plain", cases[i / 4].on,
			cases[i / 4].partition);
		struct outcome o = run_on(text, 1);
		bool passes = enforced ? cases[i / 4].passes_enforced : cases[i / 4].passes;

		/* Responses have a full member's key, and h3 is not one. */
		if (is_rc && strcmp(cases[i / 4].on, "h3, h0") == 0)
			passes = passes && !*cases[i / 4].partition;
		if (o.well != passes)
			fail_msg("%s", text);
		results_free(o.results);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_takes_its_packets_and_an_ack),
		cmocka_unit_test(rounds_take_an_ack_more),
		cmocka_unit_test(hosts_and_rendezvous_cost),
		cmocka_unit_test(requests_of_servers_go_over_queue_pairs),
		cmocka_unit_test(multicasts_stay_plain),
		cmocka_unit_test(what_is_sent_is_counted),
		cmocka_unit_test(links_carry_acknowledgements_too),
		cmocka_unit_test(bit_errors_are_repaired),
		cmocka_unit_test(parts_compute_the_same),
		cmocka_unit_test(any_graph_comes_to_its_end),
		cmocka_unit_test(ways_are_those_of_messages),
		cmocka_unit_test(a_link_that_comes_back_costs_time),
		cmocka_unit_test(a_link_that_stays_away_is_named),
		cmocka_unit_test(jobs_apart_do_not_meet),
		cmocka_unit_test(messages_share_a_port),
		cmocka_unit_test(many_wait_for_acknowledgements),
		cmocka_unit_test(rails_have_queue_pairs_of_their_own),
		cmocka_unit_test(servers_at_home_take_no_time),
		cmocka_unit_test(partitions_keep_jobs_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
