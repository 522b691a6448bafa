/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/team.h"

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
		team_ask(n);
		struct team *t = team_new(0);

		assert_in_range(team_size(t), 1, n);
		for (size_t pieces = 0; pieces <= PIECES; pieces += 250) {
			struct work w = { .most = team_size(t) };

			team_each(t, pieces, do_piece, &w);
			for (size_t i = 0; i < PIECES; i++)
				assert_int_equal(w.times[i], i < pieces);
		}
		team_free(t);
	}
	team_ask(0);
}

static void little_work_is_not_worth_a_thread(void **state)
{
	(void)state;
	assert_int_equal(team_asked(), 0);
	assert_true(team_processors() >= 1);
	struct team *t = team_new(1000);

	assert_int_equal(team_size(t), 1);
	team_free(t);
	t = team_new(UINT64_MAX);
	assert_in_range(team_size(t), 1, team_processors());
	team_free(t);
	team_free(NULL);
}

/* Of more processes than processors each still has one. */
static void processes_share_the_processors(void **state)
{
	unsigned all = team_processors();

	(void)state;
	team_share(2);
	assert_int_equal(team_processors(), all > 1 ? all / 2 : 1);
	team_share(all + 1);
	assert_int_equal(team_processors(), 1);
	struct team *t = team_new(UINT64_MAX);

	assert_int_equal(team_size(t), 1);
	team_free(t);
	team_share(1);
	assert_int_equal(team_processors(), all);
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
