/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MODEL_EXPECT_FOR_TESTS_H
#define HD_MODEL_EXPECT_FOR_TESTS_H

/* For tests only: comparing doubles, with both values in the message. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define assert_near(got, want, tolerance) \
	expect_near(#got, (got), (want), (tolerance), __FILE__, __LINE__)

static inline void expect_near(const char *text, double got, double want, double tolerance,
			       const char *file, int line)
{
	if (fabs(got - want) <= tolerance)
		return;
	print_error("%s is %.12g, expected %.12g +- %g\n", text, got, want, tolerance);
	_fail(file, line);
}

#endif
