/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens a database and checks its format. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "report/report_internal.h"

#define APPLICATION_ID 0x4864646c /* "Hddl" */
#define WAIT_MS        30000      /* for another run to finish writing */

/*
 * Steps of SQLite's machine that we may take: reading a whole file takes less
 * than one a byte, writing a row less than a hundred. A statement
 * that takes more does not end.
 */
#define STEPS_AT_LEAST 1000000
#define STEPS_PER_BYTE 16
#define STEPS_PER_ROW  1000
#define STEPS_AT_ONCE  1000

/* Whether the file is defective, as opposed to an error of the host. */
static bool is_damage(int error)
{
	/* Our statements are right: an error in one is the schema's fault. */
	return error == SQLITE_NOTADB || error == SQLITE_CORRUPT || error == SQLITE_ERROR ||
	       error == SQLITE_TOOBIG;
}

static void link_fail(struct database *l)
{
	int error = sqlite3_errcode(l->db) & 0xff;
	int system = sqlite3_system_errno(l->db);
	bool is_input = is_damage(error);
	bool is_absent = strcmp(l->doing, "read") == 0 &&
			 (system == ENOENT || system == ENOTDIR || system == EISDIR);
	enum hd_status status = is_absent ? HD_ERR_NOT_FOUND : is_input ? HD_ERR_INPUT : HD_ERR_IO;

	if (error == SQLITE_INTERRUPT)
		database_damaged(l, "what is in it has no end");
	if (!l->failed)
		diag_fail(l->d, status, "cannot be %s: %s%s%s%s", l->doing, sqlite3_errmsg(l->db),
			  system ? " (" : "", system ? strerror(system) : "", system ? ")" : "");
	l->failed = true;
}

void database_damaged(struct database *l, const char *what)
{
	if (!l->failed)
		diag_fail(l->d, HD_ERR_INPUT, "is damaged: %s", what);
	l->failed = true;
}

void database_execute(struct database *l, const char *sql)
{
	if (!l->failed && sqlite3_exec(l->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		link_fail(l);
}

int64_t database_number(struct database *l, const char *sql)
{
	sqlite3_stmt *s = database_prepare(l, sql);
	int64_t number = -1;

	if (database_row(l, s))
		number = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return number;
}

sqlite3_stmt *database_prepare(struct database *l, const char *sql)
{
	sqlite3_stmt *s = NULL;

	if (!l->failed && sqlite3_prepare_v2(l->db, sql, -1, &s, NULL) != SQLITE_OK)
		link_fail(l);
	return s;
}

int64_t database_insert(struct database *l, sqlite3_stmt *s)
{
	if (l->failed)
		return 0;
	l->steps_left += STEPS_PER_ROW;
	if (sqlite3_step(s) != SQLITE_DONE)
		link_fail(l);
	sqlite3_reset(s);
	return sqlite3_last_insert_rowid(l->db);
}

bool database_row(struct database *l, sqlite3_stmt *s)
{
	if (l->failed)
		return false;
	int step = sqlite3_step(s);

	if (step != SQLITE_ROW && step != SQLITE_DONE)
		link_fail(l);
	return step == SQLITE_ROW;
}

/* An empty file has no schema: its version is 0. */
static void check_kind(struct database *l)
{
	int64_t application = database_number(l, "PRAGMA application_id");
	int64_t objects = database_number(l, "SELECT count(*) FROM sqlite_schema");

	l->version = database_number(l, "PRAGMA user_version");
	if (l->failed || (application == 0 && l->version == 0 && objects == 0))
		return;
	if (application == APPLICATION_ID && l->version >= 1 && l->version <= DATABASE_VERSION)
		return;
	l->failed = true;
	if (application != APPLICATION_ID)
		diag_fail(l->d, HD_ERR_INPUT, "is not a database of heddle");
	else
		diag_fail(l->d, HD_ERR_INPUT, "has schema version %lld (expected 1 to %d)",
			  (long long)l->version, DATABASE_VERSION);
}

/*
 * Required: ordinary tables (a view could compute anything) with these columns.
 * Further tables and columns are ignored.
 */
static const char missing_column[] =
	"WITH want(version, name) AS (VALUES (1, 'run.id'),"
	" (1, 'run.command'), (1, 'run.version'), (1, 'run.seed'),"
	" (1, 'run.scenario'), (1, 'run.created'), (2, 'run.arguments'),"
	" (2, 'run.process'), (2, 'run.finished'), (1, 'result.id'),"
	" (1, 'result.run'), (1, 'result.name'), (1, 'result.title'),"
	" (1, 'result.kind'), (1, 'field.id'), (1, 'field.result'),"
	" (1, 'field.position'), (1, 'field.name'), (1, 'field.unit'),"
	" (1, 'field.origin'), (1, 'field.type'), (2, 'field.places'),"
	" (1, 'cell.field'), (1, 'cell.line'), (1, 'cell.value'),"
	" (1, 'remark.run'), (1, 'remark.position'), (1, 'remark.text'),"
	" (2, 'parameter.run'), (2, 'parameter.position'),"
	" (2, 'parameter.name'), (2, 'parameter.value'))"
	" SELECT name FROM want WHERE version <= ? AND name NOT IN"
	" (SELECT t.name || '.' || c.name FROM sqlite_schema AS t,"
	" pragma_table_xinfo(t.name) AS c WHERE t.type = 'table' AND"
	" t.rootpage > 0 AND c.hidden = 0)";

static void check_shape(struct database *l)
{
	sqlite3_stmt *s = database_prepare(l, missing_column);

	sqlite3_bind_int64(s, 1, l->version);
	if (database_row(l, s)) {
		char what[80];

		snprintf(what, sizeof(what), "no column %s",
			 (const char *)sqlite3_column_text(s, 0));
		database_damaged(l, what);
	}
	sqlite3_finalize(s);
}

/* SQLite calls it regularly; a result other than 0 interrupts the operation. */
static int count_steps(void *context)
{
	struct database *l = context;

	l->steps_left -= STEPS_AT_ONCE;
	return l->steps_left < 0;
}

/* Bytes in a file may say anything; we look, and do not trust. */
static void distrust(struct database *l)
{
	sqlite3_db_config(l->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	database_execute(l, "PRAGMA cell_size_check = ON");
	int64_t bytes = database_number(
		l, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");

	l->steps_left = STEPS_AT_LEAST + STEPS_PER_BYTE * bytes;
	sqlite3_progress_handler(l->db, STEPS_AT_ONCE, count_steps, l);
}

/* Called by SQLite while another one writes; 0 ends the waiting. */
static int wait_for_others(void *context, int times)
{
	struct database *l = context;
	unsigned ms = times < 20 ? 1 + (unsigned)times : 20;
	const struct timespec nap = { .tv_nsec = (long)ms * 1000000 };

	if (l->waited >= WAIT_MS || cleanup_signal_is_pending())
		return 0;
	l->waited += ms;
	nanosleep(&nap, NULL);
	return 1;
}

static void open_file(struct database *l, const char *path)
{
	int flags = l->writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;

	if (sqlite3_open_v2(path, &l->db, flags, NULL) != SQLITE_OK) {
		link_fail(l);
		return;
	}
	sqlite3_busy_handler(l->db, wait_for_others, l);
	distrust(l);
	if (l->writes)
		database_execute(l, "BEGIN IMMEDIATE");
}

void database_open(struct database *l, const char *path, bool make, struct diag *d)
{
	*l = (struct database){ .d = d, .doing = make ? "written" : "read", .writes = make };
	d->file = path;
	if (make)
		cleanup_defer_signals();
	/* SQLite would open a temporary or in-memory database for these. */
	if (!*path || *path == ':') {
		d->file = NULL;
		diag_fail(d, HD_ERR_INPUT, "'%s' is not a database file name", path);
		l->failed = true;
	}
	if (!l->failed)
		open_file(l, path);
	check_kind(l);
	check_shape(l);
}

/* Closing rolls an open transaction back. */
void database_close(struct database *l)
{
	sqlite3_close(l->db);
	l->db = NULL;
	if (l->writes)
		cleanup_resume_signals();
	l->writes = false;
}
