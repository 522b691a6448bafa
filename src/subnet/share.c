/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of which many are equal, kept once each. In a fat tree of 43,904 hosts
 * the forwarding tables take 190 MB in rows, and a tenth of that in blocks.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/memory.h"
#include "subnet/subnet.h"

/* Finds what was kept before by its hash; numbers are + 1, 0 is nobody. */
struct kept {
	uint32_t *slots;
	size_t n_slots; /* a power of two, more than twice those kept */
	size_t n;
};

static uint64_t hash_words(const void *bytes, size_t size)
{
	uint64_t h = size, word;

	for (size_t i = 0; i + sizeof(word) <= size; i += sizeof(word)) {
		memcpy(&word, (const char *)bytes + i, sizeof(word));
		h = (h ^ word) * UINT64_C(0x9E3779B97F4A7C15);
		h ^= h >> 32;
	}
	return h;
}

static void kept_put(struct kept *k, uint64_t hash, uint32_t number)
{
	while (k->slots[hash & (k->n_slots - 1)])
		hash++;
	k->slots[hash & (k->n_slots - 1)] = number + 1;
}

/* ---- blocks of forwarding tables ----------------------------------------- */

#define MOST_BYTES ((size_t)INT32_MAX / 2)

static void blocks_make_room(struct kept *k, const uint8_t *blocks)
{
	if (2 * k->n < k->n_slots)
		return;
	free(k->slots);
	k->n_slots = k->n_slots ? 4 * k->n_slots : 1024;
	k->slots = hd_alloc(k->n_slots, sizeof(*k->slots));
	for (uint32_t i = 0; i < k->n; i++)
		kept_put(k,
			 hash_words(blocks + (size_t)i * LFT_BLOCK_LIDS,
				    LFT_BLOCK_LIDS),
			 i);
}

/* The number of this block among those kept, which are at the front. */
static uint32_t block_keep(struct kept *k, uint8_t *blocks,
			   const uint8_t *bytes)
{
	uint64_t hash = hash_words(bytes, LFT_BLOCK_LIDS);

	blocks_make_room(k, blocks);
	for (uint64_t h = hash;; h++) {
		size_t found = k->slots[h & (k->n_slots - 1)];

		if (!found)
			break;
		if (memcmp(blocks + (found - 1) * LFT_BLOCK_LIDS, bytes,
			   LFT_BLOCK_LIDS) == 0)
			return (uint32_t)found - 1;
	}
	size_t number = k->n++;

	if (k->n * LFT_BLOCK_LIDS > MOST_BYTES)
		memory_refused(k->n * LFT_BLOCK_LIDS);
	memmove(blocks + number * LFT_BLOCK_LIDS, bytes, LFT_BLOCK_LIDS);
	kept_put(k, hash, (uint32_t)number);
	return (uint32_t)number;
}

static int32_t place_of(uint32_t block, unsigned number)
{
	return ((int32_t)block - (int32_t)number) * LFT_BLOCK_LIDS;
}

void lft_share(uint8_t *rows, uint32_t n_switches, uint32_t stride,
	       struct lft_blocks *out)
{
	/* A row of its own where there are no switches, for looks in vain. */
	const size_t n_places = (n_switches ? n_switches : 1) * LFT_BLOCKS;
	const unsigned in_row = stride / LFT_BLOCK_LIDS;
	struct kept kept = { 0 };
	const uint8_t *next = rows;

	out->at = hd_alloc(n_places, sizeof(*out->at));
	for (size_t i = 0; i < (size_t)n_switches * LFT_BLOCKS; i++) {
		unsigned number = i % LFT_BLOCKS;

		if (number >= in_row)
			continue;
		out->at[i] = place_of(block_keep(&kept, rows, next), number);
		next += LFT_BLOCK_LIDS;
	}
	/* One more, for LIDs that nobody has. */
	out->bytes = hd_alloc_dense(kept.n + 1, LFT_BLOCK_LIDS);
	if (kept.n)
		memcpy(out->bytes, rows, kept.n * LFT_BLOCK_LIDS);
	memset(out->bytes + kept.n * LFT_BLOCK_LIDS, LFT_NO_PORT,
	       LFT_BLOCK_LIDS);
	for (size_t i = 0; i < n_places; i++) {
		unsigned number = i % LFT_BLOCKS;

		if (number >= in_row || n_switches == 0)
			out->at[i] = place_of((uint32_t)kept.n, number);
	}
	free(rows);
	free(kept.slots);
}

static void share_blocks(struct subnet *s)
{
	struct lft_blocks blocks;

	if (s->lft_at || !s->lft)
		return;
	lft_share(s->lft, s->n_switches, s->lft_stride, &blocks);
	s->lft = blocks.bytes;
	s->lft_at = blocks.at;
}

uint8_t *lft_rows(const struct subnet *s)
{
	size_t size = (size_t)s->n_switches * s->lft_stride;
	uint8_t *rows = hd_alloc_dense(size, 1), *row = rows;

	if (!s->lft_at && size)
		memcpy(rows, s->lft, size);
	for (switch_id sw = 0; s->lft_at && sw < s->n_switches; sw++) {
		for (uint32_t lid = 0; lid < s->lft_stride; lid++)
			*row++ = lft_get(s, sw, (lid_t)lid);
	}
	return rows;
}

/* ---- lanes of pairs of ports --------------------------------------------- */

static size_t pairs_size(const struct subnet *s, switch_id sw)
{
	size_t n = s->topo->nodes[s->node_of_switch[sw]].n_ports + 1u;

	return n * n * sizeof(uint16_t);
}

/* A switch before this one with the same lanes, or itself. */
static switch_id pairs_keep(struct kept *k, const struct subnet *s,
			    switch_id sw)
{
	size_t size = pairs_size(s, sw);
	uint64_t hash = hash_words(s->sl2vl_of_pair[sw], size);

	for (uint64_t h = hash;; h++) {
		uint32_t found = k->slots[h & (k->n_slots - 1)];

		if (!found)
			break;
		if (pairs_size(s, found - 1) == size &&
		    memcmp(s->sl2vl_of_pair[found - 1], s->sl2vl_of_pair[sw],
			   size) == 0)
			return found - 1;
	}
	kept_put(k, hash, sw);
	return sw;
}

static void share_pairs(struct subnet *s)
{
	struct kept kept = { .n_slots = 16 };

	if (s->borrows_pairs)
		return;
	while (kept.n_slots <= 2 * (size_t)s->n_switches)
		kept.n_slots *= 2;
	kept.slots = hd_alloc(kept.n_slots, sizeof(*kept.slots));
	s->borrows_pairs = hd_alloc(s->n_switches, sizeof(*s->borrows_pairs));
	for (switch_id sw = 0; sw < s->n_switches; sw++) {
		switch_id same = pairs_keep(&kept, s, sw);

		if (same == sw)
			continue;
		free(s->sl2vl_of_pair[sw]);
		s->sl2vl_of_pair[sw] = s->sl2vl_of_pair[same];
		s->borrows_pairs[sw] = true;
	}
	free(kept.slots);
}

static void own_pairs(struct subnet *s)
{
	for (switch_id sw = 0; s->borrows_pairs && sw < s->n_switches; sw++) {
		const uint16_t *shared = s->sl2vl_of_pair[sw];

		if (!s->borrows_pairs[sw])
			continue;
		s->sl2vl_of_pair[sw] = hd_alloc(pairs_size(s, sw), 1);
		memcpy(s->sl2vl_of_pair[sw], shared, pairs_size(s, sw));
	}
	free(s->borrows_pairs);
	s->borrows_pairs = NULL;
}

/* ---- both -----------------------------------------------------------------
 */

void subnet_share(struct subnet *s)
{
	share_blocks(s);
	share_pairs(s);
}

void subnet_own(struct subnet *s)
{
	if (s->lft_at) {
		uint8_t *rows = lft_rows(s);

		free(s->lft);
		free(s->lft_at);
		s->lft = rows;
		s->lft_at = NULL;
	}
	own_pairs(s);
}
