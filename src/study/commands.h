/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_COMMANDS_H
#define HD_STUDY_COMMANDS_H

/*
 * Commands that a study can run, and the headline measures of each: the values
 * that identify a point in tables, plots and searches.
 *
 * A measure is a column of a table of the command. A point has one value per
 * measure, so a table with several rows needs a rule that selects one value.
 */

#include "measure/reduction.h"
#include "measure/results.h"
#include "study/axis.h"
#include "study/condition.h"

/* How the table of curves aggregates a measure over the seeds. */
enum curve {
	CURVE_NONE,
	CURVE_MEAN,
	CURVE_SPREAD, /* the mean and its confidence interval */
};

struct study_measure {
	struct column column;
	const char *table; /* NULL: the first table that has the column */
	const char *from;  /* column in that table */
	enum curve curve;
	enum reduction take;
	const char *row; /* NULL: all rows; else the row with this first cell */
};

/* Measure of a simulation: whether its goals are met (cli/command.h). */
#define GOALS_MET "goals met"

/* Measures of a study: those of its command and those of the scenario's jobs. */
struct measures {
	struct study_measure *items;
	size_t n, cap;
	struct value_list texts; /* owns generated names and rows */
};

struct study_command;

void measures_init(struct measures *m, const struct study_command *c);
void measures_fini(struct measures *m);
/*
 * Adds the measures of jobs: completion, slowdown, and the number of unfinished
 * jobs; then completion[NAME] and slowdown[NAME] of each job.
 */
void measures_add_jobs(struct measures *m, size_t n, const char *const *names);

struct study_command {
	const char *name;  /* as typed after "heddle" */
	bool has_scenario; /* the first argument is a scenario */
	const struct study_measure *measures;
	size_t n_measures;
	/* All tables that the command can show; NULL: unknown in advance. */
	const char *const *tables;
	size_t n_tables;
};

/* The default command of a study: sim. */
const struct study_command *study_command_default(void);
/* The command that the first of `n` words name, or NULL; *used: number of words. */
const struct study_command *study_command_of(size_t n, char *const *words, size_t *used);
/* Writes "sim, cc compare, ...", for errors and help. */
void study_commands_list(struct strbuf *out);

/* Checks that the command can show a table of that name. */
HD_MUST_CHECK enum hd_status study_table_check(const struct study_command *c, const char *name,
					       struct diag *d);

/* Index of a measure; m->n if no measure has that name. */
size_t study_measure_index(const struct measures *m, const char *name);
/* Checks that a term refers to measures, in their units. */
HD_MUST_CHECK enum hd_status study_measure_check(const struct measures *m, const struct term *t,
						 struct diag *d);
/* Whether the term holds for these m->n values. */
bool study_measure_holds(const struct measures *m, const struct term *t, const double *values);

/* Adds the record "headline" with the measures in `all`, the command's results. */
HD_MUST_CHECK enum hd_status study_headline_add(const struct measures *m, const struct results *all,
						struct diag *d, struct results *r);
/* Whether the results of a point, read back, have the complete record. */
bool study_headline_is_complete(const struct measures *m, const struct results *r);

#endif
