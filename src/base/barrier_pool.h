/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_BARRIER_POOL_H
#define HD_BASE_BARRIER_POOL_H

/*
 * A pool of threads that work in rounds. A round has as many shares as the pool has members;
 * each share is computed once, and the round ends when all shares have been computed. A member
 * begins with its own share and then takes those that have not begun, so that no round waits for
 * a thread that has no processor, unless it lost its processor within a share.
 *
 * Rounds may be as short as microseconds, so a waiting thread looks for some ten microseconds
 * before it sleeps.
 *
 * Writes of a round are visible to all shares of later rounds, and to the caller after the round.
 */

/* `share` is below barrier_pool_size. */
typedef void barrier_pool_fn(void *context, unsigned share);

struct barrier_pool;

/* Creates `n` members, or fewer if the system cannot create as many threads. */
struct barrier_pool *barrier_pool_new(unsigned n, barrier_pool_fn *work, void *context);
/* Must not be called during a round. */
void barrier_pool_free(struct barrier_pool *c);
unsigned barrier_pool_size(const struct barrier_pool *c);
/* The calling thread is member 0. */
void barrier_pool_run(struct barrier_pool *c);
/* The same without the other threads, which sleep meanwhile. */
void barrier_pool_run_alone(struct barrier_pool *c);

#endif
