/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_EVALUATION_TABLES_H
#define HD_STUDY_EVALUATION_TABLES_H

/*
 * Tables of evaluation results (evaluation.h). Rows begin with the run's link
 * width, topology, switches, packet size and seed.
 *
 *	runs		one row per run: connections, loads, port utilisation
 *	levels		one row per SL
 *	delay		packets within fractions of their IAT
 *	extremes	the best and the worst connection of each SL
 *	jitter		in eighths of the IAT
 *	ports		utilisation of every port
 */

#include "measure/results.h"
#include "study/evaluation.h"

struct eval_runs {
	const struct eval_result *items;
	uint32_t n;
};

/* Runs without simulation (establish_only) have a row in `runs` only. */
void eval_tables(struct results *r, const struct eval_runs *runs);

#endif
