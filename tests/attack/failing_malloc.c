/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* RTLD_NEXT */

/*
 * Preloaded, lets an allocation fail: HD_FAIL_AT=N the N-th alone,
 * HD_FAIL_FROM=N that one and all that follow, counted from the start of the
 * program. At its end HD_COUNT_FILE gets how many there were. What libraries
 * of others take while they are loaded is not counted, before the program
 * begins or later: some of them end it in their own way.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Our objects hide their symbols; these are to be found. */
#pragma GCC visibility push(default)

/* glibc's own, under the names that it keeps for this. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t unit, size_t bytes);

static atomic_bool counts;
static atomic_long count, at, from;

static long number_of(const char *name)
{
	const char *text = getenv(name);

	return text ? strtol(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void)
{
	at = number_of("HD_FAIL_AT");
	from = number_of("HD_FAIL_FROM");
	counts = true;
}

__attribute__((destructor)) static void finish(void)
{
	const char *path = getenv("HD_COUNT_FILE");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;

	counts = false;
	if (fd < 0)
		return;
	dprintf(fd, "%ld\n", (long)count);
	close(fd);
}

void *dlopen(const char *path, int how)
{
	void *(*next)(const char *path, int how);
	void *found = dlsym(RTLD_NEXT, "dlopen");
	bool before = atomic_exchange(&counts, false);

	/* POSIX says that pointers to functions are pointers. */
	memcpy(&next, &found, sizeof(next));
	found = next(path, how);
	counts = before;
	return found;
}

static bool fails(void)
{
	if (!counts)
		return false;
	long n = ++count;

	if (n != at && (!from || n < from))
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t bytes)
{
	return fails() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t bytes)
{
	return fails() ? NULL : __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t unit, size_t bytes)
{
	return fails() ? NULL : __libc_memalign(unit, bytes);
}

int posix_memalign(void **out, size_t unit, size_t bytes)
{
	if (fails())
		return ENOMEM;
	*out = __libc_memalign(unit, bytes);
	return *out ? 0 : ENOMEM;
}
