/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_MODEL_QUEUE_H
#define HD_CLI_MODEL_QUEUE_H

/* Sweep and output of 'heddle model queue'. */

#include "cli/model_args.h"
#include "model/des/queue_des.h"

struct queue_sweep_options {
	struct common_options common;
	const char *lambda, *mu, *cs2, *capacity;
	struct option_list classes;
	uint64_t simulate;
};

enum queue_kind {
	QUEUE_MM1,
	QUEUE_MM1N,
	QUEUE_MD1,
	QUEUE_MG1,
	QUEUE_KIND_PRIORITY,
	QUEUE_KIND_SHARING,
	QUEUE_KINDS
};

struct queue_sweep {
	const struct queue_sweep_options *values;
	enum queue_kind kind;
	double mu;
	struct series lambda, cs2, capacity;
	/* for priority and sharing: one point with these classes */
	size_t n_classes;
	double fields[QUEUE_MAX_CLASSES][3];
};

/* False, with the exit status, if the values were refused. */
bool queue_sweep_read(struct queue_sweep *s, const struct command *self, const char *kind,
		      int *status);
void queue_sweep_fini(struct queue_sweep *s);
int queue_sweep_run(const struct queue_sweep *s);

/* A computed queue, and its simulation if requested. */
struct queue_point {
	struct queue_des des; /* the simulated queue */
	struct queue_result result[QUEUE_MAX_CLASSES];
	double conserved; /* NaN if the law does not apply */
	struct queue_des_result simulated[QUEUE_MAX_CLASSES];
	struct interval simulated_conserved;
};

struct queue_output {
	const struct queue_sweep *sweep;
	bool goals_met;
	struct results *results;
	struct table *points, *simulated;
};

void queue_output_begin(struct queue_output *o, const struct queue_sweep *sweep);
void queue_output_point(struct queue_output *o, const struct queue_point *point);
int queue_output_end(struct queue_output *o);
void queue_output_abandon(struct queue_output *o);

#endif
