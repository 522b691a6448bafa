/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_REPORT_REPORT_INTERNAL_H
#define HD_REPORT_REPORT_INTERNAL_H

/*
 * Connection to a database, shared by the functions that read and write it. A
 * connection keeps the first error; after that every call does nothing, so that
 * the caller checks once at the end.
 */

#include <sqlite3.h>

#include "report/database.h"

struct database {
	sqlite3 *db;
	struct diag *d;
	const char *doing;  /* "written", "read": for the message */
	int64_t version;    /* of the file's schema; 0 while it has none */
	int64_t steps_left; /* of what SQLite may do for us */
	unsigned waited;    /* milliseconds, for others to finish writing */
	bool writes;
	bool failed;
};

/*
 * Opens and checks the file. With `make` it is opened for writing, created if
 * necessary, and fatal signals are deferred until database_close.
 */
void database_open(struct database *l, const char *path, bool make, struct diag *d);
void database_close(struct database *l);
/* Refuses content that we did not write. */
void database_damaged(struct database *l, const char *what);
void database_execute(struct database *l, const char *sql);
/* The one number that `sql` gives; -1 and a refusal if it gives no number. */
int64_t database_number(struct database *l, const char *sql);
/* NULL after a failure: sqlite3's functions take it and do nothing. */
sqlite3_stmt *database_prepare(struct database *l, const char *sql);
/* Runs a bound statement and makes it ready for the next values. */
int64_t database_insert(struct database *l, sqlite3_stmt *s);
/* True while there is a row to look at. */
bool database_row(struct database *l, sqlite3_stmt *s);

#endif
