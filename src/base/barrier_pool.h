/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_BARRIER_POOL_H
#define HD_BASE_BARRIER_POOL_H

/*
 * Threads that work in turns: in each, all of them call one function, and the
 * turn is over when all have returned. Turns may be as short as microseconds,
 * so a waiting thread spins for a moment before it sleeps. Where processors are
 * busy, that moment is all that it takes from other threads.
 *
 * What one member wrote in a turn all of them see in the next one, and the
 * caller between the two.
 */

/* `member` is below barrier_pool_size; 0 is the thread that calls barrier_pool_run. */
typedef void barrier_pool_fn(void *context, unsigned member);

struct barrier_pool;

/* As many members as asked for, or as the system has threads for. */
struct barrier_pool *barrier_pool_new(unsigned n, barrier_pool_fn *work, void *context);
/* Between two turns. */
void barrier_pool_free(struct barrier_pool *c);
unsigned barrier_pool_size(const struct barrier_pool *c);
void barrier_pool_run(struct barrier_pool *c);

#endif
