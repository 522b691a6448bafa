/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/peak.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"

void peak_init(struct peak *p, uint64_t n)
{
	assert(n > 0);
	*p = (struct peak){ .n = n, .block = (n - 1) / PEAK_BLOCKS + 1 };
	size_t blocks = (size_t)((n - 1) / p->block + 1);

	p->posted = hd_alloc(blocks, sizeof(*p->posted));
	p->completed = hd_alloc(blocks, sizeof(*p->completed));
}

void peak_fini(struct peak *p)
{
	free(p->posted);
	free(p->completed);
}

void peak_posted(struct peak *p, hd_time when)
{
	uint64_t i = p->posts++;

	if (i < p->n && i % p->block == 0)
		p->posted[i / p->block] = when;
}

void peak_completed(struct peak *p, hd_time when)
{
	uint64_t i = p->completions++;

	if (i < p->n)
		p->completed[i / p->block] = when;
}

/* Messages until the end of a block; the last one may be short. */
static uint64_t count_to(const struct peak *p, size_t block)
{
	uint64_t end = (block + 1) * p->block;

	return end < p->n ? end : p->n;
}

static double rate_of(const struct peak *p, size_t first, size_t last)
{
	hd_time took = p->completed[last] - p->posted[first];

	return (double)(count_to(p, last) - first * p->block) / (double)(took ? took : 1);
}

/*
 * The run that exceeds `rate` by the most messages. What a run exceeds it by
 * is a difference between its end and its start, so one pass that remembers
 * the best start finds it.
 */
static void best_run(const struct peak *p, double rate, size_t *first, size_t *last)
{
	size_t n = (size_t)((p->n - 1) / p->block + 1), start = 0;
	double lowest = 0, most = -1;

	for (size_t i = 0; i < n; i++) {
		hd_time since = p->posted[i] - p->posted[0];
		hd_time until = p->completed[i] - p->posted[0];
		double begins = (double)(i * p->block) - rate * (double)since;
		double ends = (double)count_to(p, i) - rate * (double)until;

		if (i == 0 || begins < lowest) {
			lowest = begins;
			start = i;
		}
		if (i == 0 || ends - lowest > most) {
			most = ends - lowest;
			*first = start;
			*last = i;
		}
	}
}

/*
 * Dinkelbach's method for the greatest ratio: the run that exceeds the best
 * rate so far by the most is better, or the best is found. A few passes replace
 * a comparison of every pair.
 */
double peak_rate(const struct peak *p)
{
	size_t first = 0, last = (size_t)((p->n - 1) / p->block);

	if (p->completions < p->n)
		return 0;
	double rate, better = rate_of(p, first, last);

	do {
		rate = better;
		best_run(p, rate, &first, &last);
		better = rate_of(p, first, last);
	} while (better > rate);
	return rate;
}
