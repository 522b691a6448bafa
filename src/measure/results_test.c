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

struct flow_row {
	const char *flow;
	uint64_t packets;
	hd_time delay;
	struct hd_rate rate;
};

static const struct column columns[] = {
	{ "flow", NULL, CELL(flow_row, flow) },
	{ "packets", "", CELL(flow_row, packets), ORIGIN_SIMULATED },
	{ "delay", "us", CELL_TIME(flow_row, delay), ORIGIN_SIMULATED },
	{ "rate", "Gb/s", CELL(flow_row, rate), ORIGIN_COMPUTED },
	{ NULL },
};

static void structs_make_rows(void **state)
{
	struct results *r = results_new("sim");
	struct table *t = results_table(r, "flows", "all flows", columns);

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		struct flow_row row = {
			.flow = table_text(t, "f%u", i),
			.packets = i,
			.delay = i * 1500 * HD_NS,
			.rate = hd_rate_of_link(4, SPEED_SDR),
		};

		table_put_row(t, &row);
	}
	assert_int_equal(table_rows(t), 100);
	assert_string_equal(table_cell(t, 7, 0)->text, "f7");
	assert_int_equal(table_cell(t, 99, 1)->u, 99);
	assert_true(table_cell(t, 2, 2)->real == 3.0);
	assert_true(table_cell(t, 0, 3)->real == 8.0);
	assert_int_equal(t->columns[2].kind, VALUE_REAL);
	assert_int_equal(t->columns[2].origin, ORIGIN_SIMULATED);
	results_free(r);
}

/* All storage types of a member. */
struct every_row {
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;
	int8_t i8;
	int16_t i16;
	int32_t i32;
	int64_t i64;
	double real, span, bits, share;
	bool yes;
	char *text;
	const char *borrowed;
	char chars[8];
	struct hd_rate rate;
	hd_time time;
	enum origin name;
	struct nested {
		unsigned line;
		double list[3];
	} in;
};

static const char *const letters[] = { "a", "b", "c", "d", "e" };

static const struct column every_column[] = {
	{ "u8", NULL, CELL(every_row, u8) },
	{ "u16", NULL, CELL(every_row, u16) },
	{ "u32", NULL, CELL(every_row, u32) },
	{ "u64", NULL, CELL(every_row, u64) },
	{ "i8", NULL, CELL(every_row, i8) },
	{ "i16", NULL, CELL(every_row, i16) },
	{ "i32", NULL, CELL(every_row, i32) },
	{ "i64", NULL, CELL(every_row, i64) },
	{ "real", NULL, CELL(every_row, real) },
	{ "span", "ns", CELL_TIME(every_row, span) },
	{ "bits", "Mb/s", CELL_BITS(every_row, bits) },
	{ "share", "%", CELL_SHARE(every_row, share) },
	{ "yes", NULL, CELL(every_row, yes) },
	{ "text", NULL, CELL(every_row, text) },
	{ "borrowed", NULL, CELL(every_row, borrowed) },
	{ "chars", NULL, CELL(every_row, chars) },
	{ "rate", "MB/s", CELL(every_row, rate) },
	{ "time", "ms", CELL_TIME(every_row, time) },
	{ "name", NULL, CELL_NAME(every_row, name, letters) },
	{ "line", NULL, CELL_UNLESS(every_row, in.line, 0) },
	{ "element", NULL, CELL(every_row, in.list[2]) },
	{ NULL },
};

static void members_of_any_type_are_read(void **state)
{
	struct results *r = results_new("sim");
	struct table *t = results_table(r, "every", "", every_column);
	char own[] = "own";
	const struct every_row row = {
		.u8 = UINT8_MAX,
		.u16 = UINT16_MAX,
		.u32 = UINT32_MAX,
		.u64 = UINT64_MAX,
		.i8 = INT8_MIN,
		.i16 = INT16_MIN,
		.i32 = INT32_MIN,
		.i64 = INT64_MIN,
		.real = -0.5,
		.span = 2500,
		.bits = 2.5e9,
		.share = 0.25,
		.yes = true,
		.text = own,
		.borrowed = "lent",
		.chars = "seven77",
		.rate = hd_rate_of_link(4, SPEED_SDR),
		.time = 3 * HD_MS,
		.name = ORIGIN_MEASURED,
		.in = { .line = 7, .list = { 1, 2, 3 } },
	};

	(void)state;
	table_put_row(t, &row);
	memset(own, 'x', 3);
	assert_int_equal(table_cell(t, 0, 0)->u, UINT8_MAX);
	assert_int_equal(table_cell(t, 0, 1)->u, UINT16_MAX);
	assert_int_equal(table_cell(t, 0, 2)->u, UINT32_MAX);
	assert_true(table_cell(t, 0, 3)->u == UINT64_MAX);
	assert_int_equal(table_cell(t, 0, 4)->i, INT8_MIN);
	assert_int_equal(table_cell(t, 0, 5)->i, INT16_MIN);
	assert_int_equal(table_cell(t, 0, 6)->i, INT32_MIN);
	assert_true(table_cell(t, 0, 7)->i == INT64_MIN);
	assert_true(table_cell(t, 0, 8)->real == -0.5);
	assert_true(table_cell(t, 0, 9)->real == 2.5);
	assert_true(table_cell(t, 0, 10)->real == 2500);
	assert_true(table_cell(t, 0, 11)->real == 25);
	assert_true(table_cell(t, 0, 12)->yes);
	assert_string_equal(table_cell(t, 0, 13)->text, "own");
	assert_string_equal(table_cell(t, 0, 14)->text, "lent");
	assert_string_equal(table_cell(t, 0, 15)->text, "seven77");
	assert_true(table_cell(t, 0, 16)->real == 1000);
	assert_true(table_cell(t, 0, 17)->real == 3);
	assert_string_equal(table_cell(t, 0, 18)->text, "d");
	assert_int_equal(table_cell(t, 0, 19)->u, row.in.line);
	assert_true(table_cell(t, 0, 20)->real == row.in.list[2]);
	for (size_t i = 0; i < t->n_columns; i++)
		assert_int_equal(table_cell(t, 0, i)->kind, t->columns[i].kind);
	results_free(r);
}

static void a_missing_cell_has_no_value(void **state)
{
	struct results *r = results_new("sim");
	struct table *t = results_table(r, "every", "", every_column);
	const struct every_row row = {
		.real = NAN,
		.span = -INFINITY,
		.bits = NAN,
		.share = INFINITY,
		.rate = { 0, 1 },
		.time = HD_TIME_NEVER,
	};
	static const char *const lacking[] = { "real", "span",     "bits", "share",
					       "text", "borrowed", "time", "line" };

	(void)state;
	table_put_row(t, &row);
	for (size_t i = 0; i < t->n_columns; i++) {
		bool lacks = false;

		for (size_t k = 0; k < sizeof(lacking) / sizeof(*lacking); k++)
			lacks |= strcmp(t->columns[i].name, lacking[k]) == 0;
		assert_int_equal(table_cell(t, 0, i)->kind == VALUE_NONE, lacks);
	}
	results_free(r);
}

static void columns_may_be_cut_and_shuffled(void **state)
{
	struct results *r = results_new("sim");
	const struct column some[] = { columns[3], columns[1], { NULL } };
	struct table *t = results_table(r, "some", "", some);
	const struct flow_row row = { .packets = 5, .rate = { 1000, 1 } };

	(void)state;
	table_put_row(t, &row);
	assert_int_equal(table_cell(t, 0, 1)->u, 5);
	assert_string_equal(t->columns[0].name, "rate");
	results_free(r);
}

/* The same text twice, one that no member took, and one for the next row. */
static void texts_made_for_a_row_are_owned_once(void **state)
{
	struct results *r = results_new("sim");
	const struct column twice[] = { columns[0], columns[0], { NULL } };
	struct table *t = results_table(r, "twice", "", twice);
	struct strbuf text = STRBUF_INIT;
	struct flow_row row = { .flow = table_text(t, "both") };

	(void)state;
	table_text(t, "unused");
	table_put_row(t, &row);
	strbuf_puts(&text, "next");
	row.flow = table_take(t, &text);
	assert_int_equal(text.len, 0);
	table_put_row(t, &row);
	table_text(t, "left over");
	assert_string_equal(table_cell(t, 0, 0)->text, "both");
	assert_string_equal(table_cell(t, 0, 1)->text, "both");
	assert_true(table_cell(t, 0, 0)->text != table_cell(t, 0, 1)->text);
	assert_string_equal(table_cell(t, 1, 1)->text, "next");
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

static void rows_of_values_are_copied(void **state)
{
	struct results *r = results_new("sim");
	static const struct column two[] = {
		{ "x", "s", VALUE_REAL, ORIGIN_COMPUTED },
		{ "y", NULL, VALUE_TEXT },
		{ NULL },
	};
	struct table *t = results_table(r, "t", "", two);
	char text[] = "text";
	const struct value rows[][2] = {
		{ { VALUE_REAL, .real = 0 }, { VALUE_TEXT, .text = text } },
		{ { VALUE_NONE, .u = 0 }, { VALUE_NONE, .u = 0 } },
	};

	(void)state;
	table_put_values(t, rows[0]);
	table_put_values(t, rows[1]);
	memset(text, 'x', 4);
	assert_int_equal(table_rows(t), 2);
	assert_int_equal(table_cell(t, 0, 0)->kind, VALUE_REAL);
	assert_string_equal(table_cell(t, 0, 1)->text, "text");
	assert_int_equal(table_cell(t, 1, 1)->kind, VALUE_NONE);
	results_free(r);
}

static void results_own_what_they_were_given(void **state)
{
	struct results *r = results_new("sim");
	char name[] = "name", unit[] = "ns", text[] = "text";
	struct column own[] = { { name, unit, CELL(flow_row, flow) }, { NULL } };
	struct table *t = results_table(r, name, text, own);

	(void)state;
	table_put_row(t, &(struct flow_row){ .flow = text });
	results_set_scenario(r, text);
	results_remark(r, "%s of %d", text, 5);
	results_remark(r, "%s again", text);
	results_parameter(r, name, text);
	results_parameter(r, unit, name);
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
	assert_string_equal(r->remarks[1], "text again");
	assert_int_equal(r->n_parameters, 2);
	assert_string_equal(r->parameters[0].name, "name");
	assert_string_equal(r->parameters[0].value, "text");
	assert_string_equal(r->parameters[1].name, "ns");
	assert_string_equal(r->parameters[1].value, "name");
	results_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(structs_make_rows),
		cmocka_unit_test(members_of_any_type_are_read),
		cmocka_unit_test(a_missing_cell_has_no_value),
		cmocka_unit_test(columns_may_be_cut_and_shuffled),
		cmocka_unit_test(texts_made_for_a_row_are_owned_once),
		cmocka_unit_test(tables_are_found_by_name_and_stay_where_they_are),
		cmocka_unit_test(rows_of_values_are_copied),
		cmocka_unit_test(results_own_what_they_were_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
