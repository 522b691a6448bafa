/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SCENARIO_FIELD_H
#define HD_SCENARIO_FIELD_H

/*
 * A file format as one table of fields.
 *
 * Each row says where a field stands in the file (its path), what it holds,
 * its default as a user would type it, its range and what it means. Reading
 * with line-exact refusals, printing with all defaults filled in, and the
 * manual follow from the rows; nobody else knows the file's layout.
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

enum field_type {
	FIELD_MAP,    /* fields of its own; `params`: struct field_params */
	FIELD_LIST,   /* T *items at `offset`, size_t at `count` */
	FIELD_TEXT,   /* char *, NULL if absent */
	FIELD_UINT,   /* uint64_t */
	FIELD_REAL,   /* double */
	FIELD_BOOL,   /* bool */
	FIELD_CHOICE, /* an enum, index into `choices` */
	FIELD_TIME,   /* hd_time */
	FIELD_RATE,   /* struct hd_rate */
	FIELD_SIZE,   /* uint64_t, bytes */
	FIELD_SHARE,  /* struct hd_ratio */
	FIELD_AMOUNT, /* struct field_amount */
	FIELD_CUSTOM, /* what `custom` says */
};

/* "4KiB" or "4 packets": unit 0 is `base`, unit n the row's choices[n - 1]. */
struct field_amount {
	uint64_t value;
	unsigned unit;
};

/* A value with a notation of its own; `release` may be NULL. */
struct field_custom {
	const char *what; /* for the manual: "list of VL:weight" */
	size_t size;
	enum hd_status (*parse)(const char *text, struct diag *d, void *out);
	void (*print)(const void *value, struct strbuf *out);
	void (*release)(void *value);
};

/*
 * Fields that an option table of another room describes: read as texts that
 * are known to be good for their options. An option "host-ports" is the field
 * host_ports.
 */
struct field_param {
	char *name; /* the option's */
	char *value;
};

struct field_params {
	struct field_param *items;
	size_t n;
};

#define FIELD_MAX_TABLES 3

/* Fills in NULL-terminated tables, by what was read into `base` so far. */
typedef void field_params_fn(const void *base,
			     const struct option *tables[FIELD_MAX_TABLES + 1]);

struct field {
	const char *path; /* NULL ends a table */
	enum field_type type;
	size_t offset;
	const char *initial; /* default; NULL: required */
	const char *low;     /* range, as typed; NULL: none */
	const char *high;    /* both inclusive */
	const char *word;    /* a word that stands for word_value */
	uint64_t word_value; /* (a rate or share of that, over 1) */
	/* Names of a choice, units of an amount, the only numbers allowed. */
	const char *const *choices;
	const char *shorthand;   /* FIELD_MAP: the field a bare value is for */
	field_params_fn *params; /* FIELD_MAP: further fields */
	size_t count;            /* FIELD_LIST: offset of its size_t */
	size_t item_size;
	size_t at_least; /* items */
	/* The field exists only if the choice `when` is one of the set. */
	const char *when;
	uint64_t only; /* bits 1 << choice */
	const struct field_custom *custom;
	const char *help;     /* one sentence, lower case, no stop */
	enum field_type base; /* FIELD_AMOUNT: FIELD_TIME, SIZE or UINT */
	bool optional;        /* FIELD_TEXT without default may be absent */
	bool joins;           /* a list of values is read as one, with commas */
};

/* Where in the file a field of a struct came from. */
struct field_place {
	const void *field;
	size_t size;
	unsigned line, column;
};

struct field_places {
	struct field_place *items;
	size_t n, cap;
};

/*
 * Reads `doc` into `root` (zeroed by the caller). On refusal `root` holds what
 * was read so far and must be released like any other.
 */
HD_MUST_CHECK enum hd_status fields_read(const struct field *table,
					 struct document *doc, struct diag *d,
					 void *root,
					 struct field_places *places);
void fields_release(const struct field *table, void *root);

/* The place of a field or, if it was not written, of the item around it. */
const struct field_place *field_place_of(const struct field_places *places,
					 const void *field);

/* YAML with every field that applies, `notes`: each with its help. */
void fields_print(const struct field *table, const void *root, bool notes,
		  struct strbuf *out);
/* man(7) source: one entry per field. */
void fields_man(const struct field *table, struct strbuf *out);

/* The text given for an option, or its initial one, which may be NULL. */
const char *field_param_text(const struct field_params *params,
			     const struct option *o);
/* option_set for every parameter, after the initial values. */
HD_MUST_CHECK enum hd_status
field_params_apply(const struct field_params *params,
		   const struct option *const *tables, void *values,
		   struct diag *d);

/* For both of the above and reading: the row that `path` names, or NULL. */
const struct field *field_find(const struct field *table, const char *path,
			       size_t len);
/* Rows of `table` directly below a row (NULL: top); NULL after the last. */
const struct field *field_next_child(const struct field *table,
				     const struct field *parent,
				     const struct field *after);
/* The last part of the path. */
const char *field_name(const struct field *f);
/* An option's name as a field: dashes become underscores. */
void field_spell(const char *name, struct strbuf *out);
/* Whether the choice that the row depends on allows it. */
bool field_applies(const struct field *table, const struct field *f,
		   const void *base);
/* "time, 1ps and above", for messages and the manual. */
void field_describe(const struct field *f, struct strbuf *out);

#endif
