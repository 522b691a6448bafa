/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/verbs/inbound.h"

#include <string.h>

#include "live/verbs/transport_names.h"
#include "wire/headers.h"

static enum wr_kind kind_of(const struct inbound_request *r)
{
	return transport_wr(r->send->opcode);
}

/* ---- the error state of a responder */

static void notify_owner(const struct inbound_request *r, uint32_t event)
{
	uint32_t qpn = atomic_load(&r->to->qpn);
	const struct notification n = { NEWS_QP, live_qpn_index(qpn), event, qpn };

	verbs_peer_notify(r->peer, &n);
}

/* Moves the queue pair to ERR: flushes its receives here; its program flushes the sends. */
static void enter_error(const struct inbound_request *r, uint32_t event)
{
	atomic_store(&r->to->state, IBV_QPS_ERR);
	verbs_qp_flush_receives(r->peer, r->to);
	notify_owner(r, event);
}

/* RC: NAK, and the queue pair enters ERR. UC and UD: the message is dropped. */
static enum responder_verdict refuse(const struct inbound_request *r,
				     enum responder_verdict verdict)
{
	const struct responder_refusal *refusal = responder_refusal(verdict);
	bool is_access = refusal->event == QP_EVENT_ACCESS_ERR;

	if (verbs_is_reliable(r->to->type))
		enter_error(r, !refusal->has_event ? NO_EVENT
			       : is_access         ? IBV_EVENT_QP_ACCESS_ERR
						   : IBV_EVENT_QP_REQ_ERR);
	return verdict;
}

/* ---- receives */

/* The oldest receive, and the memory that it describes. */
struct inbound_receive {
	struct shared_srq *srq; /* locked; or NULL */
	struct shared_ring *ring;
	const struct shared_receive *entry; /* NULL: no receive is posted */
	struct iovec parts[MAX_SGE];
	unsigned n_parts;
	uint64_t room;
	bool is_allowed; /* all of its segments may be written */
	bool is_on_demand;
	unsigned skip; /* bytes for a GRH */
};

/* Resolves the parts of its segments that the message fills. */
static void find_parts(const struct inbound_request *r, struct inbound_receive *l)
{
	const struct shared_receive *w = l->entry;
	uint32_t pd = l->srq ? l->srq->pd : r->pd;
	uint64_t bytes = r->length + l->skip;

	l->is_allowed = true;
	for (unsigned i = 0; i < w->n_sge && i < MAX_SGE; i++) {
		uint64_t where = 0;
		uint64_t used = bytes < w->sge[i].length ? bytes : w->sge[i].length;

		l->room += w->sge[i].length;
		bytes -= used;
		if (used == 0)
			continue;
		const struct key_range span = { w->sge[i].lkey, w->sge[i].addr, used };

		l->is_allowed &= verbs_region_find(r->peer->memory, pd, &span,
						   IBV_ACCESS_LOCAL_WRITE, &where);
		l->is_on_demand |= verbs_region_is_on_demand(r->peer->memory, w->sge[i].lkey);
		l->parts[l->n_parts++] = (struct iovec){ at_address(where), used };
	}
}

static void open_receive(const struct inbound_request *r, struct inbound_receive *l)
{
	struct program_memory *m = r->peer->memory;

	*l = (struct inbound_receive){ .ring = &r->to->ring };
	if (r->srq != NO_INDEX) {
		l->srq = &m->srqs[r->srq];
		l->ring = &l->srq->ring;
		if (verbs_lock(&l->srq->lock))
			verbs_ring_recover(m, l->ring);
	}
	/* An XRC queue may have been destroyed before it was locked. */
	if (!l->srq || r->to->type != IBV_QPT_XRC_RECV || l->srq->xrcd == r->to->xrcd)
		l->entry = verbs_ring_first(m, l->ring);
	if (r->to->type == IBV_QPT_UD)
		l->skip = GRH_SIZE;
	if (l->entry)
		find_parts(r, l);
}

static void close_receive(const struct inbound_request *r, const struct inbound_receive *l)
{
	if (!l->srq)
		return;
	uint32_t limit = atomic_load(&l->srq->limit);
	uint64_t left = atomic_load(&l->ring->tail) - atomic_load(&l->ring->head);
	bool low =
		limit && left < limit && atomic_compare_exchange_strong(&l->srq->limit, &limit, 0);
	const struct notification n = { NEWS_SRQ, (uint32_t)r->srq, IBV_EVENT_SRQ_LIMIT_REACHED,
					l->srq->serial };

	verbs_unlock(&l->srq->lock);
	if (low)
		verbs_peer_notify(r->peer, &n);
}

/* The GRH of the datagram, with the GIDs of both ports. */
static void make_grh(const struct inbound_request *r, uint8_t out[GRH_SIZE])
{
	const struct send_wqe *s = r->send;
	uint32_t first =
		UINT32_C(6) << 28 | (uint32_t)s->traffic_class << 20 | (s->flow_label & 0xFFFFF);
	uint32_t length = (uint32_t)r->length + 24;

	for (unsigned i = 0; i < 4; i++)
		out[i] = (uint8_t)(first >> (24 - 8 * i));
	out[4] = (uint8_t)(length >> 8);
	out[5] = (uint8_t)length;
	out[6] = 0x1B; /* next header: BTH */
	out[7] = s->hop_limit;
	verbs_port_gid(&r->from->port, out + 8);
	memcpy(out + 24, s->dgid.raw, 16);
}

void inbound_gather(const struct inbound_request *r, uint8_t *to)
{
	for (unsigned i = 0; i < r->n_local; i++) {
		memcpy(to, r->local[i].iov_base, r->local[i].iov_len);
		to += r->local[i].iov_len;
	}
}

/* Removes the first `skip` bytes from a list of pieces. */
static unsigned skip_parts(struct iovec *parts, unsigned n, size_t skip)
{
	unsigned first = 0;

	while (first < n && skip >= parts[first].iov_len)
		skip -= parts[first++].iov_len;
	if (first < n) {
		parts[first].iov_base = (char *)parts[first].iov_base + skip;
		parts[first].iov_len -= skip;
	}
	return first;
}

static bool put_grh(const struct inbound_request *r, const struct inbound_receive *l)
{
	uint8_t grh[GRH_SIZE];
	struct iovec here = { grh, sizeof(grh) };

	if (!r->send->global)
		return true;
	make_grh(r, grh);
	return verbs_peer_copy(r->peer, &(struct iovec_list){ &here, 1 },
			       &(struct iovec_list){ l->parts, l->n_parts }, GRH_SIZE, true);
}

/* Stores a small message in the completion until it is polled. */
static bool carry(const struct inbound_request *r, const struct inbound_receive *l,
		  struct new_completion *c, uint8_t *buffer)
{
	unsigned before = r->send->global ? l->skip : 0;
	uint64_t all = r->length + l->skip;

	if (r->length + before > CARRIED || l->n_parts == 0 || l->parts[0].iov_len < all ||
	    l->is_on_demand)
		return false;
	if (before)
		make_grh(r, buffer);
	inbound_gather(r, buffer + before);
	c->carried = buffer;
	c->cqe.carried = (uint16_t)(r->length + before);
	c->cqe.target = (uintptr_t)l->parts[0].iov_base + (before ? 0 : l->skip);
	/* The first piece of nonzero length. */
	for (unsigned i = 0; i < l->entry->n_sge; i++)
		if (l->entry->sge[i].length) {
			c->cqe.target_key = l->entry->sge[i].lkey;
			break;
		}
	return true;
}

static bool place(const struct inbound_request *r, struct inbound_receive *l)
{
	if (l->skip && !put_grh(r, l))
		return false;
	unsigned first = skip_parts(l->parts, l->n_parts, l->skip);

	return verbs_peer_copy(r->peer, &(struct iovec_list){ r->local, r->n_local },
			       &(struct iovec_list){ l->parts + first, l->n_parts - first },
			       r->length, true);
}

/* Fills the completion of a receive from the message. */
static void describe(const struct inbound_request *r, const struct inbound_receive *l,
		     struct new_completion *c)
{
	const struct soft_qp *q = r->from;
	const struct send_wqe *s = r->send;
	bool datagram = r->to->type == IBV_QPT_UD;

	c->solicited = s->flags & IBV_SEND_SOLICITED;
	c->cqe.wr_id = l->entry->wr_id;
	c->cqe.opcode = IBV_WC_RECV;
	c->cqe.byte_len = (uint32_t)r->length + l->skip;
	c->cqe.qpn = atomic_load(&r->to->qpn);
	c->cqe.src_qp = q->ibv.qp_num;
	c->cqe.pkey_index = r->to->pkey_index;
	c->cqe.sl = datagram ? s->sl : q->attr.ah_attr.sl;
	c->cqe.slid =
		(uint16_t)(q->port.lid | (datagram ? s->path_bits : q->attr.ah_attr.src_path_bits));
	if (s->opcode == IBV_WR_SEND_WITH_IMM || s->opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
		c->cqe.flags |= IBV_WC_WITH_IMM;
		c->cqe.imm = s->imm;
	}
	if (s->opcode == IBV_WR_SEND_WITH_INV) {
		c->cqe.flags |= IBV_WC_WITH_INV;
		c->cqe.imm = s->imm;
	}
	if (datagram && s->global)
		c->cqe.flags |= IBV_WC_GRH;
}

/* Refuses a request that has a receive. RC: the receive completes with an error. UC, UD: it stays
 * posted. */
static enum responder_verdict refuse_receive(const struct inbound_request *r,
					     struct inbound_receive *l, struct new_completion *c,
					     enum responder_verdict verdict)
{
	if (verbs_is_reliable(r->to->type)) {
		c->cqe.status = (uint8_t)responder_refusal(verdict)->receive_status;
		c->cqe.carried = 0;
		verbs_cq_add(r->peer, r->recv_cq, c, l->ring);
	}
	close_receive(r, l);
	return refuse(r, verdict);
}

/* Completes the receive. A completion queue that overruns is fatal to the queue pair. */
static enum responder_verdict complete_receive(const struct inbound_request *r,
					       const struct inbound_receive *l,
					       struct new_completion *c)
{
	bool fits = verbs_cq_add(r->peer, r->recv_cq, c, l->ring);

	close_receive(r, l);
	if (!fits) {
		enter_error(r, IBV_EVENT_QP_FATAL);
		return RESPONDER_BAD_BUFFER;
	}
	return RESPONDER_ACCEPTS;
}

/* ---- requests */

static bool copy(const struct inbound_request *r, const struct iovec *remote, bool to_remote)
{
	return verbs_peer_copy(r->peer, &(struct iovec_list){ r->local, r->n_local },
			       &(struct iovec_list){ remote, 1 }, r->length, to_remote);
}

static enum responder_verdict execute_send(const struct inbound_request *r,
					   struct inbound_receive *l, struct new_completion *c)
{
	uint8_t buffer[CARRIED];
	enum responder_verdict verdict =
		responder_check_receive(r->length + l->skip, l->room, l->is_allowed);

	if (verdict == RESPONDER_ACCEPTS && r->send->opcode == IBV_WR_SEND_WITH_INV &&
	    !verbs_window_invalidate(r->peer->memory, r->send->imm, r->pd, c->cqe.qpn))
		verdict = RESPONDER_BAD_ACCESS;
	if (verdict == RESPONDER_ACCEPTS && r->length > 0 && !carry(r, l, c, buffer) &&
	    !place(r, l))
		verdict = RESPONDER_BAD_BUFFER;
	return verdict == RESPONDER_ACCEPTS ? complete_receive(r, l, c)
					    : refuse_receive(r, l, c, verdict);
}

/* The responder's memory under the R_Key. A peer's whole message is executed at once, so no READ or
 * atomic is outstanding. */
static enum responder_verdict find_remote(const struct inbound_request *r, struct iovec *out)
{
	const struct key_range span = { r->send->rkey, r->send->remote_addr, r->length,
					atomic_load(&r->to->qpn) };
	const struct responder_request request = {
		.kind = kind_of(r),
		.va = r->send->remote_addr,
		.length = r->length,
		.max_outstanding = r->to->max_dest_rd,
	};
	uint64_t where = 0;
	bool is_allowed =
		r->length > 0 && verbs_region_find(r->peer->memory, r->pd, &span,
						   responder_access(request.kind), &where);

	*out = (struct iovec){ at_address(where), r->length };
	return responder_check_remote(&request, is_allowed);
}

static enum responder_verdict execute_write(const struct inbound_request *r)
{
	struct iovec there;
	enum responder_verdict verdict = find_remote(r, &there);

	if (r->send->opcode == IBV_WR_ATOMIC_WRITE && r->send->remote_addr % sizeof(uint64_t))
		verdict = RESPONDER_BAD_REQUEST;
	if (verdict == RESPONDER_ACCEPTS && !copy(r, &there, true))
		verdict = RESPONDER_BAD_BUFFER;
	return verdict;
}

static enum responder_verdict execute_read(const struct inbound_request *r)
{
	struct iovec there;
	enum responder_verdict verdict = find_remote(r, &there);

	if (verdict == RESPONDER_ACCEPTS && !copy(r, &there, false))
		verdict = RESPONDER_BAD_BUFFER;
	return verdict;
}

/* Atomic among adapters only; not with respect to stores of the program. */
static bool swap(const struct inbound_request *r, const struct iovec *there, uint64_t *old)
{
	const struct send_wqe *s = r->send;
	bool is_compare = kind_of(r) == WR_CMP_SWAP;
	const struct atomiceth operands = { .swap_add = is_compare ? s->swap : s->compare,
					    .compare = s->compare };
	uint64_t found = 0;
	struct iovec here = { &found, sizeof(found) };
	const struct iovec_list remote = { there, 1 };

	verbs_lock(&r->peer->memory->atomics);
	bool done = verbs_peer_copy(r->peer, &(struct iovec_list){ &here, 1 }, &remote,
				    sizeof(found), false);
	uint64_t next = responder_atomic(&operands, is_compare, found);

	here.iov_base = &next;
	if (done && next != found)
		done = verbs_peer_copy(r->peer, &(struct iovec_list){ &here, 1 }, &remote,
				       sizeof(next), true);
	verbs_unlock(&r->peer->memory->atomics);
	*old = found;
	return done;
}

static enum responder_verdict execute_atomic(const struct inbound_request *r)
{
	uint64_t old = 0;
	struct iovec there;
	enum responder_verdict verdict = find_remote(r, &there);

	if (verdict == RESPONDER_ACCEPTS && !swap(r, &there, &old))
		verdict = RESPONDER_BAD_BUFFER;
	if (verdict != RESPONDER_ACCEPTS)
		return verdict;
	for (unsigned i = 0, at = 0; i < r->n_local; i++) {
		memcpy(r->local[i].iov_base, (char *)&old + at, r->local[i].iov_len);
		at += (unsigned)r->local[i].iov_len;
	}
	return RESPONDER_ACCEPTS;
}

/* Executes a request that consumes no receive. */
static enum responder_verdict execute_remote(const struct inbound_request *r)
{
	switch (kind_of(r)) {
	case WR_READ:
		return execute_read(r);
	case WR_CMP_SWAP:
	case WR_FETCH_ADD:
		return execute_atomic(r);
	default:
		return execute_write(r);
	}
}

static enum responder_verdict execute_with_receive(struct inbound_request *r)
{
	struct new_completion c = { .solicited = false };
	struct inbound_receive l;

	open_receive(r, &l);
	if (!l.entry) {
		close_receive(r, &l);
		return RESPONDER_NO_RECEIVE;
	}
	describe(r, &l, &c);
	if (kind_of(r) != WR_WRITE_IMM)
		return execute_send(r, &l, &c);
	enum responder_verdict verdict = execute_write(r);

	if (verdict != RESPONDER_ACCEPTS)
		return refuse_receive(r, &l, &c, verdict);
	c.cqe.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
	return complete_receive(r, &l, &c);
}

/* The queues and the protection domain that the request uses. A request of XRC names a shared
 * receive queue, whose domain its R_Keys have, too; false if the target has no such queue. */
static bool find_queues(struct inbound_request *r)
{
	r->srq = r->to->srq;
	r->recv_cq = r->to->recv_cq;
	r->pd = r->to->pd;
	if (r->to->type != IBV_QPT_XRC_RECV)
		return true;
	if (r->send->srqn >= MAX_SRQS)
		return false;
	const struct shared_srq *s = &r->peer->memory->srqs[r->send->srqn];

	r->srq = (int32_t)r->send->srqn;
	r->recv_cq = s->cq;
	r->pd = s->pd;
	return atomic_load(&s->xrcd) == r->to->xrcd;
}

enum responder_verdict inbound_execute(struct inbound_request *r)
{
	if (!find_queues(r) || !responder_permits(r->to->access, kind_of(r)))
		return refuse(r, RESPONDER_BAD_REQUEST);
	if (responder_takes_receive(kind_of(r)))
		return execute_with_receive(r);
	enum responder_verdict verdict = execute_remote(r);

	return verdict == RESPONDER_ACCEPTS ? verdict : refuse(r, verdict);
}
