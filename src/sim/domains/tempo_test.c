/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/domains/tempo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"

#define SLICES 4000

/* What a slice takes, in ns. */
struct machine {
	uint64_t takes[TEMPO_WAYS];
	uint64_t stall; /* sometimes the other thread loses its processor for so long */
	unsigned chance;
};

struct outcome {
	double took, least; /* least: with the better way only, known in advance */
	unsigned n[TEMPO_WAYS];
};

static uint64_t takes(const struct machine *m, enum tempo_way way, struct rng *r)
{
	bool stalls = rng_below(r, 100) < m->chance;

	return m->takes[way] + (way == TEMPO_ALL && stalls ? m->stall : 0);
}

static double mean(const struct machine *m, enum tempo_way way)
{
	return (double)m->takes[way] +
	       (way == TEMPO_ALL ? (double)(m->stall * m->chance) / 100 : 0);
}

static struct outcome simulate(struct tempo *t, const struct machine *m, unsigned slices,
			       struct rng *r)
{
	struct outcome out = { .took = 0 };
	uint64_t now = 1000;
	double alone = mean(m, TEMPO_ALONE), all = mean(m, TEMPO_ALL);

	tempo_resume(t, now);
	for (unsigned i = 0; i < slices; i++) {
		uint64_t ns = takes(m, t->way, r);

		out.n[t->way]++;
		out.took += (double)ns;
		out.least += alone < all ? alone : all;
		now += ns;
		t->work = TEMPO_SLICE;
		tempo_end_slice(t, now);
	}
	return out;
}

/* Not slower than one thread by more than 5 %, whatever the machine does. */
static void never_much_slower_than_one_thread(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, seed_of_run(1), 0);
	for (unsigned i = 0; i < cases_of_run(200, 5000); i++) {
		const struct machine m = {
			.takes = { 1000000, 500000 + rng_below(&r, 3000000) },
			.stall = rng_below(&r, 10000000),
			.chance = (unsigned)rng_below(&r, 100),
		};
		struct tempo t;

		tempo_init(&t);
		struct outcome out = simulate(&t, &m, SLICES, &r);

		if (out.took > 1.05 * SLICES * 1000000.0)
			fail_msg("%.3f of one thread: %lu, stalls of %lu in %u %%",
				 out.took / SLICES / 1000000.0, m.takes[TEMPO_ALL], m.stall,
				 m.chance);
	}
}

/* On idle processors nearly the gain that is possible. */
static void idle_processors_are_used(void **state)
{
	const struct machine m = { .takes = { 1000000, 550000 } };
	struct tempo t;
	struct rng r;

	(void)state;
	rng_init(&r, 1, 0);
	tempo_init(&t);
	assert_true(simulate(&t, &m, SLICES, &r).took < 1.02 * SLICES * 550000.0);
}

/* A gain of less than a tenth is not worth another processor. */
static void small_gains_take_no_processor(void **state)
{
	const struct machine m = { .takes = { 1000000, 950000 } };
	struct tempo t;
	struct rng r;

	(void)state;
	rng_init(&r, 1, 0);
	tempo_init(&t);
	assert_true(simulate(&t, &m, SLICES, &r).n[TEMPO_ALL] < SLICES / 50);
}

static void the_load_may_change(void **state)
{
	const struct machine idle = { .takes = { 1000000, 550000 } };
	const struct machine busy = { .takes = { 1500000, 1700000 },
				      .stall = 4000000,
				      .chance = 30 };
	struct tempo t;
	struct rng r;

	(void)state;
	rng_init(&r, 1, 0);
	tempo_init(&t);
	for (unsigned i = 0; i < 20; i++) {
		const struct machine *m = i % 2 ? &busy : &idle;
		struct outcome out = simulate(&t, m, SLICES, &r);

		assert_true(out.took < 1.1 * out.least);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(never_much_slower_than_one_thread),
		cmocka_unit_test(idle_processors_are_used),
		cmocka_unit_test(small_gains_take_no_processor),
		cmocka_unit_test(the_load_may_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
