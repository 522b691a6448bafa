/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_STUDY_H
#define HD_STUDY_STUDY_H

/*
 * A study: many runs of one command. It says which fields take which values,
 * the number of seeds, the cells to skip, the searches, and the tables to keep.
 * A study is a file of its own, or a scenario plus options of the command line.
 * Both are read into the same texts, which study_resolve() resolves once.
 *
 *	scenario: fat-tree.yaml
 *	axes:
 *	- {field: fabric.routing, values: [ftree, updn]}
 *	- {field: traffic.0.load, values: 10%..100%:10%}
 *	seeds: 5
 *
 * The default command is 'sim' (study/commands.h lists the others). A field
 * with a dot in its name belongs to the scenario, as after --set. For other
 * commands than sim, a field without a dot is an option: 'ack-delay'.
 *
 * Axes span a grid; the last one changes fastest. Axes with the same name in
 * `with` change together. A cell of the grid is one choice of values; a point is
 * a cell and a seed. Cells that `skip` matches are not part of the grid. Points
 * are numbered from 0, and the seeds of a cell are consecutive. The number of a
 * point depends on the study only.
 */

#include "scenario/override.h"
#include "scenario/schema.h"
#include "study/axis.h"
#include "study/commands.h"
#include "study/condition.h"

/* An axis as written, before it is resolved. */
struct study_axis {
	char *field, *values;
	char *labels;  /* of the values, in their order; NULL: the values themselves */
	char *with;    /* NULL: a dimension of its own */
	unsigned line; /* of the study's file; 0: the command line */
};

/* A search does not run all cells along its dimension. */
enum search_kind {
	SEARCH_ALL,
	SEARCH_STOP,     /* run up to the first cell where the condition holds */
	SEARCH_LARGEST,  /* find the last cell where the condition holds, by bisection */
	SEARCH_SMALLEST, /* find the first cell where the condition holds, by bisection */
};

struct study_search {
	enum search_kind kind;
	size_t axis; /* axis of the search */
	struct condition condition;
};

/* Returns the options of a command, in the form that option_find takes, or NULL. */
typedef const struct option *const *study_options_fn(const char *command);

struct study {
	/* As in the file; the schema owns strings. */
	char *title;
	char *command_text; /* NULL: "sim" */
	char *arguments;    /* of the command, after the scenario; may be NULL */
	char *scenario;     /* relative to the study's file */
	char *set;          /* "PATH=VALUE, ..." */
	struct study_axis *written;
	size_t n_written;
	uint64_t seeds;
	char *skip, *keep, *stop, *find;
	struct schema_places places;
	char *file; /* file of the study; NULL: the command line */

	/* For sim: a point keeps the tables that 'heddle sim' shows, even if
	 * the run ends in a deadlock; with `all`, it keeps all tables. */
	bool as_sim, all;
	hd_time rates; /* run_options.rates of the points */

	study_options_fn *options_of; /* owned by the caller; NULL: any option is accepted */

	/*
	 * Template: the words after "heddle" of any command; may be NULL.
	 * "{FIELD}" is replaced by the value of that axis. A template has no
	 * scenario, options or measures, and its points keep all results.
	 */
	char *template;
	const char *folder; /* owned by the caller: working directory of a template; NULL: the
			       current one */
	const char *
		program; /* owned by the caller: program that runs the points; NULL: this program */

	/* Set by study_resolve(). */
	const struct study_command *command;
	struct measures measures;
	const struct option *const *options; /* of the command; NULL: any option is accepted */
	char *base_file, *base;              /* name and text of the scenario; "" if none exists */
	struct overrides overrides;
	struct axis *axes;
	size_t n_axes;
	size_t *lengths; /* number of cells along each dimension */
	size_t n_dimensions;
	struct condition *skips;
	size_t n_skips;
	struct value_list tables; /* tables to keep; "all": every table */
	struct study_search search;
	uint64_t first_seed;
	size_t *cells; /* cells of the grid that are not skipped */
	size_t n_cells, n_points;
};

/*
 * Reads `path`, a study or a scenario. Call study_fini even after an error.
 * `overrides` have precedence over the study's own settings, and are copied.
 */
HD_MUST_CHECK enum hd_status study_read(const char *path, const struct overrides *overrides,
					struct diag *d, struct study *out);
/* Like study_read, for a text; scenarios are read from their files. */
HD_MUST_CHECK enum hd_status study_parse(const char *text, size_t len, const char *path,
					 struct diag *d, struct study *out);
/* Initialises a study of a command that takes no scenario. */
void study_init(struct study *s, const struct overrides *overrides);
/* Initialises a study of a template; errors name `file`, which may be NULL. */
void study_init_template(struct study *s, const char *template, const char *file);
/*
 * Adds an axis to a template. A value "LABEL=TEXT" has the label LABEL, and
 * TEXT replaces "{FIELD}". `line` is the line in the file, or 0.
 */
void study_add_axis(struct study *s, const char *field, const char *values, unsigned line);
/*
 * Restricts a template to the cells where the axis has one of the labels
 * "a|b|c". study_resolve rejects unknown labels.
 */
void study_select(struct study *s, const char *field, const char *labels);
/* Adds one axis, "FIELD=VALUES", or several that change together, "A=1,2 & B=3,4". */
HD_MUST_CHECK enum hd_status study_vary(struct study *s, const char *text, struct diag *d);
/* Labels the values of an axis that exists: "FIELD=LABEL,LABEL,...". */
HD_MUST_CHECK enum hd_status study_label_values(struct study *s, const char *text, struct diag *d);
/* Appends to one of the list texts (skip, keep). */
void study_append(char **list, const char *text);

/* Builds the grid from the complete study, or reports an error. Call it once. */
HD_MUST_CHECK enum hd_status study_resolve(struct study *s, struct diag *d);
void study_fini(struct study *s);

/* Index of the value of an axis at a cell. */
size_t study_value(const struct study *s, size_t axis, size_t cell);
/* Value, or label, of an axis at a point. */
const char *study_value_text(const struct study *s, size_t axis, size_t point);
/* Index of the axis of a field; s->n_axes if none exists. */
size_t study_axis_of(const struct study *s, const char *field, size_t len);
/* Writes the template with the values of a point filled in. */
void study_fill_template(const struct study *s, size_t point, struct strbuf *out);
/* Whether a field is an option of the command; false: a field of the scenario. */
bool study_is_option(const struct study *s, const char *field);
/*
 * Adds the overrides that turn the scenario and the command's options into
 * those of a cell. Errors call each override by its path.
 */
void study_overrides(const struct study *s, size_t cell, struct overrides *out);
/* The cell of the grid of a point; study_seed gives its seed. */
size_t study_cell(const struct study *s, size_t point);
uint64_t study_seed(const struct study *s, size_t point);

/*
 * Finds a cell, by rank, for which `refusal` returns NULL (otherwise it returns
 * a line that the caller frees); n_cells if none exists. The search is not
 * exhaustive: if every value of every axis, and a thousand cells spread over
 * the grid, give the same error text, the error does not depend on the axes.
 */
typedef char *study_refusal_fn(const struct study *s, size_t rank);
size_t study_accepted(const struct study *s, study_refusal_fn *refusal);

/* Writes the study as one text for the record. Two texts are equal only if the
 * studies are equal. */
void study_describe(const struct study *s, struct strbuf *out);

#endif
