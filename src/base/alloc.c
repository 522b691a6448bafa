/* SPDX-License-Identifier: BSD-2-Clause */
#define _DEFAULT_SOURCE /* madvise */
#include "base/alloc.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *check(void *memory, size_t n, size_t size)
{
	if (memory)
		return memory;
	fprintf(stderr, "heddle: out of memory: cannot have %zu x %zu bytes\n",
		n, size);
	abort();
}

void *hd_alloc(size_t n, size_t size)
{
	if (n == 0 || size == 0)
		n = size = 1;
	return check(calloc(n, size), n, size);
}

void *hd_alloc_dense(size_t n, size_t size)
{
	const size_t line = 64, huge = (size_t)2 << 20;

	if (n == 0 || size == 0)
		n = size = 1;
	if (n > (SIZE_MAX - huge) / size)
		return check(NULL, n, size);
	size_t unit = n * size >= HD_DENSE_HUGE ? huge : line;
	size_t bytes = (n * size + unit - 1) / unit * unit;
	void *memory = check(aligned_alloc(unit, bytes), n, size);

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
	if (n == 0 || size == 0)
		n = size = 1;
	if (n > SIZE_MAX / size)
		return check(NULL, n, size);
	return check(realloc(old, n * size), n, size);
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
