/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The responder's checks, in their order, with packets made by hand: what
 * answer each gives, which completion and event, and that memory stays.
 */
#include "rules_for_tests.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define NAK_SEQ 0x60
#define NAK_INV 0x61
#define NAK_ACC 0x62
#define NAK_OPR 0x63

/* The request was rejected: a NAK, the error state, and memory unchanged. */
static void refused(unsigned syndrome, int psn, unsigned msn)
{
	answered(syndrome, psn, msn);
	assert_int_equal(qp_state(q.qp), QPS_ERR);
	assert_int_equal(q.writes, 0);
	assert_int_equal(q.atomics, 0);
	assert_int_equal(q.events[QP_EVENT_ACCESS_ERR], syndrome == NAK_ACC);
	raw_fini(&q);
}

static void ignored(void)
{
	assert_int_equal(raw_drain(&q), 0);
	assert_int_equal(q.writes + q.reads + q.atomics, 0);
	assert_int_equal(q.n_received, 0);
}

static void strangers_get_no_answer(void **state)
{
	struct packet p;

	(void)state;
	start();
	assert_true(raw_recv(&q, 1, 1000));
	p = raw_data(&q, OP_SEND_ONLY, 0, 5, 0);
	p.bth.tver = 1;
	raw_in(&q, p);
	ignored();
	p = raw_data(&q, OP_SEND_ONLY, 0, 5, 0);
	p.lrh.slid++;
	raw_in(&q, p);
	ignored();
	p = raw_data(&q, OP_SEND_ONLY, 0, 5, 0);
	p.lrh.dlid++;
	raw_in(&q, p);
	ignored();
	raw_in(&q, raw_data(&q, SERVICE_UC | OP_SEND_ONLY, 0, 5, 0));
	ignored();
	raw_in(&q, raw_data(&q, SERVICE_UD | OP_SEND_ONLY, 0, 5, 0));
	ignored();
	assert_int_equal(q.events[QP_EVENT_PKEY], 0);
	assert_int_equal(qp_state(q.qp), QPS_RTS);
	raw_in(&q, raw_data(&q, OP_SEND_ONLY, 0, 5, 0));
	answered(ACK_31, 0, 1);
	raw_fini(&q);
}

static void partitions_must_match(void **state)
{
	/* Own key, peer's key, whether they may communicate. */
	static const uint16_t keys[][3] = { { 0x8001, 0x8001, 1 },
					    { 0x8001, 0x0001, 1 },
					    { 0x0001, 0x8001, 1 },
					    { 0x0001, 0x0001, 0 },
					    { 0x8001, 0x8002, 0 } };

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		struct packet p;

		raw_init(&q, QP_RC);
		q.attr.pkey = keys[i][0];
		assert_true(raw_raise(&q, QPS_RTS));
		assert_true(raw_recv(&q, 1, 1000));
		p = raw_data(&q, OP_SEND_ONLY, 0, 5, 0);
		p.bth.pkey = keys[i][1];
		raw_in(&q, p);
		assert_int_equal(raw_drain(&q), keys[i][2]);
		assert_int_equal(q.n_received, keys[i][2]);
		assert_int_equal(q.events[QP_EVENT_PKEY], !keys[i][2]);
		raw_fini(&q);
	}
}

static void states_that_do_not_receive(void **state)
{
	(void)state;
	raw_init(&q, QP_RC);
	raw_in(&q, raw_data(&q, OP_WRITE_ONLY, 0, 5, 5));
	ignored();
	assert_true(raw_raise(&q, QPS_INIT));
	raw_in(&q, raw_data(&q, OP_WRITE_ONLY, 0, 5, 5));
	ignored();
	assert_true(raw_move(&q, QPS_ERR));
	raw_in(&q, raw_data(&q, OP_WRITE_ONLY, 0, 5, 5));
	ignored();
	raw_fini(&q);
}

/* RTR answers too, and reports the first request once. */
static void first_request_establishes(void **state)
{
	(void)state;
	raw_init(&q, QP_RC);
	assert_true(raw_raise(&q, QPS_RTR));
	raw_in(&q, raw_data(&q, OP_WRITE_ONLY, 0, 5, 5));
	answered(ACK_31, 0, 1);
	raw_in(&q, raw_data(&q, OP_WRITE_ONLY, 1, 5, 5));
	answered(ACK_31, 1, 2);
	assert_int_equal(q.events[QP_EVENT_COMM_EST], 1);
	raw_fini(&q);
}

static void a_gap_gives_one_nak(void **state)
{
	(void)state;
	start();
	raw_in(&q, raw_data(&q, OP_WRITE_ONLY, 1, 5, 5));
	raw_in(&q, raw_data(&q, OP_WRITE_ONLY, 2, 5, 5));
	answered(NAK_SEQ, 0, 0);
	raw_in(&q, raw_data(&q, OP_WRITE_ONLY, 3, 5, 5));
	ignored();
	raw_in(&q, raw_data(&q, OP_WRITE_ONLY, 0, 5, 5));
	answered(ACK_31, 0, 1);
	raw_in(&q, raw_data(&q, OP_WRITE_ONLY, 2, 5, 5));
	answered(NAK_SEQ, 1, 1);
	assert_int_equal(qp_state(q.qp), QPS_RTS);
	raw_fini(&q);
}

/* Each packet after each state of the message in progress. */
static void operations_out_of_order(void **state)
{
	static const unsigned cases[][2] = {
		{ OP_MASK, OP_SEND_MIDDLE },        { OP_MASK, OP_SEND_LAST },
		{ OP_MASK, OP_SEND_LAST_IMM },      { OP_MASK, OP_SEND_LAST_INV },
		{ OP_MASK, OP_WRITE_MIDDLE },       { OP_MASK, OP_WRITE_LAST },
		{ OP_MASK, OP_WRITE_LAST_IMM },     { OP_SEND_FIRST, OP_SEND_FIRST },
		{ OP_SEND_FIRST, OP_SEND_ONLY },    { OP_SEND_FIRST, OP_WRITE_FIRST },
		{ OP_SEND_FIRST, OP_WRITE_MIDDLE }, { OP_SEND_FIRST, OP_WRITE_LAST },
		{ OP_SEND_FIRST, OP_READ_REQUEST }, { OP_SEND_FIRST, OP_FETCH_ADD },
		{ OP_WRITE_FIRST, OP_WRITE_FIRST }, { OP_WRITE_FIRST, OP_WRITE_ONLY },
		{ OP_WRITE_FIRST, OP_SEND_MIDDLE }, { OP_WRITE_FIRST, OP_SEND_LAST },
		{ OP_WRITE_FIRST, OP_SEND_ONLY },   { OP_WRITE_FIRST, OP_READ_REQUEST },
		{ OP_WRITE_FIRST, OP_CMP_SWAP },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		bool inside = cases[i][0] != OP_MASK;

		start();
		assert_true(raw_recv(&q, 1, 2000));
		assert_true(raw_recv(&q, 2, 2000));
		if (inside) {
			struct packet p = raw_data(&q, cases[i][0], 0, RAW_MTU, 3 * RAW_MTU);

			p.bth.ack_req = false;
			raw_in(&q, p);
			assert_int_equal(raw_drain(&q), 0);
		}
		q.writes = 0;
		raw_in(&q, raw_data(&q, cases[i][1], inside,
				    cases[i][1] < OP_READ_REQUEST ? RAW_MTU : 0, RAW_MTU));
		assert_int_equal(q.events[QP_EVENT_REQ_ERR], 1);
		/* The request in progress has the error status; the other one is flushed. */
		assert_int_equal(q.n_received, 2);
		assert_int_equal(q.received[0].status,
				 cases[i][0] == OP_SEND_FIRST ? WC_LOC_QP_OP_ERR : WC_WR_FLUSH_ERR);
		assert_int_equal(q.received[1].status, WC_WR_FLUSH_ERR);
		refused(NAK_INV, inside, 0);
	}
}

static void operations_unknown(void **state)
{
	static const unsigned unknown[] = { 0x15, 0x18, 0x19, 0x1b, 0x1e, 0x1f };

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		struct packet p;

		start();
		p = raw_packet(&q, OP_SEND_ONLY, 0);
		p.headers = HEADER_BIT(HEADER_LRH) | HEADER_BIT(HEADER_BTH);
		p.bth.opcode = (uint8_t)unknown[i];
		raw_in(&q, p);
		refused(NAK_INV, 0, 0);
	}
}

static void flags_of_the_queue_pair(void **state)
{
	static const unsigned cases[][2] = {
		{ OP_WRITE_ONLY, ACCESS_REMOTE_WRITE },     { OP_WRITE_FIRST, ACCESS_REMOTE_WRITE },
		{ OP_WRITE_ONLY_IMM, ACCESS_REMOTE_WRITE }, { OP_READ_REQUEST, ACCESS_REMOTE_READ },
		{ OP_CMP_SWAP, ACCESS_REMOTE_ATOMIC },      { OP_FETCH_ADD, ACCESS_REMOTE_ATOMIC },
	};

	(void)state;
	for (unsigned i = 0; i < 12; i++) {
		/* The second time of length 0: the flag still counts. */
		uint32_t len = i < 6 ? RAW_MTU : 0;
		unsigned op = cases[i % 6][0];

		if (len == 0 && (op == OP_WRITE_FIRST || op >= OP_CMP_SWAP))
			continue;
		raw_init(&q, QP_RC);
		q.attr.access &= ~cases[i % 6][1];
		assert_true(raw_raise(&q, QPS_RTS));
		assert_true(raw_recv(&q, 1, 100));
		raw_in(&q, raw_data(&q, op, 0, op < OP_READ_REQUEST ? len : 0, len));
		assert_int_equal(q.events[QP_EVENT_REQ_ERR], 1);
		refused(NAK_INV, 0, 0);
	}
}

static void resources_for_reads_run_out(void **state)
{
	(void)state;
	raw_init(&q, QP_RC);
	q.attr.max_dest_rd = 2;
	assert_true(raw_raise(&q, QPS_RTS));
	raw_in(&q, raw_data(&q, OP_READ_REQUEST, 0, 0, 2 * RAW_MTU));
	raw_in(&q, raw_packet(&q, OP_FETCH_ADD, 2));
	raw_in(&q, raw_data(&q, OP_READ_REQUEST, 3, 0, 10));
	assert_int_equal(q.events[QP_EVENT_REQ_ERR], 1);
	assert_int_equal(qp_state(q.qp), QPS_ERR);
	/* The answers already owed may be sent or not; the NAK is. */
	assert_in_range(raw_drain(&q), 1, 4);
	assert_int_equal(q.out[q.n_out - 1].aeth.syndrome, NAK_INV);
	assert_int_equal(raw_rq_psn(&q, q.n_out - 1), 3);
	raw_fini(&q);
}

/* The operation without a receive request, and the operation before it. */
static void not_ready(unsigned before, unsigned op, size_t len)
{
	int at = before != OP_MASK;

	start();
	if (at) {
		struct packet p = raw_data(&q, before, 0, RAW_MTU, RAW_MTU + 5);

		p.bth.ack_req = false;
		raw_in(&q, p);
		assert_int_equal(raw_drain(&q), 0);
	}
	q.writes = 0;
	raw_in(&q, raw_data(&q, op, at, len, RAW_MTU + 5));
	answered(0x20 | 12, at, 0);
	assert_int_equal(q.writes, 0);
	/* One NAK suffices: no response until the packet is repeated. */
	raw_in(&q, raw_data(&q, OP_SEND_ONLY, at + 1, 1, 0));
	ignored();
	assert_true(raw_recv(&q, 1, 1000));
	raw_in(&q, raw_data(&q, op, at, len, RAW_MTU + 5));
	assert_int_equal(raw_drain(&q), 1);
	assert_int_equal(q.out[0].aeth.syndrome, ACK_31);
	assert_int_equal(raw_rq_psn(&q, 0), at);
	assert_int_equal(qp_state(q.qp), QPS_RTS);
	raw_fini(&q);
}

static void no_receive_request(void **state)
{
	(void)state;
	not_ready(OP_MASK, OP_SEND_FIRST, RAW_MTU);
	not_ready(OP_MASK, OP_SEND_ONLY, 5);
	not_ready(OP_MASK, OP_SEND_ONLY_IMM, 0);
	not_ready(OP_WRITE_FIRST, OP_WRITE_LAST_IMM, 5);
}

/* Lengths: of First, Middle, Last, Only, and against DMALen. */
static void lengths_that_do_not_fit(void **state)
{
	/* before, its length, DMALen, operation, its length */
	static const unsigned cases[][5] = {
		{ OP_MASK, 0, 0, OP_SEND_FIRST, RAW_MTU - 1 },
		{ OP_MASK, 0, 0, OP_SEND_FIRST, RAW_MTU + 4 },
		{ OP_MASK, 0, 0, OP_SEND_ONLY, RAW_MTU + 1 },
		{ OP_SEND_FIRST, RAW_MTU, 0, OP_SEND_MIDDLE, RAW_MTU - 4 },
		{ OP_SEND_FIRST, RAW_MTU, 0, OP_SEND_LAST, 0 },
		{ OP_SEND_FIRST, RAW_MTU, 0, OP_SEND_LAST, RAW_MTU + 1 },
		{ OP_MASK, 0, 600, OP_WRITE_FIRST, RAW_MTU - 4 },
		{ OP_MASK, 0, 6, OP_WRITE_ONLY, 5 },
		{ OP_MASK, 0, 5, OP_WRITE_ONLY, 6 },
		{ OP_WRITE_FIRST, RAW_MTU, 2 * RAW_MTU, OP_WRITE_LAST, 7 },
		{ OP_WRITE_FIRST, RAW_MTU, RAW_MTU + 6, OP_WRITE_LAST, 7 },
		{ OP_WRITE_FIRST, RAW_MTU, RAW_MTU + 6, OP_WRITE_LAST, 0 },
		{ OP_WRITE_FIRST, RAW_MTU, RAW_MTU + 6, OP_WRITE_MIDDLE, RAW_MTU },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const unsigned *c = cases[i];
		int at = c[0] != OP_MASK;

		start();
		assert_true(raw_recv(&q, 1, 2000));
		if (at) {
			struct packet p = raw_data(&q, c[0], 0, c[1], c[2]);

			p.bth.ack_req = false;
			raw_in(&q, p);
			assert_int_equal(raw_drain(&q), 0);
		}
		q.writes = 0;
		raw_in(&q, raw_data(&q, c[3], at, c[4], c[2]));
		refused(NAK_INV, at, 0);
	}
}

static void messages_longer_than_2_to_31(void **state)
{
	(void)state;
	start();
	raw_in(&q, raw_data(&q, OP_WRITE_FIRST, 0, RAW_MTU, 0x80000001));
	refused(NAK_INV, 0, 0);
	start();
	raw_in(&q, raw_data(&q, OP_READ_REQUEST, 0, 0, 0x80000001));
	refused(NAK_INV, 0, 0);
}

static void longer_than_the_receive_buffer(void **state)
{
	(void)state;
	start();
	assert_true(raw_recv(&q, 1, 4));
	raw_in(&q, raw_data(&q, OP_SEND_ONLY, 0, 5, 0));
	assert_int_equal(q.n_received, 1);
	assert_int_equal(q.received[0].status, WC_LOC_LEN_ERR);
	assert_int_equal(q.events[QP_EVENT_REQ_ERR], 0);
	refused(NAK_INV, 0, 0);
}

static void receive_buffers_own_key(void **state)
{
	struct recv_wr wr = { .id = 1, .n_sge = 1 };

	(void)state;
	start();
	wr.sge[0] = (struct sge){ RAW_BASE, 100, RAW_FIXED };
	assert_int_equal(qp_post_recv(q.qp, &wr), HD_OK);
	raw_in(&q, raw_data(&q, OP_SEND_ONLY, 0, 5, 0));
	assert_int_equal(q.n_received, 1);
	assert_int_equal(q.received[0].status, WC_LOC_PROT_ERR);
	refused(NAK_OPR, 0, 0);
}

static void remote_keys(void **state)
{
	static const unsigned ops[] = { OP_WRITE_ONLY, OP_WRITE_FIRST, OP_READ_REQUEST,
					OP_FETCH_ADD };

	(void)state;
	for (unsigned i = 0; i < 4 * 5; i++) {
		unsigned op = ops[i % 4], why = i / 4;
		struct packet p;

		start();
		p = raw_data(&q, op, 0,
			     op == OP_WRITE_FIRST  ? RAW_MTU
			     : op == OP_WRITE_ONLY ? 8
						   : 0,
			     op == OP_WRITE_FIRST ? RAW_MTU + 8 : 8);
		if (why == 0)
			p.reth.rkey = p.atomiceth.rkey = 0x666;
		if (why == 1)
			p.reth.rkey = p.atomiceth.rkey = RAW_ALIEN;
		if (why == 2 && op != OP_READ_REQUEST)
			p.reth.rkey = p.atomiceth.rkey = RAW_FIXED;
		else if (why == 2)
			p.reth.va = RAW_BASE - 8;
		if (why == 3) /* the whole range, not the part of the packet */
			p.reth.va = p.atomiceth.va =
				RAW_BASE + RAW_SIZE - (op == OP_WRITE_FIRST ? RAW_MTU + 7 : 0);
		if (why == 4)
			p.reth.va = p.atomiceth.va = UINT64_MAX - 7;
		raw_in(&q, p);
		assert_int_equal(q.reads, 0);
		assert_int_equal(q.events[QP_EVENT_REQ_ERR], 0);
		refused(NAK_ACC, 0, 0);
	}
}

static void nothing_needs_no_key(void **state)
{
	struct packet p;

	(void)state;
	start();
	p = raw_data(&q, OP_WRITE_ONLY, 0, 0, 0);
	p.reth.rkey = 0x666;
	raw_in(&q, p);
	answered(ACK_31, 0, 1);
	p = raw_data(&q, OP_READ_REQUEST, 1, 0, 0);
	p.reth.rkey = 0x666;
	raw_in(&q, p);
	assert_int_equal(raw_drain(&q), 1);
	assert_int_equal(q.out[0].bth.opcode, OP_READ_RESPONSE_ONLY);
	assert_int_equal(q.out[0].payload_len, 0);
	assert_int_equal(q.out[0].aeth.msn, 2);
	assert_int_equal(qp_state(q.qp), QPS_RTS);
	raw_fini(&q);
}

static void atomics_are_aligned(void **state)
{
	(void)state;
	for (unsigned off = 1; off < 8; off++) {
		struct packet p;

		start();
		p = raw_packet(&q, OP_CMP_SWAP, 0);
		p.atomiceth.va += off;
		raw_in(&q, p);
		assert_int_equal(q.events[QP_EVENT_REQ_ERR], 1);
		refused(NAK_INV, 0, 0);
	}
}

static void repeated_sends_are_only_acknowledged(void **state)
{
	(void)state;
	start();
	for (unsigned i = 0; i < 3; i++)
		assert_true(raw_recv(&q, i, 100));
	for (int i = 0; i < 3; i++)
		raw_in(&q, raw_data(&q, OP_SEND_ONLY, i, 5, 0));
	raw_drain(&q);
	assert_int_equal(raw_rq_psn(&q, q.n_out - 1), 2);
	assert_int_equal(q.n_received, 3);
	q.writes = 0;
	for (int i = 0; i < 3; i++) {
		raw_in(&q, raw_data(&q, OP_SEND_ONLY, i, 5, 0));
		answered(ACK_31, 2, 3);
	}
	/* Nothing is ever refused the second time. */
	raw_in(&q, raw_data(&q, OP_SEND_MIDDLE, 1, 3, 0));
	answered(ACK_31, 2, 3);
	assert_int_equal(q.n_received, 3);
	assert_int_equal(q.writes, 0);
	raw_fini(&q);
}

/* The rest of an answer is dropped once it is requested again. */
static void a_repeated_read_replaces_the_rest_of_its_answer(void **state)
{
	uint8_t buffer[4096];
	struct packet p, out;

	(void)state;
	start();
	raw_in(&q, raw_data(&q, OP_READ_REQUEST, 0, 0, 4 * RAW_MTU));
	raw_in(&q, raw_data(&q, OP_READ_REQUEST, 4, 0, 1));
	assert_true(qp_transmit(q.qp, q.now, &out, buffer));
	p = raw_data(&q, OP_READ_REQUEST, 1, 0, 3 * RAW_MTU);
	p.reth.va += RAW_MTU;
	raw_in(&q, p);
	raw_in(&q, p);
	assert_int_equal(raw_drain(&q), 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(raw_rq_psn(&q, (unsigned)i), i + 1);
	assert_int_equal(q.out[0].bth.opcode, OP_READ_RESPONSE_FIRST);
	assert_int_equal(q.out[2].bth.opcode, OP_READ_RESPONSE_LAST);
	assert_int_equal(q.out[3].bth.opcode, OP_READ_RESPONSE_ONLY);
	raw_fini(&q);
}

static void repeated_reads_are_executed_again(void **state)
{
	struct packet p;

	(void)state;
	start();
	raw_in(&q, raw_data(&q, OP_READ_REQUEST, 0, 0, 3 * RAW_MTU));
	assert_int_equal(raw_drain(&q), 3);
	assert_int_equal(q.out[0].bth.opcode, OP_READ_RESPONSE_FIRST);
	assert_int_equal(q.out[1].bth.opcode, OP_READ_RESPONSE_MIDDLE);
	assert_int_equal(q.out[2].bth.opcode, OP_READ_RESPONSE_LAST);
	assert_int_equal(q.out[0].aeth.msn, 1);
	assert_int_equal(q.out[2].aeth.msn, 1);
	raw_in(&q, raw_data(&q, OP_WRITE_ONLY, 3, 5, 5));
	answered(ACK_31, 3, 2);
	/* From the middle on, with what is there now. */
	q.memory[512 + RAW_MTU] = 0x77;
	p = raw_data(&q, OP_READ_REQUEST, 1, 0, 2 * RAW_MTU);
	p.reth.va += RAW_MTU;
	raw_in(&q, p);
	assert_int_equal(raw_drain(&q), 2);
	assert_int_equal(raw_rq_psn(&q, 0), 1);
	assert_int_equal(raw_rq_psn(&q, 1), 2);
	assert_int_equal(q.out[0].bth.opcode, OP_READ_RESPONSE_FIRST);
	assert_int_equal(q.out[1].bth.opcode, OP_READ_RESPONSE_LAST);
	assert_int_equal(q.payload[0][0], 0x77);
	assert_int_equal(q.out[0].aeth.msn, 2);
	/* Other memory, another key, another end: silence. */
	p.reth.va += 1;
	raw_in(&q, p);
	assert_int_equal(raw_drain(&q), 0);
	p = raw_data(&q, OP_READ_REQUEST, 0, 0, 3 * RAW_MTU);
	p.reth.rkey = RAW_FIXED;
	raw_in(&q, p);
	assert_int_equal(raw_drain(&q), 0);
	raw_in(&q, raw_data(&q, OP_READ_REQUEST, 0, 0, 2 * RAW_MTU));
	assert_int_equal(raw_drain(&q), 0);
	assert_int_equal(qp_state(q.qp), QPS_RTS);
	raw_fini(&q);
}

/* A receive request taken from a shared queue is flushed; the others stay. */
static void shared_receives_in_the_error_state(void **state)
{
	(void)state;
	raw_open(&q, QP_RC, true);
	q.n_shared = 2;
	for (unsigned i = 0; i < 2; i++) {
		q.shared[i] = (struct recv_wr){ .id = 70 + i, .n_sge = 1 };
		q.shared[i].sge[0] = (struct sge){ RAW_BASE + 4096, 2000, RAW_KEY };
	}
	q.attr.credits = true; /* a shared queue has no credits */
	assert_true(raw_raise(&q, QPS_RTS));
	raw_in(&q, raw_data(&q, OP_SEND_FIRST, 0, RAW_MTU, 0));
	answered(ACK_31, 0, 0);
	assert_true(raw_move(&q, QPS_ERR));
	assert_int_equal(q.n_received, 1);
	assert_int_equal(q.received[0].id, 70);
	assert_int_equal(q.received[0].status, WC_WR_FLUSH_ERR);
	assert_int_equal(q.shared_at, 1);
	assert_int_equal(q.events[QP_EVENT_LAST_WQE], 1);
	raw_fini(&q);
}

static uint64_t host_value(uint64_t offset)
{
	uint64_t x;

	memcpy(&x, q.memory + offset, 8);
	return x;
}

static void repeated_atomics_answer_from_memory_of_the_first(void **state)
{
	uint64_t old;

	(void)state;
	raw_init(&q, QP_RC);
	q.attr.max_dest_rd = 2;
	assert_true(raw_raise(&q, QPS_RTS));
	old = host_value(1024);
	raw_in(&q, raw_packet(&q, OP_FETCH_ADD, 0));
	assert_int_equal(raw_drain(&q), 1);
	assert_int_equal(q.out[0].bth.opcode, OP_ATOMIC_ACK);
	assert_int_equal(q.out[0].atomicacketh.original, old);
	raw_in(&q, raw_packet(&q, OP_FETCH_ADD, 1));
	assert_int_equal(raw_drain(&q), 1);
	assert_int_equal(q.out[0].atomicacketh.original, old + 1);
	for (int i = 0; i < 2; i++) {
		raw_in(&q, raw_packet(&q, OP_FETCH_ADD, i));
		assert_int_equal(raw_drain(&q), 1);
		assert_int_equal(q.out[0].bth.opcode, OP_ATOMIC_ACK);
		assert_int_equal(raw_rq_psn(&q, 0), i);
		assert_int_equal(q.out[0].atomicacketh.original, old + (unsigned)i);
	}
	assert_int_equal(q.atomics, 2);
	assert_int_equal(host_value(1024), old + 2);
	/* A third one pushes the first out: no answer to it any more. */
	raw_in(&q, raw_packet(&q, OP_FETCH_ADD, 2));
	assert_int_equal(raw_drain(&q), 1);
	raw_in(&q, raw_packet(&q, OP_FETCH_ADD, 0));
	assert_int_equal(raw_drain(&q), 0);
	assert_int_equal(q.atomics, 3);
	raw_fini(&q);
}

static void acknowledgements_merge_up_to_a_read(void **state)
{
	(void)state;
	start();
	for (int i = 0; i < 4; i++)
		raw_in(&q, raw_data(&q, OP_WRITE_ONLY, i, 5, 5));
	raw_in(&q, raw_data(&q, OP_READ_REQUEST, 4, 0, 2 * RAW_MTU));
	raw_in(&q, raw_data(&q, OP_WRITE_ONLY, 6, 5, 5));
	raw_in(&q, raw_data(&q, OP_WRITE_ONLY, 7, 5, 5));
	raw_drain(&q);
	assert_in_range(q.n_out, 3, 9);
	/* The last before the read, the read's answers, the last of all. */
	for (unsigned i = 0; i + 1 < q.n_out; i++)
		assert_true(raw_rq_psn(&q, i) < raw_rq_psn(&q, i + 1));
	assert_int_equal(q.out[q.n_out - 1].bth.opcode, OP_ACK);
	assert_int_equal(raw_rq_psn(&q, q.n_out - 1), 7);
	assert_int_equal(q.out[q.n_out - 1].aeth.msn, 7);
	raw_fini(&q);
}

/* A receive queue with n requests gives the largest code up to n. */
static void credits_are_reported_on_request(void **state)
{
	static const unsigned codes[][2] = { { 0, 0 },  { 1, 1 },  { 2, 2 },   { 3, 3 },  { 4, 4 },
					     { 5, 4 },  { 6, 5 },  { 7, 5 },   { 8, 6 },  { 15, 7 },
					     { 16, 8 }, { 24, 9 }, { 40, 10 }, { 48, 11 } };

	(void)state;
	for (unsigned i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		raw_init(&q, QP_RC);
		q.attr.credits = true;
		assert_true(raw_raise(&q, QPS_RTS));
		for (unsigned k = 0; k < codes[i][0]; k++)
			assert_true(raw_recv(&q, k, 100));
		raw_in(&q, raw_data(&q, OP_WRITE_ONLY, 0, 5, 5));
		answered(codes[i][1], 0, 1);
		raw_fini(&q);
	}
}

static void marks_come_back(void **state)
{
	struct packet p;

	(void)state;
	start();
	p = raw_data(&q, OP_WRITE_ONLY, 0, 5, 5);
	p.bth.fecn = true;
	raw_in(&q, p);
	assert_int_equal(raw_drain(&q), 1);
	assert_true(q.out[0].bth.becn);
	raw_in(&q, raw_data(&q, OP_WRITE_ONLY, 1, 5, 5));
	assert_int_equal(raw_drain(&q), 1);
	assert_false(q.out[0].bth.becn);
	raw_fini(&q);
	raw_init(&q, QP_UD);
	assert_true(raw_raise(&q, QPS_RTS));
	p = raw_data(&q, SERVICE_UD | OP_SEND_ONLY, 0, 5, 0);
	p.bth.fecn = true;
	p.lrh.sl = 6;
	raw_in(&q, p);
	assert_int_equal(raw_drain(&q), 1);
	assert_int_equal(q.out[0].bth.opcode, OPCODE_CNP);
	assert_true(q.out[0].bth.becn);
	assert_int_equal(q.out[0].bth.psn, 0);
	assert_int_equal(q.out[0].bth.dest_qp, RAW_PEER);
	assert_int_equal(q.out[0].lrh.dlid, p.lrh.slid);
	assert_int_equal(q.out[0].lrh.sl, 6);
	raw_fini(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strangers_get_no_answer),
		cmocka_unit_test(partitions_must_match),
		cmocka_unit_test(states_that_do_not_receive),
		cmocka_unit_test(first_request_establishes),
		cmocka_unit_test(a_gap_gives_one_nak),
		cmocka_unit_test(operations_out_of_order),
		cmocka_unit_test(operations_unknown),
		cmocka_unit_test(flags_of_the_queue_pair),
		cmocka_unit_test(resources_for_reads_run_out),
		cmocka_unit_test(no_receive_request),
		cmocka_unit_test(lengths_that_do_not_fit),
		cmocka_unit_test(messages_longer_than_2_to_31),
		cmocka_unit_test(longer_than_the_receive_buffer),
		cmocka_unit_test(receive_buffers_own_key),
		cmocka_unit_test(remote_keys),
		cmocka_unit_test(nothing_needs_no_key),
		cmocka_unit_test(atomics_are_aligned),
		cmocka_unit_test(repeated_sends_are_only_acknowledged),
		cmocka_unit_test(repeated_reads_are_executed_again),
		cmocka_unit_test(a_repeated_read_replaces_the_rest_of_its_answer),
		cmocka_unit_test(shared_receives_in_the_error_state),
		cmocka_unit_test(repeated_atomics_answer_from_memory_of_the_first),
		cmocka_unit_test(acknowledgements_merge_up_to_a_read),
		cmocka_unit_test(credits_are_reported_on_request),
		cmocka_unit_test(marks_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
