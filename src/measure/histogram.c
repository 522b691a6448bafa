/* SPDX-License-Identifier: BSD-2-Clause */
#include "measure/histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define ROW_BYTES (HISTOGRAM_PER_ROW * sizeof(uint64_t))
#define POOL_ROWS 4096 /* 2 MiB: a huge page */

__extension__ typedef unsigned __int128 u128;

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
		pool->blocks = hd_grow(pool->blocks, &pool->cap, pool->n_blocks + 1,
				       sizeof(*pool->blocks));
		pool->blocks[pool->n_blocks++] = hd_alloc_dense(POOL_ROWS, ROW_BYTES);
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
	h->rows[row] = h->pool ? pool_row(h->pool) : hd_alloc(HISTOGRAM_PER_ROW, sizeof(uint64_t));
	return h->rows[row];
}

static bool row_is_empty(const uint64_t *buckets)
{
	for (unsigned i = 0; buckets && i < HISTOGRAM_PER_ROW; i++) {
		if (buckets[i])
			return false;
	}
	return true;
}

static const struct pack_member histogram_members[] = {
	PACK(histogram, n),   PACK(histogram, sum_low), PACK(histogram, sum_high),
	PACK(histogram, min), PACK(histogram, max),     PACK_EACH(histogram, squares),
};

void histogram_pack(struct pack *p, struct histogram *h)
{
	uint64_t used = 0;

	PACK_STRUCT(p, histogram_members, h);
	for (unsigned row = 0; row < HISTOGRAM_ROWS; row++)
		used |= (uint64_t)!row_is_empty(h->rows[row]) << row;
	pack_u64(p, &used);
	pack_check(p, used >> HISTOGRAM_ROWS == 0);
	for (unsigned row = 0; row < HISTOGRAM_ROWS; row++) {
		if (!(used >> row & 1))
			continue;
		if (!h->rows[row])
			histogram_add_row(h, row);
		for (unsigned i = 0; i < HISTOGRAM_PER_ROW; i++)
			pack_u64(p, &h->rows[row][i]);
	}
}

static double sum_of(const struct histogram *h)
{
	return (double)h->sum_high * 0x1p64 + (double)h->sum_low;
}

/* ---- whole numbers of 192 bits, modulo 2^192 ------------------------- */

struct wide {
	uint64_t words[3]; /* lowest first */
};

static struct wide wide_add(struct wide a, struct wide b)
{
	uint64_t carry = 0;

	for (unsigned i = 0; i < 3; i++) {
		uint64_t sum = a.words[i] + b.words[i];
		uint64_t more = sum < a.words[i];

		a.words[i] = sum + carry;
		carry = more | (a.words[i] < sum);
	}
	return a;
}

static struct wide wide_negate(struct wide a)
{
	for (unsigned i = 0; i < 3; i++)
		a.words[i] = ~a.words[i];
	return wide_add(a, (struct wide){ { 1, 0, 0 } });
}

static struct wide wide_times(uint64_t low, uint64_t high, uint64_t by)
{
	u128 first = (u128)low * by;
	u128 second = (u128)high * by + (uint64_t)(first >> 64);

	return (struct wide){ { (uint64_t)first, (uint64_t)second, (uint64_t)(second >> 64) } };
}

static double wide_value(struct wide a)
{
	return (double)a.words[2] * 0x1p128 + (double)a.words[1] * 0x1p64 + (double)a.words[0];
}

/*
 * The sum of squares about the whole number `m` below the mean: whole numbers
 * that cancel before anything is rounded.
 */
static double squares_about(const struct histogram *h, uint64_t m)
{
	u128 square = (u128)m * m;
	struct wide sum = { { h->squares[0], h->squares[1], h->squares[2] } };
	struct wide cross = wide_times(h->sum_low, h->sum_high, m);

	sum = wide_add(sum, wide_negate(wide_add(cross, cross)));
	sum = wide_add(sum, wide_times((uint64_t)square, (uint64_t)(square >> 64), h->n));
	return wide_value(sum);
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	if (from->n == 0)
		return;
	struct wide squares = { { into->squares[0], into->squares[1], into->squares[2] } };
	const struct wide more = { { from->squares[0], from->squares[1], from->squares[2] } };

	squares = wide_add(squares, more);
	memcpy(into->squares, squares.words, sizeof(into->squares));
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
	u128 sum = (u128)h->sum_high << 64 | h->sum_low;
	double n = (double)h->n, rest = (double)(uint64_t)(sum % h->n);
	double squares = squares_about(h, (uint64_t)(sum / h->n)) - rest * (rest / n);

	return squares > 0 ? sqrt(squares / (n - 1)) : 0;
}

static struct histogram_bucket bucket_at(const struct histogram *h, unsigned row, unsigned column)
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

int histogram_next(const struct histogram *h, unsigned *at, struct histogram_bucket *out)
{
	while (*at < HISTOGRAM_ROWS * HISTOGRAM_PER_ROW) {
		unsigned row = *at / HISTOGRAM_PER_ROW;

		if (!h->rows[row]) {
			*at = (row + 1) * HISTOGRAM_PER_ROW;
			continue;
		}
		struct histogram_bucket b = bucket_at(h, row, *at % HISTOGRAM_PER_ROW);

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
