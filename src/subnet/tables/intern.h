/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_TABLES_INTERN_H
#define HD_SUBNET_TABLES_INTERN_H

/* Stores tables that are equal byte by byte once, and refers to them by number. */

#include "subnet/subnet.h"

/* Returns the number of `table` in *tables; appends it if it is new. */
uint32_t tables_intern(struct table_index *x, void **tables, uint32_t *n, const void *table,
		       size_t size);

#endif
