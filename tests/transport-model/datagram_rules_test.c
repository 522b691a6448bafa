/* SPDX-License-Identifier: BSD-2-Clause */
/* Unreliable datagrams: addresses, groups, and the headers before the data. */
#include "rules_for_tests.h"

static void a_datagram_to_a_group(void **state)
{
	struct send_wr wr = raw_wr(1, WR_SEND_IMM, 20);

	(void)state;
	raw_init(&q, QP_UD);
	assert_true(raw_raise(&q, QPS_RTS));
	wr.to.qpn = 0xffffff;
	wr.to.dlid = 0xc007;
	wr.to.global = true;
	wr.to.flow_label = 0x12345;
	memset(wr.to.dgid, 0xff, 16);
	assert_int_equal(qp_post_send(q.qp, &wr), HD_OK);
	assert_int_equal(raw_drain(&q), 1);
	completed(1, WC_SUCCESS);
	assert_int_equal(q.out[0].bth.opcode, SERVICE_UD | OP_SEND_ONLY_IMM);
	assert_int_equal(q.out[0].bth.dest_qp, 0xffffff);
	assert_int_equal(q.out[0].lrh.dlid, 0xc007);
	assert_true(packet_has(&q.out[0], HEADER_GRH));
	assert_int_equal(q.out[0].grh.flow_label, 0x12345);
	assert_memory_equal(q.out[0].grh.dgid, wr.to.dgid, 16);
	assert_int_equal(q.out[0].deth.src_qp, RAW_QPN);
	raw_fini(&q);
}

static void an_address_of_another_domain(void **state)
{
	struct send_wr wr = raw_wr(1, WR_SEND, 20);

	(void)state;
	raw_init(&q, QP_UD);
	assert_true(raw_raise(&q, QPS_RTS));
	wr.to.pd = RAW_PD + 1;
	assert_int_equal(qp_post_send(q.qp, &wr), HD_OK);
	assert_int_equal(raw_drain(&q), 0);
	completed(1, WC_LOC_QP_OP_ERR);
	assert_int_equal(qp_state(q.qp), QPS_SQE);
	raw_fini(&q);
}

/* Bytes 0..39 of the buffer belong to the GRH, present or not. */
static void forty_bytes_before_a_datagram(void **state)
{
	(void)state;
	for (unsigned global = 0; global < 2; global++) {
		struct packet p;

		raw_init(&q, QP_UD);
		assert_true(raw_raise(&q, QPS_RTS));
		assert_true(raw_recv(&q, 1, 43)); /* too small: stays */
		p = raw_data(&q, SERVICE_UD | OP_SEND_ONLY, 7, 4, 0);
		if (global)
			p.headers |= HEADER_BIT(HEADER_GRH);
		memset(p.grh.sgid, 0xa5, 16);
		raw_in(&q, p);
		assert_int_equal(q.n_received, 0);
		p.payload_len = 3;
		raw_in(&q, p);
		assert_int_equal(q.n_received, 1);
		assert_int_equal(q.received[0].byte_len, 43);
		assert_int_equal(q.received[0].flags, global ? WC_GRH : 0);
		assert_int_equal(q.received[0].src_qp, RAW_PEER);
		assert_int_equal(q.received[0].slid, 5);
		assert_memory_equal(q.memory + 8192 + 40, "\xd1\xd2\xd3", 3);
		if (global)
			assert_int_equal(q.memory[8192 + 8], 0xa5);
		raw_fini(&q);
	}
}

/* The whole range of multicast LIDs: congestion is never reported. */
static void datagrams_to_many(void **state)
{
	static const uint16_t lids[] = { 0xc000, 0xc001, 0xfffe };

	(void)state;
	for (size_t i = 0; i < sizeof(lids) / sizeof(lids[0]); i++) {
		struct packet p;

		raw_init(&q, QP_UD);
		assert_true(raw_raise(&q, QPS_RTS));
		assert_true(raw_recv(&q, 1, 100));
		p = raw_data(&q, SERVICE_UD | OP_SEND_ONLY, 0, 4, 0);
		p.lrh.dlid = lids[i];
		p.bth.dest_qp = 0xffffff;
		raw_in(&q, p); /* without its GRH: not a multicast packet */
		assert_int_equal(q.n_received, 0);
		p.headers |= HEADER_BIT(HEADER_GRH);
		memset(p.grh.dgid, 0xff, 16);
		p.bth.fecn = true;
		raw_in(&q, p);
		assert_int_equal(q.n_received, 1);
		assert_int_equal(raw_drain(&q), 0);
		raw_fini(&q);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_datagram_to_a_group),
		cmocka_unit_test(an_address_of_another_domain),
		cmocka_unit_test(forty_bytes_before_a_datagram),
		cmocka_unit_test(datagrams_to_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
