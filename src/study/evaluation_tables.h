/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_EVALUATION_TABLES_H
#define HD_STUDY_EVALUATION_TABLES_H

/*
 * What runs of evaluation.h found, as tables. Rows begin with the run's link
 * width, topology, switches, packet size and seed.
 *
 *	runs		one line a run: connections, loads, use of ports
 *	levels		one line an SL
 *	delay		packets within parts of their IAT
 *	extremes	the best and the worst connection of each SL
 *	jitter		in eighths of the IAT
 *	ports		the use of every port
 */

#include "measure/results.h"
#include "study/evaluation.h"

struct eval_runs {
	const struct eval_result *items;
	uint32_t n;
};

/* Runs that established connections only have a line in `runs`. */
void eval_tables(struct results *r, const struct eval_runs *runs);

#endif
