/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_PAPER_PAPER_H
#define HD_PAPER_PAPER_H

/*
 * Published tables, figures and claims as data. A file per paper (papers/ in
 * the source, built into the program) lists experiments: which command of
 * ours gives the numbers, where they stand in its results, what was published
 * and how far ours may be from it. The verdict follows from these alone; the
 * file also records it, so that a change is noticed.
 *
 *	experiments:
 *	- id: table2
 *	  title: connections that the fabric takes
 *	  command: qos admit ...
 *	  checks:
 *	  - what: mesh, 256 B
 *	    value: {table: summary, column: accepted}
 *	    published: 2623 +- 5%
 *	  verdict: within tolerance
 */

#include "scenario/schema.h"

enum paper_kind {
	PAPER_TABLE,
	PAPER_FIGURE,
	PAPER_CLAIM,   /* made in words, or a worked example */
	PAPER_DRAWING, /* shows no result: nothing to reproduce */
};
extern const char *const paper_kind_names[];

/*
 * From best to worst: an experiment's verdict is that of its worst check, and
 * without a check there is nothing to compare with.
 */
enum paper_verdict {
	VERDICT_MATCHED, /* to all published digits, or the claim holds */
	VERDICT_WITHIN,  /* within the stated tolerance */
	VERDICT_REFUTED,
	VERDICT_NONE, /* not reproducible, for the stated reason */
};
extern const char *const paper_verdict_names[];

/* What many rows of a table become. */
enum paper_take {
	TAKE_ONE, /* it must be one row */
	TAKE_MEAN,
	TAKE_LEAST,
	TAKE_MOST,
	TAKE_SUM,
	TAKE_COUNT, /* of rows; needs no column */
	TAKE_FIRST,
	TAKE_LAST,
};
extern const char *const paper_take_names[];

struct paper_value {
	char *table;
	char *column;
	char *where; /* "column=value, ...": rows that count; NULL: all */
	enum paper_take take;
};

/* What was published, or claimed, of a value. */
enum paper_relation {
	RELATION_EQUAL,
	RELATION_AT_LEAST,
	RELATION_AT_MOST,
	RELATION_RISES, /* of a column of rows: never falls */
	RELATION_FALLS,
	RELATION_TEXT, /* the cell reads so; yes and no are booleans */
};

struct paper_expectation {
	enum paper_relation relation;
	char *text; /* as written, and what RELATION_TEXT compares with */
	double number;
	double digits;    /* half a unit of the last printed digit */
	double tolerance; /* relative; 0: none */
};

struct paper_check {
	char *what; /* in the paper's sense: "mesh, 256 B" */
	struct paper_value value;
	struct paper_value against; /* divides it; table NULL: nothing does */
	struct paper_expectation published;
};

struct paper_experiment {
	char *id; /* within the paper: "table2", "fig16" */
	enum paper_kind kind;
	char *title;
	char *command; /* words after "heddle"; NULL: nothing to run */
	char *quick;   /* a shorter run of the same; NULL: command */
	hd_time time;  /* of `command`, on one core of a small machine */
	hd_time quick_time;
	struct paper_check *checks;
	size_t n_checks;
	enum paper_verdict verdict; /* recorded */
	char *reason;               /* for a verdict that needs one */
};

struct paper {
	char *id; /* "000" */
	char *title;
	struct paper_experiment *experiments;
	size_t n_experiments;
	struct schema_places places;
	char *file;
};

/* The file's layout; see scenario/schema.h. */
extern const struct schema_row paper_fields[];

/* Free with paper_fini even after a refusal. */
HD_MUST_CHECK enum hd_status paper_parse(const char *text, size_t len,
					 const char *file, struct diag *d,
					 struct paper *out);
void paper_fini(struct paper *p);

/* The command for a full or a quick run; NULL if there is nothing to run. */
const char *paper_command(const struct paper_experiment *e, bool quick);

/* The files of papers/ as they were built in: "papers/000.yaml". */
struct paper_file {
	const char *name;
	const unsigned char *bytes;
	size_t len;
};
extern const struct paper_file paper_files[]; /* ends with a NULL name */

/* All papers that are built in, in order. */
#define PAPER_COUNT 5
struct paper_catalogue {
	struct paper papers[PAPER_COUNT];
};
/* Refused only if a built-in file is bad; free even then. */
HD_MUST_CHECK enum hd_status catalogue_init(struct paper_catalogue *c,
					    struct diag *d);
void catalogue_fini(struct paper_catalogue *c);

#endif
