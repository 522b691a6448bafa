/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_CORES_H
#define HD_BENCH_CORES_H

/*
 * The inner loops of a test for each of its two ranks: ping-pongs and streams,
 * both with optional computation. Private to bench/. program.c decides which
 * rank runs which loop, when, and how often.
 */

#include "bench/endpoint.h"

/* A part of a test: n iterations, measured or not measured. */
struct stretch {
	uint64_t n;
	bool counts;
};

typedef void core_fn(struct endpoint *e, const struct stretch *s);

/* The loop of the point for rank 0 (`first`) or rank 1. */
core_fn *bench_core_of(const struct bench_params *p, bool first);

/* Sends messages in one direction with a window in flight; also used alone. */
void bench_stream(struct endpoint *e, const struct stretch *s);
/* Waits for n completions of sends. */
bool bench_take_sends(struct endpoint *e, uint64_t n);
/* Synchronises ranks 0 and 1; contenders continue. Both receive rank 0's number. */
uint64_t bench_agree(struct endpoint *e, uint64_t mine);

#endif
