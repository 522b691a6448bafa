/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/tables/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static uint64_t hash_bytes(const void *bytes, size_t size)
{
	const unsigned char *b = bytes;
	uint64_t h = UINT64_C(0xCBF29CE484222325); /* FNV-1a */

	for (size_t i = 0; i < size; i++)
		h = (h ^ b[i]) * UINT64_C(0x100000001B3);
	return h ^ h >> 32;
}

static void index_rebuild(struct table_index *x, const void *tables, uint32_t n, size_t size)
{
	uint32_t n_slots = x->n_slots ? x->n_slots * 2 : 16;

	free(x->slots);
	x->slots = hd_alloc(n_slots, sizeof(*x->slots));
	x->n_slots = n_slots;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t h = hash_bytes((const char *)tables + i * size, size);

		while (x->slots[h & (n_slots - 1)])
			h++;
		x->slots[h & (n_slots - 1)] = i + 1;
	}
}

uint32_t tables_intern(struct table_index *x, void **tables, uint32_t *n, const void *table,
		       size_t size)
{
	uint64_t h = hash_bytes(table, size);

	if (x->n_slots <= *n * 2) {
		*tables = hd_grow(*tables, &x->cap, *n + 1, size);
		index_rebuild(x, *tables, *n, size);
	}
	for (;; h++) {
		uint32_t *slot = &x->slots[h & (x->n_slots - 1)];

		if (*slot && memcmp((char *)*tables + (*slot - 1) * size, table, size) == 0)
			return *slot - 1;
		if (!*slot) {
			*tables = hd_grow(*tables, &x->cap, *n + 1, size);
			memcpy((char *)*tables + *n * size, table, size);
			*slot = ++*n;
			return *n - 1;
		}
	}
}
