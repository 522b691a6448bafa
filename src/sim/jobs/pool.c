/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of a share, in chunks that never move. An id is a share and a place
 * in its pool. That of a share of another process has copies of the messages
 * that come here, at the same places.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/jobs/parts.h"

static unsigned chunk_of(uint32_t place)
{
	return 31u - (unsigned)__builtin_clz(place / MESSAGE_FIRST + 1);
}

static uint32_t chunk_start(unsigned chunk)
{
	return (MESSAGE_FIRST << chunk) - MESSAGE_FIRST;
}

uint32_t message_part(const struct placed *p, uint32_t id)
{
	return p->place_bits < 32 ? id >> p->place_bits : 0;
}

static uint32_t id_of(const struct share *s, uint32_t place)
{
	return (s->number ? s->number << s->of->place_bits : 0) | place;
}

static uint32_t place_of(const struct placed *p, uint32_t id)
{
	uint32_t part = message_part(p, id);

	return id - (part ? part << p->place_bits : 0);
}

struct message *message_at(const struct placed *p, uint32_t id)
{
	uint32_t place = place_of(p, id);
	unsigned chunk = chunk_of(place);
	struct message *const *chunks =
		p->shares[message_part(p, id)].pool.chunks;

	return &chunks[chunk][place - chunk_start(chunk)];
}

struct message *message_nth(const struct share *s, uint32_t place)
{
	return message_at(s->of, id_of(s, place));
}

static void chunk_need(struct message_pool *pool, uint32_t place)
{
	unsigned chunk = chunk_of(place);
	uint32_t n = MESSAGE_FIRST << chunk;

	assert(chunk < MESSAGE_CHUNKS);
	if (pool->chunks[chunk])
		return;
	pool->chunks[chunk] = hd_alloc(n, sizeof(struct message));
	for (uint32_t i = 0; i < n; i++)
		pool->chunks[chunk][i].target = GANG_NONE; /* for nobody yet */
}

uint32_t message_new(struct share *s)
{
	struct message_pool *pool = &s->pool;

	if (pool->free == GANG_NONE)
		pool->free = __atomic_exchange_n(&pool->returned, GANG_NONE,
						 __ATOMIC_ACQUIRE);
	uint32_t id = pool->free;

	if (id != GANG_NONE) {
		pool->free = message_at(s->of, id)->next;
		return id;
	}
	chunk_need(pool, pool->n);
	return id_of(s, pool->n++);
}

void message_release(struct share *s, uint32_t id)
{
	struct message *m = message_at(s->of, id);
	uint32_t part = message_part(s->of, id);
	struct message_pool *pool = &s->of->shares[part].pool;

	if (message_is_elsewhere(s->of, id)) {
		message_return(s, id);
		return;
	}
	if (__atomic_sub_fetch(&m->copies, 1, __ATOMIC_ACQ_REL))
		return;
	free(m->landings);
	m->landings = NULL;
	if (part == s->number) {
		m->next = pool->free;
		pool->free = id;
		return;
	}
	m->next = __atomic_load_n(&pool->returned, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&pool->returned, &m->next, id, true,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

struct message *message_mirror(struct placed *p, uint32_t id)
{
	chunk_need(&p->shares[message_part(p, id)].pool, place_of(p, id));
	return message_at(p, id);
}

bool message_may_be(const struct placed *p, uint32_t id, bool comes)
{
	uint32_t part = message_part(p, id), place = place_of(p, id);

	if (part >= p->n_shares || chunk_of(place) >= MESSAGE_CHUNKS)
		return false;
	return comes || p->shares[part].pool.chunks[chunk_of(place)];
}

void pool_fini(struct message_pool *pool)
{
	for (unsigned i = 0; i < MESSAGE_CHUNKS; i++) {
		struct message *chunk = pool->chunks[i];

		for (uint32_t k = 0; chunk && k < MESSAGE_FIRST << i; k++)
			free(chunk[k].landings);
		free(chunk);
	}
}
