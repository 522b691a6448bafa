/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_RNG_H
#define HD_BASE_RNG_H

/*
 * Random streams that depend on (seed, id) only.
 *
 * Each traffic source, generator or model owns one stream, so its numbers do
 * not change when other streams are added, removed or created in another order.
 * The generator is xoshiro256** seeded through SplitMix64: period 2^256 - 1,
 * four words of state.
 */

#include <stdint.h>

struct rng {
	uint64_t s[4];
};

void rng_init(struct rng *r, uint64_t seed, uint64_t id);

static inline uint64_t rng_rotate(uint64_t x, int by)
{
	return (x << by) | (x >> (64 - by));
}

static inline uint64_t rng_next(struct rng *r)
{
	uint64_t *s = r->s;
	uint64_t result = rng_rotate(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rng_rotate(s[3], 45);
	return result;
}

/* Uniform in [0, n), without modulo bias; n > 0. */
uint64_t rng_below(struct rng *r, uint64_t n);
/* Uniform in [0, 1), 53 bits. */
double rng_uniform(struct rng *r);
/* Exponential with mean `mean`; never infinite. */
double rng_exponential(struct rng *r, double mean);
/*
 * Generalised exponential gap with the given mean and squared coefficient of
 * variation scv >= 1: zero with probability 1 - tau, else exponential with
 * mean mean/tau, where tau = 2 / (scv + 1).
 */
double rng_ge(struct rng *r, double mean, double scv);
/* Fisher-Yates over n indices. */
void rng_shuffle(struct rng *r, uint32_t *items, uint32_t n);

#endif
