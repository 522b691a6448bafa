/* SPDX-License-Identifier: BSD-2-Clause */
#include "workload/match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

#define MOST 512

/* The same queue as an array, searched from its beginning. */
struct plain {
	struct match_key keys[MOST];
	uint32_t values[MOST];
	uint32_t n;
};

static bool fits(uint32_t a, uint32_t b)
{
	return a == b || a == OP_ANY || b == OP_ANY;
}

static uint32_t plain_take(struct plain *p, struct match_key key)
{
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t value = p->values[i];

		if (p->keys[i].rank != key.rank || !fits(p->keys[i].source, key.source) ||
		    !fits(p->keys[i].tag, key.tag))
			continue;
		p->n--;
		memmove(&p->keys[i], &p->keys[i + 1], (p->n - i) * sizeof(*p->keys));
		memmove(&p->values[i], &p->values[i + 1], (p->n - i) * sizeof(*p->values));
		return value;
	}
	return MATCH_NONE;
}

static uint32_t draw(struct rng *rng, uint32_t n, bool may_be_any)
{
	return may_be_any && rng_below(rng, 4) == 0 ? OP_ANY : (uint32_t)rng_below(rng, n);
}

static void compare(bool any, uint64_t seed)
{
	struct match_line l;
	struct plain p = { .n = 0 };
	struct rng rng;

	rng_init(&rng, seed, any);
	match_init(&l, any);
	for (uint32_t i = 0; i < 20000; i++) {
		const struct match_key key = {
			.rank = (uint32_t)rng_below(&rng, 3),
			.source = draw(&rng, 4, any),
			.tag = draw(&rng, 3, any),
		};

		if (rng_below(&rng, 100) < 52 && p.n < MOST) {
			match_put(&l, key, i);
			p.keys[p.n] = key;
			p.values[p.n++] = i;
		} else {
			assert_int_equal(match_take(&l, key), plain_take(&p, key));
		}
		assert_int_equal(l.n, p.n);
	}
	match_fini(&l);
}

static void the_first_that_fits_is_taken(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		compare(false, seed);
		compare(true, seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_that_fits_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
