/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CONGESTION_TUNE_H
#define HD_SIM_CONGESTION_TUNE_H

/*
 * A search for parameters of InfiniBand's congestion control that protect the
 * victims of a scenario, as long as the hot link stays used to a stated floor.
 *
 * The hot link is the one that is fullest without control, the last one of
 * several: the end of the congestion tree. Victims are the flows that are not
 * on their way to it. A trial is two simulated runs, of the scenario and of the
 * same with a hot link that is several times slower, as if there were so many
 * times the senders: what serves only this very incast must not win. The worse
 * of the two counts. Of two trials that keep the floor the one with more victim
 * goodput is better, of others the one that uses the hot link more.
 *
 * The search walks along one parameter after the other, each over a short list
 * of values, from several starts, and remembers what it tried. It is
 * deterministic, and looks at nothing but the scenario given.
 *
 * All tables end at 1/senders of the link's rate, however many senders the
 * scenario has, and only parameters are tried whose marks can hold twice as
 * many: what is found is to hold for larger incasts as well.
 */

#include "fabric/fabric.h"
#include "measure/results.h"
#include "sim/congestion/congestion.h"
#include "sim/congestion/opensm_cc.h"

enum tune_shape { TUNE_LINEAR, TUNE_QUADRATIC, TUNE_GEOMETRIC, TUNE_SHAPES };
const char *tune_shape_name(enum tune_shape shape); /* "geometric" */

struct tune_trial {
	uint8_t threshold;
	uint16_t marking_rate;
	uint8_t increase;
	uint16_t timer;
	enum tune_shape shape;
	double reach; /* senders that its marks can hold at the link's rate */
	/* What came of it: of the scenario, and with the slower hot link. */
	struct tune_outcome {
		double victims;  /* bits per second of goodput */
		double hot;      /* share of the hot link that is used */
		double total;    /* bits per second of goodput */
		double fairness; /* Jain's index over all flows */
	} plain, stressed;
};

typedef void tune_progress_fn(void *context, uint32_t trials, uint32_t budget);

struct tune_options {
	double floor;     /* of the hot link's use, 0 .. 1 */
	uint32_t budget;  /* trials at most */
	uint32_t senders; /* the last table entry leaves 1/senders, 2..999 */
	uint32_t
		stress; /* how many times slower the hot link; 1: no such run */
	uint32_t victims; /* the victims' row, or SIM_NONE: found out */
	tune_progress_fn *progress; /* may be NULL */
	void *context;
};

struct tune_result {
	uint32_t hot; /* sim port that sends into the hot link */
	uint32_t n_victims;
	struct tune_trial none;   /* without control */
	struct tune_trial opensm; /* with OpenSM's defaults */
	struct tune_trial best;
	bool found; /* `best` keeps the floor */
	struct opensm_cc conf;
	struct tune_trial *trials; /* in the order in which they were made */
	uint32_t n_trials;
	size_t trials_cap;
};

/*
 * HD_ERR_UNFIT if there is no victim. `params` gives windows, acknowledgements
 * and times.
 */
HD_MUST_CHECK enum hd_status
congestion_tune(const struct fabric *b, const struct congestion_flow *flows,
		const struct congestion_params *params,
		const struct tune_options *options, struct diag *d,
		struct tune_result *out);
void tune_result_fini(struct tune_result *result);

/* The table of a shape: `senders` times slower at its end. */
void tune_table(enum tune_shape shape, uint32_t senders, struct opensm_cc *out);

/* Tables: gain, parameters, opensm.conf, trials. */
void congestion_tune_tables(const struct fabric *b,
			    const struct tune_options *options,
			    const struct tune_result *t, struct results *r);

#endif
