/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_TABLES_H
#define HD_STUDY_TABLES_H

/*
 * What a sweep found, as tables. Every row begins with the values of the
 * fields that were varied; numbers are in one unit each.
 */

#include "study/sweep.h"

enum sweep_shape {
	/*
	 * "points", a row per point and measure: point, fields, seed, measure,
	 * unit, value, failure.
	 */
	SWEEP_TIDY,
	/* "points", a row per point: point, fields, seed, measures, failure. */
	SWEEP_WIDE,
	/*
	 * "curves", a row per cell: the fields, then means over the seeds;
	 * "+-" is half a 95 % confidence interval.
	 */
	SWEEP_CURVES,
	/* Wide and curves: for the record. */
	SWEEP_BOTH,
};

/*
 * Adds these, after "found" (a row per bisection, if there are any), then the
 * tables that are kept of the points by name, with all rows of all points, and
 * remarks. True if nothing failed and all was found.
 */
bool sweep_tables(const struct study_sweep *w, enum sweep_shape shape, struct results *r);

/* The study as a run's parameters, and back: study_fini even if refused. */
void study_record(const struct study *s, struct results *r);
HD_MUST_CHECK enum hd_status study_restore(const struct results *r, study_options_fn *options_of,
					   struct diag *d, struct study *out);

#endif
