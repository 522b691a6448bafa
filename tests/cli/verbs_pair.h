/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TESTS_CLI_VERBS_PAIR_H
#define HD_TESTS_CLI_VERBS_PAIR_H

/* Connects two queue pairs of one adapter, for programs that try verbs. */

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

struct pair_rules {
	uint16_t lid; /* of the port, which is the first */
	uint32_t qkey;
	unsigned access;
	uint8_t timeout, retries, rnr_retries;
};

/* To RTS, or as far as it goes: what could not be, or NULL. */
static inline const char *pair_raise(struct ibv_qp *qp, const struct ibv_qp *peer,
				     const struct pair_rules *r)
{
	bool ud = qp->qp_type == IBV_QPT_UD;
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT,
				 .port_num = 1,
				 .qkey = r->qkey,
				 .qp_access_flags = r->access };

	if (ibv_modify_qp(qp, &a,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				  (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)))
		return "INIT";
	a = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR,
				  .path_mtu = IBV_MTU_1024,
				  .dest_qp_num = peer->qp_num,
				  .max_dest_rd_atomic = 1,
				  .min_rnr_timer = 1,
				  .ah_attr = { .dlid = r->lid, .port_num = 1 } };
	if (ibv_modify_qp(qp, &a,
			  ud ? IBV_QP_STATE
			     : IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					  IBV_QP_MIN_RNR_TIMER))
		return "RTR";
	a = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS,
				  .timeout = r->timeout,
				  .retry_cnt = r->retries,
				  .rnr_retry = r->rnr_retries,
				  .max_rd_atomic = 1 };
	return ibv_modify_qp(qp, &a,
			     ud ? IBV_QP_STATE | IBV_QP_SQ_PSN
				: IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					     IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					     IBV_QP_MAX_QP_RD_ATOMIC)
		       ? "RTS"
		       : NULL;
}

#endif
