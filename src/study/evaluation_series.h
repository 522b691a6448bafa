/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_EVALUATION_SERIES_H
#define HD_STUDY_EVALUATION_SERIES_H

/*
 * Runs the evaluation on several fabrics in sequence and adds their tables
 * (evaluation_tables.h). The order of the runs is number of switches, shape,
 * packet size, seed.
 */

#include "study/evaluation_tables.h"

#define N_EVAL_SIZES    4 /* 8, 16, 32 and 64 switches */
#define N_EVAL_PAYLOADS 2 /* 256 and 4096 bytes */

/* Called periodically with the packets delivered by all runs so far; false ends a run. */
typedef bool eval_progress_fn(void *context, uint32_t run, double packets);

struct eval_series {
	struct eval_plan plan;      /* common to all runs; holds the first seed */
	unsigned sizes;             /* set of 1 << i: 8 << i switches */
	unsigned shapes;            /* set of 1 << enum eval_shape */
	unsigned payloads;          /* set of 1 << i: the i-th of the payloads */
	uint32_t seeds;             /* number of seeds per combination */
	eval_progress_fn *progress; /* or NULL */
	bool (*goes_on)(void); /* called before each run; false ends the series; NULL: run all */
	void *context;
};

HD_MUST_CHECK enum hd_status eval_series_run(const struct eval_series *s, struct diag *d,
					     struct results *out);

#endif
