/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_POINT_H
#define HD_STUDY_POINT_H

/*
 * One point of a study: what it is, and what it gives.
 *
 * A point is known by its content: the scenario with all overrides and
 * defaults filled in, the files that it names, what is kept, and the rules by
 * which it is run. Two studies that have a point in common share its results.
 */

#include "measure/results.h"
#include "report/database.h"
#include "study/study.h"

/*
 * Raised whenever the same scenario gives other numbers than before: what was
 * found by older rules is run again.
 */
#define POINT_RULES 2

#define POINT_COMMAND DATABASE_POINT /* of its run in a database */

/* Headline numbers, the columns of the table "headline"; a NULL name ends. */
extern const struct column point_measures[];
#define N_MEASURES 10
/* Index of a measure; N_MEASURES if there is none of that name. */
size_t measure_of(const char *name);
/* Whether a term is about measures, in their units. */
HD_MUST_CHECK enum hd_status measure_check(const struct term *t,
					   struct diag *d);
/* Whether it holds for these values, N_MEASURES of them. */
bool measure_holds(const struct term *t, const double *values);

struct point_id {
	char *key;      /* of the content */
	char *scenario; /* the content */
};
void point_id_fini(struct point_id *id);

/* HD_ERR_INPUT and so on if the scenario is refused at this point. */
HD_MUST_CHECK enum hd_status point_identify(const struct study *s, size_t point,
					    struct diag *d,
					    struct point_id *out);

/*
 * Runs it. A run that ends in a deadlock is refused, and one that fills the
 * memory is HD_ERR_ENV.
 */
HD_MUST_CHECK enum hd_status point_run(const struct study *s, size_t point,
				       struct diag *d, struct results **out);

/* For the record: the point's key, its values and how to repeat it. */
void point_sign(const struct study *s, size_t point, const struct point_id *id,
		struct results *r);
/* The names of those parameters of a run. */
#define POINT_KEY     "point"
#define POINT_FAILURE "failure"
#define POINT_AGAIN   "failure of the host"

#endif
