/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_PAPER_PAPER_H
#define HD_PAPER_PAPER_H

/*
 * Published tables, figures and claims as data. A file per paper (papers/ in
 * the source, built into the program) lists studies: commands of ours, and
 * what of them varies; and experiments: which points of a study they look at,
 * where the numbers stand in the results, what was published, and the
 * rule that judges ours. The verdict follows from these alone; the file also
 * records it, so that a change is noticed.
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
 * What a paper leaves open is varied too (`open`): the checks are judged in
 * each setting of it, and the verdict says in which they hold.
 */

#include "measure/reduction.h"
#include "scenario/schema.h"
#include "study/axis.h"

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
	VERDICT_MATCHED,  /* a printed number, to all printed digits */
	VERDICT_COMPUTED, /* a number that follows from the text, not printed in it */
	VERDICT_WITHIN,   /* a number, within a tolerance that has a source */
	VERDICT_TREND,    /* words, by the rule of the check */
	VERDICT_PARTLY,   /* in some settings of what is left open, or cases */
	VERDICT_NOT,      /* not reproduced */
	VERDICT_REFUTED,  /* and the text contradicts itself: `proof` */
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

/* What was published, or claimed, of a value. */
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
	RELATION_TEXT, /* the cell reads so; yes and no are booleans */
};

struct paper_expectation {
	enum paper_relation relation;
	char *text; /* as written, and what RELATION_TEXT compares with */
	double number;
	double digits;    /* half a unit of the last printed digit */
	double tolerance; /* relative; 0: none */
	bool computed;    /* "computed NUMBER": from a closed form, not printed */
};
bool relation_is_limit(enum paper_relation r);
bool relation_is_course(enum paper_relation r);

/*
 * One comparison. `each` names columns: it is made in every case, that is for
 * every combination of their values that the table has. Courses go along the
 * values of `along`, in the order of the rows; without it, along the rows.
 * `over` names the column of repetitions (seeds): their mean is judged, and
 * an exception counts only if it is clear, that is if the 95 % interval of
 * the repetitions excludes what was claimed.
 */
struct paper_check {
	char *what; /* in the paper's sense: "mesh, 256 B" */
	struct paper_value value;
	struct paper_value against; /* divides it; table NULL: nothing does */
	char *each, *along, *over;
	struct paper_expectation published;
	char *source; /* of the limit or tolerance; older than the result */
};

/* Values of one placeholder {name} of a command. */
struct paper_axis {
	char *name;
	char *values; /* as study/axis.h has them; "label=text" names a text */
	char *quick;  /* fewer of them; NULL: the same */
	char *open;   /* what the paper does not say; NULL: it says */
};

struct paper_study {
	char *name;
	char *command; /* words after "heddle"; NULL: nothing to run */
	char *quick;   /* a shorter run of the same; NULL: command */
	hd_time time;  /* of one, on one core of a small machine */
	hd_time quick_time;
	struct paper_axis *axes;
	size_t n_axes;
};

/* What is recorded, so that a change is noticed. */
struct paper_found {
	enum paper_verdict verdict;
	char *settings; /* of what is open: in which it holds */
};

struct paper_experiment {
	char *id; /* within the paper: "table2", "fig16" */
	enum paper_kind kind;
	char *title;
	char *study_name;       /* one of the paper's; NULL: its own */
	struct paper_study own; /* a command without a name */
	char *given;            /* "axis=label|label, ...": points of it */
	char *quick_given;      /* for a quick run; NULL: the same */
	struct paper_check *checks;
	size_t n_checks;
	struct paper_found found;       /* at the printed size */
	struct paper_found quick_found; /* VERDICT_NONE: a quick run the same */
	char *reason;                   /* for a verdict that needs one */
	char *proof;                    /* that the text contradicts itself */

	const struct paper_study *study; /* NULL: nothing to run */
};

/* By what limits are judged where the text has no number, once for many. */
struct paper_rule {
	char *name, *says;
};

/* A file that commands of the paper read. */
struct paper_text {
	char *name, *text;
};

/* Faults of the paper, or of the copy of its text that we have. */
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

/* Free with paper_fini even after a refusal. */
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
/* One of them; NULL without one of that name. */
const struct paper_file *paper_file_find(const char *name);

/* What is recorded for a run at the printed size, or for a quick one. */
const struct paper_found *experiment_found(const struct paper_experiment *e, bool quick);

/* The papers that are built in, in order, and what users add. */
#define PAPER_COUNT 5
struct paper_catalogue {
	struct paper **papers;
	size_t n, cap;
};
/* Refused only if a built-in file is bad; free even then. */
HD_MUST_CHECK enum hd_status catalogue_init(struct paper_catalogue *c, struct diag *d);
void catalogue_fini(struct paper_catalogue *c);
/* One more, which must not have the number of one that is there. */
HD_MUST_CHECK enum hd_status catalogue_add(struct paper_catalogue *c, const char *text, size_t len,
					   const char *file, struct diag *d);

/*
 * Gives "axis=values" to every axis of that name, instead of its own; *known
 * is set if there is one.
 */
HD_MUST_CHECK enum hd_status paper_vary(struct paper *p, const char *text, struct diag *d,
					bool *known);

/* The experiment alone, with its study and files, as a file of its own. */
void paper_extract(const struct paper *p, const struct paper_experiment *e, struct strbuf *out);
/* The scenario that its command reads; false if it reads none. */
bool paper_scenario(const struct paper *p, const struct paper_experiment *e, struct strbuf *out);

#endif
