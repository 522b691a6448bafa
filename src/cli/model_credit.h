/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_MODEL_CREDIT_H
#define HD_CLI_MODEL_CREDIT_H

/* Sweep and output of 'heddle model credit'. */

#include "cli/model_args.h"
#include "model/des/credit_des.h"

/* Parameters that can be swept; the last one varies fastest. */
enum credit_parameter {
	CREDIT_LAMBDA,
	CREDIT_MU1,
	CREDIT_MU2,
	CREDIT_DELAY,
	CREDIT_N,
	CREDIT_M,
	CREDIT_PARAMETERS
};

struct credit_sweep_options {
	struct common_options common;
	const char *text[CREDIT_PARAMETERS];
	const char *phases;
	bool paired, levels;
	uint64_t simulate;
};

struct credit_sweep {
	const struct credit_sweep_options *values;
	struct series series[CREDIT_PARAMETERS];
	unsigned phases; /* phases of the delay; 0: constant */
	size_t n;        /* number of points */
};

/* False, with the exit status, if the values were refused. */
bool credit_sweep_read(struct credit_sweep *s, const struct command *self, int *status);
void credit_sweep_fini(struct credit_sweep *s);
int credit_sweep_run(const struct credit_sweep *s);

/* One solved link. A constant delay has no formula: simulation only. */
struct credit_point {
	struct credit_link link;
	bool is_solved;
	struct credit_result result;
	struct credit_des_result des;
	double *p; /* NULL unless requested */
};

/* Writes the points as tables. */
struct credit_output {
	const struct credit_sweep_options *values;
	bool goals_met;
	struct results *results;
	struct cli_input_order order;
	struct table *points, *levels, *simulated;
};

void credit_output_begin(struct credit_output *o, const struct credit_sweep *sweep);
void credit_output_point(struct credit_output *o, const struct credit_point *point);
int credit_output_end(struct credit_output *o);
void credit_output_abandon(struct credit_output *o);

#endif
