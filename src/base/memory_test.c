/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"

#define MIB ((uint64_t)1 << 20)

static jmp_buf back;
static char said[256];

static void note(const char *line)
{
	snprintf(said, sizeof(said), "%s", line);
	longjmp(back, 1);
}

static void room_falls_by_what_is_taken(void **state)
{
	(void)state;
	memory_limit(256 * MIB, note);
	uint64_t before = memory_room();
	void *some = hd_alloc(100 * MIB, 1);
	uint64_t after = memory_room();

	free(some);
	memory_limit(UINT64_MAX, note);
	assert_true(before <= 256 * MIB && before > 250 * MIB);
	/* The allocator or a sanitizer may use a page or two. */
	assert_true(before - after >= 100 * MIB);
	assert_true(before - after < 120 * MIB);
}

static void what_exceeds_the_limit_is_named(void **state)
{
	(void)state;
	memory_limit(64 * MIB, note);
	memory_for("models of the weather");
	if (setjmp(back) == 0) {
		free(hd_alloc(65 * MIB, 1));
		fail_msg("more than the limit was there");
	}
	memory_limit(UINT64_MAX, note);
	assert_non_null(strstr(said, "models of the weather need 68.2 MB"));
	assert_non_null(strstr(said, "the 67.1 MB that --memory allows"));
}

static void *pieces[1000];

static void small_pieces_add_up(void **state)
{
	volatile size_t n = 0;

	(void)state;
	memory_limit(64 * MIB, note);
	if (setjmp(back) == 0) {
		/* Below what the allocator maps one by one. */
		for (; n < 1000; n++)
			pieces[n] = hd_alloc(100000, 1);
	}
	memory_limit(UINT64_MAX, note);
	/* The check happens every 4 MiB. */
	assert_in_range(n, 580, 64 * MIB / 100000 + 1);
	for (size_t i = 0; i < n; i++)
		free(pieces[i]);
}

static void estimates_are_refused_with_both_numbers(void **state)
{
	struct diag d = { .status = HD_OK };

	(void)state;
	memory_limit(1000000000, note);
	assert_int_equal(memory_expect(9e8, "a small model", &d), HD_OK);
	assert_int_equal(memory_expect(1.25e12, "a large model", &d), HD_ERR_ENV);
	memory_limit(UINT64_MAX, note);
	assert_non_null(
		strstr(d.message, "a large model needs about 1.2 TB of memory; --memory leaves "));
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(memory_expect(1e18, "anything", &d), HD_OK);
}

static void products_that_overflow_are_refused(void **state)
{
	volatile unsigned ends = 0;

	(void)state;
	memory_limit(UINT64_MAX, note);
	if (setjmp(back) == 0)
		(void)!hd_alloc(SIZE_MAX / 2, 4);
	else
		ends++;
	if (setjmp(back) == 0)
		(void)!hd_realloc(NULL, SIZE_MAX / 8, 16);
	else
		ends++;
	if (setjmp(back) == 0)
		(void)!hd_alloc_dense(SIZE_MAX - 5, 1);
	else
		ends++;
	assert_int_equal(ends, 3);
}

/* Any size, with and without huge pages. */
static void moved_memory_keeps_its_contents(void **state)
{
	static const size_t sizes[] = { 1, 100, 10000, 600000, 1000000 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t n = sizes[i];
		uint64_t *from = hd_alloc_lazy(n, sizeof(*from));
		uint64_t *to = hd_alloc_lazy(2 * n, sizeof(*to));

		assert_int_equal((uintptr_t)to % 64, 0);
		for (size_t k = 0; k < n; k++)
			from[k] = k * UINT64_C(0x9E3779B97F4A7C15);
		to[n] = 5;
		hd_move_lazy(to, from, n, sizeof(*to));
		for (size_t k = 0; k < n; k++)
			assert_int_equal(to[k], k * UINT64_C(0x9E3779B97F4A7C15));
		assert_int_equal(to[n], 5);
		free(to);
	}
}

static void take_too_much(void *context)
{
	unsigned *depth = context;

	if (*depth > 0) {
		char line[MEMORY_LINE] = "";

		--*depth;
		assert_false(memory_try(take_too_much, depth, line));
		assert_non_null(strstr(line, "out of memory"));
	}
	free(hd_alloc(65 * MIB, 1));
	fail_msg("more than the limit was there");
}

static void take_little(void *context)
{
	free(hd_alloc(1, 1));
	*(bool *)context = true;
}

static void failed_attempt_does_not_end_the_program(void **state)
{
	unsigned depth = 3;
	bool well = false;
	char line[MEMORY_LINE] = "";

	(void)state;
	memory_limit(64 * MIB, note);
	assert_false(memory_try(take_too_much, &depth, line));
	assert_non_null(strstr(line, "need 68.2 MB more"));
	assert_true(memory_try(take_little, &well, line) && well);
	/* Outside of it all is as it was. */
	if (setjmp(back) == 0) {
		free(hd_alloc(65 * MIB, 1));
		fail_msg("more than the limit was there");
	}
	memory_limit(UINT64_MAX, note);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(room_falls_by_what_is_taken),
		cmocka_unit_test(what_exceeds_the_limit_is_named),
		cmocka_unit_test(small_pieces_add_up),
		cmocka_unit_test(estimates_are_refused_with_both_numbers),
		cmocka_unit_test(products_that_overflow_are_refused),
		cmocka_unit_test(moved_memory_keeps_its_contents),
		cmocka_unit_test(failed_attempt_does_not_end_the_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
