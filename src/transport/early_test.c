/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets that arrive early, and the effect of the window. */
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

/* Delivers the next n requests of side 0; they are at p->flight[0 .. n - 1]. */
static void give(struct pair *p, unsigned n)
{
	p->n_flight = n;
	for (unsigned i = 0; i < n; i++)
		assert_true(qp_transmit(p->side[0].qp, p->now, &p->flight[i].packet,
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

/* At the edge of the window, around the overflow of PSNs. */
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

/* A request for an ACK in a repeated packet is served in sequence. */
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
	arrive(p, 2); /* the payload of which WRITE */
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
	assert_memory_equal(there + 8192 + 2 * MTU, p->side[0].memory + 2 * MTU, MTU);
	pair_free(p);
}

/* Of two WRITEs to one place, the later one in sequence stays, whichever arrives first. */
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
	assert_memory_equal(p->side[1].memory + 8192, p->side[0].memory + 1024, 2 * MTU);
	pair_free(p);
}

/* A packet without a receive request is requested again with all that follow. */
static void packets_without_receive_request_are_lost(void **state)
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

/* ---- answers ----------------------------------------------------------- */

/* Requests of side 0 arrive; then side 1's n answers are at p->flight. */
static void answers(struct pair *p, unsigned requests, unsigned n)
{
	give(p, requests);
	for (unsigned i = 0; i < requests; i++)
		arrive(p, i);
	for (unsigned i = 0; i < n; i++)
		assert_true(qp_transmit(p->side[1].qp, p->now, &p->flight[i].packet,
					p->flight[i].payload));
	assert_silent(p);
}

static void answer_arrives(struct pair *p, unsigned i)
{
	struct flight *f = &p->flight[i];

	f->packet.payload = f->payload;
	qp_receive(p->side[0].qp, &f->packet, p->now);
}

/* Order number k of n! as a row of numbers below n. */
static void order(unsigned k, unsigned n, unsigned *row)
{
	for (unsigned i = 0; i < n; i++)
		row[i] = i;
	for (unsigned left = n; left > 1; left--) {
		unsigned at = k % left, last = row[left - 1];

		k /= left;
		row[left - 1] = row[at];
		row[at] = last;
	}
}

/* All 120 orders of five answers: two READs, and the ACK of a WRITE between. */
static void answers_are_taken_in_any_order(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 120; k++) {
		struct pair *p = pair_with_window(QP_RC, NULL, 4);
		struct side *here = &p->side[0], *there = &p->side[1];
		unsigned row[5];

		order(k, 5, row);
		fill(there->memory, 4096);
		post(p, pair_wr(0, WR_READ, 8192, 3 * MTU - 5, 0));
		post(p, pair_wr(1, WR_WRITE, 0, 10, 8192));
		post(p, pair_wr(2, WR_READ, 8192, 10, 100));
		answers(p, 3, 5);
		for (unsigned i = 0; i < 5; i++)
			answer_arrives(p, row[i]);
		assert_int_equal(here->n_done, 3);
		for (unsigned i = 0; i < 3; i++)
			assert_int_equal(here->done[i].id, i);
		assert_int_equal(qp_retries(here->qp), 0);
		/* The later READ's bytes are on top of the first one's. */
		assert_memory_equal(here->memory + 8192, there->memory + 100, 10);
		assert_memory_equal(here->memory + 8202, there->memory + 10, 3 * MTU - 15);
		pair_free(p);
	}
}

/* Bytes of the oldest READ, and of no other. */
static void a_read_is_placed_before_its_turn(void **state)
{
	(void)state;
	struct pair *p = pair_with_window(QP_RC, NULL, 8);
	const uint8_t *here = p->side[0].memory, *there = p->side[1].memory;
	const uint8_t nothing[MTU] = { 0 };

	fill(p->side[1].memory, 6 * MTU);
	post(p, pair_wr(0, WR_READ, 8192, 3 * MTU, 0));
	post(p, pair_wr(1, WR_READ, 16384, MTU, 3 * MTU));
	answers(p, 2, 4);
	answer_arrives(p, 3);
	assert_memory_equal(here + 16384, nothing, MTU);
	answer_arrives(p, 2);
	assert_memory_equal(here + 8192 + 2 * MTU, there + 2 * MTU, MTU);
	assert_memory_equal(here + 8192, nothing, MTU);
	assert_int_equal(p->side[0].n_done, 0);
	answer_arrives(p, 0);
	answer_arrives(p, 1);
	assert_memory_equal(here + 8192, there, 3 * MTU);
	assert_memory_equal(here + 16384, there + 3 * MTU, MTU);
	assert_int_equal(p->side[0].n_done, 2);
	assert_int_equal(qp_early(p->side[0].qp), 2);
	pair_free(p);
}

/* One packet beyond the window: the READ is repeated. */
static void an_answer_beyond_the_window_asks_again(void **state)
{
	(void)state;
	for (uint32_t window = 0; window < 6; window++) {
		struct pair *p = pair_with_window(QP_RC, NULL, window);

		post(p, pair_wr(0, WR_READ, 8192, 8 * MTU, 0));
		answers(p, 1, 8);
		for (unsigned i = 1; i <= window; i++)
			answer_arrives(p, i);
		assert_int_equal(qp_retries(p->side[0].qp), 0);
		answer_arrives(p, window + 1);
		assert_int_equal(qp_retries(p->side[0].qp), 1);
		answer_arrives(p, window + 2);
		assert_int_equal(qp_retries(p->side[0].qp), 1);
		answer_arrives(p, 0); /* and those that were kept */
		give(p, 1);
		assert_int_equal(p->flight[0].packet.bth.psn, psn_add(FIRST, window + 1));
		pair_free(p);
	}
}

/* A NAK is not acted upon before its turn, nor if it is out of date by then. */
static void a_nak_waits_for_what_is_missing(void **state)
{
	(void)state;
	for (unsigned late = 0; late < 2; late++) {
		struct pair *p = pair_with_window(QP_RC, NULL, 4);
		struct packet *nak;

		post(p, pair_wr(0, WR_READ, 8192, 2 * MTU, 0));
		post(p, pair_wr(1, WR_WRITE, 0, 10, 8192));
		answers(p, 2, 3);
		p->flight[3] = p->flight[2];
		nak = &p->flight[3].packet;
		nak->aeth.syndrome = AETH_NAK + NAK_PSN_ERROR;
		answer_arrives(p, 3);
		if (late)
			answer_arrives(p, 2);
		assert_int_equal(qp_retries(p->side[0].qp), 0);
		answer_arrives(p, 1);
		answer_arrives(p, 0);
		assert_int_equal(qp_retries(p->side[0].qp), late ? 0 : 1);
		assert_int_equal(p->side[0].n_done, late ? 2 : 1);
		pair_free(p);
	}
}

/* ---- a wire that reorders ---------------------------------------------- */

struct shuffle {
	struct rng rng;
	bool both; /* answers, too */
	unsigned naks;
};

static struct verdict overtake_some(void *context, unsigned n, struct packet *packet, unsigned to)
{
	struct shuffle *s = context;
	bool is_request = to == 1;

	(void)n;
	if (!is_request && (packet->aeth.syndrome & AETH_KIND) == AETH_NAK)
		s->naks++;
	return (struct verdict){ 1, (is_request || s->both) && rng_below(&s->rng, 3) == 0 };
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
			assert_int_equal(qp_post_recv(p->side[1].qp, &recv), HD_OK);
		post(p, pair_wr(i, sends ? WR_SEND : WR_WRITE, rng_below(r, 1024), len, to));
	}
}

/* Reads and atomics among writes, which leave alone what is read. */
static void post_answered(struct pair *p, struct rng *r)
{
	static const enum wr_kind kinds[] = { WR_READ, WR_READ, WR_WRITE, WR_FETCH_ADD };

	fill(p->side[0].memory, 8192);
	fill(p->side[1].memory, 8192);
	for (unsigned i = 0; i < 20; i++) {
		enum wr_kind kind = kinds[rng_below(r, 4)];
		uint32_t len = (uint32_t)rng_below(r, 6 * MTU);
		uint64_t local = rng_below(r, 1024), remote = local;

		if (kind == WR_WRITE)
			remote += 8192;
		else
			local = 16384 + rng_below(r, 4096);
		if (kind == WR_FETCH_ADD)
			len = 8, remote = 32768 + 8 * rng_below(r, 2);
		struct send_wr wr = pair_wr(i, kind, local, len, remote);

		wr.swap_add = 1 + i;
		post(p, wr);
	}
}

static struct pair *run_shuffled_as(uint64_t seed, uint32_t window, bool both, unsigned steps,
				    struct shuffle *s)
{
	struct pair *p = pair_with_window(QP_RC, NULL, window);
	struct rng what;

	*s = (struct shuffle){ .both = both };
	rng_init(&s->rng, seed, 0);
	rng_init(&what, seed, 1);
	p->rule = overtake_some;
	p->context = s;
	(both ? post_answered : post_some)(p, &what);
	pair_run(p, steps);
	return p;
}

static struct pair *run_shuffled(uint64_t seed, uint32_t window, unsigned steps, struct shuffle *s)
{
	return run_shuffled_as(seed, window, false, steps, s);
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
		assert_memory_equal(kept->side[1].memory, plain->side[1].memory, MEMORY);
		without += naks;
		pair_free(plain);
		pair_free(kept);
	}
	assert_true(without > n);
}

static void reads_are_the_same_with_and_without(void **state)
{
	unsigned without = 0, n = cases_of_run(50, 2000);

	(void)state;
	for (uint64_t seed = 0; seed < n; seed++) {
		struct shuffle s;
		struct pair *plain = run_shuffled_as(seed, 0, true, STEPS, &s);
		struct pair *kept = run_shuffled_as(seed, 32, true, STEPS, &s);

		assert_int_equal(s.naks, 0);
		assert_int_equal(qp_retries(kept->side[0].qp), 0);
		assert_int_equal(kept->now, 0);
		assert_int_equal(plain->side[0].n_done, 20);
		assert_int_equal(kept->side[0].n_done, 20);
		for (unsigned i = 0; i < 2; i++)
			assert_memory_equal(kept->side[i].memory, plain->side[i].memory, MEMORY);
		without += (unsigned)qp_retries(plain->side[0].qp);
		pair_free(plain);
		pair_free(kept);
	}
	assert_true(without > n);
}

/* After any step. */
static void answers_kept_are_saved(void **state)
{
	(void)state;
	struct shuffle s;
	struct pair *whole = run_shuffled_as(3, 32, true, STEPS, &s);

	assert_true(qp_early(whole->side[0].qp) > 5);
	for (unsigned step = 0; step < 160; step++) {
		struct pair *p = run_shuffled_as(3, 32, true, step, &s);

		p = pair_saved_and_restored(p, 32);
		pair_run(p, STEPS);
		assert_int_equal(qp_retries(p->side[0].qp), 0);
		assert_int_equal(qp_early(p->side[0].qp), qp_early(whole->side[0].qp));
		assert_memory_equal(p->side[0].memory, whole->side[0].memory, MEMORY);
		pair_free(p);
	}
	pair_free(whole);
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
		assert_int_equal(qp_early(p->side[1].qp), qp_early(whole->side[1].qp));
		assert_memory_equal(p->side[1].memory, whole->side[1].memory, MEMORY);
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
		cmocka_unit_test(packets_without_receive_request_are_lost),
		cmocka_unit_test(data_are_the_same_with_and_without),
		cmocka_unit_test(those_kept_are_saved),
		cmocka_unit_test(answers_are_taken_in_any_order),
		cmocka_unit_test(a_read_is_placed_before_its_turn),
		cmocka_unit_test(an_answer_beyond_the_window_asks_again),
		cmocka_unit_test(a_nak_waits_for_what_is_missing),
		cmocka_unit_test(reads_are_the_same_with_and_without),
		cmocka_unit_test(answers_kept_are_saved),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
