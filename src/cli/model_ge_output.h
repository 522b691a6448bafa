/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_MODEL_GE_OUTPUT_H
#define HD_CLI_MODEL_GE_OUTPUT_H

/* Writes the points of a GE sweep as tables. */

#include "cli/model_ge.h"

/* Errors of computed against simulated values, over the points so far. */
struct ge_errors {
	double sum[GE_MEASURES];
	size_t n[GE_MEASURES];
};

struct ge_output {
	const struct ge_sweep_options *values;
	bool goals_met;
	struct ge_errors errors;

	struct results *results;
	struct cli_input_order order;
	struct table *points, *without, *coefficients, *levels;
	struct table *classes, *simulated;
};

void ge_output_begin(struct ge_output *o, const struct ge_sweep *sweep);
void ge_output_point(struct ge_output *o, const struct batch_queue *q,
		     const struct ge_des_point *point);
/* Writes all tables; returns the exit status. */
int ge_output_end(struct ge_output *o);
void ge_output_abandon(struct ge_output *o);

/* Defined in model_ge_tables.c, for ge_output.c. */
void ge_tables_begin(struct ge_output *o);
void ge_tables_point(struct ge_output *o, const struct batch_queue *q,
		     const struct ge_des_point *point);

double ge_output_total_lambda(const struct batch_queue *q);
/* Comparison of measure m of the whole queue. */
struct cli_comparison ge_output_comparison(const struct ge_des_point *point, enum ge_des_measure m,
					   const char *label);
/* Comparison of measure m of class k. */
struct cli_comparison ge_output_class_comparison(const struct ge_des_point *point, size_t k,
						 enum ge_des_measure m, const char *label);

#endif
