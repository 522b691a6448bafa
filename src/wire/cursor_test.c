/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "wire/cursor.h"

static void reads_big_endian_and_stops_for_good(void **state)
{
	(void)state;
	const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7 };
	struct byte_reader r;

	reader_init(&r, bytes, sizeof(bytes));
	assert_int_equal(read_u8(&r), 0x01);
	assert_int_equal(read_be16(&r), 0x0203);
	assert_int_equal(read_be24(&r), 0x040506);
	assert_int_equal(reader_left(&r), 1);
	assert_int_equal(read_be32(&r), 0);
	assert_true(r.failed);
	/* The remaining byte is not returned after a failure. */
	assert_int_equal(read_u8(&r), 0);
	assert_true(r.failed);
}

static void writes_what_it_reads_and_never_past_the_end(void **state)
{
	(void)state;
	uint8_t bytes[20];
	struct byte_writer w;
	struct byte_reader r;

	memset(bytes, 0xEE, sizeof(bytes));
	writer_init(&w, bytes, 18);
	write_u8(&w, 0x12);
	write_be16(&w, 0x3456);
	write_be24(&w, 0x789ABC);
	write_be32(&w, 0xDEF01234);
	write_be64(&w, UINT64_C(0x56789ABCDEF01234));
	assert_false(w.failed);
	assert_int_equal(writer_left(&w), 0);
	write_u8(&w, 1);
	assert_true(w.failed);
	assert_int_equal(bytes[18], 0xEE);

	reader_init(&r, bytes, 18);
	assert_int_equal(read_u8(&r), 0x12);
	assert_int_equal(read_be16(&r), 0x3456);
	assert_int_equal(read_be24(&r), 0x789ABC);
	assert_int_equal(read_be32(&r), 0xDEF01234);
	assert_true(read_be64(&r) == UINT64_C(0x56789ABCDEF01234));
	assert_false(r.failed);
}

static void copies_zeros_when_there_is_nothing(void **state)
{
	(void)state;
	uint8_t out[4] = { 9, 9, 9, 9 };
	struct byte_reader r;

	reader_init(&r, out, 0);
	read_copy(&r, out, 4);
	assert_true(r.failed);
	assert_int_equal(out[0] | out[1] | out[2] | out[3], 0);
}

/* Reference: one bit at a time. */
static uint64_t bits_by_hand(const uint8_t *bytes, size_t offset, unsigned width)
{
	uint64_t v = 0;

	for (size_t i = offset; i < offset + width; i++)
		v = v << 1 | (bytes[i / 8] >> (7 - i % 8) & 1);
	return v;
}

static void fields_may_start_and_end_anywhere(void **state)
{
	(void)state;
	struct rng rng;

	rng_init(&rng, 1, 1);
	for (size_t offset = 0; offset < 24; offset++) {
		for (unsigned width = 1; width <= 64; width++) {
			uint8_t bytes[12], before[12];
			uint64_t mask = UINT64_MAX >> (64 - width);
			uint64_t value = rng_next(&rng);

			for (size_t i = 0; i < sizeof(bytes); i++)
				bytes[i] = (uint8_t)rng_next(&rng);
			memcpy(before, bytes, sizeof(bytes));
			assert_true(bits_get(bytes, offset, width) ==
				    bits_by_hand(bytes, offset, width));
			bits_put(bytes, offset, width, value);
			assert_true(bits_by_hand(bytes, offset, width) == (value & mask));
			/* Writing the old value restores every bit. */
			bits_put(bytes, offset, width, bits_by_hand(before, offset, width));
			assert_memory_equal(bytes, before, sizeof(bytes));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_big_endian_and_stops_for_good),
		cmocka_unit_test(writes_what_it_reads_and_never_past_the_end),
		cmocka_unit_test(copies_zeros_when_there_is_nothing),
		cmocka_unit_test(fields_may_start_and_end_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
