/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/database.h"

#include <assert.h>
#include <sqlite3.h>
#include <string.h>

#define APPLICATION_ID     0x4864646c /* "Hddl" */
#define APPLICATION_ID_SQL "1214538860"
#define WAIT_MS            30000 /* for another run to finish writing */

static const char schema[] =
	"PRAGMA application_id = " APPLICATION_ID_SQL ";"
	"PRAGMA user_version = 1;"
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

_Static_assert(DATABASE_VERSION == 1, "the schema above says 1");

/* A connection and the first thing that went wrong with it. */
struct link {
	sqlite3 *db;
	struct diag *d;
	bool failed;
};

static void fail(struct link *l)
{
	int error = sqlite3_errcode(l->db);
	bool is_input = error == SQLITE_NOTADB || error == SQLITE_CORRUPT;

	if (!l->failed)
		diag_fail(l->d, is_input ? HD_ERR_INPUT : HD_ERR_IO,
			  "cannot be written: %s", sqlite3_errmsg(l->db));
	l->failed = true;
}

static void execute(struct link *l, const char *sql)
{
	if (!l->failed &&
	    sqlite3_exec(l->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail(l);
}

static int64_t number_of(struct link *l, const char *sql)
{
	sqlite3_stmt *s = NULL;
	int64_t number = -1;

	if (sqlite3_prepare_v2(l->db, sql, -1, &s, NULL) == SQLITE_OK &&
	    sqlite3_step(s) == SQLITE_ROW)
		number = sqlite3_column_int64(s, 0);
	else
		fail(l);
	sqlite3_finalize(s);
	return number;
}

static sqlite3_stmt *prepare(struct link *l, const char *sql)
{
	sqlite3_stmt *s = NULL;

	if (!l->failed &&
	    sqlite3_prepare_v2(l->db, sql, -1, &s, NULL) != SQLITE_OK)
		fail(l);
	return s;
}

/* Runs a bound statement and makes it ready for the next values. */
static int64_t insert(struct link *l, sqlite3_stmt *s)
{
	if (l->failed)
		return 0;
	if (sqlite3_step(s) != SQLITE_DONE)
		fail(l);
	sqlite3_reset(s);
	return sqlite3_last_insert_rowid(l->db);
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
		/* What SQLite's integer cannot hold comes near as a real. */
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

static int64_t insert_run(struct link *l, const struct results *r)
{
	sqlite3_stmt *s = prepare(l, "INSERT INTO run(command, version, seed,"
				     " scenario) VALUES (?, ?, ?, ?)");
	struct strbuf seed = STRBUF_INIT;

	strbuf_printf(&seed, "%llu", (unsigned long long)r->seed);
	bind_text(s, 1, r->command);
	bind_text(s, 2, r->version);
	bind_text(s, 3, seed.text);
	bind_text(s, 4, r->scenario);
	int64_t run = insert(l, s);

	sqlite3_finalize(s);
	strbuf_fini(&seed);
	return run;
}

static void insert_remarks(struct link *l, int64_t run, const struct results *r)
{
	sqlite3_stmt *s = prepare(l, "INSERT INTO remark VALUES (?, ?, ?)");

	for (size_t i = 0; i < r->n_remarks; i++) {
		sqlite3_bind_int64(s, 1, run);
		sqlite3_bind_int64(s, 2, (int64_t)i);
		bind_text(s, 3, r->remarks[i]);
		insert(l, s);
	}
	sqlite3_finalize(s);
}

static int64_t insert_field(struct link *l, sqlite3_stmt *s, int64_t result,
			    const struct table *t, size_t position)
{
	const struct column *c = &t->columns[position];

	sqlite3_bind_int64(s, 1, result);
	sqlite3_bind_int64(s, 2, (int64_t)position);
	bind_text(s, 3, c->name);
	bind_text(s, 4, c->unit);
	bind_text(s, 5, origin_name(c->origin));
	bind_text(s, 6, value_kind_name(c->kind));
	return insert(l, s);
}

static void insert_cells(struct link *l, int64_t result, const struct table *t)
{
	sqlite3_stmt *field = prepare(l, "INSERT INTO field(result, position,"
					 " name, unit, origin, type)"
					 " VALUES (?, ?, ?, ?, ?, ?)");
	sqlite3_stmt *cell = prepare(l, "INSERT INTO cell VALUES (?, ?, ?)");
	size_t rows = table_rows(t);

	for (size_t i = 0; i < t->n_columns && !l->failed; i++) {
		int64_t id = insert_field(l, field, result, t, i);

		for (size_t row = 0; row < rows && !l->failed; row++) {
			sqlite3_bind_int64(cell, 1, id);
			sqlite3_bind_int64(cell, 2, (int64_t)row);
			bind_value(cell, 3, table_cell(t, row, i));
			insert(l, cell);
		}
	}
	sqlite3_finalize(field);
	sqlite3_finalize(cell);
}

static void insert_table(struct link *l, int64_t run, const struct table *t)
{
	sqlite3_stmt *s = prepare(l, "INSERT INTO result(run, name, title,"
				     " kind) VALUES (?, ?, ?, ?)");

	sqlite3_bind_int64(s, 1, run);
	bind_text(s, 2, t->name);
	bind_text(s, 3, t->title);
	bind_text(s, 4, table_kind_name(t->kind));
	int64_t result = insert(l, s);

	sqlite3_finalize(s);
	insert_cells(l, result, t);
}

/* Refuses what is not ours; gives an empty file the schema. */
static void check_kind(struct link *l)
{
	int64_t application = number_of(l, "PRAGMA application_id");
	int64_t version = number_of(l, "PRAGMA user_version");
	int64_t objects = number_of(l, "SELECT count(*) FROM sqlite_schema");

	if (l->failed)
		return;
	if (application == 0 && version == 0 && objects == 0) {
		execute(l, schema);
		return;
	}
	if (application == APPLICATION_ID && version == DATABASE_VERSION)
		return;
	l->failed = true;
	if (application != APPLICATION_ID)
		diag_fail(l->d, HD_ERR_INPUT,
			  "is a database of another program");
	else
		diag_fail(l->d, HD_ERR_INPUT,
			  "has schema version %lld (expected %d)",
			  (long long)version, DATABASE_VERSION);
}

static void append(struct link *l, const struct results *r)
{
	execute(l, "BEGIN IMMEDIATE");
	check_kind(l);
	int64_t run = insert_run(l, r);

	insert_remarks(l, run, r);
	for (size_t i = 0; i < r->n_tables && !l->failed; i++)
		insert_table(l, run, r->tables[i]);
	execute(l, "COMMIT");
}

enum hd_status database_append(const char *path, const struct results *r,
			       struct diag *d)
{
	struct link l = { .d = d };

	d->file = path;
	if (sqlite3_open(path, &l.db) != SQLITE_OK) {
		fail(&l);
	} else {
		sqlite3_busy_timeout(l.db, WAIT_MS);
		append(&l, r);
	}
	/* Closing rolls an open transaction back. */
	sqlite3_close(l.db);
	return l.failed ? d->status : HD_OK;
}
