/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "report/report_internal.h"

static void bind_text(sqlite3_stmt *s, int position, const char *text)
{
	sqlite3_bind_text(s, position, text, -1, SQLITE_STATIC);
}

enum hd_status database_notes(const char *path, const char *command, const char *name,
			      struct diag *d, struct run_note **out, size_t *n)
{
	struct run_note *notes = NULL;
	size_t len = 0, cap = 0;
	struct stat st;
	struct database l;

	*out = NULL;
	*n = 0;
	if (stat(path, &st) != 0)
		return HD_OK;
	database_open(&l, path, false, d);
	if (!l.failed && l.version < 2) { /* no parameters yet */
		database_close(&l);
		return HD_OK;
	}
	sqlite3_stmt *s = database_prepare(
		&l,
		"SELECT run.id, parameter.value FROM parameter JOIN run ON run.id = parameter.run WHERE run.finished IS NOT NULL AND (?1 IS NULL OR run.command = ?1) AND parameter.name = ?2 ORDER BY run.id");

	bind_text(s, 1, command);
	bind_text(s, 2, name);
	while (database_row(&l, s)) {
		const unsigned char *value = sqlite3_column_text(s, 1);

		notes = hd_grow(notes, &cap, len + 1, sizeof(*notes));
		notes[len++] =
			(struct run_note){ .run = sqlite3_column_int64(s, 0),
					   .value = hd_strdup(value ? (const char *)value : "") };
	}
	sqlite3_finalize(s);
	database_close(&l);
	if (l.failed) {
		database_notes_free(notes, len);
		return d->status;
	}
	*out = notes;
	*n = len;
	return HD_OK;
}

void database_notes_free(struct run_note *notes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(notes[i].value);
	free(notes);
}

/* ---- views -------------------------------------------------------------- */

static int64_t find_result(struct database *l, const char *command, const char *table)
{
	sqlite3_stmt *s = database_prepare(
		l,
		"SELECT result.id FROM result JOIN run ON run.id = result.run WHERE run.finished IS NOT NULL AND run.command = ? AND result.name = ? ORDER BY run.id DESC LIMIT 1");

	bind_text(s, 1, command);
	bind_text(s, 2, table);
	int64_t id = database_row(l, s) ? sqlite3_column_int64(s, 0) : 0;

	sqlite3_finalize(s);
	return id;
}

/* One column of the view per field; cells of one line are one row. */
static void put_view(struct database *l, int64_t result, const char *view, struct strbuf *sql)
{
	sqlite3_stmt *s = database_prepare(
		l, "SELECT id, name FROM field WHERE result = ? ORDER BY position");
	const char *separator = " ";
	char *name = sqlite3_mprintf("%w", view);

	strbuf_printf(sql, "DROP VIEW IF EXISTS \"%s\"; CREATE VIEW \"%s\" AS SELECT", name, name);
	sqlite3_free(name);
	sqlite3_bind_int64(s, 1, result);
	while (database_row(l, s)) {
		name = sqlite3_mprintf("%w", sqlite3_column_text(s, 1));
		strbuf_printf(sql, "%smax(CASE cell.field WHEN %lld THEN cell.value END) AS \"%s\"",
			      separator, (long long)sqlite3_column_int64(s, 0), name);
		sqlite3_free(name);
		separator = ", ";
	}
	strbuf_printf(
		sql,
		" FROM cell WHERE cell.field IN (SELECT id FROM field WHERE result = %lld) GROUP BY cell.line ORDER BY cell.line;",
		(long long)result);
	sqlite3_finalize(s);
}

enum hd_status database_view(const char *path, const char *command, const char *table,
			     const char *view, struct diag *d)
{
	struct strbuf sql = STRBUF_INIT;
	struct database l;

	database_open(&l, path, true, d);
	int64_t result = find_result(&l, command, table);

	if (result) {
		put_view(&l, result, view, &sql);
		database_execute(&l, sql.text);
	}
	database_execute(&l, "COMMIT");
	database_close(&l);
	strbuf_fini(&sql);
	return l.failed ? d->status : HD_OK;
}
