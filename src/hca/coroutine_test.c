/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hca/coroutine.h"

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

static void coroutine_resumes_where_it_stopped(void **state)
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

/* More values than a processor has registers that a call preserves. */
#define KEPT 14

struct keeping {
	struct coroutine *self;
	uint64_t seed, whole;
	double part;
};

static void keep(struct keeping *k, bool yields)
{
	uint64_t n[KEPT];
	double x[KEPT];

	for (unsigned i = 0; i < KEPT; i++) {
		n[i] = k->seed + i;
		x[i] = (double)(k->seed + i) / 4;
	}
	/* Unrolled, so that values are in registers across the switch. */
	for (unsigned turn = 0; turn < 50; turn++) {
		if (yields)
			coroutine_yield(k->self);
#pragma GCC unroll 14
		for (unsigned i = 0; i < KEPT; i++) {
			n[i] = n[i] * 3 + 1;
			x[i] = x[i] * 0.5 + 1;
		}
	}
	for (unsigned i = 0; i < KEPT; i++) {
		k->whole = k->whole * 31 + n[i];
		k->part += x[i] * (i + 1);
	}
}

static void keep_in_turns(void *argument)
{
	keep(argument, true);
}

/* Two coroutines in turns compute the same as each alone. */
static void registers_survive_a_switch(void **state)
{
	struct keeping a = { .seed = 3 }, b = { .seed = 1000 };
	struct keeping alone[2] = { { .seed = 3 }, { .seed = 1000 } };

	(void)state;
	a.self = coroutine_new(16384, keep_in_turns, &a);
	b.self = coroutine_new(16384, keep_in_turns, &b);
	for (bool more = true; more;) {
		more = coroutine_resume(a.self);
		assert_true(coroutine_resume(b.self) == more);
	}
	keep(&alone[0], false);
	keep(&alone[1], false);
	assert_true(a.whole == alone[0].whole && b.whole == alone[1].whole);
	assert_true(a.part == alone[0].part && b.part == alone[1].part);
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
		cmocka_unit_test(coroutine_resumes_where_it_stopped),
		cmocka_unit_test(registers_survive_a_switch),
		cmocka_unit_test(a_coroutine_may_resume_another),
		cmocka_unit_test(a_stopped_coroutine_may_be_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
