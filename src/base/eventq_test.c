/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/eventq.h"
#include "base/rng.h"
#include "base/seeds_for_tests.h"

/* The oracle: a plain array, kept sorted, latest first. */
struct plain {
	struct event *e;
	size_t n, cap;
};

static bool later(struct event a, struct event b)
{
	return a.when != b.when ? a.when > b.when : a.key > b.key;
}

static void plain_push(struct plain *p, struct event e)
{
	size_t i = p->n;

	p->e = hd_grow(p->e, &p->cap, p->n + 1, sizeof(*p->e));
	p->n++;
	while (i > 0 && later(e, p->e[i - 1])) {
		p->e[i] = p->e[i - 1];
		i--;
	}
	p->e[i] = e;
}

/* Delays of all kinds that a model may use, some of them zero. */
static hd_time draw_delay(struct rng *r, unsigned kind)
{
	switch (kind) {
	case 0: /* all at few instants */
		return rng_below(r, 4) * 1000;
	case 1: /* a network: fixed durations, some jitter */
		return 166000 + rng_below(r, 3) * 5000 + rng_below(r, 100);
	case 2: /* dense */
		return rng_below(r, 50);
	case 3: /* sparse, up to seconds */
		return rng_below(r, HD_S);
	case 4: /* mostly near, now and then very far */
		return rng_below(r, 100) ? rng_below(r, 10000) : rng_below(r, (uint64_t)1 << 50);
	default: /* every order of magnitude */
		return rng_next(r) >> (20 + rng_below(r, 44));
	}
}

static void check_pop(struct eventq *q, struct plain *p)
{
	struct event got = { 0 };

	if (p->n == 0) {
		assert_false(eventq_pop(q, &got));
		return;
	}
	struct event want = p->e[--p->n];
	const struct event *first = eventq_first(q);
	assert_non_null(first);
	assert_true(first->when == want.when && first->key == want.key);
	assert_true(eventq_pop(q, &got));
	assert_true(got.when == want.when && got.key == want.key);
	assert_int_equal(eventq_count(q), p->n);
}

static void hold(struct rng *r, unsigned kind, size_t pending, size_t holds)
{
	struct eventq q;
	struct plain p = { 0 };

	eventq_init(&q);
	for (size_t i = 0; i < holds + pending; i++) {
		/* Grow, then hold, with bursts that drain or double it. */
		size_t pushes = i < pending ? 2 : 1;

		if (rng_below(r, 200) == 0)
			pushes = rng_below(r, 3) * pending / 2;
		for (size_t k = 0; k < pushes && p.n < 3 * pending; k++) {
			unsigned now_kind = kind < 6 ? kind : (unsigned)rng_below(r, 6);
			struct event e = { q.now + draw_delay(r, now_kind), rng_below(r, 1000) };

			eventq_push(&q, e.when, e.key);
			plain_push(&p, e);
		}
		check_pop(&q, &p);
	}
	while (p.n > 0)
		check_pop(&q, &p);
	check_pop(&q, &p);
	eventq_fini(&q);
	free(p.e);
}

static void pops_what_a_sorted_array_pops(void **state)
{
	size_t scale = run_is_long() ? 20 : 1;
	struct rng r;

	(void)state;
	rng_init(&r, 20240607, 1);
	for (unsigned kind = 0; kind < 7; kind++) {
		hold(&r, kind, 1, 2000 * scale);
		hold(&r, kind, 10, 20000 * scale);
		hold(&r, kind, 700, 30000 * scale);
	}
	/* Many more events in a slot than near takes. */
	hold(&r, 0, 5000, 5000 * scale);
	hold(&r, 2, 5000, 5000 * scale);
}

/* A quiet phase must not leave slots that a busy phase then suffers from. */
static void follows_a_change_of_density(void **state)
{
	struct rng r;
	struct eventq q;
	struct plain p = { 0 };

	(void)state;
	rng_init(&r, 7, 2);
	eventq_init(&q);
	for (unsigned round = 0; round < 6; round++) {
		size_t scale = round % 2 ? 3 : 3000000;

		for (unsigned i = 0; i < 12000; i++) {
			struct event e = { q.now + rng_below(&r, 400 * scale), i };

			eventq_push(&q, e.when, e.key);
			plain_push(&p, e);
			if (p.n > 200)
				check_pop(&q, &p);
		}
	}
	while (p.n > 0)
		check_pop(&q, &p);
	eventq_fini(&q);
	free(p.e);
}

static void ties_come_by_key_whatever_the_order_of_pushing(void **state)
{
	uint32_t order[500];
	struct rng r;
	struct eventq q;
	struct event e = { 0 };

	(void)state;
	rng_init(&r, 3, 3);
	for (uint32_t i = 0; i < 500; i++)
		order[i] = i;
	rng_shuffle(&r, order, 500);
	eventq_init(&q);
	for (uint32_t i = 0; i < 500; i++)
		eventq_push(&q, 12345, order[i]);
	for (uint32_t i = 0; i < 500; i++) {
		assert_true(eventq_pop(&q, &e));
		assert_int_equal(e.key, i);
		/* In the same instant, an event of an earlier phase may follow. */
		if (i == 100) {
			eventq_push(&q, 12345, 7);
			assert_true(eventq_pop(&q, &e));
			assert_int_equal(e.key, 7);
		}
	}
	assert_false(eventq_pop(&q, &e));
	eventq_fini(&q);
}

static void the_end_of_time_can_be_scheduled(void **state)
{
	struct eventq q;
	struct event e = { 0 };

	(void)state;
	eventq_init(&q);
	eventq_push(&q, HD_TIME_NEVER - 1, 1);
	eventq_push(&q, HD_TIME_NEVER, 2);
	eventq_push(&q, 0, 3);
	assert_true(eventq_pop(&q, &e));
	assert_int_equal(e.key, 3);
	assert_true(eventq_pop(&q, &e));
	assert_int_equal(e.key, 1);
	assert_true(eventq_pop(&q, &e));
	assert_int_equal(e.key, 2);
	assert_false(eventq_pop(&q, &e));
	eventq_fini(&q);
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return later(*x, *y) - later(*y, *x);
}

/* Near, on the wheel and far away; the queue stays as it is. */
static void a_list_has_all_that_is_pending(void **state)
{
	struct eventq q;
	struct event e = { 0 };
	struct rng r;

	(void)state;
	rng_init(&r, 8, 0);
	eventq_init(&q);
	for (unsigned i = 0; i < 3000; i++)
		eventq_push(&q, rng_next(&r) >> rng_below(&r, 60), i);
	for (unsigned i = 0; i < 1000; i++)
		assert_true(eventq_pop(&q, &e));
	size_t n = eventq_count(&q);
	struct event *all = hd_alloc(n, sizeof(*all));

	assert_int_equal(n, 2000);
	eventq_list(&q, all);
	qsort(all, n, sizeof(*all), by_time);
	for (size_t i = 0; i < n; i++) {
		assert_true(eventq_pop(&q, &e));
		assert_int_equal(all[i].when, e.when);
		assert_int_equal(all[i].key, e.key);
	}
	assert_false(eventq_pop(&q, &e));
	free(all);
	eventq_fini(&q);
}

/* Whether scheduling this event ends the program. */
static bool push_aborts(struct eventq *q, hd_time when)
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		close(STDERR_FILENO);
		eventq_push(q, when, 0);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

/* In release builds too, for every density of events. */
static void rejects_events_in_the_past(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, 11, 0);
	for (unsigned kind = 0; kind < 6; kind++) {
		struct event e = { 0 };
		struct eventq q;

		eventq_init(&q);
		for (unsigned i = 0; i < 20000; i++) {
			eventq_push(&q, q.now + 1 + draw_delay(&r, kind), i);
			if (i > 100)
				assert_true(eventq_pop(&q, &e));
			if (i % 5000 != 4999)
				continue;
			assert_true(push_aborts(&q, q.now - 1));
			assert_true(push_aborts(&q, rng_below(&r, q.now)));
			assert_false(push_aborts(&q, q.now));
		}
		eventq_fini(&q);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pops_what_a_sorted_array_pops),
		cmocka_unit_test(follows_a_change_of_density),
		cmocka_unit_test(ties_come_by_key_whatever_the_order_of_pushing),
		cmocka_unit_test(the_end_of_time_can_be_scheduled),
		cmocka_unit_test(a_list_has_all_that_is_pending),
		cmocka_unit_test(rejects_events_in_the_past),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
