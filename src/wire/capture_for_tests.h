/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_CAPTURE_FOR_TESTS_H
#define HD_WIRE_CAPTURE_FOR_TESTS_H

/*
 * For tests: a capture file under construction, in the byte order that is
 * asked for, and opened from memory.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "wire/capture.h"
#include "wire/cursor.h"

struct file {
	uint8_t bytes[2048];
	size_t size;
	bool big;
};

static inline void put16(struct file *f, uint16_t v)
{
	if (f->big)
		store_be16(f->bytes + f->size, v);
	else
		store_le16(f->bytes + f->size, v);
	f->size += 2;
}

static inline void put32(struct file *f, uint32_t v)
{
	if (f->big)
		store_be32(f->bytes + f->size, v);
	else
		store_le32(f->bytes + f->size, v);
	f->size += 4;
}

static inline void put_bytes(struct file *f, const void *bytes, size_t n)
{
	memcpy(f->bytes + f->size, bytes, n);
	f->size += n;
}

/* NULL if it is refused, with the reason in `d`. */
static inline struct capture *open_bytes(const struct file *f, struct diag *d)
{
	FILE *stream = fmemopen(NULL, f->size + 1, "w+b");
	struct capture *c = NULL;

	assert_non_null(stream);
	/* "w+b" counts what was written, so that the end is the end. */
	assert_int_equal(fwrite(f->bytes, 1, f->size, stream), f->size);
	rewind(stream);
	*d = (struct diag){ .status = HD_OK };
	if (capture_open(stream, d, &c) != HD_OK)
		return NULL;
	return c;
}

#endif
