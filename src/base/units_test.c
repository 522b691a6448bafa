/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "base/units.h"

__extension__ typedef unsigned __int128 u128;

static unsigned rounds(void)
{
	return run_is_long() ? 5000000 : 20000;
}

/* A number of every magnitude. */
static uint64_t any(struct rng *r)
{
	return rng_next(r) >> rng_below(r, 64);
}

static void rates_are_read_as_exact_ratios(void **state)
{
	static const struct {
		const char *text;
		uint64_t num, den;
	} rows[] = {
		{ "2.5Gb/s", 2500000000, 1 },
		{ "2.5 Gb/s", 2500000000, 1 },
		{ "300MB/s", 2400000000, 1 },
		{ "64Kb/s", 64000, 1 },
		{ "0.5b/s", 1, 2 },
		{ "0.001kB/s", 8, 1 },
		{ "1Tb/s", 1000000000000, 1 },
		{ "4x SDR", 8000000000, 1 },
		{ "4xSDR", 8000000000, 1 },
		{ "1X EDR", 25000000000, 1 },
		{ "4x FDR", 600000000000, 11 },
		{ "12x XDR", 2400000000000, 1 },
		{ "18446744073709551615b/s", UINT64_MAX, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct hd_rate rate;

		assert_int_equal(hd_rate_parse(rows[i].text, NULL, &rate), HD_OK);
		assert_true(rate.num == rows[i].num && rate.den == rows[i].den);
	}
}

static void times_and_sizes_are_read_as_whole_numbers(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
	} times[] = {
		{ "20ns", 20000 },
		{ "1.5us", 1500000 },
		{ "3 ms", 3000000000 },
		{ "0.000000000001s", 1 },
		{ "2s", 2000000000000 },
		{ "0ps", 0 },
		{ "18446744.073709551615s", UINT64_MAX },
	}, sizes[] = {
		{ "256", 256 },
		{ "256B", 256 },
		{ "4KiB", 4096 },
		{ "0.5KiB", 512 },
		{ "1MB", 1000000 },
		{ "1.5GiB", 1610612736 },
		{ "15TiB", UINT64_C(15) << 40 },
	};
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		assert_int_equal(hd_time_parse(times[i].text, NULL, &value), HD_OK);
		assert_true(value == times[i].value);
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal(hd_size_parse(sizes[i].text, NULL, &value), HD_OK);
		assert_true(value == sizes[i].value);
	}
}

static void shares_numbers_and_ranges_are_read(void **state)
{
	struct hd_ratio ratio;
	struct hd_range range;
	uint64_t number;
	double real;

	(void)state;
	assert_int_equal(hd_ratio_parse("20%", NULL, &ratio), HD_OK);
	assert_true(ratio.num == 1 && ratio.den == 5);
	assert_int_equal(hd_ratio_parse("0.2", NULL, &ratio), HD_OK);
	assert_true(ratio.num == 1 && ratio.den == 5);
	assert_int_equal(hd_ratio_parse("150 %", NULL, &ratio), HD_OK);
	assert_true(ratio.num == 3 && ratio.den == 2);
	assert_int_equal(hd_ratio_parse("0", NULL, &ratio), HD_OK);
	assert_true(ratio.num == 0 && ratio.den == 1);
	assert_int_equal(hd_range_parse("2..11", NULL, &range), HD_OK);
	assert_true(range.low == 2 && range.high == 11);
	assert_int_equal(hd_range_parse("5", NULL, &range), HD_OK);
	assert_true(range.low == 5 && range.high == 5);
	assert_int_equal(hd_uint_parse("0xFf", NULL, &number), HD_OK);
	assert_true(number == 255);
	assert_int_equal(hd_double_parse("-2.5e-3", NULL, &real), HD_OK);
	assert_true(real == -0.0025);
}

/* Which parser refuses a text, with what status. */
enum parser { RATE, TIME, SIZE, RATIO, UINT, REAL, RANGE };

static enum hd_status parse(enum parser p, const char *text, struct diag *d)
{
	struct hd_rate rate;
	struct hd_ratio ratio;
	struct hd_range range;
	uint64_t whole;
	double real;

	switch (p) {
	case RATE:
		return hd_rate_parse(text, d, &rate);
	case TIME:
		return hd_time_parse(text, d, &whole);
	case SIZE:
		return hd_size_parse(text, d, &whole);
	case RATIO:
		return hd_ratio_parse(text, d, &ratio);
	case UINT:
		return hd_uint_parse(text, d, &whole);
	case REAL:
		return hd_double_parse(text, d, &real);
	case RANGE:
		return hd_range_parse(text, d, &range);
	}
	return HD_OK;
}

static void nonsense_is_refused_with_what_was_expected(void **state)
{
	static const struct {
		enum parser parser;
		const char *text, *expected;
	} rows[] = {
		{ RATE, "", "2.5Gb/s" },
		{ RATE, "fast", "2.5Gb/s" },
		{ RATE, "2.5", "2.5Gb/s" },
		{ RATE, "-1Gb/s", "2.5Gb/s" },
		{ RATE, "2.5Gbps", "2.5Gb/s" },
		{ RATE, "3x SDR", "4x HDR" },
		{ RATE, "4x FAST", "4x HDR" },
		{ RATE, "4.5x SDR", "4x HDR" },
		{ RATE, "1..2Gb/s", "2.5Gb/s" },
		{ TIME, "20", "20ns" },
		{ TIME, "ns", "20ns" },
		{ TIME, "20 nss", "20ns" },
		{ TIME, "1e3ns", "20ns" },
		{ SIZE, "4kib", "4KiB" },
		{ SIZE, "4 4", "4KiB" },
		{ RATIO, "20%%", "20%" },
		{ RATIO, "a fifth", "20%" },
		{ UINT, "", "64" },
		{ UINT, "0x", "64" },
		{ UINT, "12a", "64" },
		{ UINT, "-3", "64" },
		{ REAL, "nan", "a number" },
		{ REAL, "-inf", "a number" },
		{ REAL, "0x10", "a number" },
		{ REAL, "1.5.2", "a number" },
		{ RANGE, "11..2", "2..11" },
		{ RANGE, "..", "2..11" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct diag d = { .status = HD_OK };

		if (parse(rows[i].parser, rows[i].text, &d) != HD_ERR_INPUT)
			fail_msg("'%s' was not refused", rows[i].text);
		assert_int_equal(d.status, HD_ERR_INPUT);
		if (!strstr(d.message, rows[i].expected))
			fail_msg("'%s' does not say %s", d.message, rows[i].expected);
	}
}

static void what_does_not_fit_is_refused_and_never_rounded(void **state)
{
	static const struct {
		enum parser parser;
		const char *text;
	} rows[] = {
		{ RATE, "0b/s" },
		{ RATE, "18446744073709551616b/s" },
		{ RATE, "18446744073709551615kb/s" },
		{ RATE, "99999999999999999999999999Gb/s" },
		{ RATE, "0.00000000000000000001b/s" },
		{ TIME, "0.5ps" },
		{ TIME, "0.0001ns" },
		{ TIME, "18446744.073709551616s" },
		{ TIME, "20000000s" },
		{ SIZE, "0.5" },
		{ SIZE, "0.3KiB" },
		{ SIZE, "18446744073709551616" },
		{ SIZE, "17000000TiB" },
		{ RATIO, "0.00000000000000000001" },
		{ UINT, "18446744073709551616" },
		{ UINT, "0x10000000000000000" },
		{ REAL, "1e999" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct diag d = { .status = HD_OK };

		if (parse(rows[i].parser, rows[i].text, &d) != HD_ERR_RANGE)
			fail_msg("'%s' was not refused", rows[i].text);
		assert_true(d.message[0]);
	}
}

static void quantities_print_in_the_units_people_use(void **state)
{
	struct strbuf s = STRBUF_INIT;

	(void)state;
	hd_rate_print((struct hd_rate){ 2500000000, 1 }, &s);
	strbuf_putc(&s, ' ');
	hd_rate_print(hd_rate_of_link(4, SPEED_FDR), &s);
	strbuf_putc(&s, ' ');
	hd_rate_print((struct hd_rate){ 1, 8 }, &s);
	strbuf_putc(&s, ' ');
	hd_rate_print((struct hd_rate){ 1000, 3 }, &s);
	strbuf_putc(&s, ' ');
	hd_time_print(0, &s);
	strbuf_putc(&s, ' ');
	hd_time_print(1500, &s);
	strbuf_putc(&s, ' ');
	hd_time_print(1234567, &s);
	strbuf_putc(&s, ' ');
	hd_time_print(HD_S, &s);
	strbuf_putc(&s, ' ');
	hd_size_print(4096, &s);
	strbuf_putc(&s, ' ');
	hd_size_print(1000, &s);
	strbuf_putc(&s, ' ');
	hd_ratio_print((struct hd_ratio){ 1, 5 }, &s);
	strbuf_putc(&s, ' ');
	hd_ratio_print((struct hd_ratio){ 1, 8 }, &s);
	assert_string_equal(
		s.text,
		"2.5Gb/s 4x FDR 0.125b/s 333.3333333333333b/s 0ps 1.5ns 1234.567ns 1s 4KiB 1000B 20% 12.5%");
	strbuf_fini(&s);
}

static void printed_times_and_sizes_read_back(void **state)
{
	struct strbuf s = STRBUF_INIT;
	struct rng r;

	(void)state;
	rng_init(&r, 1, 1);
	for (unsigned i = 0; i < rounds(); i++) {
		uint64_t value = any(&r), again = ~value;

		/* Round numbers print in larger units. */
		if (i % 2)
			value -= value % 1000000;
		hd_time_print(value, &s);
		assert_int_equal(hd_time_parse(s.text, NULL, &again), HD_OK);
		assert_true(again == value);
		strbuf_clear(&s);
		again = ~value;
		hd_size_print(value, &s);
		assert_int_equal(hd_size_parse(s.text, NULL, &again), HD_OK);
		assert_true(again == value);
		strbuf_clear(&s);
	}
	strbuf_fini(&s);
}

/* Decimals that a user can write: up to 19 digits, any number of places. */
static void printed_rates_and_shares_read_back(void **state)
{
	struct strbuf s = STRBUF_INIT;
	struct rng r;

	(void)state;
	rng_init(&r, 1, 2);
	for (unsigned i = 0; i < rounds(); i++) {
		uint64_t den = 1, places = rng_below(&r, 20);

		while (places--)
			den *= 10;
		struct hd_rate rate = hd_rate_make(any(&r) | 1, den), again;
		struct hd_ratio share = { rate.num, rate.den }, back;

		hd_rate_print(rate, &s);
		assert_int_equal(hd_rate_parse(s.text, NULL, &again), HD_OK);
		assert_true(again.num == rate.num && again.den == rate.den);
		strbuf_clear(&s);
		/* A share has two digits more as a percentage. */
		if (share.num < UINT64_MAX / 100 && share.den <= UINT64_MAX / 100) {
			hd_ratio_print(share, &s);
			assert_int_equal(hd_ratio_parse(s.text, NULL, &back), HD_OK);
			assert_true(back.num == share.num && back.den == share.den);
		}
		strbuf_clear(&s);
	}
	strbuf_fini(&s);
}

static void links_have_the_rates_of_the_standard(void **state)
{
	/* Picoseconds a byte at 4x; FDR: 75 bytes take 11 ns. */
	static const struct {
		enum link_speed speed;
		hd_time per_75_bytes;
	} rows[] = {
		{ SPEED_SDR, 75000 },   { SPEED_DDR, 37500 }, { SPEED_QDR, 18750 },
		{ SPEED_FDR10, 15000 }, { SPEED_FDR, 11000 }, { SPEED_EDR, 6000 },
		{ SPEED_HDR, 3000 },    { SPEED_NDR, 1500 },  { SPEED_XDR, 750 },
	};

	(void)state;
	assert_int_equal(sizeof(rows) / sizeof(rows[0]), SPEED_COUNT);
	for (size_t i = 0; i < SPEED_COUNT; i++) {
		struct hd_rate rate = hd_rate_of_link(4, rows[i].speed);
		enum link_speed again;

		assert_int_equal(hd_rate_duration(rate, 75), rows[i].per_75_bytes);
		assert_int_equal(link_speed_parse(hd_link_speed_name(rows[i].speed), &again),
				 HD_OK);
		assert_int_equal(again, rows[i].speed);
	}
	/* 608 bits at 600/11 Gb/s: 11146.67 ps, rounded up once. */
	assert_int_equal(hd_rate_duration(hd_rate_of_link(4, SPEED_FDR), 76), 11147);
}

static void durations_are_the_exact_quotient_rounded_up(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, 1, 3);
	for (unsigned i = 0; i < rounds(); i++) {
		struct hd_rate rate = hd_rate_make(any(&r) | 1, 1 + rng_below(&r, 1000));
		uint64_t bytes = any(&r) >> 16;
		u128 work = (u128)bytes * rate.den * UINT64_C(8000000000000);
		u128 expected = work / rate.num + (work % rate.num != 0);

		if (expected >= HD_TIME_NEVER)
			expected = HD_TIME_NEVER;
		assert_true(hd_rate_duration(rate, bytes) == expected);
	}
}

static void durations_too_long_are_never(void **state)
{
	struct hd_rate slow = { 1, UINT64_MAX }, slowest = { 1, 1 };

	(void)state;
	assert_true(hd_rate_duration(slow, 1) == HD_TIME_NEVER);
	assert_true(hd_rate_duration(slow, UINT64_MAX) == HD_TIME_NEVER);
	assert_true(hd_rate_duration(slowest, UINT64_MAX) == HD_TIME_NEVER);
	assert_true(hd_rate_duration(slow, 0) == 0);
	/* Uses all 64 bits and is still exact: 8e12 * den / den. */
	struct hd_rate near_one = { UINT64_MAX - 1, UINT64_MAX };

	assert_true(hd_rate_duration(near_one, 1) == UINT64_C(8000000000000) + 1);
}

static void rates_compare_without_rounding(void **state)
{
	struct hd_rate a = { UINT64_MAX, UINT64_MAX - 1 };
	struct hd_rate b = { UINT64_MAX - 1, UINT64_MAX - 2 };

	(void)state;
	assert_true(hd_rate_compare(a, b) < 0);
	assert_true(hd_rate_compare(b, a) > 0);
	assert_true(hd_rate_compare(a, a) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_are_read_as_exact_ratios),
		cmocka_unit_test(times_and_sizes_are_read_as_whole_numbers),
		cmocka_unit_test(shares_numbers_and_ranges_are_read),
		cmocka_unit_test(nonsense_is_refused_with_what_was_expected),
		cmocka_unit_test(what_does_not_fit_is_refused_and_never_rounded),
		cmocka_unit_test(quantities_print_in_the_units_people_use),
		cmocka_unit_test(printed_times_and_sizes_read_back),
		cmocka_unit_test(printed_rates_and_shares_read_back),
		cmocka_unit_test(links_have_the_rates_of_the_standard),
		cmocka_unit_test(durations_are_the_exact_quotient_rounded_up),
		cmocka_unit_test(durations_too_long_are_never),
		cmocka_unit_test(rates_compare_without_rounding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
