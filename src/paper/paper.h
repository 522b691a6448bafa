/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_PAPER_PAPER_H
#define HD_PAPER_PAPER_H

/*
 * Published tables, figures and claims as data. There is one file per paper
 * (papers/ in the source, built into the program). It lists studies: commands of
 * Heddle and their varied parameters; and experiments: the points of a study,
 * the location of the numbers in the results, the published values, and the rule
 * that judges the results. The verdict follows from these alone. The file also
 * records the verdict, so that a change is detected.
 *
 *	studies:
 *	- name: fill
 *	  command: qos evaluate --topology {topology} --reserve {reserve}
 *	  vary:
 *	  - {name: topology, values: 'irregular, hypercube, mesh'}
 *	  - {name: reserve, values: 'wire, payload', open: 'what slots are for'}
 *	experiments:
 *	- id: above
 *	  kind: claim
 *	  title: some ports are used above 80 %
 *	  study: fill
 *	  given: topology=mesh
 *	  checks:
 *	  - {what: use of the busiest port, table: runs, column: most,
 *	     published: '>= 80', source: 'text: "Some utilizations exceed 80%"'}
 *	  verdict: reproduced for
 *	  settings: reserve=payload
 *	  reason: with headers counted no port can be
 *
 * Parameters that a paper leaves open are varied too (`open`): the checks are
 * judged in each setting, and the verdict lists the settings in which they hold.
 */

#include "measure/reduction.h"
#include "scenario/schema.h"
#include "study/axis.h"

enum paper_kind {
	PAPER_TABLE,
	PAPER_FIGURE,
	PAPER_CLAIM,   /* stated in the text, or a worked example */
	PAPER_DRAWING, /* has no result: nothing to reproduce */
};
extern const char *const paper_kind_names[];

/*
 * From best to worst. An experiment's verdict is that of its worst check;
 * without a check there is no comparison.
 */
enum paper_verdict {
	VERDICT_MATCHED,  /* a printed number, to all printed digits */
	VERDICT_COMPUTED, /* a number that follows from the text, not printed in it */
	VERDICT_WITHIN,   /* a number, within a tolerance that has a source */
	VERDICT_TREND,    /* words, by the rule of the check */
	VERDICT_PARTLY,   /* in some settings of the open parameters, or in some cases */
	VERDICT_NOT,      /* not reproduced */
	VERDICT_REFUTED,  /* not reproduced, and the text contradicts itself: `proof` */
	VERDICT_NONE,     /* no number to compare, for the stated reason */
};
extern const char *const paper_verdict_names[];

/* "{axis}" in column and where is replaced by the setting's value of that open axis. */
struct paper_value {
	char *table;
	char *column;
	char *where;         /* "column=value, column>=value": rows; NULL: all */
	enum reduction take; /* up to REDUCE_LAST */
};

/* Published or claimed property of a value. */
enum paper_relation {
	RELATION_EQUAL,
	RELATION_AT_LEAST,
	RELATION_AT_MOST,
	RELATION_ABOVE,
	RELATION_BELOW,
	RELATION_RISES, /* at every step */
	RELATION_FALLS,
	RELATION_NEVER_FALLS, /* steps may be flat */
	RELATION_NEVER_RISES,
	RELATION_TEXT, /* the cell has this text; yes and no are booleans */
};

struct paper_expectation {
	enum paper_relation relation;
	char *text; /* as written; RELATION_TEXT compares with it */
	double number;
	double digits;    /* half a unit of the last printed digit */
	double tolerance; /* relative; 0: none */
	bool computed;    /* "computed NUMBER": from a closed form, not printed */
};
bool relation_is_limit(enum paper_relation r);
bool relation_is_course(enum paper_relation r);

/*
 * One comparison. With `each`, the names of columns, it is made for every
 * combination of their values in the table (a case). Curves follow the values
 * of `along`, in the order of the rows; without it, the rows. `over` names the
 * column of repetitions (seeds): their mean is judged, and an exception counts
 * only if it is significant, that is if the 95 % interval of the repetitions
 * excludes the claim.
 */
struct paper_check {
	char *what; /* in terms of the paper: "mesh, 256 B" */
	struct paper_value value;
	struct paper_value against; /* divisor of the value; table NULL: none */
	char *each, *along, *over;
	struct paper_expectation published;
	char *source; /* of the limit or tolerance; predates the result */
};

/* Values of one placeholder {name} of a command. */
struct paper_axis {
	char *name;
	char *values; /* in the notation of study/axis.h; "label=text" names a text */
	char *quick;  /* fewer values; NULL: the same */
	char *open;   /* what the paper leaves open; NULL: nothing */
};

struct paper_study {
	char *name;
	char *command; /* words after "heddle"; NULL: nothing to run */
	char *quick;   /* a shorter run; NULL: same as command */
	hd_time time;  /* of one run, on one core of a small machine */
	hd_time quick_time;
	struct paper_axis *axes;
	size_t n_axes;
};

/* Recorded outcome, for detecting changes. */
struct paper_found {
	enum paper_verdict verdict;
	char *settings; /* settings of the open parameters in which it holds */
};

struct paper_experiment {
	char *id; /* within the paper: "table2", "fig16" */
	enum paper_kind kind;
	char *title;
	char *study_name;       /* name of a study of the paper; NULL: `own` */
	struct paper_study own; /* a command without a name */
	char *given;            /* selection of points: "axis=label|label, ..." */
	char *quick_given;      /* for a quick run; NULL: the same */
	struct paper_check *checks;
	size_t n_checks;
	struct paper_found found;       /* at the printed size */
	struct paper_found quick_found; /* VERDICT_NONE: same as `found` */
	char *reason;                   /* for a verdict that needs one */
	char *proof;                    /* evidence that the text contradicts itself */

	const struct paper_study *study; /* NULL: nothing to run */
};

/* A rule for limits where the text has no number; shared by checks. */
struct paper_rule {
	char *name, *says;
};

/* A file that commands of the paper read. */
struct paper_text {
	char *name, *text;
};

/* Errors of the paper, or of the available copy of its text. */
struct paper_erratum {
	bool copy;
	char *where, *printed, *correct, *shown;
};

struct paper {
	char *id; /* "000" */
	char *title;
	struct paper_rule *rules;
	size_t n_rules;
	struct paper_study *studies;
	size_t n_studies;
	struct paper_experiment *experiments;
	size_t n_experiments;
	struct paper_text *files;
	size_t n_files;
	struct paper_erratum *errata;
	size_t n_errata;
	struct schema_places places;
	char *file;
};

/* The file's layout; see scenario/schema.h. */
extern const struct schema_row paper_fields[];
extern const struct schema_custom paper_published; /* an expectation */

/* Call paper_fini even after an error. */
HD_MUST_CHECK enum hd_status paper_parse(const char *text, size_t len, const char *file,
					 struct diag *d, struct paper *out);
void paper_fini(struct paper *p);

/* The files of papers/ as they were built in: "papers/000.yaml". */
struct paper_file {
	const char *name;
	const unsigned char *bytes;
	size_t len;
};
extern const struct paper_file paper_files[]; /* ends with a NULL name */
/* The file with that name, or NULL. */
const struct paper_file *paper_file_find(const char *name);

/* The recorded outcome at the printed size, or of a quick run. */
const struct paper_found *experiment_found(const struct paper_experiment *e, bool quick);

/* The built-in papers, in order, and those added by users. */
#define PAPER_COUNT 5
struct paper_catalogue {
	struct paper **papers;
	size_t n, cap;
};
/* Fails only if a built-in file is malformed; free even after an error. */
HD_MUST_CHECK enum hd_status catalogue_init(struct paper_catalogue *c, struct diag *d);
void catalogue_fini(struct paper_catalogue *c);
/* Adds a paper; its number must be unique. */
HD_MUST_CHECK enum hd_status catalogue_add(struct paper_catalogue *c, const char *text, size_t len,
					   const char *file, struct diag *d);

/*
 * Replaces the values of every axis with that name by those of "axis=values";
 * sets *known if there is one.
 */
HD_MUST_CHECK enum hd_status paper_vary(struct paper *p, const char *text, struct diag *d,
					bool *known);

/* Writes the experiment with its study and files as a separate file. */
void paper_extract(const struct paper *p, const struct paper_experiment *e, struct strbuf *out);
/* Writes the scenario that its command reads; false if none exists. */
bool paper_scenario(const struct paper *p, const struct paper_experiment *e, struct strbuf *out);

#endif
