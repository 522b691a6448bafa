/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_BARRIER_POOL_H
#define HD_BASE_BARRIER_POOL_H

/*
 * A pool of threads that work in rounds: in each round, all members call one
 * function, and the round ends when all have returned. Rounds may be as short
 * as microseconds, so a waiting thread spins briefly before it sleeps. On busy
 * processors, that brief spin is the only time taken from other threads.
 *
 * Writes of a member in one round are visible to all members in the next round,
 * and to the caller between the two.
 */

/* `member` is below barrier_pool_size; 0 is the thread that calls barrier_pool_run. */
typedef void barrier_pool_fn(void *context, unsigned member);

struct barrier_pool;

/* Creates `n` members, or fewer if the system cannot create as many threads. */
struct barrier_pool *barrier_pool_new(unsigned n, barrier_pool_fn *work, void *context);
/* Must not be called during a round. */
void barrier_pool_free(struct barrier_pool *c);
unsigned barrier_pool_size(const struct barrier_pool *c);
void barrier_pool_run(struct barrier_pool *c);

#endif
