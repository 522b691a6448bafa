/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/ring.h"
#include "base/rng.h"

struct queue {
	uint64_t *ring;
	uint32_t places, head, tail;
};

static void put(struct queue *q, uint64_t item)
{
	q->ring = ring_grow(q->ring, &q->places, q->head, q->tail, sizeof(*q->ring));
	q->ring[q->tail++ % q->places] = item;
}

static uint64_t take(struct queue *q)
{
	return q->ring[q->head++ % q->places];
}

/*
 * Random puts and takes across the overflow of the indices: first in, first out, with less than
 * twice the required capacity.
 */
static void ring_is_first_in_first_out(void **state)
{
	struct queue q = { .head = UINT32_MAX - 500, .tail = UINT32_MAX - 500 };
	uint64_t in = 0, out = 0, most = 1;
	struct rng r;

	(void)state;
	rng_init(&r, 1, 0);
	for (unsigned i = 0; i < 20000; i++) {
		if (rng_below(&r, 100) < (i < 10000 ? 52 : 48))
			put(&q, in++);
		else if (out < in)
			assert_int_equal(take(&q), out++);
		most = in - out > most ? in - out : most;
		assert_true(q.places >= in - out);
		assert_true(q.places <= 2 * most);
	}
	assert_true(in > 5000 && most > 100 && q.tail < q.head + in);
	free(q.ring);
}

static void the_first_needs_room(void **state)
{
	struct queue q = { 0 };

	(void)state;
	put(&q, 7);
	assert_int_equal(q.places, 2);
	assert_int_equal(take(&q), 7);
	free(q.ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ring_is_first_in_first_out),
		cmocka_unit_test(the_first_needs_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
