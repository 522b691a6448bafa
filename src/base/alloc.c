/* SPDX-License-Identifier: BSD-2-Clause */
#define _DEFAULT_SOURCE /* madvise */
#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"

/* Size in bytes; a size that is impossible is rejected at once. */
static size_t bytes_of(size_t n, size_t size)
{
	if (n == 0 || size == 0)
		return 1;
	/* The limit is the range of a pointer, with room for rounding up. */
	if (n > PTRDIFF_MAX / 2 / size)
		memory_refused(SIZE_MAX);
	return n * size;
}

/* Size in bytes, accounted for with memory_take. */
static size_t take(size_t n, size_t size)
{
	size_t bytes = bytes_of(n, size);

	memory_take(bytes);
	return bytes;
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

#define HUGE_PAGE ((size_t)2 << 20)

/* `bytes` in whole cache lines or huge pages. */
static size_t dense_size(size_t bytes)
{
	const size_t unit = bytes >= HD_DENSE_HUGE ? HUGE_PAGE : 64;

	return (bytes + unit - 1) / unit * unit;
}

void *hd_alloc_lazy(size_t n, size_t size)
{
	size_t bytes = dense_size(bytes_of(n, size));
	size_t unit = bytes >= HUGE_PAGE ? HUGE_PAGE : 64;

	/* The mapped size: whole units, and one more for alignment. */
	memory_take(bytes + unit);
	void *memory = check(aligned_alloc(unit, bytes), bytes);

#ifdef MADV_HUGEPAGE
	if (unit == HUGE_PAGE)
		(void)madvise(memory, bytes, MADV_HUGEPAGE);
#endif
	return memory;
}

void *hd_alloc_dense(size_t n, size_t size)
{
	void *memory = hd_alloc_lazy(n, size);

	memset(memory, 0, n * size);
	return memory;
}

void *hd_alloc_sparse(size_t n, size_t size)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (take(n, size) + page - 1) / page * page;
	void *memory = check(aligned_alloc(page, bytes), bytes);

#ifdef MADV_NOHUGEPAGE
	(void)madvise(memory, bytes, MADV_NOHUGEPAGE);
	/* The previous content is discarded; the pages read as zeros. */
	if (madvise(memory, bytes, MADV_DONTNEED) == 0)
		return memory;
#endif
	memset(memory, 0, bytes);
	return memory;
}

void hd_move_lazy(void *to, void *from, size_t n, size_t size)
{
	const size_t bytes = n * size;

	for (size_t at = 0; at < bytes; at += HUGE_PAGE) {
		size_t piece = bytes - at < HUGE_PAGE ? bytes - at : HUGE_PAGE;

		memcpy((char *)to + at, (char *)from + at, piece);
#ifdef MADV_DONTNEED
		if (piece == HUGE_PAGE)
			(void)madvise((char *)from + at, piece, MADV_DONTNEED);
#endif
	}
	free(from);
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
