/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport/qp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "transport/wire_for_tests.h"

#define STEPS 20000

static void fill(uint8_t *bytes, size_t n, unsigned salt)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(i * 7 + salt + i / 256);
}

static void post(struct pair *p, struct send_wr wr)
{
	assert_int_equal(qp_post_send(p->side[0].qp, &wr), HD_OK);
}

static void recv_into(struct pair *p, uint64_t id, uint64_t addr, uint32_t len)
{
	struct recv_wr wr = pair_recv(id, addr, len);

	assert_int_equal(qp_post_recv(p->side[1].qp, &wr), HD_OK);
}

static const struct completion *completion_of(const struct side *s, uint64_t id)
{
	const struct completion *found = NULL;

	for (unsigned i = 0; i < s->n_done; i++) {
		if (s->done[i].id != id)
			continue;
		assert_null(found); /* never twice */
		found = &s->done[i];
	}
	return found;
}

static void assert_done(const struct side *s, uint64_t id, enum wc_status status)
{
	const struct completion *wc = completion_of(s, id);

	assert_non_null(wc);
	assert_int_equal(wc->status, status);
}

/* Posts every operation once: SEND, WRITE, READ, both atomics, a last SEND. */
static void post_everything(struct pair *p)
{
	const uint64_t initial = 1000;

	fill(p->side[0].memory, 4096, 1);
	fill(p->side[1].memory + 8192, 4096, 2);
	memcpy(p->side[1].memory + 16384, &initial, 8);
	recv_into(p, 100, 20000, 1000);
	recv_into(p, 101, 24000, 1000);
	recv_into(p, 102, 28000, 1000);
	post(p, pair_wr(1, WR_SEND, 0, 700, 0));
	post(p, pair_wr(2, WR_WRITE, 100, 600, 32768));
	post(p, pair_wr(3, WR_READ, 40000, 700, 8192));
	struct send_wr add = pair_wr(4, WR_FETCH_ADD, 50000, 8, 16384);

	add.swap_add = 5;
	post(p, add);
	struct send_wr swap = pair_wr(5, WR_CMP_SWAP, 50008, 8, 16384);

	swap.compare = 1005;
	swap.swap_add = 42;
	post(p, swap);
	struct send_wr imm = pair_wr(6, WR_WRITE_IMM, 0, 256, 34000);

	imm.imm = 0xabcd;
	post(p, imm);
	struct send_wr last = pair_wr(7, WR_SEND_IMM, 300, 257, 0);

	last.imm = 0x1234;
	post(p, last);
}

static uint64_t value_at(const struct side *s, size_t offset)
{
	uint64_t value;

	memcpy(&value, s->memory + offset, sizeof(value));
	return value;
}

static void assert_everything(const struct pair *p)
{
	const struct side *a = &p->side[0], *b = &p->side[1];

	for (uint64_t id = 1; id <= 7; id++)
		assert_done(a, id, WC_SUCCESS);
	assert_memory_equal(b->memory + 20000, a->memory, 700);
	assert_memory_equal(b->memory + 32768, a->memory + 100, 600);
	assert_memory_equal(a->memory + 40000, b->memory + 8192, 700);
	assert_memory_equal(b->memory + 34000, a->memory, 256);
	assert_memory_equal(b->memory + 28000, a->memory + 300, 257);
	assert_int_equal(value_at(a, 50000), 1000);
	assert_int_equal(value_at(a, 50008), 1005);
	assert_int_equal(value_at(b, 16384), 42);
	assert_int_equal(b->atomics, 2);
	assert_int_equal(b->n_done, 3);
	assert_int_equal(completion_of(b, 100)->byte_len, 700);
	assert_int_equal(completion_of(b, 101)->kind, WC_RECV_WRITE_IMM);
	assert_int_equal(completion_of(b, 101)->imm, 0xabcd);
	assert_int_equal(completion_of(b, 102)->imm, 0x1234);
	for (unsigned i = 0; i < 7; i++)
		assert_int_equal(a->done[i].id, i + 1); /* in order */
}

static void everything_works_on_a_good_wire(void **state)
{
	(void)state;
	struct pair *p = pair_new(QP_RC, NULL);

	post_everything(p);
	pair_run(p, STEPS);
	assert_everything(p);
	assert_int_equal(p->now, 0); /* no timer was needed */
	pair_free(p);
}

struct one_fault {
	unsigned at, kind;
};

/* Packet number `at` is lost, doubled, or overtaken; 3: it and the next. */
static struct verdict spoil_one(void *context, unsigned n, struct packet *packet, unsigned to)
{
	const struct one_fault *f = context;
	struct verdict v = { 1, false };

	(void)packet;
	(void)to;
	if (f->kind == 3 && n == f->at + 1)
		v.copies = 0;
	if (n != f->at)
		return v;
	if (f->kind == 0 || f->kind == 3)
		v.copies = 0;
	v.late = f->kind == 2;
	if (f->kind == 1)
		v.copies = 2;
	return v;
}

static void any_single_mishap_is_mended(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < 4; kind++) {
		for (unsigned at = 0; at < 40; at++) {
			struct pair *p = pair_new(QP_RC, NULL);
			struct one_fault fault = { at, kind };

			p->rule = spoil_one;
			p->context = &fault;
			post_everything(p);
			pair_run(p, STEPS);
			assert_everything(p);
			pair_free(p);
		}
	}
}

static void nothing_of_everything_is_one_packet(void **state)
{
	(void)state;
	struct pair *p = pair_new(QP_RC, NULL);

	recv_into(p, 100, 0, 100);
	post(p, pair_wr(1, WR_SEND, 0, 0, 0));
	post(p, pair_wr(2, WR_WRITE, 0, 0, 0));
	struct send_wr read = pair_wr(3, WR_READ, 0, 0, 0);

	read.rkey = 1; /* not looked at */
	post(p, read);
	pair_run(p, STEPS);
	for (uint64_t id = 1; id <= 3; id++)
		assert_done(&p->side[0], id, WC_SUCCESS);
	assert_int_equal(completion_of(&p->side[1], 100)->byte_len, 0);
	pair_free(p);
}

/* An RNR NAK, a wait of its timer, and the message arrives once. */
static void a_late_receive_request_is_waited_for(void **state)
{
	(void)state;
	struct pair *p = pair_new(QP_RC, NULL);

	fill(p->side[0].memory, 600, 3);
	post(p, pair_wr(1, WR_SEND, 0, 600, 0));
	pair_run(p, 8);
	assert_int_equal(p->side[0].n_done, 0);
	recv_into(p, 100, 1000, 600);
	pair_run(p, STEPS);
	assert_done(&p->side[0], 1, WC_SUCCESS);
	assert_int_equal(p->now, 10 * HD_US); /* code 1 */
	assert_memory_equal(p->side[1].memory + 1000, p->side[0].memory, 600);
	pair_free(p);
}

static struct verdict lose_all(void *context, unsigned n, struct packet *packet, unsigned to)
{
	(void)context;
	(void)n;
	(void)packet;
	(void)to;
	return (struct verdict){ 0, false };
}

/* First try and retry_cnt more, each T = 8.192 us apart; then all flushed. */
static void silence_ends_after_the_last_retry(void **state)
{
	(void)state;
	struct qp_attr a[2] = { pair_attr(0), pair_attr(1) };

	a[0].retry = 3;
	struct pair *p = pair_new(QP_RC, a);

	p->rule = lose_all;
	post(p, pair_wr(1, WR_SEND, 0, 10, 0));
	struct send_wr silent = pair_wr(2, WR_SEND, 0, 10, 0);

	silent.flags = 0;
	post(p, silent);
	pair_run(p, STEPS);
	assert_int_equal(p->n_sent, 2 * 4);
	assert_int_equal(p->now, 4 * 8192 * HD_NS);
	assert_done(&p->side[0], 1, WC_RETRY_EXC_ERR);
	assert_done(&p->side[0], 2, WC_WR_FLUSH_ERR); /* never silent */
	assert_int_equal(qp_state(p->side[0].qp), QPS_ERR);
	pair_free(p);
}

/*
 * Congestion control delays packets: every eighth requests an ACK, and until one does, the timer
 * does not run.
 */
static void the_timer_runs_while_an_answer_is_due(void **state)
{
	(void)state;
	struct qp_attr a[2] = { pair_attr(0), pair_attr(1) };
	struct packet packet;
	uint8_t bytes[4096];
	hd_time now = 0;
	unsigned n = 0;

	a[0].ack_every = 8;
	struct pair *p = pair_new(QP_RC, a);
	struct qp *one = p->side[0].qp, *other = p->side[1].qp;

	post(p, pair_wr(1, WR_WRITE, 0, 32 * 256, 0));
	/* Much slower than the timeout of 8.192 us. */
	for (; qp_transmit(one, now, &packet, bytes); now += 20 * HD_US) {
		bool asks = packet.bth.ack_req;

		assert_true(asks == (++n % 8 == 0));
		assert_true(qp_due(one) == (asks ? now + 8192 * HD_NS : HD_TIME_NEVER));
		qp_receive(other, &packet, now);
		assert_true(qp_transmit(other, now, &packet, bytes) == asks);
		if (asks)
			qp_receive(one, &packet, now);
		assert_true(qp_due(one) == HD_TIME_NEVER);
	}
	assert_int_equal(n, 32);
	assert_done(&p->side[0], 1, WC_SUCCESS);
	pair_free(p);
}

struct violation {
	struct sge local;
	enum wr_kind kind;
	uint64_t remote;
	uint32_t rkey;
	uint32_t room; /* of the receive request */
	enum wc_status ours, theirs;
};

static void check_violation(const struct violation *v)
{
	struct pair *p = pair_new(QP_RC, NULL);
	struct send_wr wr = pair_wr(1, v->kind, 0, v->local.length, v->remote);
	uint8_t *before = malloc(MEMORY);

	assert_non_null(before);
	wr.sge[0] = v->local;
	wr.rkey = v->rkey;
	recv_into(p, 100, 2000, v->room);
	memcpy(before, p->side[1].memory, MEMORY);
	post(p, wr);
	pair_run(p, STEPS);
	assert_done(&p->side[0], 1, v->ours);
	assert_int_equal(qp_state(p->side[0].qp), QPS_ERR);
	if (v->theirs != WC_SUCCESS)
		assert_done(&p->side[1], 100, v->theirs);
	else
		assert_int_equal(p->side[1].n_done, 0);
	if (v->kind != WR_SEND)
		assert_memory_equal(before, p->side[1].memory, MEMORY);
	free(before);
	pair_free(p);
}

/* Beyond the end, wrong key, odd atomic, too long, an invalid local key. */
static void each_violation_has_its_status(void **state)
{
	(void)state;
	static const struct violation cases[] = {
		{ { 0, 600, KEY },
		  WR_WRITE,
		  MEMORY - 500,
		  KEY,
		  100,
		  WC_REM_ACCESS_ERR,
		  WC_WR_FLUSH_ERR },
		{ { 0, 600, KEY }, WR_READ, 0, KEY + 1, 100, WC_REM_ACCESS_ERR, WC_WR_FLUSH_ERR },
		{ { 0, 8, KEY }, WR_FETCH_ADD, 4, KEY, 100, WC_REM_INV_REQ_ERR, WC_WR_FLUSH_ERR },
		{ { 0, 600, KEY }, WR_SEND, 0, KEY, 500, WC_REM_INV_REQ_ERR, WC_LOC_LEN_ERR },
		{ { 0, 600, KEY + 1 }, WR_SEND, 0, KEY, 600, WC_LOC_PROT_ERR, WC_SUCCESS },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check_violation(&cases[i]);
}

/* Only existing transitions, only with the required attributes. */
static void states_follow_the_table(void **state)
{
	(void)state;
	struct pair *p = pair_new(QP_RC, NULL);
	struct qp_attr a = pair_attr(0);
	struct qp *qp = p->side[0].qp;
	struct send_wr wr = pair_wr(1, WR_SEND, 0, 10, 0);

	a.state = QPS_RTR;
	assert_int_equal(qp_modify(qp, &a, QPA_STATE), HD_ERR_UNFIT);
	a.state = QPS_RESET;
	assert_int_equal(qp_modify(qp, &a, QPA_STATE), HD_OK);
	assert_int_equal(qp_post_send(qp, &wr), HD_ERR_UNFIT);
	a.state = QPS_INIT;
	assert_int_equal(qp_modify(qp, &a, QPA_STATE | QPA_PKEY), HD_ERR_INPUT);
	assert_int_equal(qp_modify(qp, &a, QPA_STATE | QPA_PKEY | QPA_ACCESS | QPA_SQ_PSN),
			 HD_ERR_INPUT);
	assert_int_equal(qp_state(qp), QPS_RESET);
	assert_int_equal(pair_raise(qp, a, QP_RC), HD_OK);
	a.state = QPS_SQD;
	assert_int_equal(qp_modify(qp, &a, QPA_STATE), HD_OK);
	assert_int_equal(qp_post_send(qp, &wr), HD_OK); /* held */
	assert_false(qp_has_packet(qp, 0));
	a.state = QPS_RTS;
	assert_int_equal(qp_modify(qp, &a, QPA_STATE), HD_OK);
	assert_true(qp_has_packet(qp, 0));
	a.state = QPS_ERR;
	assert_int_equal(qp_modify(qp, &a, QPA_STATE), HD_OK);
	assert_done(&p->side[0], 1, WC_WR_FLUSH_ERR);
	wr.id = 2;
	assert_int_equal(qp_post_send(qp, &wr), HD_OK);
	assert_done(&p->side[0], 2, WC_WR_FLUSH_ERR);
	pair_free(p);
}

/* READs take a PSN per response: the next request skips them. */
static void reads_use_up_the_numbers_of_their_answers(void **state)
{
	(void)state;
	struct pair *p = pair_new(QP_RC, NULL);

	for (uint64_t id = 1; id <= 3; id++)
		post(p, pair_wr(id, WR_READ, 1000 * id, 1024, 0));
	pair_run(p, 3);
	assert_int_equal(p->sent[0].bth.psn, 0xfffffe);
	assert_int_equal(p->sent[1].bth.psn, 2);
	assert_int_equal(p->sent[2].bth.psn, 6);
	pair_run(p, STEPS);
	assert_done(&p->side[0], 3, WC_SUCCESS);
	pair_free(p);
}

static void datagrams_leave_room_for_the_grh(void **state)
{
	(void)state;
	for (int global = 0; global < 2; global++) {
		struct pair *p = pair_new(QP_UD, NULL);
		struct send_wr wr = pair_wr(1, WR_SEND, 0, 200, 0);
		const struct completion *wc;

		fill(p->side[0].memory, 200, 9);
		wr.to.global = global;
		recv_into(p, 100, 1000, 240);
		post(p, wr);
		pair_run(p, STEPS);
		assert_done(&p->side[0], 1, WC_SUCCESS);
		wc = completion_of(&p->side[1], 100);
		assert_non_null(wc);
		assert_int_equal(wc->byte_len, 240);
		assert_int_equal(!!(wc->flags & WC_GRH), global);
		assert_int_equal(wc->src_qp, 100);
		assert_memory_equal(p->side[1].memory + 1040, p->side[0].memory, 200);
		/* A packet with a wrong Q_Key is dropped and counted. */
		wr.to.qkey = 2;
		wr.id = 2;
		recv_into(p, 101, 1000, 240);
		post(p, wr);
		pair_run(p, STEPS);
		assert_int_equal(p->side[1].n_done, 1);
		assert_int_equal(p->side[1].events[QP_EVENT_QKEY], 1);
		pair_free(p);
	}
}

/* The middle one of three messages loses a packet: only this message is lost. */
static void uc_forgets_a_broken_message_only(void **state)
{
	(void)state;
	struct pair *p = pair_new(QP_UC, NULL);
	struct one_fault fault = { 4, 0 };

	p->rule = spoil_one;
	p->context = &fault;
	fill(p->side[0].memory, 4096, 4);
	for (uint64_t id = 1; id <= 3; id++) {
		recv_into(p, 100 + id, 1000 * id, 700);
		post(p, pair_wr(id, WR_SEND, 800 * id, 700, 0));
	}
	pair_run(p, STEPS);
	for (uint64_t id = 1; id <= 3; id++)
		assert_done(&p->side[0], id, WC_SUCCESS);
	assert_int_equal(p->side[1].n_done, 2);
	assert_int_equal(p->side[1].done[1].id, 102); /* rewound */
	assert_memory_equal(p->side[1].memory + 2000, p->side[0].memory + 2400, 700);
	pair_free(p);
}

/* Sends all packets; no completion reports that they have left. */
static unsigned transmit_all(struct pair *p, struct packet *out)
{
	uint8_t payload[4096];
	unsigned n = 0;

	while (qp_transmit(p->side[0].qp, 0, &out[n], payload))
		n++;
	return n;
}

/* Three messages of UC are five packets; the order of leaving is theirs. */
static void uc_completes_when_the_last_packet_has_left(void **state)
{
	static const unsigned done_after[] = { 0, 0, 1, 2, 3 };
	struct packet out[8];

	(void)state;
	struct pair *p = pair_new(QP_UC, NULL);

	post(p, pair_wr(1, WR_SEND, 0, 700, 0));
	post(p, pair_wr(2, WR_WRITE, 0, 100, 0));
	post(p, pair_wr(3, WR_SEND, 0, 0, 0));
	assert_int_equal(transmit_all(p, out), 5);
	assert_int_equal(p->side[0].n_done, 0);
	assert_int_equal(qp_sends_left(p->side[0].qp), 3);
	for (unsigned i = 0; i < 5; i++) {
		qp_sent(p->side[0].qp, &out[i]);
		assert_int_equal(p->side[0].n_done, done_after[i]);
	}
	pair_free(p);
}

/* On different VLs datagrams overtake each other; completions do not. */
static void datagrams_complete_in_their_order(void **state)
{
	struct packet out[8];

	(void)state;
	struct pair *p = pair_new(QP_UD, NULL);

	for (uint64_t id = 1; id <= 3; id++)
		post(p, pair_wr(id, WR_SEND, 0, 64, 0));
	assert_int_equal(transmit_all(p, out), 3);
	qp_sent(p->side[0].qp, &out[2]);
	qp_sent(p->side[0].qp, &out[1]);
	assert_int_equal(p->side[0].n_done, 0);
	qp_sent(p->side[0].qp, &out[0]);
	assert_int_equal(p->side[0].n_done, 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(p->side[0].done[i].id, i + 1);
	pair_free(p);
}

/* An invalid request fails after earlier requests in transmission. */
static void a_wrong_datagram_waits_for_those_before_it(void **state)
{
	struct packet out[8];

	(void)state;
	struct pair *p = pair_new(QP_UD, NULL);

	post(p, pair_wr(1, WR_SEND, 0, 64, 0));
	post(p, pair_wr(2, WR_SEND, 0, 1000, 0)); /* longer than the MTU */
	assert_int_equal(transmit_all(p, out), 1);
	assert_int_equal(p->side[0].n_done, 0);
	qp_sent(p->side[0].qp, &out[0]);
	assert_int_equal(transmit_all(p, out), 0);
	assert_done(&p->side[0], 1, WC_SUCCESS);
	assert_done(&p->side[0], 2, WC_LOC_LEN_ERR);
	assert_int_equal(qp_state(p->side[0].qp), QPS_SQE);
	/* A flushed request does not complete again. */
	qp_sent(p->side[0].qp, &out[0]);
	assert_int_equal(p->side[0].n_done, 2);
	pair_free(p);
}

static struct verdict mark_requests(void *context, unsigned n, struct packet *packet, unsigned to)
{
	(void)context;
	if (n == 0 && to == 1)
		packet->bth.fecn = true;
	return (struct verdict){ 1, false };
}

static void congestion_marks_are_echoed(void **state)
{
	(void)state;
	struct pair *p = pair_new(QP_RC, NULL);

	p->rule = mark_requests;
	recv_into(p, 100, 0, 10);
	post(p, pair_wr(1, WR_SEND, 0, 10, 0));
	pair_run(p, STEPS);
	assert_true(qp_take_becn(p->side[0].qp));
	assert_false(qp_take_becn(p->side[0].qp));
	pair_free(p);
}

static struct verdict mark_and_measure(void *context, unsigned n, struct packet *packet,
				       unsigned to)
{
	size_t *bytes = context;

	if (packet->bth.opcode == OPCODE_CNP)
		*bytes = packet_size(packet);
	return mark_requests(NULL, n, packet, to);
}

/* LRH 8, BTH 12, 16 reserved, ICRC 4, VCRC 2. */
static void a_notification_has_its_reserved_bytes(void **state)
{
	static const enum qp_kind kinds[] = { QP_UC, QP_UD };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct pair *p = pair_new(kinds[i], NULL);
		size_t bytes = 0;

		p->rule = mark_and_measure;
		p->context = &bytes;
		recv_into(p, 100, 0, 100);
		post(p, pair_wr(1, WR_SEND, 0, 10, 0));
		pair_run(p, STEPS);
		assert_int_equal(bytes, 42);
		assert_true(qp_take_becn(p->side[0].qp));
		pair_free(p);
	}
}

/* After any step, and late in the life of its queues. */
static void saved_queue_pair_continues_unchanged(void **state)
{
	(void)state;
	for (unsigned step = 0; step < 80; step++) {
		struct pair *p = pair_new(QP_RC, NULL);

		for (uint64_t i = 0; i < 40; i++)
			post(p, pair_wr(200 + i, WR_WRITE, 0, 10, 60000));
		pair_run(p, STEPS);
		assert_int_equal(p->side[0].n_done, 40);
		p->side[0].n_done = 0;
		post_everything(p);
		pair_run(p, step);
		p = pair_saved_and_restored(p, 0);
		pair_run(p, STEPS);
		assert_everything(p);
		pair_free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_works_on_a_good_wire),
		cmocka_unit_test(any_single_mishap_is_mended),
		cmocka_unit_test(nothing_of_everything_is_one_packet),
		cmocka_unit_test(a_late_receive_request_is_waited_for),
		cmocka_unit_test(silence_ends_after_the_last_retry),
		cmocka_unit_test(the_timer_runs_while_an_answer_is_due),
		cmocka_unit_test(each_violation_has_its_status),
		cmocka_unit_test(states_follow_the_table),
		cmocka_unit_test(reads_use_up_the_numbers_of_their_answers),
		cmocka_unit_test(datagrams_leave_room_for_the_grh),
		cmocka_unit_test(uc_forgets_a_broken_message_only),
		cmocka_unit_test(uc_completes_when_the_last_packet_has_left),
		cmocka_unit_test(datagrams_complete_in_their_order),
		cmocka_unit_test(a_wrong_datagram_waits_for_those_before_it),
		cmocka_unit_test(saved_queue_pair_continues_unchanged),
		cmocka_unit_test(congestion_marks_are_echoed),
		cmocka_unit_test(a_notification_has_its_reserved_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
