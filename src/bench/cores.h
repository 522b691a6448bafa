/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_CORES_H
#define HD_BENCH_CORES_H

/*
 * What the two ranks of a test do over and over, each side of it: ping-pongs,
 * streams, both with work in between; private to bench/. program.c says who
 * runs it, when, and how often.
 */

#include "bench/endpoint.h"

/* A stretch of a test: so many iterations, counted or not. */
struct stretch {
	uint64_t n;
	bool counts;
};

typedef void core_fn(struct endpoint *e, const struct stretch *s);

/* What the point asks of rank 0 (`first`), or of rank 1. */
core_fn *bench_core_of(const struct bench_params *p, bool first);

/* Messages one way, a window of them under way; also run alone. */
void bench_stream(struct endpoint *e, const struct stretch *s);
/* Waits for so many sends. */
bool bench_take_sends(struct endpoint *e, uint64_t n);
/* Both sides are here; contenders go on. What rank 0 says, both know. */
uint64_t bench_agree(struct endpoint *e, uint64_t mine);

#endif
