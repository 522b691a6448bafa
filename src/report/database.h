/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_REPORT_DATABASE_H
#define HD_REPORT_DATABASE_H

/*
 * Results of many runs in one SQLite file.
 *
 * Schema, version 1 (PRAGMA user_version; application_id is "Hddl"):
 *
 *	run(id, command, version, seed, scenario, created)
 *	result(id, run, name, title, kind)        one table of a run
 *	field(id, result, position, name, unit, origin, type)
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
 * Each run is one transaction: whatever happens while it is written, earlier
 * runs stay and half a run never shows. seed is text, since SQLite's integers
 * are signed; created is UTC, "YYYY-MM-DD hh:mm:ss".
 */

#include "measure/results.h"

#define DATABASE_VERSION 1

/*
 * Appends one run to the file, which is made if there is none. A file of
 * another kind or version is refused with HD_ERR_INPUT and left alone.
 */
HD_MUST_CHECK enum hd_status
database_append(const char *path, const struct results *r, struct diag *d);

#endif
