/* SPDX-License-Identifier: BSD-2-Clause */
#include "workload/ideal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "workload/place.h"

#define LATENCY (100 * HD_NS)

static struct opgraph parse(const char *text)
{
	char *copy = hd_strdup(text);
	FILE *in = fmemopen(copy, strlen(copy), "r");
	struct diag d = { .status = HD_OK };
	struct opgraph g;

	assert_int_equal(opgraph_read(in, &d, &g), HD_OK);
	fclose(in);
	free(copy);
	return g;
}

/* A byte takes 1 ns, and the latency is 100 ns. */
static struct ideal_result run(const char *text, const struct job *like)
{
	const struct ideal_net net = { LATENCY, { UINT64_C(8000000000), 1 } };
	struct opgraph g = parse(text);
	struct diag d = { .status = HD_OK };
	struct job j = *like;
	struct ideal_result found;

	j.n_ranks = g.n_ranks;
	j.graph = &g;
	j.n_steps = 1;
	j.repeat = j.repeat ? j.repeat : 1;
	j.n_cpus = 4;
	assert_int_equal(ideal_run(&j, &net, &d, &found), HD_OK);
	opgraph_fini(&g);
	return found;
}

static hd_time time_of(const char *text)
{
	const struct job plain = { 0 };

	struct ideal_result found = run(text, &plain);
	hd_time completion = found.completion;

	ideal_result_fini(&found);
	return completion;
}

static void dependencies_are_kept(void **state)
{
	(void)state;
	/* Both ready at once on one CPU: one after the other. */
	assert_int_equal(time_of("num_ranks 1 rank 0 { calc 10 calc 20 }"), 30 * HD_NS);
	assert_int_equal(time_of("num_ranks 1 rank 0 { calc 10 calc 20 cpu 1 }"), 20 * HD_NS);
	assert_int_equal(time_of("num_ranks 1 rank 0 { a: calc 10 b: calc 20 cpu 1 b requires a }"),
			 30 * HD_NS);
	/* The start of the other is enough. */
	assert_int_equal(
		time_of("num_ranks 1 rank 0 { a: calc 10 b: calc 20 cpu 1 b irequires a }"),
		20 * HD_NS);
	/* a starts when the CPU takes it, at 5. */
	assert_int_equal(
		time_of("num_ranks 1 rank 0 { z: calc 5 a: calc 10 b: calc 20 cpu 1 b irequires a }"),
		25 * HD_NS);
}

static void messages_take_their_time(void **state)
{
	(void)state;
	assert_int_equal(time_of("num_ranks 2 rank 0 { send 50b to 1 } rank 1 { recv 50b from 0 }"),
			 150 * HD_NS);
	/* A send is done when its last byte has left. */
	assert_int_equal(
		time_of("num_ranks 2 rank 0 { a: send 50b to 1 b: calc 500 b requires a } rank 1 { recv 50b from 0 }"),
		550 * HD_NS);
	/* Size 0 is a message. */
	assert_int_equal(time_of("num_ranks 2 rank 0 { send 0b to 1 } rank 1 { recv 0b from 0 }"),
			 100 * HD_NS);
}

static void hosts_cost_what_they_say(void **state)
{
	const struct job costly = { .overhead = 7 * HD_NS, .per_byte = 2 * HD_NS };

	(void)state;
	/* 7 + 2 * 10 on each side. */
	assert_int_equal(
		run("num_ranks 2 rank 0 { send 10b to 1 } rank 1 { recv 10b from 0 }", &costly)
			.completion,
		(27 + 110 + 27) * HD_NS);
	/* The receiver's CPU is at work until 500. */
	assert_int_equal(
		run("num_ranks 2 rank 0 { send 10b to 1 } rank 1 { recv 10b from 0 calc 500 }",
		    &costly)
			.completion,
		527 * HD_NS);
}

/* Rank 1 computes long enough for both messages to wait, the one of 30 bytes
 * first; the completion time shows which receive took which. */
static void receives_take_messages_in_order(void **state)
{
	(void)state;
	/* The first receive matches the first message, whatever its size. */
	assert_int_equal(
		time_of("num_ranks 2\n"
			"rank 0 { a: send 30b to 1 tag 5 b: send 10b to 1 tag 5 b requires a }\n"
			"rank 1 { r: recv 99b from 0 tag 5 s: recv 99b from 0 tag 5 c: calc 1000 c requires r }\n"),
		1130 * HD_NS);
	/* A tag picks the second one. */
	assert_int_equal(
		time_of("num_ranks 2\n"
			"rank 0 { a: send 30b to 1 tag 5 b: send 10b to 1 tag 6 b requires a }\n"
			"rank 1 { r: recv 99b from 0 tag 6 s: recv 99b from 0 tag 5 c: calc 1000 c requires r }\n"),
		1140 * HD_NS);
	/* A receive from any source matches the first arrival. */
	assert_int_equal(
		time_of("num_ranks 2\n"
			"rank 0 { a: send 30b to 1 tag 5 b: send 10b to 1 tag 6 b requires a }\n"
			"rank 1 { r: recv 99b from -1 tag -1 s: recv 99b from 0 tag -1 c: calc 1000 c requires r }\n"),
		1130 * HD_NS);
}

/* A ring of nine that uses one tag, with all receives posted at once: file
 * order is posting order. */
static void a_ring_with_one_tag_ends(void **state)
{
	struct strbuf text = STRBUF_INIT;
	const uint32_t p = 9;

	(void)state;
	strbuf_printf(&text, "num_ranks %u\n", p);
	for (uint32_t r = 0; r < p; r++) {
		strbuf_printf(&text, "rank %u {\n", r);
		for (uint32_t k = 0; k < 2 * (p - 1); k++) {
			strbuf_printf(&text,
				      "s%u: send %ub to %u tag 1\n"
				      "r%u: recv %ub from %u tag 1\n",
				      k, 10 + k, (r + 1) % p, k, 10 + k, (r + p - 1) % p);
			if (k)
				strbuf_printf(&text, "s%u requires r%u\n", k, k - 1);
		}
		strbuf_puts(&text, "}\n");
	}
	hd_time sum = 0;

	for (uint32_t k = 0; k < 2 * (p - 1); k++)
		sum += (100 + 10 + k) * HD_NS;
	assert_int_equal(time_of(text.text), sum);
	strbuf_fini(&text);
}

static void names_the_failing_operation(void **state)
{
	const struct job plain = { 0 };
	struct ideal_result r = run("num_ranks 2\n"
				    "rank 0 { send 1b to 1 tag 3\n"
				    "send 9b to 1 tag 5\n"
				    "}\n"
				    "rank 1 { recv 8b from 0 tag 5\n"
				    "recv 1b from 0 tag 4\n"
				    "}\n",
				    &plain);

	(void)state;
	assert_true(r.completion == HD_TIME_NEVER);
	assert_int_equal(r.n_done, 1);
	assert_int_equal(r.n_problems, 3);
	assert_int_equal(r.problems[0].rank, 0);
	assert_int_equal(r.problems[0].op.kind, OP_SEND);
	assert_int_equal(r.problems[0].op.line, 2);
	assert_int_equal(r.problems[0].op.peer, 1);
	assert_int_equal(r.problems[1].rank, 1);
	assert_int_equal(r.problems[1].op.line, 5);
	assert_int_equal(r.problems[1].came, 9);
	assert_int_equal(r.problems[1].source, 0);
	assert_int_equal(r.problems[2].op.kind, OP_RECV);
	assert_int_equal(r.problems[2].op.line, 6);
	assert_int_equal(r.problems[2].came, 0);
	ideal_result_fini(&r);
}

__extension__ typedef unsigned __int128 u128;

/* Rank 0 computes and sends, each after the one before, and rank 1 receives the
 * last; how long that takes. */
static u128 draw_chain(struct rng *draws, const struct ideal_net *net, struct strbuf *text)
{
	unsigned n = 1 + (unsigned)rng_below(draws, 20);
	u128 sum = net->latency;

	strbuf_puts(text, "num_ranks 2 rank 0 {\n");
	for (unsigned i = 0; i < n; i++) {
		bool is_last = i + 1 == n;
		bool sends = is_last || rng_below(draws, 2);
		uint64_t size = rng_next(draws) >> (sends ? 24 : 14) >> rng_below(draws, 20);

		strbuf_printf(text, "l%u: %s %llu", i, sends ? "send" : "calc",
			      (unsigned long long)size);
		if (sends)
			strbuf_printf(text, " to 1 tag %d", is_last);
		if (i)
			strbuf_printf(text, " l%u requires l%u", i, i - 1);
		strbuf_putc(text, '\n');
		sum += sends ? hd_rate_duration(net->rate, size) : (u128)size * 1000;
	}
	strbuf_printf(text, "} rank 1 { recv %llu from 0 tag 1 }\n",
		      (unsigned long long)OP_MOST_SIZE);
	return sum;
}

/* The sum of all times, if that is one that is counted, or a refusal that names
 * a line; never a sum that went round. True if it was refused. */
static bool is_refused(const char *text, const struct ideal_net *net, u128 sum)
{
	struct opgraph g = parse(text);
	const struct job j = { .n_ranks = 2, .graph = &g, .n_steps = 1, .repeat = 1, .n_cpus = 1 };
	struct diag d = { .status = HD_OK };
	struct ideal_result found = { 0 };
	enum hd_status status = ideal_run(&j, net, &d, &found);

	if (sum > (u128)1 << 63) {
		assert_int_equal(status, HD_ERR_RANGE);
		assert_in_range(d.line, 2, 21);
	} else {
		assert_int_equal(status, HD_OK);
		assert_true(found.completion == sum);
	}
	ideal_result_fini(&found);
	opgraph_fini(&g);
	return status != HD_OK;
}

static void times_never_wrap(void **state)
{
	struct rng draws;
	unsigned n_refused = 0;

	(void)state;
	rng_init(&draws, 63, 1);
	for (unsigned n = 0; n < 400; n++) {
		const struct ideal_net net = { rng_below(&draws, 8) ? LATENCY : rng_next(&draws),
					       { UINT64_C(1) << rng_below(&draws, 36), 1 } };
		struct strbuf text = STRBUF_INIT;
		u128 sum = draw_chain(&draws, &net, &text);

		n_refused += is_refused(text.text, &net, sum);
		strbuf_fini(&text);
	}
	assert_in_range(n_refused, 100, 300);
}

static void iterations_do_not_wait_for_other_ranks(void **state)
{
	const struct job thrice = { .repeat = 3 };

	(void)state;
	/* The sender is three messages ahead. */
	assert_int_equal(
		run("num_ranks 2 rank 0 { send 50b to 1 } rank 1 { recv 50b from 0 }", &thrice)
			.completion,
		250 * HD_NS);
}

/* The parts of the path add up, and only what was waited for is in it. */
static void a_path_has_its_causes(void **state)
{
	const struct job plain = { 0 };
	struct ideal_result r = run(
		"num_ranks 2\n"
		"rank 0 { a: calc 40 b: send 50b to 1 b requires a }\n"
		"rank 1 { z: calc 10 r: recv 50b from 0 c: calc 7 c requires r c requires z }\n",
		&plain);

	(void)state;
	assert_int_equal(r.completion, (40 + 150 + 7) * HD_NS);
	assert_int_equal(r.last_rank, 1);
	assert_int_equal(r.path.compute, 47 * HD_NS);
	assert_int_equal(r.path.messages, 150 * HD_NS);
	assert_int_equal(r.path.n_messages, 1);
	r = run("num_ranks 2\n"
		"rank 0 { a: send 50b to 1 b: calc 500 b requires a }\n"
		"rank 1 { recv 50b from 0 }\n",
		&plain);
	assert_int_equal(r.path.sending, 50 * HD_NS);
	assert_int_equal(r.path.compute, 500 * HD_NS);
	assert_int_equal(r.path.messages, 0);
}

static void ranks_are_placed(void **state)
{
	/* Seven hosts on three switches. */
	static const uint32_t leaf[] = { 4, 4, 9, 4, 9, 2, 2 };
	static const uint32_t by_leaf[] = { 0, 1, 3, 2, 4, 5, 6 };
	static const uint32_t in_turn[] = { 0, 2, 5, 1, 4, 6, 3 };
	uint32_t hosts[7], again[7], seen = 0;
	struct rng rng;

	(void)state;
	place_ranks(PLACE_LEAF, leaf, 7, NULL, 7, hosts);
	assert_memory_equal(hosts, by_leaf, sizeof(hosts));
	place_ranks(PLACE_ROUND, leaf, 7, NULL, 7, hosts);
	assert_memory_equal(hosts, in_turn, sizeof(hosts));
	rng_init(&rng, 1, 1);
	place_ranks(PLACE_RANDOM, leaf, 7, &rng, 7, hosts);
	rng_init(&rng, 1, 1);
	place_ranks(PLACE_RANDOM, leaf, 7, &rng, 7, again);
	assert_memory_equal(hosts, again, sizeof(hosts));
	for (unsigned i = 0; i < 7; i++)
		seen |= 1u << hosts[i];
	assert_int_equal(seen, 0x7f);
	place_ranks(PLACE_LINEAR, leaf, 7, NULL, 3, hosts);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(hosts[i], i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dependencies_are_kept),
		cmocka_unit_test(messages_take_their_time),
		cmocka_unit_test(hosts_cost_what_they_say),
		cmocka_unit_test(receives_take_messages_in_order),
		cmocka_unit_test(a_ring_with_one_tag_ends),
		cmocka_unit_test(names_the_failing_operation),
		cmocka_unit_test(times_never_wrap),
		cmocka_unit_test(iterations_do_not_wait_for_other_ranks),
		cmocka_unit_test(a_path_has_its_causes),
		cmocka_unit_test(ranks_are_placed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
