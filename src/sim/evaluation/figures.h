/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_EVALUATION_FIGURES_H
#define HD_SIM_EVALUATION_FIGURES_H

/*
 * Paper 000's tables, figures and claims, ours beside theirs, from the runs of
 * evaluation.h.
 *
 *	frames		Table 1: how long a frame takes
 *	connections	Tables 2, 3, 4: established of those tried
 *	runs		one line a run; Figures 4, 13, 22: delivered load
 *	ports		Figures 5-7, 14-16, 23-25: use of every port
 *	delay		Figures 8, 17, 26: packets within a part of the IAT
 *	jitter		Figures 9, 18, 27
 *	extremes	Figures 10-12, 19-21, 28-30: best, worst connection
 *	claims		what the paper says of them, and whether it holds
 */

#include "measure/results.h"
#include "sim/evaluation/evaluation.h"

/* Table 1; needs no run. */
void figures_frames(struct results *r);

/*
 * Tables 2 to 4 for one speed, packet size and shape: fills the fabric with
 * each number that the paper tried, and with all entries enforced beside.
 * The published last row of Table 4 is printed one column off; it is put back
 * here. HD_OK, or the fabric's refusal.
 */
struct figures_connections {
	struct table *table;
	double worst; /* relative deviation of the last row, farthest from 0 */
};
HD_MUST_CHECK enum hd_status
figures_connections_add(struct figures_connections *c, struct results *r,
			const struct eval_plan *like, struct diag *d);

/* How many connections the paper tried at this speed; the last is too many. */
#define FIGURES_MOST_TRIED 8
uint32_t figures_tried(uint32_t width, uint32_t out[FIGURES_MOST_TRIED]);

/* Runs that are filled up give figures and claims, others their load. */
struct figures_runs {
	const struct eval_result *items;
	uint32_t n;
};
void figures_add(struct results *r, const struct figures_runs *runs);

/* ---- claims -------------------------------------------------------------- */

enum figures_claim {
	CLAIM_SLOW_WITHIN_32ND,
	CLAIM_ALL_WITHIN_3_4,
	CLAIM_SLOW_JITTER,
	CLAIM_FAST_JITTER_WITHIN,
	CLAIM_FAST_JITTER_BELL,
	CLAIM_WORST_WITHIN_IAT,
	CLAIM_WORST_NEAR_BEST,
	CLAIM_LOAD,
	CLAIM_SMALL_ABOVE_LARGE,
	CLAIM_NOT_FLAT,
	CLAIM_USE_NEAR_80,
	CLAIM_SOME_ABOVE_80,
	CLAIM_NOTHING_LOST,
	CLAIM_SAME_TENDENCY,
	N_FIGURES_CLAIMS
};

struct figures_verdict {
	uint32_t cases, holds;
	double worst; /* of the value judged */
	const struct eval_result *at;
};

/* `claim` over all runs that it speaks of. */
struct figures_verdict figures_judge(const struct figures_runs *runs,
				     enum figures_claim claim);

#endif
