/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/opensm/opensm_cc.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "study/tune.h"

static struct opensm_cc sample(void)
{
	struct opensm_cc c = { .enabled = true,
			       .victims = true,
			       .threshold = 9,
			       .packet_size = 4,
			       .marking_rate = 12,
			       .per_sl = true,
			       .sls = 0x8005,
			       .ccti_timer = 150,
			       .ccti_increase = 3,
			       .trigger = 100,
			       .ccti_min = 2 };

	tune_table(TUNE_GEOMETRIC, 300, &c);
	return c;
}

static void what_is_written_reads_back(void **state)
{
	(void)state;
	struct opensm_cc c = sample(), again;
	struct diag d = { .status = HD_OK };
	struct strbuf text = STRBUF_INIT;

	opensm_cc_write(&c, &text);
	if (opensm_cc_read(text.text, &d, &again) != HD_OK)
		fail_msg("%u: %s", d.line, d.message);
	assert_memory_equal(&again.cct, &c.cct, sizeof(c.cct));
	assert_int_equal(again.n_cct, 128);
	assert_true(again.enabled && again.victims && again.per_sl);
	assert_int_equal(again.threshold, 9);
	assert_int_equal(again.packet_size, 4);
	assert_int_equal(again.marking_rate, 12);
	assert_int_equal(again.sls, 0x8005);
	assert_int_equal(again.ccti_timer, 150);
	assert_int_equal(again.ccti_increase, 3);
	assert_int_equal(again.trigger, 100);
	assert_int_equal(again.ccti_min, 2);
	strbuf_fini(&text);
}

/* (packet_time >> shift) * multiplier, to a sixteenth of a packet at most. */
static void entries_are_short_and_near(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2698; i++) {
		double delay = 0.37 * i;
		uint16_t entry = opensm_cct_entry(delay);
		unsigned shift = entry >> 14, multiplier = entry & 0x3fff;
		double is = multiplier / (double)(1u << shift);
		char text[32];

		assert_true(fabs(is - delay) <= 1.0 / 16 + delay / 998);
		snprintf(text, sizeof(text), "%u:%u", shift, multiplier);
		assert_true(strlen(text) <= 5);
	}
}

static size_t longest_line(const char *text)
{
	size_t longest = 0;

	while (*text) {
		size_t len = strcspn(text, "\n");

		longest = len > longest ? len : longest;
		text += len + (text[len] == '\n');
	}
	return longest;
}

/* OpenSM reads 1023 bytes of a line and drops the rest without a word. */
static void no_line_is_cut(void **state)
{
	(void)state;
	for (unsigned i = 0; i < TUNE_SHAPES * 143u; i++) {
		struct opensm_cc c = sample();
		struct strbuf text = STRBUF_INIT;

		tune_table((enum tune_shape)(i % TUNE_SHAPES), 2 + 7 * (i / TUNE_SHAPES), &c);
		opensm_cc_write(&c, &text);
		assert_true(longest_line(text.text) <= 1023);
		strbuf_fini(&text);
	}
}

static void tables_end_at_one_sender_of_so_many(void **state)
{
	(void)state;
	for (enum tune_shape shape = 0; shape < TUNE_SHAPES; shape++) {
		struct opensm_cc c = { 0 };
		double before = -1;

		tune_table(shape, 256, &c);
		for (unsigned i = 0; i < c.n_cct; i++) {
			double delay = (c.cct[i] & 0x3fff) / (double)(1u << (c.cct[i] >> 14));

			assert_true(delay >= before);
			before = delay;
		}
		assert_int_equal(c.cct[0] & 0x3fff, 0);
		/* 255 packet times of silence after each packet. */
		assert_true(fabs(before - 255) < 0.3);
	}
}

/* The keys as 'opensm -c' (3.3.23) writes them, with its defaults. */
static const char defaults[] =
	"congestion_control FALSE\n"
	"cc_key 0x0000000000000000\n"
	"cc_max_outstanding_mads 500\n"
	"cc_sw_cong_setting_control_map 0x0\n"
	"cc_sw_cong_setting_victim_mask 0x0000000000000000000000000000000000000000000000000000000000000000\n"
	"cc_sw_cong_setting_threshold 0x00\n"
	"cc_sw_cong_setting_packet_size 0\n"
	"cc_sw_cong_setting_marking_rate 0\n"
	"cc_ca_cong_setting_port_control 0x0000\n"
	"cc_ca_cong_setting_control_map 0x0000\n"
	"# SL = 0\n"
	"cc_ca_cong_setting_ccti_timer 0 0\n"
	"cc_ca_cong_setting_ccti_increase 0 0\n"
	"cc_ca_cong_setting_trigger_threshold 0 0\n"
	"cc_ca_cong_setting_ccti_min 0 0\n"
	"cc_cct (null)\n";

static void defaults_mark_nothing(void **state)
{
	(void)state;
	struct opensm_cc c;
	struct diag d = { .status = HD_OK };
	struct mark_output output = { .waiting = 9, .blocks = 999 };
	struct mark_departure full = {
		.bytes = 2074, .fill = 999, .capacity = 999, .has_credits = true
	};

	assert_int_equal(opensm_cc_read(defaults, &d, &c), HD_OK);
	assert_false(c.enabled);
	assert_int_equal(c.n_cct, 0);
	const struct mark_config marking = opensm_cc_marking(&c);

	assert_false(marking_departs(&marking, &output, &full));
}

struct refusal {
	const char *text;
	unsigned line;
	const char *says;
};

static const struct refusal refusals[] = {
	{ "\ncc_sw_cong_setting_threshold 16\n", 2, "in range" },
	{ "cc_cct 0:0,4:1\n", 1, "shift 0 to 3" },
	{ "cc_cct 0:0,1\n", 1, "shift:multiplier" },
	{ "cc_ca_cong_setting_ccti_timer 7\n", 1, "an SL and a number" },
	{ "cc_ca_cong_setting_ccti_timer 16 7\n", 1, "an SL and a number" },
	{ "cc_ca_cong_setting_control_map 3\n"
	  "cc_ca_cong_setting_ccti_timer 0 7\n"
	  "cc_ca_cong_setting_ccti_timer 1 8\n",
	  3, "SL 1 differs" },
};

static void nonsense_is_refused_with_its_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		struct diag d = { .status = HD_OK };
		struct opensm_cc c = { .threshold = 77 };

		assert_int_not_equal(opensm_cc_read(refusals[i].text, &d, &c), HD_OK);
		assert_int_equal(d.line, refusals[i].line);
		assert_non_null(strstr(d.message, refusals[i].says));
		assert_int_equal(c.threshold, 77);
	}
}

static void a_line_that_would_be_cut_is_refused(void **state)
{
	(void)state;
	struct strbuf text = STRBUF_INIT;
	struct diag d = { .status = HD_OK };
	struct opensm_cc c;

	strbuf_puts(&text, "cc_cct 1:16383");
	for (unsigned i = 1; i < 128; i++)
		strbuf_puts(&text, ",1:16383");
	assert_int_not_equal(opensm_cc_read(text.text, &d, &c), HD_OK);
	assert_non_null(strstr(d.message, "of which OpenSM reads 1023"));
	strbuf_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_reads_back),
		cmocka_unit_test(entries_are_short_and_near),
		cmocka_unit_test(no_line_is_cut),
		cmocka_unit_test(tables_end_at_one_sender_of_so_many),
		cmocka_unit_test(defaults_mark_nothing),
		cmocka_unit_test(nonsense_is_refused_with_its_line),
		cmocka_unit_test(a_line_that_would_be_cut_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
