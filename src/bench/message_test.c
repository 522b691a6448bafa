/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */

#include <math.h>
#include <string.h>

#include "bench/message.h"
#include "bench/ranks.h"

static const struct nic_address address = {
	.lid = 0x1234,
	.gid = { 0xfe, 0x80, [15] = 7 },
	.qpn = 0xabcdef,
	.psn = 0xfffff0,
	.addr = UINT64_C(0x0123456789abcdef),
	.rkey = 0x89abcdef,
};

/* Byte by byte, as the header lists them, independent of the machine. */
static void messages_are_in_network_order(void **state)
{
	static const uint8_t want[ADDRESS_SIZE] = {
		'H',  'b',  0,    1,    0x12, 0x34, 0xfe, 0x80, 0,    0,    0,    0,    0,    0,
		0,    0,    0,    0,    0,    0,    0,    7,    0xab, 0xcd, 0xef, 0xff, 0xff, 0xf0,
		0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x89, 0xab, 0xcd, 0xef,
	};
	static const uint8_t one[NUMBER_SIZE] = { 'H', 'b', 1, 1, 0, 0, 0, 0, 0, 0, 1, 2 };
	/* 1.5 is 0x3ff8000000000000. */
	static const uint8_t half[NUMBER_SIZE] = { 'H', 'b', 2, 1, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0 };
	static const uint8_t point[HEAD_SIZE] = { 'H', 'b', 3, 1, 0, 2, 16, 0, 0, 1, 4 };
	const struct point_head head = { HEAD_POINT, 2, 16, 260 };
	uint8_t bytes[MESSAGE_MOST];

	(void)state;
	bench_write_address(&address, bytes);
	assert_memory_equal(bytes, want, sizeof(want));
	bench_write_number(258, bytes);
	assert_memory_equal(bytes, one, sizeof(one));
	bench_write_real(1.5, bytes);
	assert_memory_equal(bytes, half, sizeof(half));
	bench_write_head(&head, bytes);
	assert_memory_equal(bytes, point, sizeof(point));
}

typedef enum hd_status read_fn(const uint8_t *bytes, size_t size, uint8_t *again);

/* Reads a `type` and writes what was read; NAME_write takes `value`. */
#define READER(name, type, value)                                                            \
	static enum hd_status read_##name(const uint8_t *bytes, size_t size, uint8_t *again) \
	{                                                                                    \
		struct diag d = { .status = HD_OK };                                         \
		type x;                                                                      \
                                                                                             \
		if (bench_read_##name(bytes, size, &d, &x) == HD_OK)                         \
			bench_write_##name(value, again);                                    \
		return d.status;                                                             \
	}
READER(address, struct nic_address, &x)
READER(number, uint64_t, x)
READER(real, double, x)
READER(head, struct point_head, &x)

static read_fn *const readers[] = { read_address, read_number, read_real, read_head };

/* Writes one message of each kind; returns its length. */
static size_t example(unsigned kind, uint8_t *out)
{
	const struct point_head head = { HEAD_POINT, 1, 2, 248 };

	switch (kind) {
	case 0:
		bench_write_address(&address, out);
		return ADDRESS_SIZE;
	case 1:
		bench_write_number(UINT64_MAX, out);
		return NUMBER_SIZE;
	case 2:
		bench_write_real(12345.75, out);
		return NUMBER_SIZE;
	default:
		bench_write_head(&head, out);
		return HEAD_SIZE;
	}
}

/* Every bit either changes the decoded message or makes it invalid. */
static void every_bit_is_read_or_refused(void **state)
{
	uint8_t bytes[MESSAGE_MOST + 1] = { 0 }, again[MESSAGE_MOST];
	unsigned refused = 0;

	(void)state;
	for (unsigned kind = 0; kind < 4; kind++) {
		size_t size = example(kind, bytes);

		assert_int_equal(readers[kind](bytes, size, again), HD_OK);
		for (size_t i = 0; i < 8 * size; i++) {
			example(kind, bytes);
			bytes[i / 8] ^= (uint8_t)(1u << i % 8);
			if (readers[kind](bytes, size, again) == HD_OK)
				assert_memory_equal(bytes, again, size);
			else
				refused++;
			/* The prefix is always looked at. */
			assert_true(i >= 32 || refused > i);
		}
		refused = 0;
	}
}

static void another_kind_length_or_version_is_refused(void **state)
{
	uint8_t bytes[MESSAGE_MOST + 1] = { 0 }, again[MESSAGE_MOST];

	(void)state;
	for (unsigned kind = 0; kind < 4; kind++) {
		size_t size = example(kind, bytes);

		for (unsigned other = 0; other < 4; other++)
			assert_int_equal(readers[other](bytes, size, again),
					 other == kind ? HD_OK : HD_ERR_INPUT);
		for (size_t n = 0; n <= sizeof(bytes); n++)
			assert_int_equal(readers[kind](bytes, n, again),
					 n == size ? HD_OK : HD_ERR_INPUT);
		bytes[3]++;
		assert_int_equal(readers[kind](bytes, size, again), HD_ERR_INPUT);
	}
}

static void rejects_inconsistent_values(void **state)
{
	static const double none[] = { NAN, INFINITY, -1, -0.0 };
	static const struct point_head heads[] = {
		{ HEAD_POINT, 0, 2, 8 },   { HEAD_POINT, 2, 2, 8 }, { HEAD_POINT, 1, 17, 8 },
		{ HEAD_POINT, 1, 2, 0 },   { HEAD_END, 1, 0, 0 },   { HEAD_NOT_WANTED, 0, 0, 8 },
		{ HEAD_END + 1, 0, 0, 0 },
	};
	uint8_t bytes[MESSAGE_MOST], again[MESSAGE_MOST];

	(void)state;
	assert_int_equal(RANKS_MAX, 16);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		bench_write_real(none[i], bytes);
		assert_int_equal(read_real(bytes, NUMBER_SIZE, again), HD_ERR_INPUT);
	}
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		bench_write_head(&heads[i], bytes);
		assert_int_equal(read_head(bytes, HEAD_SIZE, again), HD_ERR_INPUT);
	}
	bench_write_head(&(struct point_head){ .what = HEAD_END }, bytes);
	assert_int_equal(read_head(bytes, HEAD_SIZE, again), HD_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_are_in_network_order),
		cmocka_unit_test(every_bit_is_read_or_refused),
		cmocka_unit_test(another_kind_length_or_version_is_refused),
		cmocka_unit_test(rejects_inconsistent_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
