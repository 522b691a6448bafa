/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CI_CMOCKA_H
#define HD_CI_CMOCKA_H

/*
 * As much of cmocka as the tests that ci/aarch64.sh runs use: there is no
 * cmocka of another processor to link with. A failure ends the program.
 */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
	const char *name;
	void (*run)(void **state);
};

#define cmocka_unit_test(function)  \
	{                           \
#function, function \
	}

#define cmocka_run_group_tests(tests, setup, teardown) \
	run_all(tests, sizeof(tests) / sizeof(*(tests)))

static inline int run_all(const struct CMUnitTest *tests, size_t n)
{
	void *state = NULL;

	for (size_t i = 0; i < n; i++)
		tests[i].run(&state);
	printf("%zu tests\n", n);
	return 0;
}

#define fail_msg(...)                                           \
	do {                                                    \
		fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
		fprintf(stderr, __VA_ARGS__);                   \
		fputc('\n', stderr);                            \
		exit(1);                                        \
	} while (0)

#define check(what)                            \
	do {                                   \
		if (!(what))                   \
			fail_msg("%s", #what); \
	} while (0)

#define print_message(...)               printf(__VA_ARGS__)
#define assert_true(a)                   check(a)
#define assert_false(a)                  check(!(a))
#define assert_null(a)                   check((a) == NULL)
#define assert_non_null(a)               check((a) != NULL)
#define assert_ptr_equal(a, b)           check((a) == (b))
#define assert_int_equal(a, b)           check((long long)(a) == (long long)(b))
#define assert_int_not_equal(a, b)       check((long long)(a) != (long long)(b))
#define assert_in_range(a, low, high)    check((a) >= (low) && (a) <= (high))
#define assert_string_equal(a, b)        check(strcmp(a, b) == 0)
#define assert_string_not_equal(a, b)    check(strcmp(a, b) != 0)
#define assert_memory_equal(a, b, bytes) check(memcmp(a, b, bytes) == 0)

#endif
