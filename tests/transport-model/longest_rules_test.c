/* SPDX-License-Identifier: BSD-2-Clause */
/* The longest message of a queue pair, 2^31 bytes, in both directions. */
#include "allow_for_tests.h"
#include "base/seeds_for_tests.h"
#include "rules_for_tests.h"

static uint64_t bytes_landed;

static void count_landed(void *context, uint32_t key, uint64_t addr, const void *from, size_t len)
{
	(void)context;
	(void)key;
	(void)addr;
	(void)from;
	bytes_landed += len;
}

/*
 * 2^31 bytes at the smallest MTU take 2^23 PSNs, the maximum in flight: earlier requests must be
 * complete, and later ones wait.
 */
static void the_longest_read_takes_the_whole_window(void **state)
{
	const int n = 1 << 23;
	struct send_wr wr = raw_wr(2, WR_READ, 8);

	(void)state;
	start();
	q.owner.allows = allow_all;
	q.owner.write = count_landed;
	wr.n_sge = 2;
	wr.sge[0].length = 0x40000000;
	wr.sge[1] = wr.sge[0];
	assert_true(raw_post(&q, 1, WR_SEND, 10));
	assert_int_equal(qp_post_send(q.qp, &wr), HD_OK);
	assert_true(raw_post(&q, 3, WR_SEND, 10));
	leaves(1, OP_SEND_ONLY, 0);
	ack(0, ACK_31);
	leaves(1, OP_READ_REQUEST, 1);
	assert_int_equal(q.out[0].reth.dma_len, 0x80000000);
	raw_in(&q, raw_answer(&q, OP_READ_RESPONSE_FIRST, 1, ACK_31, RAW_MTU));
	assert_int_equal(raw_drain(&q), 0);
	if (run_is_long()) {
		for (int i = 1; i + 1 < n; i++)
			raw_in(&q, raw_answer(&q, OP_READ_RESPONSE_MIDDLE, 1 + i, 0, RAW_MTU));
		raw_in(&q, raw_answer(&q, OP_READ_RESPONSE_LAST, n, ACK_31, RAW_MTU));
		completed(2, WC_SUCCESS);
		assert_true(bytes_landed == UINT64_C(1) << 31);
		assert_int_equal(raw_drain(&q), 1);
		assert_int_equal(q.out[0].bth.psn, psn_add(q.attr.sq_psn, 1 + (uint32_t)n));
	}
	raw_fini(&q);
}

static uint64_t bytes_written;

static void count_write(void *context, uint32_t key, uint64_t addr, const void *from, size_t len)
{
	(void)context;
	(void)key;
	(void)from;
	assert_int_equal(addr, bytes_written);
	bytes_written += len;
}

/* The longest message: 2^31 bytes, in packets of 4096. */
static void two_gigabytes_arrive(void **state)
{
	const uint32_t n = 1u << 19;

	(void)state;
	raw_init(&q, QP_RC);
	q.attr.mtu = 4096;
	q.owner.write = count_write;
	q.owner.allows = allow_all;
	assert_true(raw_raise(&q, QPS_RTS));
	for (uint32_t i = 0; i < n; i++) {
		struct packet p = raw_data(&q,
					   i == 0       ? OP_WRITE_FIRST
					   : i + 1 == n ? OP_WRITE_LAST
							: OP_WRITE_MIDDLE,
					   (int)i, 4096, 0x80000000);

		p.reth.va = 0;
		p.bth.ack_req = i + 1 == n;
		raw_in(&q, p);
	}
	answered(ACK_31, (int)n - 1, 1);
	assert_true(bytes_written == UINT64_C(1) << 31);
	raw_fini(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_longest_read_takes_the_whole_window),
		cmocka_unit_test(two_gigabytes_arrive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
