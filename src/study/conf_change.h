/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_CONF_CHANGE_H
#define HD_STUDY_CONF_CHANGE_H

/*
 * What a change of the configuration does to a scenario: runs before and after
 * it, in pairs of one seed, which have the same traffic. A difference is known
 * if the 95 % interval of the mean of the pairs' differences excludes zero.
 *
 * A goal is worse if it is missed after the change on some seed and either its
 * value is known to be worse, or more seeds lose it than win it, beyond chance
 * (one-sided sign test at 5 %). That every job ends and that no run ends in a
 * deadlock are goals too, of which the table has those that some run missed.
 */

#include "measure/results.h"

enum conf_change_verdict {
	CONF_CHANGE_KEPT,   /* met on all seeds, before and after */
	CONF_CHANGE_BETTER, /* met on all seeds, or known to be better */
	CONF_CHANGE_MISSED, /* before and after */
	CONF_CHANGE_OPEN,   /* met on fewer seeds, but the seeds are too few to tell */
	CONF_CHANGE_WORSE,
};

struct conf_change_goal {
	char *of, *goal, *asked;
	const char *unit;
	bool is_implied; /* not the scenario's */
	size_t cap;
	struct conf_change_pair {
		double before, after; /* NAN: no number was found */
		bool met_before, met_after;
	} * pairs; /* one per seed */
};

struct conf_change_goals {
	struct conf_change_goal *items;
	size_t n, cap;
	size_t seeds;
};

/* Adds a seed: the tables of 'heddle sim' before and after the change. */
void conf_change_goals_add(struct conf_change_goals *g, const struct results *before,
			   const struct results *after);
void conf_change_goals_fini(struct conf_change_goals *g);
enum conf_change_verdict conf_change_goal_verdict(const struct conf_change_goal *goal,
						  size_t seeds);
/* Whether the scenario has goals. */
bool conf_change_goals_are_stated(const struct conf_change_goals *g);
/* Whether one of them is. */
bool conf_change_goals_are_worse(const struct conf_change_goals *g);
bool conf_change_goals_are_better(const struct conf_change_goals *g);
/* Adds the table "goals" unless there are none. */
void conf_change_goals_table(const struct conf_change_goals *g, struct results *r);

#define CONF_CHANGE_LEAST_SEEDS 2

struct study_comparison;
/*
 * Runs the scenario with two opensm.conf files on `seeds` seeds (compare.h has
 * the other members), and adds the tables goals, classes and jobs. *worse:
 * whether a goal is.
 */
HD_MUST_CHECK enum hd_status conf_change_run(struct study_comparison *c, struct diag *d,
					     struct results *out, bool *worse);

#endif
