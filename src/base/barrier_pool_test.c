/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/barrier_pool.h"
#include "base/memory.h"

#define MEMBERS 5
#define ROUNDS  3000

struct bed {
	unsigned size;
	/* [round modulo 2][share] */
	uint64_t wrote[2][MEMBERS];
	uint64_t round, sum[MEMBERS], computed[MEMBERS];
};

/* Reads what all shares wrote in the round before; unsynchronised otherwise. */
static void work(void *context, unsigned share)
{
	struct bed *b = context;

	for (unsigned i = 0; i < b->size; i++)
		b->sum[share] += b->wrote[(b->round + 1) % 2][i];
	b->wrote[b->round % 2][share] = b->round * (share + 1);
	b->computed[share]++;
}

static void a_round_sees_the_one_before(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= MEMBERS; n++) {
		struct bed b = { 0 };
		struct barrier_pool *c = barrier_pool_new(n, work, &b);
		uint64_t want = 0;

		b.size = barrier_pool_size(c);
		assert_in_range(b.size, 1, n);
		for (b.round = 1; b.round <= ROUNDS / n; b.round++) {
			if (b.round % 64 < 8)
				barrier_pool_run_alone(c);
			else
				barrier_pool_run(c);
			want += (b.round - 1) * b.size * (b.size + 1) / 2;
		}
		for (unsigned i = 0; i < b.size; i++) {
			assert_int_equal(b.sum[i], want);
			assert_int_equal(b.computed[i], ROUNDS / n);
		}
		barrier_pool_free(c);
	}
}

static void a_pool_may_do_nothing(void **state)
{
	struct bed b = { 0 };

	(void)state;
	barrier_pool_free(barrier_pool_new(3, work, &b));
	barrier_pool_free(NULL);
}

static void one_runs_short(void *context, unsigned member)
{
	(void)context;
	if (member == 1)
		memory_refused(5);
}

static void run_once(void *context)
{
	barrier_pool_run(context);
	fail_msg("the round went on without memory");
}

static void caller_of_the_round_gets_the_allocation_failure(void **state)
{
	struct barrier_pool *c = barrier_pool_new(3, one_runs_short, NULL);
	char line[MEMORY_LINE] = "";

	(void)state;
	assert_true(barrier_pool_size(c) > 1);
	assert_false(memory_try(run_once, c, line));
	assert_non_null(strstr(line, "no 5 bytes more"));
	barrier_pool_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_round_sees_the_one_before),
		cmocka_unit_test(a_pool_may_do_nothing),
		cmocka_unit_test(caller_of_the_round_gets_the_allocation_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
