/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bench/bench.h"

static void conditions_have_a_size_a_relation_and_a_limit(void **state)
{
	static const struct {
		const char *text;
		uint64_t size;
		bool less, equal;
		double limit;
	} cases[] = {
		{ "p99<5us", UINT64_MAX, true, false, 5 },
		{ "min@2<=1.5us", 2, true, true, 1.5 },
		{ "avg@4096>700ns", 4096, false, false, 0.7 },
		{ "bw@1KiB>=900MB/s", 1024, false, true, 900 },
		{ "bw_peak@65536>8Gb/s", 65536, false, false, 1000 },
		{ "rate>=2.5", UINT64_MAX, false, true, 2.5 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct diag d = { .status = HD_OK };
		struct bench_expect e;

		assert_int_equal(bench_expect_parse(cases[i].text, &d, &e), HD_OK);
		assert_int_equal(e.size, cases[i].size);
		assert_int_equal(e.less, cases[i].less);
		assert_int_equal(e.equal, cases[i].equal);
		assert_true(e.limit > 0.999999 * cases[i].limit &&
			    e.limit < 1.000001 * cases[i].limit);
		assert_string_equal(e.text, cases[i].text);
	}
}

static void conditions_that_say_nothing_are_refused(void **state)
{
	static const char *const texts[] = { "",           "p99",
					     "p99=5us",    "p98<5us",
					     "p99<5",      "p99@<5us",
					     "p99@x<5us",  "bw<5us",
					     "rate<2us",   "@4096<5us",
					     "p99@-1<5us", "<5us",
					     "p99 <5us",   "p99@99999999999999999999999999<5us" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct diag d = { .status = HD_OK };
		struct bench_expect e;

		assert_int_not_equal(bench_expect_parse(texts[i], &d, &e), HD_OK);
		assert_true(d.message[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conditions_have_a_size_a_relation_and_a_limit),
		cmocka_unit_test(conditions_that_say_nothing_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
