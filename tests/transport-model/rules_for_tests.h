/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TRANSPORT_MODEL_RULES_FOR_TESTS_H
#define HD_TRANSPORT_MODEL_RULES_FOR_TESTS_H

/* One queue pair, and what its tables of rules are tested with. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "raw.h"

#define ACK_31 0x1f

static struct raw q;

static inline void start(void)
{
	raw_init(&q, QP_RC);
	assert_true(raw_raise(&q, QPS_RTS));
}

static inline void ack(int psn, unsigned syndrome)
{
	raw_in(&q, raw_answer(&q, OP_ACK, psn, syndrome, 0));
}

/* What leaves now: n packets, the first with this operation and PSN. */
static inline void leaves(unsigned n, unsigned op, int psn)
{
	assert_int_equal(raw_drain(&q), n);
	if (n == 0)
		return;
	assert_int_equal(q.out[0].bth.opcode, op);
	assert_int_equal(raw_sq_psn(&q, 0), psn);
}

static inline void completed(unsigned n, enum wc_status last)
{
	assert_int_equal(q.n_sent, n);
	if (n)
		assert_int_equal(q.sent[n - 1].status, last);
}

/* Exactly one answer came out: this one. */
static inline void answered(unsigned syndrome, int psn, unsigned msn)
{
	assert_int_equal(raw_drain(&q), 1);
	assert_int_equal(q.out[0].bth.opcode, OP_ACK);
	assert_int_equal(q.out[0].aeth.syndrome, syndrome);
	assert_int_equal(raw_rq_psn(&q, 0), psn);
	assert_int_equal(q.out[0].aeth.msn, msn);
}

#endif
