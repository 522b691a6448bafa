/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure/gauge.h"

static void the_mean_weighs_levels_by_time(void **state)
{
	struct gauge g;

	(void)state;
	gauge_init(&g, 100, 0);
	gauge_set(&g, 200, 4); /* 0 for 100 */
	gauge_set(&g, 250, 1); /* 4 for 50, then 1 for 50 */
	assert_true(gauge_mean(&g, 300) == (4 * 50 + 1 * 50) / 200.0);
	assert_int_equal(g.max, 4);
}

static void a_restart_forgets_all_but_the_level(void **state)
{
	struct gauge g;

	(void)state;
	gauge_init(&g, 0, 9);
	gauge_set(&g, 10, 2);
	gauge_restart(&g, 50);
	assert_true(gauge_mean(&g, 50) == 2);
	gauge_set(&g, 60, 4);
	assert_true(gauge_mean(&g, 70) == 3);
	assert_int_equal(g.max, 4);
}

static void areas_beyond_64_bits_keep_the_mean(void **state)
{
	struct gauge g;

	(void)state;
	gauge_init(&g, 0, UINT64_C(1) << 40);
	for (hd_time now = 1; now < 8; now++)
		gauge_set(&g, now << 40, UINT64_C(1) << 40);
	assert_true(gauge_mean(&g, UINT64_C(8) << 40) == 0x1p40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_mean_weighs_levels_by_time),
		cmocka_unit_test(a_restart_forgets_all_but_the_level),
		cmocka_unit_test(areas_beyond_64_bits_keep_the_mean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
