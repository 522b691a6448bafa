/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "measure/fairness.h"

static void equal_shares_are_fair(void **state)
{
	static const double same[] = { 2.5, 2.5, 2.5, 2.5 };

	(void)state;
	assert_true(measure_jain_index(same, 4) == 1);
}

static void nothing_is_not_shared_fairly(void **state)
{
	static const double none[] = { 0, 0 };

	(void)state;
	assert_true(isnan(measure_jain_index(none, 2)));
	assert_true(isnan(measure_jain_index(none, 0)));
}

static void a_single_holder_gives_one_nth(void **state)
{
	static const double greedy[] = { 0, 1e-200, 0, 0, 0 };

	(void)state;
	assert_true(fabs(measure_jain_index(greedy, 5) - 0.2) < 1e-15);
}

static void shares_of_one_two_three_give_six_sevenths(void **state)
{
	static const double shares[] = { 1e200, 2e200, 3e200 };

	(void)state;
	assert_true(fabs(measure_jain_index(shares, 3) - 6.0 / 7) < 1e-15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_shares_are_fair),
		cmocka_unit_test(nothing_is_not_shared_fairly),
		cmocka_unit_test(a_single_holder_gives_one_nth),
		cmocka_unit_test(shares_of_one_two_three_give_six_sevenths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
