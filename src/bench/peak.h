/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_PEAK_H
#define HD_BENCH_PEAK_H

/*
 * The maximum rate over any sequence of consecutive messages, from the posting
 * of the first until the completion of the last: perftest's "BW peak".
 * Completions that arrive in a burst because the polling thread was busy do not
 * create a peak, since all messages posted in between count.
 *
 * Memory is bounded: for very many messages only sequences of whole blocks are
 * considered, as perftest considers sequences of whole lists of requests.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/units.h"

#define PEAK_BLOCKS 65536

struct peak {
	uint64_t n, block; /* number of messages; messages per block */
	uint64_t posts, completions;
	hd_time *posted, *completed; /* first and last of each block */
};

/* For n messages, at least 1. */
void peak_init(struct peak *p, uint64_t n);
void peak_fini(struct peak *p);

/* Call in the order of messages; messages after the n-th are ignored. */
void peak_posted(struct peak *p, hd_time when);
void peak_completed(struct peak *p, hd_time when);

/* Messages per picosecond; 0 unless all n have completed. */
double peak_rate(const struct peak *p);

#endif
