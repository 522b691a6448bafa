/* SPDX-License-Identifier: BSD-2-Clause */
#define _DEFAULT_SOURCE /* madvise */
#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory.h"

/* How many bytes that is; what cannot be there is refused at once. */
static size_t take(size_t n, size_t size)
{
	if (n == 0 || size == 0)
		return 1;
	/* As much as a pointer can tell apart, with room to round up. */
	if (n > PTRDIFF_MAX / 2 / size)
		memory_refused(SIZE_MAX);
	memory_take(n * size);
	return n * size;
}

static void *check(void *memory, size_t bytes)
{
	if (!memory)
		memory_refused(bytes);
	return memory;
}

void *hd_alloc(size_t n, size_t size)
{
	size_t bytes = take(n, size);

	return check(calloc(1, bytes), bytes);
}

void *hd_alloc_dense(size_t n, size_t size)
{
	const size_t line = 64, huge = (size_t)2 << 20;

	size_t bytes = take(n, size);
	size_t unit = bytes >= HD_DENSE_HUGE ? huge : line;

	bytes = (bytes + unit - 1) / unit * unit;
	void *memory = check(aligned_alloc(unit, bytes), bytes);

#ifdef MADV_HUGEPAGE
	if (unit == huge)
		(void)madvise(memory, bytes, MADV_HUGEPAGE);
#endif
	memset(memory, 0, bytes);
	return memory;
}

void *hd_grow_dense(void *data, size_t *cap, size_t need, size_t size)
{
	if (need <= *cap)
		return data;
	size_t want = *cap * 2 > need ? *cap * 2 : need;
	void *more = hd_alloc_dense(want, size);

	if (data)
		memcpy(more, data, *cap * size);
	free(data);
	*cap = want;
	return more;
}

void *hd_realloc(void *old, size_t n, size_t size)
{
	size_t bytes = take(n, size);

	return check(realloc(old, bytes), bytes);
}

char *hd_strdup(const char *text)
{
	return hd_strndup(text, strlen(text));
}

char *hd_strndup(const char *text, size_t len)
{
	char *copy = hd_alloc(len + 1, 1);

	memcpy(copy, text, len);
	return copy;
}

void *hd_grow(void *data, size_t *cap, size_t need, size_t size)
{
	if (need <= *cap)
		return data;
	size_t want = *cap < 8 ? 8 : *cap + *cap / 2;
	if (want < need)
		want = need;
	data = hd_realloc(data, want, size);
	*cap = want;
	return data;
}
