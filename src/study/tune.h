/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_TUNE_H
#define HD_STUDY_TUNE_H

/*
 * A search for parameters of InfiniBand's congestion control that reach a goal
 * of the user, as long as the hot link stays used to a stated floor. Every run
 * is the user's scenario with the fields of `congestion` set, in a process of
 * its own; its numbers are those of 'heddle sim' with these fields.
 *
 * The hot link is the one that is fullest without control; of links that are
 * equally full, one that leads to a host: the end of the congestion tree. Links
 * that hosts send on are none: a host alone cannot send more than its link takes.
 * Victims are the flows that do not end there, or the rows of one name. A trial
 * is two runs: the scenario, and the scenario with a hot link that is several
 * times slower, as if there were as many times the senders. The worse of the
 * two counts. Of two trials that keep the floor the one that misses fewer of the
 * goals that the scenario meets without control is better, then the one that
 * misses fewer of its other goals, then the one with the better goal; of others
 * the one that uses the hot link more.
 *
 * The search walks along one parameter after the other, each over a short list
 * of values, from several starts, and remembers what it tried. It is
 * deterministic: idle cores run likely next trials in advance, which changes
 * no result.
 *
 * The winner of a search is biased by the seeds it was found with. It is
 * therefore tried on other seeds. The floor is kept if the interval of their
 * mean lies above it, and missed if it lies below; while it holds the floor,
 * the windows were too short to tell and all is done again with windows of
 * twice the length.
 *
 * All tables end at 1/senders of the link's rate, however many senders the
 * scenario has, and only parameters are tried whose marks can hold twice as
 * many: the result is meant to hold for larger incasts as well.
 */

#include "measure/results.h"
#include "qos/opensm/opensm_cc.h"
#include "scenario/scenario.h"
#include "study/conf_change.h"

enum tune_goal { TUNE_VICTIMS, TUNE_P99, TUNE_COMPLETION };
extern const char *const tune_goal_names[]; /* victims, p99, completion, NULL */

enum tune_shape { TUNE_LINEAR, TUNE_QUADRATIC, TUNE_GEOMETRIC, TUNE_SHAPES };
const char *tune_shape_name(enum tune_shape shape); /* "geometric" */

/* Cells of the tables of a run. */
struct tune_outcome {
	double victims;    /* Gb/s of payload delivered */
	double p99;        /* us; of the row of the goal, or of all packets */
	double completion; /* us; of the job of the goal, or of the slowest */
	double hot;        /* share of the hot link that is used */
	double total;      /* Gb/s of payload delivered */
	double fairness;   /* Jain's index over all flows */
	uint64_t missed;   /* goals of the scenario, a bit each; of 64 at most */
};

struct tune_trial {
	uint8_t threshold;
	uint16_t marking_rate;
	uint8_t increase;
	uint16_t timer;
	enum tune_shape shape;
	double reach; /* senders that its marks can hold at the link's rate */
	struct tune_outcome plain, stressed;
};

struct tune_options {
	const struct scenario *scenario;
	const struct overrides *overrides; /* that it was read with */
	enum tune_goal goal;
	const char *row;   /* the victims, or the row of the p99; NULL: see above */
	const char *job;   /* of the completion; NULL: the slowest */
	double floor;      /* of the hot link's use, 0 .. 1 */
	uint32_t budget;   /* trials at most */
	uint32_t senders;  /* the last table entry leaves 1/senders, 2..999 */
	uint32_t stress;   /* how much slower the hot link; 1: no such run */
	uint32_t held_out; /* seeds after the scenario's, at least 2 */
	unsigned at_once;  /* processes */
	/* After the first trial: how many runs are left at most, and how long one
	 * takes. */
	void (*estimate)(void *context, size_t runs, double seconds);
	void (*progress)(void *context, uint32_t trials); /* both may be NULL */
	void *context;
};

enum tune_verdict { TUNE_OPEN, TUNE_KEPT, TUNE_MISSED };

/* All seeds that the search did not use, over windows of one length. */
struct tune_round {
	hd_time warmup, measure;
	struct tune_held {
		double mean, half_width; /* of the mean, at 95 % */
		double lowest;
	} hot, gain; /* shares; improvement of the goal over no control */
	/* The scenario's goals without control (before) and with it (after). */
	struct conf_change_goals goals;
	enum tune_verdict verdict;
};
/* Windows up to eight times as long as the search's. */
#define TUNE_ROUNDS 4

struct tune_result {
	char *hot; /* the port that sends into the hot link */
	size_t n_victims;
	struct tune_trial none;   /* without control */
	struct tune_trial opensm; /* with OpenSM's defaults */
	struct tune_trial best;
	/* Interrupted: `best` is that of the trials that ended, if there are any. */
	bool stopped;
	bool found; /* `best` keeps the floor, as far as the search saw */
	struct tune_round rounds[TUNE_ROUNDS]; /* none unless found */
	uint32_t n_rounds;
	struct opensm_cc conf;
	struct tune_trial *trials; /* in the order in which they were made */
	uint32_t n_trials;
	size_t trials_cap;
};

/* HD_ERR_UNFIT if there is nothing that the goal could be measured of. */
HD_MUST_CHECK enum hd_status tune_search_parameters(const struct tune_options *options,
						    struct diag *d, struct tune_result *out);
/* Whether on other seeds the floor is kept, no goal of the scenario is worse
 * than without congestion control, and either one of them is better or the
 * interval of the gain lies above 1. */
bool tune_is_worth(const struct tune_options *options, const struct tune_result *result);
void tune_result_fini(struct tune_result *result);

/* The table of a shape: `senders` times slower at its end. */
void tune_table(enum tune_shape shape, uint32_t senders, struct opensm_cc *out);

/* How many times better than `none`, as the goal has it: above 1 is better. */
double tune_gain(const struct tune_options *options, const struct tune_outcome *a,
		 const struct tune_outcome *none);

/* Tables: gain, parameters, held out, opensm.conf, trials. */
void tune_result_tables(const struct tune_options *options, const struct tune_result *t,
			struct results *r);

#endif
