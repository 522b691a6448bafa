/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport/responder_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Expected values: InfiniBand Architecture Specification, volume 1. */

/* 9.7.5.2.8: NAK codes; 11.6.2: completion return status. */
static void refusals_have_the_nak_and_both_statuses_of_the_specification(void **state)
{
	static const struct {
		enum responder_verdict verdict;
		unsigned nak;
		enum wc_status requester, receive;
	} rows[] = {
		{ RESPONDER_BAD_REQUEST, 1, WC_REM_INV_REQ_ERR, WC_LOC_QP_OP_ERR },
		{ RESPONDER_BAD_LENGTH, 1, WC_REM_INV_REQ_ERR, WC_LOC_LEN_ERR },
		{ RESPONDER_BAD_ACCESS, 2, WC_REM_ACCESS_ERR, WC_LOC_ACCESS_ERR },
		{ RESPONDER_BAD_BUFFER, 3, WC_REM_OP_ERR, WC_LOC_PROT_ERR },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct responder_refusal *r = responder_refusal(rows[i].verdict);

		assert_int_equal(r->nak, rows[i].nak);
		assert_int_equal(r->receive_status, rows[i].receive);
		assert_int_equal(responder_nak_status(r->nak), rows[i].requester);
	}
}

static void sends_and_writes_with_immediate_take_a_receive(void **state)
{
	(void)state;
	assert_true(responder_takes_receive(WR_SEND));
	assert_true(responder_takes_receive(WR_SEND_IMM));
	assert_true(responder_takes_receive(WR_SEND_INV));
	assert_true(responder_takes_receive(WR_WRITE_IMM));
	assert_false(responder_takes_receive(WR_WRITE));
	assert_false(responder_takes_receive(WR_READ));
	assert_false(responder_takes_receive(WR_CMP_SWAP));
	assert_false(responder_takes_receive(WR_FETCH_ADD));
}

static void a_receive_needs_room_and_permission(void **state)
{
	(void)state;
	assert_int_equal(responder_check_receive(64, 64, true), RESPONDER_ACCEPTS);
	assert_int_equal(responder_check_receive(0, 0, true), RESPONDER_ACCEPTS);
	assert_int_equal(responder_check_receive(65, 64, true), RESPONDER_BAD_LENGTH);
	assert_int_equal(responder_check_receive(64, 64, false), RESPONDER_BAD_BUFFER);
}

/* 10.6.3.1: each access right permits its operations only. */
static void a_queue_pair_permits_what_its_access_rights_name(void **state)
{
	static const struct {
		enum wr_kind kind;
		unsigned access;
	} rows[] = {
		{ WR_WRITE, ACCESS_REMOTE_WRITE },      { WR_WRITE_IMM, ACCESS_REMOTE_WRITE },
		{ WR_READ, ACCESS_REMOTE_READ },        { WR_CMP_SWAP, ACCESS_REMOTE_ATOMIC },
		{ WR_FETCH_ADD, ACCESS_REMOTE_ATOMIC },
	};
	const unsigned all = ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ | ACCESS_REMOTE_ATOMIC;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(responder_permits(rows[i].access, rows[i].kind));
		assert_false(responder_permits(all & ~rows[i].access, rows[i].kind));
		assert_int_equal(responder_access(rows[i].kind), rows[i].access);
	}
	assert_true(responder_permits(0, WR_SEND));
}

static enum responder_verdict check(enum wr_kind kind, uint64_t va, uint64_t length,
				    uint32_t outstanding)
{
	const struct responder_request r = { kind, va, length, outstanding, 4 };

	return responder_check_remote(&r, true);
}

/* 9.4.5: atomics are aligned to 8 bytes. 9.7.4.1.1: READs and atomics need a resource. */
static void remote_requests_are_refused_for_length_alignment_and_resources(void **state)
{
	const struct responder_request empty = { .kind = WR_WRITE };
	const struct responder_request one = { .kind = WR_WRITE, .length = 1 };

	(void)state;
	assert_int_equal(check(WR_WRITE, 1, UINT64_C(1) << 31, 4), RESPONDER_ACCEPTS);
	assert_int_equal(check(WR_WRITE, 1, (UINT64_C(1) << 31) + 1, 0), RESPONDER_BAD_REQUEST);
	assert_int_equal(check(WR_READ, 1, 100, 3), RESPONDER_ACCEPTS);
	assert_int_equal(check(WR_READ, 1, 100, 4), RESPONDER_BAD_REQUEST);
	assert_int_equal(check(WR_FETCH_ADD, 16, 8, 3), RESPONDER_ACCEPTS);
	assert_int_equal(check(WR_FETCH_ADD, 16, 8, 4), RESPONDER_BAD_REQUEST);
	assert_int_equal(check(WR_CMP_SWAP, 12, 8, 0), RESPONDER_BAD_REQUEST);
	assert_int_equal(responder_check_remote(&one, false), RESPONDER_BAD_ACCESS);
	assert_int_equal(responder_check_remote(&empty, false), RESPONDER_ACCEPTS);
}

/* 9.4.5.1. */
static void atomics_swap_if_equal_and_add_modulo_2_64(void **state)
{
	const struct atomiceth h = { .swap_add = 7, .compare = 5 };

	(void)state;
	assert_int_equal(responder_atomic(&h, true, 5), 7);
	assert_int_equal(responder_atomic(&h, true, 6), 6);
	assert_int_equal(responder_atomic(&h, false, 5), 12);
	assert_int_equal(responder_atomic(&h, false, UINT64_MAX), 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals_have_the_nak_and_both_statuses_of_the_specification),
		cmocka_unit_test(sends_and_writes_with_immediate_take_a_receive),
		cmocka_unit_test(a_receive_needs_room_and_permission),
		cmocka_unit_test(a_queue_pair_permits_what_its_access_rights_name),
		cmocka_unit_test(remote_requests_are_refused_for_length_alignment_and_resources),
		cmocka_unit_test(atomics_swap_if_equal_and_add_modulo_2_64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
