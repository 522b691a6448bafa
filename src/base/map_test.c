/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

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

static void texts_are_told_apart_by_length_and_bytes(void **state)
{
	enum { N = 5000 };
	static char keys[N][16];
	static const char bytes[] = "ab\0c";
	struct text_map m = { 0 };

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		size_t len =
			(size_t)snprintf(keys[i], sizeof(keys[i]), "h%u", i);

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_map_has_nothing),
		cmocka_unit_test(what_is_put_is_found_and_first_stays),
		cmocka_unit_test(texts_are_told_apart_by_length_and_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
