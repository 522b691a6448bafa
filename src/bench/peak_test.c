/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/rng.h"
#include "bench/peak.h"

#define MOST 200

struct run {
	uint64_t n;
	hd_time posted[MOST], completed[MOST];
};

/* By every pair, as in perftest. */
static double by_every_pair(const struct run *r)
{
	double best = 0;

	for (uint64_t i = 0; i < r->n; i++) {
		for (uint64_t j = i; j < r->n; j++) {
			double rate =
				(double)(j - i + 1) / (double)(r->completed[j] - r->posted[i]);

			best = rate > best ? rate : best;
		}
	}
	return best;
}

static double by_passes(const struct run *r)
{
	struct peak p;

	peak_init(&p, r->n);
	for (uint64_t i = 0; i < r->n; i++)
		peak_posted(&p, r->posted[i]);
	for (uint64_t i = 0; i < r->n; i++)
		peak_completed(&p, r->completed[i]);
	double rate = peak_rate(&p);

	peak_fini(&p);
	return rate;
}

/* Draws posts and completions in order, with bursts and pauses. */
static void draw(struct rng *rng, struct run *r)
{
	hd_time post = 1 + rng_below(rng, 1000), done = post;

	r->n = 1 + rng_below(rng, MOST);
	for (uint64_t i = 0; i < r->n; i++) {
		post += rng_below(rng, 4) ? rng_below(rng, 50) : rng_below(rng, 5000);
		done = done > post ? done : post;
		done += rng_below(rng, 3) ? 1 + rng_below(rng, 30) : 1 + rng_below(rng, 20000);
		r->posted[i] = post;
		r->completed[i] = done;
	}
}

static void it_is_the_best_of_all_pairs(void **state)
{
	struct rng rng;

	(void)state;
	rng_init(&rng, 4, 1);
	for (unsigned i = 0; i < 2000; i++) {
		struct run r;

		draw(&rng, &r);
		double wanted = by_every_pair(&r), got = by_passes(&r);

		if (got < wanted * (1 - 1e-12) || got > wanted * (1 + 1e-12))
			fail_msg("run %u of %llu: %g, not %g", i, (unsigned long long)r.n, got,
				 wanted);
	}
}

/*
 * The wire takes 100 a message. The poller sleeps through ten of them and
 * then finds all at once, 1 apart: the peak stays the wire's.
 */
static void completions_in_a_heap_make_no_peak(void **state)
{
	struct run r = { .n = 100 };

	(void)state;
	for (uint64_t i = 0; i < r.n; i++) {
		r.posted[i] = i < 20 ? 0 : r.completed[i - 20];
		r.completed[i] = (i / 10 + 1) * 1000 + i % 10;
	}
	assert_true(by_passes(&r) <= 0.01);
	assert_true(by_passes(&r) >= 0.0099);
}

static void a_fast_stretch_is_found(void **state)
{
	struct run r = { .n = 90 };
	hd_time now = 0;

	(void)state;
	/* One at a time: 100 each, but 10 each in the middle third. */
	for (uint64_t i = 0; i < r.n; i++) {
		r.posted[i] = now;
		now += i / 30 == 1 ? 10 : 100;
		r.completed[i] = now;
	}
	assert_true(by_passes(&r) == 0.1);
}

static void blocks_bound_the_memory(void **state)
{
	const uint64_t n = 3 * PEAK_BLOCKS + 7;
	struct peak p;

	(void)state;
	peak_init(&p, n);
	assert_int_equal(p.block, 4);
	for (uint64_t i = 0; i < n; i++) {
		peak_posted(&p, 10 * i);
		assert_true(peak_rate(&p) == 0); /* not yet */
		peak_completed(&p, 10 * i + 10);
	}
	/* Beyond what was announced: left out. */
	peak_posted(&p, 10 * n);
	peak_completed(&p, 10 * n);
	assert_true(peak_rate(&p) == 0.1);
	peak_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_the_best_of_all_pairs),
		cmocka_unit_test(completions_in_a_heap_make_no_peak),
		cmocka_unit_test(a_fast_stretch_is_found),
		cmocka_unit_test(blocks_bound_the_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
