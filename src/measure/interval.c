/* SPDX-License-Identifier: BSD-2-Clause */
#include "measure/interval.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "measure/student.h"

void batch_means_init(struct batch_means *b)
{
	*b = (struct batch_means){ .size = 1 };
}

/* Joins neighbours; with an odd number the last is left out. */
static unsigned join_pairs(double *means, unsigned n)
{
	for (unsigned i = 0; i < n / 2; i++)
		means[i] = (means[2 * i] + means[2 * i + 1]) / 2;
	return n / 2;
}

void batch_means_close(struct batch_means *b)
{
	b->means[b->n++] = b->sum / (double)b->size;
	b->sum = 0;
	b->filled = 0;
	if (b->n == BATCHES) {
		b->n = join_pairs(b->means, b->n);
		b->size *= 2;
	}
}

double measure_mean(const double *samples, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += samples[i];
	return sum / (double)n;
}

static double squares_of(const double *x, size_t n, double mean)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return sum;
}

/* 0 if all are equal. */
static double lag1_of(const double *x, size_t n)
{
	double mean = measure_mean(x, n), products = 0;
	double squares = squares_of(x, n, mean);

	for (size_t i = 1; i < n; i++)
		products += (x[i] - mean) * (x[i - 1] - mean);
	return squares > 0 ? products / squares : 0;
}

/*
 * Independent batches have a lag-1 correlation of about -1/n +- 1/sqrt(n);
 * what exceeds that by 1.645 deviations is called correlated (5 % error).
 */
static bool is_correlated(double lag1, size_t n)
{
	return lag1 > -1 / (double)n + 1.645 / sqrt((double)n);
}

struct interval interval_of(const double *samples, size_t n, double level)
{
	struct interval in = {
		.half_width = INFINITY, .batches = (unsigned)n, .batch_size = 1, .mean = NAN
	};

	assert(level > 0 && level < 1);
	if (n == 0)
		return in;
	in.mean = measure_mean(samples, n);
	if (n < 2)
		return in;
	double freedom = (double)(n - 1);
	double variance = squares_of(samples, n, in.mean) / freedom;

	in.half_width = student_quantile((1 + level) / 2, freedom) * sqrt(variance / (double)n);
	in.lag1 = lag1_of(samples, n);
	in.sound = true;
	return in;
}

struct interval batch_means_interval(const struct batch_means *b, double level)
{
	double means[BATCHES];
	unsigned n = b->n;
	uint64_t size = b->size;

	memcpy(means, b->means, n * sizeof(*means));
	while (n >= 2 * BATCHES_MIN && is_correlated(lag1_of(means, n), n)) {
		n = join_pairs(means, n);
		size *= 2;
	}
	struct interval in = interval_of(means, n, level);

	in.mean = b->count ? b->total / (double)b->count : NAN;
	in.batch_size = size;
	in.sound = n >= BATCHES_MIN && !is_correlated(in.lag1, n);
	return in;
}

/* ---- whole numbers ------------------------------------------------------ */

void batch_counts_init(struct batch_counts *b)
{
	*b = (struct batch_counts){ 0 };
	batch_means_init(&b->means);
}

void batch_counts_close(struct batch_counts *b)
{
	b->means.sum = (double)b->sum;
	b->sum = 0;
	batch_means_close(&b->means);
}

struct interval batch_counts_interval(const struct batch_counts *b, double level)
{
	struct batch_means means = b->means;

	means.total = (double)b->total_high * 0x1p64 + (double)b->total_low;
	return batch_means_interval(&means, level);
}

/* ---- as bytes ----------------------------------------------------------- */

static const struct pack_member means_members[] = {
	PACK(batch_means, sum), PACK(batch_means, filled), PACK(batch_means, size),
	PACK(batch_means, n),   PACK(batch_means, total),  PACK(batch_means, count),
};

static const struct pack_member counts_members[] = {
	PACK(batch_counts, sum),
	PACK(batch_counts, total_low),
	PACK(batch_counts, total_high),
};

void batch_means_pack(struct pack *p, struct batch_means *b)
{
	PACK_STRUCT(p, means_members, b);
	if (!pack_check(p, b->n < BATCHES && b->filled < b->size))
		b->n = 0;
	for (unsigned i = 0; i < b->n; i++)
		pack_real(p, &b->means[i]);
}

void batch_counts_pack(struct pack *p, struct batch_counts *b)
{
	batch_means_pack(p, &b->means);
	PACK_STRUCT(p, counts_members, b);
}
