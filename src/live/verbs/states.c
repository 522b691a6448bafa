/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/verbs/verbs_internal.h"

/*
 * Transitions of queue pair states, the attributes that each requires, and those that it permits:
 * the table of Modify QP in the InfiniBand Architecture Specification.
 */

enum { RC = 1, UC = 2, UD = 4, XI = 8, XT = 16, ALL = 31 }; /* XRC: initiator and target */

enum {
	STATE = IBV_QP_STATE | IBV_QP_CUR_STATE,
	ADDRESS = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
	ALTERNATE = IBV_QP_PATH_MIG_STATE, /* the adapter has no alternate paths */
	RETRIES = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
};

static const struct {
	int kinds;
	enum ibv_qp_state from, to;
	int needs, takes;
} rows[] = {
	{ RC | UC | XI | XT, IBV_QPS_RESET, IBV_QPS_INIT,
	  IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0 },
	{ UD, IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, 0 },
	{ RC | UC | XI | XT, IBV_QPS_INIT, IBV_QPS_INIT, 0,
	  IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS },
	{ UD, IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY },
	{ RC | XT, IBV_QPS_INIT, IBV_QPS_RTR,
	  ADDRESS | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	  IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX },
	{ UC | XI, IBV_QPS_INIT, IBV_QPS_RTR, ADDRESS, IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX },
	{ UD, IBV_QPS_INIT, IBV_QPS_RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY },
	{ RC, IBV_QPS_RTR, IBV_QPS_RTS, RETRIES | IBV_QP_SQ_PSN,
	  ALTERNATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER },
	{ XI, IBV_QPS_RTR, IBV_QPS_RTS, RETRIES | IBV_QP_SQ_PSN, ALTERNATE | IBV_QP_ACCESS_FLAGS },
	{ XT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_TIMEOUT | IBV_QP_SQ_PSN,
	  ALTERNATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER },
	{ UC, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, ALTERNATE | IBV_QP_ACCESS_FLAGS },
	{ UD, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_QKEY },
	{ RC | XT, IBV_QPS_RTS, IBV_QPS_RTS, 0,
	  ALTERNATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER },
	{ UC | XI, IBV_QPS_RTS, IBV_QPS_RTS, 0, ALTERNATE | IBV_QP_ACCESS_FLAGS },
	{ UD, IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_QKEY },
	{ ALL, IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY },
	{ RC | XT, IBV_QPS_SQD, IBV_QPS_RTS, 0,
	  ALTERNATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER },
	{ UC | XI, IBV_QPS_SQD, IBV_QPS_RTS, 0, ALTERNATE | IBV_QP_ACCESS_FLAGS },
	{ UD, IBV_QPS_SQD, IBV_QPS_RTS, 0, IBV_QP_QKEY },
	{ RC, IBV_QPS_SQD, IBV_QPS_SQD, 0,
	  IBV_QP_PORT | IBV_QP_AV | RETRIES | IBV_QP_MAX_DEST_RD_ATOMIC | ALTERNATE |
		  IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_MIN_RNR_TIMER },
	{ XI, IBV_QPS_SQD, IBV_QPS_SQD, 0,
	  IBV_QP_PORT | IBV_QP_AV | RETRIES | ALTERNATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX },
	{ XT, IBV_QPS_SQD, IBV_QPS_SQD, 0,
	  IBV_QP_PORT | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_MAX_DEST_RD_ATOMIC | ALTERNATE |
		  IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_MIN_RNR_TIMER },
	{ UC, IBV_QPS_SQD, IBV_QPS_SQD, 0,
	  IBV_QP_AV | ALTERNATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX },
	{ UD, IBV_QPS_SQD, IBV_QPS_SQD, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY },
	{ UC, IBV_QPS_SQE, IBV_QPS_RTS, 0, IBV_QP_ACCESS_FLAGS },
	{ UD, IBV_QPS_SQE, IBV_QPS_RTS, 0, IBV_QP_QKEY },
};

bool verbs_qp_transition_is_valid(enum ibv_qp_type type, enum ibv_qp_state from,
				  enum ibv_qp_state to, int mask)
{
	int kind = type == IBV_QPT_RC         ? RC
		   : type == IBV_QPT_UC       ? UC
		   : type == IBV_QPT_XRC_SEND ? XI
		   : type == IBV_QPT_XRC_RECV ? XT
					      : UD;

	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
		return (mask & ~STATE) == 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].kinds & kind && rows[i].from == from && rows[i].to == to)
			return (mask & rows[i].needs) == rows[i].needs &&
			       !(mask & ~(STATE | rows[i].needs | rows[i].takes));
	return false;
}
