/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_STUDY_H
#define HD_STUDY_STUDY_H

/*
 * Many runs of one command: which fields take which values, how many seeds,
 * what is left out, what is looked for, what is kept. A study is a file of its
 * own, or a scenario and what is said on the command line; both are read into
 * the same texts and resolved once.
 *
 *	scenario: fat-tree.yaml
 *	axes:
 *	- {field: fabric.routing, values: [ftree, updn]}
 *	- {field: traffic.0.load, values: 10%..100%:10%}
 *	seeds: 5
 *
 * The command is 'sim' if none is named (study/commands.h has the others). A
 * field with a dot in its name is the scenario's, as after --set; of other
 * commands than sim one without a dot is an option: 'ack-delay'.
 *
 * Axes span a grid, the last one changing fastest; axes of one name in `with`
 * go along together. A cell of the grid is a choice of values, a point is a
 * cell and a seed. Cells that `skip` names are no part of it. Points are
 * numbered from 0, the seeds of a cell side by side; the number depends on the
 * study alone.
 */

#include "scenario/override.h"
#include "scenario/schema.h"
#include "study/axis.h"
#include "study/commands.h"
#include "study/condition.h"

/* An axis as it is written. */
struct study_axis {
	char *field, *values;
	char *with;    /* NULL: a dimension of its own */
	unsigned line; /* of the study's file; 0: the command line */
};

/* Along one dimension not all cells need to be run. */
enum search_kind {
	SEARCH_ALL,
	SEARCH_STOP,     /* up to the first cell where the condition holds */
	SEARCH_LARGEST,  /* the last cell where it does, by bisection */
	SEARCH_SMALLEST, /* the first one */
};

struct study_search {
	enum search_kind kind;
	size_t axis; /* along which */
	struct condition condition;
};

/* The options of a command by its name, as option_find has them, or NULL. */
typedef const struct option *const *study_options_fn(const char *command);

struct study {
	/* As written; the schema's. */
	char *title;
	char *command_text; /* NULL: "sim" */
	char *arguments;    /* of the command, after the scenario; or NULL */
	char *scenario;     /* relative to the study's file */
	char *set;          /* "PATH=VALUE, ..." */
	struct study_axis *written;
	size_t n_written;
	uint64_t seeds;
	char *skip, *keep, *stop, *find;
	struct schema_places places;
	char *file; /* of the study; NULL: the command line */

	/* Of sim: a point keeps the tables that 'heddle sim' shows, also of a run
	 * that ends in a deadlock; all of them if `all`. */
	bool as_sim, all;
	hd_time rates; /* run_options.rates of its points */

	study_options_fn *options_of; /* the caller's; NULL: any will do */

	/*
	 * The words after "heddle" of any command, in which "{FIELD}" is replaced
	 * by the value of that axis; or NULL. A template has neither scenario,
	 * options nor measures, and its points keep all results.
	 */
	char *template;
	const char *folder;  /* the caller's: where a template is run; NULL: here */
	const char *program; /* the caller's: that runs the points; NULL: this one */

	/* Resolved. */
	const struct study_command *command;
	struct measures measures;
	const struct option *const *options; /* of it; NULL: any will do */
	char *base_file, *base;              /* the scenario's name and text; "" if none */
	struct overrides overrides;
	struct axis *axes;
	size_t n_axes;
	size_t *lengths; /* of the dimensions */
	size_t n_dimensions;
	struct condition *skips;
	size_t n_skips;
	struct value_list tables; /* to keep; "all" */
	struct study_search search;
	uint64_t first_seed;
	size_t *cells; /* of the grid, those that are not skipped */
	size_t n_cells, n_points;
};

/*
 * Reads `path`, a study or a scenario. Free even after a refusal. `overrides`
 * weigh more than what the study sets, and are copied.
 */
HD_MUST_CHECK enum hd_status study_read(const char *path, const struct overrides *overrides,
					struct diag *d, struct study *out);
/* The same for a text; scenarios are read from their files. */
HD_MUST_CHECK enum hd_status study_parse(const char *text, size_t len, const char *path,
					 struct diag *d, struct study *out);
/* A study of a command that takes no scenario. */
void study_init(struct study *s, const struct overrides *overrides);
/* A study of a template; `file` is named by refusals and may be NULL. */
void study_init_template(struct study *s, const char *template, const char *file);
/*
 * Adds an axis to a template. A value "LABEL=TEXT" is called LABEL, and TEXT
 * replaces "{FIELD}". `line` is that of the file, or 0.
 */
void study_add_axis(struct study *s, const char *field, const char *values, unsigned line);
/*
 * Restricts a template to the cells where the axis has one of the labels
 * "a|b|c"; study_resolve refuses unknown ones.
 */
void study_select(struct study *s, const char *field, const char *labels);
/* One more axis: "FIELD=VALUES", or several that go along: "A=1,2 & B=3,4". */
HD_MUST_CHECK enum hd_status study_vary(struct study *s, const char *text, struct diag *d);
/* Adds to one of the texts that are lists (skip, keep). */
void study_append(char **list, const char *text);

/* When all is said: makes the grid, or refuses. Call it once. */
HD_MUST_CHECK enum hd_status study_resolve(struct study *s, struct diag *d);
void study_fini(struct study *s);

/* Which of an axis's values a cell has. */
size_t study_value(const struct study *s, size_t axis, size_t cell);
/* The value, or label, that an axis has at a point. */
const char *study_value_text(const struct study *s, size_t axis, size_t point);
/* Index of the axis of a field; s->n_axes without one. */
size_t study_axis_of(const struct study *s, const char *field, size_t len);
/* The template with the values of a point. */
void study_fill_template(const struct study *s, size_t point, struct strbuf *out);
/* Whether a field is an option of the command's, not one of the scenario. */
bool study_is_option(const struct study *s, const char *field);
/*
 * Adds what makes the scenario, and the command's options, those of a cell;
 * refusals call each by its path.
 */
void study_overrides(const struct study *s, size_t cell, struct overrides *out);
/* The cell of the grid, and the seed, of a point. */
size_t study_cell(const struct study *s, size_t point);
uint64_t study_seed(const struct study *s, size_t point);

/*
 * A cell, by its rank, that `refusal` has nothing against (it gives a line that
 * the caller frees, or NULL); n_cells without one. Whether there is one is
 * not tried to the last of a million: if every value of every axis, and a
 * thousand cells all over the grid, meet the same words, none of the axes is
 * what they are about.
 */
typedef char *study_refusal_fn(const struct study *s, size_t rank);
size_t study_accepted(const struct study *s, study_refusal_fn *refusal);

/* The study in one text, for the record: equal for equal studies only. */
void study_describe(const struct study *s, struct strbuf *out);

#endif
