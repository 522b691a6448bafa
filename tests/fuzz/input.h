/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_FUZZ_INPUT_H
#define HD_FUZZ_INPUT_H

/* An input that a harness reads as a row of choices, and what it demands. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *data;
	size_t size;
};

static inline void demand(bool holds)
{
	if (!holds)
		abort();
}

/* The next byte; 0 when all are taken. */
static inline uint8_t take(struct input *in)
{
	if (in->size == 0)
		return 0;
	in->size--;
	return *in->data++;
}

/* The next bytes, as many as there are: how many. */
static inline size_t take_bytes(struct input *in, uint8_t *out, size_t most)
{
	size_t n = in->size < most ? in->size : most;

	memcpy(out, in->data, n);
	in->data += n;
	in->size -= n;
	return n;
}

#endif
