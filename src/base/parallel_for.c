/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* sched_getaffinity */
#include "base/parallel_for.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/barrier_pool.h"

/* To start a thread and to wait for it costs some ten microseconds. */
#define STEPS_WORTH_A_THREAD 1000000

struct parallel_pool {
	struct barrier_pool *pool; /* NULL: the caller alone */
	parallel_for_fn *fn;
	void *context;
	size_t n;
	atomic_size_t next;
};

/* Requested threads of the process. */
static unsigned asked;
static unsigned sharing = 1;
static _Thread_local struct parallel_use noted; /* of the last caller on this thread */
static _Thread_local bool is_member;            /* of a team that is at work */

void parallel_set_threads(unsigned n)
{
	asked = n < PARALLEL_MAX_THREADS ? n : PARALLEL_MAX_THREADS;
}

unsigned parallel_threads(void)
{
	return asked;
}

void parallel_record_use(const struct parallel_use *use)
{
	noted = *use;
}

struct parallel_use parallel_last_use(void)
{
	return noted;
}

void parallel_share_processors(unsigned processes)
{
	sharing = processes;
}

static unsigned processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		return (unsigned)CPU_COUNT(&set);
	/* More processors than the set has room for. */
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (unsigned)n : 1;
}

unsigned parallel_processors(void)
{
	unsigned n = processors() / sharing;

	return n ? n : 1;
}

static unsigned size_for(uint64_t steps)
{
	if (is_member)
		return 1;
	if (asked)
		return asked;
	uint64_t most = steps / STEPS_WORTH_A_THREAD;
	unsigned n = most > 1 ? parallel_processors() : 1;

	n = n < PARALLEL_MAX_THREADS ? n : PARALLEL_MAX_THREADS;
	return n < most ? n : most > 1 ? (unsigned)most : 1;
}

static void take_pieces(void *context, unsigned member)
{
	struct parallel_pool *t = context;
	bool was_member = is_member;
	size_t i;

	is_member = is_member || t->pool;
	while ((i = atomic_fetch_add(&t->next, 1)) < t->n)
		t->fn(t->context, member, i);
	is_member = was_member;
}

struct parallel_pool *parallel_pool_new(uint64_t steps)
{
	struct parallel_pool *t = hd_alloc(1, sizeof(*t));
	unsigned n = size_for(steps);

	if (n > 1)
		t->pool = barrier_pool_new(n, take_pieces, t);
	return t;
}

void parallel_pool_free(struct parallel_pool *t)
{
	if (!t)
		return;
	barrier_pool_free(t->pool);
	free(t);
}

unsigned parallel_pool_size(const struct parallel_pool *t)
{
	return t->pool ? barrier_pool_size(t->pool) : 1;
}

void parallel_for(struct parallel_pool *t, size_t n, parallel_for_fn *fn, void *context)
{
	t->fn = fn;
	t->context = context;
	t->n = n;
	atomic_store(&t->next, 0);
	if (t->pool && n > 1)
		barrier_pool_run(t->pool);
	else
		take_pieces(t, 0);
}
