/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Number of random cases of a test, and their seed. Only this file lets tests
 * read the environment and the clock (ci/draws.sh checks this).
 *
 * 'make test' draws the same cases every time, so that only a change can make
 * it fail. With HD_LONG=1 ('make test-long') tests draw more cases, and those
 * that call seed_of_run draw different cases in each run; seed_of_run prints
 * the command that repeats them. With HD_LIGHT=1 (sanitizer tests) those that
 * call cases_of_run draw a quarter.
 */
#ifndef HEDDLE_BASE_SEEDS_FOR_TESTS_H
#define HEDDLE_BASE_SEEDS_FOR_TESTS_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline bool run_is(const char *name)
{
	const char *text = getenv(name);

	return text && strcmp(text, "") != 0 && strcmp(text, "0") != 0;
}

static inline bool run_is_long(void)
{
	return run_is("HD_LONG");
}

/* Number of cases to draw: at least one. */
static inline unsigned cases_of_run(unsigned usual, unsigned in_long_runs)
{
	if (run_is_long())
		return in_long_runs;
	return run_is("HD_LIGHT") ? (usual + 3) / 4 : usual;
}

/*
 * Whether case i uses the k-th of n alternatives. Alternatives rotate from case
 * to case, because all combinations would take longer; long runs test all of
 * them.
 */
static inline bool has_its_turn(size_t k, size_t n, size_t i)
{
	return run_is_long() || i % n == k;
}

/*
 * The seed of a test's random cases: `fixed`, unless the run is long. In a long
 * run it is HD_SEED, if set, or a new one.
 */
static inline uint64_t seed_of_run(uint64_t fixed)
{
	const char *again = getenv("HD_SEED");
	struct timespec now;
	uint64_t seed;

	if (!run_is_long())
		return fixed;
	if (again) {
		seed = strtoull(again, NULL, 0);
	} else {
		clock_gettime(CLOCK_REALTIME, &now);
		seed = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
	}
	printf("seed 0x%" PRIx64 "; again: HD_LONG=1 HD_SEED=0x%" PRIx64 " and this test\n", seed,
	       seed);
	fflush(stdout);
	return seed;
}

#endif
