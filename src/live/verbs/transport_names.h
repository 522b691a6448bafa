/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_VERBS_TRANSPORT_NAMES_H
#define HD_LIVE_VERBS_TRANSPORT_NAMES_H

/* Translates kinds, states and operations from libibverbs to transport/. */

#include <infiniband/verbs.h>

#include "transport/qp.h"

static inline enum qp_kind transport_kind(enum ibv_qp_type type)
{
	return type == IBV_QPT_RC ? QP_RC : type == IBV_QPT_UC ? QP_UC : QP_UD;
}

_Static_assert((int)IBV_QPS_RESET == QPS_RESET && (int)IBV_QPS_INIT == QPS_INIT &&
		       (int)IBV_QPS_RTR == QPS_RTR && (int)IBV_QPS_RTS == QPS_RTS &&
		       (int)IBV_QPS_SQD == QPS_SQD && (int)IBV_QPS_SQE == QPS_SQE &&
		       (int)IBV_QPS_ERR == QPS_ERR,
	       "states have the same numbers in libibverbs and in transport/");

/* The adapter itself implements SQD and SQE, so its transport or engine stays in RTS. */
static inline enum qp_state transport_state(uint32_t state)
{
	return state == IBV_QPS_SQD || state == IBV_QPS_SQE ? QPS_RTS : (enum qp_state)state;
}

static inline enum wr_kind transport_wr(uint32_t opcode)
{
	static const enum wr_kind kinds[] = {
		[IBV_WR_RDMA_WRITE] = WR_WRITE,
		[IBV_WR_RDMA_WRITE_WITH_IMM] = WR_WRITE_IMM,
		[IBV_WR_SEND] = WR_SEND,
		[IBV_WR_SEND_WITH_IMM] = WR_SEND_IMM,
		[IBV_WR_RDMA_READ] = WR_READ,
		[IBV_WR_ATOMIC_CMP_AND_SWP] = WR_CMP_SWAP,
		[IBV_WR_ATOMIC_FETCH_AND_ADD] = WR_FETCH_ADD,
		[IBV_WR_SEND_WITH_INV] = WR_SEND,
		[IBV_WR_ATOMIC_WRITE] = WR_WRITE,
	};

	return kinds[opcode];
}

#endif
