/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_CAPTURE_FOR_TESTS_H
#define HD_WIRE_CAPTURE_FOR_TESTS_H

/* For tests: builds a capture file in the given byte order and opens it from memory. */

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

/* NULL if the file is refused; `d` has the reason. */
static inline struct capture *open_bytes(const struct file *f, struct diag *d)
{
	FILE *stream = fmemopen(NULL, f->size + 1, "w+b");
	struct capture *c = NULL;

	assert_non_null(stream);
	/* "w+b": the end of the stream is the end of the written data. */
	assert_int_equal(fwrite(f->bytes, 1, f->size, stream), f->size);
	rewind(stream);
	*d = (struct diag){ .status = HD_OK };
	if (capture_open(stream, d, &c) != HD_OK)
		return NULL;
	return c;
}

#endif
