/* SPDX-License-Identifier: BSD-2-Clause */
/* The requester's table: what each answer, or none, makes it do. */
#include "rules_for_tests.h"

/* 4.096 us * 2^5, the timeout of raw.h. */
#define T (UINT64_C(4096000) * 32)

static void packets_follow_the_path(void **state)
{
	(void)state;
	for (unsigned sl = 0; sl < 16; sl++) {
		raw_init(&q, QP_RC);
		q.attr.sl = (uint8_t)sl;
		q.attr.dlid = (uint16_t)(100 + sl);
		q.attr.slid = (uint16_t)(200 + sl);
		assert_true(raw_raise(&q, QPS_RTS));
		assert_true(raw_post(&q, 1, WR_SEND, 10));
		leaves(1, OP_SEND_ONLY, 0);
		assert_int_equal(q.out[0].lrh.sl, sl);
		assert_int_equal(q.out[0].lrh.dlid, 100 + sl);
		assert_int_equal(q.out[0].lrh.slid, 200 + sl);
		assert_int_equal(q.out[0].bth.pkey, q.attr.pkey);
		assert_int_equal(q.out[0].bth.dest_qp, q.attr.dest_qpn);
		raw_fini(&q);
	}
}

static void one_ack_acknowledges_all_before_it(void **state)
{
	(void)state;
	start();
	for (unsigned i = 0; i < 4; i++)
		assert_true(raw_post(&q, i, WR_SEND, 10));
	leaves(4, OP_SEND_ONLY, 0);
	assert_int_equal(q.out[3].bth.psn, 1); /* wrapped */
	ack(2, ACK_31);
	completed(3, WC_SUCCESS);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(q.sent[i].id, i);
	/* Old, repeated and future ACKs have no effect. */
	ack(1, ACK_31);
	ack(2, ACK_31);
	ack(4, ACK_31);
	ack(100, ACK_31);
	ack(-5, 0x61);
	ack(77, 0x62);
	completed(3, WC_SUCCESS);
	ack(3, ACK_31);
	completed(4, WC_SUCCESS);
	assert_int_equal(qp_due(q.qp), HD_TIME_NEVER);
	assert_int_equal(qp_state(q.qp), QPS_RTS);
	raw_fini(&q);
}

static void an_ack_beyond_an_unanswered_read_repeats_it(void **state)
{
	(void)state;
	start();
	assert_true(raw_post(&q, 1, WR_SEND, 10));
	assert_true(raw_post(&q, 2, WR_READ, 2 * RAW_MTU));
	assert_true(raw_post(&q, 3, WR_SEND, 10));
	leaves(3, OP_SEND_ONLY, 0);
	ack(3, ACK_31);
	/* The first is acknowledged; the read is not. */
	completed(1, WC_SUCCESS);
	raw_drain(&q);
	assert_in_range(q.n_out, 1, 2);
	assert_int_equal(q.out[0].bth.opcode, OP_READ_REQUEST);
	assert_int_equal(raw_sq_psn(&q, 0), 1);
	raw_in(&q, raw_answer(&q, OP_READ_RESPONSE_FIRST, 1, ACK_31, RAW_MTU));
	raw_in(&q, raw_answer(&q, OP_READ_RESPONSE_LAST, 2, ACK_31, RAW_MTU));
	assert_true(q.n_sent >= 2);
	assert_int_equal(q.sent[1].id, 2);
	raw_fini(&q);
}

static void a_read_response_acknowledges_what_was_before(void **state)
{
	(void)state;
	start();
	assert_true(raw_post(&q, 1, WR_SEND, 10));
	assert_true(raw_post(&q, 2, WR_WRITE, 10));
	assert_true(raw_post(&q, 3, WR_READ, 10));
	leaves(3, OP_SEND_ONLY, 0);
	raw_in(&q, raw_answer(&q, OP_READ_RESPONSE_ONLY, 2, ACK_31, 10));
	completed(3, WC_SUCCESS);
	assert_int_equal(q.sent[2].byte_len, 10);
	raw_fini(&q);
}

/* The second of four responses is missing. */
static void a_read_resumes_at_the_first_missing_packet(void **state)
{
	static const unsigned ways[2][3] = {
		{ OP_READ_RESPONSE_FIRST, OP_READ_RESPONSE_MIDDLE, OP_READ_RESPONSE_LAST },
		/* A repeated MIDDLE. */
		{ OP_READ_RESPONSE_MIDDLE, OP_READ_RESPONSE_MIDDLE, OP_READ_RESPONSE_LAST },
	};

	(void)state;
	for (unsigned way = 0; way < 2; way++) {
		start();
		assert_true(raw_post(&q, 1, WR_READ, 3 * RAW_MTU + 9));
		leaves(1, OP_READ_REQUEST, 0);
		raw_in(&q, raw_answer(&q, OP_READ_RESPONSE_FIRST, 0, ACK_31, RAW_MTU));
		raw_in(&q, raw_answer(&q, OP_READ_RESPONSE_MIDDLE, 2, 0, RAW_MTU));
		leaves(1, OP_READ_REQUEST, 1);
		assert_int_equal(q.out[0].reth.va, 0xabc000 + RAW_MTU);
		assert_int_equal(q.out[0].reth.dma_len, 2 * RAW_MTU + 9);
		assert_int_equal(q.out[0].reth.rkey, 0x99);
		/* The rest of the first response has no effect. */
		raw_in(&q, raw_answer(&q, OP_READ_RESPONSE_LAST, 3, ACK_31, 9));
		assert_int_equal(raw_drain(&q), 0);
		for (int k = 0; k < 3; k++)
			raw_in(&q,
			       raw_answer(&q, ways[way][k], 1 + k, ACK_31, k == 2 ? 9 : RAW_MTU));
		completed(1, WC_SUCCESS);
		raw_fini(&q);
	}
}

/* One lost response costs one retry, however many follow it. */
static void a_hole_in_a_read_costs_one_retry(void **state)
{
	(void)state;
	raw_init(&q, QP_RC);
	q.attr.retry = 1;
	assert_true(raw_raise(&q, QPS_RTS));
	assert_true(raw_post(&q, 1, WR_READ, 20 * RAW_MTU));
	leaves(1, OP_READ_REQUEST, 0);
	raw_in(&q, raw_answer(&q, OP_READ_RESPONSE_FIRST, 0, ACK_31, RAW_MTU));
	for (int i = 2; i < 19; i++) {
		raw_in(&q, raw_answer(&q, OP_READ_RESPONSE_MIDDLE, i, 0, RAW_MTU));
		raw_drain(&q);
		assert_int_equal(q.n_out, i == 2);
	}
	raw_in(&q, raw_answer(&q, OP_READ_RESPONSE_LAST, 19, ACK_31, RAW_MTU));
	completed(0, WC_SUCCESS);
	for (int i = 1; i < 20; i++)
		raw_in(&q, raw_answer(&q,
				      i == 1    ? OP_READ_RESPONSE_FIRST
				      : i == 19 ? OP_READ_RESPONSE_LAST
						: OP_READ_RESPONSE_MIDDLE,
				      i, ACK_31, RAW_MTU));
	completed(1, WC_SUCCESS);
	raw_fini(&q);
}

static void rnr_nak_delays_by_its_timer(void **state)
{
	/* Timer code 14 is 1.28 ms: far longer than the ACK timeout. */
	const hd_time wait = 1280 * HD_US;

	(void)state;
	raw_init(&q, QP_RC);
	q.attr.rnr_retry = 7; /* for ever */
	q.attr.retry = 0;
	assert_true(raw_raise(&q, QPS_RTS));
	assert_true(raw_post(&q, 1, WR_SEND, 10));
	assert_true(raw_post(&q, 2, WR_SEND, 10));
	assert_true(raw_post(&q, 3, WR_SEND, 10));
	leaves(3, OP_SEND_ONLY, 0);
	for (unsigned i = 0; i < 40; i++) {
		hd_time from = q.now;

		ack(1, 0x20 | 14);
		completed(1, WC_SUCCESS); /* all before it */
		raw_wait(&q, from + wait - 1);
		assert_int_equal(raw_drain(&q), 0);
		raw_wait(&q, from + wait);
		leaves(2, OP_SEND_ONLY, 1);
	}
	ack(2, ACK_31);
	completed(3, WC_SUCCESS);
	raw_fini(&q);
}

/*
 * A responder may reject each packet after one without a receive request, like Linux' rxe: these
 * NAKs cost no retry and shorten no wait.
 */
static void sequence_naks_behind_not_ready_are_no_news(void **state)
{
	const hd_time wait = 1280 * HD_US;
	hd_time from;

	(void)state;
	raw_init(&q, QP_RC);
	q.attr.retry = 0;
	assert_true(raw_raise(&q, QPS_RTS));
	assert_true(raw_post(&q, 1, WR_SEND, 3 * RAW_MTU));
	leaves(3, OP_SEND_FIRST, 0);
	from = q.now;
	ack(0, 0x20 | 14);
	ack(0, 0x60);
	ack(0, 0x60);
	completed(0, WC_SUCCESS);
	raw_wait(&q, from + wait - 1);
	assert_int_equal(raw_drain(&q), 0);
	raw_wait(&q, from + wait);
	leaves(3, OP_SEND_FIRST, 0);
	ack(2, ACK_31);
	completed(1, WC_SUCCESS);
	raw_fini(&q);
}

/* Even if a response arrives during the wait: no retry. */
static void the_timeout_does_not_run_while_it_waits(void **state)
{
	hd_time from;

	(void)state;
	raw_init(&q, QP_RC);
	q.attr.retry = 0;
	assert_true(raw_raise(&q, QPS_RTS));
	assert_true(raw_post(&q, 1, WR_SEND, 10));
	assert_true(raw_post(&q, 2, WR_SEND, 10));
	leaves(2, OP_SEND_ONLY, 0);
	ack(0, 0x20 | 14);
	from = q.now;
	ack(0, ACK_31);
	completed(1, WC_SUCCESS);
	raw_wait(&q, from + 1280 * HD_US);
	raw_wait(&q, q.now + 1);
	leaves(1, OP_SEND_ONLY, 1);
	completed(1, WC_SUCCESS);
	assert_int_equal(qp_due(q.qp), q.now + T);
	raw_fini(&q);
}

/* A caller that requests a packet after the wait need not check the timer
 * first: from then on the queue pair waits for the ACK. */
static void a_packet_after_the_wait_ends_it(void **state)
{
	(void)state;
	raw_init(&q, QP_RC);
	assert_true(raw_raise(&q, QPS_RTS));
	assert_true(raw_post(&q, 1, WR_SEND, 10));
	leaves(1, OP_SEND_ONLY, 0);
	ack(0, 0x20 | 14);
	q.now += 1280 * HD_US;
	assert_int_equal(qp_due(q.qp), q.now);
	leaves(1, OP_SEND_ONLY, 0);
	assert_int_equal(qp_due(q.qp), q.now + T);
	raw_fini(&q);
}

static void not_ready_too_often(void **state)
{
	(void)state;
	for (unsigned allowed = 0; allowed < 7; allowed++) {
		raw_init(&q, QP_RC);
		q.attr.rnr_retry = (uint8_t)allowed;
		assert_true(raw_raise(&q, QPS_RTS));
		assert_true(raw_post(&q, 1, WR_SEND, 10));
		assert_true(raw_post(&q, 2, WR_SEND, 10));
		leaves(2, OP_SEND_ONLY, 0);
		for (unsigned i = 0; i < allowed; i++) {
			ack(0, 0x20 | 1);
			completed(0, WC_SUCCESS);
			raw_wait(&q, q.now + 10 * HD_US);
			leaves(2, OP_SEND_ONLY, 0);
		}
		ack(0, 0x20 | 1);
		completed(2, WC_WR_FLUSH_ERR);
		assert_int_equal(q.sent[0].status, WC_RNR_RETRY_EXC_ERR);
		assert_int_equal(qp_state(q.qp), QPS_ERR);
		raw_fini(&q);
	}
}

static void answers_still_leave_while_it_waits(void **state)
{
	(void)state;
	start();
	assert_true(raw_post(&q, 1, WR_SEND, 10));
	leaves(1, OP_SEND_ONLY, 0);
	ack(0, 0x20 | 14);
	raw_in(&q, raw_data(&q, OP_WRITE_ONLY, 0, 5, 5));
	assert_int_equal(raw_drain(&q), 1);
	assert_int_equal(q.out[0].bth.opcode, OP_ACK);
	raw_fini(&q);
}

static void a_sequence_nak_goes_back_at_once(void **state)
{
	(void)state;
	start();
	for (unsigned i = 0; i < 3; i++)
		assert_true(raw_post(&q, i, WR_WRITE, 10));
	leaves(3, OP_WRITE_ONLY, 0);
	/* Twice is allowed; progress gives both back. */
	ack(1, 0x60);
	completed(1, WC_SUCCESS);
	leaves(2, OP_WRITE_ONLY, 1);
	ack(1, 0x60);
	leaves(2, OP_WRITE_ONLY, 1);
	ack(2, 0x60);
	completed(2, WC_SUCCESS);
	leaves(1, OP_WRITE_ONLY, 2);
	ack(2, 0x60);
	leaves(1, OP_WRITE_ONLY, 2);
	ack(2, 0x60);
	completed(3, WC_RETRY_EXC_ERR);
	assert_int_equal(qp_state(q.qp), QPS_ERR);
	raw_fini(&q);
}

static void nothing_for_t(void **state)
{
	hd_time from;

	(void)state;
	start();
	assert_true(raw_post(&q, 1, WR_SEND, 2 * RAW_MTU));
	assert_true(raw_post(&q, 2, WR_SEND, 10));
	leaves(3, OP_SEND_FIRST, 0);
	q.now += T / 2; /* an answer starts the time again */
	ack(0, ACK_31);
	from = q.now;
	for (unsigned i = 0; i < 2; i++) {
		raw_wait(&q, from + T - 1);
		assert_int_equal(raw_drain(&q), 0);
		raw_wait(&q, from + T);
		leaves(2, OP_SEND_LAST, 1);
		from = q.now;
	}
	raw_wait(&q, from + T);
	assert_int_equal(raw_drain(&q), 0);
	completed(2, WC_WR_FLUSH_ERR);
	assert_int_equal(q.sent[0].status, WC_RETRY_EXC_ERR);
	raw_fini(&q);
}

static void seven_retries_are_seven(void **state)
{
	unsigned sent = 0;

	(void)state;
	raw_init(&q, QP_RC);
	q.attr.retry = 7;
	assert_true(raw_raise(&q, QPS_RTS));
	assert_true(raw_post(&q, 1, WR_SEND, 2));
	for (unsigned i = 0; i < 20; i++) {
		sent += raw_drain(&q);
		raw_wait(&q, q.now + T);
	}
	assert_int_equal(sent, 8);
	completed(1, WC_RETRY_EXC_ERR);
	raw_fini(&q);
}

static void timeout_0_is_never(void **state)
{
	(void)state;
	raw_init(&q, QP_RC);
	q.attr.timeout = 0;
	assert_true(raw_raise(&q, QPS_RTS));
	assert_true(raw_post(&q, 1, WR_READ, 2));
	leaves(1, OP_READ_REQUEST, 0);
	assert_int_equal(qp_due(q.qp), HD_TIME_NEVER);
	raw_wait(&q, 100 * HD_S);
	assert_int_equal(raw_drain(&q), 0);
	raw_in(&q, raw_answer(&q, OP_READ_RESPONSE_ONLY, 0, ACK_31, 2));
	completed(1, WC_SUCCESS);
	raw_fini(&q);
}

static void refusals_name_their_request(void **state)
{
	static const enum wc_status says[] = { WC_SUCCESS, WC_REM_INV_REQ_ERR, WC_REM_ACCESS_ERR,
					       WC_REM_OP_ERR };

	(void)state;
	for (unsigned code = 1; code <= 3; code++) {
		start();
		for (unsigned i = 0; i < 5; i++) {
			struct send_wr wr = raw_wr(i, WR_SEND, 2 * RAW_MTU);

			if (i != 1) /* no completion unless it fails */
				wr.flags = 0;
			assert_int_equal(qp_post_send(q.qp, &wr), HD_OK);
		}
		leaves(10, OP_SEND_FIRST, 0);
		assert_true(raw_recv(&q, 9, 10));
		ack(5, 0x60 | code); /* second packet of the third */
		completed(4, WC_WR_FLUSH_ERR);
		assert_int_equal(q.sent[0].id, 1);
		assert_int_equal(q.sent[0].status, WC_SUCCESS);
		assert_int_equal(q.sent[1].id, 2);
		assert_int_equal(q.sent[1].status, says[code]);
		assert_int_equal(q.sent[2].id, 3);
		assert_int_equal(q.sent[2].status, WC_WR_FLUSH_ERR);
		assert_int_equal(q.sent[3].id, 4);
		assert_int_equal(q.n_received, 1);
		assert_int_equal(q.received[0].status, WC_WR_FLUSH_ERR);
		assert_int_equal(qp_state(q.qp), QPS_ERR);
		/* Later ones too. */
		assert_true(raw_post(&q, 8, WR_SEND, 1));
		completed(5, WC_WR_FLUSH_ERR);
		assert_true(raw_recv(&q, 10, 1));
		assert_int_equal(q.n_received, 2);
		raw_fini(&q);
	}
}

static void a_nak_does_not_answer_a_read(void **state)
{
	(void)state;
	start();
	assert_true(raw_post(&q, 1, WR_READ, 10));
	assert_true(raw_post(&q, 2, WR_WRITE, 10));
	leaves(2, OP_READ_REQUEST, 0);
	ack(1, 0x62);
	completed(0, WC_SUCCESS);
	raw_drain(&q);
	assert_true(q.n_out >= 1);
	assert_int_equal(q.out[0].bth.opcode, OP_READ_REQUEST);
	assert_int_equal(raw_sq_psn(&q, 0), 0);
	raw_in(&q, raw_answer(&q, OP_READ_RESPONSE_ONLY, 0, ACK_31, 10));
	completed(1, WC_SUCCESS);
	ack(1, 0x62);
	completed(2, WC_REM_ACCESS_ERR);
	raw_fini(&q);
}

static void answers_of_the_wrong_kind(void **state)
{
	(void)state;
	start();
	assert_true(raw_post(&q, 1, WR_READ, 10));
	leaves(1, OP_READ_REQUEST, 0);
	raw_in(&q, raw_answer(&q, OP_ATOMIC_ACK, 0, ACK_31, 0));
	completed(1, WC_BAD_RESP_ERR);
	raw_fini(&q);
	start();
	assert_true(raw_post(&q, 1, WR_FETCH_ADD, 8));
	leaves(1, OP_FETCH_ADD, 0);
	raw_in(&q, raw_answer(&q, OP_READ_RESPONSE_ONLY, 0, ACK_31, 8));
	completed(1, WC_BAD_RESP_ERR);
	assert_int_equal(q.writes, 0);
	raw_fini(&q);
}

static void answers_of_the_wrong_length(void **state)
{
	(void)state;
	for (size_t len = 9; len <= 11; len += 2) {
		start();
		assert_true(raw_post(&q, 1, WR_READ, 10));
		leaves(1, OP_READ_REQUEST, 0);
		raw_in(&q, raw_answer(&q, OP_READ_RESPONSE_ONLY, 0, ACK_31, len));
		completed(1, WC_LOC_LEN_ERR);
		assert_int_equal(q.writes, 0);
		raw_fini(&q);
	}
}

static void reads_wait_for_one_another(void **state)
{
	(void)state;
	raw_init(&q, QP_RC);
	q.attr.max_rd = 1;
	assert_true(raw_raise(&q, QPS_RTS));
	assert_true(raw_post(&q, 1, WR_READ, 10));
	assert_true(raw_post(&q, 2, WR_FETCH_ADD, 8));
	assert_true(raw_post(&q, 3, WR_SEND, 10));
	leaves(1, OP_READ_REQUEST, 0);
	raw_in(&q, raw_answer(&q, OP_READ_RESPONSE_ONLY, 0, ACK_31, 10));
	leaves(2, OP_FETCH_ADD, 1);
	raw_fini(&q);
}

static void a_fence_waits_for_reads_only(void **state)
{
	struct send_wr wr;

	(void)state;
	start();
	wr = raw_wr(3, WR_SEND, 10);
	wr.flags |= WR_FENCE;
	assert_true(raw_post(&q, 1, WR_SEND, 10));
	assert_int_equal(qp_post_send(q.qp, &wr), HD_OK);
	leaves(2, OP_SEND_ONLY, 0); /* nothing is read: no wait */
	assert_true(raw_post(&q, 4, WR_READ, 10));
	assert_int_equal(qp_post_send(q.qp, &wr), HD_OK);
	assert_true(raw_post(&q, 5, WR_SEND, 10));
	leaves(1, OP_READ_REQUEST, 2);
	raw_in(&q, raw_answer(&q, OP_READ_RESPONSE_ONLY, 2, ACK_31, 10));
	leaves(2, OP_SEND_ONLY, 3);
	raw_fini(&q);
}

static void long_messages_ask_in_between(void **state)
{
	static const uint32_t every[] = { 0, 1, 5 };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		unsigned limit = every[i] ? every[i] : 16, quiet = 0;

		raw_init(&q, QP_RC);
		q.attr.ack_every = every[i];
		assert_true(raw_raise(&q, QPS_RTS));
		assert_true(raw_post(&q, 1, WR_WRITE, 40 * RAW_MTU));
		assert_int_equal(raw_drain(&q), 40);
		for (unsigned k = 0; k < 40; k++) {
			quiet = q.out[k].bth.ack_req ? 0 : quiet + 1;
			assert_true(quiet < limit);
		}
		assert_true(q.out[39].bth.ack_req);
		raw_fini(&q);
	}
}

static void credits_hold_sends_back(void **state)
{
	(void)state;
	raw_init(&q, QP_RC);
	q.attr.credits = true;
	assert_true(raw_raise(&q, QPS_RTS));
	for (unsigned i = 0; i < 6; i++)
		assert_true(raw_post(&q, i, WR_SEND, 10));
	assert_true(raw_post(&q, 6, WR_WRITE, 10));
	leaves(1, OP_SEND_ONLY, 0); /* the probe */
	assert_true(q.out[0].bth.ack_req);
	{ /* MSN 1, no credit: SSN 2 may probe again */
		struct packet p = raw_answer(&q, OP_ACK, 0, 0, 0);

		p.aeth.msn = 1;
		raw_in(&q, p);
		leaves(1, OP_SEND_ONLY, 1);
		p = raw_answer(&q, OP_ACK, 1, 2, 0); /* two more */
		p.aeth.msn = 2;
		raw_in(&q, p);
		leaves(3, OP_SEND_ONLY, 2);
		p = raw_answer(&q, OP_ACK, 4, 0, 0);
		p.aeth.msn = 5;
		raw_in(&q, p);
		/* The last send as a probe, the write needs none. */
		leaves(2, OP_SEND_ONLY, 5);
	}
	completed(5, WC_SUCCESS);
	raw_fini(&q);
}

static void reads_and_writes_use_no_credit(void **state)
{
	(void)state;
	raw_init(&q, QP_RC);
	q.attr.credits = true;
	assert_true(raw_raise(&q, QPS_RTS));
	assert_true(raw_post(&q, 1, WR_READ, 10));
	assert_true(raw_post(&q, 2, WR_WRITE, 10));
	assert_true(raw_post(&q, 3, WR_FETCH_ADD, 8));
	assert_true(raw_post(&q, 4, WR_SEND, 10)); /* the probe */
	assert_true(raw_post(&q, 5, WR_SEND, 10));
	leaves(4, OP_READ_REQUEST, 0);
	raw_fini(&q);
}

static void credits_come_with_repeated_acks_and_end_with_31(void **state)
{
	struct packet p;

	(void)state;
	raw_init(&q, QP_RC);
	q.attr.credits = true;
	assert_true(raw_raise(&q, QPS_RTS));
	for (unsigned i = 0; i < 10; i++)
		assert_true(raw_post(&q, i, WR_SEND, 10));
	leaves(1, OP_SEND_ONLY, 0);
	p = raw_answer(&q, OP_ACK, 0, 0, 0);
	p.aeth.msn = 1;
	raw_in(&q, p);
	leaves(1, OP_SEND_ONLY, 1);
	p.aeth.syndrome = 3; /* the same again, with three more */
	raw_in(&q, p);
	leaves(3, OP_SEND_ONLY, 2);
	p = raw_answer(&q, OP_ACK, 1, ACK_31, 0);
	p.aeth.msn = 2;
	raw_in(&q, p);
	leaves(5, OP_SEND_ONLY, 5);
	raw_fini(&q);
}

static void rejects_invalid_posts(void **state)
{
	struct send_wr wr;

	(void)state;
	raw_init(&q, QP_RC);
	assert_false(raw_post(&q, 1, WR_SEND, 1)); /* RESET */
	assert_false(raw_recv(&q, 1, 1));
	assert_true(raw_raise(&q, QPS_INIT));
	assert_false(raw_post(&q, 1, WR_SEND, 1));
	assert_true(raw_recv(&q, 1, 1));
	raw_fini(&q);
	start();
	wr = raw_wr(1, WR_SEND, 1);
	wr.n_sge = WR_MAX_SGE + 1;
	assert_int_equal(qp_post_send(q.qp, &wr), HD_ERR_RANGE);
	wr = raw_wr(1, WR_SEND, 0x40000000); /* three of them exceed 2^31 */
	wr.n_sge = 3;
	wr.sge[1] = wr.sge[2] = wr.sge[0];
	wr.sge[2].length = 1;
	wr.sge[0].length = 0x40000000;
	assert_int_equal(qp_post_send(q.qp, &wr), HD_ERR_RANGE);
	wr = raw_wr(1, WR_SEND, WR_MAX_INLINE + 1);
	wr.flags |= WR_INLINE;
	assert_int_equal(qp_post_send(q.qp, &wr), HD_ERR_RANGE);
	wr = raw_wr(1, WR_FETCH_ADD, 4);
	assert_int_not_equal(qp_post_send(q.qp, &wr), HD_OK);
	raw_fini(&q);
	raw_init(&q, QP_UC);
	assert_true(raw_raise(&q, QPS_RTS));
	assert_false(raw_post(&q, 1, WR_READ, 1));
	assert_false(raw_post(&q, 1, WR_FETCH_ADD, 8));
	assert_true(raw_post(&q, 1, WR_WRITE, 1));
	raw_fini(&q);
	raw_init(&q, QP_UD);
	assert_true(raw_raise(&q, QPS_RTS));
	assert_false(raw_post(&q, 1, WR_WRITE, 1));
	assert_false(raw_post(&q, 1, WR_READ, 1));
	raw_fini(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_follow_the_path),
		cmocka_unit_test(one_ack_acknowledges_all_before_it),
		cmocka_unit_test(an_ack_beyond_an_unanswered_read_repeats_it),
		cmocka_unit_test(a_read_response_acknowledges_what_was_before),
		cmocka_unit_test(a_read_resumes_at_the_first_missing_packet),
		cmocka_unit_test(a_hole_in_a_read_costs_one_retry),
		cmocka_unit_test(rnr_nak_delays_by_its_timer),
		cmocka_unit_test(sequence_naks_behind_not_ready_are_no_news),
		cmocka_unit_test(the_timeout_does_not_run_while_it_waits),
		cmocka_unit_test(a_packet_after_the_wait_ends_it),
		cmocka_unit_test(not_ready_too_often),
		cmocka_unit_test(answers_still_leave_while_it_waits),
		cmocka_unit_test(a_sequence_nak_goes_back_at_once),
		cmocka_unit_test(nothing_for_t),
		cmocka_unit_test(seven_retries_are_seven),
		cmocka_unit_test(timeout_0_is_never),
		cmocka_unit_test(refusals_name_their_request),
		cmocka_unit_test(a_nak_does_not_answer_a_read),
		cmocka_unit_test(answers_of_the_wrong_kind),
		cmocka_unit_test(answers_of_the_wrong_length),
		cmocka_unit_test(reads_wait_for_one_another),
		cmocka_unit_test(a_fence_waits_for_reads_only),
		cmocka_unit_test(long_messages_ask_in_between),
		cmocka_unit_test(credits_hold_sends_back),
		cmocka_unit_test(reads_and_writes_use_no_credit),
		cmocka_unit_test(credits_come_with_repeated_acks_and_end_with_31),
		cmocka_unit_test(rejects_invalid_posts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
