/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/requests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void lines_become_requests(void **state)
{
	(void)state;
	struct diag d = { .status = HD_OK };
	struct qos_requests r;

	assert_int_equal(
		qos_requests_read(
			"# who to what\n\n"
			"h0 h5 DB 64Mb/s\n"
			"\"node 3 HCA-1\" h5 dbts 8Mb/s 4KiB 100us # x\n",
			&d, &r),
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
	assert_int_equal(qos_requests_read("a b DB 400Mb/s~80Mb/s\n", &d, &r),
			 HD_OK);
	assert_int_equal(r.items[0].rate.num, 400000000);
	assert_int_equal(r.items[0].mean.num, 80000000);
	qos_requests_fini(&r);
}

static void each_mistake_is_refused_with_its_line(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "h0 h5 DB 1Gb/s\nh0 h5 DB\n", "3 words" },
		{ "\nh0 h5 BE 1Gb/s\n", "no class that asks" },
		{ "\nh0 h5 DB fast\n", "is not a rate" },
		{ "\nh0 h5 DB 1Gb/s~fast\n", "is not a rate" },
		{ "\nh0 h5 DB 1Gb/s~2Gb/s\n", "above its peak" },
		{ "\nh0 h5 DB 1Gb/s 0\n", "1 byte" },
		{ "\nh0 h5 DB 1Gb/s 4KiB soon\n", "is not a time" },
		{ "\nh0 h5 DB 1Gb/s 4KiB 0us\n", "a latency is above 0" },
		{ "\n\"h0 h5 DB 1Gb/s\n", "no end" },
		{ "\na b DB 1Gb/s 1 1us more words\n", "7 words" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct diag d = { .status = HD_OK };
		struct qos_requests r;

		assert_int_not_equal(qos_requests_read(cases[i].text, &d, &r),
				     HD_OK);
		assert_non_null(strstr(d.message, cases[i].says));
		assert_int_equal(d.line, 2);
	}
}

/* Payload in, bytes on the wire out: 26 beside each packet. */
static void bursts_become_packets(void **state)
{
	static const struct {
		uint64_t burst, wire;
		uint32_t payload, least, mean;
	} cases[] = {
		{ 0, 2074, 2048, 2048, 2048 },
		{ 0, 282, 256, 256, 256 },
		{ 100, 126, 2048, 100, 100 },
		{ 2048, 2048 + 8 * 26, 256, 256, 256 },
		{ 4097, 4097 + 3 * 26, 2048, 1, 1365 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct qos_request r = { .burst = cases[i].burst,
					 .rate = hd_rate_make(8000000, 1) };
		struct qos_packets p = { cases[i].payload, 26 };
		struct hd_rate wire = qos_wire_rate(&r, r.rate, &p);

		assert_int_equal(qos_wire_burst(&r, &p), cases[i].wire);
		assert_int_equal(qos_least_payload(&r, &p), cases[i].least);
		assert_int_equal(
			hd_rate_compare(
				wire,
				hd_rate_make(8000000 * (cases[i].mean + 26ull),
					     cases[i].mean)),
			0);
		/* Never less than what the packets are. */
		assert_true(hd_rate_bps(wire) / 8e6 * (1 + 1e-12) >=
			    (double)cases[i].wire / (double)qos_burst(&r, &p));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_become_requests),
		cmocka_unit_test(each_mistake_is_refused_with_its_line),
		cmocka_unit_test(bursts_become_packets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
