/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "measure/minimise.h"

static const struct minimise_options fine = { 0.5, 1e-9, 20000 };

/* Rosenbrock's function: a curved valley, almost flat along its floor. */
static double valley(void *context, const double *x)
{
	double a = 1 - x[0], b = x[1] - x[0] * x[0];

	(*(size_t *)context)++;
	return a * a + 100 * b * b;
}

static void the_end_of_a_bent_valley_is_found(void **state)
{
	double x[2] = { -1.2, 1 };
	size_t calls = 0;
	double value = measure_minimise(valley, &calls, 2, &fine, x);

	(void)state;
	assert_true(value < 1e-12);
	assert_true(fabs(x[0] - 1) < 1e-5 && fabs(x[1] - 1) < 1e-5);
}

/* A corner, not a bowl: no derivative where the least is. */
static double corner(void *context, const double *x)
{
	double sum = 0;

	for (size_t i = 0; i < 5; i++)
		sum += fabs(x[i] - (double)i) * (double)(1 + i);
	(void)context;
	return sum;
}

static void a_corner_is_found_in_five_dimensions(void **state)
{
	double x[5] = { 3, 3, -3, -3, 0 };

	(void)state;
	assert_true(measure_minimise(corner, NULL, 5, &fine, x) < 1e-4);
	for (size_t i = 0; i < 5; i++)
		assert_true(fabs(x[i] - (double)i) < 1e-4);
}

static void calls_are_counted(void **state)
{
	const struct minimise_options few = { 0.5, 0, 40 };
	double x[2] = { -1.2, 1 };
	size_t calls = 0, before = 0;
	double first = valley(&before, x);

	(void)state;
	assert_true(measure_minimise(valley, &calls, 2, &few, x) < first);
	/* A step that has begun ends: two more at most, or a shrinking. */
	assert_true(calls >= 40 && calls <= 44);
}

static double flat(void *context, const double *x)
{
	(void)context;
	(void)x;
	return 3;
}

static void ends_without_changes(void **state)
{
	double x[3] = { 1, 2, 3 };

	(void)state;
	assert_true(measure_minimise(flat, NULL, 3, &fine, x) == 3);
}

/* Waves on a slope, on which a simplex shrinks often. */
struct rough {
	double wave;
	size_t n;
	double least; /* value that was returned */
};

static double rough(void *context, const double *x)
{
	struct rough *r = context;
	double value = 0;

	for (size_t i = 0; i < r->n; i++)
		value += fabs(x[i]) + sin(r->wave * x[i] * (double)(i + 1));
	r->least = value < r->least ? value : r->least;
	return value;
}

static void the_best_that_was_seen_is_not_lost(void **state)
{
	const struct minimise_options brief = { 0.5, 1e-9, 60 };

	(void)state;
	for (unsigned i = 0; i < 400; i++) {
		struct rough r = { 5 + i % 37, 2 + i % 4, INFINITY };
		double x[MINIMISE_MOST];

		for (size_t k = 0; k < r.n; k++)
			x[k] = (double)(i % 11) - (double)k;
		double value = measure_minimise(rough, &r, r.n, &brief, x);

		assert_true(value == r.least);
		assert_true(rough(&r, x) == value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_end_of_a_bent_valley_is_found),
		cmocka_unit_test(a_corner_is_found_in_five_dimensions),
		cmocka_unit_test(calls_are_counted),
		cmocka_unit_test(ends_without_changes),
		cmocka_unit_test(the_best_that_was_seen_is_not_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
