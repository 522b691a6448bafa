/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/results.h"

static const struct column columns[] = {
	{ "flow", NULL, VALUE_TEXT },
	{ "packets", "", VALUE_UINT, ORIGIN_SIMULATED },
	{ "delay", "us", VALUE_REAL, ORIGIN_SIMULATED },
	{ "rate", "Gb/s", VALUE_REAL, ORIGIN_COMPUTED },
	{ NULL },
};

static void cells_put_in_order_make_rows(void **state)
{
	struct results *r = results_new("sim");
	struct table *t = results_table(r, "flows", "all flows", columns);

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		table_put_textf(t, "f%u", i);
		table_put_uint(t, i);
		table_put_time(t, i * 1500 * HD_NS);
		table_put_rate(t, hd_rate_of_link(4, SPEED_SDR));
	}
	assert_int_equal(table_rows(t), 100);
	assert_string_equal(table_cell(t, 7, 0)->text, "f7");
	assert_int_equal(table_cell(t, 99, 1)->u, 99);
	assert_true(table_cell(t, 2, 2)->real == 3.0);
	assert_true(table_cell(t, 0, 3)->real == 8.0);
	results_free(r);
}

static void tables_are_found_by_name_and_stay_where_they_are(void **state)
{
	struct results *r = results_new("sim");
	const struct table *first = results_table(r, "t", "", columns);
	char name[16];

	(void)state;
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		results_series(r, name, "", columns);
	}
	assert_ptr_equal(results_find(r, "t"), first);
	assert_int_equal(results_find(r, "t42")->kind, TABLE_SERIES);
	assert_null(results_find(r, "t100"));
	results_free(r);
}

static void a_number_that_is_none_is_no_value(void **state)
{
	struct results *r = results_new("sim");
	static const struct column one[] = {
		{ "x", "s", VALUE_REAL, ORIGIN_COMPUTED }, { NULL }
	};
	struct table *t = results_table(r, "t", "", one);

	(void)state;
	table_put_real(t, NAN);
	table_put_real(t, -INFINITY);
	table_put_none(t);
	table_put_real(t, 0);
	for (size_t row = 0; row < 3; row++)
		assert_int_equal(table_cell(t, row, 0)->kind, VALUE_NONE);
	assert_int_equal(table_cell(t, 3, 0)->kind, VALUE_REAL);
	results_free(r);
}

static void results_own_what_they_were_given(void **state)
{
	struct results *r = results_new("sim");
	char name[] = "name", unit[] = "ns", text[] = "text";
	struct column own[] = { { name, unit, VALUE_TEXT, ORIGIN_GIVEN },
				{ NULL } };
	struct table *t = results_table(r, name, text, own);

	(void)state;
	table_put_text(t, text);
	results_set_scenario(r, text);
	results_remark(r, "%s of %d", text, 5);
	memset(name, 'x', 4);
	memset(unit, 'x', 2);
	memset(text, 'x', 4);
	memset(own, 0, sizeof(own));
	assert_string_equal(t->name, "name");
	assert_string_equal(t->title, "text");
	assert_string_equal(t->columns[0].unit, "ns");
	assert_string_equal(table_cell(t, 0, 0)->text, "text");
	assert_string_equal(r->scenario, "text");
	assert_string_equal(r->remarks[0], "text of 5");
	results_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_put_in_order_make_rows),
		cmocka_unit_test(
			tables_are_found_by_name_and_stay_where_they_are),
		cmocka_unit_test(a_number_that_is_none_is_no_value),
		cmocka_unit_test(results_own_what_they_were_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
