/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_UMAD_PRELOAD_H
#define HD_LIVE_UMAD_PRELOAD_H

/*
 * Declarations shared by the files of libheddle-umad.so, which replaces functions of the C library
 * in programs. Symbols are hidden from those programs.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "live/protocol.h"

#define HIDDEN __attribute__((visibility("hidden")))

/* Only descriptors below this limit can be connections of the library. */
enum { MAX_FDS = 65536 };

/* The next definition of the function of that name, usually the C library's. */
HIDDEN void *preload_next(const char *name);
HIDDEN int preload_close(int fd);

/* True if this program is on a host of a running fabric. */
HIDDEN bool preload_is_on(void);
/*
 * Opens a connection to the daemon and waits for its reply; returns its number, or 0 with errno
 * and a descriptor of -1.
 */
HIDDEN uint32_t preload_open(enum live_kind kind, unsigned unit, int *fd);
/* Sends one question; returns the number of the reply, or -1 with errno. `out` gets its text. */
HIDDEN long preload_call(enum live_question question, const void *text, size_t n, char *out,
			 size_t *out_size);

/* ---- cm_preload.c: /dev/infiniband/rdma_cm */

HIDDEN int cm_open(void);
HIDDEN bool cm_is_open(int fd);
HIDDEN void cm_closed(int fd);
HIDDEN ssize_t cm_write(int fd, const void *from, size_t n);

#endif
