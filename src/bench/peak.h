/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_PEAK_H
#define HD_BENCH_PEAK_H

/*
 * The best rate over any run of consecutive messages, from the posting of its
 * first until the completion of its last: perftest's "BW peak". Completions
 * that arrive in a burst, because the polling thread was busy, make no peak: all
 * messages posted in between count.
 *
 * Memory is bounded: of very many messages only runs of whole blocks are
 * looked at, as perftest looks at runs of whole lists of requests.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/units.h"

#define PEAK_BLOCKS 65536

struct peak {
	uint64_t n, block; /* messages in all, and in a block */
	uint64_t posts, completions;
	hd_time *posted, *completed; /* first and last of each block */
};

/* For n messages, at least 1, that will be posted and completed. */
void peak_init(struct peak *p, uint64_t n);
void peak_fini(struct peak *p);

/* The next message, in order; those beyond the n-th do not count. */
void peak_posted(struct peak *p, hd_time when);
void peak_completed(struct peak *p, hd_time when);

/* Messages per picosecond; 0 unless all n have completed. */
double peak_rate(const struct peak *p);

#endif
