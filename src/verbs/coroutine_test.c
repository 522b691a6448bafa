/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "verbs/coroutine.h"

struct counting {
	struct coroutine *self;
	unsigned from, seen;
	double kept;
};

static void count(void *argument)
{
	struct counting *c = argument;
	double local = c->from * 0.5;

	for (unsigned i = 0; i < 3; i++) {
		c->seen = c->from + i;
		local += 1;
		coroutine_yield(c->self);
	}
	c->kept = local;
}

static void a_coroutine_goes_on_where_it_stopped(void **state)
{
	struct counting a = { .from = 10 }, b = { .from = 20 };

	(void)state;
	a.self = coroutine_new(16384, count, &a);
	b.self = coroutine_new(16384, count, &b);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(coroutine_resume(a.self));
		assert_true(coroutine_resume(b.self));
		assert_int_equal(a.seen, 10 + i);
		assert_int_equal(b.seen, 20 + i);
	}
	assert_false(coroutine_resume(b.self));
	assert_false(coroutine_resume(a.self));
	assert_true(a.kept == 8 && b.kept == 13);
	coroutine_free(a.self);
	coroutine_free(b.self);
}

static void print_and_nest(void *argument)
{
	struct counting *c = argument;
	struct counting inner = { .from = 5 };
	char text[2000];

	/* printf needs an aligned stack and much of it. */
	snprintf(text, sizeof(text), "%f %Lf %s", 1.5, 2.5L, "stack");
	inner.self = coroutine_new(16384, count, &inner);
	while (coroutine_resume(inner.self)) {
		c->seen = inner.seen;
		coroutine_yield(c->self);
	}
	coroutine_free(inner.self);
	c->kept = strcmp(text, "1.500000 2.500000 stack") == 0 ? 1 : 0;
}

static void a_coroutine_may_resume_another(void **state)
{
	struct counting outer = { .from = 0 };
	unsigned resumes = 0;

	(void)state;
	outer.self = coroutine_new(65536, print_and_nest, &outer);
	while (coroutine_resume(outer.self))
		resumes++;
	assert_int_equal(resumes, 3);
	assert_int_equal(outer.seen, 7);
	assert_true(outer.kept == 1);
	coroutine_free(outer.self);
}

static void a_stopped_coroutine_may_be_freed(void **state)
{
	struct counting a = { .from = 1 };

	(void)state;
	a.self = coroutine_new(16384, count, &a);
	assert_true(coroutine_resume(a.self));
	coroutine_free(a.self);
	a.self = coroutine_new(16384, count, &a);
	coroutine_free(a.self);
	coroutine_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_coroutine_goes_on_where_it_stopped),
		cmocka_unit_test(a_coroutine_may_resume_another),
		cmocka_unit_test(a_stopped_coroutine_may_be_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
