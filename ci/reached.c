/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which functions a program enters, for ci/mutate.py: linked to what is
 * compiled with -finstrument-functions. Every program of a run shares a file
 * with its later runs and its children, mapped, so that no way to end it loses
 * anything. The byte at a function's address from the start of the program
 * becomes 1.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern char __executable_start, etext;
static char *entered;
static size_t size;

/* FOLDER/ and the program's path, with '%' for '/'. */
static int file_of_program(const char *folder)
{
	char path[2 * PATH_MAX];
	int at = snprintf(path, PATH_MAX, "%s/", folder);
	ssize_t n = readlink("/proc/self/exe", path + at, PATH_MAX - 1);
	if (n <= 0)
		return -1;
	for (ssize_t i = at; i < at + n; i++)
		if (path[i] == '/')
			path[i] = '%';
	path[at + n] = '\0';
	return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
}

__attribute__((constructor, no_instrument_function)) static void
reached_begin(void)
{
	size = (size_t)(&etext - &__executable_start);
	const char *folder = getenv("HD_REACHED");
	int fd = folder ? file_of_program(folder) : -1;
	struct stat st;
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 &&
	    ((size_t)st.st_size == size || ftruncate(fd, (off_t)size) == 0)) {
		void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
				fd, 0);
		entered = at == MAP_FAILED ? NULL : at;
	}
	close(fd);
}

void __cyg_profile_func_enter(void *function, void *caller)
{
	size_t at = (size_t)((char *)function - &__executable_start);
	(void)caller;
	if (entered && at < size) /* a library's is none of ours */
		entered[at] = 1;
}

void __cyg_profile_func_exit(void *function, void *caller)
{
	(void)function;
	(void)caller;
}
