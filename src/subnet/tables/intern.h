/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_TABLES_INTERN_H
#define HD_SUBNET_TABLES_INTERN_H

/* Tables that are equal, byte by byte, kept once and known by a number. */

#include "subnet/subnet.h"

/* The number of `table` among *tables, where it is added if it is new. */
uint32_t tables_intern(struct table_index *x, void **tables, uint32_t *n, const void *table,
		       size_t size);

#endif
