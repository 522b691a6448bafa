/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_MAP_H
#define HD_BASE_MAP_H

/*
 * Hash maps from keys to 32-bit numbers with constant-time access: `map` for
 * 64-bit keys (GUIDs), `text_map` for strings, which it borrows. An all-zero
 * struct is an empty map.
 *
 * A map cannot be iterated, so that no result can depend on its internal order.
 * Strings come from files; they are hashed with a random key per process, so
 * that no file can be constructed whose strings all collide.
 */

#include <stddef.h>
#include <stdint.h>

#define MAP_NONE UINT32_MAX /* "no such key"; never a value */

struct map {
	struct map_slot {
		uint64_t key;
		uint32_t value;
	} * slots;
	size_t n, cap; /* cap is 0 or a power of 2 */
};

void map_fini(struct map *m);
uint32_t map_get(const struct map *m, uint64_t key);
/* Adds the key unless it exists; returns its previous value, or MAP_NONE. */
uint32_t map_put(struct map *m, uint64_t key, uint32_t value);

/* The hash of a text in this process. */
uint32_t text_hash(const char *text, size_t len);
/* SipHash-1-3; text_hash returns a part of it. */
uint64_t text_sip(const uint64_t key[2], const char *text, size_t len);

struct text_map {
	struct text_map_slot {
		const char *key;
		size_t len;
		uint32_t hash;
		uint32_t value;
	} * slots;
	size_t n, cap;
};

void text_map_fini(struct text_map *m);
uint32_t text_map_get(const struct text_map *m, const char *key, size_t len);
uint32_t text_map_put(struct text_map *m, const char *key, size_t len, uint32_t value);

#endif
