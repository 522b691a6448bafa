/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/barrier_pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/memory.h"
#include "base/parallel_for.h"

/*
 * Looks before a waiting thread sleeps: some ten microseconds, or more where it
 * has turned out that the others are about to come.
 */
#define LEAST_SPINS 256
#define MOST_SPINS  4096
#define SHORT_SLEEP 50000 /* ns: to look on would have been better */

struct pool_member {
	struct barrier_pool *pool;
	unsigned number;
	unsigned spins;
	pthread_t thread;
};

struct barrier_pool {
	barrier_pool_fn *work;
	void *context;
	unsigned size;
	struct pool_member *members; /* 0 has no thread */
	/* 0 if there are not enough processors: a spinning thread would delay
	 * the thread that it waits for. */
	unsigned least_spins;
	bool is_over; /* written before the last turn begins */
	atomic_uint_fast64_t turn;
	atomic_uint_fast64_t finished; /* by other members than 0, ever */
	/* For those who sleep until one of the two has changed. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	atomic_uint sleepers;
	/* A member that got no memory says so; who called the turn ends it. */
	atomic_bool is_short;
	char why[MEMORY_LINE]; /* of the first of them */
};

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

static uint64_t nanoseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void sleep_until(struct barrier_pool *c, atomic_uint_fast64_t *count, uint64_t value)
{
	pthread_mutex_lock(&c->lock);
	atomic_fetch_add(&c->sleepers, 1);
	while (atomic_load(count) < value)
		pthread_cond_wait(&c->changed, &c->lock);
	atomic_fetch_sub(&c->sleepers, 1);
	pthread_mutex_unlock(&c->lock);
}

/* Until *count is at least `value`. */
static void await(struct pool_member *m, atomic_uint_fast64_t *count, uint64_t value)
{
	for (unsigned i = 0; i < m->spins; i++) {
		if (atomic_load(count) >= value)
			return;
		relax();
	}
	uint64_t begun = nanoseconds();

	sleep_until(m->pool, count, value);
	/* Spinning does not free processors that other processes hold. */
	if (nanoseconds() - begun >= SHORT_SLEEP)
		m->spins = m->pool->least_spins;
	else if (m->spins < MOST_SPINS)
		m->spins *= 2;
}

static void advance(struct barrier_pool *c, atomic_uint_fast64_t *count)
{
	atomic_fetch_add(count, 1);
	/* A member that has read the old count is either counted as a sleeper
	 * or reads the count again. */
	if (atomic_load(&c->sleepers) == 0)
		return;
	pthread_mutex_lock(&c->lock);
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

static void do_turn(void *argument)
{
	const struct pool_member *m = argument;

	m->pool->work(m->pool->context, m->number);
}

static void *member_main(void *argument)
{
	struct pool_member *m = argument;
	struct barrier_pool *c = m->pool;
	char why[MEMORY_LINE];

	for (uint64_t turn = 1;; turn++) {
		await(m, &c->turn, turn);
		if (c->is_over)
			return NULL;
		if (!memory_try(do_turn, m, why) && !atomic_exchange(&c->is_short, true))
			memcpy(c->why, why, sizeof(why));
		advance(c, &c->finished);
	}
}

struct barrier_pool *barrier_pool_new(unsigned n, barrier_pool_fn *work, void *context)
{
	struct barrier_pool *c = hd_alloc(1, sizeof(*c));

	c->work = work;
	c->context = context;
	c->members = hd_alloc(n, sizeof(*c->members));
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, NULL);
	c->least_spins = n <= parallel_processors() ? LEAST_SPINS : 0;
	c->members[0] = (struct pool_member){ .pool = c, .spins = c->least_spins };
	for (c->size = 1; c->size < n; c->size++) {
		struct pool_member *m = &c->members[c->size];

		*m = (struct pool_member){ .pool = c, .number = c->size, .spins = c->least_spins };
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
	uint64_t turn = atomic_load(&c->turn) + 1;

	advance(c, &c->turn);
	c->work(c->context, 0);
	await(&c->members[0], &c->finished, turn * (c->size - 1));
	if (atomic_load(&c->is_short))
		memory_end(c->why);
}

void barrier_pool_free(struct barrier_pool *c)
{
	if (!c)
		return;
	c->is_over = true;
	advance(c, &c->turn);
	for (unsigned i = 1; i < c->size; i++)
		pthread_join(c->members[i].thread, NULL);
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	free(c->members);
	free(c);
}
