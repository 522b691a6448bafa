/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_EVALUATION_SERIES_H
#define HD_STUDY_EVALUATION_SERIES_H

/*
 * The evaluation on several fabrics, one after the other, and the tables of
 * all (tables.h): every chosen number of switches, shape, packet size and draw,
 * in that order.
 */

#include "study/evaluation_tables.h"

#define N_EVAL_SIZES    4 /* 8, 16, 32 and 64 switches */
#define N_EVAL_PAYLOADS 2 /* 256 and 4096 bytes */

/* Called now and then with what all runs delivered so far; false ends a run. */
typedef bool eval_progress_fn(void *context, uint32_t run, double packets);

struct eval_series {
	struct eval_plan plan;      /* what they share, and the first seed */
	unsigned sizes;             /* set of 1 << i: 8 << i switches */
	unsigned shapes;            /* set of 1 << enum eval_shape */
	unsigned payloads;          /* set of 1 << i: the i-th of the payloads */
	uint32_t seeds;             /* draws of each */
	eval_progress_fn *progress; /* or NULL */
	bool (*goes_on)(void);      /* asked before each run; NULL: to the end */
	void *context;
};

HD_MUST_CHECK enum hd_status eval_series_run(const struct eval_series *s, struct diag *d,
					     struct results *out);

#endif
