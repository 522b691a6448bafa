/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests that come before their turn, and what the window makes of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "transport/codes.h"
#include "transport/wire_for_tests.h"

#define STEPS 200000
#define MTU   256u
#define FIRST 0xfffffeu /* PSN of side 0's first request (pair_attr) */

static void fill(uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(i * 7 + 1 + i / 256);
}

static void post(struct pair *p, struct send_wr wr)
{
	assert_int_equal(qp_post_send(p->side[0].qp, &wr), HD_OK);
}

/* Takes the next n requests from side 0; they are at p->flight[0 .. n - 1]. */
static void give(struct pair *p, unsigned n)
{
	p->n_flight = n;
	for (unsigned i = 0; i < n; i++)
		assert_true(qp_transmit(p->side[0].qp, p->now,
					&p->flight[i].packet,
					p->flight[i].payload));
}

static void arrive(struct pair *p, unsigned i)
{
	struct flight *f = &p->flight[i];

	f->packet.payload = f->payload;
	qp_receive(p->side[1].qp, &f->packet, p->now);
}

/* Side 1's next answer has this syndrome's kind and code, and PSN. */
static void assert_answer(struct pair *p, unsigned kind, uint32_t psn)
{
	struct packet packet;
	uint8_t payload[4096];

	assert_true(qp_transmit(p->side[1].qp, p->now, &packet, payload));
	assert_int_equal(packet.aeth.syndrome & AETH_KIND, kind);
	assert_int_equal(packet.bth.psn, psn);
}

static void assert_silent(struct pair *p)
{
	assert_false(qp_has_answer(p->side[1].qp));
}

static void an_ack_waits_for_what_is_missing(void **state)
{
	(void)state;
	struct pair *p = pair_with_window(QP_RC, NULL, 4);

	for (unsigned i = 0; i < 4; i++)
		post(p, pair_wr(i, WR_WRITE, 0, 10, 100 * i));
	give(p, 4);
	arrive(p, 2);
	arrive(p, 1);
	arrive(p, 3);
	assert_silent(p);
	arrive(p, 0);
	assert_answer(p, AETH_ACK, psn_add(FIRST, 3));
	assert_silent(p);
	assert_int_equal(qp_early(p->side[1].qp), 3);
	pair_free(p);
}

/* Exactly as far ahead as the window says, around the end of the numbers. */
static void beyond_the_window_is_a_nak(void **state)
{
	(void)state;
	for (uint32_t window = 0; window < 9; window++) {
		struct pair *p = pair_with_window(QP_RC, NULL, window);

		for (unsigned i = 0; i < 12; i++)
			post(p, pair_wr(i, WR_WRITE, 0, 10, 100 * i));
		give(p, 12);
		for (unsigned i = 1; i <= window; i++) {
			arrive(p, i);
			assert_silent(p);
		}
		arrive(p, window + 1);
		assert_answer(p, AETH_NAK, FIRST);
		arrive(p, window + 2);
		assert_silent(p);
		assert_int_equal(qp_early(p->side[1].qp), window + 2);
		pair_free(p);
	}
}

/* What is asked of a repetition is answered when its turn comes. */
static void a_repetition_asks_for_the_first(void **state)
{
	(void)state;
	struct pair *p = pair_with_window(QP_RC, NULL, 4);

	post(p, pair_wr(0, WR_WRITE, 0, 3 * MTU, 0));
	give(p, 3);
	arrive(p, 1);
	p->flight[1].packet.bth.ack_req = true;
	arrive(p, 1);
	assert_int_equal(qp_early(p->side[1].qp), 2);
	assert_silent(p);
	arrive(p, 0);
	assert_answer(p, AETH_ACK, psn_add(FIRST, 1));
	pair_free(p);
}

/* Bytes of the WRITE under way, and of no other. */
static void a_write_is_placed_before_its_turn(void **state)
{
	(void)state;
	struct pair *p = pair_with_window(QP_RC, NULL, 8);
	const uint8_t *here = p->side[0].memory, *there = p->side[1].memory;
	const uint8_t nothing[3 * MTU] = { 0 };

	fill(p->side[0].memory, 6 * MTU);
	post(p, pair_wr(0, WR_WRITE, 0, 3 * MTU - 6, 8192));
	post(p, pair_wr(1, WR_WRITE, 3 * MTU, 2 * MTU, 16384));
	give(p, 5);
	arrive(p, 2); /* whose WRITE? */
	assert_memory_equal(there + 8192, nothing, 3 * MTU);
	arrive(p, 3);
	assert_memory_equal(there + 16384, nothing, 2 * MTU);
	arrive(p, 0);
	assert_memory_equal(there + 8192, here, MTU);
	arrive(p, 1);
	assert_memory_equal(there + 8192, here, 3 * MTU - 6);
	assert_memory_equal(there + 16384, here + 3 * MTU, MTU);
	arrive(p, 4);
	assert_memory_equal(there + 16384, here + 3 * MTU, 2 * MTU);
	pair_free(p);

	p = pair_with_window(QP_RC, NULL, 8);
	there = p->side[1].memory;
	fill(p->side[0].memory, 3 * MTU);
	post(p, pair_wr(0, WR_WRITE, 0, 3 * MTU, 8192));
	give(p, 3);
	arrive(p, 0);
	arrive(p, 2);
	assert_memory_equal(there + 8192 + MTU, nothing, MTU);
	assert_memory_equal(there + 8192 + 2 * MTU, p->side[0].memory + 2 * MTU,
			    MTU);
	pair_free(p);
}

/* Of two WRITEs to one place the later stays, whichever arrives first. */
static void a_later_write_stays(void **state)
{
	(void)state;
	struct pair *p = pair_with_window(QP_RC, NULL, 8);

	fill(p->side[0].memory, 2048);
	post(p, pair_wr(0, WR_WRITE, 0, 2 * MTU, 8192));
	post(p, pair_wr(1, WR_WRITE, 1024, 2 * MTU, 8192));
	give(p, 4);
	for (unsigned i = 4; i-- > 0;)
		arrive(p, i);
	assert_memory_equal(p->side[1].memory + 8192, p->side[0].memory + 1024,
			    2 * MTU);
	pair_free(p);
}

/* One without a receive request is asked for again, and what follows is. */
static void what_is_not_ready_is_lost(void **state)
{
	(void)state;
	struct pair *p = pair_with_window(QP_RC, NULL, 8);
	struct recv_wr wr = pair_recv(7, 20000, 100);

	for (unsigned i = 0; i < 3; i++)
		post(p, pair_wr(i, WR_SEND, 0, 10, 0));
	assert_int_equal(qp_post_recv(p->side[1].qp, &wr), HD_OK);
	give(p, 3);
	arrive(p, 1);
	arrive(p, 2);
	arrive(p, 0);
	assert_answer(p, AETH_ACK, FIRST);
	assert_answer(p, AETH_RNR_NAK, psn_add(FIRST, 1));
	assert_silent(p);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(qp_post_recv(p->side[1].qp, &wr), HD_OK);
	arrive(p, 1);
	assert_answer(p, AETH_ACK, psn_add(FIRST, 2));
	pair_free(p);
}

/* ---- a wire that reorders ---------------------------------------------- */

struct shuffle {
	struct rng rng;
	unsigned naks;
};

static struct verdict overtake_some(void *context, unsigned n,
				    struct packet *packet, unsigned to)
{
	struct shuffle *s = context;
	bool is_request = to == 1;

	(void)n;
	if (!is_request && (packet->aeth.syndrome & AETH_KIND) == AETH_NAK)
		s->naks++;
	return (struct verdict){ 1, is_request && rng_below(&s->rng, 3) == 0 };
}

static void post_some(struct pair *p, struct rng *r)
{
	fill(p->side[0].memory, 8192);
	for (unsigned i = 0; i < 20; i++) {
		uint32_t len = (uint32_t)rng_below(r, 6 * MTU);
		uint64_t to = 8192 + rng_below(r, 8192);
		struct recv_wr recv = pair_recv(100 + i, to, 6 * MTU);
		bool sends = rng_below(r, 2);

		if (sends)
			assert_int_equal(qp_post_recv(p->side[1].qp, &recv),
					 HD_OK);
		post(p, pair_wr(i, sends ? WR_SEND : WR_WRITE,
				rng_below(r, 1024), len, to));
	}
}

static struct pair *run_shuffled(uint64_t seed, uint32_t window, unsigned steps,
				 struct shuffle *s)
{
	struct pair *p = pair_with_window(QP_RC, NULL, window);
	struct rng what;

	*s = (struct shuffle){ .naks = 0 };
	rng_init(&s->rng, seed, 0);
	rng_init(&what, seed, 1);
	p->rule = overtake_some;
	p->context = s;
	post_some(p, &what);
	pair_run(p, steps);
	return p;
}

static void data_are_the_same_with_and_without(void **state)
{
	unsigned without = 0, n = cases_of_run(50, 2000);

	(void)state;
	for (uint64_t seed = 0; seed < n; seed++) {
		struct shuffle s;
		struct pair *plain = run_shuffled(seed, 0, STEPS, &s);
		unsigned naks = s.naks;
		struct pair *kept = run_shuffled(seed, 32, STEPS, &s);

		assert_int_equal(s.naks, 0);
		assert_int_equal(qp_retries(kept->side[0].qp), 0);
		assert_int_equal(kept->now, 0);
		assert_int_equal(plain->side[0].n_done, 20);
		assert_int_equal(kept->side[0].n_done, 20);
		assert_memory_equal(kept->side[1].memory, plain->side[1].memory,
				    MEMORY);
		without += naks;
		pair_free(plain);
		pair_free(kept);
	}
	assert_true(without > n);
}

/* After any step. */
static void those_kept_are_saved(void **state)
{
	(void)state;
	struct shuffle s;
	struct pair *whole = run_shuffled(3, 32, STEPS, &s);

	for (unsigned step = 0; step < 120; step++) {
		struct pair *p = run_shuffled(3, 32, step, &s);

		p = pair_saved_and_restored(p, 32);
		pair_run(p, STEPS);
		assert_int_equal(s.naks, 0);
		assert_int_equal(qp_early(p->side[1].qp),
				 qp_early(whole->side[1].qp));
		assert_memory_equal(p->side[1].memory, whole->side[1].memory,
				    MEMORY);
		pair_free(p);
	}
	pair_free(whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_ack_waits_for_what_is_missing),
		cmocka_unit_test(beyond_the_window_is_a_nak),
		cmocka_unit_test(a_repetition_asks_for_the_first),
		cmocka_unit_test(a_write_is_placed_before_its_turn),
		cmocka_unit_test(a_later_write_stays),
		cmocka_unit_test(what_is_not_ready_is_lost),
		cmocka_unit_test(data_are_the_same_with_and_without),
		cmocka_unit_test(those_kept_are_saved),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
