/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_STORE_H
#define HD_STUDY_STORE_H

/*
 * The runs of a database that are known by the content of what was run
 * (POINT_KEY), so that nothing is run twice.
 */

#include "base/map.h"
#include "report/database.h"

/*
 * Raised whenever the same content gives other numbers than before: what was
 * found by older rules is run again.
 */
#define POINT_RULES 13

/* The parameter of a run that has the key. */
#define POINT_KEY "point"

struct store {
	const char *path;
	struct run_note *notes;
	size_t n;
	struct text_map runs; /* by key: the last note */
};

/*
 * Those of a command, or of all that have a key if it is NULL; none if there is
 * no file. Close it even after a refusal.
 */
HD_MUST_CHECK enum hd_status store_open(struct store *s, const char *path, const char *command,
					struct diag *d);
void store_close(struct store *s);

/* What was kept of this content, the last of several; NULL: nothing. */
HD_MUST_CHECK enum hd_status store_read(const struct store *s, const char *key, struct diag *d,
					struct results **out);

#endif
