/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_TUNE_INTERNAL_H
#define HD_STUDY_TUNE_INTERNAL_H

/* Shared by tune.c (search), tune_runs.c (runs) and tune_check.c (validation on other seeds). */

#include <math.h>

#include "study/tune.h"

/* The scenario and the run parameters of the trials. */
struct tune_stage {
	const struct tune_options *options;
	char *hot, *end;  /* ports of the hot link: transmitting and receiving */
	double rate;      /* Gb/s of the hot link */
	uint16_t sls;     /* SLs used by packets */
	size_t n_victims; /* flows */
	uint32_t n_trials;
	bool stopped;
};

/* One run: parameters, conditions and outcome. */
struct tune_run {
	const struct opensm_cc *conf; /* NULL: without congestion control */
	bool stressed;                /* with the slower hot link */
	uint64_t seed;
	uint32_t factor; /* multiplier of the windows' length */
	bool keeps;      /* keep the tables in `results`, which the caller frees */
	bool is_done;
	double seconds; /* duration of the run */
	struct results *results;
	struct tune_outcome outcome;
};

/* Finds the hot link and the victims by a run without control, *first. Call
 * tune_stage_fini even after an error. */
HD_MUST_CHECK enum hd_status tune_stage_begin(struct tune_stage *s, struct diag *d,
					      struct tune_run *first);
void tune_stage_fini(struct tune_stage *s);
/* Executes all runs, several at a time. If interrupted, `stopped` is set and
 * some runs are incomplete. */
HD_MUST_CHECK enum hd_status tune_stage_run(struct tune_stage *s, struct tune_run *runs, size_t n,
					    struct diag *d);

/* Larger is better. */
double tune_value(const struct tune_options *o, const struct tune_outcome *a);

/* Utilisation of the hot link that counts: the smaller of both runs. */
static inline double tune_hot(const struct tune_trial *t)
{
	return fmin(t->plain.hot, t->stressed.hot);
}

/* Validates out->conf on seeds that the search did not use; fills out->rounds. */
HD_MUST_CHECK enum hd_status tune_validate(struct tune_stage *s, struct diag *d,
					   struct tune_result *out);

#endif
