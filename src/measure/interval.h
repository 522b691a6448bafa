/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MEASURE_INTERVAL_H
#define HD_MEASURE_INTERVAL_H

/*
 * How well a mean is known.
 *
 * Samples of one simulation follow each other and resemble their neighbours,
 * so their spread understates the error of their mean. Means of long batches
 * hardly resemble each other any more: Student's interval over those is
 * honest. Batches are kept between BATCHES/2 and BATCHES in number by doubling
 * their size whenever there are too many; if neighbouring batches are still
 * correlated when an interval is asked for, they are joined further.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pack.h"

#define BATCHES     64
#define BATCHES_MIN 8 /* fewer give no interval worth having */

struct interval {
	double mean;
	double half_width; /* infinite if there are too few samples */
	double lag1;       /* correlation of neighbouring batches */
	unsigned batches;
	uint64_t batch_size;
	bool sound; /* enough batches, and not correlated */
};

struct batch_means {
	double sum; /* of the batch being filled */
	uint64_t filled;
	uint64_t size; /* samples a batch */
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
 * The same for whole numbers: sums are whole as well, so that only which
 * samples share a batch depends on their order.
 */
struct batch_counts {
	struct batch_means means; /* of complete batches; and where they are */
	uint64_t sum;             /* of the batch being filled */
	uint64_t total_low, total_high;
};

void batch_counts_init(struct batch_counts *b);
void batch_counts_close(struct batch_counts *b);
struct interval batch_counts_interval(const struct batch_counts *b, double level);

/* As bytes and back. */
void batch_means_pack(struct pack *p, struct batch_means *b);
void batch_counts_pack(struct pack *p, struct batch_counts *b);

/* How many samples the batch being filled takes. */
static inline uint64_t batch_counts_room(const struct batch_counts *b)
{
	return b->means.size - b->means.filled;
}

/* n samples, in any order, that sum up to `sum`; n is at most the room. */
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
 * The interval that holds the mean with probability `level`, e.g. 0.95. The
 * mean is that of all samples, complete batch or not.
 */
struct interval batch_means_interval(const struct batch_means *b, double level);
/* For samples that are independent already: one per run. */
struct interval interval_of(const double *samples, size_t n, double level);
double measure_mean(const double *samples, size_t n);

#endif
