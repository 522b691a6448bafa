/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SCENARIO_SCENARIO_INTERNAL_H
#define HD_SCENARIO_SCENARIO_INTERNAL_H

/*
 * Interface between the source files of the schema: schema.c (rows and
 * storage), schema_value.c (text of a single value), schema_read.c (reading a
 * file), schema_print.c (printing).
 */

#include "scenario/schema.h"

/* Parses a text as the row's type, within the row's range. */
HD_MUST_CHECK enum hd_status schema_value_set(const struct schema_row *f, const char *text,
					      struct diag *d, void *value);
/* Size in bytes of a value of the row's type; not for mappings and lists. */
size_t schema_value_size(const struct schema_row *f);

/*
 * The most similar name, or NULL. The comparison is linear in the length of the
 * word, and no field has a long name; a single letter or digit is similar to no
 * name.
 */
const char *schema_nearest(const char *word, const char *const *names, size_t n);

#endif
