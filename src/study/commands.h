/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_COMMANDS_H
#define HD_STUDY_COMMANDS_H

/*
 * The commands whose runs a study may be made of, and the headline numbers of
 * each: what a point is known by, plotted and searched for.
 *
 * A measure is a column of a table that the command shows. A point has one
 * value of it, so a table of several rows needs a rule which one that is.
 */

#include "measure/reduction.h"
#include "measure/results.h"
#include "study/axis.h"
#include "study/condition.h"

/* What becomes of a measure in the table of curves, over the seeds. */
enum curve {
	CURVE_NONE,
	CURVE_MEAN,
	CURVE_SPREAD, /* the mean, and how well it is known */
};

struct study_measure {
	struct column column;
	const char *table; /* NULL: the first that has the column */
	const char *from;  /* the column there */
	enum curve curve;
	enum reduction take;
	const char *row; /* NULL: all; else the one whose first cell this is */
};

/* The measure of a simulation that says how it ends (cli/command.h). */
#define GOALS_MET "goals met"

/* The measures of a study: its command's, and those of the scenario's jobs. */
struct measures {
	struct study_measure *items;
	size_t n, cap;
	struct value_list texts; /* names and rows that were made for them */
};

struct study_command;

void measures_init(struct measures *m, const struct study_command *c);
void measures_fini(struct measures *m);
/*
 * Adds what is measured of jobs: completion, slowdown, and how many did not
 * finish; then completion[NAME] and slowdown[NAME] of each.
 */
void measures_add_jobs(struct measures *m, size_t n, const char *const *names);

struct study_command {
	const char *name;  /* as typed after "heddle" */
	bool has_scenario; /* its first argument is one */
	const struct study_measure *measures;
	size_t n_measures;
	/* All that it may show, whatever is run; NULL: it alone knows. */
	const char *const *tables;
	size_t n_tables;
};

/* The one of a study that names none: sim. */
const struct study_command *study_command_default(void);
/* The command that `n` words begin with, or NULL; *used: how many. */
const struct study_command *study_command_of(size_t n, char *const *words, size_t *used);
/* "sim, cc compare, ...", for refusals and help. */
void study_commands_list(struct strbuf *out);

/* Whether it may show a table of that name. */
HD_MUST_CHECK enum hd_status study_table_check(const struct study_command *c, const char *name,
					       struct diag *d);

/* Index of a measure; m->n without one of that name. */
size_t study_measure_index(const struct measures *m, const char *name);
/* Whether a term is about measures, in their units. */
HD_MUST_CHECK enum hd_status study_measure_check(const struct measures *m, const struct term *t,
						 struct diag *d);
/* Whether it holds for these values, m->n of them. */
bool study_measure_holds(const struct measures *m, const struct term *t, const double *values);

/* Adds the record "headline" with what `all`, the command's results, say. */
HD_MUST_CHECK enum hd_status study_headline_add(const struct measures *m, const struct results *all,
						struct diag *d, struct results *r);
/* Whether the results of a point, read back, have that record whole. */
bool study_headline_is_complete(const struct measures *m, const struct results *r);

#endif
