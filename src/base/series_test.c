/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/series.h"

static void reads(const char *text, size_t n, const double *want)
{
	struct diag d = { .status = HD_OK };
	struct series s;

	assert_int_equal(series_parse(text, &d, &s), HD_OK);
	assert_int_equal(s.n, n);
	for (size_t k = 0; k < n; k++) {
		if (s.values[k] != want[k])
			fail_msg("%s: value %zu is %.17g, expected %.17g", text, k, s.values[k],
				 want[k]);
	}
	series_fini(&s);
}

static void refuses(const char *text, enum hd_status status, const char *words)
{
	struct diag d = { .status = HD_OK };
	struct series s;

	assert_int_equal(series_parse(text, &d, &s), status);
	assert_string_equal(d.message, words);
}

static void lists_and_ranges_mix(void **state)
{
	(void)state;
	reads("4", 1, (double[]){ 4 });
	reads("1,2,4", 3, (double[]){ 1, 2, 4 });
	reads("1..5", 5, (double[]){ 1, 2, 3, 4, 5 });
	reads("0.5..2:0.5", 4, (double[]){ 0.5, 1, 1.5, 2 });
	reads("1,2..6:2", 4, (double[]){ 1, 2, 4, 6 });
	reads("3..3", 1, (double[]){ 3 });
	reads("-1..1", 3, (double[]){ -1, 0, 1 });
	reads("1e-3,2e6", 2, (double[]){ 0.001, 2000000 });
	reads("5,1", 2, (double[]){ 5, 1 });
}

static void steps_give_the_decimals_that_a_user_means(void **state)
{
	(void)state;
	reads("0.1..1:0.1", 10, (double[]){ 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1 });
}

static void a_step_that_misses_the_end_stops_before_it(void **state)
{
	(void)state;
	reads("1..4:2", 2, (double[]){ 1, 3 });
	reads("1..2:5", 1, (double[]){ 1 });
}

static void what_is_not_a_list_is_refused(void **state)
{
	static const char *const bad[] = { "",       "x",       "1,",    ",1",  "5..1",   "1..",
					   "1..2:0", "1..2:-1", "1...3", "nan", "1..inf", "1 2" };

	(void)state;
	for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
		struct diag d = { .status = HD_OK };
		struct series s;

		if (series_parse(bad[k], &d, &s) != HD_ERR_INPUT)
			fail_msg("'%s' was taken", bad[k]);
	}
	refuses("1,5..2:1", HD_ERR_INPUT,
		"'5..2:1' is not a list of numbers (expected e.g. 4, 1,2,4, 1..8 or 0.5..8:0.5)");
}

static void a_sweep_has_an_end(void **state)
{
	(void)state;
	refuses("0..1:1e-9", HD_ERR_RANGE, "too many values: at most 100000 are allowed");
	refuses("1..100000,7", HD_ERR_RANGE, "too many values: at most 100000 are allowed");
	refuses("-1e308..1e308:1e-308", HD_ERR_RANGE,
		"too many values: at most 100000 are allowed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_and_ranges_mix),
		cmocka_unit_test(steps_give_the_decimals_that_a_user_means),
		cmocka_unit_test(a_step_that_misses_the_end_stops_before_it),
		cmocka_unit_test(what_is_not_a_list_is_refused),
		cmocka_unit_test(a_sweep_has_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
