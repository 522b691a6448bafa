/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CONGESTION_TUNE_PARTS_H
#define HD_SIM_CONGESTION_TUNE_PARTS_H

/* What search (tune.c) and trial on other seeds (tune_check.c) share. */

#include <math.h>

#include "sim/congestion/tune.h"

/* How far all of it is, and whether it is to end. */
struct tune_watch {
	const struct tune_options *options;
	uint32_t n_trials;
	bool stopped; /* the last run was cut, and says nothing */
};

/* A scenario while settings are tried on it. */
struct tune_stage {
	struct tune_case given;
	const struct tune_options *options;
	struct tune_watch *watch;
	uint32_t hot; /* sim port that sends into the hot link */
	uint32_t n_victims;
	bool *is_victim;           /* per flow */
	struct sim_setup stressed; /* `given` with a slower hot link */
	double uncontrolled;       /* bits per second that victims receive */
};

/*
 * Finds hot link and victims by a run without control; `given`, `options` and
 * `watch` are set. HD_ERR_UNFIT if there is no victim. Call stage_fini in any
 * case.
 */
HD_MUST_CHECK enum hd_status stage_begin(struct tune_stage *s, struct diag *d);
void stage_fini(struct tune_stage *s);
/* What comes of these settings; NULL: nobody marks, nobody slows down. */
HD_MUST_CHECK enum hd_status stage_try(const struct tune_stage *s, const struct opensm_cc *conf,
				       struct diag *d, struct tune_trial *t);

/* The use of the hot link that counts: the worse of both runs. */
static inline double tune_hot(const struct tune_trial *t)
{
	return fmin(t->plain.hot, t->stressed.hot);
}

/* Tries out->conf on seeds that the search did not see: out->rounds. */
HD_MUST_CHECK enum hd_status tune_validate(const struct tune_case *given, struct tune_watch *watch,
					   struct diag *d, struct tune_result *out);

#endif
