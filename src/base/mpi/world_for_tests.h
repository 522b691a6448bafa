/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_MPI_WORLD_FOR_TESTS_H
#define HD_BASE_MPI_WORLD_FOR_TESTS_H

/*
 * Ranks that are threads of one process. The work is called for all of them
 * simultaneously, and senders pass copies of their bytes.
 *
 *	play_ranks(3, work, context);	// work(&ranks, context) in each
 */

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/mpi/world.h"

#define PLAYERS 8

typedef void player_fn(const struct world *r, void *context);

/* Bytes are overwritten two exchanges later, after all ranks have read them. */
struct play {
	pthread_barrier_t together;
	struct strbuf bytes[2][PLAYERS][PLAYERS];
	unsigned n;
	player_fn *work;
	void *context;
};

struct player {
	struct play *play;
	unsigned rank, turn;
};

static inline void player_exchange(void *context, const struct world_bytes *to,
				   struct world_bytes *from)
{
	struct player *me = context;
	struct play *p = me->play;
	struct strbuf(*bytes)[PLAYERS] = p->bytes[me->turn++ & 1];

	for (unsigned i = 0; i < p->n; i++) {
		struct strbuf *b = &bytes[me->rank][i];

		strbuf_clear(b);
		if (i == me->rank)
			continue;
		strbuf_add(b, to[i].bytes, to[i].len);
	}
	pthread_barrier_wait(&p->together);
	for (unsigned i = 0; i < p->n; i++)
		from[i] = (struct world_bytes){ bytes[i][me->rank].text, bytes[i][me->rank].len };
}

static const struct world_ops player_ops = {
	.version = WORLD_PLUGIN,
	.exchange = player_exchange,
};

static inline void *player_main(void *context)
{
	struct player *me = context;
	const struct world r = {
		.ops = &player_ops, .context = me, .rank = me->rank, .n = me->play->n
	};

	me->play->work(&r, me->play->context);
	return NULL;
}

static inline void play_on(struct play *p)
{
	struct player players[PLAYERS];
	pthread_t threads[PLAYERS];

	assert_true(p->n <= PLAYERS);
	pthread_barrier_init(&p->together, NULL, p->n);
	for (unsigned i = 0; i < 2 * PLAYERS * PLAYERS; i++)
		p->bytes[i / (PLAYERS * PLAYERS)][i / PLAYERS % PLAYERS][i % PLAYERS] =
			(struct strbuf)STRBUF_INIT;
	for (unsigned i = 0; i < p->n; i++) {
		players[i] = (struct player){ .play = p, .rank = i };
		assert_int_equal(pthread_create(&threads[i], NULL, player_main, &players[i]), 0);
	}
	for (unsigned i = 0; i < p->n; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < 2 * PLAYERS * PLAYERS; i++)
		strbuf_fini(&p->bytes[i / (PLAYERS * PLAYERS)][i / PLAYERS % PLAYERS][i % PLAYERS]);
	pthread_barrier_destroy(&p->together);
}

static inline void play_ranks(unsigned n, player_fn *work, void *context)
{
	struct play *p = hd_alloc(1, sizeof(*p));

	p->n = n;
	p->work = work;
	p->context = context;
	play_on(p);
	free(p);
}

#endif
