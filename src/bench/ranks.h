/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_RANKS_H
#define HD_BENCH_RANKS_H

/*
 * Communication of ranks on real hosts outside the measured device, over stream
 * sockets: a socket pair for each two threads of a process, or TCP between
 * processes. In a separate process a rank has a socket to rank 0 only, and rank
 * 0 has one to each. Rank 0 relays exchanges between two others.
 *
 * Every function may block, because a test may be long. Blocking ends
 * immediately when `going` returns false, when the peer is gone and when it has
 * called ranks_abandon.
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
	bool apart;            /* separate processes: rank 0 relays between the others */
	ranks_going_fn *going; /* may be NULL */
	void *context;
};

bool ranks_exchange(struct bench_ranks *r, unsigned with, const void *mine, void *theirs,
		    size_t len);
/* Rank 0: relays an exchange of a and b, if they are not connected. */
bool ranks_carry(struct bench_ranks *r, unsigned a, unsigned b, size_t len);
bool ranks_barrier(struct bench_ranks *r);
/* Rank 0: signals to the contenders that the measurement is complete. */
void ranks_finish(struct bench_ranks *r);
bool ranks_finished(struct bench_ranks *r);
bool ranks_send(struct bench_ranks *r, unsigned to, const void *bytes, size_t len);
bool ranks_receive(struct bench_ranks *r, unsigned from, void *bytes, size_t len);
/* Ends communication: ranks that wait for this one stop waiting. */
void ranks_abandon(struct bench_ranks *r);
/* Whether a connected rank has abandoned the run. */
bool ranks_abandoned(const struct bench_ranks *r);
void ranks_close(struct bench_ranks *r);

/* Creates `n` ranks as threads of this process, all connected to each other. */
HD_MUST_CHECK enum hd_status ranks_local(struct bench_ranks *list, unsigned n, struct diag *d);
/* "host:port,host:port": connects to ranks 1, 2, ... as rank 0. */
HD_MUST_CHECK enum hd_status ranks_connect(const char *hosts, struct diag *d,
					   struct bench_ranks *out);
/*
 * Waits at "address:port" for rank 0, which becomes out->fd[0]. The caller sets
 * out->going and out->context beforehand.
 */
HD_MUST_CHECK enum hd_status ranks_listen(const char *at, struct diag *d, struct bench_ranks *out);

#endif
