/* SPDX-License-Identifier: BSD-2-Clause */
#include "cc/curve.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/*
 * AIMD halves at a mark and adds 1: from 64 to 256 in 192 steps, each as long
 * as a packet at the rate before it.
 */
static void a_curve_is_the_algorithm_at_each_rate(void **state)
{
	(void)state;
	struct results *r = results_new("test");
	struct cc_config c = cc_config_default(64, 256);

	c.m = 2;
	c.add = 1;
	cc_curve_show(cc_find("aimd"), &c, 3, r);
	const struct table *t = results_find(r, "curve");
	const double rates[] = { 64, 128, 256 };

	assert_int_equal(t->n_cells, 3 * t->n_columns);
	for (size_t i = 0; i < 3; i++) {
		const struct value *row = &t->cells[i * t->n_columns];

		assert_true(fabs(row[0].real - rates[i]) < 1e-9);
		assert_true(fabs(row[1].real - fmin(rates[i] + 1, 256)) < 1e-9);
		assert_true(fabs(row[2].real - fmax(rates[i] / 2, 64)) < 1e-9);
	}
	/* From half of 256 back to it takes 128 acknowledgements. */
	assert_int_equal(t->cells[2 * t->n_columns + 4].u, 128);
	/* At the minimum rate there is no recovery. */
	assert_int_equal(t->cells[4].u, 0);
	results_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_curve_is_the_algorithm_at_each_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
