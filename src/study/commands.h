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

#include "measure/results.h"
#include "study/condition.h"

enum take {
	TAKE_ONE,   /* the only row; several are refused */
	TAKE_LAST,  /* the second of two: compared with the first */
	TAKE_LEAST, /* smallest of all rows */
	TAKE_MOST,
	TAKE_SUM,
	TAKE_ALL, /* of yes and no: whether all rows say yes */
};

/* What becomes of a measure in the table of curves, over the seeds. */
enum curve {
	CURVE_NONE,
	CURVE_MEAN,
	CURVE_SPREAD, /* the mean, and how well it is known */
};

struct measure {
	struct column column;
	const char *table; /* NULL: the first that has the column */
	const char *from;  /* the column there */
	enum curve curve;
	enum take take;
};

#define MOST_MEASURES 24

struct study_command {
	const char *name;  /* as typed after "heddle" */
	bool has_scenario; /* its first argument is one */
	const struct measure *measures;
	size_t n_measures;
	/* All that it may show, whatever is run; NULL: it alone knows. */
	const char *const *tables;
	size_t n_tables;
};

/* The one of a study that names none: sim. */
const struct study_command *study_command_default(void);
/* The command that `n` words begin with, or NULL; *used: how many. */
const struct study_command *study_command_of(size_t n, char *const *words,
					     size_t *used);
/* "sim, cc compare, ...", for refusals and help. */
void study_commands_list(struct strbuf *out);

/* Whether it may show a table of that name. */
HD_MUST_CHECK enum hd_status table_check(const struct study_command *c,
					 const char *name, struct diag *d);

/* Index of a measure; n_measures if there is none of that name. */
size_t measure_of(const struct study_command *c, const char *name);
/* Whether a term is about measures, in their units. */
HD_MUST_CHECK enum hd_status measure_check(const struct study_command *c,
					   const struct term *t,
					   struct diag *d);
/* Whether it holds for these values, n_measures of them. */
bool measure_holds(const struct study_command *c, const struct term *t,
		   const double *values);

/* Adds the record "headline" with what `all`, the command's results, say. */
HD_MUST_CHECK enum hd_status headline_add(const struct study_command *c,
					  const struct results *all,
					  struct diag *d, struct results *r);
/* Whether the results of a point, read back, have that record whole. */
bool headline_is_whole(const struct study_command *c, const struct results *r);

#endif
