/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/expect_for_tests.h"

#include "model/expect_for_tests.h"
#include "model/gth.h"

static void two_states_balance(void **state)
{
	double rate[] = { 0, 3, 1, 0 };
	double p[2];

	(void)state;
	assert_int_equal(gth_solve(rate, 2, p), HD_OK);
	assert_near(p[0], 0.25, 1e-16);
	assert_near(p[1], 0.75, 1e-16);
}

static void a_ring_is_inverse_to_its_rates(void **state)
{
	/* 0 -> 1 -> 2 -> 3 -> 0 with rates 1, 2, 4, 8. */
	double rate[16] = { [0 * 4 + 1] = 1, [1 * 4 + 2] = 2, [2 * 4 + 3] = 4, [3 * 4 + 0] = 8 };
	double p[4];

	(void)state;
	assert_int_equal(gth_solve(rate, 4, p), HD_OK);
	for (int s = 0; s < 4; s++)
		assert_near(p[s], 8.0 / (1 << s) / 15, 1e-16);
}

static void tiny_probabilities_keep_their_digits(void **state)
{
	/* Birth and death: p[k] = 1e-12^k, to be exact in relative terms. */
	double rate[36] = { 0 };
	double p[6];

	(void)state;
	for (int s = 0; s < 5; s++) {
		rate[s * 6 + s + 1] = 1e-12;
		rate[(s + 1) * 6 + s] = 1;
	}
	assert_int_equal(gth_solve(rate, 6, p), HD_OK);
	for (int s = 1; s < 6; s++)
		assert_near(p[s] / p[s - 1] * 1e12, 1, 1e-14);
}

static void rising_chains_do_not_overflow(void **state)
{
	enum { N = 300 };
	static double rate[N * N];
	double p[N];

	(void)state;
	for (int s = 0; s + 1 < N; s++) {
		rate[s * N + s + 1] = 1000;
		rate[(s + 1) * N + s] = 1;
	}
	assert_int_equal(gth_solve(rate, N, p), HD_OK);
	assert_near(p[N - 1], 0.999, 1e-12);
	assert_near(p[N - 2] / p[N - 1], 0.001, 1e-15);
}

static void a_chain_in_two_parts_is_refused(void **state)
{
	double rate[] = { 0, 1, 0, 1, 0, 0, 0, 0, 0 };
	double p[3];

	(void)state;
	assert_int_equal(gth_solve(rate, 3, p), HD_ERR_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_states_balance),
		cmocka_unit_test(a_ring_is_inverse_to_its_rates),
		cmocka_unit_test(tiny_probabilities_keep_their_digits),
		cmocka_unit_test(rising_chains_do_not_overflow),
		cmocka_unit_test(a_chain_in_two_parts_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
