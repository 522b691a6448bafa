/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loaded before a program (LD_PRELOAD), sends it signals at a moment that does
 * not depend on the clock: before or after the N-th call that changes a file
 * or a process.
 *
 *	RAISE_AT=N        the moment: 2k before the k-th such call, 2k + 1 after
 *	RAISE=15,15       the signals, in turn
 *	RAISE_COUNT=FILE  instead: writes how many moments there were
 *
 * Only the first process is meant, not its children.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static long moment, at = -1;
static pid_t meant;

__attribute__((constructor)) static void begin(void)
{
	const char *n = getenv("RAISE_AT");
	char self[24];

	if (getenv("RAISE_PID"))
		return;
	meant = getpid();
	snprintf(self, sizeof(self), "%ld", (long)meant);
	setenv("RAISE_PID", self, 1);
	at = n ? strtol(n, NULL, 10) : -1;
}

__attribute__((destructor)) static void end(void)
{
	const char *name = getenv("RAISE_COUNT");
	FILE *f = name && getpid() == meant ? fopen(name, "w") : NULL;

	if (!f)
		return;
	fprintf(f, "%ld\n", moment);
	fclose(f);
}

static void pass(void)
{
	const char *list = getenv("RAISE");

	if (!meant || getpid() != meant || moment++ != at)
		return;
	while (list && *list) {
		kill(meant, (int)strtol(list, (char **)&list, 10));
		list += *list == ',';
	}
}

/* Their parameters have names of their own. */
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */
#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

#define WRAP(type, name, parameters, arguments)  \
	type name parameters                     \
	{                                        \
		static __typeof__(&(name)) real; \
                                                 \
		real = real ? real : REAL(name); \
		pass();                          \
		type got = real arguments;       \
                                                 \
		pass();                          \
		return got;                      \
	}

WRAP(ssize_t, write, (int fd, const void *b, size_t n), (fd, b, n))
WRAP(ssize_t, pwrite, (int fd, const void *b, size_t n, off_t o), (fd, b, n, o))
WRAP(ssize_t, pwrite64, (int fd, const void *b, size_t n, off64_t o), (fd, b, n, o))
WRAP(int, ftruncate, (int fd, off_t n), (fd, n))
WRAP(int, ftruncate64, (int fd, off64_t n), (fd, n))
WRAP(int, fdatasync, (int fd), (fd))
WRAP(int, fsync, (int fd), (fd))
WRAP(int, rename, (const char *from, const char *to), (from, to))
WRAP(int, linkat, (int at, const char *from, int to_at, const char *to, int flags),
     (at, from, to_at, to, flags))
WRAP(int, unlink, (const char *path), (path))
WRAP(int, mkstemp, (char *path), (path))
WRAP(char *, mkdtemp, (char *path), (path))
WRAP(pid_t, fork, (void), ())
WRAP(int, waitid, (idtype_t t, id_t id, siginfo_t *i, int o), (t, id, i, o))
WRAP(int, fclose, (FILE * f), (f))

/* Opening to write may make the file. */
#define WRAP_OPEN(name)                                        \
	int name(const char *path, int flags, ...)             \
	{                                                      \
		bool writes = (flags & O_ACCMODE) != O_RDONLY; \
		va_list args;                                  \
                                                               \
		va_start(args, flags);                         \
		mode_t mode = va_arg(args, mode_t);            \
                                                               \
		va_end(args);                                  \
		if (writes)                                    \
			pass();                                \
		int fd = REAL(name)(path, flags, mode);        \
                                                               \
		if (writes)                                    \
			pass();                                \
		return fd;                                     \
	}

WRAP_OPEN(open)
WRAP_OPEN(open64)
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
