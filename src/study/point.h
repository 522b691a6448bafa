/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_POINT_H
#define HD_STUDY_POINT_H

/*
 * One point of a study: its identity, its run and its results.
 *
 * A point is identified by its content: the scenario with all overrides and
 * defaults filled in, the command with its options, the files that they name,
 * the tables to keep, and POINT_RULES. Two studies that have a point in common
 * share its results.
 */

#include "measure/results.h"
#include "study/processes.h"
#include "study/store.h"
#include "study/study.h"

#define POINT_COMMAND DATABASE_POINT /* command name of a point's run in a database */

struct point_id {
	char *key;      /* digest of the content */
	char *scenario; /* the content */
};
void point_id_fini(struct point_id *id);

/* Returns the scenario's error if the scenario is rejected at this point. */
HD_MUST_CHECK enum hd_status point_identify(const struct study *s, size_t point, struct diag *d,
					    struct point_id *out);
/* Reports the error of this point with the study's line that causes it. */
HD_MUST_CHECK enum hd_status point_refuse(const struct study *s, size_t point, struct diag *d);

/*
 * Runs the point in this process, which must exist for this purpose only, and
 * writes the results to the database `db`. A run that ends in a deadlock is
 * rejected. HD_ERR_ENV if packets exhaust the memory. For commands other than
 * sim, this process executes the command, and the function returns only if that
 * fails.
 */
HD_MUST_CHECK enum hd_status point_run(const struct study *s, size_t point, const char *db,
				       struct diag *d);
/*
 * Reduces the results of a command to the headline and the tables that the
 * study keeps. The outcome becomes a failure if the tables are not those of one
 * point. Results of a simulation are already reduced; results of a template are
 * kept whole.
 */
void point_condense(const struct study *s, struct point_outcome *outcome);

/*
 * Records the point's key and its values as parameters of the run. Except for
 * templates, it also records the scenario, the seed and the words that repeat
 * the run.
 */
void point_sign(const struct study *s, size_t point, const struct point_id *id, struct results *r);
/* Names of these parameters, in addition to POINT_KEY. */
#define POINT_FAILURE "failure"
#define POINT_AGAIN   "failure of the host"

#endif
