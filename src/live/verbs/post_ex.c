/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "live/verbs/verbs_internal.h"

/*
 * Extended queue pairs (ibv_qp_ex): requests are built by several calls. wr_complete posts all
 * requests that were started since wr_start, or none of them. They are built in the entries of the
 * ring after `tail`.
 */

static struct soft_qp *qp_of_ex(struct ibv_qp_ex *ex)
{
	return container(ex, struct soft_qp, ex);
}

static void wr_start(struct ibv_qp_ex *ex)
{
	struct soft_qp *q = qp_of_ex(ex);

	if (context_is_inherited(q->ibv.context)) {
		q->build_error = EPERM;
		return;
	}
	pthread_mutex_lock(&q->send);
	q->building = q->tail;
	q->build_error = 0;
}

static int wr_complete(struct ibv_qp_ex *ex)
{
	struct soft_qp *q = qp_of_ex(ex);

	if (context_is_inherited(q->ibv.context))
		return EPERM;
	uint32_t state = atomic_load(&q->shared->state);
	int error = q->build_error;

	for (uint64_t i = q->tail; !error && i < q->building; i++)
		error = verbs_fault_post(q);
	if (!error && (state < IBV_QPS_RTS || state > IBV_QPS_ERR))
		error = EINVAL;
	if (!error) {
		q->tail = q->building;
		if (q->waits == WAIT_NOT)
			post_run(q);
	}
	pthread_mutex_unlock(&q->send);
	return error;
}

static void wr_abort(struct ibv_qp_ex *ex)
{
	struct soft_qp *q = qp_of_ex(ex);

	if (!context_is_inherited(q->ibv.context))
		pthread_mutex_unlock(&q->send);
}

/* The request that is being built; or NULL. */
static struct send_wqe *current(struct soft_qp *q)
{
	return q->build_error || q->building == q->tail ? NULL : send_at(q, q->building - 1);
}

/* Starts a request; later calls set its data. */
static void begin(struct ibv_qp_ex *ex, struct ibv_send_wr *wr)
{
	struct soft_qp *q = qp_of_ex(ex);
	struct send_wqe *s;

	if (q->build_error)
		return;
	if (!(q->ops & post_operation_flag(wr->opcode))) {
		q->build_error = EOPNOTSUPP;
		return;
	}
	if (ex->wr_flags & ~(unsigned)SEND_FLAGS) {
		q->build_error = EINVAL;
		return;
	}
	if (q->building - q->head >= q->init.cap.max_send_wr) {
		q->build_error = ENOMEM;
		return;
	}
	s = send_at(q, q->building);
	memset(s, 0, sizeof(*s));
	s->wr_id = ex->wr_id;
	s->opcode = wr->opcode;
	s->flags = (ex->wr_flags & ~(unsigned)IBV_SEND_INLINE) |
		   (q->init.sq_sig_all ? (unsigned)IBV_SEND_SIGNALED : 0);
	s->imm = wr->imm_data;
	s->rkey = wr->wr.rdma.rkey;
	s->remote_addr = wr->wr.rdma.remote_addr;
	q->building++;
}

static void wr_send(struct ibv_qp_ex *ex)
{
	begin(ex, &(struct ibv_send_wr){ .opcode = IBV_WR_SEND });
}

static void wr_send_imm(struct ibv_qp_ex *ex, __be32 imm)
{
	begin(ex, &(struct ibv_send_wr){ .opcode = IBV_WR_SEND_WITH_IMM, .imm_data = imm });
}

static void begin_remote(struct ibv_qp_ex *ex, enum ibv_wr_opcode op, uint32_t rkey, uint64_t addr,
			 __be32 imm)
{
	struct ibv_send_wr wr = { .opcode = op, .imm_data = imm };

	wr.wr.rdma.rkey = rkey;
	wr.wr.rdma.remote_addr = addr;
	begin(ex, &wr);
}

static void wr_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr)
{
	begin_remote(ex, IBV_WR_RDMA_WRITE, rkey, addr, 0);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, __be32 imm)
{
	begin_remote(ex, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, addr, imm);
}

static void wr_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr)
{
	begin_remote(ex, IBV_WR_RDMA_READ, rkey, addr, 0);
}

static void begin_atomic(struct ibv_qp_ex *ex, enum ibv_wr_opcode op, const uint64_t where[2],
			 uint64_t compare, uint64_t swap)
{
	begin_remote(ex, op, (uint32_t)where[0], where[1], 0);
	struct send_wqe *s = current(qp_of_ex(ex));

	if (s) {
		s->compare = compare;
		s->swap = swap;
	}
}

static void wr_cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, uint64_t compare,
		       uint64_t swap)
{
	const uint64_t where[2] = { rkey, addr };

	begin_atomic(ex, IBV_WR_ATOMIC_CMP_AND_SWP, where, compare, swap);
}

static void wr_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, uint64_t add)
{
	const uint64_t where[2] = { rkey, addr };

	begin_atomic(ex, IBV_WR_ATOMIC_FETCH_AND_ADD, where, add, 0);
}

/* ---- data of the request */

static void wr_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ibv, uint32_t qpn, uint32_t qkey)
{
	struct soft_qp *q = qp_of_ex(ex);
	struct send_wqe *s = current(q);

	if (s && (!ibv || !verbs_pd_is_same(ibv->pd, q->ibv.pd)))
		q->build_error = EINVAL;
	else if (s)
		post_address(q, s, container(ibv, struct ah, ibv), qpn, qkey);
}

static void wr_set_sge_list(struct ibv_qp_ex *ex, size_t n, const struct ibv_sge *list)
{
	struct soft_qp *q = qp_of_ex(ex);
	struct send_wqe *s = current(q);

	if (!s)
		return;
	if (n > q->init.cap.max_send_sge) {
		q->build_error = EINVAL;
		return;
	}
	s->n_sge = (uint32_t)n;
	s->length = 0;
	for (size_t i = 0; i < n; i++) {
		s->sge[i] = (struct live_piece){ list[i].addr, list[i].length, list[i].lkey };
		s->length += list[i].length;
	}
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t length)
{
	const struct ibv_sge one = { addr, length, lkey };

	wr_set_sge_list(ex, 1, &one);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t n, const struct ibv_data_buf *list)
{
	struct soft_qp *q = qp_of_ex(ex);
	struct send_wqe *s = current(q);

	if (!s)
		return;
	if (post_reads(s->opcode)) {
		q->build_error = EINVAL;
		return;
	}
	s->length = 0;
	for (size_t i = 0; i < n; i++) {
		if (s->length + list[i].length > q->init.cap.max_inline_data) {
			q->build_error = EINVAL;
			return;
		}
		memcpy(send_inline(q, s) + s->length, list[i].addr, list[i].length);
		s->length += list[i].length;
	}
	s->flags |= IBV_SEND_INLINE;
	s->n_sge = 0;
}

static void wr_set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	const struct ibv_data_buf one = { addr, length };

	wr_set_inline_data_list(ex, 1, &one);
}

/* ---- keys, and setters that this adapter does not support */

static void wr_bind_mw(struct ibv_qp_ex *ex, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *info)
{
	struct soft_qp *q = qp_of_ex(ex);

	begin(ex, &(struct ibv_send_wr){ .opcode = IBV_WR_BIND_MW });
	struct send_wqe *s = current(q);

	if (s)
		q->build_error = post_take_bind(s, mw, rkey, info);
}

static void wr_local_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	begin(ex, &(struct ibv_send_wr){ .opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = rkey });
}

static void wr_send_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	begin(ex, &(struct ibv_send_wr){ .opcode = IBV_WR_SEND_WITH_INV, .invalidate_rkey = rkey });
}

static void wr_atomic_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, const void *from)
{
	begin_remote(ex, IBV_WR_ATOMIC_WRITE, rkey, addr, 0);
	wr_set_inline_data(ex, (void *)from, sizeof(uint64_t));
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *ex, uint32_t number)
{
	struct soft_qp *q = qp_of_ex(ex);
	struct send_wqe *s = current(q);

	if (q->init.qp_type != IBV_QPT_XRC_SEND)
		q->build_error = EOPNOTSUPP;
	else if (s)
		s->srqn = number;
}

static void wr_send_tso(struct ibv_qp_ex *ex, void *header, uint16_t size, uint16_t mss)
{
	(void)header;
	(void)size;
	(void)mss;
	qp_of_ex(ex)->build_error = EOPNOTSUPP;
}

/* ---- every function is set; wr_complete reports operations that were not requested at creation */

void verbs_qp_fill_ex(struct soft_qp *q, uint64_t ops)
{
	struct ibv_qp_ex *ex = &q->ex;

	q->is_extended = true;
	q->ops = ops;
	ex->wr_start = wr_start;
	ex->wr_complete = wr_complete;
	ex->wr_abort = wr_abort;
	ex->wr_set_sge = wr_set_sge;
	ex->wr_set_sge_list = wr_set_sge_list;
	ex->wr_set_inline_data = wr_set_inline_data;
	ex->wr_set_inline_data_list = wr_set_inline_data_list;
	ex->wr_set_ud_addr = wr_set_ud_addr;
	ex->wr_set_xrc_srqn = wr_set_xrc_srqn;
	ex->wr_send = wr_send;
	ex->wr_send_imm = wr_send_imm;
	ex->wr_send_inv = wr_send_inv;
	ex->wr_send_tso = wr_send_tso;
	ex->wr_rdma_write = wr_rdma_write;
	ex->wr_rdma_write_imm = wr_rdma_write_imm;
	ex->wr_rdma_read = wr_rdma_read;
	ex->wr_atomic_cmp_swp = wr_cmp_swp;
	ex->wr_atomic_fetch_add = wr_fetch_add;
	ex->wr_atomic_write = wr_atomic_write;
	ex->wr_bind_mw = wr_bind_mw;
	ex->wr_local_inv = wr_local_inv;
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	struct soft_qp *q = qp_of(qp);

	return q->is_extended ? &q->ex : NULL;
}
