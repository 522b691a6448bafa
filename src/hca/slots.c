/* SPDX-License-Identifier: BSD-2-Clause */
/* Slots: the adapters' storage of packets in flight. */
#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "hca/hca_internal.h"

static unsigned chunk_of(uint32_t place)
{
	return 31u - (unsigned)__builtin_clz(place / SLOT_FIRST + 1);
}

static uint32_t chunk_start(unsigned chunk)
{
	return (SLOT_FIRST << chunk) - SLOT_FIRST;
}

struct hca_slot *hca_slot_at(const struct lab *lab, uint32_t id)
{
	uint32_t place = id & ((1u << SLOT_BITS) - 1);
	unsigned chunk = chunk_of(place);

	return &lab->pools[id >> SLOT_BITS].chunks[chunk][place - chunk_start(chunk)];
}

bool hca_slot_is_here(const struct lab *lab, uint32_t id)
{
	uint32_t pool = id >> SLOT_BITS, place = id & ((1u << SLOT_BITS) - 1);

	return pool < lab->n_pools && chunk_of(place) < SLOT_CHUNKS &&
	       lab->pools[pool].chunks[chunk_of(place)];
}

static void chunk_need(struct slot_pool *pool, uint32_t place)
{
	unsigned chunk = chunk_of(place);
	size_t n = (size_t)SLOT_FIRST << chunk;

	assert(chunk < SLOT_CHUNKS);
	if (pool->chunks[chunk])
		return;
	pool->chunks[chunk] = hd_alloc(n, sizeof(struct hca_slot));
	pool->data[chunk] = hd_alloc(n, SLOT_DATA);
	for (size_t i = 0; i < n; i++)
		pool->chunks[chunk][i].data = pool->data[chunk] + i * SLOT_DATA;
}

struct hca_slot *hca_slot_mirror(struct lab *lab, uint32_t id)
{
	chunk_need(&lab->pools[id >> SLOT_BITS], id & ((1u << SLOT_BITS) - 1));
	return hca_slot_at(lab, id);
}

static uint32_t slot_add(struct lab *lab, struct slot_pool *pool)
{
	assert(pool->n < (1u << SLOT_BITS) - 1);
	chunk_need(pool, pool->n);
	return lab->number << SLOT_BITS | pool->n++;
}

uint32_t hca_slot_new(struct lab *lab)
{
	struct slot_pool *pool = &lab->pools[lab->number];

	if (pool->free == QP_NONE)
		pool->free = __atomic_exchange_n(&pool->returned, QP_NONE, __ATOMIC_ACQUIRE);
	uint32_t id = pool->free;

	if (id == QP_NONE)
		id = slot_add(lab, pool);
	else
		pool->free = hca_slot_at(lab, id)->next;
	struct hca_slot *s = hca_slot_at(lab, id);

	s->copies = 1;
	s->staged = 0;
	s->tells = false;
	return id;
}

void hca_slot_release(struct lab *lab, uint32_t id)
{
	struct slot_pool *pool = &lab->pools[id >> SLOT_BITS];

	if (pool->is_elsewhere) {
		hca_slot_return(lab, id);
		return;
	}
	struct hca_slot *s = hca_slot_at(lab, id);

	if (__atomic_sub_fetch(&s->copies, 1, __ATOMIC_ACQ_REL))
		return;
	if (lab->follows)
		external_packet_over(lab, s);
	if (id >> SLOT_BITS == lab->number) {
		s->next = pool->free;
		pool->free = id;
		return;
	}
	s->next = __atomic_load_n(&pool->returned, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&pool->returned, &s->next, id, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
}

struct slot_pool *hca_pools_new(struct slot_pool *old, uint32_t n_old, uint32_t n)
{
	struct slot_pool *pools = hd_realloc(old, n, sizeof(*pools));

	for (uint32_t i = n_old; i < n; i++)
		pools[i] = (struct slot_pool){ .free = QP_NONE, .returned = QP_NONE };
	return pools;
}

void hca_pools_free(struct slot_pool *pools, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		for (unsigned k = 0; k < SLOT_CHUNKS; k++) {
			free(pools[i].chunks[k]);
			free(pools[i].data[k]);
		}
	}
	free(pools);
}

void hca_slot_append(struct lab *lab, struct slot_list *l, uint32_t id)
{
	hca_slot_at(lab, id)->next = QP_NONE;
	if (l->first == QP_NONE)
		l->first = id;
	else
		hca_slot_at(lab, l->last)->next = id;
	l->last = id;
}

uint32_t hca_slot_first(struct lab *lab, struct slot_list *l)
{
	uint32_t id = l->first;

	if (id != QP_NONE)
		l->first = hca_slot_at(lab, id)->next;
	return id;
}
