/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MEASURE_RESULTS_H
#define HD_MEASURE_RESULTS_H

/*
 * What a command found out: named tables, series and records whose columns
 * have units and an origin. It knows nothing of how it will be shown: report/
 * turns it into text, CSV, JSON and so on.
 *
 * A table is an array of columns and rows that are structs: a column says once
 * what it is called, its unit, and which member of the row it shows
 * (measure/cell.h):
 *
 *	struct results *r = results_new("sim");
 *	struct table *t = results_table(r, "flows", "what each flow received",
 *					flow_columns);
 *	for (...) {
 *		struct flow_row row = {
 *			.flow = table_text(t, "%s %u", name, number),
 *			.packets = flow->packets,
 *			.p99 = histogram_percentile(&flow->latency, 99),
 *		};
 *
 *		table_put_row(t, &row);
 *	}
 *
 * Which columns a table has, and in which order, is free: an array may be cut
 * or shuffled and the same rows put. A column that reads "speed" in one table
 * reads "speed" everywhere. Names are lower case, in the words of the field;
 * they serve as JSON keys too.
 *
 * Results own all they hold, texts and columns included, and are freed whole.
 * Putting a row of another struct than the columns' is a bug and asserts.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/units.h"
#include "measure/cell.h"

enum origin {
	ORIGIN_GIVEN,     /* label or user input */
	ORIGIN_SIMULATED, /* by our simulator */
	ORIGIN_COMPUTED,  /* by a model, a bound or an algorithm */
	ORIGIN_MEASURED,  /* on a real machine or device */
	ORIGIN_PUBLISHED, /* copied from a paper */
};
#define N_ORIGINS 5
const char *results_origin_name(enum origin origin); /* "simulated" */

enum value_kind {
	VALUE_NONE,
	VALUE_TEXT,
	VALUE_UINT,
	VALUE_INT,
	VALUE_REAL,
	VALUE_BOOL,
};
#define N_VALUE_KINDS 6
const char *value_kind_name(enum value_kind kind); /* "real" */

struct value {
	enum value_kind kind; /* the column's or VALUE_NONE */
	union {
		char *text;
		uint64_t u;
		int64_t i;
		double real;
		bool yes;
	};
};
/* A number of any kind; NAN for other kinds. */
double value_real(const struct value *v);

/* For table_put_values. NaN and a NULL text become VALUE_NONE. */
static inline struct value value_of_uint(uint64_t u)
{
	return (struct value){ .kind = VALUE_UINT, .u = u };
}
static inline struct value value_of_bool(bool yes)
{
	return (struct value){ .kind = VALUE_BOOL, .yes = yes };
}
struct value value_of_real(double real);
struct value value_of_text(const char *text); /* borrowed */

struct column {
	const char *name;
	const char *unit;     /* NULL or "" if it has none */
	enum value_kind kind; /* follows from the cell if there is one */
	enum origin origin;
	int places; /* of a real in text; 0: six significant digits */
	struct cell cell;
};

enum table_kind {
	TABLE_ROWS,   /* rows to read across */
	TABLE_SERIES, /* rows to plot: the first numeric column is x */
	TABLE_RECORD, /* one row: a list of named values */
};
#define N_TABLE_KINDS 3
const char *table_kind_name(enum table_kind kind); /* "series" */

struct table {
	char *name;
	char *title; /* one line, lower case, no full stop */
	enum table_kind kind;
	size_t n_columns;
	struct column *columns;
	size_t n_cells, cap_cells;
	struct value *cells; /* row by row */
	size_t n_texts, cap_texts;
	char **texts; /* texts for the next row */
};

/* A parameter of the run: "fabric.link.rate" = "2.5Gb/s". */
struct parameter {
	char *name, *value;
};

struct results {
	char *command;   /* "sim" */
	char *arguments; /* the words after it; "" if unknown */
	char *version;   /* of the program; "" if unknown */
	char *scenario;  /* the input's text, for the record; "" if none */
	uint64_t seed;
	size_t n_tables, cap_tables;
	struct table **tables;
	size_t n_remarks, cap_remarks;
	char **remarks; /* sentences for the reader */
	size_t n_parameters, cap_parameters;
	struct parameter *parameters;
};

struct results *results_new(const char *command);
void results_free(struct results *r);
void results_set_scenario(struct results *r, const char *text);
void results_set_version(struct results *r, const char *version);
void results_set_arguments(struct results *r, const char *arguments);
/* Copies both strings; names need not be unique. */
void results_parameter(struct results *r, const char *name, const char *value);
/* The value of the first parameter with that name; NULL if none exists. */
const char *results_parameter_value(const struct results *r, const char *name);
HD_PRINTF(2, 3)
void results_remark(struct results *r, const char *format, ...);

/* `columns` ends with a NULL name; the table lives as long as `r`. */
struct table *results_table(struct results *r, const char *name, const char *title,
			    const struct column *columns);
struct table *results_series(struct results *r, const char *name, const char *title,
			     const struct column *columns);
struct table *results_record(struct results *r, const char *name, const char *title,
			     const struct column *columns);
/* Adds a copy of a table, with the same name and cells. */
struct table *results_copy_table(struct results *r, const struct table *from);
/* Frees the table that was added last. */
void results_drop_last(struct results *r);
/* Moves the table with that name, if there is one, to the front. */
void results_move_first(struct results *r, const char *name);
/* NULL if no table has that name. */
const struct table *results_find(const struct results *r, const char *name);

/*
 * Adds one row: `row` points to the struct whose members the columns name.
 */
/* Variadic for a literal: table_put_row(t, &(struct x){ .a = 1, .b = 2 }). */
#define table_put_row(t, ...) table_put_struct(t, __VA_ARGS__, sizeof(*(__VA_ARGS__)))
void table_put_struct(struct table *t, const void *row, size_t size);
/* Adds a row without a struct: one value per column. */
void table_put_values(struct table *t, const struct value *values);
/* Formats a text for a member of the next row; valid until that row is added. */
HD_PRINTF(2, 3)
const char *table_text(struct table *t, const char *format, ...);
/* Like table_text, with the content of `text`, which is empty afterwards. */
const char *table_take(struct table *t, struct strbuf *text);

/* Whether the table lists goals with their values and whether they were met. */
bool table_is_goals(const struct table *t);

size_t table_rows(const struct table *t);
const struct value *table_cell(const struct table *t, size_t row, size_t column);
/* By column name; VALUE_NONE if the table has no such column. */
const struct value *table_cell_of(const struct table *t, size_t row, const char *column);

#endif
