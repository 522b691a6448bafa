/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_RECORD_FOR_TESTS_H
#define HD_WIRE_RECORD_FOR_TESTS_H

/* For tests: properties of every field table. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "wire/field.h"

/* Marks the bits of `f`; fields must not overlap. */
static inline void check_field(const struct field *f, size_t base, size_t bits, uint8_t *used)
{
	if (f->width == 0 || base + f->offset + f->width > bits)
		fail_msg("%s reaches past the end", f->name);
	for (size_t i = base + f->offset; i < base + f->offset + f->width; i++)
		if (used[i]++)
			fail_msg("%s overlaps another field", f->name);
	if ((f->kind == FIELD_ENUM || f->kind == FIELD_SET) && !f->names)
		fail_msg("%s has no names", f->name);
	if (f->kind == FIELD_GID && f->width != 128)
		fail_msg("%s is no GID", f->name);
	bool wide = f->kind == FIELD_BYTES || f->kind == FIELD_GID || f->kind == FIELD_STRING;

	if (wide ? f->offset % 8 || f->width % 8 : f->width > 64)
		fail_msg("%s has an odd width or offset", f->name);
}

static inline void check_names(const struct field *fields)
{
	for (const struct field *a = fields; a && a->name; a++)
		for (const struct field *b = a + 1; b->name; b++)
			if (strcmp(a->name, b->name) == 0)
				fail_msg("two fields called %s", a->name);
}

static inline void check_bits(const struct record *r, size_t base, size_t bits, uint8_t *used)
{
	const struct field_group *g = r->group;

	check_names(r->fields);
	for (const struct field *f = r->fields; f && f->name; f++)
		check_field(f, base, bits, used);
	for (unsigned i = 0; g && i < g->count; i++)
		for (const struct field *f = g->fields; f->name; f++)
			check_field(f, base + g->offset + (size_t)i * g->stride, bits, used);
	if (g)
		check_names(g->fields);
	for (const struct record_part *p = r->parts; p && p->record; p++)
		check_bits(p->record, base + 8 * (size_t)p->offset, bits, used);
}

static inline void check_record(const struct record *r)
{
	size_t bits = (size_t)r->size * 8;
	uint8_t *used = calloc(bits, 1);

	assert_non_null(used);
	assert_non_null(r->name);
	check_bits(r, 0, bits, used);
	free(used);
}

#endif
