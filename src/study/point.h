/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_POINT_H
#define HD_STUDY_POINT_H

/*
 * One point of a study: what it is, and what it gives.
 *
 * A point is known by its content: the scenario with all overrides and
 * defaults filled in, the command with its options, the files that they name,
 * what is kept, and the rules of its run. Two studies that have a point
 * in common share its results.
 */

#include "measure/results.h"
#include "study/processes.h"
#include "study/store.h"
#include "study/study.h"

#define POINT_COMMAND DATABASE_POINT /* of its run in a database */

struct point_id {
	char *key;      /* of the content */
	char *scenario; /* the content */
};
void point_id_fini(struct point_id *id);

/* HD_ERR_INPUT and so on if the scenario is refused at this point. */
HD_MUST_CHECK enum hd_status point_identify(const struct study *s, size_t point, struct diag *d,
					    struct point_id *out);
/* What is refused there, by the line of the study that says it. */
HD_MUST_CHECK enum hd_status point_refuse(const struct study *s, size_t point, struct diag *d);

/*
 * Runs it in this process, which is there for nothing else, and leaves what it
 * gives in the database `db`. A run that ends in a deadlock is refused, and
 * one that fills the memory is HD_ERR_ENV. If the command is not sim this
 * process becomes it, and there is no return unless that fails.
 */
HD_MUST_CHECK enum hd_status point_run(const struct study *s, size_t point, const char *db,
				       struct diag *d);
/*
 * Reduces the results of a command to the headline and the tables that the
 * study keeps; a failure if the tables are not those of one point. The results
 * of a simulation are reduced already, those of a template stay whole.
 */
void point_condense(const struct study *s, struct point_outcome *outcome);

/*
 * Records the point's key and its values as parameters of the run; except for
 * templates also the scenario, the seed and the words that repeat the run.
 */
void point_sign(const struct study *s, size_t point, const struct point_id *id, struct results *r);
/* The names of those parameters of a run, in addition to POINT_KEY. */
#define POINT_FAILURE "failure"
#define POINT_AGAIN   "failure of the host"

#endif
