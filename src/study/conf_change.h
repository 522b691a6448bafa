/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_CONF_CHANGE_H
#define HD_STUDY_CONF_CHANGE_H

/*
 * Compares a scenario before and after a change of the configuration. Runs are
 * paired by seed; both runs of a pair have the same traffic. A difference is
 * significant if the 95 % interval of the mean of the pairs' differences
 * excludes zero.
 *
 * A goal is worse if it is missed after the change on at least one seed and
 * either its value is significantly worse, or significantly more seeds lose the
 * goal than win it (one-sided sign test at 5 %). Two implied goals are that
 * every job finishes and that no run ends in a deadlock; the table lists an
 * implied goal only if some run missed it.
 */

#include "measure/results.h"

enum conf_change_verdict {
	CONF_CHANGE_KEPT,   /* met on all seeds, before and after */
	CONF_CHANGE_BETTER, /* met on all seeds, or significantly better */
	CONF_CHANGE_MISSED, /* before and after */
	CONF_CHANGE_OPEN,   /* met on fewer seeds, but too few seeds to be significant */
	CONF_CHANGE_WORSE,
};

struct conf_change_goal {
	char *of, *goal, *asked;
	const char *unit;
	bool is_implied; /* implied, not stated in the scenario */
	size_t cap;
	struct conf_change_pair {
		double before, after; /* NAN: the run has no such number */
		bool met_before, met_after;
	} * pairs; /* one per seed */
};

struct conf_change_goals {
	struct conf_change_goal *items;
	size_t n, cap;
	size_t seeds;
};

/* Adds one seed: the tables of 'heddle sim' before and after the change. */
void conf_change_goals_add(struct conf_change_goals *g, const struct results *before,
			   const struct results *after);
void conf_change_goals_fini(struct conf_change_goals *g);
enum conf_change_verdict conf_change_goal_verdict(const struct conf_change_goal *goal,
						  size_t seeds);
/* Whether the scenario has goals. */
bool conf_change_goals_are_stated(const struct conf_change_goals *g);
/* Returns whether any goal of the scenario is worse. */
bool conf_change_goals_are_worse(const struct conf_change_goals *g);
bool conf_change_goals_are_better(const struct conf_change_goals *g);
/* Adds the table "goals" if there is at least one goal. */
void conf_change_goals_table(const struct conf_change_goals *g, struct results *r);

#define CONF_CHANGE_LEAST_SEEDS 2

struct study_comparison;
/*
 * Runs the scenario with two opensm.conf files on `seeds` seeds and adds the
 * tables goals, classes and jobs. compare.h describes the other members of `c`.
 * Sets *worse if a goal is worse.
 */
HD_MUST_CHECK enum hd_status conf_change_run(struct study_comparison *c, struct diag *d,
					     struct results *out, bool *worse);

#endif
