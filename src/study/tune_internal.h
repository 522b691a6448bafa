/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_TUNE_INTERNAL_H
#define HD_STUDY_TUNE_INTERNAL_H

/* Shared by the search (tune.c), its runs (tune_runs.c) and the check on other
 * seeds (tune_check.c). */

#include <math.h>

#include "study/tune.h"

/* The scenario while settings are tried on it. */
struct tune_stage {
	const struct tune_options *options;
	char *hot, *end;  /* the hot link: the port that sends, and the other one */
	double rate;      /* Gb/s of the hot link */
	uint16_t sls;     /* that packets had */
	size_t n_victims; /* flows */
	uint32_t n_trials;
	bool stopped;
};

/* One run: the settings, where they are tried, and the outcome. */
struct tune_run {
	const struct opensm_cc *conf; /* NULL: without congestion control */
	bool stressed;                /* with the slower hot link */
	uint64_t seed;
	uint32_t factor; /* of the windows' length */
	bool keeps;      /* the tables too, in `results`, which the caller frees */
	bool is_done;
	double seconds; /* it took */
	struct results *results;
	struct tune_outcome outcome;
};

/* Finds the hot link and the victims by a run without control: *first. Call
 * tune_stage_fini in any case. */
HD_MUST_CHECK enum hd_status tune_stage_begin(struct tune_stage *s, struct diag *d,
					      struct tune_run *first);
void tune_stage_fini(struct tune_stage *s);
/* All of them, several at once. Interrupted: `stopped`, some are not done. */
HD_MUST_CHECK enum hd_status tune_stage_run(struct tune_stage *s, struct tune_run *runs, size_t n,
					    struct diag *d);

/* Larger is better. */
double tune_value(const struct tune_options *o, const struct tune_outcome *a);

/* The use of the hot link that counts: the worse of both runs. */
static inline double tune_hot(const struct tune_trial *t)
{
	return fmin(t->plain.hot, t->stressed.hot);
}

/* Tries out->conf on seeds that the search did not use: out->rounds. */
HD_MUST_CHECK enum hd_status tune_validate(struct tune_stage *s, struct diag *d,
					   struct tune_result *out);

#endif
