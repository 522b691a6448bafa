/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/expect_for_tests.h"

#include "model/des/des.h"

static void a_window_splits_levels_at_its_edges(void **state)
{
	struct window w = { .level = 2 };

	(void)state;
	window_start(&w, 1000, 100);
	window_set(&w, 1050, 4);  /* 2 for half of the first window */
	window_set(&w, 1100, 1);  /* 4 for the other half */
	window_set(&w, 1350, 10); /* 1 over two whole windows and a half */
	window_set(&w, 1400, 0);
	assert_int_equal(w.means.count, 4);
	assert_near(w.means.total, 3 + 1 + 1 + 5.5, 1e-12);
	assert_near(window_interval(&w, 0.9).mean, 10.5 / 4, 1e-12);
}

static void a_window_counts_happenings_per_unit(void **state)
{
	struct window w = { 0 };

	(void)state;
	window_start(&w, 0, 1000);
	for (hd_time t = 10; t <= 2000; t += 10)
		window_hit(&w, t, 50); /* a unit of time is 50 ps */
	/* One per 10 ps is 5 per unit; the event at an edge belongs to the later window. */
	assert_int_equal(w.means.count, 2);
	assert_near(w.means.total / 2, 5, 0.05);
}

static void nothing_is_recorded_before_the_start(void **state)
{
	struct window w = { 0 };

	(void)state;
	window_set(&w, 500, 7);
	window_hit(&w, 600, 1);
	assert_int_equal(w.means.count, 0);
	window_start(&w, 700, 10);
	window_set(&w, 710, 0);
	assert_near(w.means.total, 7, 0);
}

static void the_scale_fits_the_clock(void **state)
{
	struct des_options o = { .packets = 1000000 };
	double scale = des_scale(&o, 8, 4);

	(void)state;
	assert_near(scale, 8e9, 1);
	assert_int_equal(des_time(scale, 0.125), 1000000000);
	o.packets = DES_MAX_PACKETS;
	/* The whole run stays far below 2^64 ps. */
	scale = des_scale(&o, 1e6, 1e-3);
	assert_true(scale * 1.1e10 / 1e-3 < 1.01e18);
}

static void unsound_intervals_agree_with_all(void **state)
{
	struct interval in = { .mean = 5, .half_width = 1, .sound = true };

	(void)state;
	assert_true(des_agrees(&in, 5.9));
	assert_false(des_agrees(&in, 6.1));
	in.sound = false;
	assert_true(des_agrees(&in, 6.1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_splits_levels_at_its_edges),
		cmocka_unit_test(a_window_counts_happenings_per_unit),
		cmocka_unit_test(nothing_is_recorded_before_the_start),
		cmocka_unit_test(the_scale_fits_the_clock),
		cmocka_unit_test(unsound_intervals_agree_with_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
