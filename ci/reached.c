/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records which functions a program or a library enters, for ci/mutate.py.
 * It is linked into each of them, and they are compiled with
 * -finstrument-functions. All runs of a program, its children included, share
 * one mapped file, so that a killed process loses nothing. The byte at a
 * function's address, relative to the load address, becomes 1.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Hidden: each program and each library has its own. */
#define OWN __attribute__((visibility("hidden"), no_instrument_function))

extern char __ehdr_start __attribute__((visibility("hidden")));
extern char etext __attribute__((visibility("hidden")));
static char *entered;
static size_t size;

/* FOLDER/ and the path of the program or library, with '%' for '/'. */
OWN int reached_file(const char *folder)
{
	char from[PATH_MAX], path[2 * PATH_MAX];
	Dl_info own;
	int at = snprintf(path, PATH_MAX, "%s/", folder);
	int is_library =
		dladdr(&__ehdr_start, &own) && own.dli_fname && strstr(own.dli_fname, ".so");

	if (!realpath(is_library ? own.dli_fname : "/proc/self/exe", from))
		return -1;
	for (char *c = from; *c; c++)
		path[at++] = *c == '/' ? '%' : *c;
	path[at] = '\0';
	return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
}

__attribute__((constructor)) OWN void reached_begin(void)
{
	size = (size_t)(&etext - &__ehdr_start);
	const char *folder = getenv("HD_REACHED");
	int fd = folder ? reached_file(folder) : -1;
	struct stat st;
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 &&
	    ((size_t)st.st_size == size || ftruncate(fd, (off_t)size) == 0)) {
		void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		entered = at == MAP_FAILED ? NULL : at;
	}
	close(fd);
}

OWN void __cyg_profile_func_enter(void *function, void *caller)
{
	size_t at = (size_t)((char *)function - &__ehdr_start);
	(void)caller;
	if (entered && at < size)
		entered[at] = 1;
}

OWN void __cyg_profile_func_exit(void *function, void *caller)
{
	(void)function;
	(void)caller;
}
