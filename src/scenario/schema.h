/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SCENARIO_SCHEMA_H
#define HD_SCENARIO_SCHEMA_H

/*
 * A file format defined by one table of fields.
 *
 * Each row has the field's path in the file, its type, its default in user
 * notation, its range and its help text. Reading with line-exact errors,
 * printing with all defaults filled in, and the manual are derived from the
 * rows; no other code depends on the layout of the file.
 *
 * Paths name mappings with dots and list items with []: "fabric.link.rate",
 * "traffic[].rate". Parents precede their children. `offset` is relative to the
 * struct of the innermost list item, or to the root. Every field has a default
 * or is required (`initial` NULL); an optional text may be absent.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/option.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "scenario/document.h"
#include "scenario/override.h"

enum schema_type {
	SCHEMA_MAP,    /* has fields; with `params`: struct schema_params */
	SCHEMA_LIST,   /* T *items at `offset`, size_t at `count` */
	SCHEMA_TEXT,   /* char *, NULL if absent */
	SCHEMA_UINT,   /* uint64_t */
	SCHEMA_REAL,   /* double */
	SCHEMA_BOOL,   /* bool */
	SCHEMA_CHOICE, /* an enum, index into `choices` */
	SCHEMA_TIME,   /* hd_time */
	SCHEMA_RATE,   /* struct hd_rate */
	SCHEMA_SIZE,   /* uint64_t, bytes */
	SCHEMA_SHARE,  /* struct hd_ratio */
	SCHEMA_AMOUNT, /* struct schema_amount */
	SCHEMA_CUSTOM, /* defined by `custom` */
};

/* "4KiB" or "4 packets": unit 0 is `base`, unit n the row's choices[n - 1]. */
struct schema_amount {
	uint64_t value;
	unsigned unit;
};

/* A value with its own notation; `release` and `words` may be NULL. */
struct schema_custom {
	const char *what; /* for the manual: "list of VL:weight" */
	size_t size;
	enum hd_status (*parse)(const char *text, struct diag *d, void *out);
	void (*print)(const void *value, struct strbuf *out);
	void (*release)(void *value);
	/* Appends all values, if they are words of a list, each followed by a space. */
	void (*words)(struct strbuf *out);
};

/*
 * Fields defined by an option table of another module. They are read as texts
 * that are valid for their options. Option "host-ports" is the field
 * host_ports.
 */
struct schema_param {
	char *name; /* name of the option */
	char *value;
};

struct schema_params {
	struct schema_param *items;
	size_t n;
};

#define SCHEMA_MAX_TABLES 3

/* Fills in NULL-terminated tables, depending on what was read into `base` so far. */
typedef void schema_params_fn(const void *base, const struct option *tables[SCHEMA_MAX_TABLES + 1]);

struct schema_row {
	const char *path; /* NULL ends a table, or a part of it */
	enum schema_type type;
	size_t offset;
	const char *initial; /* default; NULL: required */
	const char *low;     /* range, in user notation; NULL: none */
	const char *high;    /* both inclusive */
	const char *word;    /* a word with the value word_value */
	uint64_t word_value; /* (a rate or share of word_value over 1) */
	/* Names of a choice, units of an amount, or the only permitted numbers. */
	const char *const *choices;
	/* The field that a scalar sets: a field of the map, or the text field next to a list. */
	const char *shorthand;
	schema_params_fn *params; /* SCHEMA_MAP: further fields */
	size_t count;             /* SCHEMA_LIST: offset of its size_t */
	size_t item_size;         /* of a map: 0, or its place is recorded */
	size_t at_least;          /* minimum number of items */
	/* The field exists only if the choice `when` is in the set `only`. */
	const char *when;
	uint64_t only; /* bits 1 << choice */
	const struct schema_custom *custom;
	const char *help;      /* one sentence, lower case, no full stop */
	enum schema_type base; /* SCHEMA_AMOUNT: SCHEMA_TIME, SIZE or UINT */
	bool optional;         /* SCHEMA_TEXT without default may be absent */
	bool joins;            /* a list of values is joined to one, with commas */
	/* In the end row: the next part of the table; NULL: no more parts. */
	const struct schema_row *rest;
};

/* The row after f, or the first if f is NULL; NULL at the end. */
const struct schema_row *schema_after(const struct schema_row *table, const struct schema_row *f);

/* The position of a struct's field in the file. */
struct schema_place {
	const void *field;
	size_t size;
	const char *label; /* name of the override that sets it, borrowed; or NULL */
	unsigned line, column;
};

struct schema_places {
	struct schema_place *items;
	size_t n, cap;
};

/*
 * Reads `doc`, changed by the overrides (may be NULL), into `root`, zeroed by
 * the caller. On error `root` has the values read so far and must be released
 * as usual. Places refer to the overrides.
 */
HD_MUST_CHECK enum hd_status schema_read(const struct schema_row *table, struct document *doc,
					 const struct overrides *overrides, struct diag *d,
					 void *root, struct schema_places *places);
void schema_release(const struct schema_row *table, void *root);

/* The place of a field or, if it is not in the file, of the innermost item around it. */
const struct schema_place *schema_place_of(const struct schema_places *places, const void *field);

/* Writes YAML with every field that applies; `notes`: with the help text of each. */
void schema_print(const struct schema_row *table, const void *root, bool notes, struct strbuf *out);
/* Writes man(7) source: one entry per field. */
void schema_man(const struct schema_row *table, struct strbuf *out);

/* The text given for an option, or its default, which may be NULL. */
const char *schema_param_text(const struct schema_params *params, const struct option *o);
/* Calls option_set for every parameter, after setting the defaults. */
HD_MUST_CHECK enum hd_status schema_params_apply(const struct schema_params *params,
						 const struct option *const *tables, void *values,
						 struct diag *d);

/* The row with the given path, or NULL. */
const struct schema_row *schema_find(const struct schema_row *table, const char *path, size_t len);
/* The next row of `table` directly below a row (NULL: top); NULL after the last. */
const struct schema_row *schema_next_child(const struct schema_row *table,
					   const struct schema_row *parent,
					   const struct schema_row *after);
/* The child with that name, or NULL. */
const struct schema_row *schema_child_named(const struct schema_row *table,
					    const struct schema_row *parent, const char *name);
/* The last part of the path. */
const char *schema_name(const struct schema_row *f);
/* Converts an option's name to a field's: dashes become underscores. */
void schema_spell(const char *name, struct strbuf *out);
/* Whether the choice that the row depends on allows it. */
bool schema_applies(const struct schema_row *table, const struct schema_row *f, const void *base);
/* Rejects a text that is not a value of the row; accepts mappings and lists. */
HD_MUST_CHECK enum hd_status schema_value_check(const struct schema_row *f, const char *text,
						struct diag *d);
/* Writes "time, 1ps and above", for errors and the manual. */
void schema_describe(const struct schema_row *f, struct strbuf *out);

#endif
