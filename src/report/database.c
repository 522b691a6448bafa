/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening a database, and what it is. */
#include <errno.h>
#include <string.h>

#include "report/database_parts.h"

#define APPLICATION_ID 0x4864646c /* "Hddl" */
#define WAIT_MS        30000      /* for another run to finish writing */

void link_fail(struct link *l)
{
	int error = sqlite3_errcode(l->db) & 0xff;
	int system = sqlite3_system_errno(l->db);
	bool is_input = error == SQLITE_NOTADB || error == SQLITE_CORRUPT;
	bool is_absent =
		strcmp(l->doing, "read") == 0 &&
		(system == ENOENT || system == ENOTDIR || system == EISDIR);
	enum hd_status status = is_absent  ? HD_ERR_NOT_FOUND
				: is_input ? HD_ERR_INPUT
					   : HD_ERR_IO;

	if (!l->failed)
		diag_fail(l->d, status, "cannot be %s: %s%s%s%s", l->doing,
			  sqlite3_errmsg(l->db), system ? " (" : "",
			  system ? strerror(system) : "", system ? ")" : "");
	l->failed = true;
}

void link_damaged(struct link *l, const char *what)
{
	if (!l->failed)
		diag_fail(l->d, HD_ERR_INPUT, "is damaged: %s", what);
	l->failed = true;
}

void link_execute(struct link *l, const char *sql)
{
	if (!l->failed &&
	    sqlite3_exec(l->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		link_fail(l);
}

int64_t link_number(struct link *l, const char *sql)
{
	sqlite3_stmt *s = link_prepare(l, sql);
	int64_t number = -1;

	if (link_row(l, s))
		number = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return number;
}

sqlite3_stmt *link_prepare(struct link *l, const char *sql)
{
	sqlite3_stmt *s = NULL;

	if (!l->failed &&
	    sqlite3_prepare_v2(l->db, sql, -1, &s, NULL) != SQLITE_OK)
		link_fail(l);
	return s;
}

int64_t link_insert(struct link *l, sqlite3_stmt *s)
{
	if (l->failed)
		return 0;
	if (sqlite3_step(s) != SQLITE_DONE)
		link_fail(l);
	sqlite3_reset(s);
	return sqlite3_last_insert_rowid(l->db);
}

bool link_row(struct link *l, sqlite3_stmt *s)
{
	if (l->failed)
		return false;
	int step = sqlite3_step(s);

	if (step != SQLITE_ROW && step != SQLITE_DONE)
		link_fail(l);
	return step == SQLITE_ROW;
}

/* An empty file is nobody's yet and has version 0. */
static void check_kind(struct link *l)
{
	int64_t application = link_number(l, "PRAGMA application_id");
	int64_t objects = link_number(l, "SELECT count(*) FROM sqlite_schema");

	l->version = link_number(l, "PRAGMA user_version");
	if (l->failed || (application == 0 && l->version == 0 && objects == 0))
		return;
	if (application == APPLICATION_ID && l->version >= 1 &&
	    l->version <= DATABASE_VERSION)
		return;
	l->failed = true;
	if (application != APPLICATION_ID)
		diag_fail(l->d, HD_ERR_INPUT,
			  "is a database of another program");
	else
		diag_fail(l->d, HD_ERR_INPUT,
			  "has schema version %lld (expected 1 to %d)",
			  (long long)l->version, DATABASE_VERSION);
}

void link_open(struct link *l, const char *path, bool make, struct diag *d)
{
	int flags = make ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
			 : SQLITE_OPEN_READONLY;

	*l = (struct link){ .d = d, .doing = make ? "written" : "read" };
	d->file = path;
	if (sqlite3_open_v2(path, &l->db, flags, NULL) != SQLITE_OK) {
		link_fail(l);
		return;
	}
	sqlite3_busy_timeout(l->db, WAIT_MS);
	if (make)
		link_execute(l, "BEGIN IMMEDIATE");
	check_kind(l);
}

/* Closing rolls an open transaction back. */
void link_close(struct link *l)
{
	sqlite3_close(l->db);
	l->db = NULL;
}
