/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much a test draws, and from which seed: the one place where tests look
 * at the environment and the clock (ci/draws.sh keeps it so).
 *
 * 'make test' draws the same cases every time, so that it fails for a change
 * and for nothing else. With HD_LONG=1 ('make test-long') tests draw more, and
 * those that call seed_of_run draw other cases in each run; it prints the line
 * that repeats them. With HD_LIGHT=1 (the tests with sanitizers) those that
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

/* How many cases to draw: at least one. */
static inline unsigned cases_of_run(unsigned usual, unsigned in_long_runs)
{
	if (run_is_long())
		return in_long_runs;
	return run_is("HD_LIGHT") ? (usual + 3) / 4 : usual;
}

/*
 * Does case i meet the k-th of n alternatives? They take turns from one case to
 * the next, where all with all would only take longer: long runs have that.
 */
static inline bool has_its_turn(size_t k, size_t n, size_t i)
{
	return run_is_long() || i % n == k;
}

/*
 * The seed from which a test draws its cases: fixed, unless the run is a long
 * one. Then it is HD_SEED, if that is set, or a fresh one.
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
