/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SCENARIO_SCHEMA_H
#define HD_SCENARIO_SCHEMA_H

/*
 * A file format as one table of fields.
 *
 * Each row says where a field is in the file (its path), what it holds,
 * its default as a user would type it, its range and what it means. Reading
 * with line-exact refusals, printing with all defaults filled in, and the
 * manual follow from the rows; no other code knows the file's layout.
 *
 * Paths name mappings with dots and list items with []: "fabric.link.rate",
 * "traffic[].rate". Parents stand before their children; `offset` counts from
 * the struct of the innermost list item, or from the whole. Every field has a
 * default, or is required (`initial` NULL), except that a text may be absent.
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
	SCHEMA_MAP,    /* fields of its own; `params`: struct schema_params */
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
	SCHEMA_CUSTOM, /* what `custom` says */
};

/* "4KiB" or "4 packets": unit 0 is `base`, unit n the row's choices[n - 1]. */
struct schema_amount {
	uint64_t value;
	unsigned unit;
};

/* A value with a notation of its own; `release` and `words` may be NULL. */
struct schema_custom {
	const char *what; /* for the manual: "list of VL:weight" */
	size_t size;
	enum hd_status (*parse)(const char *text, struct diag *d, void *out);
	void (*print)(const void *value, struct strbuf *out);
	void (*release)(void *value);
	/* All values, if they are words of a list, each with a blank after. */
	void (*words)(struct strbuf *out);
};

/*
 * Fields that an option table of another room describes: read as texts that
 * are known to be good for their options. An option "host-ports" is the field
 * host_ports.
 */
struct schema_param {
	char *name; /* the option's */
	char *value;
};

struct schema_params {
	struct schema_param *items;
	size_t n;
};

#define SCHEMA_MAX_TABLES 3

/* Fills in NULL-terminated tables, by what was read into `base` so far. */
typedef void schema_params_fn(const void *base, const struct option *tables[SCHEMA_MAX_TABLES + 1]);

struct schema_row {
	const char *path; /* NULL ends a table, or this part of it */
	enum schema_type type;
	size_t offset;
	const char *initial; /* default; NULL: required */
	const char *low;     /* range, as typed; NULL: none */
	const char *high;    /* both inclusive */
	const char *word;    /* a word for word_value */
	uint64_t word_value; /* (a rate or share of that, over 1) */
	/* Names of a choice, units of an amount, the only numbers allowed. */
	const char *const *choices;
	/* The field that a bare value sets: one of the map, or the text field
	 * next to a list. */
	const char *shorthand;
	schema_params_fn *params; /* SCHEMA_MAP: further fields */
	size_t count;             /* SCHEMA_LIST: offset of its size_t */
	size_t item_size;         /* of a map: 0, or its place is kept */
	size_t at_least;          /* items */
	/* The field exists only if the choice `when` is one of the set. */
	const char *when;
	uint64_t only; /* bits 1 << choice */
	const struct schema_custom *custom;
	const char *help;      /* one sentence, lower case, no stop */
	enum schema_type base; /* SCHEMA_AMOUNT: SCHEMA_TIME, SIZE or UINT */
	bool optional;         /* SCHEMA_TEXT without default may be absent */
	bool joins;            /* a list of values is read as one, with commas */
	/* Of the end row: the next part of the table; NULL: no more. */
	const struct schema_row *rest;
};

/* The row after f, or the first if f is NULL; NULL at the end. */
const struct schema_row *schema_after(const struct schema_row *table, const struct schema_row *f);

/* Where in the file a field of a struct came from. */
struct schema_place {
	const void *field;
	size_t size;
	const char *label; /* of the override that says it, borrowed; or NULL */
	unsigned line, column;
};

struct schema_places {
	struct schema_place *items;
	size_t n, cap;
};

/*
 * Reads `doc`, changed by the overrides (NULL: none), into `root` (zeroed by
 * the caller). On refusal `root` holds what was read so far and must be
 * released like any other. Places refer to the overrides.
 */
HD_MUST_CHECK enum hd_status schema_read(const struct schema_row *table, struct document *doc,
					 const struct overrides *overrides, struct diag *d,
					 void *root, struct schema_places *places);
void schema_release(const struct schema_row *table, void *root);

/* The place of a field or, if it was not written, of the item around it. */
const struct schema_place *schema_place_of(const struct schema_places *places, const void *field);

/* YAML with every field that applies, `notes`: each with its help. */
void schema_print(const struct schema_row *table, const void *root, bool notes, struct strbuf *out);
/* man(7) source: one entry per field. */
void schema_man(const struct schema_row *table, struct strbuf *out);

/* The text given for an option, or its initial one, which may be NULL. */
const char *schema_param_text(const struct schema_params *params, const struct option *o);
/* option_set for every parameter, after the initial values. */
HD_MUST_CHECK enum hd_status schema_params_apply(const struct schema_params *params,
						 const struct option *const *tables, void *values,
						 struct diag *d);

/* For both of the above and reading: the row that `path` names, or NULL. */
const struct schema_row *schema_find(const struct schema_row *table, const char *path, size_t len);
/* Rows of `table` directly below a row (NULL: top); NULL after the last. */
const struct schema_row *schema_next_child(const struct schema_row *table,
					   const struct schema_row *parent,
					   const struct schema_row *after);
/* The one of those with that name, or NULL. */
const struct schema_row *schema_child_named(const struct schema_row *table,
					    const struct schema_row *parent, const char *name);
/* The last part of the path. */
const char *schema_name(const struct schema_row *f);
/* An option's name as a field: dashes become underscores. */
void schema_spell(const char *name, struct strbuf *out);
/* Whether the choice that the row depends on allows it. */
bool schema_applies(const struct schema_row *table, const struct schema_row *f, const void *base);
/* Refuses a text that is no value of the row; mappings and lists pass. */
HD_MUST_CHECK enum hd_status schema_value_check(const struct schema_row *f, const char *text,
						struct diag *d);
/* "time, 1ps and above", for messages and the manual. */
void schema_describe(const struct schema_row *f, struct strbuf *out);

#endif
