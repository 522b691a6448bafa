/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/barrier_pool.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/memory.h"

#define LINE  64
#define SPINS 1024 /* looks before a waiting thread sleeps: some ten microseconds */

/* A number that only grows, and threads that wait until it has. */
struct progress_count {
	alignas(LINE) atomic_uint_fast64_t value;
	atomic_uint sleepers;
	pthread_mutex_t lock;
	pthread_cond_t changed;
};

struct pool_member {
	alignas(LINE) atomic_uint_fast64_t begun; /* last round of this member's share */
	struct barrier_pool *pool;
	unsigned number;
	pthread_t thread;
};

struct barrier_pool {
	struct progress_count round;
	struct progress_count done; /* shares that other members than 0 have computed */
	barrier_pool_fn *work;
	void *context;
	unsigned size;
	struct pool_member *members; /* 0 has no thread */
	uint64_t expected;           /* of `done`, at the end of this round */
	bool is_over;                /* written before the last round begins */
	/* A member that got no memory says so; who called the round ends it. */
	atomic_bool is_short;
	char why[MEMORY_LINE]; /* of the first of them */
};

/* ---- waiting ------------------------------------------------------------- */

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

static void counter_init(struct progress_count *c)
{
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, NULL);
}

static void counter_fini(struct progress_count *c)
{
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
}

static void counter_sleep(struct progress_count *c, uint64_t value)
{
	pthread_mutex_lock(&c->lock);
	atomic_fetch_add(&c->sleepers, 1);
	while (atomic_load(&c->value) < value)
		pthread_cond_wait(&c->changed, &c->lock);
	atomic_fetch_sub(&c->sleepers, 1);
	pthread_mutex_unlock(&c->lock);
}

static void counter_await(struct progress_count *c, uint64_t value)
{
	for (unsigned i = 0; i < SPINS; i++) {
		if (atomic_load(&c->value) >= value)
			return;
		relax();
	}
	counter_sleep(c, value);
}

static void counter_advance(struct progress_count *c)
{
	atomic_fetch_add(&c->value, 1);
	/* A thread that has read the old value is either counted as a sleeper
	 * or reads the value again. */
	if (atomic_load(&c->sleepers) == 0)
		return;
	pthread_mutex_lock(&c->lock);
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

/* ---- rounds -------------------------------------------------------------- */

/* Whether this thread is to compute the share in this round. */
static bool share_begin(struct pool_member *of, uint64_t round)
{
	uint_fast64_t before = round - 1;

	return atomic_load(&of->begun) == before &&
	       atomic_compare_exchange_strong(&of->begun, &before, round);
}

static void share_compute(void *argument)
{
	const struct pool_member *of = argument;

	of->pool->work(of->pool->context, of->number);
}

static void member_compute(struct pool_member *m, uint64_t round)
{
	struct barrier_pool *c = m->pool;
	char why[MEMORY_LINE];

	for (unsigned i = 0; i < c->size; i++) {
		struct pool_member *of = &c->members[(m->number + i) % c->size];

		if (!share_begin(of, round))
			continue;
		if (!memory_try(share_compute, of, why) && !atomic_exchange(&c->is_short, true))
			memcpy(c->why, why, sizeof(why));
		counter_advance(&c->done);
	}
}

static void *member_main(void *argument)
{
	struct pool_member *m = argument;
	struct barrier_pool *c = m->pool;

	for (uint64_t round = 0;;) {
		counter_await(&c->round, round + 1);
		round = atomic_load(&c->round.value);
		if (c->is_over)
			return NULL;
		member_compute(m, round);
	}
}

struct barrier_pool *barrier_pool_new(unsigned n, barrier_pool_fn *work, void *context)
{
	struct barrier_pool *c = hd_alloc_dense(1, sizeof(*c));

	c->work = work;
	c->context = context;
	c->members = hd_alloc_dense(n, sizeof(*c->members));
	counter_init(&c->round);
	counter_init(&c->done);
	c->members[0].pool = c;
	for (c->size = 1; c->size < n; c->size++) {
		struct pool_member *m = &c->members[c->size];

		m->pool = c;
		m->number = c->size;
		if (pthread_create(&m->thread, NULL, member_main, m) != 0)
			break;
	}
	return c;
}

unsigned barrier_pool_size(const struct barrier_pool *c)
{
	return c->size;
}

void barrier_pool_run(struct barrier_pool *c)
{
	uint64_t round = atomic_load(&c->round.value) + 1;

	counter_advance(&c->round);
	for (unsigned i = 0; i < c->size; i++) {
		if (share_begin(&c->members[i], round))
			c->work(c->context, i);
		else
			c->expected++;
	}
	counter_await(&c->done, c->expected);
	if (atomic_load(&c->is_short))
		memory_end(c->why);
}

void barrier_pool_run_alone(struct barrier_pool *c)
{
	for (unsigned i = 0; i < c->size; i++)
		c->work(c->context, i);
}

void barrier_pool_free(struct barrier_pool *c)
{
	if (!c)
		return;
	c->is_over = true;
	counter_advance(&c->round);
	for (unsigned i = 1; i < c->size; i++)
		pthread_join(c->members[i].thread, NULL);
	counter_fini(&c->round);
	counter_fini(&c->done);
	free(c->members);
	free(c);
}
