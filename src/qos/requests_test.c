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
	assert_int_equal(r.items[0].burst, 2048);
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
		{ "\nh0 h5 BE 1Gb/s\n", "no class that reserves" },
		{ "\nh0 h5 DB fast\n", "is not a rate" },
		{ "\nh0 h5 DB 1Gb/s~fast\n", "is not a rate" },
		{ "\nh0 h5 DB 1Gb/s~2Gb/s\n", "above its peak" },
		{ "\nh0 h5 DB 1Gb/s 0\n", "1 byte" },
		{ "\nh0 h5 DB 1Gb/s 4KiB soon\n", "is not a time" },
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_become_requests),
		cmocka_unit_test(each_mistake_is_refused_with_its_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
