/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_AXIS_H
#define HD_STUDY_AXIS_H

/*
 * A field of the scenario and its list of values:
 *
 *	ftree, updn              a list; commas within {} and [] do not separate
 *	10%..100%:10%            from, to and step, in one unit
 *	64..4096:*2              from, to and factor
 *	1, 2, 5..20:5            both
 *
 * Ranges are counted exactly, in decimals, and written as a user would: the
 * third value of 0.1..1:0.1 is "0.3". The schema defines the type of a value,
 * and whether it is a number that can be compared and plotted.
 */

#include "base/diag.h"
#include "base/option.h"
#include "measure/results.h"

/* Limits of a study: number of points, and values per axis. */
#define STUDY_MOST_POINTS 1000000

struct value_list {
	char **items;
	size_t n, cap;
};
void value_list_fini(struct value_list *p);
void value_list_add(struct value_list *p, char *item); /* takes ownership of `item` */
/* Adds the words of a text; quotes ('two words') group words. */
void value_list_words(struct value_list *p, const char *text);
/* Adds the items between commas, without surrounding spaces. */
void value_list_split(struct value_list *p, const char *text);
/* Like value_list_split, with ranges expanded; HD_ERR_INPUT for an unbounded range. */
HD_MUST_CHECK enum hd_status value_list_expand(struct value_list *p, const char *text,
					       struct diag *d);

struct axis {
	char *field; /* path, as in --set */
	struct value_list values;
	struct value_list labels; /* shown in tables instead of the values; empty: the values */
	struct value_list texts;  /* template: replacement text of each value */
	enum value_kind kind;     /* VALUE_REAL: `numbers`; else VALUE_TEXT */
	const char *unit;         /* of the numbers; owned by `unit_text` */
	char *unit_text;
	double *numbers;
	const struct option *option; /* option of a command; NULL: field of the scenario */
	size_t dimension;            /* axes with the same dimension change together */
	unsigned line;               /* in the file that sets it; 0: none */
};

/*
 * Call axis_fini even after an error. HD_ERR_INPUT if the field does not exist.
 * If the field is an option of a command, `option` defines its values.
 */
HD_MUST_CHECK enum hd_status axis_init(struct axis *a, const char *field, const char *values,
				       const struct option *option, struct diag *d);
/* An axis of a template: its values are always labels, never numbers. */
HD_MUST_CHECK enum hd_status axis_init_labels(struct axis *a, const char *field, const char *values,
					      struct diag *d);
void axis_fini(struct axis *a);

/* A value of this axis, as another program writes it, as a number; NAN if it has none. */
double axis_number(const struct axis *a, const char *text);

#endif
