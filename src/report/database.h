/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_REPORT_DATABASE_H
#define HD_REPORT_DATABASE_H

/*
 * Results of many runs in one SQLite file. docs/database.md describes the
 * schema, version 2 (PRAGMA user_version; application_id is "Hddl"):
 *
 *	run(id, command, version, seed, scenario, created, arguments,
 *	    process, finished)
 *	parameter(run, position, name, value)
 *	result(id, run, name, title, kind)        one table of a run
 *	field(id, result, position, name, unit, origin, type, places)
 *	cell(field, line, value)                  line: row number from 0
 *	remark(run, position, text)
 *	value(run, command, seed, result, line, name, value, unit, origin)
 *	                                          a view over all of it
 *
 * so that
 *
 *	SELECT run, line, value FROM value WHERE result = 'flows' AND
 *	name = 'p99';
 *
 * A run is noted when it begins and filled in one transaction when it has
 * ended: whatever happens in between, earlier runs stay, half a run never
 * shows, and the note says what was lost. seed is text, since SQLite's
 * integers are signed; times are UTC, "YYYY-MM-DD hh:mm:ss".
 *
 * A file of version 1 is read as it is and brought to version 2 when a run is
 * added. A file of another kind or a later version is refused with
 * HD_ERR_INPUT and left alone.
 */

#include "measure/results.h"

#define DATABASE_VERSION 2
/* The database that commands use without --db. */
#define DATABASE_DEFAULT "heddle.db"
/* Command name of runs that are points of a sweep. */
#define DATABASE_POINT   "sweep point"

/*
 * Reports the errors of database_begin that can be detected without creating or
 * changing the file.
 */
HD_MUST_CHECK enum hd_status database_check(const char *path, struct diag *d);

/*
 * Records the start of a run and creates the file if necessary; *run is the
 * run's number. `content` is the input, or "": it is recorded as the scenario
 * until the run finishes. A call of one of the next three functions must
 * follow.
 */
HD_MUST_CHECK enum hd_status database_begin(const char *path, const char *command,
					    const char *arguments, const char *content,
					    struct diag *d, int64_t *run);
/*
 * Stores the results of run `run`, or of a new one if it is 0. An error lists
 * what is lost, and confirms that earlier runs are not affected.
 */
HD_MUST_CHECK enum hd_status database_finish(const char *path, int64_t run, const struct results *r,
					     struct diag *d);
/* Removes a run without results (its input was rejected). */
void database_forget(const char *path, int64_t run);
/* Marks the run as failed: it stays in the database as lost. */
void database_give_up(const char *path, int64_t run);

/* Combines database_begin and database_finish. */
HD_MUST_CHECK enum hd_status database_append(const char *path, const struct results *r,
					     struct diag *d);

enum run_state {
	RUN_DONE,
	RUN_RUNNING, /* an existing process of this machine executes it */
	RUN_LOST,    /* it started, and has no results */
};
const char *database_state_name(enum run_state state); /* "done" */

struct run_info {
	int64_t id;
	enum run_state state;
	char *command, *arguments, *version, *seed;
	char *title;             /* title of its table "summary", or "" */
	char *created;           /* time of its start */
	char *finished;          /* "" if it did not finish */
	uint64_t tables, values; /* number of stored tables and values */
	char *content;           /* of an unfinished run: its content from database_begin */
};

/* All runs of a file, in order; the caller frees with database_infos_free. */
HD_MUST_CHECK enum hd_status database_list(const char *path, struct diag *d, struct run_info **out,
					   size_t *n);
void database_infos_free(struct run_info *infos, size_t n);

/* A parameter of a run. */
struct run_note {
	int64_t run;
	char *value;
};
/*
 * The parameter `name` of every finished run of `command`, or of all commands
 * if it is NULL, in order. There are none if the file does not exist. Free with
 * database_notes_free.
 */
HD_MUST_CHECK enum hd_status database_notes(const char *path, const char *command, const char *name,
					    struct diag *d, struct run_note **out, size_t *n);
void database_notes_free(struct run_note *notes, size_t n);

/*
 * Creates or replaces the view `view`: the table `table` of the last finished
 * run of `command` that has this table, with its columns as columns.
 */
HD_MUST_CHECK enum hd_status database_view(const char *path, const char *command, const char *table,
					   const char *view, struct diag *d);

/* Reads a run as it was written; HD_ERR_NOT_FOUND if there is no such run. */
HD_MUST_CHECK enum hd_status database_read(const char *path, int64_t run, struct diag *d,
					   struct results **out);

#endif
