/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/parallel_for.h"

#define PIECES  1000
#define MEMBERS 7

struct work {
	unsigned times[PIECES];
	size_t last[MEMBERS]; /* piece + 1 */
	unsigned most;        /* members */
};

static void do_piece(void *context, unsigned member, size_t piece)
{
	struct work *w = context;

	assert_in_range(member, 0, w->most - 1);
	assert_true(piece + 1 > w->last[member]);
	w->last[member] = piece + 1;
	w->times[piece]++; /* no other thread has this one */
}

static void every_piece_is_done_once_and_in_rising_order(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= MEMBERS; n++) {
		parallel_set_threads(n);
		struct parallel_pool *t = parallel_pool_new(0);

		assert_in_range(parallel_pool_size(t), 1, n);
		for (size_t pieces = 0; pieces <= PIECES; pieces += 250) {
			struct work w = { .most = parallel_pool_size(t) };

			parallel_for(t, pieces, do_piece, &w);
			for (size_t i = 0; i < PIECES; i++)
				assert_int_equal(w.times[i], i < pieces);
		}
		parallel_pool_free(t);
	}
	parallel_set_threads(0);
}

static void little_work_is_not_worth_a_thread(void **state)
{
	(void)state;
	assert_int_equal(parallel_threads(), 0);
	assert_true(parallel_processors() >= 1);
	struct parallel_pool *t = parallel_pool_new(1000);

	assert_int_equal(parallel_pool_size(t), 1);
	parallel_pool_free(t);
	t = parallel_pool_new(UINT64_MAX);
	assert_in_range(parallel_pool_size(t), 1, parallel_processors());
	parallel_pool_free(t);
	parallel_pool_free(NULL);
}

/* With more processes than processors, each has one thread. */
static void processes_share_the_processors(void **state)
{
	unsigned all = parallel_processors();

	(void)state;
	parallel_share_processors(2);
	assert_int_equal(parallel_processors(), all > 1 ? all / 2 : 1);
	parallel_share_processors(all + 1);
	assert_int_equal(parallel_processors(), 1);
	struct parallel_pool *t = parallel_pool_new(UINT64_MAX);

	assert_int_equal(parallel_pool_size(t), 1);
	parallel_pool_free(t);
	parallel_share_processors(1);
	assert_int_equal(parallel_processors(), all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_piece_is_done_once_and_in_rising_order),
		cmocka_unit_test(little_work_is_not_worth_a_thread),
		cmocka_unit_test(processes_share_the_processors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
