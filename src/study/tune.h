/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_TUNE_H
#define HD_STUDY_TUNE_H

/*
 * Searches for parameters of InfiniBand's congestion control that optimise a
 * goal of the user while the utilisation of the hot link stays above a given
 * floor. Every run is the user's scenario with the fields of `congestion` set,
 * in a separate process. Its numbers equal those of 'heddle sim' with these
 * fields.
 *
 * The hot link is the link with the highest utilisation without congestion
 * control; among equally utilised links, one that leads to a host, the root of
 * the congestion tree. Injection links of hosts are excluded, because a host
 * alone cannot exceed the rate of its link. Victims are the flows that do not
 * end at the hot link, or the rows of one name. A trial is two runs: the
 * scenario, and the scenario with a hot link that is several times slower,
 * which emulates as many times the senders. The worse of the two counts. Trials
 * are ordered as follows. Among trials that keep the floor, the better one
 * misses fewer of the goals that the scenario meets without control; then fewer
 * of its other goals; then it has the better value of the goal. Among other
 * trials, the better one has the higher utilisation of the hot link.
 *
 * The search is a coordinate descent over one parameter at a time, each with a
 * short list of values, from several starts, and caches its trials. It is
 * deterministic: idle cores run likely next trials in advance, which does not
 * change the result.
 *
 * The winner of a search is biased by the seeds of the search. It is therefore
 * validated on other seeds. The floor is kept if the confidence interval of
 * their mean lies above it, and missed if the interval lies below it. While the
 * interval contains the floor, the windows are too short to decide, and
 * validation is repeated with windows of twice the length.
 *
 * All tables end at 1/senders of the link's rate, for any number of senders in
 * the scenario, and only parameters whose marks can hold twice as many senders
 * are tried: the result must hold for larger incasts as well.
 */

#include "measure/results.h"
#include "qos/opensm/opensm_cc.h"
#include "scenario/scenario.h"
#include "study/conf_change.h"

enum tune_goal { TUNE_VICTIMS, TUNE_P99, TUNE_COMPLETION };
extern const char *const tune_goal_names[]; /* victims, p99, completion, NULL */

enum tune_shape { TUNE_LINEAR, TUNE_QUADRATIC, TUNE_GEOMETRIC, TUNE_SHAPES };
const char *tune_shape_name(enum tune_shape shape); /* "geometric" */

/* Values from the tables of a run. */
struct tune_outcome {
	double victims;    /* Gb/s of payload delivered */
	double p99;        /* us; of the row of the goal, or of all packets */
	double completion; /* us; of the job of the goal, or of the slowest */
	double hot;        /* utilisation of the hot link, 0 .. 1 */
	double total;      /* Gb/s of payload delivered */
	double fairness;   /* Jain's index over all flows */
	uint64_t missed;   /* missed goals of the scenario, one bit each; at most 64 */
};

struct tune_trial {
	uint8_t threshold;
	uint16_t marking_rate;
	uint8_t increase;
	uint16_t timer;
	enum tune_shape shape;
	double reach; /* number of senders that its marks can hold at the link's rate */
	struct tune_outcome plain, stressed;
};

struct tune_options {
	const struct scenario *scenario;
	const struct overrides *overrides; /* overrides that the scenario was read with */
	enum tune_goal goal;
	const char *row;   /* name of the victims, or of the row of the p99; NULL: see above */
	const char *job;   /* job of the completion; NULL: the slowest */
	double floor;      /* least utilisation of the hot link, 0 .. 1 */
	uint32_t budget;   /* maximum number of trials */
	uint32_t senders;  /* the last table entry leaves 1/senders, 2..999 */
	uint32_t stress;   /* slow-down factor of the hot link; 1: no second run */
	uint32_t held_out; /* number of validation seeds after the scenario's, at least 2 */
	unsigned at_once;  /* processes */
	/* Called after the first trial: upper limit of the remaining runs, and
	 * the seconds of one run. */
	void (*estimate)(void *context, size_t runs, double seconds);
	void (*progress)(void *context, uint32_t trials); /* both may be NULL */
	void *context;
};

enum tune_verdict { TUNE_OPEN, TUNE_KEPT, TUNE_MISSED };

/* Results of all validation seeds, over windows of one length. */
struct tune_round {
	hd_time warmup, measure;
	struct tune_held {
		double mean, half_width; /* of the mean, at 95 % */
		double lowest;
	} hot, gain; /* utilisation; improvement of the goal over no control */
	/* The scenario's goals without control (before) and with control (after). */
	struct conf_change_goals goals;
	enum tune_verdict verdict;
};
/* The windows reach eight times the length of the search's windows. */
#define TUNE_ROUNDS 4

struct tune_result {
	char *hot; /* the port that transmits to the hot link */
	size_t n_victims;
	struct tune_trial none;   /* without control */
	struct tune_trial opensm; /* with OpenSM's defaults */
	struct tune_trial best;
	/* Interrupted: `best` covers the completed trials, if there are any. */
	bool stopped;
	bool found;                            /* `best` kept the floor in the search's runs */
	struct tune_round rounds[TUNE_ROUNDS]; /* unset unless found */
	uint32_t n_rounds;
	struct opensm_cc conf;
	struct tune_trial *trials; /* in the order of execution */
	uint32_t n_trials;
	size_t trials_cap;
};

/* HD_ERR_UNFIT if the scenario has nothing that the goal measures. */
HD_MUST_CHECK enum hd_status tune_search_parameters(const struct tune_options *options,
						    struct diag *d, struct tune_result *out);
/* Whether, on the validation seeds, the floor is kept, no goal of the scenario
 * is worse than without congestion control, and either some goal is better or
 * the interval of the gain lies above 1. */
bool tune_is_worth(const struct tune_options *options, const struct tune_result *result);
void tune_result_fini(struct tune_result *result);

/* The table of a shape; its last entry is 1/senders of the link's rate. */
void tune_table(enum tune_shape shape, uint32_t senders, struct opensm_cc *out);

/* Improvement factor of the goal over `none`; above 1 is better. */
double tune_gain(const struct tune_options *options, const struct tune_outcome *a,
		 const struct tune_outcome *none);

/* Tables: gain, parameters, held out, opensm.conf, trials. */
void tune_result_tables(const struct tune_options *options, const struct tune_result *t,
			struct results *r);

#endif
