/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "report/database.h"

static char folder[] = "/tmp/heddle-db-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/runs.db", folder);
	return 0;
}

static int remove_file(void **state)
{
	char journal[80];

	(void)state;
	snprintf(journal, sizeof(journal), "%s-journal", path);
	unlink(journal);
	unlink(path);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

static struct results *sample(uint64_t seed, unsigned rows)
{
	static const struct column columns[] = {
		{ "flow", NULL, VALUE_TEXT },
		{ "p99", "us", VALUE_REAL, ORIGIN_SIMULATED },
		{ "packets", NULL, VALUE_UINT, ORIGIN_SIMULATED },
		{ NULL },
	};
	struct results *r = results_new("sim");
	struct table *t = results_table(r, "flows", "all of them", columns);

	for (unsigned i = 0; i < rows; i++) {
		table_put_values(t, (struct value[]){ value_of_text(table_text(t, "flow %u", i)),
						      value_of_real(i + 0.1), value_of_uint(i) });
	}
	r->seed = seed;
	results_set_scenario(r, "fabric: {}\n");
	results_set_version(r, "0.1.0");
	results_remark(r, "it's a remark");
	return r;
}

/* The first column of the first row that `sql` gives, as text. */
static void ask(const char *sql, char *answer, size_t size)
{
	sqlite3 *db;
	sqlite3_stmt *s;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	sqlite3_busy_timeout(db, 10000);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	snprintf(answer, size, "%s", (const char *)sqlite3_column_text(s, 0));
	sqlite3_finalize(s);
	sqlite3_close(db);
}

static void assert_answer(const char *sql, const char *expected)
{
	char answer[200];

	ask(sql, answer, sizeof(answer));
	assert_string_equal(answer, expected);
}

static enum hd_status append(uint64_t seed, unsigned rows, struct diag *d)
{
	struct results *r = sample(seed, rows);
	enum hd_status status = database_append(path, r, d);

	results_free(r);
	return status;
}

static void runs_are_appended_and_can_be_asked(void **state)
{
	struct diag d = { .status = HD_OK };

	(void)state;
	assert_int_equal(append(7, 3, &d), HD_OK);
	assert_int_equal(append(UINT64_MAX, 2, &d), HD_OK);
	assert_answer("SELECT count(*) FROM run", "2");
	assert_answer("SELECT seed FROM run WHERE id = 2", "18446744073709551615");
	assert_answer("SELECT scenario FROM run WHERE id = 1", "fabric: {}\n");
	assert_answer(
		"SELECT value || unit || origin FROM value WHERE run = 1 AND result = 'flows' AND name = 'p99' AND line = 2",
		"2.1ussimulated");
	assert_answer("SELECT typeof(value) FROM value WHERE name = 'packets'", "integer");
	assert_answer("SELECT text FROM remark WHERE run = 2", "it's a remark");
	assert_answer("PRAGMA user_version", "2");
}

static void a_file_of_another_kind_is_refused_and_kept(void **state)
{
	struct diag d = { .status = HD_OK };
	struct strbuf got = STRBUF_INIT;
	sqlite3 *db;

	(void)state;
	assert_int_equal(file_write(path, "hello, world, not a database\n", 29, &d), HD_OK);
	assert_int_equal(append(1, 1, &d), HD_ERR_INPUT);
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(file_read(path, 100, &d, &got), HD_OK);
	assert_string_equal(got.text, "hello, world, not a database\n");
	strbuf_fini(&got);
	unlink(path);

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	sqlite3_exec(db, "CREATE TABLE mine(x)", NULL, NULL, NULL);
	sqlite3_close(db);
	assert_int_equal(append(1, 1, &d), HD_ERR_INPUT);
	assert_string_equal(d.message, "is not a database of heddle");
	assert_answer("SELECT count(*) FROM sqlite_schema", "1");
}

static void a_newer_schema_is_refused(void **state)
{
	struct diag d = { .status = HD_OK };
	sqlite3 *db;

	(void)state;
	assert_int_equal(append(1, 1, &d), HD_OK);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL);
	sqlite3_close(db);
	assert_int_equal(append(1, 1, &d), HD_ERR_INPUT);
	assert_string_equal(d.message, "has schema version 99 (expected 1 to 2)");
	assert_answer("SELECT count(*) FROM run", "1");
}

static void a_place_that_cannot_be_written_is_reported(void **state)
{
	struct diag d = { .status = HD_OK };
	struct results *r = sample(1, 1);

	(void)state;
	assert_int_equal(database_append("/nowhere/x.db", r, &d), HD_ERR_IO);
	results_free(r);
}

/* A child that appends a large run; killed after a while. */
static void kill_while_writing(long nanoseconds)
{
	struct results *large = sample(2, 20000);
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		struct diag d = { .status = HD_OK };

		_exit(database_append(path, large, &d) != HD_OK);
	}
	struct timespec pause = { 0, nanoseconds };

	nanosleep(&pause, NULL);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	results_free(large);
}

static void a_crash_leaves_earlier_runs_and_never_half_a_run(void **state)
{
	struct diag d = { .status = HD_OK };

	(void)state;
	assert_int_equal(append(1, 10, &d), HD_OK);
	for (long i = 0; i < 12; i++) {
		kill_while_writing(i * 2000000);
		/* Seed 1 has 30 cells, seed 2 has 60000. */
		assert_answer(
			"SELECT count(*) FROM (SELECT run.seed AS seed, (SELECT count(*) FROM value WHERE value.run = run.id) AS n FROM run) WHERE n <> CASE seed WHEN '1' THEN 30 ELSE 60000 END",
			"0");
		assert_answer("PRAGMA integrity_check", "ok");
	}
	assert_int_equal(append(1, 10, &d), HD_OK);
	assert_answer("SELECT count(*) FROM run WHERE seed = '1'", "2");
}

static void a_run_reads_back_as_it_was_written(void **state)
{
	static const struct column columns[] = {
		{ "word", NULL, VALUE_TEXT },
		{ "count", "B", VALUE_UINT, ORIGIN_MEASURED },
		{ "signed", NULL, VALUE_INT, ORIGIN_PUBLISHED },
		{ "real", "us", VALUE_REAL, ORIGIN_COMPUTED, 3 },
		{ "yes", NULL, VALUE_BOOL },
		{ NULL },
	};
	struct diag d = { .status = HD_OK };
	struct results *r = sample(UINT64_MAX, 2), *got = NULL;
	struct table *t = results_series(r, "all kinds", "a title", columns);

	(void)state;
	table_put_values(t, (struct value[]){ value_of_text(""), value_of_uint(INT64_MAX),
					      (struct value){ VALUE_INT, .i = INT64_MIN },
					      value_of_real(0.1), value_of_bool(true) });
	table_put_values(t, (struct value[5]){ 0 });
	results_parameter(r, "a", "1");
	results_set_arguments(r, "x --y");
	assert_int_equal(database_append(path, r, &d), HD_OK);
	assert_int_equal(database_read(path, 1, &d, &got), HD_OK);
	assert_int_equal(got->seed, UINT64_MAX);
	assert_string_equal(got->arguments, "x --y");
	assert_string_equal(got->parameters[0].value, "1");
	assert_string_equal(got->remarks[0], "it's a remark");
	assert_int_equal(got->n_tables, 2);
	t = got->tables[1];
	assert_int_equal(t->kind, TABLE_SERIES);
	assert_string_equal(t->title, "a title");
	assert_string_equal(t->columns[3].unit, "us");
	assert_int_equal(t->columns[3].places, 3);
	assert_int_equal(t->columns[2].origin, ORIGIN_PUBLISHED);
	assert_string_equal(table_cell(t, 0, 0)->text, "");
	assert_true(table_cell(t, 0, 1)->u == INT64_MAX);
	assert_true(table_cell(t, 0, 2)->i == INT64_MIN);
	assert_true(table_cell(t, 0, 3)->real == 0.1);
	assert_true(table_cell(t, 0, 4)->yes);
	assert_int_equal(table_cell(t, 1, 3)->kind, VALUE_NONE);
	assert_int_equal(database_read(path, 2, &d, &got), HD_ERR_NOT_FOUND);
	results_free(got);
	results_free(r);
}

/* Whatever a byte becomes: a run, or a refusal with a reason. */
static void damage_is_refused_or_harmless(void **state)
{
	struct diag d = { .status = HD_OK };
	struct strbuf whole = STRBUF_INIT;
	unsigned refused = 0;

	(void)state;
	assert_int_equal(append(1, 40, &d), HD_OK);
	assert_int_equal(file_read(path, 1 << 20, &d, &whole), HD_OK);
	for (size_t i = 0; i < 400; i++) {
		size_t at = i * 7919 % whole.len;
		struct results *r = NULL;
		char was = whole.text[at];

		whole.text[at] = (char)(was ^ (1 << i % 8));
		d = (struct diag){ .status = HD_OK };
		assert_int_equal(file_write(path, whole.text, whole.len, &d), HD_OK);
		whole.text[at] = was;
		if (database_read(path, 1, &d, &r) != HD_OK) {
			assert_true(d.message[0] != '\0');
			refused++;
		}
		results_free(r);
	}
	assert_true(refused > 0);
	strbuf_fini(&whole);
}

static void change(const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

/* Files that SQLite accepts. */
static void a_file_of_another_shape_is_bad_input(void **state)
{
	static const struct {
		const char *change, *message;
	} cases[] = {
		{ "DROP TABLE remark", "is damaged: no column remark.run" },
		{ "DROP VIEW value; ALTER TABLE field DROP COLUMN places",
		  "is damaged: no column field.places" },
		{ "DROP VIEW value; DROP TABLE cell; CREATE VIEW cell AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT 1 AS field, n AS line, n AS value FROM c",
		  "is damaged: no column cell.field" },
		{ "DROP VIEW value; DROP TABLE cell; CREATE TABLE cell(field, line, value AS (abs(line)), PRIMARY KEY(field, line))",
		  "is damaged: no column cell.value" },
		{ "UPDATE field SET type = 'complex'", "is damaged: a table with an unknown type" },
		{ "DELETE FROM cell WHERE field = 2 AND line = 3",
		  "is damaged: columns of different length" },
		{ "DELETE FROM field", "is damaged: a table without columns" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct diag d = { .status = HD_OK };
		struct results *r;

		assert_int_equal(append(1, 5, &d), HD_OK);
		change(cases[i].change);
		assert_int_equal(database_read(path, 1, &d, &r), HD_ERR_INPUT);
		assert_string_equal(d.message, cases[i].message);
		remove_file(state);
	}
}

/* Counting the rows of each run reads all rows of a file that claims far too many. */
static void a_file_without_end_is_bad_input(void **state)
{
	struct diag d = { .status = HD_OK };
	struct run_info *infos;
	size_t n;

	(void)state;
	assert_int_equal(append(1, 5, &d), HD_OK);
	change("DROP TABLE result; CREATE TABLE result(id, run, name, title,"
	       " kind); WITH RECURSIVE c(n) AS (SELECT 2 UNION ALL SELECT"
	       " n + 1 FROM c WHERE n < 3000) INSERT INTO run SELECT n, 'sim',"
	       " '', '', '', '', '', '', '' FROM c; INSERT INTO result SELECT"
	       " 1, 1, 'x', 'x', 'table' FROM run");
	assert_int_equal(database_list(path, &d, &infos, &n), HD_ERR_INPUT);
	assert_string_equal(d.message, "is damaged: what is in it has no end");
}

static void a_run_that_began_and_did_not_end_is_lost(void **state)
{
	struct diag d = { .status = HD_OK };
	struct run_info *infos;
	size_t n;
	int64_t run;
	pid_t child = fork();

	(void)state;
	assert_true(child >= 0);
	if (child == 0)
		_exit(database_begin(path, "sim", "dead.yaml", "of it", &d, &run) != HD_OK);
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(database_begin(path, "sim", "live.yaml", "", &d, &run), HD_OK);
	assert_int_equal(run, 2);
	assert_int_equal(append(1, 1, &d), HD_OK);
	assert_int_equal(database_list(path, &d, &infos, &n), HD_OK);
	assert_int_equal(n, 3);
	assert_int_equal(infos[0].state, RUN_LOST);
	assert_string_equal(infos[0].arguments, "dead.yaml");
	assert_string_equal(infos[0].content, "of it");
	assert_string_equal(infos[2].content, "");
	assert_int_equal(infos[1].state, RUN_RUNNING);
	assert_int_equal(infos[2].state, RUN_DONE);
	assert_int_equal(infos[2].values, 3);
	database_infos_free(infos, n);
	database_give_up(path, 2);
	database_forget(path, 3); /* complete: no interrupted run is left */
	assert_int_equal(database_list(path, &d, &infos, &n), HD_OK);
	assert_int_equal(n, 3);
	assert_int_equal(infos[1].state, RUN_LOST);
	database_infos_free(infos, n);
}

static void runs_written_at_the_same_time_all_arrive(void **state)
{
	enum { CHILDREN = 6 };

	(void)state;
	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = fork();

		assert_true(child >= 0);
		if (child == 0) {
			struct diag d = { .status = HD_OK };

			_exit(append((uint64_t)i, 500, &d) != HD_OK);
		}
	}
	for (int i = 0; i < CHILDREN; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_answer("SELECT count(DISTINCT seed) FROM run", "6");
	assert_answer("SELECT count(*) FROM cell", "9000");
}

static void a_check_makes_and_changes_nothing(void **state)
{
	struct diag d = { .status = HD_OK };
	struct strbuf before = STRBUF_INIT, after = STRBUF_INIT;
	struct stat st;

	(void)state;
	assert_int_equal(database_check(path, &d), HD_OK);
	assert_int_not_equal(stat(path, &st), 0);
	assert_int_equal(append(1, 1, &d), HD_OK);
	assert_int_equal(file_read(path, FILE_LIMIT, &d, &before), HD_OK);
	assert_int_equal(database_check(path, &d), HD_OK);
	assert_int_equal(file_read(path, FILE_LIMIT, &d, &after), HD_OK);
	assert_int_equal(before.len, after.len);
	assert_memory_equal(before.text, after.text, after.len);
	strbuf_fini(&before);
	strbuf_fini(&after);
	assert_int_equal(database_check("/nowhere/x.db", &d), HD_ERR_IO);
	d.status = HD_OK;
	assert_int_equal(database_check(":memory:", &d), HD_ERR_INPUT);
	d.status = HD_OK;
	assert_int_equal(file_write(path, "hello, world\n", 13, &d), HD_OK);
	assert_int_equal(database_check(path, &d), HD_ERR_INPUT);
}

static void triggers_without_end_are_refused(void **state)
{
	static const char *const tables[] = { "run", "result", "field", "cell", "remark" };

	(void)state;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct diag d = { .status = HD_OK };
		char sql[400];

		assert_int_equal(append(1, 1, &d), HD_OK);
		snprintf(
			sql, sizeof(sql),
			"CREATE TRIGGER endless AFTER INSERT ON %s BEGIN INSERT INTO parameter SELECT 1, n, 'x', 'y' FROM (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c); END",
			tables[i]);
		change(sql);
		assert_int_equal(append(2, 1, &d), HD_ERR_INPUT);
		assert_string_equal(d.message, "is damaged: what is in it has no end");
		assert_answer("SELECT count(*) FROM run", "1");
		remove_file(NULL);
	}
}

/* SQLite's integers end at 2^63 - 1. */
static void keeps_large_numbers_as_reals(void **state)
{
	static const struct column columns[] = { { "n", NULL, VALUE_UINT }, { NULL } };
	struct diag d = { .status = HD_OK };
	struct results *r = results_new("sim");
	struct table *t = results_table(r, "counts", "", columns);

	(void)state;
	table_put_values(t, (struct value[]){ value_of_uint((uint64_t)INT64_MAX) });
	table_put_values(t, (struct value[]){ value_of_uint((uint64_t)INT64_MAX + 1) });
	table_put_values(t, (struct value[]){ value_of_uint(UINT64_MAX) });
	assert_int_equal(database_append(path, r, &d), HD_OK);
	results_free(r);
	assert_answer("SELECT value FROM cell WHERE line = 0", "9223372036854775807");
	assert_answer("SELECT typeof(value) FROM cell WHERE line = 0", "integer");
	assert_answer(
		"SELECT value = 9223372036854775808.0 AND typeof(value) = 'real' FROM cell WHERE line = 1",
		"1");
	assert_answer(
		"SELECT value = 18446744073709551615.0 AND typeof(value) = 'real' FROM cell WHERE line = 2",
		"1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(runs_are_appended_and_can_be_asked, remove_file),
		cmocka_unit_test_teardown(a_file_of_another_kind_is_refused_and_kept, remove_file),
		cmocka_unit_test_teardown(a_newer_schema_is_refused, remove_file),
		cmocka_unit_test_teardown(a_place_that_cannot_be_written_is_reported, remove_file),
		cmocka_unit_test_teardown(a_crash_leaves_earlier_runs_and_never_half_a_run,
					  remove_file),
		cmocka_unit_test_teardown(runs_written_at_the_same_time_all_arrive, remove_file),
		cmocka_unit_test_teardown(a_run_reads_back_as_it_was_written, remove_file),
		cmocka_unit_test_teardown(a_file_of_another_shape_is_bad_input, remove_file),
		cmocka_unit_test_teardown(a_file_without_end_is_bad_input, remove_file),
		cmocka_unit_test_teardown(damage_is_refused_or_harmless, remove_file),
		cmocka_unit_test_teardown(a_run_that_began_and_did_not_end_is_lost, remove_file),
		cmocka_unit_test_teardown(a_check_makes_and_changes_nothing, remove_file),
		cmocka_unit_test_teardown(triggers_without_end_are_refused, remove_file),
		cmocka_unit_test_teardown(keeps_large_numbers_as_reals, remove_file),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
