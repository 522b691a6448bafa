/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/rng.h"
#include "wire/crc.h"

/* Both CRCs by definition, one bit at a time. */
static uint32_t crc32_by_bits(const uint8_t *p, size_t size)
{
	uint32_t crc = 0xFFFFFFFF;

	for (size_t i = 0; i < size; i++) {
		crc ^= p[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
	}
	return crc ^ 0xFFFFFFFF;
}

/*
 * With the polynomial as printed in the standard, most significant bit first; on the wire the
 * least significant bit of each byte is first.
 */
static uint16_t crc16_by_bits(const uint8_t *p, size_t size)
{
	uint16_t crc = 0xFFFF, swapped = 0;

	for (size_t i = 0; i < 8 * size; i++) {
		unsigned in = p[i / 8] >> i % 8 & 1;
		unsigned out = crc >> 15 & 1;

		crc = (uint16_t)(crc << 1);
		if (in ^ out)
			crc ^= 0x100B;
	}
	for (int bit = 0; bit < 16; bit++)
		swapped |= (uint16_t)((crc >> bit & 1) << (15 - bit));
	return swapped ^ 0xFFFF;
}

static void crc32_is_that_of_ethernet(void **state)
{
	(void)state;
	const uint8_t ones[8] = { 255, 255, 255, 255, 255, 255, 255, 255 };

	/* Check value of CRC catalogues. */
	assert_int_equal(crc32_add(0, "123456789", 9), 0xCBF43926);
	/* Eight bytes of ones, which replace the LRH in RoCE's ICRC. */
	assert_int_equal(~crc32_add(0, ones, 8), 0xDEBB20E3);
}

static void both_agree_with_their_definition_at_any_length(void **state)
{
	(void)state;
	uint8_t bytes[300];
	struct rng rng;

	rng_init(&rng, 2, 1);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)rng_next(&rng);
	for (size_t size = 0; size <= 280; size++) {
		const uint8_t *p = bytes + size % 17;

		assert_int_equal(crc32_add(0, p, size), crc32_by_bits(p, size));
		assert_int_equal(crc16(p, size), crc16_by_bits(p, size));
	}
}

static void crc32_continues_where_it_stopped(void **state)
{
	(void)state;
	const char *text = "a packet that comes in two pieces";
	size_t size = strlen(text);

	for (size_t cut = 0; cut <= size; cut++)
		assert_int_equal(crc32_add(crc32_add(0, text, cut), text + cut, size - cut),
				 crc32_add(0, text, size));
}

static void a_packet_with_its_vcrc_leaves_the_fixed_remainder(void **state)
{
	(void)state;
	uint8_t bytes[64];
	struct rng rng;

	rng_init(&rng, 3, 1);
	for (size_t size = 1; size <= 62; size++) {
		for (size_t i = 0; i < size; i++)
			bytes[i] = (uint8_t)rng_next(&rng);
		uint16_t crc = crc16(bytes, size);

		bytes[size] = (uint8_t)crc;
		bytes[size + 1] = (uint8_t)(crc >> 8);
		assert_int_equal(crc16(bytes, size + 2) ^ 0xFFFF, 0x556F);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crc32_is_that_of_ethernet),
		cmocka_unit_test(both_agree_with_their_definition_at_any_length),
		cmocka_unit_test(crc32_continues_where_it_stopped),
		cmocka_unit_test(a_packet_with_its_vcrc_leaves_the_fixed_remainder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
