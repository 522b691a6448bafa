/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_AXIS_H
#define HD_STUDY_AXIS_H

/*
 * A field of the scenario and the values it takes in turn:
 *
 *	ftree, updn              a list; commas within {} and [] part nothing
 *	10%..100%:10%            from, to and step, in one unit
 *	64..4096:*2              from, to and factor
 *	1, 2, 5..20:5            both
 *
 * Ranges are counted in decimals, exactly, and written as a user would: the
 * third value of 0.1..1:0.1 is "0.3". The schema says what a value must be,
 * and whether it is a number that can be compared and plotted.
 */

#include "base/diag.h"
#include "base/option.h"
#include "measure/results.h"

/* Limits of a study: points, and values of an axis. */
#define STUDY_MOST_POINTS 1000000

struct value_list {
	char **items;
	size_t n, cap;
};
void value_list_fini(struct value_list *p);
void value_list_add(struct value_list *p, char *item); /* owned from now on */
/* Adds the words of a text; quotes ('two words') hold a word together. */
void value_list_words(struct value_list *p, const char *text);
/* Adds what is between commas, without the blanks around it. */
void value_list_split(struct value_list *p, const char *text);
/* The same, with ranges written out; HD_ERR_INPUT for ranges without an end. */
HD_MUST_CHECK enum hd_status value_list_expand(struct value_list *p, const char *text,
					       struct diag *d);

struct axis {
	char *field; /* path, as after --set */
	struct value_list values;
	struct value_list texts; /* of a template: what is put for each value */
	enum value_kind kind;    /* VALUE_REAL: `numbers`; else VALUE_TEXT */
	const char *unit;        /* of the numbers; owned by `unit_text` */
	char *unit_text;
	double *numbers;
	const struct option *option; /* of a command; NULL: the scenario's */
	size_t dimension;            /* axes of one dimension go along together */
	unsigned line;               /* of the file that says so; 0: none */
};

/*
 * Free even after a refusal. HD_ERR_INPUT for what is no such field. `option`
 * says what the values must be if the field is an option of a command.
 */
HD_MUST_CHECK enum hd_status axis_init(struct axis *a, const char *field, const char *values,
				       const struct option *option, struct diag *d);
/* An axis of a template: its values are labels, whatever they look like. */
HD_MUST_CHECK enum hd_status axis_init_labels(struct axis *a, const char *field, const char *values,
					      struct diag *d);
void axis_fini(struct axis *a);

/* A value of this axis, as another program writes it, as a number; NAN if none. */
double axis_number(const struct axis *a, const char *text);

#endif
