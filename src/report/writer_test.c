/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "report/compare.h"
#include "report/writer.h"

static const struct column flow_columns[] = {
	{ "flow", NULL, VALUE_TEXT },
	{ "packets", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "p99", "us", VALUE_REAL, ORIGIN_SIMULATED, .places = 2 },
	{ "bound", "us", VALUE_REAL, ORIGIN_COMPUTED },
	{ "met", NULL, VALUE_BOOL, ORIGIN_SIMULATED },
	{ NULL },
};

static const struct column total_columns[] = {
	{ "load", "Gb/s", VALUE_REAL, ORIGIN_SIMULATED },
	{ "drift", "ppm", VALUE_INT, ORIGIN_SIMULATED },
	{ NULL },
};

static void put_flow(struct table *t, const char *name, uint64_t packets, double p99, double bound)
{
	table_put_values(t, (struct value[]){ value_of_text(name), value_of_uint(packets),
					      value_of_real(p99), value_of_real(bound),
					      value_of_bool(p99 <= bound) });
}

static struct results *sample(void)
{
	struct results *r = results_new("sim");
	struct table *t = results_table(r, "flows", "what each flow received", flow_columns);

	put_flow(t, "video", 12, 1.5, 20);
	put_flow(t, "a \"b\", c", 100000, 1234.567, 0.125);
	put_flow(t, "größe", 0, NAN, 1e-7);
	t = results_record(r, "total", "", total_columns);
	table_put_values(
		t, (struct value[]){ value_of_real(7.25), (struct value){ VALUE_INT, .i = -3 } });
	r->seed = 42;
	results_set_version(r, "0.1.0");
	results_remark(r, "warm-up was %d packets", 10);
	return r;
}

static char *written(const char *format, const struct results *r)
{
	struct strbuf out = STRBUF_INIT;

	writer_find(format)->write(r, &out);
	return strbuf_detach(&out);
}

static void text_aligns_columns_under_units_and_origins(void **state)
{
	struct results *r = sample();
	char *text = written("text", r);

	(void)state;
	assert_string_equal(text, "# flows: what each flow received\n"
				  "# flow        packets    p99[us]  bound[us]  met\n"
				  "# -         simulated  simulated   computed  simulated\n"
				  "  video            12       1.50         20  yes\n"
				  "  a \"b\", c     100000    1234.57      0.125  no\n"
				  "  größe             0          -      1e-07  no\n"
				  "\n"
				  "# total (simulated)\n"
				  "  load:  7.25 Gb/s\n"
				  "  drift: -3 ppm\n"
				  "\n"
				  "# note: warm-up was 10 packets\n");
	free(text);
	results_free(r);
}

static void csv_quotes_what_needs_it_and_keeps_every_digit(void **state)
{
	struct results *r = sample();
	char *text = written("csv", r);

	(void)state;
	assert_string_equal(
		text,
		"# flows: what each flow received; simulated: packets, p99, met; computed: bound\n"
		"flow,packets,p99[us],bound[us],met\n"
		"video,12,1.5,20,true\n"
		"\"a \"\"b\"\", c\",100000,1234.567,0.125,false\n"
		"größe,0,,1e-07,false\n"
		"\n"
		"# total: ; simulated: load, drift\n"
		"load[Gb/s],drift[ppm]\n"
		"7.25,-3\n"
		"# note: warm-up was 10 packets\n");
	free(text);
	results_free(r);
}

/* Characters with a meaning in LaTeX are escaped. */
static void latex_has_booktabs_rules_and_escapes(void **state)
{
	struct results *r = sample();
	static const struct column odd[] = {
		{ "a_b +-", "%", VALUE_TEXT },
		{ NULL },
	};
	struct table *t = results_table(r, "odd", "100 %", odd);

	table_put_values(t, (struct value[]){ value_of_text("50% & \\x{} $1 #2 ~^") });
	char *text = written("latex", r);

	(void)state;
	assert_string_equal(
		text,
		"% flows: what each flow received\n"
		"\\begin{tabular}{lrrrl}\n\\toprule\n"
		"flow & packets & p99 [$\\mu$s] & bound [$\\mu$s] & met \\\\\n\\midrule\n"
		"video & 12 & 1.50 & 20 & yes \\\\\n"
		"a \\textquotedbl{}b\\textquotedbl{}, c & 100000 & 1234.57 & 0.125 & no \\\\\n"
		"größe & 0 & -- & 1e-07 & no \\\\\n"
		"\\bottomrule\n\\end{tabular}\n\n"
		"% total: \n\\begin{tabular}{lr}\n\\toprule\n"
		"load [Gb/s] & 7.25 \\\\\ndrift [ppm] & -3 \\\\\n"
		"\\bottomrule\n\\end{tabular}\n\n"
		"% odd: 100 %\n\\begin{tabular}{l}\n\\toprule\n"
		"a\\_b $\\pm$ [\\%] \\\\\n\\midrule\n"
		"50\\% \\& \\textbackslash{}x\\{\\} \\$1 \\#2 \\textasciitilde{}\\textasciicircum{} \\\\\n"
		"\\bottomrule\n\\end{tabular}\n"
		"% note: warm-up was 10 packets\n");
	free(text);
	results_free(r);
}

static void gnuplot_parts_the_curves_of_a_series(void **state)
{
	static const struct column columns[] = {
		{ "engine", NULL, VALUE_TEXT },
		{ "load", "%", VALUE_REAL },
		{ "p99", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
		{ NULL },
	};
	struct results *r = results_new("sweep");
	struct table *t = results_series(r, "curves", "c", columns);

	(void)state;
	for (int i = 0; i < 4; i++) {
		table_put_values(t, (struct value[]){ value_of_text(i < 2 ? "a \"x\"" : "b"),
						      value_of_real(10 * (i % 2)),
						      value_of_real(i == 3 ? NAN : 1.0 / 3) });
	}
	char *text = written("gnuplot", r);

	assert_string_equal(text, "# index 0: curves: c\n"
				  "\"engine\" \"load [%]\" \"p99 [us]\"\n"
				  "\"a 'x'\" 0 0.3333333333333333\n"
				  "\"a 'x'\" 10 0.3333333333333333\n"
				  "\n\n# index 1: curves: c\n"
				  "\"engine\" \"load [%]\" \"p99 [us]\"\n"
				  "\"b\" 0 0.3333333333333333\n"
				  "\"b\" 10 NaN\n");
	free(text);
	results_free(r);
}

static void gnuplot_finds_curves_in_any_order_of_rows(void **state)
{
	static const struct column columns[] = {
		{ "load", "%", VALUE_REAL },
		{ "vls", NULL, VALUE_UINT },
		{ "engine", NULL, VALUE_TEXT },
		{ "p99", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
		{ NULL },
	};
	struct results *r = results_new("sweep");
	struct table *t = results_series(r, "curves", "c", columns);

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		table_put_values(t, (struct value[]){ value_of_real(i < 4 ? 0 : 10),
						      value_of_uint(1 + i / 2 % 2),
						      value_of_text(i % 2 ? "b" : "a"),
						      value_of_real(i) });
	}
	char *text = written("gnuplot", r);

#define NAMES "\"load [%]\" \"vls\" \"engine\" \"p99 [us]\"\n"
	assert_string_equal(text, "# index 0: curves: c\n" NAMES "0 1 \"a\" 0\n10 1 \"a\" 4\n"
				  "\n\n# index 1: curves: c\n" NAMES "0 1 \"b\" 1\n10 1 \"b\" 5\n"
				  "\n\n# index 2: curves: c\n" NAMES "0 2 \"a\" 2\n10 2 \"a\" 6\n"
				  "\n\n# index 3: curves: c\n" NAMES "0 2 \"b\" 3\n10 2 \"b\" 7\n");
	free(text);
	results_free(r);
}

static json_t *parsed(const struct results *r)
{
	char *text = written("json", r);
	json_error_t error;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	if (!root)
		fail_msg("%d: %s", error.line, error.text);
	free(text);
	return root;
}

static json_t *cell(json_t *root, const char *table, size_t row, const char *name)
{
	json_t *t = json_object_get(json_object_get(root, "tables"), table);

	return json_object_get(json_array_get(json_object_get(t, "rows"), row), name);
}

static void json_has_values_units_and_origins(void **state)
{
	struct results *r = sample();
	json_t *root = parsed(r);
	const char *unit, *origin, *kind, *note;

	(void)state;
	assert_int_equal(json_unpack(root, "{s:{s:{s:{s:{s:s,s:s}}},s:{s:s}},s:[s]}", "tables",
				     "flows", "columns", "bound", "unit", &unit, "origin", &origin,
				     "total", "kind", &kind, "notes", &note),
			 0);
	assert_string_equal(unit, "us");
	assert_string_equal(origin, "computed");
	assert_string_equal(kind, "record");
	assert_string_equal(note, "warm-up was 10 packets");
	assert_string_equal(json_string_value(cell(root, "flows", 1, "flow")), "a \"b\", c");
	assert_true(json_real_value(cell(root, "flows", 1, "p99")) == 1234.567);
	assert_true(json_is_null(cell(root, "flows", 2, "p99")));
	assert_true(json_is_true(cell(root, "flows", 0, "met")));
	assert_int_equal(json_integer_value(cell(root, "total", 0, "drift")), -3);
	json_decref(root);
	results_free(r);
}

static void json_doubles_read_back_exactly(void **state)
{
	static const struct column one[] = { { "x", "s", VALUE_REAL, ORIGIN_COMPUTED }, { NULL } };
	struct results *r = results_new("test");
	struct table *t = results_table(r, "t", "", one);
	struct rng rng;

	(void)state;
	r->seed = 5;
	rng_init(&rng, 3, 3);
	for (int i = 0; i < 5000; i++) {
		uint64_t bits = rng_next(&rng);
		double x;

		memcpy(&x, &bits, sizeof(x));
		table_put_values(t, (struct value[]){ value_of_real(x) });
	}
	json_t *root = parsed(r);

	for (size_t row = 0; row < table_rows(t); row++) {
		const struct value *v = table_cell(t, row, 0);
		json_t *got = cell(root, "t", row, "x");

		if (v->kind == VALUE_NONE)
			assert_true(json_is_null(got));
		else
			assert_true(json_number_value(got) == v->real);
	}
	json_decref(root);
	results_free(r);
}

static void an_empty_result_is_still_valid(void **state)
{
	struct results *r = results_new("test");
	char *text = written("text", r);

	(void)state;
	json_decref(parsed(r));
	results_table(r, "flows", "none", flow_columns);
	json_decref(parsed(r));
	results_record(r, "total", "not even one row", total_columns);
	free(text);
	text = written("text", r);
	assert_non_null(strstr(text, "# total: not even one row"));
	free(text);
	results_free(r);
}

/* The hash of table `name` of `r`, as printed. */
static void hash_of(const struct results *r, const char *name, char hash[17])
{
	char *text = written("checksum", r);
	char *line = strstr(text, name);

	assert_non_null(line);
	memcpy(hash, line + strlen(name) + 1, 16);
	hash[16] = '\0';
	free(text);
}

static void checksums_agree_only_on_the_same_results(void **state)
{
	struct results *a = sample(), *b = sample();
	char of_a[17], of_b[17];

	(void)state;
	hash_of(a, "all", of_a);
	hash_of(b, "all", of_b);
	assert_string_equal(of_a, of_b);
	/* Changes one bit of a double. */
	b->tables[0]->cells[2].real = nextafter(1.5, 2);
	hash_of(b, "all", of_b);
	assert_string_not_equal(of_a, of_b);
	hash_of(a, "flows", of_a);
	hash_of(b, "flows", of_b);
	assert_string_not_equal(of_a, of_b);
	hash_of(a, "total", of_a);
	hash_of(b, "total", of_b);
	assert_string_equal(of_a, of_b);
	results_free(a);
	results_free(b);
}

static void null_writes_nothing(void **state)
{
	struct results *r = sample();
	char *text = written("null", r);

	(void)state;
	assert_string_equal(text, "");
	free(text);
	results_free(r);
}

static void names_and_writers_agree(void **state)
{
	size_t i;

	(void)state;
	assert_string_equal(writer_names[0], "auto");
	for (i = 0; writers[i].name; i++) {
		assert_string_equal(writers[i].name, writer_names[i + 1]);
		assert_ptr_equal(writer_find(writers[i].name), &writers[i]);
	}
	assert_null(writer_names[i + 1]);
	assert_null(writer_find("pdf"));
	assert_string_equal(writer_of_path("a.b/x.json")->name, "json");
	assert_null(writer_of_path("x.tar"));
	assert_null(writer_of_path("json"));
}

/* Checks one column of texts under a title. */
static void assert_csv(const char *title, const char *text, const char *expected)
{
	static const struct column columns[] = { { "name", NULL, VALUE_TEXT }, { NULL } };
	struct results *r = results_new("x");
	struct table *t = results_table(r, "t", title, columns);
	struct strbuf out = STRBUF_INIT;

	table_put_values(t, (struct value[]){ value_of_text(text) });
	writer_find("csv")->write(r, &out);
	assert_string_equal(out.text, expected);
	strbuf_fini(&out);
	results_free(r);
}

static void csv_keeps_cells_and_titles_harmless(void **state)
{
	(void)state;
	/* A line that begins with # would be a comment. */
	assert_csv("", "#1", "# t: \nname\n\"#1\"\n");
	assert_csv("two\nlines", "a\nb", "# t: two\\nlines\nname\na\\nb\n");
	assert_csv("", "=1+cmd", "# t: \nname\n'=1+cmd\n");
	assert_csv("", "+x", "# t: \nname\n'+x\n");
	assert_csv("", "@x", "# t: \nname\n'@x\n");
	assert_csv("", " -x", "# t: \nname\n' -x\n");
	/* Numbers stay numbers, and a dash means no value. */
	assert_csv("", "-1.5e3", "# t: \nname\n-1.5e3\n");
	assert_csv("", "-", "# t: \nname\n-\n");
	assert_csv("", "\x1b[2J\xc2\x9b", "# t: \nname\n\\x1b[2J\\u009b\n");
}

static struct results *one_value(double value)
{
	static const struct column columns[] = { { "x", NULL, VALUE_REAL, ORIGIN_SIMULATED },
						 { NULL } };
	struct results *r = results_new("x");

	table_put_values(results_table(r, "t", "", columns),
			 (struct value[]){ value_of_real(value) });
	return r;
}

/* Upwards is a positive change, wherever it starts. */
static void a_change_is_of_the_size_of_the_first_value(void **state)
{
	static const double cases[][3] = {
		{ 4, 5, 25 }, { 4, 3, -25 }, { -4, -3, 25 }, { -4, -5, -25 }
	};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct results *from = one_value(cases[i][0]);
		struct results *to = one_value(cases[i][1]);
		struct results *out = results_new("report");
		const struct compared runs[] = { { 1, from }, { 2, to } };
		const struct compare_options o = { .all = true };

		compare_runs(runs, 2, &o, out);
		const struct table *t = results_find(out, "values");

		assert_non_null(t);
		assert_true(table_cell(t, 0, t->n_columns - 1)->real == cases[i][2]);
		results_free(from);
		results_free(to);
		results_free(out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_aligns_columns_under_units_and_origins),
		cmocka_unit_test(csv_quotes_what_needs_it_and_keeps_every_digit),
		cmocka_unit_test(latex_has_booktabs_rules_and_escapes),
		cmocka_unit_test(gnuplot_parts_the_curves_of_a_series),
		cmocka_unit_test(gnuplot_finds_curves_in_any_order_of_rows),
		cmocka_unit_test(json_has_values_units_and_origins),
		cmocka_unit_test(json_doubles_read_back_exactly),
		cmocka_unit_test(an_empty_result_is_still_valid),
		cmocka_unit_test(checksums_agree_only_on_the_same_results),
		cmocka_unit_test(null_writes_nothing),
		cmocka_unit_test(names_and_writers_agree),
		cmocka_unit_test(csv_keeps_cells_and_titles_harmless),
		cmocka_unit_test(a_change_is_of_the_size_of_the_first_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
