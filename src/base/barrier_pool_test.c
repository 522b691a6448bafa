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
#define TURNS   3000

struct bed {
	unsigned size;
	/* [turn modulo 2][member] */
	uint64_t wrote[2][MEMBERS];
	uint64_t turn, sum[MEMBERS];
};

/* Reads what all have written in the turn before; unsynchronised otherwise. */
static void work(void *context, unsigned member)
{
	struct bed *b = context;

	for (unsigned i = 0; i < b->size; i++)
		b->sum[member] += b->wrote[(b->turn + 1) % 2][i];
	b->wrote[b->turn % 2][member] = b->turn * (member + 1);
}

static void a_turn_sees_the_one_before(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= MEMBERS; n++) {
		struct bed b = { 0 };
		struct barrier_pool *c = barrier_pool_new(n, work, &b);
		uint64_t want = 0;

		b.size = barrier_pool_size(c);
		assert_in_range(b.size, 1, n);
		for (b.turn = 1; b.turn <= TURNS / n; b.turn++) {
			barrier_pool_run(c);
			want += (b.turn - 1) * b.size * (b.size + 1) / 2;
		}
		for (unsigned i = 0; i < b.size; i++)
			assert_int_equal(b.sum[i], want);
		barrier_pool_free(c);
	}
}

static void a_crew_may_do_nothing(void **state)
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

static void turn_once(void *context)
{
	barrier_pool_run(context);
	fail_msg("the turn went on without memory");
}

static void who_calls_the_turn_meets_lack_of_memory(void **state)
{
	struct barrier_pool *c = barrier_pool_new(3, one_runs_short, NULL);
	char line[MEMORY_LINE] = "";

	(void)state;
	assert_true(barrier_pool_size(c) > 1);
	assert_false(memory_try(turn_once, c, line));
	assert_non_null(strstr(line, "no 5 bytes more"));
	barrier_pool_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_turn_sees_the_one_before),
		cmocka_unit_test(a_crew_may_do_nothing),
		cmocka_unit_test(who_calls_the_turn_meets_lack_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
