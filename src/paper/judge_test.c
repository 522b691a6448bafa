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

struct sample_row {
	const char *topology;
	unsigned size;
	double taken;
	bool holds;
};
static const struct column columns[] = {
	{ "topology", NULL, CELL(sample_row, topology) },
	{ "size", "B", CELL(sample_row, size) },
	{ "taken", "1", CELL(sample_row, taken) },
	{ "holds", NULL, CELL(sample_row, holds) },
	{ NULL },
};

static struct results *sample(void)
{
	static const struct sample_row rows[] = {
		{ "mesh", 256, 2518.4, true },
		{ "mesh", 4096, 2600, false },
		{ "cube", 256, 2700, true },
	};
	struct results *r = results_new("test");
	struct table *t = results_table(r, "load", "", columns);

	for (unsigned i = 0; i < 3; i++)
		table_put_row(t, &rows[i]);
	return r;
}

/* One check, written as in a file. */
static struct judgement judge_text_of(const char *value, const char *published,
				      const struct results *r)
{
	struct diag d = { .status = HD_OK };
	struct judgement j;
	struct paper p;
	char text[700];

	snprintf(text, sizeof(text),
		 "paper: '0'\ntitle: t\nexperiments:\n- id: a\n  title: a\n"
		 "  command: x\n  verdict: matched\n  checks:\n"
		 "  - {what: w, table: load, %s, published: '%s', source: s}\n",
		 value, published);
	if (paper_parse(text, strlen(text), "t.yaml", &d, &p) != HD_OK)
		fail_msg("%u:%u: %s", d.line, d.column, d.message);
	judge(&p.experiments[0].checks[0], r, &j);
	paper_fini(&p);
	return j;
}

static struct judgement judged(const char *value, const char *published)
{
	struct results *r = sample();
	struct judgement j = judge_text_of(value, published, r);

	results_free(r);
	return j;
}

static void check(const char *value, const char *published, enum paper_verdict wanted)
{
	struct judgement j = judged(value, published);

	if (j.verdict != wanted)
		fail_msg("%s against %s: %s, not %s", value, published,
			 paper_verdict_names[j.verdict], paper_verdict_names[wanted]);
	judgement_fini(&j);
}

#define MESH "column: taken, where: 'topology=mesh, size=256'"

static void numbers_are_equal_to_their_printed_digits(void **state)
{
	(void)state;
	check(MESH, "2518", VERDICT_MATCHED);
	check(MESH, "2518.4", VERDICT_MATCHED);
	check(MESH, "2518.0", VERDICT_NOT);
	check(MESH, "2.518e3", VERDICT_MATCHED);
	check(MESH, "2519", VERDICT_NOT);
	check(MESH, "2500 +- 1%", VERDICT_WITHIN);
	check(MESH, "2518 +- 1%", VERDICT_MATCHED);
	check(MESH, "2500 +- 0.5%", VERDICT_NOT);
	check(MESH, "computed 2518", VERDICT_COMPUTED);
	check(MESH, "computed 2519", VERDICT_NOT);
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
	check(MESH, ">= 2518.4", VERDICT_TREND);
	check(MESH, ">= 2519", VERDICT_NOT);
	check(MESH, ">= 2519 +- 1%", VERDICT_WITHIN);
	check(MESH, "<= 2519", VERDICT_TREND);
	check(MESH, "<= 2518", VERDICT_NOT);
	check(MESH, "> 2518.4", VERDICT_NOT);
	check(MESH, "> 2518", VERDICT_TREND);
	check(MESH, "< 2518.4", VERDICT_NOT);
	check(MESH, "< 2519", VERDICT_TREND);
}

static void many_rows_become_one_number(void **state)
{
	(void)state;
	check("column: taken, take: most", "2700", VERDICT_MATCHED);
	check("column: taken, take: least", "2518", VERDICT_MATCHED);
	check("column: taken, take: sum", "7818.4", VERDICT_MATCHED);
	check("column: taken, take: mean, where: topology=mesh", "2559.2", VERDICT_MATCHED);
	check("column: taken, take: first", "2518", VERDICT_MATCHED);
	check("column: taken, take: last", "2700", VERDICT_MATCHED);
	check("take: count, where: size=256", "2", VERDICT_MATCHED);
	check("take: count, where: size=1", "0", VERDICT_MATCHED);
	check("take: count, where: kind=1", "0", VERDICT_NONE);
}

static void values_are_compared_with_each_other(void **state)
{
	(void)state;
	check("column: taken, where: topology=cube, against: {table: load, column: taken, where: size=4096}",
	      "1.04", VERDICT_MATCHED);
	check("column: taken, where: topology=cube, against: {table: load, column: taken, take: most}",
	      "<= 1", VERDICT_TREND);
	check("column: taken, where: topology=cube, against: {table: load, column: taken, where: size=1}",
	      "<= 1", VERDICT_NONE);
}

static void courses_rise_or_fall(void **state)
{
	(void)state;
	check("column: taken", "rises", VERDICT_TREND);
	check("column: taken", "falls", VERDICT_NOT);
	check("column: size, where: topology=mesh", "rises", VERDICT_TREND);
	check("column: size", "rises", VERDICT_NOT);
	/* A single row has no trend. */
	check(MESH, "rises", VERDICT_NOT);
	check("column: size, where: topology=mesh", "never falls", VERDICT_TREND);
	/* Flat is no rise, and no fall. */
	check("column: size, where: size=256", "rises", VERDICT_NOT);
	check("column: size, where: size=256", "never falls", VERDICT_TREND);
	check("column: size, where: size=256", "never rises", VERDICT_TREND);
	check("column: size", "never rises", VERDICT_NOT);
}

static void texts_and_booleans_are_read(void **state)
{
	(void)state;
	check("column: holds, where: size=4096", "no", VERDICT_TREND);
	check("column: holds, where: size=4096", "yes", VERDICT_NOT);
	check("column: topology, take: last", "cube", VERDICT_TREND);
}

static void rows_are_chosen_by_relations(void **state)
{
	(void)state;
	check("take: count, where: taken>=2600", "2", VERDICT_MATCHED);
	check("take: count, where: 'taken>2518, taken<2600'", "1", VERDICT_MATCHED);
	check("take: count, where: taken<=2518.4", "1", VERDICT_MATCHED);
	check("take: count, where: topology!=mesh", "1", VERDICT_MATCHED);
	check("take: count, where: size<256", "0", VERDICT_MATCHED);
	/* A text is neither more nor less. */
	check("take: count, where: topology<300", "0", VERDICT_MATCHED);
}

/* Steps, seeds and counterparts: two fabrics, two sizes, three draws each. */
static struct results *grid(const double taken[2][2][3])
{
	static const struct column grid_columns[] = {
		{ "fabric", NULL, VALUE_TEXT },
		{ "size", "B", VALUE_UINT },
		{ "seed", NULL, VALUE_UINT },
		{ "taken", "us", VALUE_REAL },
		{ NULL },
	};
	struct results *r = results_new("test");
	struct table *t = results_table(r, "load", "", grid_columns);

	for (unsigned i = 0; i < 12; i++) {
		const struct value row[] = {
			value_of_text(i < 6 ? "mesh" : "cube"),
			value_of_uint(i / 3 % 2 ? 64 : 32),
			value_of_uint(i % 3 + 1),
			value_of_real(taken[i / 6][i / 3 % 2][i % 3]),
		};

		table_put_values(t, row);
	}
	return r;
}

struct counts {
	size_t cases, holds, unclear;
	enum paper_verdict verdict;
};

static void check_cases(const double taken[2][2][3], const char *value, const char *published,
			struct counts wanted)
{
	struct results *r = grid(taken);
	struct judgement j = judge_text_of(value, published, r);

	if (j.cases != wanted.cases || j.holds != wanted.holds || j.unclear != wanted.unclear ||
	    j.verdict != wanted.verdict)
		fail_msg("%s %s: %zu of %zu, %zu unclear, %s (%s)", value, published, j.holds,
			 j.cases, j.unclear, paper_verdict_names[j.verdict],
			 j.missing ? j.missing : "");
	judgement_fini(&j);
	results_free(r);
}

static const double grows[2][2][3] = { { { 2, 3, 4 }, { 3, 4, 5 } }, { { 1, 1, 1 }, { 2, 2, 2 } } };
/* Mesh falls from 32 to 64, clearly: by 1, 1 and 0.9. */
static const double falls[2][2][3] = { { { 3, 4, 5 }, { 2, 3, 4.1 } },
				       { { 1, 1, 1 }, { 2, 2, 2 } } };
/* Its draws go up, down, up: by +1, -2, +0.5. */
static const double wavers[2][2][3] = { { { 3, 4, 5 }, { 4, 2, 5.5 } },
					{ { 1, 1, 1 }, { 2, 2, 2 } } };

#define ALONG "column: taken, each: fabric, along: size, over: seed"

static void cases_are_judged_one_by_one(void **state)
{
	(void)state;
	check_cases(grows, ALONG, "rises", (struct counts){ 2, 2, 0, VERDICT_TREND });
	/* Half of the cases is not most of them. */
	check_cases(falls, ALONG, "rises", (struct counts){ 2, 1, 0, VERDICT_NOT });
	check_cases(falls, ALONG, "falls", (struct counts){ 2, 1, 0, VERDICT_NOT });
	check_cases(grows, "column: taken, take: mean, each: 'fabric, size'", ">= 1.5",
		    (struct counts){ 4, 3, 0, VERDICT_PARTLY });
	check_cases(grows, "column: taken, take: mean, each: 'fabric, size'", "1 +- 300%",
		    (struct counts){ 4, 4, 0, VERDICT_WITHIN });
	check_cases(grows, "column: taken, take: mean, each: 'fabric, size'", ">= 9",
		    (struct counts){ 4, 0, 0, VERDICT_NOT });
}

/* Nor does chance make it one where all draws are the same. */
static void a_flat_step_is_no_rise(void **state)
{
	static const double flat[2][2][3] = { { { 2, 2, 2 }, { 2, 2, 2 } },
					      { { 1, 2, 2 }, { 3, 4, 5 } } };

	(void)state;
	check_cases(flat, ALONG, "rises", (struct counts){ 2, 1, 0, VERDICT_NOT });
	check_cases(flat, ALONG, "falls", (struct counts){ 2, 0, 0, VERDICT_NOT });
	check_cases(flat, ALONG, "never falls", (struct counts){ 2, 2, 0, VERDICT_TREND });
	check_cases(flat, "column: taken, where: fabric=cube", "rises",
		    (struct counts){ 1, 0, 0, VERDICT_NOT });
	check_cases(flat, "column: taken, where: fabric=cube", "never falls",
		    (struct counts){ 1, 1, 0, VERDICT_TREND });
	check_cases(flat, "column: taken, where: size=32, each: fabric, over: seed", "> 2",
		    (struct counts){ 2, 0, 1, VERDICT_NOT });
}

static void nothing_after_nothing_is_the_same(void **state)
{
	static const double zeros[2][2][3] = { { { 0 }, { 0 } }, { { 1, 1, 1 }, { 2, 2, 2 } } };
	struct results *r = grid(zeros);
	struct judgement j = judge_text_of(ALONG, "never falls", r);

	(void)state;
	assert_int_equal(j.holds, 2);
	assert_true(j.ours == 1);
	judgement_fini(&j);
	results_free(r);
}

static void what_chance_may_have_made_is_no_exception(void **state)
{
	(void)state;
	check_cases(wavers, ALONG, "rises", (struct counts){ 2, 1, 1, VERDICT_TREND });
	/* Without repetitions there is no confidence interval. */
	check_cases(wavers, "column: taken, take: mean, each: fabric, along: size", "rises",
		    (struct counts){ 2, 1, 0, VERDICT_NOT });
	/* The interval of 3, 4 and 5 contains 4.5; that of 1, 1 and 1 does not. */
	check_cases(falls, "column: taken, where: size=32, each: fabric, over: seed", ">= 4.5",
		    (struct counts){ 2, 0, 1, VERDICT_NOT });
}

/* Pairs of the same case and draw are divided by each other. */
static void twins_are_those_of_the_same_case(void **state)
{
	(void)state;
	check_cases(
		grows,
		"column: taken, where: size=64, each: fabric, over: seed, against: {table: load, column: taken, where: size=32}",
		"> 1", (struct counts){ 2, 2, 0, VERDICT_TREND });
	check_cases(
		grows,
		"column: taken, where: fabric=mesh, each: size, over: seed, against: {table: load, column: taken, where: fabric=cube}",
		"3 +- 50%", (struct counts){ 2, 2, 0, VERDICT_WITHIN });
	/* Relations select rows, and the case still names the relation. */
	check_cases(grows, "column: taken, take: mean, where: size<=64, each: size", ">= 1",
		    (struct counts){ 2, 2, 0, VERDICT_TREND });
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
		{ "column: taken, where: kind=ring", "table 'load' has no column for 'kind=ring'" },
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
		cmocka_unit_test(rows_are_chosen_by_relations),
		cmocka_unit_test(cases_are_judged_one_by_one),
		cmocka_unit_test(a_flat_step_is_no_rise),
		cmocka_unit_test(nothing_after_nothing_is_the_same),
		cmocka_unit_test(what_chance_may_have_made_is_no_exception),
		cmocka_unit_test(twins_are_those_of_the_same_case),
		cmocka_unit_test(what_is_not_there_is_said),
		cmocka_unit_test(the_worst_check_decides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
