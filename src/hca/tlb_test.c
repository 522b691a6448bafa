/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "hca/tlb.h"

#define ENTRIES 13

/* The same by searching a list, oldest first. */
struct plain {
	uint64_t pages[ENTRIES];
	unsigned n;
};

static bool plain_use(struct plain *p, uint64_t page)
{
	unsigned at = 0;

	while (at < p->n && p->pages[at] != page)
		at++;
	bool hit = at < p->n;

	if (!hit && p->n < ENTRIES)
		at = p->n++;
	else if (!hit)
		at = 0;
	for (; at + 1 < p->n; at++)
		p->pages[at] = p->pages[at + 1];
	p->pages[p->n - 1] = page;
	return hit;
}

static void it_forgets_what_was_not_used_for_longest(void **state)
{
	struct plain plain = { .n = 0 };
	struct rng rng;
	struct tlb t;
	unsigned hits = 0;

	(void)state;
	rng_init(&rng, 1, 1);
	tlb_init(&t, ENTRIES);
	for (unsigned i = 0; i < 20000; i++) {
		/* Pages of one hash chain too: far apart, low bits equal. */
		uint64_t page = rng_below(&rng, 20) << (i % 3 * 20);
		bool hit = plain_use(&plain, page);

		assert_int_equal(tlb_use(&t, page), hit);
		hits += hit;
	}
	assert_in_range(hits, 2000, 18000);
	tlb_fini(&t);
}

static void a_cycle_longer_than_the_cache_never_hits(void **state)
{
	struct tlb t;

	(void)state;
	tlb_init(&t, ENTRIES);
	for (unsigned i = 0; i < 100 * (ENTRIES + 1); i++)
		assert_false(tlb_use(&t, i % (ENTRIES + 1)));
	tlb_fini(&t);
	tlb_init(&t, 0); /* everything fits */
	for (unsigned i = 0; i < 100; i++)
		assert_true(tlb_use(&t, i));
	tlb_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_forgets_what_was_not_used_for_longest),
		cmocka_unit_test(a_cycle_longer_than_the_cache_never_hits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
