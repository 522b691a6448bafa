/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of which many are equal, kept once each. In a fat tree of 43,904 hosts
 * the forwarding tables take 190 MB in rows, and a tenth of that in blocks.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/memory.h"
#include "subnet/routing/share.h"

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

static void kept_put(struct intern_index *k, uint64_t hash, uint32_t number)
{
	while (k->slots[hash & (k->n_slots - 1)])
		hash++;
	k->slots[hash & (k->n_slots - 1)] = number + 1;
}

/* ---- blocks of forwarding tables ----------------------------------------- */

#define MOST_BYTES ((size_t)INT32_MAX / 2)

static void fold_make_room(struct lft_fold *f)
{
	struct intern_index *k = &f->kept;

	f->bytes = k->n < f->cap ? f->bytes : hd_grow(f->bytes, &f->cap, k->n + 1, LFT_BLOCK_LIDS);
	if (2 * k->n < k->n_slots)
		return;
	free(k->slots);
	k->n_slots = k->n_slots ? 4 * k->n_slots : 1024;
	k->slots = hd_alloc(k->n_slots, sizeof(*k->slots));
	for (uint32_t i = 0; i < k->n; i++)
		kept_put(k, hash_words(f->bytes + (size_t)i * LFT_BLOCK_LIDS, LFT_BLOCK_LIDS), i);
}

/* The number of this block among those kept. */
static uint32_t block_keep(struct lft_fold *f, const uint8_t *bytes)
{
	uint64_t hash = hash_words(bytes, LFT_BLOCK_LIDS);
	struct intern_index *k = &f->kept;

	fold_make_room(f);
	for (uint64_t h = hash;; h++) {
		size_t found = k->slots[h & (k->n_slots - 1)];

		if (!found)
			break;
		if (memcmp(f->bytes + (found - 1) * LFT_BLOCK_LIDS, bytes, LFT_BLOCK_LIDS) == 0)
			return (uint32_t)found - 1;
	}
	size_t number = k->n++;

	if (k->n * LFT_BLOCK_LIDS > MOST_BYTES)
		memory_refused(k->n * LFT_BLOCK_LIDS);
	memmove(f->bytes + number * LFT_BLOCK_LIDS, bytes, LFT_BLOCK_LIDS);
	kept_put(k, hash, (uint32_t)number);
	return (uint32_t)number;
}

static int32_t place_of(uint32_t block, unsigned number)
{
	return ((int32_t)block - (int32_t)number) * LFT_BLOCK_LIDS;
}

void lft_fold_begin(struct lft_fold *f, uint32_t n_switches, uint32_t stride)
{
	/* One row even without switches, so that lookups find the empty block. */
	*f = (struct lft_fold){
		.n_places = (n_switches ? n_switches : 1) * (size_t)LFT_BLOCKS,
		.in_row = n_switches ? stride / LFT_BLOCK_LIDS : 0,
	};
	f->at = hd_alloc(f->n_places, sizeof(*f->at));
}

void lft_fold_row(struct lft_fold *f, switch_id sw, const uint8_t *row)
{
	int32_t *at = f->at + (size_t)sw * LFT_BLOCKS;

	for (unsigned i = 0; i < f->in_row; i++)
		at[i] = place_of(block_keep(f, row + (size_t)i * LFT_BLOCK_LIDS), i);
}

static void lft_fold_end(struct lft_fold *f, struct lft_blocks *out)
{
	const size_t n = f->kept.n;

	/* One more entry for LIDs without a port. */
	out->bytes = hd_alloc_dense(n + 1, LFT_BLOCK_LIDS);
	out->at = f->at;
	if (n)
		memcpy(out->bytes, f->bytes, n * LFT_BLOCK_LIDS);
	memset(out->bytes + n * LFT_BLOCK_LIDS, LFT_NO_PORT, LFT_BLOCK_LIDS);
	for (size_t i = 0; i < f->n_places; i++) {
		unsigned number = i % LFT_BLOCKS;

		if (number >= f->in_row)
			out->at[i] = place_of((uint32_t)n, number);
	}
	free(f->bytes);
	free(f->kept.slots);
}

void lft_share(uint8_t *rows, uint32_t n_switches, uint32_t stride, struct lft_blocks *out)
{
	struct lft_fold f;

	/* Stored blocks overwrite rows that have been read already. */
	lft_fold_begin(&f, n_switches, stride);
	f.bytes = rows;
	f.cap = (size_t)n_switches * f.in_row;
	for (switch_id sw = 0; sw < n_switches; sw++)
		lft_fold_row(&f, sw, rows + (size_t)sw * stride);
	lft_fold_end(&f, out);
}

static void blocks_set(struct subnet *s, struct lft_blocks blocks)
{
	free(s->lft);
	free(s->lft_at);
	s->lft = blocks.bytes;
	s->lft_at = blocks.at;
}

void lft_fold_into(struct lft_fold *f, struct subnet *s)
{
	struct lft_blocks blocks;

	lft_fold_end(f, &blocks);
	blocks_set(s, blocks);
}

void lft_clear(struct subnet *s)
{
	struct lft_fold empty;

	/* Without known rows, every block is the empty one. */
	lft_fold_begin(&empty, s->n_switches, 0);
	lft_fold_into(&empty, s);
}

static void share_blocks(struct subnet *s)
{
	struct lft_blocks blocks;

	if (s->lft_at || !s->lft)
		return;
	lft_share(s->lft, s->n_switches, s->lft_stride, &blocks);
	s->lft = NULL; /* it was freed */
	blocks_set(s, blocks);
}

uint8_t *lft_rows(const struct subnet *s)
{
	const size_t n = (size_t)s->n_switches * (s->lft_stride / LFT_BLOCK_LIDS);
	uint8_t *rows = hd_alloc_dense(n, LFT_BLOCK_LIDS), *next = rows;

	if (!s->lft_at && n)
		memcpy(rows, s->lft, n * LFT_BLOCK_LIDS);
	for (switch_id sw = 0; s->lft_at && sw < s->n_switches; sw++) {
		const int32_t *at = s->lft_at + (size_t)sw * LFT_BLOCKS;

		for (uint32_t lid = 0; lid < s->lft_stride;
		     lid += LFT_BLOCK_LIDS, next += LFT_BLOCK_LIDS)
			memcpy(next, s->lft + at[lid / LFT_BLOCK_LIDS] + (ptrdiff_t)lid,
			       LFT_BLOCK_LIDS);
	}
	return rows;
}

/* ---- VLs of pairs of ports --------------------------------------------- */

static size_t pairs_size(const struct subnet *s, switch_id sw)
{
	size_t n = switch_node(s, sw)->n_ports + 1u;

	return n * n * sizeof(uint16_t);
}

/* A switch before this one with the same VLs, or itself. */
static switch_id pairs_keep(struct intern_index *k, const struct subnet *s, switch_id sw)
{
	size_t size = pairs_size(s, sw);
	uint64_t hash = hash_words(s->sl2vl_of_pair[sw], size);

	for (uint64_t h = hash;; h++) {
		uint32_t found = k->slots[h & (k->n_slots - 1)];

		if (!found)
			break;
		if (pairs_size(s, found - 1) == size &&
		    memcmp(s->sl2vl_of_pair[found - 1], s->sl2vl_of_pair[sw], size) == 0)
			return found - 1;
	}
	kept_put(k, hash, sw);
	return sw;
}

static void share_pairs(struct subnet *s)
{
	struct intern_index kept = { .n_slots = 16 };

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

/* ---- both --------------------------------------------------------------- */

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
