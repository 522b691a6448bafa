/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_RANKS_H
#define HD_BENCH_RANKS_H

/*
 * How ranks on real hosts talk beside the device that they measure: over
 * stream sockets, a pair for each two threads of a process, or TCP between
 * processes. In a process of its own a rank has a socket to rank 0 only, and
 * rank 0 one to each.
 *
 * Everything here may wait, but never for ever: a peer that says nothing for
 * half a minute is gone.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define RANKS_MAX 16

struct ranks {
	int fd[RANKS_MAX]; /* to each other rank, or -1 */
	unsigned n, self;
};

bool ranks_exchange(struct ranks *r, unsigned with, const void *mine,
		    void *theirs, size_t len);
bool ranks_barrier(struct ranks *r);
/* Rank 0 tells the contenders that it has what it wants. */
void ranks_finish(struct ranks *r);
bool ranks_finished(struct ranks *r);
bool ranks_send(int fd, const void *bytes, size_t len);
bool ranks_receive(int fd, void *bytes, size_t len);
void ranks_close(struct ranks *r);

/* Threads of this process: `n` of them, all connected to each other. */
HD_MUST_CHECK enum hd_status ranks_local(struct ranks *list, unsigned n,
					 struct diag *d);
/* "host:port,host:port": those are ranks 1, 2, ... and we are rank 0. */
HD_MUST_CHECK enum hd_status ranks_connect(const char *hosts, struct diag *d,
					   struct ranks *out);
/* Waits at "address:port" for a rank 0; out->fd[0] is it. */
HD_MUST_CHECK enum hd_status ranks_listen(const char *at, struct diag *d,
					  struct ranks *out);

#endif
