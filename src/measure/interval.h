/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MEASURE_INTERVAL_H
#define HD_MEASURE_INTERVAL_H

/*
 * Confidence intervals of means.
 *
 * Successive samples of one simulation are correlated, so their variance
 * understates the error of their mean. Means of long batches are nearly
 * uncorrelated, and Student's interval over them is valid. The number of
 * batches is kept between BATCHES/2 and BATCHES by doubling their size whenever
 * there are too many. If neighbouring batches are still correlated when an
 * interval is requested, they are merged further.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pack.h"

#define BATCHES     64
#define BATCHES_MIN 8 /* minimum for a valid interval */

struct interval {
	double mean;
	double half_width; /* infinite if there are too few samples */
	double lag1;       /* correlation of neighbouring batches */
	unsigned batches;
	uint64_t batch_size;
	bool sound; /* enough batches, and uncorrelated */
};

struct batch_means {
	double sum; /* of the current batch */
	uint64_t filled;
	uint64_t size; /* samples per batch */
	unsigned n;    /* complete batches */
	double total;  /* of all samples */
	uint64_t count;
	double means[BATCHES];
};

void batch_means_init(struct batch_means *b);
void batch_means_close(struct batch_means *b);

static inline void batch_means_add(struct batch_means *b, double sample)
{
	b->sum += sample;
	b->total += sample;
	b->count++;
	if (++b->filled == b->size)
		batch_means_close(b);
}

/*
 * For integers: sums are exact, so that only the assignment of samples to
 * batches depends on their order.
 */
struct batch_counts {
	struct batch_means means; /* state and means of complete batches */
	uint64_t sum;             /* of the current batch */
	uint64_t total_low, total_high;
};

void batch_counts_init(struct batch_counts *b);
void batch_counts_close(struct batch_counts *b);
struct interval batch_counts_interval(const struct batch_counts *b, double level);

/* Serialises or restores. */
void batch_means_pack(struct pack *p, struct batch_means *b);
void batch_counts_pack(struct pack *p, struct batch_counts *b);

/* Number of samples until the current batch is complete. */
static inline uint64_t batch_counts_room(const struct batch_counts *b)
{
	return b->means.size - b->means.filled;
}

/* Adds n samples, in any order, whose sum is `sum`; n is at most the room. */
static inline void batch_counts_add(struct batch_counts *b, uint64_t sum, uint64_t n)
{
	b->sum += sum;
	b->total_low += sum;
	b->total_high += b->total_low < sum;
	b->means.count += n;
	b->means.filled += n;
	if (b->means.filled == b->means.size)
		batch_counts_close(b);
}

/*
 * The interval that contains the mean with probability `level`, e.g. 0.95. The
 * mean includes all samples, also those of the incomplete batch.
 */
struct interval batch_means_interval(const struct batch_means *b, double level);
/* For independent samples: one per run. */
struct interval interval_of(const double *samples, size_t n, double level);
double measure_mean(const double *samples, size_t n);

#endif
