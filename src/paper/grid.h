/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_PAPER_GRID_H
#define HD_PAPER_GRID_H

/*
 * The points of an experiment: a study (study/study.h) of the experiment's
 * command and axes, without the cells that `given` excludes. Points with the
 * same values of the parameters that the paper leaves open form a setting. The
 * tables of a setting are those of its points in sequence, with the values of
 * the axes in the first columns.
 */

#include "measure/results.h"
#include "paper/paper.h"
#include "study/study.h"

struct paper_grid {
	const struct paper_study *of;
	struct study study;
	size_t *settings; /* of each point, numbered from 0 */
	size_t n_settings;
};

/*
 * For an experiment that has a study. Rejects unknown axes and values, and too
 * many points. Call paper_grid_fini even after an error.
 */
HD_MUST_CHECK enum hd_status paper_grid_init(struct paper_grid *g, const struct paper *p,
					     const struct paper_experiment *e, bool quick,
					     struct diag *d);
void paper_grid_fini(struct paper_grid *g);

/* The value of an open axis in a setting; NULL if there is no such axis. */
const char *paper_grid_setting_value(const struct paper_grid *g, size_t setting, const char *axis);
/* "unit=2, gap=fixed": the open axes with more than one value; "" without any. */
void paper_grid_setting_print(const struct paper_grid *g, size_t setting, struct strbuf *out);
/*
 * Writes the settings that are members as products of values: "unit=2|4,
 * gap=fixed; unit=8". An axis of which all values are members is omitted. The
 * form is "all but ..." if it needs fewer products.
 */
void paper_grid_settings_print(const struct paper_grid *g, const bool *member, struct strbuf *out);

/*
 * Adds one table of a setting to `out`, if a point has it. `of` returns the
 * results of a point, or NULL.
 */
typedef const struct results *paper_grid_results_fn(const void *context, size_t point);
void paper_grid_gather(const struct paper_grid *g, size_t setting, const char *table,
		       paper_grid_results_fn *of, const void *context, struct results *out);

#endif
