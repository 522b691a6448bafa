/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "measure/student.h"

#define PI 3.14159265358979323846

static void check_close(double got, double expected, double error)
{
	if (fabs(got - expected) > error * (1 + fabs(expected)))
		fail_msg("%.15g is not %.15g", got, expected);
}

/* Degrees 1, 2 and 4 have closed forms. */
static void quantiles_equal_the_closed_forms(void **state)
{
	static const double ps[] = { 0.5001, 0.6, 0.75, 0.9, 0.95, 0.99, 0.995, 0.99999 };

	(void)state;
	for (unsigned i = 0; i < sizeof(ps) / sizeof(ps[0]); i++) {
		double p = ps[i], a = 4 * p * (1 - p);
		double q = cos(acos(sqrt(a)) / 3) / sqrt(a);

		check_close(student_quantile(p, 1), tan(PI * (p - 0.5)), 1e-9);
		check_close(student_quantile(p, 2), (2 * p - 1) / sqrt(2 * p * (1 - p)), 1e-9);
		check_close(student_quantile(p, 4), 2 * sqrt(q - 1), 1e-9);
		check_close(student_quantile(1 - p, 4), -2 * sqrt(q - 1), 1e-9);
	}
}

/* Results of Boost 1.74, students_t. */
static void quantiles_equal_those_of_boost(void **state)
{
	static const struct {
		double p, freedom, t;
	} rows[] = {
		{ 0.975, 5, 2.570581835636 },   { 0.975, 10, 2.228138851986 },
		{ 0.975, 30, 2.042272456301 },  { 0.9995, 29, 3.659405019466 },
		{ 0.9995, 63, 3.451768944961 }, { 0.995, 7, 3.499483297350 },
		{ 0.95, 120, 1.657650899355 },  { 0.9995, 30, 3.645958635042 },
		{ 0.975, 63, 1.998340542521 },  { 0.9999, 8, 6.441999821020 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_close(student_quantile(rows[i].p, rows[i].freedom), rows[i].t, 1e-10);
}

/* Printed tables (three decimals), one row per confidence. */
static void quantiles_equal_the_printed_tables(void **state)
{
	static const struct {
		double p, freedom, t;
	} rows[] = {
		{ 0.90, 3, 1.638 },    { 0.95, 5, 2.015 },    { 0.975, 7, 2.365 },
		{ 0.975, 10, 2.228 },  { 0.975, 20, 2.086 },  { 0.975, 30, 2.042 },
		{ 0.975, 60, 2.000 },  { 0.975, 100, 1.984 }, { 0.99, 15, 2.602 },
		{ 0.995, 9, 3.250 },   { 0.999, 25, 3.450 },  { 0.999, 8, 4.501 },
		{ 0.975, 1e9, 1.960 }, { 0.995, 1e9, 2.576 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double t = student_quantile(rows[i].p, rows[i].freedom);

		assert_true(fabs(t - rows[i].t) <= 0.0005001);
	}
}

static void quantile_and_cdf_undo_each_other(void **state)
{
	(void)state;
	for (unsigned freedom = 1; freedom < 1000000; freedom = 2 * freedom + 1) {
		for (unsigned i = 1; i < 30; i++) {
			double t = student_quantile(i / 30.0, freedom);

			check_close(student_cdf(t, freedom), i / 30.0, 1e-9);
		}
	}
}

static void the_middle_is_zero(void **state)
{
	(void)state;
	assert_true(fabs(student_quantile(0.5, 6)) < 1e-12);
	check_close(student_cdf(0, 6), 0.5, 1e-15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_equal_the_closed_forms),
		cmocka_unit_test(quantiles_equal_those_of_boost),
		cmocka_unit_test(quantiles_equal_the_printed_tables),
		cmocka_unit_test(quantile_and_cdf_undo_each_other),
		cmocka_unit_test(the_middle_is_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
