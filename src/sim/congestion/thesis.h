/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CONGESTION_THESIS_H
#define HD_SIM_CONGESTION_THESIS_H

/*
 * Chapter 3 of the thesis as one experiment: two classes under admission and
 * control, its Tables 3.2 and 3.3 and Figures 3.4 to 3.7 beside ours, and what
 * it claims, each claim with our numbers and whether they bear it out.
 *
 *	parameters	Table 3.1, which is lost, as reconstructed
 *	table 3.2	average rates under PIPD, by unit and pacing
 *	table 3.3	PIPD beside FIMD
 *	figure 3.4 .. figure 3.7	rates over time
 *	distribution	where the low class' rate is, and for how long
 *	start		how fast a lone flow takes its link
 *	totals		goodput in all, algorithm by algorithm
 *	thresholds	marking thresholds against depths of buffers
 *	claims		what is said, and what we see
 *
 * The thesis gives neither PIPD's unit nor what an "average injection rate"
 * is; both the average of the rate variable and the goodput are shown.
 */

#include "base/diag.h"
#include "measure/results.h"

typedef void thesis_progress_fn(void *context, unsigned done, unsigned all);

struct thesis_options {
	hd_time warmup, measure; /* of every run; 0: 150 ms and 200 ms */
	uint64_t seed;
	thesis_progress_fn *progress; /* may be NULL */
	void *context;
};

/* Adds the tables above to `r`. */
HD_MUST_CHECK enum hd_status congestion_thesis(const struct thesis_options *o,
					       struct diag *d,
					       struct results *r);

/* The scenario of the two classes, as examples/thesis-two-classes.yaml. */
extern const char congestion_thesis_scenario[];

#endif
