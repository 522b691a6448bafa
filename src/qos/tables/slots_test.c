/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/tables/slots.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct hd_rate rate(const char *text)
{
	struct hd_rate r;

	assert_int_equal(hd_rate_parse(text, NULL, &r), HD_OK);
	return r;
}

/* Paper 000, Table 1, at the signalling rates that it takes for data rates. */
static void frames_take_the_published_time(void **state)
{
	(void)state;
	assert_int_equal(slots_frame_time(rate("2.5Gb/s")), 3342336 * HD_NS);
	assert_int_equal(slots_frame_time(rate("10Gb/s")), 835584 * HD_NS);
	assert_int_equal(slots_frame_time(rate("30Gb/s")), 278528 * HD_NS);
}

static void slots_are_rounded_up_exactly(void **state)
{
	(void)state;
	static const struct {
		const char *need;
		uint64_t at_1x, at_4x, at_12x;
	} cases[] = {
		{ "8kb/s", 1, 1, 1 },       { "64kb/s", 1, 1, 1 },         { "1.55Mb/s", 11, 3, 1 },
		{ "64Mb/s", 418, 105, 35 }, { "300Mb/s", 1959, 490, 164 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct hd_rate need = rate(cases[i].need);

		assert_int_equal(slots_for(need, rate("2.5Gb/s")), cases[i].at_1x);
		assert_int_equal(slots_for(need, rate("10Gb/s")), cases[i].at_4x);
		assert_int_equal(slots_for(need, rate("30Gb/s")), cases[i].at_12x);
	}
	/* A whole link is a whole frame; one bit more needs one slot more. */
	assert_int_equal(slots_for(rate("10Gb/s"), rate("10Gb/s")), 16320);
	assert_int_equal(slots_for(rate("10000000001b/s"), rate("10Gb/s")), 16321);
	assert_int_equal(slots_for(rate("4x FDR"), rate("4x FDR")), 16320);
}

static void a_fifth_of_the_frame_is_3264_slots(void **state)
{
	(void)state;
	assert_int_equal(slots_of_share((struct hd_ratio){ 1, 5 }), 3264);
	assert_int_equal(slots_of_share((struct hd_ratio){ 1, 1 }), 16320);
	assert_int_equal(slots_of_share((struct hd_ratio){ 1, 16321 }), 1);
}

static void one_slot_is_worth_the_published_rate(void **state)
{
	(void)state;
	double one = hd_rate_bps(slots_rate(1, rate("2.5Gb/s")));

	assert_true(one > 153186.27 && one < 153186.28);
	assert_int_equal(slots_rate(16320, rate("30Gb/s")).num, 30000000000u);
}

static void overhead_scales_the_rate(void **state)
{
	(void)state;
	struct hd_rate on_wire = slots_with_overhead(rate("64Mb/s"), 256, 8);

	assert_int_equal(on_wire.num, 66000000);
	assert_int_equal(on_wire.den, 1);
}

/*
 * A packet of p + 26 bytes is charged as ceil((p + 26) / 64) blocks: the rate
 * in bits per second, computed here in floating point from the packets per
 * second, is what both functions give, rounded up.
 */
static void packets_are_charged_in_whole_blocks(void **state)
{
	static const uint32_t payloads[] = { 1, 38, 39, 64, 103, 256, 512, 2048, 4000, 4096 };
	const struct hd_ratio margins[] = { { 0, 1 }, { 1, 20 }, { 1, 3 } };
	const uint64_t bps = 200000000;

	(void)state;
	for (unsigned i = 0; i < 30; i++) {
		uint32_t p = payloads[i % 10];
		struct hd_ratio m = margins[i / 10];
		uint32_t blocks = (p + 26) / 64 + ((p + 26) % 64 != 0);
		double want = (double)bps / (8.0 * p) * blocks * 512.0 *
			      (1 + (double)m.num / (double)m.den);
		double got = hd_rate_bps(slots_charged_payload(hd_rate_make(bps, 1), p, 26, m));
		double gap = hd_rate_bps(slots_charged_rate(blocks, p * UINT64_C(8) * 5000, 1, m));

		assert_true(got >= want - 1 && got <= want * (1 + 1e-9) + 2);
		assert_true(gap >= want - 1 && gap <= want * (1 + 1e-9) + 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_take_the_published_time),
		cmocka_unit_test(slots_are_rounded_up_exactly),
		cmocka_unit_test(a_fifth_of_the_frame_is_3264_slots),
		cmocka_unit_test(one_slot_is_worth_the_published_rate),
		cmocka_unit_test(overhead_scales_the_rate),
		cmocka_unit_test(packets_are_charged_in_whole_blocks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
