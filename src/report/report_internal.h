/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_REPORT_REPORT_INTERNAL_H
#define HD_REPORT_REPORT_INTERNAL_H

/*
 * Connection to a database, shared by the functions that read and write it. A
 * connection keeps the first error. After an error every call has no effect, so
 * that the caller checks once at the end.
 */

#include <sqlite3.h>

#include "report/database.h"

struct database {
	sqlite3 *db;
	struct diag *d;
	const char *doing;  /* "written", "read": for errors */
	int64_t version;    /* of the file's schema; 0: no schema yet */
	int64_t steps_left; /* remaining budget of SQLite's virtual machine */
	unsigned waited;    /* milliseconds spent waiting for other writers */
	bool writes;
	bool failed;
};

/*
 * Opens and checks the file. With `make` it is opened for writing, created if
 * necessary, and fatal signals are deferred until database_close.
 */
void database_open(struct database *l, const char *path, bool make, struct diag *d);
void database_close(struct database *l);
/* Reports content that Heddle did not write. */
void database_damaged(struct database *l, const char *what);
void database_execute(struct database *l, const char *sql);
/* The number returned by `sql`; -1 and an error if none exists. */
int64_t database_number(struct database *l, const char *sql);
/* NULL after a failure: sqlite3's functions accept it and have no effect. */
sqlite3_stmt *database_prepare(struct database *l, const char *sql);
/* Executes a bound statement and resets it for the next values. */
int64_t database_insert(struct database *l, sqlite3_stmt *s);
/* True while there is a row to read. */
bool database_row(struct database *l, sqlite3_stmt *s);

#endif
