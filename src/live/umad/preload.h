/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_UMAD_PRELOAD_H
#define HD_LIVE_UMAD_PRELOAD_H

/*
 * Private to libheddle-umad.so, whose functions programs call in the place of
 * the C library's: what its parts share, hidden from those programs.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "live/protocol.h"

#define HIDDEN __attribute__((visibility("hidden")))

/* Descriptors of ours are below it. */
enum { MAX_FDS = 65536 };

/* The function of the same name that we stand in front of. */
HIDDEN void *preload_next(const char *name);
HIDDEN int preload_close(int fd);

/* Whether this program is on a host of a running fabric. */
HIDDEN bool preload_is_on(void);
/*
 * A connection to the daemon, once it has answered; its number, or 0 and a
 * descriptor of -1 with errno.
 */
HIDDEN uint32_t preload_open(enum live_kind kind, unsigned unit, int *fd);
/* One question: the answer's number, or -1 with errno; its text in `out`. */
HIDDEN long preload_call(enum live_question question, const void *text, size_t n, char *out,
			 size_t *out_size);

/* ---- cm_preload.c: /dev/infiniband/rdma_cm */

HIDDEN int cm_open(void);
HIDDEN bool cm_is_open(int fd);
HIDDEN void cm_closed(int fd);
HIDDEN ssize_t cm_write(int fd, const void *from, size_t n);

#endif
