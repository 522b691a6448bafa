/* SPDX-License-Identifier: BSD-2-Clause */
#include "measure/histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define ROW_BYTES (HISTOGRAM_PER_ROW * sizeof(uint64_t))
#define POOL_ROWS 4096 /* 2 MiB: a huge page */

void histogram_init(struct histogram *h)
{
	*h = (struct histogram){ .min = UINT64_MAX };
}

void histogram_init_in(struct histogram *h, struct histogram_pool *pool)
{
	histogram_init(h);
	h->pool = pool;
}

void histogram_fini(struct histogram *h)
{
	for (unsigned row = 0; !h->pool && row < HISTOGRAM_ROWS; row++)
		free(h->rows[row]);
	histogram_init(h);
}

void histogram_pool_init(struct histogram_pool *pool)
{
	*pool = (struct histogram_pool){ 0 };
}

void histogram_pool_fini(struct histogram_pool *pool)
{
	for (size_t i = 0; i < pool->n_blocks; i++)
		free(pool->blocks[i]);
	free(pool->blocks);
	histogram_pool_init(pool);
}

static uint64_t *pool_row(struct histogram_pool *pool)
{
	if (pool->left == 0) {
		pool->blocks =
			hd_grow(pool->blocks, &pool->cap, pool->n_blocks + 1,
				sizeof(*pool->blocks));
		pool->blocks[pool->n_blocks++] =
			hd_alloc_dense(POOL_ROWS, ROW_BYTES);
		pool->left = POOL_ROWS;
	}
	uint64_t *block = pool->blocks[pool->n_blocks - 1];

	return &block[--pool->left * HISTOGRAM_PER_ROW];
}

void histogram_clear(struct histogram *h)
{
	struct histogram empty = { .min = UINT64_MAX, .pool = h->pool };

	memcpy(empty.rows, h->rows, sizeof(empty.rows));
	for (unsigned row = 0; row < HISTOGRAM_ROWS; row++) {
		if (empty.rows[row])
			memset(empty.rows[row], 0, ROW_BYTES);
	}
	*h = empty;
}

uint64_t *histogram_add_row(struct histogram *h, unsigned row)
{
	h->rows[row] = h->pool ? pool_row(h->pool)
			       : hd_alloc(HISTOGRAM_PER_ROW, sizeof(uint64_t));
	return h->rows[row];
}

static double sum_of(const struct histogram *h)
{
	return (double)h->sum_high * 0x1p64 + (double)h->sum_low;
}

/* Sum of (sample - origin): exact integers first, one rounding last. */
static double sum_about(const struct histogram *h, uint64_t origin)
{
	__extension__ typedef __int128 i128;
	i128 sum = ((i128)(int64_t)h->sum_high << 64) + (i128)h->sum_low;

	return (double)(sum - (i128)h->n * (i128)origin);
}

/* Sum of squares about `origin`, from that about h->origin. */
static double squares_about(const struct histogram *h, uint64_t origin)
{
	double moved = (double)(int64_t)(h->origin - origin);

	return h->sum_of_squares + 2 * moved * sum_about(h, h->origin) +
	       (double)h->n * moved * moved;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	if (from->n == 0)
		return;
	if (into->n == 0)
		into->origin = from->origin;
	into->sum_of_squares += squares_about(from, into->origin);
	into->n += from->n;
	into->sum_low += from->sum_low;
	into->sum_high += from->sum_high + (into->sum_low < from->sum_low);
	into->min = from->min < into->min ? from->min : into->min;
	into->max = from->max > into->max ? from->max : into->max;
	for (unsigned row = 0; row < HISTOGRAM_ROWS; row++) {
		if (!from->rows[row])
			continue;
		uint64_t *buckets = into->rows[row];

		if (!buckets)
			buckets = histogram_add_row(into, row);
		for (unsigned i = 0; i < HISTOGRAM_PER_ROW; i++)
			buckets[i] += from->rows[row][i];
	}
}

double histogram_mean(const struct histogram *h)
{
	return h->n ? sum_of(h) / (double)h->n : NAN;
}

double histogram_deviation(const struct histogram *h)
{
	if (h->n == 0)
		return NAN;
	if (h->n == 1)
		return 0;
	double n = (double)h->n, sum = sum_about(h, h->origin);
	double squares = h->sum_of_squares - sum * (sum / n);

	return squares > 0 ? sqrt(squares / (n - 1)) : 0;
}

static struct histogram_bucket bucket_at(const struct histogram *h,
					 unsigned row, unsigned column)
{
	/* Row 0 is the numbers below 64 themselves; row r > 0 starts at
	 * 64 << (r - 1) in steps of 1 << (r - 1). */
	unsigned shift = row ? row - 1 : 0;
	uint64_t first = row ? HISTOGRAM_PER_ROW : 0;
	uint64_t low = (first + column) << shift;

	return (struct histogram_bucket){
		.low = low,
		.high = low + ((UINT64_C(1) << shift) - 1),
		.n = h->rows[row] ? h->rows[row][column] : 0,
	};
}

int histogram_next(const struct histogram *h, unsigned *at,
		   struct histogram_bucket *out)
{
	while (*at < HISTOGRAM_ROWS * HISTOGRAM_PER_ROW) {
		unsigned row = *at / HISTOGRAM_PER_ROW;

		if (!h->rows[row]) {
			*at = (row + 1) * HISTOGRAM_PER_ROW;
			continue;
		}
		struct histogram_bucket b =
			bucket_at(h, row, *at % HISTOGRAM_PER_ROW);

		++*at;
		if (b.n) {
			*out = b;
			return 1;
		}
	}
	return 0;
}

uint64_t histogram_percentile(const struct histogram *h, double percent)
{
	if (h->n == 0)
		return 0;
	if (percent <= 0)
		return h->min;
	if (percent >= 100)
		return h->max;
	double wanted = ceil(percent / 100 * (double)h->n);
	uint64_t rank = wanted < 1 ? 1 : (uint64_t)wanted;
	struct histogram_bucket b;
	uint64_t seen = 0;

	for (unsigned at = 0; histogram_next(h, &at, &b);) {
		seen += b.n;
		if (seen < rank)
			continue;
		uint64_t middle = b.low + (b.high - b.low) / 2;

		if (middle < h->min)
			return h->min;
		return middle > h->max ? h->max : middle;
	}
	return h->max;
}

double histogram_share(const struct histogram *h, uint64_t value)
{
	struct histogram_bucket b;
	uint64_t seen = 0;

	if (h->n == 0)
		return NAN;
	if (value >= h->max)
		return 1;
	for (unsigned at = 0; histogram_next(h, &at, &b) && b.low <= value;)
		seen += b.n;
	return (double)seen / (double)h->n;
}
