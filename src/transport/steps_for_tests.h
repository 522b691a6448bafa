/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TRANSPORT_STEPS_FOR_TESTS_H
#define HD_TRANSPORT_STEPS_FOR_TESTS_H

#include "transport/qp.h"

/* What qp_modify is given for a step up to INIT, RTR or RTS. */
static inline unsigned qp_step(enum qp_kind kind, enum qp_state to)
{
	static const unsigned masks[3][3] = {
		{ QPA_PKEY | QPA_ACCESS,
		  QPA_PATH | QPA_MTU | QPA_DEST_QP | QPA_RQ_PSN |
			  QPA_MAX_DEST_RD | QPA_MIN_RNR,
		  QPA_SQ_PSN | QPA_TIMEOUT | QPA_RETRY | QPA_RNR_RETRY |
			  QPA_MAX_RD },
		{ QPA_PKEY | QPA_ACCESS,
		  QPA_PATH | QPA_MTU | QPA_DEST_QP | QPA_RQ_PSN, QPA_SQ_PSN },
		{ QPA_PKEY | QPA_QKEY, QPA_PATH | QPA_MTU, QPA_SQ_PSN },
	};

	return QPA_STATE | masks[kind][to - QPS_INIT];
}

#endif
