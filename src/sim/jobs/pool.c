/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Storage of a job's messages, in blocks that never move. An id is a block number and an index
 * in the block. It does not depend on the partitioning: it stays valid when a run is saved
 * and continued with other domains. The domain of a message follows from its source.
 *
 * Each share allocates blocks of its own and reuses the ids that are returned to it. Each
 * process uses other block numbers; a message of another process has a copy here under the
 * same id, if this process needs it.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/jobs/jobs_internal.h"

#define TABLE_BITS 12 /* bits of a block number that index a table */
#define TABLE_LEN  (1u << TABLE_BITS)

static uint32_t block_of(uint32_t id)
{
	return id / MESSAGES_IN_BLOCK;
}

/* NULL: block not in this process. */
static struct job_message *block_at(const struct placed_job *p, uint32_t block)
{
	struct job_message **table =
		__atomic_load_n(&p->tables[block >> TABLE_BITS], __ATOMIC_ACQUIRE);

	return table ? table[block & (TABLE_LEN - 1)] : NULL;
}

/* Atomic: several shares may need the same table at the same time. */
static struct job_message **table_need(struct placed_job *p, uint32_t block)
{
	struct job_message ***at = &p->tables[block >> TABLE_BITS];
	struct job_message **table = __atomic_load_n(at, __ATOMIC_ACQUIRE);

	if (table)
		return table;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	struct job_message **mine = hd_alloc(TABLE_LEN, sizeof(*mine));

	if (__atomic_compare_exchange_n(at, &table, mine, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return mine;
	free(mine);
	return table;
}

static void block_need(struct placed_job *p, uint32_t block)
{
	struct job_message **at = &table_need(p, block)[block & (TABLE_LEN - 1)];

	if (*at)
		return;
	*at = hd_alloc(MESSAGES_IN_BLOCK, sizeof(**at));
	for (uint32_t i = 0; i < MESSAGES_IN_BLOCK; i++) {
		(*at)[i].target = RANK_GROUP_NONE; /* no target yet */
		(*at)[i].here.receive = RANK_GROUP_NONE;
	}
}

struct job_message *message_at(const struct placed_job *p, uint32_t id)
{
	return &block_at(p, block_of(id))[id % MESSAGES_IN_BLOCK];
}

uint32_t job_domain_of(const struct placed_job *p, uint32_t actor)
{
	return p->part_of_node ? p->part_of_node[p->actors[actor].node] : 0;
}

uint32_t message_part(const struct placed_job *p, uint32_t id)
{
	return job_domain_of(p, message_at(p, id)->source);
}

static uint32_t message_fresh(struct job_domain *s)
{
	struct placed_job *p = s->of;

	if (s->fresh % MESSAGES_IN_BLOCK == 0) {
		uint32_t block =
			__atomic_fetch_add(&p->next_block, p->block_stride, __ATOMIC_RELAXED);

		assert(block < UINT32_MAX / MESSAGES_IN_BLOCK);
		block_need(p, block);
		s->fresh = block * MESSAGES_IN_BLOCK;
	}
	return s->fresh++;
}

uint32_t message_new(struct job_domain *s)
{
	if (s->free == RANK_GROUP_NONE)
		s->free = __atomic_exchange_n(&s->returned, RANK_GROUP_NONE, __ATOMIC_ACQUIRE);
	uint32_t id = s->free;

	if (id == RANK_GROUP_NONE)
		return message_fresh(s);
	s->free = message_at(s->of, id)->next;
	return id;
}

/* Frees a message of a share in this process. */
static void message_free(struct job_domain *s, uint32_t id)
{
	struct job_message *m = message_at(s->of, id);
	struct job_domain *owner = &s->of->shares[message_part(s->of, id)];

	free(m->landings);
	m->landings = NULL;
	m->target = RANK_GROUP_NONE;
	if (owner == s) {
		m->next = s->free;
		s->free = id;
		return;
	}
	m->next = __atomic_load_n(&owner->returned, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&owner->returned, &m->next, id, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
}

void message_release(struct job_domain *s, uint32_t id)
{
	struct job_message *m = message_at(s->of, id);

	if (!__atomic_sub_fetch(&m->copies, 1, __ATOMIC_ACQ_REL))
		message_free(s, id);
}

void message_take(struct job_domain *s, uint32_t id, uint32_t rank)
{
	struct job_message *m = message_at(s->of, id);

	message_recv_slot(m, rank)->is_over = true;
	if (message_is_elsewhere(s->of, id))
		message_return(s, id);
	else
		message_release(s, id);
}

struct job_message *message_mirror(struct placed_job *p, uint32_t id)
{
	block_need(p, block_of(id));
	return message_at(p, id);
}

bool message_is_known(const struct placed_job *p, uint32_t id)
{
	return block_at(p, block_of(id)) != NULL;
}

bool message_is_ours(const struct placed_job *p, uint32_t id)
{
	return message_is_known(p, id) && message_at(p, id)->copies > 0;
}

uint32_t message_next(const struct placed_job *p, uint32_t id, bool ours)
{
	const uint32_t table = TABLE_LEN * MESSAGES_IN_BLOCK;

	for (; id < RANK_GROUP_NONE; id++) {
		if (!p->tables[id / table])
			id |= table - 1;
		else if (!message_is_known(p, id))
			id |= MESSAGES_IN_BLOCK - 1;
		else if (message_at(p, id)->copies ||
			 (!ours && message_at(p, id)->target != RANK_GROUP_NONE))
			return id;
		if (id == RANK_GROUP_NONE)
			break;
	}
	return RANK_GROUP_NONE;
}

void message_blocks_begin(struct placed_job *p, uint32_t first, uint32_t stride)
{
	p->next_block = first;
	p->block_stride = stride;
}

void message_blocks_skip(struct placed_job *p, uint32_t id)
{
	uint32_t block = block_of(id), n = p->block_stride;

	if (p->next_block <= block)
		p->next_block += (block - p->next_block) / n * n + n;
}

void message_blocks_fini(struct placed_job *p)
{
	for (uint32_t i = 0; p->tables && i < MESSAGE_TABLES; i++) {
		for (uint32_t k = 0; p->tables[i] && k < TABLE_LEN; k++) {
			struct job_message *block = p->tables[i][k];

			for (uint32_t j = 0; block && j < MESSAGES_IN_BLOCK; j++)
				free(block[j].landings);
			free(block);
		}
		free(p->tables[i]);
	}
	free(p->tables);
}
