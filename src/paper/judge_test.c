/* SPDX-License-Identifier: BSD-2-Clause */
#include "paper/judge.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct column columns[] = {
	{ "topology", NULL, VALUE_TEXT },
	{ "size", "B", VALUE_UINT },
	{ "taken", "1", VALUE_REAL },
	{ "holds", NULL, VALUE_BOOL },
	{ NULL },
};

static struct results *sample(void)
{
	static const struct {
		const char *topology;
		unsigned size;
		double taken;
		bool holds;
	} rows[] = {
		{ "mesh", 256, 2518.4, true },
		{ "mesh", 4096, 2600, false },
		{ "cube", 256, 2700, true },
	};
	struct results *r = results_new("test");
	struct table *t = results_table(r, "load", "", columns);

	for (unsigned i = 0; i < 3; i++) {
		table_put_text(t, rows[i].topology);
		table_put_uint(t, rows[i].size);
		table_put_real(t, rows[i].taken);
		table_put_bool(t, rows[i].holds);
	}
	return r;
}

/* One check of the sample, written as in a file. */
static struct judgement judged(const char *value, const char *published)
{
	struct results *r = sample();
	struct diag d = { .status = HD_OK };
	struct judgement j;
	struct paper p;
	char text[500];

	snprintf(text, sizeof(text),
		 "paper: '0'\ntitle: t\nexperiments:\n- id: a\n  title: a\n"
		 "  command: x\n  verdict: matched\n  checks:\n"
		 "  - {what: w, table: load, %s, published: '%s'}\n",
		 value, published);
	if (paper_parse(text, strlen(text), "t.yaml", &d, &p) != HD_OK)
		fail_msg("%u:%u: %s", d.line, d.column, d.message);
	judge(&p.experiments[0].checks[0], r, &j);
	paper_fini(&p);
	results_free(r);
	return j;
}

static void check(const char *value, const char *published,
		  enum paper_verdict wanted)
{
	struct judgement j = judged(value, published);

	if (j.verdict != wanted)
		fail_msg("%s against %s: %s, not %s", value, published,
			 paper_verdict_names[j.verdict],
			 paper_verdict_names[wanted]);
	judgement_fini(&j);
}

#define MESH "column: taken, where: 'topology=mesh, size=256'"

static void numbers_are_equal_to_their_printed_digits(void **state)
{
	(void)state;
	check(MESH, "2518", VERDICT_MATCHED);
	check(MESH, "2518.4", VERDICT_MATCHED);
	check(MESH, "2518.0", VERDICT_REFUTED);
	check(MESH, "2.518e3", VERDICT_MATCHED);
	check(MESH, "2519", VERDICT_REFUTED);
	check(MESH, "2500 +- 1%", VERDICT_WITHIN);
	check(MESH, "2518 +- 1%", VERDICT_MATCHED);
	check(MESH, "2500 +- 0.5%", VERDICT_REFUTED);
}

static void deviations_are_of_the_published_value(void **state)
{
	struct judgement j = judged(MESH, "2000");

	(void)state;
	assert_true(fabs(j.deviation - 0.2592) < 1e-12);
	assert_true(j.ours == 2518.4);
	assert_string_equal(j.unit, "1");
	judgement_fini(&j);
}

static void bounds_hold_or_do_not(void **state)
{
	(void)state;
	check(MESH, ">= 2518.4", VERDICT_MATCHED);
	check(MESH, ">= 2519", VERDICT_REFUTED);
	check(MESH, ">= 2519 +- 1%", VERDICT_WITHIN);
	check(MESH, "<= 2519", VERDICT_MATCHED);
	check(MESH, "<= 2518", VERDICT_REFUTED);
}

static void many_rows_become_one_number(void **state)
{
	(void)state;
	check("column: taken, take: most", "2700", VERDICT_MATCHED);
	check("column: taken, take: least", "2518", VERDICT_MATCHED);
	check("column: taken, take: sum", "7818.4", VERDICT_MATCHED);
	check("column: taken, take: mean, where: topology=mesh", "2559.2",
	      VERDICT_MATCHED);
	check("column: taken, take: first", "2518", VERDICT_MATCHED);
	check("column: taken, take: last", "2700", VERDICT_MATCHED);
	check("take: count, where: size=256", "2", VERDICT_MATCHED);
	check("take: count, where: size=1", "0", VERDICT_MATCHED);
	check("take: count, where: kind=1", "0", VERDICT_NONE);
}

static void values_are_compared_with_each_other(void **state)
{
	(void)state;
	check("column: taken, where: topology=cube, against: {table: load, "
	      "column: taken, where: size=4096}",
	      "1.04", VERDICT_MATCHED);
	check("column: taken, where: topology=cube, against: {table: load, "
	      "column: taken, take: most}",
	      "<= 1", VERDICT_MATCHED);
	check("column: taken, where: topology=cube, against: {table: load, "
	      "column: taken, where: size=1}",
	      "<= 1", VERDICT_NONE);
}

static void courses_rise_or_fall(void **state)
{
	(void)state;
	check("column: taken", "rises", VERDICT_MATCHED);
	check("column: taken", "falls", VERDICT_REFUTED);
	check("column: size, where: topology=mesh", "rises", VERDICT_MATCHED);
	check("column: size", "rises", VERDICT_REFUTED);
	/* One row is no course. */
	check(MESH, "rises", VERDICT_REFUTED);
}

static void texts_and_booleans_are_read(void **state)
{
	(void)state;
	check("column: holds, where: size=4096", "no", VERDICT_MATCHED);
	check("column: holds, where: size=4096", "yes", VERDICT_REFUTED);
	check("column: topology, take: last", "cube", VERDICT_MATCHED);
}

/* A renamed column must not turn a verdict into silence. */
static void what_is_not_there_is_said(void **state)
{
	static const struct {
		const char *value, *missing;
	} rows[] = {
		{ "column: lost", "table 'load' has no column 'lost'" },
		{ "column: taken", "3 rows of 'load' fit" },
		{ "column: taken, where: topology=ring",
		  "table 'load' has no row with topology=ring" },
		{ "column: taken, where: kind=ring",
		  "table 'load' has no column for 'kind=ring'" },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct judgement j = judged(rows[i].value, "1");

		assert_int_equal(j.verdict, VERDICT_NONE);
		assert_string_equal(j.missing, rows[i].missing);
		judgement_fini(&j);
	}
}

static void the_worst_check_decides(void **state)
{
	struct judgement j[3] = { { .verdict = VERDICT_MATCHED },
				  { .verdict = VERDICT_WITHIN },
				  { .verdict = VERDICT_MATCHED } };

	(void)state;
	assert_int_equal(judge_all(j, 1), VERDICT_MATCHED);
	assert_int_equal(judge_all(j, 3), VERDICT_WITHIN);
	assert_int_equal(judge_all(j, 0), VERDICT_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_equal_to_their_printed_digits),
		cmocka_unit_test(deviations_are_of_the_published_value),
		cmocka_unit_test(bounds_hold_or_do_not),
		cmocka_unit_test(many_rows_become_one_number),
		cmocka_unit_test(values_are_compared_with_each_other),
		cmocka_unit_test(courses_rise_or_fall),
		cmocka_unit_test(texts_and_booleans_are_read),
		cmocka_unit_test(what_is_not_there_is_said),
		cmocka_unit_test(the_worst_check_decides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
