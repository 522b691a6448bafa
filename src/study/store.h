/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_STORE_H
#define HD_STUDY_STORE_H

/*
 * Index of a database's runs by the content of the point (POINT_KEY). A point
 * that is already in the database is not run again.
 */

#include "base/map.h"
#include "report/database.h"

/*
 * Increase when the same content gives different numbers than before: points
 * recorded with a lower value are run again.
 */
#define POINT_RULES 14

/* Name of the run parameter that holds the key. */
#define POINT_KEY "point"

struct store {
	const char *path;
	struct run_note *notes;
	size_t n;
	struct text_map runs; /* by key: the last note */
};

/*
 * Opens the runs of `command`, or all runs that have a key if it is NULL. The
 * store is empty if the file does not exist. Call store_close even after an
 * error.
 */
HD_MUST_CHECK enum hd_status store_open(struct store *s, const char *path, const char *command,
					struct diag *d);
void store_close(struct store *s);

/* Reads the last stored outcome of this content; NULL: none exists. */
HD_MUST_CHECK enum hd_status store_read(const struct store *s, const char *key, struct diag *d,
					struct results **out);

#endif
