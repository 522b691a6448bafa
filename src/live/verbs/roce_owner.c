/* SPDX-License-Identifier: BSD-2-Clause */
/* Callbacks of the transport for its queue pairs in this adapter: memory, completions, receives. */
#include <arpa/inet.h>
#include <string.h>

#include "live/verbs/roce_link.h"
#include "transport/responder_rules.h"

_Static_assert((unsigned)ACCESS_LOCAL_WRITE == IBV_ACCESS_LOCAL_WRITE &&
		       (unsigned)ACCESS_REMOTE_WRITE == IBV_ACCESS_REMOTE_WRITE &&
		       (unsigned)ACCESS_REMOTE_READ == IBV_ACCESS_REMOTE_READ &&
		       (unsigned)ACCESS_REMOTE_ATOMIC == IBV_ACCESS_REMOTE_ATOMIC,
	       "access is the same number in verbs and in transport/");

/* ---- memory */

static bool memory_allows(void *context, uint32_t pd, uint32_t key, uint64_t addr, uint64_t len,
			  unsigned access)
{
	const struct key_range s = { key, addr, len };
	uint64_t where;

	(void)context;
	if (key == KEY_INLINE)
		return access == 0;
	return verbs_region_find(verbs_adapter.memory, pd, &s, access, &where);
}

/* Resolves bytes to which access was granted, if their region still exists. */
static void *memory_find(const struct roce_qp_link *l, uint32_t key, uint64_t addr, size_t len)
{
	const struct key_range s = { key, addr, len };
	uint64_t where;

	if (key == KEY_INLINE)
		return at_address(addr);
	return verbs_region_find(verbs_adapter.memory, l->shared->pd, &s, 0, &where)
		       ? at_address(where)
		       : NULL;
}

static void memory_read(void *context, uint32_t key, uint64_t addr, void *to, size_t len)
{
	const void *from = memory_find(context, key, addr, len);

	if (from)
		memcpy(to, from, len);
	else
		memset(to, 0, len);
}

static void memory_write(void *context, uint32_t key, uint64_t addr, const void *from, size_t len)
{
	void *to = memory_find(context, key, addr, len);

	if (to)
		memcpy(to, from, len);
}

static uint64_t memory_atomic(void *context, const struct atomiceth *what, bool compare)
{
	uint64_t *at = memory_find(context, what->rkey, what->va, sizeof(uint64_t));

	if (!at)
		return 0;
	uint64_t old = __atomic_load_n(at, __ATOMIC_SEQ_CST);

	while (!__atomic_compare_exchange_n(at, &old, responder_atomic(what, compare, old), false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
	return old;
}

/* Regions of this adapter do not permit remote invalidation. */
static void memory_invalidate(void *context, uint32_t rkey)
{
	(void)context;
	(void)rkey;
}

/* ---- completions and events */

static void complete_receive(const struct roce_qp_link *l, const struct completion *wc)
{
	struct new_completion c = {
		.cqe = { .wr_id = wc->id,
			 .status = (uint8_t)wc->status,
			 .opcode = wc->kind == WC_RECV_WRITE_IMM ? IBV_WC_RECV_RDMA_WITH_IMM
								 : IBV_WC_RECV,
			 .flags = (uint8_t)(((wc->flags & WC_WITH_IMM) ? IBV_WC_WITH_IMM : 0) |
					    ((wc->flags & WC_GRH) ? IBV_WC_GRH : 0)),
			 .byte_len = wc->byte_len,
			 .imm = htonl(wc->imm),
			 .qpn = l->qpn,
			 .src_qp = wc->src_qp },
		.solicited = wc->solicited,
	};

	if (!verbs_cq_add(verbs_adapter.self, l->shared->recv_cq, &c, NULL))
		verbs_roce_defer(&(struct roce_deferred){
			.qpn = l->qpn, .number = NO_SEND, .event = IBV_EVENT_QP_FATAL });
}

static void completed(void *context, struct qp *qp, const struct completion *wc, bool receive)
{
	(void)qp;
	const struct roce_qp_link *l = context;

	if (receive)
		complete_receive(l, wc);
	else
		verbs_roce_defer(&(struct roce_deferred){
			.qpn = l->qpn, .status = (uint32_t)wc->status, .number = wc->id });
}

static void happened(void *context, struct qp *qp, enum qp_event event)
{
	static const enum ibv_event_type types[] = {
		[QP_EVENT_COMM_EST] = IBV_EVENT_COMM_EST,
		[QP_EVENT_REQ_ERR] = IBV_EVENT_QP_REQ_ERR,
		[QP_EVENT_ACCESS_ERR] = IBV_EVENT_QP_ACCESS_ERR,
	};
	const struct roce_qp_link *l = context;
	struct notification n = { NEWS_QP, live_qpn_index(l->qpn), NO_EVENT, l->qpn };

	(void)qp;
	switch (event) {
	case QP_EVENT_LAST_WQE: /* a queue pair with a shared receive queue is in error */
		verbs_roce_defer(&(struct roce_deferred){
			.qpn = l->qpn, .number = NO_SEND, .event = NO_EVENT });
		break;
	case QP_EVENT_COMM_EST:
	case QP_EVENT_REQ_ERR:
	case QP_EVENT_ACCESS_ERR:
		n.event = (uint32_t)types[event];
		verbs_peer_notify(verbs_adapter.self, &n);
		break;
	default: /* drained, or counted by the fabric: not here */
		break;
	}
}

/* ---- receives */

/* Consumes the first receive of a ring. */
static bool take_first(pthread_mutex_t *lock, struct shared_ring *ring, struct recv_wr *out)
{
	verbs_lock(lock);
	const struct shared_receive *r = verbs_ring_first(verbs_adapter.memory, ring);

	if (r) {
		out->id = r->wr_id;
		out->n_sge = r->n_sge;
		for (uint32_t i = 0; i < r->n_sge; i++)
			out->sge[i] =
				(struct sge){ r->sge[i].addr, r->sge[i].length, r->sge[i].lkey };
		atomic_fetch_add(&ring->head, 1);
	}
	verbs_unlock(lock);
	return r != NULL;
}

static bool take_receive(void *context, struct recv_wr *out)
{
	const struct roce_qp_link *l = context;

	if (l->shared->srq == NO_INDEX)
		return take_first(&l->shared->lock, &l->shared->ring, out);
	struct shared_srq *srq = &verbs_adapter.memory->srqs[l->shared->srq];
	bool is_there = take_first(&srq->lock, &srq->ring, out);
	uint32_t limit = atomic_load(&srq->limit);

	if (is_there && limit &&
	    atomic_load(&srq->ring.tail) - atomic_load(&srq->ring.head) < limit) {
		const struct notification n = { NEWS_SRQ, (uint32_t)l->shared->srq,
						IBV_EVENT_SRQ_LIMIT_REACHED, srq->serial };

		atomic_store(&srq->limit, 0);
		verbs_peer_notify(verbs_adapter.self, &n);
	}
	return is_there;
}

void verbs_roce_bind_owner(struct roce_qp_link *l)
{
	l->owner = (struct qp_owner){
		.context = l,
		.allows = memory_allows,
		.read = memory_read,
		.write = memory_write,
		.atomic = memory_atomic,
		.invalidate = memory_invalidate,
		.complete = completed,
		.event = happened,
		.take_shared = take_receive,
	};
}
