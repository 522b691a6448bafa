/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport/codes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "transport/psn.h"

static void credit_codes_are_the_architectures(void **state)
{
	(void)state;
	static const uint32_t counts[31] = {
		0,    1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
		48,   64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
		2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
	};

	for (unsigned code = 0; code < 31; code++) {
		assert_int_equal(qp_credit_count(code), counts[code]);
		assert_int_equal(qp_credit_code(counts[code]), code);
		if (code > 3)
			assert_int_equal(qp_credit_code(counts[code] - 1), code - 1);
	}
	assert_int_equal(qp_credit_code(UINT32_MAX), 30);
}

/* In units of 10 microseconds. */
static void rnr_timers_are_the_architectures(void **state)
{
	(void)state;
	static const uint64_t tens[32] = {
		65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,    32,
		48,    64,   96,   128,  192,  256,   384,   512,   768,   1024,  1536,
		2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
	};

	for (unsigned code = 0; code < 32; code++)
		assert_int_equal(qp_rnr_delay(code), tens[code] * 10 * HD_US);
}

static void timeouts_double(void **state)
{
	(void)state;
	assert_true(qp_ack_timeout(0) == HD_TIME_NEVER);
	assert_int_equal(qp_ack_timeout(1), 8192 * HD_NS);
	assert_int_equal(qp_ack_timeout(14), 67108864 * HD_NS);
	assert_int_equal(qp_ack_timeout(31) / HD_S, 8796);
}

static void sequence_numbers_wrap(void **state)
{
	(void)state;
	assert_int_equal(psn_add(0xfffffe, 3), 1);
	assert_int_equal(psn_diff(1, 0xfffffe), 3);
	assert_int_equal(psn_diff(0xfffffe, 1), -3);
	assert_int_equal(psn_diff(5, 5), 0);
	assert_int_equal(psn_diff(0x7fffff, 0), 0x7fffff);
	assert_int_equal(psn_diff(0x800000, 0), -0x800000);
}

static void statuses_have_the_names_of_verbs(void **state)
{
	(void)state;
	assert_string_equal(qp_wc_status_name(0), "SUCCESS");
	assert_string_equal(qp_wc_status_name(4), "LOC_PROT_ERR");
	assert_string_equal(qp_wc_status_name(5), "WR_FLUSH_ERR");
	assert_string_equal(qp_wc_status_name(10), "REM_ACCESS_ERR");
	assert_string_equal(qp_wc_status_name(12), "RETRY_EXC_ERR");
	assert_string_equal(qp_wc_status_name(13), "RNR_RETRY_EXC_ERR");
	assert_null(qp_wc_status_name(3)); /* of end-to-end contexts */
	assert_null(qp_wc_status_name(14));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(credit_codes_are_the_architectures),
		cmocka_unit_test(rnr_timers_are_the_architectures),
		cmocka_unit_test(timeouts_double),
		cmocka_unit_test(sequence_numbers_wrap),
		cmocka_unit_test(statuses_have_the_names_of_verbs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
