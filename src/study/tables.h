/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_TABLES_H
#define HD_STUDY_TABLES_H

/*
 * Tables of the results of a sweep. Every row begins with the values of the
 * varied fields. Each numeric column has one unit.
 */

#include "study/sweep.h"

enum sweep_shape {
	/*
	 * "points", one row per point and measure: point, fields, seed,
	 * measure, unit, value, failure.
	 */
	SWEEP_TIDY,
	/* "points", one row per point: point, fields, seed, measures, failure. */
	SWEEP_WIDE,
	/*
	 * "curves", one row per cell: the fields, then means over the seeds.
	 * "+-" is half of a 95 % confidence interval.
	 */
	SWEEP_CURVES,
	/* SWEEP_WIDE and SWEEP_CURVES, for the record. */
	SWEEP_BOTH,
};

/*
 * Adds "found" (one row per bisection, if there are any), then the tables of
 * `shape`, then the kept tables of the points by name with the rows of all
 * points, and remarks. Returns true if no point failed and every search found
 * its cell.
 */
bool sweep_tables(const struct study_sweep *w, enum sweep_shape shape, struct results *r);

/* Records the study as parameters of a run, and reads it back. Call study_fini
 * even after an error. */
void study_record(const struct study *s, struct results *r);
HD_MUST_CHECK enum hd_status study_restore(const struct results *r, study_options_fn *options_of,
					   struct diag *d, struct study *out);

#endif
