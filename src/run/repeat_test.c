/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs that skip iterations of jobs give the same tables as runs that compute all: random programs
 * on small fabrics, with the settings that determine the state of a run.
 */
#include "run/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "sim/jobs/run_for_tests.h"

static uint32_t below(struct rng *r, uint32_t n)
{
	return (uint32_t)rng_below(r, n);
}

static bool chance(struct rng *r, uint32_t percent)
{
	return below(r, 100) < percent;
}

/* ---- random scenarios ---------------------------------------------------- */

static void put_step(struct strbuf *t, struct rng *r, uint32_t ranks)
{
	static const char *const steps[] = {
		"allreduce: %u, algorithm: ring",
		"allreduce: %u, algorithm: tree, segment: 1500",
		"allreduce: %u, algorithm: rabenseifner",
		"allgather: %u, algorithm: ring",
		"alltoall: %u, algorithm: linear",
		"alltoall: %u, algorithm: pairwise",
		"alltoall: %u, algorithm: bruck",
		"halo: %u",
		"shift: %u",
		"reduce: %u",
		"broadcast: %u, algorithm: binomial",
		"write: %u, to: h0, request: 3000, outstanding: 2",
		"read: %u, to: h1, request: 3000",
	};
	static const uint32_t n_steps = sizeof(steps) / sizeof(*steps);
	uint32_t kind = below(r, n_steps + 4);

	if (kind == n_steps)
		strbuf_puts(t, "barrier: 0");
	else if (kind > n_steps)
		strbuf_printf(t, "compute: %uns", 1 + below(r, 3000));
	else
		/* NOLINTNEXTLINE(clang-diagnostic-format-nonliteral): of a table */
		strbuf_printf(t, steps[kind], 1 + below(r, chance(r, 50) ? 300 : 20000));
	if (kind < 6 && ranks % 2 == 0 && chance(r, 20))
		strbuf_puts(t, ", groups: 2, layout: strides");
}

static void put_job(struct strbuf *t, struct rng *r, uint32_t number)
{
	/* Powers of 2, for all algorithms. */
	uint32_t ranks = chance(r, 50) ? 8 : 4, steps = 1 + below(r, 4);

	strbuf_printf(t, "- {name: j%u, ranks: %u, place: %s, repeat: %u", number, ranks,
		      chance(r, 50) ? "random" : "linear", 6 + below(r, chance(r, 70) ? 20 : 80));
	if (chance(r, 30))
		strbuf_printf(t, ", start: %uns", below(r, 5000));
	if (chance(r, 30))
		strbuf_printf(t, ", overhead: %uns", 1 + below(r, 200));
	if (chance(r, 20))
		strbuf_printf(t, ", gap: %uns", 1 + below(r, 300));
	if (chance(r, 30))
		strbuf_printf(t, ", eager: %u", below(r, 4000));
	if (chance(r, 20))
		strbuf_printf(t, ", per_byte: %ups", 1 + below(r, 100));
	strbuf_puts(t, ", program: [");
	for (uint32_t i = 0; i < steps; i++) {
		strbuf_puts(t, i ? ", {" : "{");
		put_step(t, r, ranks);
		strbuf_puts(t, "}");
	}
	strbuf_puts(t, "]}\n");
}

static char *draw(uint64_t seed)
{
	static const char *const topologies[] = {
		"{kind: star, hosts: 8}",
		"{kind: xgft, down: '2,4', up: '1,2'}",
		"{kind: xgft, down: '2,2,2', up: '1,2,2'}",
		"{kind: mesh, columns: 4, rows: 2, hosts: 1}",
	};
	static const char *const switches[] = {
		"",
		"",
		"",
		", switch: {order: fifo}",
		", switch: {queueing: cioq}",
		", switch: {crossbar_reads: 1}",
		", switch: {arbitration: oldest}",
		", credits: exact",
	};
	static const char *const routings[] = { "minhop", "updn",
						"{engine: minhop, adaptive: load}",
						"{engine: minhop, adaptive: turns}" };
	struct strbuf t = STRBUF_INIT;
	struct rng r;
	uint32_t kind, has, jobs;

	rng_init(&r, seed, 0);
	kind = below(&r, 4);
	has = below(&r, 8);
	jobs = chance(&r, 70) ? 1 : 2;
	strbuf_printf(&t, "fabric: {topology: %s, link: {rate: 4x HDR%s}%s, routing: %s}\njobs:\n",
		      topologies[kind], chance(&r, 30) ? ", propagation: 100ns" : "", switches[has],
		      routings[below(&r, kind == 3 ? 1
					 : has > 2 ? 2
						   : 4)]);
	for (uint32_t i = 0; i < jobs; i++)
		put_job(&t, &r, i);
	strbuf_printf(&t, "run: {seed: %u, warmup: %uns, measure: %s}\n", 1 + below(&r, 9),
		      chance(&r, 70) ? 0 : below(&r, 20000), chance(&r, 85) ? "1s" : "60us");
	return t.text;
}

/* ---- runs ---------------------------------------------------------------- */

/* With options, or leaving out what it can. */
static struct run *open_run(const char *text, uint32_t parts, const struct run_options *options)
{
	const struct run_options always = { .repeat = RUN_REPEAT_ALWAYS };
	struct diag d = { .status = HD_OK };
	struct fabric *fabric;
	struct run *s;

	if (fabric_load(text, strlen(text), "x.yaml", NULL, &d, &fabric) != HD_OK)
		fail_msg("%s\n%s", text, d.message);
	fabric->rules.parts = parts;
	fabric->rules.threads = 1 + parts % 2;
	if (run_open(fabric, options ? options : &always, &d, &s) != HD_OK)
		fail_msg("%s\n%s", text, d.message);
	return s;
}

/* All that is shown of it; closes it. */
static char *tables_of(struct run *s)
{
	struct strbuf out = STRBUF_INIT;
	bool met;
	struct results *r = run_results(s, true, &met);

	strbuf_printf(&out, "%d %d\n", (int)run_state(s), met);
	print_tables(r, &out);
	results_free(r);
	run_close(s);
	return out.text;
}

static void same(const char *text, const char *one, char *other)
{
	size_t at = 0;

	while (one[at] && one[at] == other[at])
		at++;
	if (one[at] != other[at])
		fail_msg("%s\nnot: %.199s\nbut: %.199s", text, one + (at < 60 ? 0 : at - 60),
			 other + (at < 60 ? 0 : at - 60));
	free(other);
}

static char *whole(const char *text)
{
	struct diag d = { .status = HD_OK };
	const struct run_options never = { .repeat = RUN_REPEAT_NEVER };
	struct run *s = open_run(text, 1, &never);
	hd_time period;

	assert_int_equal(run_to_end(s, &d), HD_OK);
	assert_int_equal(run_left_out(s, &period), 0);
	return tables_of(s);
}

/* Number of skipped iterations. */
static uint64_t check(const char *text, const char *one, uint32_t parts)
{
	struct diag d = { .status = HD_OK };
	struct run *s = open_run(text, parts, NULL);
	hd_time period;

	assert_int_equal(run_to_end(s, &d), HD_OK);
	uint64_t n = run_left_out(s, &period);

	same(text, one, tables_of(s));
	return n;
}

/* The same in random pieces, as the page follows a run. */
static void check_pieces(const char *text, const char *one, struct rng *r)
{
	struct diag d = { .status = HD_OK };
	struct run *s = open_run(text, 1 + below(r, 2), NULL);

	while (!run_is_over(s))
		assert_int_equal(
			run_advance(s, sim_now(run_sim(s)) + 1 + rng_below(r, 300 * HD_US), &d),
			HD_OK);
	same(text, one, tables_of(s));
}

/* The same with checkpoints, resumed from the last one. */
static void check_restart(const char *text, const char *one, struct rng *r)
{
	char path[] = "/tmp/repeat-XXXXXX";
	struct run_options o = { .repeat = RUN_REPEAT_ALWAYS,
				 .checkpoint = path,
				 .every_simulated = 100 * HD_US + rng_below(r, HD_MS) };
	struct diag d = { .status = HD_OK };
	hd_time saved;

	close(mkstemp(path));
	struct run *s = open_run(text, 2, &o);

	assert_int_equal(run_to_end(s, &d), HD_OK);
	bool is_saved = run_is_saved(s, &saved);

	same(text, one, tables_of(s));
	o.restart = path;
	if (is_saved) {
		s = open_run(text, 1, &o);
		assert_int_equal(run_to_end(s, &d), HD_OK);
		same(text, one, tables_of(s));
	}
	unlink(path);
}

static void random_programs(void **state)
{
	const uint64_t first = seed_of_run(1);
	uint32_t n = cases_of_run(16, 2000), skipped = 0;
	struct rng r;

	(void)state;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t seed = first + i;
		char *text = draw(seed), *one = whole(text);

		skipped += check(text, one, 1) > 0;
		check(text, one, 2 + i % 2);
		rng_init(&r, seed, 1);
		if (i % 8 == 0)
			check_pieces(text, one, &r);
		if (i % 8 == 1)
			check_restart(text, one, &r);
		free(one);
		free(text);
	}
	if (skipped < n / 8)
		fail_msg("only %u of %u runs leave out iterations", skipped, n);
}

/* A rank of the job that hangs is iterations ahead of the others. */
static void a_hung_job_keeps_the_times_of_its_iterations(void **state)
{
	static const char text[] =
		"fabric: {topology: {kind: star, hosts: 8}, link: {rate: 4x HDR}}\n"
		"jobs:\n"
		"- {name: a, on: 0..3, repeat: 200, program: [{compute: 50us}, {allreduce: 64KiB}]}\n"
		"- {name: b, on: '4,5', repeat: 100, program: [{compute: 1us}, {shift: 1000}]}\n"
		"faults: {events: [{at: 30us, kind: sink-stuck, port: h5}]}\n";
	char *one = whole(text);

	(void)state;
	assert_true(check(text, one, 1) > 0);
	free(one);
}

/* The job with the fewest iterations is too short for a period; the other one repeats. */
static void a_short_job_does_not_end_the_search(void **state)
{
	static const char text[] =
		"fabric: {topology: {kind: star, hosts: 8}, link: {rate: 4x HDR}}\n"
		"jobs:\n"
		"- {name: a, on: '0,1', repeat: 3, program: [{compute: 60us}, {shift: 1000}]}\n"
		"- {name: b, on: 4..7, repeat: 100, program: [{compute: 50us}, {allreduce: 64KiB}]}\n";
	char *one = whole(text);

	(void)state;
	assert_true(check(text, one, 1) > 80);
	free(one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_short_job_does_not_end_the_search),
		cmocka_unit_test(a_hung_job_keeps_the_times_of_its_iterations),
		cmocka_unit_test(random_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
