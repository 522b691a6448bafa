/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_RANKS_H
#define HD_BENCH_RANKS_H

/*
 * Communication of ranks on real hosts outside the device that they measure,
 * over stream sockets: a pair for each two threads of a process, or TCP between
 * processes. In a process of its own a rank has a socket to rank 0 only, and
 * rank 0 one to each; what two others exchange, rank 0 carries.
 *
 * Everything here may wait, for a test may be long; but waiting ends at once
 * when `going` says so, when the peer is gone and when it has called
 * ranks_abandon.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define RANKS_MAX 16

/* Called repeatedly while a rank waits; false ends the wait. */
typedef bool ranks_going_fn(void *context);

struct bench_ranks {
	int fd[RANKS_MAX]; /* to each other rank, or -1 */
	unsigned n, self;
	bool apart;            /* processes: others reach each other through rank 0 */
	ranks_going_fn *going; /* or NULL */
	void *context;
};

bool ranks_exchange(struct bench_ranks *r, unsigned with, const void *mine, void *theirs,
		    size_t len);
/* Rank 0: carries what a and b exchange, if they cannot reach each other. */
bool ranks_carry(struct bench_ranks *r, unsigned a, unsigned b, size_t len);
bool ranks_barrier(struct bench_ranks *r);
/* Rank 0 tells the contenders that it has what it wants. */
void ranks_finish(struct bench_ranks *r);
bool ranks_finished(struct bench_ranks *r);
bool ranks_send(struct bench_ranks *r, unsigned to, const void *bytes, size_t len);
bool ranks_receive(struct bench_ranks *r, unsigned from, void *bytes, size_t len);
/* Ends communication: ranks that wait for this one stop waiting at once. */
void ranks_abandon(struct bench_ranks *r);
/* Whether a connected rank has abandoned the run. */
bool ranks_abandoned(const struct bench_ranks *r);
void ranks_close(struct bench_ranks *r);

/* Threads of this process: `n` of them, all connected to each other. */
HD_MUST_CHECK enum hd_status ranks_local(struct bench_ranks *list, unsigned n, struct diag *d);
/* "host:port,host:port": those are ranks 1, 2, ... and we are rank 0. */
HD_MUST_CHECK enum hd_status ranks_connect(const char *hosts, struct diag *d,
					   struct bench_ranks *out);
/*
 * Waits at "address:port" for a rank 0; out->fd[0] is it. out->going and
 * out->context are the caller's to set beforehand.
 */
HD_MUST_CHECK enum hd_status ranks_listen(const char *at, struct diag *d, struct bench_ranks *out);

#endif
