/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "report/process.h"
#include "report/report_internal.h"

/* Version 1, and what later ones add: a new file goes through all of it. */
static const char schema_1[] =
	"PRAGMA application_id = 1214538860;" /* "Hddl" */
	"CREATE TABLE run(id INTEGER PRIMARY KEY, command TEXT NOT NULL,"
	" version TEXT NOT NULL, seed TEXT NOT NULL, scenario TEXT NOT NULL,"
	" created TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP);"
	"CREATE TABLE result(id INTEGER PRIMARY KEY, run INTEGER NOT NULL"
	" REFERENCES run(id) ON DELETE CASCADE, name TEXT NOT NULL,"
	" title TEXT NOT NULL, kind TEXT NOT NULL, UNIQUE(run, name));"
	"CREATE TABLE field(id INTEGER PRIMARY KEY, result INTEGER NOT NULL"
	" REFERENCES result(id) ON DELETE CASCADE, position INTEGER NOT NULL,"
	" name TEXT NOT NULL, unit TEXT NOT NULL, origin TEXT NOT NULL,"
	" type TEXT NOT NULL, UNIQUE(result, position));"
	"CREATE TABLE cell(field INTEGER NOT NULL"
	" REFERENCES field(id) ON DELETE CASCADE, line INTEGER NOT NULL,"
	" value, PRIMARY KEY(field, line)) WITHOUT ROWID;"
	"CREATE TABLE remark(run INTEGER NOT NULL REFERENCES run(id)"
	" ON DELETE CASCADE, position INTEGER NOT NULL, text TEXT NOT NULL,"
	" PRIMARY KEY(run, position)) WITHOUT ROWID;"
	"CREATE VIEW value AS SELECT run.id AS run, run.command AS command,"
	" run.seed AS seed, result.name AS result, cell.line AS line,"
	" field.name AS name, cell.value AS value, field.unit AS unit,"
	" field.origin AS origin FROM run"
	" JOIN result ON result.run = run.id"
	" JOIN field ON field.result = result.id"
	" JOIN cell ON cell.field = field.id"
	" ORDER BY run.id, result.id, cell.line, field.position;";

static const char schema_2[] = "PRAGMA user_version = 2;"
			       "ALTER TABLE run ADD COLUMN arguments TEXT NOT NULL DEFAULT '';"
			       "ALTER TABLE run ADD COLUMN process TEXT NOT NULL DEFAULT '';"
			       "ALTER TABLE run ADD COLUMN finished TEXT;"
			       "UPDATE run SET finished = created;"
			       "ALTER TABLE field ADD COLUMN places INTEGER NOT NULL DEFAULT 0;"
			       "CREATE TABLE parameter(run INTEGER NOT NULL REFERENCES run(id)"
			       " ON DELETE CASCADE, position INTEGER NOT NULL, name TEXT NOT NULL,"
			       " value TEXT NOT NULL, PRIMARY KEY(run, position)) WITHOUT ROWID;";

_Static_assert(DATABASE_VERSION == 2, "the schema above says 2");

static void open_for_writing(struct database *l, const char *path, struct diag *d)
{
	database_open(l, path, true, d);
	if (l->version < 1)
		database_execute(l, schema_1);
	if (l->version < 2)
		database_execute(l, schema_2);
}

static void bind_text(sqlite3_stmt *s, int position, const char *text)
{
	sqlite3_bind_text(s, position, text, -1, SQLITE_STATIC);
}

static void bind_value(sqlite3_stmt *s, int position, const struct value *v)
{
	switch (v->kind) {
	case VALUE_NONE:
		sqlite3_bind_null(s, position);
		break;
	case VALUE_TEXT:
		bind_text(s, position, v->text);
		break;
	case VALUE_UINT:
		/* Values beyond SQLite's integers are approximated by a real. */
		if (v->u <= INT64_MAX)
			sqlite3_bind_int64(s, position, (int64_t)v->u);
		else
			sqlite3_bind_double(s, position, (double)v->u);
		break;
	case VALUE_INT:
		sqlite3_bind_int64(s, position, v->i);
		break;
	case VALUE_REAL:
		sqlite3_bind_double(s, position, v->real);
		break;
	case VALUE_BOOL:
		sqlite3_bind_int64(s, position, v->yes);
		break;
	}
}

static int64_t insert_run(struct database *l, const char *command, const char *arguments,
			  const char *content)
{
	sqlite3_stmt *s = database_prepare(
		l,
		"INSERT INTO run(command, version, seed, scenario, arguments, process) VALUES (?, '', '', ?, ?, ?)");
	struct strbuf process = STRBUF_INIT;

	process_identify(&process);
	bind_text(s, 1, command);
	bind_text(s, 2, content);
	bind_text(s, 3, arguments);
	bind_text(s, 4, process.text);
	int64_t run = database_insert(l, s);

	sqlite3_finalize(s);
	strbuf_fini(&process);
	return run;
}

static void update_run(struct database *l, int64_t run, const struct results *r)
{
	sqlite3_stmt *s = database_prepare(
		l,
		"UPDATE run SET version = ?, seed = ?, scenario = ?, process = '', finished = CURRENT_TIMESTAMP WHERE id = ?");
	char seed[24];

	snprintf(seed, sizeof(seed), "%" PRIu64, r->seed);
	bind_text(s, 1, r->version);
	bind_text(s, 2, seed);
	bind_text(s, 3, r->scenario);
	sqlite3_bind_int64(s, 4, run);
	database_insert(l, s);
	if (!l->failed && sqlite3_changes(l->db) != 1)
		database_damaged(l, "the note of this run is gone");
	sqlite3_finalize(s);
}

static void insert_remarks(struct database *l, int64_t run, const struct results *r)
{
	sqlite3_stmt *s = database_prepare(l, "INSERT INTO remark VALUES (?, ?, ?)");

	for (size_t i = 0; i < r->n_remarks; i++) {
		sqlite3_bind_int64(s, 1, run);
		sqlite3_bind_int64(s, 2, (int64_t)i);
		bind_text(s, 3, r->remarks[i]);
		database_insert(l, s);
	}
	sqlite3_finalize(s);
}

static void insert_parameters(struct database *l, int64_t run, const struct results *r)
{
	sqlite3_stmt *s = database_prepare(l, "INSERT INTO parameter VALUES (?, ?, ?, ?)");

	for (size_t i = 0; i < r->n_parameters; i++) {
		sqlite3_bind_int64(s, 1, run);
		sqlite3_bind_int64(s, 2, (int64_t)i);
		bind_text(s, 3, r->parameters[i].name);
		bind_text(s, 4, r->parameters[i].value);
		database_insert(l, s);
	}
	sqlite3_finalize(s);
}

static int64_t insert_field(struct database *l, sqlite3_stmt *s, int64_t result,
			    const struct table *t, size_t position)
{
	const struct column *c = &t->columns[position];

	sqlite3_bind_int64(s, 1, result);
	sqlite3_bind_int64(s, 2, (int64_t)position);
	bind_text(s, 3, c->name);
	bind_text(s, 4, c->unit);
	bind_text(s, 5, results_origin_name(c->origin));
	bind_text(s, 6, value_kind_name(c->kind));
	sqlite3_bind_int64(s, 7, c->places);
	return database_insert(l, s);
}

static void insert_cells(struct database *l, int64_t result, const struct table *t)
{
	sqlite3_stmt *field = database_prepare(
		l,
		"INSERT INTO field(result, position, name, unit, origin, type, places) VALUES (?, ?, ?, ?, ?, ?, ?)");
	sqlite3_stmt *cell = database_prepare(l, "INSERT INTO cell VALUES (?, ?, ?)");
	size_t rows = table_rows(t);

	for (size_t i = 0; i < t->n_columns && !l->failed; i++) {
		int64_t id = insert_field(l, field, result, t, i);

		for (size_t row = 0; row < rows && !l->failed; row++) {
			sqlite3_bind_int64(cell, 1, id);
			sqlite3_bind_int64(cell, 2, (int64_t)row);
			bind_value(cell, 3, table_cell(t, row, i));
			database_insert(l, cell);
		}
	}
	sqlite3_finalize(field);
	sqlite3_finalize(cell);
}

static void insert_table(struct database *l, int64_t run, const struct table *t)
{
	sqlite3_stmt *s = database_prepare(
		l, "INSERT INTO result(run, name, title, kind) VALUES (?, ?, ?, ?)");

	sqlite3_bind_int64(s, 1, run);
	bind_text(s, 2, t->name);
	bind_text(s, 3, t->title);
	bind_text(s, 4, table_kind_name(t->kind));
	int64_t result = database_insert(l, s);

	sqlite3_finalize(s);
	insert_cells(l, result, t);
}

/* Adds the lost results to an error, counted from the file. */
static void tell_losses(const char *path, const struct results *r, struct diag *d)
{
	struct diag ignored = { .status = HD_OK };
	struct database l;
	uint64_t values = 0;
	int64_t kept = 0;

	if (d->status != HD_ERR_IO)
		return;
	for (size_t i = 0; i < r->n_tables; i++)
		values += r->tables[i]->n_cells;
	database_open(&l, path, false, &ignored);
	if (l.version == 1)
		kept = database_number(&l, "SELECT count(*) FROM run");
	else if (l.version >= 2)
		kept = database_number(&l, "SELECT count(*) FROM run WHERE finished IS NOT NULL");
	struct diag told = { .status = HD_OK, .file = d->file };

	diag_fail(&told, d->status,
		  "%s; lost: this run of '%s' (tables: %zu, values: %" PRIu64 "); intact: %" PRId64
		  " earlier run%s",
		  d->message, r->command, r->n_tables, values, kept > 0 ? kept : 0,
		  kept == 1 ? "" : "s");
	*d = told;
	database_close(&l);
}

enum hd_status database_check(const char *path, struct diag *d)
{
	struct stat st;
	struct database l;

	/* SQLite would make it. */
	if (*path && *path != ':' && stat(path, &st) != 0)
		return file_check_place(path, d);
	database_open(&l, path, true, d);
	database_close(&l);
	return l.failed ? d->status : HD_OK;
}

enum hd_status database_begin(const char *path, const char *command, const char *arguments,
			      const char *content, struct diag *d, int64_t *run)
{
	struct database l;

	open_for_writing(&l, path, d);
	int64_t id = insert_run(&l, command, arguments, content);

	database_execute(&l, "COMMIT");
	database_close(&l);
	if (l.failed)
		return d->status;
	*run = id;
	return HD_OK;
}

enum hd_status database_finish(const char *path, int64_t run, const struct results *r,
			       struct diag *d)
{
	struct database l;

	open_for_writing(&l, path, d);
	if (run == 0)
		run = insert_run(&l, r->command, r->arguments, "");
	update_run(&l, run, r);
	insert_remarks(&l, run, r);
	insert_parameters(&l, run, r);
	for (size_t i = 0; i < r->n_tables && !l.failed; i++)
		insert_table(&l, run, r->tables[i]);
	database_execute(&l, "COMMIT");
	database_close(&l);
	if (l.failed)
		tell_losses(path, r, d);
	return l.failed ? d->status : HD_OK;
}

enum hd_status database_append(const char *path, const struct results *r, struct diag *d)
{
	return database_finish(path, 0, r, d);
}

/* `sql` with the run's number. Errors are ignored: no caller can handle them. */
static void change_note(const char *path, int64_t run, const char *sql)
{
	struct diag ignored = { .status = HD_OK };
	struct database l;

	open_for_writing(&l, path, &ignored);
	sqlite3_stmt *s = database_prepare(&l, sql);

	sqlite3_bind_int64(s, 1, run);
	database_insert(&l, s);
	sqlite3_finalize(s);
	database_execute(&l, "COMMIT");
	database_close(&l);
}

void database_forget(const char *path, int64_t run)
{
	change_note(path, run, "DELETE FROM run WHERE id = ? AND finished IS NULL");
}

void database_give_up(const char *path, int64_t run)
{
	change_note(path, run, "UPDATE run SET process = '' WHERE id = ? AND finished IS NULL");
}
