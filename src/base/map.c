/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/map.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Open addressing with linear probing, at most half full. */

static uint64_t mix(uint64_t key)
{
	key ^= key >> 32;
	key *= UINT64_C(0x9e3779b97f4a7c15);
	key ^= key >> 29;
	key *= UINT64_C(0xbf58476d1ce4e5b9);
	return key ^ key >> 32;
}

void map_fini(struct map *m)
{
	free(m->slots);
	*m = (struct map){ 0 };
}

/* The slot of `key`, or the free one where it belongs. */
static struct map_slot *find(const struct map *m, uint64_t key)
{
	size_t i = (size_t)mix(key) & (m->cap - 1);

	while (m->slots[i].value != MAP_NONE && m->slots[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

uint32_t map_get(const struct map *m, uint64_t key)
{
	return m->cap ? find(m, key)->value : MAP_NONE;
}

static void grow(struct map *m)
{
	struct map old = *m;

	m->cap = old.cap ? 2 * old.cap : 16;
	m->slots = hd_alloc(m->cap, sizeof(*m->slots));
	for (size_t i = 0; i < m->cap; i++)
		m->slots[i].value = MAP_NONE;
	for (size_t i = 0; i < old.cap; i++) {
		if (old.slots[i].value != MAP_NONE)
			*find(m, old.slots[i].key) = old.slots[i];
	}
	free(old.slots);
}

uint32_t map_put(struct map *m, uint64_t key, uint32_t value)
{
	assert(value != MAP_NONE);
	if (2 * (m->n + 1) > m->cap)
		grow(m);
	struct map_slot *slot = find(m, key);
	uint32_t had = slot->value;

	if (had != MAP_NONE)
		return had;
	*slot = (struct map_slot){ .key = key, .value = value };
	m->n++;
	return MAP_NONE;
}

static uint32_t hash_text(const char *key, size_t len)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)key[i]) * UINT64_C(0x100000001b3);
	return (uint32_t)mix(hash);
}

void text_map_fini(struct text_map *m)
{
	free(m->slots);
	*m = (struct text_map){ 0 };
}

static struct text_map_slot *
find_text(const struct text_map *m, const char *key, size_t len, uint32_t hash)
{
	size_t i = hash & (m->cap - 1);

	for (;; i = (i + 1) & (m->cap - 1)) {
		struct text_map_slot *slot = &m->slots[i];

		if (slot->value == MAP_NONE ||
		    (slot->hash == hash && slot->len == len &&
		     memcmp(slot->key, key, len) == 0))
			return slot;
	}
}

uint32_t text_map_get(const struct text_map *m, const char *key, size_t len)
{
	if (!m->cap)
		return MAP_NONE;
	return find_text(m, key, len, hash_text(key, len))->value;
}

static void grow_text(struct text_map *m)
{
	struct text_map old = *m;

	m->cap = old.cap ? 2 * old.cap : 16;
	m->slots = hd_alloc(m->cap, sizeof(*m->slots));
	for (size_t i = 0; i < m->cap; i++)
		m->slots[i].value = MAP_NONE;
	for (size_t i = 0; i < old.cap; i++) {
		const struct text_map_slot *s = &old.slots[i];

		if (s->value != MAP_NONE)
			*find_text(m, s->key, s->len, s->hash) = *s;
	}
	free(old.slots);
}

uint32_t text_map_put(struct text_map *m, const char *key, size_t len,
		      uint32_t value)
{
	assert(value != MAP_NONE);
	if (2 * (m->n + 1) > m->cap)
		grow_text(m);
	uint32_t hash = hash_text(key, len);
	struct text_map_slot *slot = find_text(m, key, len, hash);
	uint32_t had = slot->value;

	if (had != MAP_NONE)
		return had;
	*slot = (struct text_map_slot){
		.key = key, .len = len, .hash = hash, .value = value
	};
	m->n++;
	return MAP_NONE;
}
