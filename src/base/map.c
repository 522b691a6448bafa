/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/map.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

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

/* ---- texts -------------------------------------------------------------- */

/* SipHash-1-3 (Aumasson, Bernstein) under a key of this process. */
struct sip {
	uint64_t v0, v1, v2, v3;
};

static uint64_t secret[2];
static pthread_once_t secret_drawn = PTHREAD_ONCE_INIT;

/* Without a source of randomness the key stays 0. */
static void secret_draw(void)
{
	ssize_t got = getrandom(secret, sizeof(secret), GRND_NONBLOCK);

	(void)got;
}

static uint64_t rotate(uint64_t x, unsigned by)
{
	return x << by | x >> (64 - by);
}

static void sip_round(struct sip *s)
{
	s->v0 += s->v1;
	s->v1 = rotate(s->v1, 13) ^ s->v0;
	s->v0 = rotate(s->v0, 32);
	s->v2 += s->v3;
	s->v3 = rotate(s->v3, 16) ^ s->v2;
	s->v0 += s->v3;
	s->v3 = rotate(s->v3, 21) ^ s->v0;
	s->v2 += s->v1;
	s->v1 = rotate(s->v1, 17) ^ s->v2;
	s->v2 = rotate(s->v2, 32);
}

static void sip_word(struct sip *s, uint64_t word)
{
	s->v3 ^= word;
	sip_round(s);
	s->v0 ^= word;
}

uint64_t text_sip(const uint64_t key[2], const char *text, size_t len)
{
	struct sip s = { key[0] ^ UINT64_C(0x736f6d6570736575),
			 key[1] ^ UINT64_C(0x646f72616e646f6d),
			 key[0] ^ UINT64_C(0x6c7967656e657261),
			 key[1] ^ UINT64_C(0x7465646279746573) };
	uint64_t last = (uint64_t)len << 56;
	size_t at = 0;

	for (; at + 8 <= len; at += 8) {
		uint64_t word = 0;

		for (unsigned i = 0; i < 8; i++)
			word |= (uint64_t)(unsigned char)text[at + i] << 8 * i;
		sip_word(&s, word);
	}
	for (unsigned i = 0; at + i < len; i++)
		last |= (uint64_t)(unsigned char)text[at + i] << 8 * i;
	sip_word(&s, last);
	s.v2 ^= 0xff;
	for (unsigned i = 0; i < 3; i++)
		sip_round(&s);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

uint32_t text_hash(const char *text, size_t len)
{
	pthread_once(&secret_drawn, secret_draw);
	return (uint32_t)text_sip(secret, text, len);
}

void text_map_fini(struct text_map *m)
{
	free(m->slots);
	*m = (struct text_map){ 0 };
}

static struct text_map_slot *find_text(const struct text_map *m, const char *key, size_t len,
				       uint32_t hash)
{
	size_t i = hash & (m->cap - 1);

	for (;; i = (i + 1) & (m->cap - 1)) {
		struct text_map_slot *slot = &m->slots[i];

		if (slot->value == MAP_NONE ||
		    (slot->hash == hash && slot->len == len && memcmp(slot->key, key, len) == 0))
			return slot;
	}
}

uint32_t text_map_get(const struct text_map *m, const char *key, size_t len)
{
	if (!m->cap)
		return MAP_NONE;
	return find_text(m, key, len, text_hash(key, len))->value;
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

uint32_t text_map_put(struct text_map *m, const char *key, size_t len, uint32_t value)
{
	assert(value != MAP_NONE);
	if (2 * (m->n + 1) > m->cap)
		grow_text(m);
	uint32_t hash = text_hash(key, len);
	struct text_map_slot *slot = find_text(m, key, len, hash);
	uint32_t had = slot->value;

	if (had != MAP_NONE)
		return had;
	*slot = (struct text_map_slot){ .key = key, .len = len, .hash = hash, .value = value };
	m->n++;
	return MAP_NONE;
}
