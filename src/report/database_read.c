/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "report/process.h"
#include "report/report_internal.h"

#define MAX_FIELDS 1024

const char *database_state_name(enum run_state state)
{
	static const char *const names[] = {
		[RUN_DONE] = "done",
		[RUN_RUNNING] = "running",
		[RUN_LOST] = "lost",
	};

	return names[state];
}

/* Never NULL; valid until the statement moves. */
static const char *text_at(sqlite3_stmt *s, int column)
{
	const unsigned char *text = sqlite3_column_text(s, column);

	return text ? (const char *)text : "";
}

static void open_for_reading(struct database *l, const char *path, struct diag *d)
{
	database_open(l, path, false, d);
	if (!l->failed && l->version == 0) {
		l->failed = true;
		diag_fail(d, HD_ERR_INPUT, "holds no runs");
	}
	/* All that is read is of one moment. */
	database_execute(l, "BEGIN");
}

/* ---- all runs ---- */

static const char list_1[] = "SELECT id, command, '', version, seed, created, created, '',"
			     " ifnull((SELECT title FROM result WHERE run = run.id AND"
			     " name = 'summary'), ''),"
			     " (SELECT count(*) FROM result WHERE run = run.id),"
			     " (SELECT count(*) FROM cell JOIN field ON field.id = cell.field"
			     " JOIN result ON result.id = field.result WHERE result.run = run.id),"
			     " '' FROM run ORDER BY id";
static const char list_2[] = "SELECT id, command, arguments, version, seed, created,"
			     " ifnull(finished, ''), process,"
			     " ifnull((SELECT title FROM result WHERE run = run.id AND"
			     " name = 'summary'), ''),"
			     " (SELECT count(*) FROM result WHERE run = run.id),"
			     " (SELECT count(*) FROM cell JOIN field ON field.id = cell.field"
			     " JOIN result ON result.id = field.result WHERE result.run = run.id),"
			     " iif(finished IS NULL, scenario, '') FROM run ORDER BY id";

static void read_info(sqlite3_stmt *s, struct run_info *info)
{
	*info = (struct run_info){
		.id = sqlite3_column_int64(s, 0),
		.command = hd_strdup(text_at(s, 1)),
		.arguments = hd_strdup(text_at(s, 2)),
		.version = hd_strdup(text_at(s, 3)),
		.seed = hd_strdup(text_at(s, 4)),
		.created = hd_strdup(text_at(s, 5)),
		.finished = hd_strdup(text_at(s, 6)),
		.title = hd_strdup(text_at(s, 8)),
		.tables = (uint64_t)sqlite3_column_int64(s, 9),
		.values = (uint64_t)sqlite3_column_int64(s, 10),
		.content = hd_strdup(text_at(s, 11)),
	};
	if (!*info->finished)
		info->state = process_is_there(text_at(s, 7)) ? RUN_RUNNING : RUN_LOST;
}

enum hd_status database_list(const char *path, struct diag *d, struct run_info **out, size_t *n)
{
	struct run_info *infos = NULL;
	size_t len = 0, cap = 0;
	struct database l;

	open_for_reading(&l, path, d);
	sqlite3_stmt *s = database_prepare(&l, l.version == 1 ? list_1 : list_2);

	while (database_row(&l, s)) {
		infos = hd_grow(infos, &cap, len + 1, sizeof(*infos));
		read_info(s, &infos[len++]);
	}
	sqlite3_finalize(s);
	database_close(&l);
	if (l.failed) {
		database_infos_free(infos, len);
		return d->status;
	}
	*out = infos;
	*n = len;
	return HD_OK;
}

void database_infos_free(struct run_info *infos, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(infos[i].command);
		free(infos[i].arguments);
		free(infos[i].version);
		free(infos[i].seed);
		free(infos[i].created);
		free(infos[i].finished);
		free(infos[i].title);
		free(infos[i].content);
	}
	free(infos);
}

/* ---- one run ---- */

/* A statement with the run's number bound. */
static sqlite3_stmt *prepare_for(struct database *l, const char *sql, int64_t id)
{
	sqlite3_stmt *s = database_prepare(l, sql);

	sqlite3_bind_int64(s, 1, id);
	return s;
}

/* The index of `text` among `n` names, or n and a refusal. */
static unsigned find_name(struct database *l, const char *text, const char *(*name)(unsigned),
			  unsigned n)
{
	unsigned i = 0;

	while (i < n && strcmp(name(i), text) != 0)
		i++;
	if (i == n)
		database_damaged(l, "a table with an unknown type");
	return i;
}

static const char *name_of_table_kind(unsigned i)
{
	return table_kind_name((enum table_kind)i);
}

static const char *name_of_value_kind(unsigned i)
{
	return value_kind_name((enum value_kind)i);
}

static const char *name_of_origin(unsigned i)
{
	return results_origin_name((enum origin)i);
}

/* Columns as stored, and a walk over the cells of each. */
struct fields {
	struct column columns[MAX_FIELDS + 1];
	sqlite3_stmt *cells[MAX_FIELDS];
	size_t n;
};

static void read_field(struct database *l, sqlite3_stmt *s, struct fields *f)
{
	struct column *c = &f->columns[f->n];
	unsigned kind = find_name(l, text_at(s, 4), name_of_value_kind, N_VALUE_KINDS);
	unsigned origin = find_name(l, text_at(s, 3), name_of_origin, N_ORIGINS);

	if (kind == VALUE_NONE)
		database_damaged(l, "a column without a type");
	if (l->failed)
		return;
	c->name = hd_strdup(text_at(s, 1));
	c->unit = hd_strdup(text_at(s, 2));
	c->kind = (enum value_kind)kind;
	c->origin = (enum origin)origin;
	c->places = sqlite3_column_int(s, 5);
	if (c->places < 0 || c->places > 17)
		c->places = 0;
	f->cells[f->n++] = prepare_for(l, "SELECT value FROM cell WHERE field = ? ORDER BY line",
				       sqlite3_column_int64(s, 0));
}

static void fields_init(struct database *l, int64_t result, struct fields *f)
{
	sqlite3_stmt *s = prepare_for(
		l,
		l->version == 1
			? "SELECT id, name, unit, origin, type, 0 FROM field WHERE result = ? ORDER BY position"
			: "SELECT id, name, unit, origin, type, places FROM field WHERE result = ? ORDER BY position",
		result);

	*f = (struct fields){ .n = 0 };
	while (database_row(l, s)) {
		if (f->n < MAX_FIELDS)
			read_field(l, s, f);
		else
			database_damaged(l, "a table with too many columns");
	}
	if (f->n == 0)
		database_damaged(l, "a table without columns");
	sqlite3_finalize(s);
}

static void fields_fini(struct fields *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free((char *)f->columns[i].name);
		free((char *)f->columns[i].unit);
		sqlite3_finalize(f->cells[i]);
	}
}

static struct value value_at(enum value_kind kind, sqlite3_stmt *s)
{
	if (sqlite3_column_type(s, 0) == SQLITE_NULL)
		return value_of_text(NULL);
	switch (kind) {
	case VALUE_NONE:
		break;
	case VALUE_TEXT:
		return value_of_text(text_at(s, 0));
	case VALUE_UINT:
		if (sqlite3_column_type(s, 0) == SQLITE_FLOAT &&
		    sqlite3_column_double(s, 0) >= 0x1p63)
			return value_of_uint(UINT64_MAX);
		return value_of_uint((uint64_t)sqlite3_column_int64(s, 0));
	case VALUE_INT:
		return (struct value){ .kind = VALUE_INT, .i = sqlite3_column_int64(s, 0) };
	case VALUE_REAL:
		return value_of_real(sqlite3_column_double(s, 0));
	case VALUE_BOOL:
		return value_of_bool(sqlite3_column_int64(s, 0) != 0);
	}
	return value_of_text(NULL);
}

static void read_cells(struct database *l, struct fields *f, struct table *t)
{
	struct value row[MAX_FIELDS];

	while (database_row(l, f->cells[0])) {
		if (t->kind == TABLE_RECORD && t->n_cells) {
			database_damaged(l, "a record of several rows");
			return;
		}
		row[0] = value_at(f->columns[0].kind, f->cells[0]);
		for (size_t i = 1; i < f->n; i++) {
			if (!database_row(l, f->cells[i]))
				database_damaged(l, "columns of different length");
			row[i] = l->failed ? value_of_text(NULL)
					   : value_at(f->columns[i].kind, f->cells[i]);
		}
		table_put_values(t, row);
	}
}

static struct table *make_table(struct results *r, unsigned kind, sqlite3_stmt *s,
				const struct column *columns)
{
	const char *name = text_at(s, 1), *title = text_at(s, 2);

	if (kind == TABLE_SERIES)
		return results_series(r, name, title, columns);
	if (kind == TABLE_RECORD)
		return results_record(r, name, title, columns);
	return results_table(r, name, title, columns);
}

static void read_table(struct database *l, sqlite3_stmt *s, struct results *r)
{
	unsigned kind = find_name(l, text_at(s, 3), name_of_table_kind, N_TABLE_KINDS);
	struct fields *f = hd_alloc(1, sizeof(*f));

	fields_init(l, sqlite3_column_int64(s, 0), f);
	if (results_find(r, text_at(s, 1)))
		database_damaged(l, "two tables of one name");
	if (!l->failed)
		read_cells(l, f, make_table(r, kind, s, f->columns));
	fields_fini(f);
	free(f);
}

static void read_tables(struct database *l, int64_t run, struct results *r)
{
	sqlite3_stmt *s = prepare_for(
		l, "SELECT id, name, title, kind FROM result WHERE run = ? ORDER BY id", run);

	while (database_row(l, s))
		read_table(l, s, r);
	sqlite3_finalize(s);
}

static void read_remarks(struct database *l, int64_t run, struct results *r)
{
	sqlite3_stmt *s =
		prepare_for(l, "SELECT text FROM remark WHERE run = ? ORDER BY position", run);

	while (database_row(l, s))
		results_remark(r, "%s", text_at(s, 0));
	sqlite3_finalize(s);
	if (l->version == 1)
		return;
	s = prepare_for(l, "SELECT name, value FROM parameter WHERE run = ? ORDER BY position",
			run);
	while (database_row(l, s))
		results_parameter(r, text_at(s, 0), text_at(s, 1));
	sqlite3_finalize(s);
}

/* NULL and a refusal if there is no such run. */
static struct results *read_head(struct database *l, int64_t run)
{
	sqlite3_stmt *s = prepare_for(
		l,
		l->version == 1
			? "SELECT command, version, seed, scenario, '' FROM run WHERE id = ?"
			: "SELECT command, version, seed, scenario, arguments FROM run WHERE id = ?",
		run);
	struct results *r = NULL;

	if (database_row(l, s)) {
		r = results_new(text_at(s, 0));
		results_set_version(r, text_at(s, 1));
		r->seed = strtoull(text_at(s, 2), NULL, 10);
		results_set_scenario(r, text_at(s, 3));
		results_set_arguments(r, text_at(s, 4));
	} else if (!l->failed) {
		l->failed = true;
		diag_fail(l->d, HD_ERR_NOT_FOUND, "has no run %lld", (long long)run);
	}
	sqlite3_finalize(s);
	return r;
}

enum hd_status database_read(const char *path, int64_t run, struct diag *d, struct results **out)
{
	struct database l;

	open_for_reading(&l, path, d);
	struct results *r = l.failed ? NULL : read_head(&l, run);

	if (r) {
		read_remarks(&l, run, r);
		read_tables(&l, run, r);
	}
	database_close(&l);
	if (l.failed) {
		results_free(r);
		return d->status;
	}
	*out = r;
	return HD_OK;
}
