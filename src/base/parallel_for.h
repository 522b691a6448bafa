/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_PARALLEL_FOR_H
#define HD_BASE_PARALLEL_FOR_H

/*
 * Work in many pieces that do not depend on each other, dealt out to threads.
 * What comes of it must not depend on how many there are, nor on who gets
 * which piece; so their number is no argument of anything that computes, but
 * belongs to the process, as its memory does. A member that needs a team for
 * its piece is one: the processors are busy with the other pieces.
 */

#include <stddef.h>
#include <stdint.h>

#define PARALLEL_MAX_THREADS 1024 /* threads that may be asked for */

/*
 * How many threads the process computes on. 0, as it begins: one for each
 * processor that it may use, but no more than the work is worth. Any other
 * number holds for all work, however little. Not while there is a team.
 */
void parallel_set_threads(unsigned n);
unsigned parallel_threads(void);
/*
 * Sets the number of processes, this one included, that share the processors of
 * this process. Initially 1.
 */
void parallel_share_processors(unsigned processes);
/* The processors that the process may use: its share of them, at least one. */
unsigned parallel_processors(void);

/*
 * How it has computed, for people who want to know: noted by who runs a fabric
 * in parts, or jobs in processes of their own. The last one counts.
 */
struct parallel_use {
	unsigned jobs;    /* at a time; 0: it had none */
	unsigned parts;   /* of a fabric; 0: it ran none */
	unsigned threads; /* that computed them, or each job */
	const char *why;  /* on one thread only; or NULL */
};
void parallel_record_use(const struct parallel_use *use);
struct parallel_use parallel_last_use(void);

struct parallel_pool;

/* `steps`: estimated work in simple steps of a nanosecond or two. */
struct parallel_pool *parallel_pool_new(uint64_t steps);
void parallel_pool_free(struct parallel_pool *t);
unsigned parallel_pool_size(const struct parallel_pool *t);

/* `member` is below parallel_pool_size: for space that each has to itself. */
typedef void parallel_for_fn(void *context, unsigned member, size_t piece);

/*
 * Calls for each piece below n, and returns when all are done. Each member
 * gets its pieces in rising order.
 */
void parallel_for(struct parallel_pool *t, size_t n, parallel_for_fn *fn, void *context);

#endif
