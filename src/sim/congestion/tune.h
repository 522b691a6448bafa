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
 * The winner of a search looks better than it is: it also had the luckiest
 * dice. So what is found is tried on seeds that the search did not see. The
 * floor is kept if the interval of their mean lies above it, and missed if it
 * lies below; while it holds the floor, the windows were too short to tell and
 * all is done again with windows of twice the length.
 *
 * All tables end at 1/senders of the link's rate, however many senders the
 * scenario has, and only parameters are tried whose marks can hold twice as
 * many: what is found is to hold for larger incasts as well.
 */

#include "fabric/fabric.h"
#include "measure/results.h"
#include "qos/opensm_cc.h"
#include "sim/congestion/congestion.h"

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

/* Told of runs of a trial and between them; false: no more of them. */
typedef bool tune_progress_fn(void *context, uint32_t trials);

/* A scenario, built: its flows, windows, acknowledgements and times. */
struct tune_case {
	const struct fabric *build;
	const struct congestion_flow *flows;
	struct congestion_params params;
};
/* The same scenario with another seed; *out is good until the next call. */
typedef enum hd_status tune_reseed_fn(void *cases, uint64_t seed, struct diag *d,
				      struct tune_case *out);

struct tune_options {
	double floor;      /* of the hot link's use, 0 .. 1 */
	uint32_t budget;   /* trials at most */
	uint32_t senders;  /* the last table entry leaves 1/senders, 2..999 */
	uint32_t stress;   /* how much slower the hot link; 1: no such run */
	uint32_t victims;  /* the victims' row, or SIM_NONE: found out */
	uint32_t held_out; /* seeds after the scenario's, at least 2 */
	tune_reseed_fn *reseed;
	void *cases;
	tune_progress_fn *progress; /* may be NULL */
	void *context;
};

enum tune_verdict { TUNE_OPEN, TUNE_KEPT, TUNE_MISSED };

/* All seeds that the search did not see, over windows of one length. */
struct tune_round {
	hd_time warmup, measure;
	struct tune_held {
		double mean, half_width; /* of the mean, at 95 % */
		double lowest;
	} hot, gain; /* shares; times the victims' uncontrolled goodput */
	enum tune_verdict verdict;
};
/* Windows up to eight times as long as the search's. */
#define TUNE_ROUNDS 4

struct tune_result {
	uint32_t hot; /* sim port that sends into the hot link */
	uint32_t n_victims;
	struct tune_trial none;   /* without control */
	struct tune_trial opensm; /* with OpenSM's defaults */
	struct tune_trial best;
	/*
	 * Cut short: `best` is that of the trials that were made, rounds are
	 * those that came to their end.
	 */
	bool stopped;
	bool found; /* `best` keeps the floor, as far as the search saw */
	struct tune_round rounds[TUNE_ROUNDS]; /* none unless found */
	uint32_t n_rounds;
	struct opensm_cc conf;
	struct tune_trial *trials; /* in the order in which they were made */
	uint32_t n_trials;
	size_t trials_cap;
};

/* HD_ERR_UNFIT if there is no victim. */
HD_MUST_CHECK enum hd_status congestion_tune(const struct tune_case *given,
					     const struct tune_options *options, struct diag *d,
					     struct tune_result *out);
/* Whether the floor is kept on other seeds, too. */
bool tune_is_kept(const struct tune_result *result);
void tune_result_fini(struct tune_result *result);

/* The table of a shape: `senders` times slower at its end. */
void tune_table(enum tune_shape shape, uint32_t senders, struct opensm_cc *out);

/* Tables: gain, parameters, held out, opensm.conf, trials. */
void congestion_tune_tables(const struct fabric *b, const struct tune_options *options,
			    const struct tune_result *t, struct results *r);

#endif
