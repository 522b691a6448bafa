/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/ring.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void *ring_grow(void *ring, uint32_t *places, uint32_t head, uint32_t tail, size_t size)
{
	uint32_t before = *places, after = before ? 2 * before : 2;

	if (tail - head < before)
		return ring;
	char *more = hd_alloc(after, size);

	for (uint32_t i = head; i != tail; i++)
		memcpy(more + (i & (after - 1)) * size,
		       (const char *)ring + (i & (before - 1)) * size, size);
	free(ring);
	*places = after;
	return more;
}
