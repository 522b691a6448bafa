/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/rng.h"

#include <assert.h>
#include <math.h>

static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

void rng_init(struct rng *r, uint64_t seed, uint64_t id)
{
	/* Two passes, so that (1, 0) and (0, 1) give unrelated states. */
	uint64_t state = seed;
	uint64_t mixed = splitmix(&state) ^ id;

	state = splitmix(&mixed) + id;
	for (int i = 0; i < 4; i++)
		r->s[i] = splitmix(&state);
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
	assert(n > 0);
	/* Multiply-shift; redraw the few values that would favour some. */
	__extension__ typedef unsigned __int128 u128;
	u128 product = (u128)rng_next(r) * n;

	if ((uint64_t)product < n) {
		uint64_t floor = (UINT64_MAX - n + 1) % n;

		while ((uint64_t)product < floor)
			product = (u128)rng_next(r) * n;
	}
	return (uint64_t)(product >> 64);
}

double rng_uniform(struct rng *r)
{
	return (double)(rng_next(r) >> 11) * 0x1p-53;
}

double rng_exponential(struct rng *r, double mean)
{
	/* 1 - u is in (0, 1], so the logarithm is finite. */
	return -mean * log(1.0 - rng_uniform(r));
}

double rng_ge(struct rng *r, double mean, double scv)
{
	assert(scv >= 1);
	double tau = 2 / (scv + 1);

	if (rng_uniform(r) >= tau)
		return 0;
	return rng_exponential(r, mean / tau);
}

void rng_shuffle(struct rng *r, uint32_t *items, uint32_t n)
{
	for (uint32_t left = n; left > 1; left--) {
		uint32_t pick = (uint32_t)rng_below(r, left);
		uint32_t kept = items[left - 1];

		items[left - 1] = items[pick];
		items[pick] = kept;
	}
}
