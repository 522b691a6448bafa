/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_MODEL_GE_H
#define HD_CLI_MODEL_GE_H

/* Sweeps of 'heddle model ge', 'et' and 'ajt'. */

#include "cli/model_args.h"
#include "model/des/ge_study.h"

struct ge_sweep_options {
	struct common_options common;
	const char *lambda, *mu, *ca2, *cs2, *capacity, *threshold, *rooms;
	struct option_list classes;
	unsigned semantics, form;
	bool compare, coefficients, levels;
	uint64_t simulate;
};

extern const char *const ge_sweep_semantics[]; /* "s1", "s2" */

struct ge_sweep {
	const struct ge_sweep_options *values;
	struct batch_queue queue; /* parameters that do not vary */
	struct series lambda, ca2, cs2;
};

/* False, with the exit status, if the values were refused. */
bool ge_sweep_read(struct ge_sweep *s, const struct command *self, int *status);
void ge_sweep_fini(struct ge_sweep *s);

/* Computes every point and writes the results; returns the exit status. */
int ge_sweep_run(const struct ge_sweep *s);

#endif
