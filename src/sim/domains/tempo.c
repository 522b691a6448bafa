/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/domains/tempo.h"

#include <time.h>

/*
 * Several threads take several processors, so they must be faster by a tenth at least. A
 * measurement of the other way is followed by a rest that is longer by a factor, which doubles
 * each time that the measurement changes nothing.
 */
#define LEAST_GAIN   10 /* per cent */
#define LEAST_FACTOR 8
#define MOST_FACTOR  64
#define FORGETS      16 /* each new slice takes 1 / FORGETS of their weight from older ones */

uint64_t tempo_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void tempo_init(struct tempo *t)
{
	*t = (struct tempo){ .way = TEMPO_ALL, .best = TEMPO_ALL, .factor = LEAST_FACTOR };
}

void tempo_resume(struct tempo *t, uint64_t now)
{
	t->work = 0;
	t->begun = now;
}

static bool all_pay(const struct tempo *t)
{
	const struct tempo_sum *alone = &t->sums[TEMPO_ALONE], *all = &t->sums[TEMPO_ALL];
	double alone_takes = (double)alone->ns / (double)alone->work;
	double all_take = (double)all->ns / (double)all->work;

	return all_take * (100 + LEAST_GAIN) < alone_takes * 100;
}

/* The next slice measures the other way, of which little may be true any more. */
static void probe(struct tempo *t)
{
	t->way = t->best == TEMPO_ALL ? TEMPO_ALONE : TEMPO_ALL;
	t->sums[t->way].work /= 2;
	t->sums[t->way].ns /= 2;
}

/* The other way has been measured; it took `ns`. */
static void decide(struct tempo *t, uint64_t ns)
{
	enum tempo_way best = all_pay(t) ? TEMPO_ALL : TEMPO_ALONE;

	if (best != t->best)
		t->factor = LEAST_FACTOR;
	else if (t->factor < MOST_FACTOR)
		t->factor *= 2;
	t->best = t->way = best;
	t->rest = ns * t->factor;
}

void tempo_end_slice(struct tempo *t, uint64_t now)
{
	struct tempo_sum *sum = &t->sums[t->way];
	uint64_t ns = now - t->begun;

	sum->work += t->work - sum->work / FORGETS;
	sum->ns += ns - sum->ns / FORGETS;
	if (t->way != t->best)
		decide(t, ns);
	else if (t->rest <= ns)
		probe(t);
	else
		t->rest -= ns;
	tempo_resume(t, now);
}
