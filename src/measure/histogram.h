/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MEASURE_HISTOGRAM_H
#define HD_MEASURE_HISTOGRAM_H

/*
 * A distribution of integers (picoseconds, bytes, packets) in bounded memory.
 * Count, mean, standard deviation, minimum and maximum are exact; percentiles
 * are within HISTOGRAM_ERROR of the exact sample.
 *
 * Each power of two has 64 buckets of equal width, so a bucket's width is at
 * most 1/64 of its value and its middle is off by at most 1/128. Values below
 * 128 have individual buckets. The 64 buckets of a power of two are allocated
 * when the first sample falls there: a histogram of latencies takes a few
 * kilobytes, the largest possible one 30.
 *
 * Recording takes a few instructions. Merging gives exactly the result of
 * recording all samples into one histogram, in any order: all sums are
 * integers.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/pack.h"

#define HISTOGRAM_ERROR   (1.0 / 128)
#define HISTOGRAM_BITS    6
#define HISTOGRAM_PER_ROW (1u << HISTOGRAM_BITS)
#define HISTOGRAM_ROWS    (64 - HISTOGRAM_BITS + 1)

struct histogram {
	uint64_t n;
	uint64_t sum_low, sum_high; /* 128 bits: never overflows */
	uint64_t min;               /* UINT64_MAX while empty */
	uint64_t max;
	uint64_t squares[3]; /* their sum: 192 bits, lowest first */
	uint64_t *rows[HISTOGRAM_ROWS];
	struct histogram_pool *pool; /* owns its rows; NULL: the histogram owns them */
};

/*
 * Contiguous memory for the rows of many histograms: random recording into
 * thousands of histograms on separate pages would be slow. The histograms
 * borrow the pool, which must outlive them.
 */
struct histogram_pool {
	void **blocks;
	size_t n_blocks, cap;
	size_t left; /* free rows in the last block */
};

void histogram_pool_init(struct histogram_pool *pool);
void histogram_pool_fini(struct histogram_pool *pool);

void histogram_init(struct histogram *h);
void histogram_init_in(struct histogram *h, struct histogram_pool *pool);
void histogram_fini(struct histogram *h);
/* Empties the histogram but keeps its memory. */
void histogram_clear(struct histogram *h);

uint64_t *histogram_add_row(struct histogram *h, unsigned row);

/* Row and column of the bucket of `value`. */
static inline unsigned histogram_row(uint64_t value)
{
	/* The lowest row is 0..63; the bit sets a floor for the logarithm. */
	unsigned log = 63 - (unsigned)__builtin_clzll(value | (HISTOGRAM_PER_ROW >> 1));

	return log - (HISTOGRAM_BITS - 1);
}

static inline unsigned histogram_column(uint64_t value, unsigned row)
{
	unsigned shift = row ? row - 1 : 0;

	return (unsigned)(value >> shift) & (HISTOGRAM_PER_ROW - 1);
}

static inline void histogram_add_square(struct histogram *h, uint64_t value)
{
	__extension__ typedef unsigned __int128 u128;
	u128 square = (u128)value * value;
	u128 sum = ((u128)h->squares[1] << 64 | h->squares[0]) + square;

	h->squares[0] = (uint64_t)sum;
	h->squares[1] = (uint64_t)(sum >> 64);
	h->squares[2] += sum < square;
}

static inline void histogram_record(struct histogram *h, uint64_t value)
{
	unsigned row = histogram_row(value);
	uint64_t *buckets = h->rows[row];

	if (__builtin_expect(!buckets, 0))
		buckets = histogram_add_row(h, row);
	buckets[histogram_column(value, row)]++;
	h->n++;
	h->sum_low += value;
	h->sum_high += h->sum_low < value;
	h->min = value < h->min ? value : h->min;
	h->max = value > h->max ? value : h->max;
	histogram_add_square(h, value);
}

void histogram_merge(struct histogram *into, const struct histogram *from);
/* Serialises and restores a histogram; restore into an empty one. */
void histogram_pack(struct pack *p, struct histogram *h);

/* All NaN or 0 while empty. */
double histogram_mean(const struct histogram *h);
/* Sample deviation: divided by n - 1; 0 for a single sample. */
double histogram_deviation(const struct histogram *h);
/*
 * The smallest value that at least `percent` % of the samples do not exceed,
 * within HISTOGRAM_ERROR; 0 gives the exact minimum and 100 the exact maximum.
 */
uint64_t histogram_percentile(const struct histogram *h, double percent);

/* Iterates over buckets with samples, in ascending order; start with *at = 0.
 * False at the end. */
struct histogram_bucket {
	uint64_t low, high; /* both inclusive */
	uint64_t n;
};
int histogram_next(const struct histogram *h, unsigned *at, struct histogram_bucket *out);

#endif
