/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/requests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct qos_classes bands = { .n = 0 };

static void lines_become_requests(void **state)
{
	(void)state;
	struct diag d = { .status = HD_OK };
	struct qos_requests r;

	assert_int_equal(qos_requests_read("# who to what\n\n"
					   "h0 h5 DB 64Mb/s\n"
					   "\"node 3 HCA-1\" h5 dbts 8Mb/s 4KiB 100us # x\n",
					   &bands, &d, &r),
			 HD_OK);
	assert_int_equal(r.n, 2);
	assert_string_equal(r.items[0].source, "h0");
	assert_int_equal(r.items[0].class, TC_DB);
	assert_int_equal(r.items[0].burst, 0);
	assert_int_equal(r.items[0].line, 3);
	assert_string_equal(r.items[1].source, "node 3 HCA-1");
	assert_int_equal(r.items[1].class, TC_DBTS);
	assert_int_equal(r.items[1].rate.num, 8000000);
	assert_int_equal(r.items[1].burst, 4096);
	assert_int_equal(r.items[1].latency, 100 * HD_US);
	assert_int_equal(r.items[1].mean.num, 8000000);
	qos_requests_fini(&r);
	assert_int_equal(qos_requests_read("a b DB 400Mb/s~80Mb/s\n", &bands, &d, &r), HD_OK);
	assert_int_equal(r.items[0].rate.num, 400000000);
	assert_int_equal(r.items[0].mean.num, 80000000);
	assert_false(r.items[0].acknowledged);
	qos_requests_fini(&r);
	assert_int_equal(
		qos_requests_read("a b DB 64Mb/s 64KiB rc\na b DB 64Mb/s rc\n", &bands, &d, &r),
		HD_OK);
	/* Of 32 packets: 3 blocks for each 64 KiB. */
	assert_true(r.items[0].acknowledged && r.items[1].acknowledged);
	const struct qos_packets p = { 2048, 26 };
	const struct hd_rate acks =
		qos_acknowledgement_rate(&r.items[0], &p, (struct hd_ratio){ 0, 1 });

	assert_int_equal(acks.num, 64000000 / 65536 * 3 * 64 + (64000000 % 65536) * 3 * 64 / 65536);
	assert_int_equal(acks.den, 1);
	qos_requests_fini(&r);
}

static void each_mistake_is_refused_with_its_line(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "h0 h5 DB 1Gb/s\nh0 h5 DB\n", "3 words" },
		{ "\nh0 h5 BE 1Gb/s\n", "not a class with admission" },
		{ "\nh0 h5 DB fast\n", "is not a rate" },
		{ "\nh0 h5 DB 1Gb/s~fast\n", "is not a rate" },
		{ "\nh0 h5 DB 1Gb/s~2Gb/s\n", "above its peak" },
		{ "\nh0 h5 DB 1Gb/s 0\n", "1 byte" },
		{ "\nh0 h5 DB 1Gb/s 4KiB soon\n", "is not a time" },
		{ "\nh0 h5 DB 1Gb/s 4KiB 0us\n", "a latency must be above 0" },
		{ "\n\"h0 h5 DB 1Gb/s\n", "no end" },
		{ "\na b DB 1Gb/s 1 1us more words\n", "8 words" },
		{ "\na b DB 1Gb/s 1 1us rc\n", "an rc connection has no latency" },
		{ "\na b DB rc\n", "'rc' is not a rate" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct diag d = { .status = HD_OK };
		struct qos_requests r;

		assert_int_not_equal(qos_requests_read(cases[i].text, &bands, &d, &r), HD_OK);
		assert_non_null(strstr(d.message, cases[i].says));
		assert_int_equal(d.line, 2);
	}
}

/* Classes of a scenario, by name, or by the kind of one of them. */
static void classes_are_those_of_the_scenario(void **state)
{
	(void)state;
	const struct qos_classes classes = {
		.items = { { "film", TC_DB, 2 },
			   { "call", TC_DBTS, 4 },
			   { "music", TC_DB, 3 },
			   { "DBTS", TC_DB, 5 },
			   { "rest", TC_BE, 8 } },
		.n = 5,
	};
	static const struct {
		const char *text;
		uint8_t sl;
		const char *says;
	} cases[] = {
		{ "a b music 1Gb/s\n", 3, NULL },
		{ "a b call 1Gb/s\n", 4, NULL },
		/* A name precedes a kind. */
		{ "a b DBTS 1Gb/s\n", 5, NULL },
		{ "a b dbts 1Gb/s\n", 4, NULL },
		{ "a b DB 1Gb/s\n", 0, "3 classes are of kind DB" },
		{ "a b PBE 1Gb/s\n", 0, "(expected film, call, music, DBTS)" },
		{ "a b rest 1Gb/s\n", 0, "is not a class with admission" },
		{ "a b BE 1Gb/s\n", 0, "is not a class with admission" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct diag d = { .status = HD_OK };
		struct qos_requests r;

		if (qos_requests_read(cases[i].text, &classes, &d, &r) != HD_OK) {
			assert_non_null(cases[i].says);
			assert_non_null(strstr(d.message, cases[i].says));
			continue;
		}
		assert_null(cases[i].says);
		assert_int_equal(r.items[0].sl, cases[i].sl);
		qos_requests_fini(&r);
	}
}

/*
 * Payload becomes bytes on the wire and 64-byte blocks: 26 header bytes per
 * packet, each packet rounded up.
 */
static void bursts_become_packets(void **state)
{
	static const struct {
		uint64_t burst, wire, blocks;
		uint32_t payload, largest, smallest;
	} cases[] = {
		{ 0, 2074, 33, 2048, 2074, 2074 },
		{ 0, 282, 5, 256, 282, 282 },
		{ 0, 65, 2, 39, 65, 65 },
		{ 100, 126, 2, 2048, 126, 126 },
		{ 2048, 2048 + 8 * 26, 40, 256, 282, 282 },
		{ 4097, 4097 + 3 * 26, 67, 2048, 2074, 27 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct qos_request r = { .burst = cases[i].burst,
					 .rate = hd_rate_make(8000000, 1) };
		struct qos_packets p = { cases[i].payload, 26 };
		const struct hd_ratio none = { 0, 1 }, half = { 1, 2 };
		double sent = (double)cases[i].blocks * 64 / (double)qos_burst(&r, &p) * 8e6;

		assert_int_equal(qos_wire_burst(&r, &p), cases[i].wire);
		assert_int_equal(qos_largest(&r, &p), cases[i].largest);
		assert_int_equal(qos_smallest(&r, &p), cases[i].smallest);
		/* Rates are whole bits per second, rounded up. */
		double charged = hd_rate_bps(qos_charged_rate(&r, r.rate, &p, none));

		assert_true(charged >= sent && charged <= sent + 1);
		charged = hd_rate_bps(qos_charged_rate(&r, r.rate, &p, half));
		assert_true(charged >= 1.5 * sent && charged <= 1.5 * sent + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_become_requests),
		cmocka_unit_test(each_mistake_is_refused_with_its_line),
		cmocka_unit_test(classes_are_those_of_the_scenario),
		cmocka_unit_test(bursts_become_packets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
