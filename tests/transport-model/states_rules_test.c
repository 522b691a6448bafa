/* SPDX-License-Identifier: BSD-2-Clause */
/* The states that a queue pair can be moved between. */
#include "rules_for_tests.h"

/* Moves a new queue pair to a state, as programs do. */
static void enter(enum qp_kind kind, enum qp_state state)
{
	raw_init(&q, kind);
	if (state == QPS_RESET)
		return;
	if (state == QPS_ERR) {
		assert_true(raw_raise(&q, QPS_INIT));
		assert_true(raw_move(&q, QPS_ERR));
		return;
	}
	assert_true(raw_raise(&q, state < QPS_RTS ? state : QPS_RTS));
	if (state == QPS_SQD)
		assert_true(raw_move(&q, QPS_SQD));
	if (state == QPS_SQE) {
		struct send_wr wr = raw_wr(1, WR_SEND, 8);

		wr.sge[0].lkey = 0x666;
		assert_int_equal(qp_post_send(q.qp, &wr), HD_OK);
		raw_drain(&q);
		completed(1, WC_LOC_PROT_ERR);
	}
	assert_int_equal(qp_state(q.qp), state);
}

/* Required attributes of the transitions to INIT, RTR and RTS. */
static const unsigned step_needs[3][4] = {
	{ 0, QPA_PKEY | QPA_ACCESS,
	  QPA_PATH | QPA_MTU | QPA_DEST_QP | QPA_RQ_PSN | QPA_MAX_DEST_RD | QPA_MIN_RNR,
	  QPA_SQ_PSN | QPA_TIMEOUT | QPA_RETRY | QPA_RNR_RETRY | QPA_MAX_RD },
	{ 0, QPA_PKEY | QPA_ACCESS, QPA_PATH | QPA_MTU | QPA_DEST_QP | QPA_RQ_PSN, QPA_SQ_PSN },
	{ 0, QPA_PKEY | QPA_QKEY, QPA_PATH | QPA_MTU, QPA_SQ_PSN },
};

static void every_transition(void **state)
{
	/* From, to: RESET INIT RTR RTS SQD SQE ERR. */
	static const char *const legal[7] = {
		"11....1", /* RESET */
		"111...1", /* INIT */
		"1..1..1", /* RTR */
		"1..11.1", /* RTS */
		"1..11.1", /* SQD */
		"1..1..1", /* SQE */
		"1.....1", /* ERR */
	};

	(void)state;
	for (unsigned i = 0; i < 3 * 49; i++) {
		enum qp_kind kind = (enum qp_kind)(i / 49);
		unsigned from = i / 7 % 7, to = i % 7, mask = 0;
		bool ok = legal[from][to] == '1';
		enum hd_status status;

		if (from == QPS_SQE && kind == QP_RC)
			continue;
		enter(kind, (enum qp_state)from);
		if (to < 4 && from < 3)
			mask = step_needs[kind][to];
		q.attr.state = (enum qp_state)to;
		status = qp_modify(q.qp, &q.attr, QPA_STATE | mask);
		if ((status == HD_OK) != ok)
			fail_msg("kind %d: %u -> %u gives %d", (int)kind, from, to, (int)status);
		assert_int_equal(qp_state(q.qp), ok ? to : from);
		raw_fini(&q);
	}
}

static void every_attribute_that_a_step_needs_is_needed(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3 * 3 * 15; i++) {
		enum qp_kind kind = (enum qp_kind)(i / 45);
		unsigned to = QPS_INIT + i / 15 % 3, bit = 1u << i % 15;
		unsigned needs = step_needs[kind][to];

		/* The path of a datagram is part of each request. */
		if (!(needs & bit) || (kind == QP_UD && to == QPS_RTR))
			continue;
		enter(kind, (enum qp_state)(to - 1));
		q.attr.state = (enum qp_state)to;
		assert_int_equal(qp_modify(q.qp, &q.attr, QPA_STATE | (needs & ~bit)),
				 HD_ERR_INPUT);
		assert_int_equal(qp_state(q.qp), to - 1);
		raw_fini(&q);
	}
}

static void an_idle_queue_is_drained_at_once(void **state)
{
	(void)state;
	start();
	assert_true(raw_move(&q, QPS_SQD));
	assert_int_equal(q.events[QP_EVENT_SQ_DRAINED], 1);
	assert_true(raw_post(&q, 1, WR_SEND, 5));
	assert_int_equal(raw_drain(&q), 0);
	assert_true(raw_move(&q, QPS_RTS));
	leaves(1, OP_SEND_ONLY, 0);
	assert_true(raw_move(&q, QPS_SQD));
	assert_int_equal(q.events[QP_EVENT_SQ_DRAINED], 1);
	ack(0, ACK_31);
	assert_int_equal(q.events[QP_EVENT_SQ_DRAINED], 2);
	raw_fini(&q);
}

/* Reset discards all requests without completions. */
static void reset_forgets(void **state)
{
	(void)state;
	start();
	assert_true(raw_post(&q, 1, WR_SEND, 5));
	assert_true(raw_recv(&q, 1, 5));
	leaves(1, OP_SEND_ONLY, 0);
	assert_true(raw_move(&q, QPS_RESET));
	assert_int_equal(q.n_sent + q.n_received, 0);
	assert_int_equal(qp_due(q.qp), HD_TIME_NEVER);
	assert_true(raw_raise(&q, QPS_RTS));
	assert_int_equal(raw_drain(&q), 0);
	assert_true(raw_post(&q, 2, WR_SEND, 5));
	leaves(1, OP_SEND_ONLY, 0);
	ack(0, ACK_31);
	completed(1, WC_SUCCESS);
	assert_int_equal(q.sent[0].id, 2);
	raw_fini(&q);
}

static void a_send_queue_in_error_recovers(void **state)
{
	(void)state;
	enter(QP_UD, QPS_SQE);
	assert_true(raw_post(&q, 2, WR_SEND, 5));
	completed(2, WC_WR_FLUSH_ERR);
	assert_true(raw_recv(&q, 1, 100)); /* receiving continues */
	raw_in(&q, raw_data(&q, SERVICE_UD | OP_SEND_ONLY, 0, 5, 0));
	assert_int_equal(q.n_received, 1);
	assert_true(raw_move(&q, QPS_RTS));
	assert_true(raw_post(&q, 3, WR_SEND, 5));
	assert_int_equal(raw_drain(&q), 1);
	completed(3, WC_SUCCESS);
	raw_fini(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_transition),
		cmocka_unit_test(every_attribute_that_a_step_needs_is_needed),
		cmocka_unit_test(an_idle_queue_is_drained_at_once),
		cmocka_unit_test(reset_forgets),
		cmocka_unit_test(a_send_queue_in_error_recovers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
