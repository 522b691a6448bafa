/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_PAPER_POINTS_H
#define HD_PAPER_POINTS_H

/*
 * The points of a study that an experiment looks at: one value of every axis,
 * a command each. Points that agree in what the paper leaves open make up a
 * setting; its results are those of all of its points, with the axes as
 * columns of their own in front.
 */

#include "measure/results.h"
#include "paper/paper.h"

#define PAPER_MOST_POINTS 100000 /* of a study */

struct paper_points {
	const struct paper_study *study;
	bool quick;
	size_t *points; /* numbers in the whole grid, the last axis fastest */
	size_t n_points;
	size_t *settings; /* of each point */
	size_t n_settings;
};

/*
 * Of an experiment that has a study. Refuses what names no axis or value, and
 * what has too many points.
 * Free even then; refers to the study.
 */
HD_MUST_CHECK enum hd_status points_init(struct paper_points *g, const struct paper_experiment *e,
					 bool quick, struct diag *d);
void points_fini(struct paper_points *g);

/* What point i has of an axis: its label, and what goes into the command. */
char *points_label(const struct paper_points *g, size_t i, size_t axis);
/* The command of point i, after "heddle". */
char *points_command(const struct paper_points *g, size_t i);
/* An axis's label in a setting; NULL if it is not open or not there. */
char *points_setting_label(const struct paper_points *g, size_t setting, const char *axis);
/* "unit=2, gap=fixed", of what has several values; "" if nothing has. */
void points_setting(const struct paper_points *g, size_t setting, struct strbuf *out);

/*
 * One table of a setting: those of its points one below the other. `of(i)`
 * gives a point's results, NULL if it has none. NULL if no point has it.
 */
typedef const struct results *points_results_fn(const void *context, size_t i);
struct table *points_gather(const struct paper_points *g, size_t setting, const char *table,
			    points_results_fn *of, const void *context, struct results *out);

#endif
