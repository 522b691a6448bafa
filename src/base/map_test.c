/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/rng.h"

static void an_empty_map_has_nothing(void **state)
{
	struct map m = { 0 };
	struct text_map t = { 0 };

	(void)state;
	assert_int_equal(map_get(&m, 0), MAP_NONE);
	assert_int_equal(text_map_get(&t, "", 0), MAP_NONE);
	map_fini(&m);
	text_map_fini(&t);
}

static void what_is_put_is_found_and_first_stays(void **state)
{
	enum { N = 20000 };
	struct map m = { 0 };
	struct rng rng;

	(void)state;
	/* Runs of near keys and scattered ones, both with their neighbours. */
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(map_put(&m, (uint64_t)i << 8, i), MAP_NONE);
	rng_init(&rng, 1, 1);
	for (uint32_t i = 0; i < N; i++)
		(void)map_put(&m, rng_next(&rng) | 1, N + i);
	for (uint32_t i = 0; i < N; i++) {
		assert_int_equal(map_get(&m, (uint64_t)i << 8), i);
		assert_int_equal(map_put(&m, (uint64_t)i << 8, 7), i);
		assert_int_equal(map_get(&m, ((uint64_t)i << 8) + 2), MAP_NONE);
	}
	rng_init(&rng, 1, 1);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(map_get(&m, rng_next(&rng) | 1), N + i);
	map_fini(&m);
}

static void texts_differ_by_length_and_bytes(void **state)
{
	enum { N = 5000 };
	static char keys[N][16];
	static const char bytes[] = "ab\0c";
	struct text_map m = { 0 };

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		size_t len = (size_t)snprintf(keys[i], sizeof(keys[i]), "h%u", i);

		assert_int_equal(text_map_put(&m, keys[i], len, i), MAP_NONE);
	}
	for (uint32_t i = 0; i < N; i++) {
		char key[16];
		size_t len = (size_t)snprintf(key, sizeof(key), "h%u", i);

		assert_int_equal(text_map_get(&m, key, len), i);
		assert_int_equal(text_map_put(&m, key, len, 1), i);
	}
	assert_int_equal(text_map_get(&m, "h5000", 5), MAP_NONE);
	assert_int_equal(text_map_put(&m, bytes, 2, 1), MAP_NONE);
	assert_int_equal(text_map_put(&m, bytes, 4, 2), MAP_NONE);
	assert_int_equal(text_map_get(&m, bytes, 2), 1);
	assert_int_equal(text_map_get(&m, bytes, 3), MAP_NONE);
	assert_int_equal(text_map_get(&m, bytes, 4), 2);
	text_map_fini(&m);
}

/* Values of another implementation: hash() of Python 3.11 with a key of 0. */
static void hashes_as_siphash_1_3_does(void **state)
{
	static const struct {
		const char *text;
		uint64_t hash;
	} rows[] = {
		{ "a", UINT64_C(0x407448d2b89b1813) },
		{ "abc", UINT64_C(0xc03bc3a0042630f2) },
		{ "l1", UINT64_C(0xb35c4719d0ff29eb) },
		{ "12345678", UINT64_C(0x3489982430560a87) },
		{ "abcdefgh1", UINT64_C(0xf24a4a3c065eef6c) },
		{ "the quick brown fox jumps over the lazy dog", UINT64_C(0x80a65583f613da2d) },
	};
	const uint64_t key[2] = { 0, 0 }, other[2] = { 1, 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		size_t len = strlen(rows[i].text);

		assert_true(text_sip(key, rows[i].text, len) == rows[i].hash);
		assert_true(text_sip(other, rows[i].text, len) != rows[i].hash);
	}
}

/* ---- texts that were chosen to collide ----------------------------------- */

#define BLOCKS  10 /* blocks of a text, two choices for each */
#define LETTERS 8  /* of a block */

static uint32_t fnv(uint32_t hash, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619u;
	return hash;
}

static void block_of(uint32_t number, char *out)
{
	for (unsigned i = 0; i < LETTERS; i++)
		out[i] = (char)('a' + (number >> 4 * i & 15));
}

/* Finds two blocks that lead from one state of FNV-1a to the same state. */
static uint32_t collide(uint32_t state, char pair[2][LETTERS])
{
	struct map seen = { 0 };

	for (uint32_t n = 0;; n++) {
		block_of(n, pair[1]);
		uint32_t next = fnv(state, pair[1], LETTERS);
		uint32_t had = map_put(&seen, next, n);

		if (had == MAP_NONE)
			continue;
		block_of(had, pair[0]);
		map_fini(&seen);
		return next;
	}
}

/* Draws 2^BLOCKS texts, all with the same FNV-1a hash. */
static void draw_hostile(char (*texts)[BLOCKS * LETTERS])
{
	char pairs[BLOCKS][2][LETTERS];
	uint32_t hash = 2166136261u;

	for (unsigned b = 0; b < BLOCKS; b++)
		hash = collide(hash, pairs[b]);
	for (uint32_t i = 0; i < 1u << BLOCKS; i++) {
		for (unsigned b = 0; b < BLOCKS; b++)
			memcpy(&texts[i][b * LETTERS], pairs[b][i >> b & 1], LETTERS);
		assert_int_equal(fnv(2166136261u, texts[i], sizeof(*texts)), hash);
	}
}

/* Number of slots examined while all texts are inserted at half load. */
static uint64_t count_looks(char (*texts)[BLOCKS * LETTERS])
{
	static bool used[2u << BLOCKS];
	const uint32_t mask = (2u << BLOCKS) - 1;
	uint64_t looks = 0;

	for (uint32_t i = 0; i < 1u << BLOCKS; i++) {
		uint32_t at = text_hash(texts[i], sizeof(*texts)) & mask;

		for (looks++; used[at]; looks++)
			at = (at + 1) & mask;
		used[at] = true;
	}
	return looks;
}

/* Labels of a hostile file cost as much as others: 1.5 looks each, by Knuth. */
static void chosen_texts_do_not_meet(void **state)
{
	char(*texts)[BLOCKS * LETTERS] = hd_alloc((size_t)1 << BLOCKS, sizeof(*texts));
	struct text_map m = { 0 };

	(void)state;
	draw_hostile(texts);
	assert_in_range(count_looks(texts), 1u << BLOCKS, 2u << BLOCKS);
	for (uint32_t i = 0; i < 1u << BLOCKS; i++)
		assert_int_equal(text_map_put(&m, texts[i], sizeof(*texts), i), MAP_NONE);
	for (uint32_t i = 0; i < 1u << BLOCKS; i++)
		assert_int_equal(text_map_get(&m, texts[i], sizeof(*texts)), i);
	text_map_fini(&m);
	free(texts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hashes_as_siphash_1_3_does),
		cmocka_unit_test(chosen_texts_do_not_meet),
		cmocka_unit_test(an_empty_map_has_nothing),
		cmocka_unit_test(what_is_put_is_found_and_first_stays),
		cmocka_unit_test(texts_differ_by_length_and_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
