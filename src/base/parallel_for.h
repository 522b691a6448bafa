/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_PARALLEL_FOR_H
#define HD_BASE_PARALLEL_FOR_H

/*
 * Parallel execution of independent pieces of work. Results must not depend on
 * the number of threads, nor on the assignment of pieces to threads. The number
 * of threads is therefore not an argument of computations but a property of the
 * process, like its memory. A nested pool of a member has one thread, because
 * the processors are busy with the other pieces.
 */

#include <stddef.h>
#include <stdint.h>

#define PARALLEL_MAX_THREADS 1024 /* maximum of parallel_set_threads */

/*
 * Sets the number of threads of the process. 0, the initial value: one per
 * available processor, but no more than the amount of work justifies. Any other
 * number applies to all work, however small. Must not be called while a pool
 * exists.
 */
void parallel_set_threads(unsigned n);
unsigned parallel_threads(void);
/*
 * Sets the number of processes, this one included, that share the processors of
 * this process. Initially 1.
 */
void parallel_share_processors(unsigned processes);
/* The number of processors available to the process: its share, at least one. */
unsigned parallel_processors(void);

/*
 * How the process computed, for reports. It is recorded by code that runs a
 * fabric in domains, or jobs in separate processes. The last record counts.
 */
struct parallel_use {
	unsigned jobs;    /* concurrent jobs; 0: there were no jobs */
	unsigned parts;   /* domains of a fabric; 0: no fabric was run */
	unsigned threads; /* threads per fabric or job */
	const char *why;  /* reason for a single thread; or NULL */
};
void parallel_record_use(const struct parallel_use *use);
struct parallel_use parallel_last_use(void);

struct parallel_pool;

/* `steps`: estimated work in simple steps of one or two nanoseconds. */
struct parallel_pool *parallel_pool_new(uint64_t steps);
void parallel_pool_free(struct parallel_pool *t);
unsigned parallel_pool_size(const struct parallel_pool *t);

/* `member` is below parallel_pool_size; it is an index for per-thread memory. */
typedef void parallel_for_fn(void *context, unsigned member, size_t piece);

/*
 * Calls `fn` for each piece below n, and returns when all are done. Each member
 * gets its pieces in ascending order.
 */
void parallel_for(struct parallel_pool *t, size_t n, parallel_for_fn *fn, void *context);

#endif
