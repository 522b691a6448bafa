/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SCENARIO_SCENARIO_INTERNAL_H
#define HD_SCENARIO_SCENARIO_INTERNAL_H

/*
 * Between the files of the schema: schema.c has the rows and what was read,
 * schema_value.c one value's text, schema_read.c the file, schema_print.c
 * the way back.
 */

#include "scenario/schema.h"

/* Reads a text as the row's type, within the row's range. */
HD_MUST_CHECK enum hd_status schema_value_set(const struct schema_row *f, const char *text,
					      struct diag *d, void *value);
/* Bytes of a value of the row's type; not of mappings and lists. */
size_t schema_value_size(const struct schema_row *f);

/*
 * The name that was meant, or NULL. Comparing costs as much as the word is
 * long, and no field has a long name; nothing is near a single letter or
 * digit.
 */
const char *schema_nearest(const char *word, const char *const *names, size_t n);

#endif
