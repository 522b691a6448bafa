/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "report/compare.h"

static char path[] = "/tmp/heddle-runs-XXXXXX";

static void append(double p99, const char *table)
{
	static const struct column columns[] = {
		{ "p99", "us", VALUE_REAL, ORIGIN_SIMULATED },
		{ NULL },
	};
	struct results *r = results_new("sim");
	struct diag d = { .status = HD_OK };

	table_put_values(results_record(r, "summary", "in short", columns),
			 (struct value[]){ value_of_real(p99) });
	table_put_values(results_record(r, table, "more", columns),
			 (struct value[]){ value_of_real(p99) });
	assert_int_equal(database_append(path, r, &d), HD_OK);
	results_free(r);
}

/* Runs 1 to 3; the last has another table. */
static int make_runs(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	if (fd < 0)
		return -1;
	close(fd);
	unlink(path);
	append(1, "flows");
	append(2, "flows");
	append(2, "ports");
	return 0;
}

static int remove_runs(void **state)
{
	(void)state;
	return unlink(path);
}

static enum hd_status read_words(struct recorded_runs *s, bool all, char *a, char *b,
				 struct diag *d)
{
	char *words[] = { a, b };

	*d = (struct diag){ .status = HD_OK };
	return recorded_runs_read(s, path, all, !!a + !!b, words, d);
}

static void runs_are_those_named_or_all(void **state)
{
	(void)state;
	struct recorded_runs s;
	struct results *r = results_new("test");
	struct diag d;

	assert_int_equal(read_words(&s, false, "3", "1", &d), HD_OK);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.runs[0].id, 3);
	assert_int_equal(s.runs[1].id, 1);
	assert_int_equal(s.n_infos, 3);
	recorded_runs_fini(&s);
	assert_int_equal(read_words(&s, true, NULL, NULL, &d), HD_OK);
	assert_int_equal(s.n, 3);
	recorded_runs_fini(&s);
	assert_int_equal(read_words(&s, false, NULL, NULL, &d), HD_OK);
	assert_int_equal(s.n, 0);
	recorded_runs_list(&s, r);
	const struct table *t = results_find(r, "runs");

	assert_int_equal(t->n_cells, 3 * t->n_columns);
	recorded_runs_fini(&s);
	results_free(r);
}

static void rejects_other_files(void **state)
{
	(void)state;
	struct recorded_runs s;
	struct diag d;

	assert_int_equal(read_words(&s, false, "1", "4", &d), HD_ERR_NOT_FOUND);
	recorded_runs_fini(&s);
	assert_int_equal(read_words(&s, false, "one", NULL, &d), HD_ERR_INPUT);
	assert_string_equal(d.message,
			    "invalid run 'one' (expected a number from 'heddle report FILE')");
	recorded_runs_fini(&s);
	assert_int_equal(read_words(&s, false, "99999999999999999999", NULL, &d), HD_ERR_INPUT);
	recorded_runs_fini(&s);
}

static void one_table_of_a_run_is_taken_alone(void **state)
{
	(void)state;
	struct recorded_runs s;
	struct results *r;
	struct diag d;

	assert_int_equal(read_words(&s, false, "1", NULL, &d), HD_OK);
	struct compare_options how = { .table = "ports" };

	assert_int_equal(recorded_runs_take(&s, &how, &d, &r), HD_ERR_NOT_FOUND);
	d = (struct diag){ .status = HD_OK };
	how.table = "flows";
	assert_int_equal(recorded_runs_take(&s, &how, &d, &r), HD_OK);
	assert_int_equal(r->n_tables, 1);
	assert_string_equal(r->tables[0]->name, "flows");
	results_free(r);
	recorded_runs_fini(&s);
}

/* Enough that one has it; and what is shown is the difference. */
static void comparing_needs_the_table_in_some_run(void **state)
{
	(void)state;
	struct recorded_runs s;
	struct results *r = results_new("test");
	struct compare_options how = { .table = "ports" };
	struct diag d;

	assert_int_equal(read_words(&s, false, "1", "2", &d), HD_OK);
	assert_int_equal(recorded_runs_compare(&s, &how, r, &d), HD_ERR_NOT_FOUND);
	assert_int_equal(r->n_tables, 0);
	how.table = "flows";
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(recorded_runs_compare(&s, &how, r, &d), HD_OK);
	assert_non_null(results_find(r, "values"));
	recorded_runs_fini(&s);
	results_free(r);
}

/* The value of input `name` of a run, or NULL. */
static const char *told(const struct results *r, const char *name)
{
	for (size_t i = 0; i < r->n_parameters; i++)
		if (strcmp(r->parameters[i].name, name) == 0)
			return r->parameters[i].value;
	return NULL;
}

/* Draws some of the inputs a, b, ... h, each with one of two values. */
static struct results *told_something(struct rng *rng)
{
	struct results *r = results_new("sim");

	for (char name[] = "a"; name[0] <= 'h'; name[0]++)
		if (rng_below(rng, 2))
			results_parameter(r, name, rng_below(rng, 4) ? "1" : "2");
	return r;
}

static bool differs(const struct compared *runs, size_t n, const char *name)
{
	const char *first = told(runs[0].results, name);

	for (size_t i = 1; i < n; i++) {
		const char *its = told(runs[i].results, name);

		if (!first != !its || (its && strcmp(first, its) != 0))
			return true;
	}
	return false;
}

static void check_parameter(const struct table *t, const struct compared *runs, size_t n,
			    const char *name)
{
	size_t row = 0;

	assert_non_null(t);
	while (row < table_rows(t) && strcmp(table_cell(t, row, 0)->text, name) != 0)
		row++;
	assert_true(row < table_rows(t));
	for (size_t i = 0; i < n; i++) {
		const char *its = told(runs[i].results, name);

		assert_string_equal(table_cell(t, row, 1 + i)->text, its ? its : "-");
	}
}

/* Whichever run has it: a row for each that is not the same in all. */
static void every_parameter_that_differs_is_shown(void **state)
{
	const struct compare_options how = { .all = false };
	struct rng rng;

	(void)state;
	rng_init(&rng, 31, 0);
	for (unsigned nth = 0; nth < 200; nth++) {
		struct compared runs[4];
		struct results *out = results_new("report");
		size_t n = 2 + rng_below(&rng, 3), rows = 0;

		for (size_t i = 0; i < n; i++)
			runs[i] = (struct compared){ (int64_t)i + 1, told_something(&rng) };
		compare_runs(runs, n, &how, out);
		const struct table *t = results_find(out, "parameters");

		for (char name[] = "a"; name[0] <= 'h'; name[0]++) {
			if (!differs(runs, n, name))
				continue;
			check_parameter(t, runs, n, name);
			rows++;
		}
		assert_int_equal(t ? table_rows(t) : 0, rows);
		for (size_t i = 0; i < n; i++)
			results_free((struct results *)runs[i].results);
		results_free(out);
	}
}

static void a_page_has_the_comparison_first(void **state)
{
	(void)state;
	struct recorded_runs s;
	struct results *first = results_new("test");
	struct page_run *parts;
	struct diag d;
	size_t n;

	assert_int_equal(read_words(&s, false, "2", "3", &d), HD_OK);
	assert_int_equal(recorded_runs_parts(&s, first, &d, &parts, &n), HD_OK);
	assert_int_equal(n, 3);
	assert_ptr_equal(parts[0].results, first);
	assert_int_equal(parts[1].id, 2);
	assert_non_null(parts[2].created);
	free(parts);
	recorded_runs_fini(&s);
	assert_int_equal(read_words(&s, false, NULL, NULL, &d), HD_OK);
	assert_int_equal(recorded_runs_parts(&s, NULL, &d, &parts, &n), HD_ERR_INPUT);
	recorded_runs_fini(&s);
	results_free(first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_are_those_named_or_all),
		cmocka_unit_test(rejects_other_files),
		cmocka_unit_test(one_table_of_a_run_is_taken_alone),
		cmocka_unit_test(comparing_needs_the_table_in_some_run),
		cmocka_unit_test(every_parameter_that_differs_is_shown),
		cmocka_unit_test(a_page_has_the_comparison_first),
	};

	return cmocka_run_group_tests(tests, make_runs, remove_runs);
}
