/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/verbs/inbound.h"

#include <string.h>

#include "wire/headers.h"

/* ---- what becomes of a responder */

static void tell(const struct request *r, uint32_t event)
{
	uint32_t qpn = atomic_load(&r->to->qpn);
	const struct news n = { NEWS_QP, live_qpn_index(qpn), event, qpn };

	peer_tell(r->peer, &n);
}

/* It is in error: its receives are flushed here, its sends by its owner. */
static void fail(const struct request *r, uint32_t event)
{
	atomic_store(&r->to->state, IBV_QPS_ERR);
	qp_flush_receives(r->peer, r->to);
	tell(r, event);
}

/* What is refused without a receive: an event says so, in RC only. */
static enum answer refuse(const struct request *r, enum answer why)
{
	if (r->to->type == IBV_QPT_RC)
		fail(r, why == ANSWER_REFUSED ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_REQ_ERR);
	return why;
}

/* ---- receives */

struct landing {
	struct shared_srq *srq; /* locked; or NULL */
	struct shared_ring *ring;
	const struct shared_receive *receive; /* NULL: none */
	struct iovec parts[MAX_SGE];
	unsigned n_parts;
	uint64_t room;
	unsigned skip; /* bytes for a GRH */
};

static void open_landing(const struct request *r, struct landing *l)
{
	struct memory *m = r->peer->memory;

	*l = (struct landing){ .ring = &r->to->ring };
	if (r->to->srq != NO_INDEX) {
		l->srq = &m->srqs[r->to->srq];
		l->ring = &l->srq->ring;
		if (lock_take(&l->srq->lock))
			ring_mend(m, l->ring);
	}
	l->receive = ring_first(m, l->ring);
	if (r->to->type == IBV_QPT_UD)
		l->skip = GRH_SIZE;
}

static void close_landing(const struct request *r, const struct landing *l)
{
	if (!l->srq)
		return;
	uint32_t limit = atomic_load(&l->srq->limit);
	uint64_t left = atomic_load(&l->ring->tail) - atomic_load(&l->ring->head);
	bool low =
		limit && left < limit && atomic_compare_exchange_strong(&l->srq->limit, &limit, 0);
	const struct news n = { NEWS_SRQ, (uint32_t)r->to->srq, IBV_EVENT_SRQ_LIMIT_REACHED,
				l->srq->serial };

	lock_give(&l->srq->lock);
	if (low)
		peer_tell(r->peer, &n);
}

/* Where the pieces of the receive are; false if one is not allowed. */
static bool find_parts(const struct request *r, struct landing *l)
{
	const struct shared_receive *w = l->receive;

	for (unsigned i = 0; i < w->n_sge && i < MAX_SGE; i++) {
		uint64_t where;

		if (w->sge[i].length == 0)
			continue;
		const struct span span = { w->sge[i].lkey, w->sge[i].addr, w->sge[i].length };

		if (!region_find(r->peer->memory, r->to->pd, &span, IBV_ACCESS_LOCAL_WRITE, &where))
			return false;
		l->parts[l->n_parts++] = (struct iovec){ at_address(where), w->sge[i].length };
		l->room += w->sge[i].length;
	}
	return true;
}

/* A header as it would have come, with the addresses of both. */
static void make_grh(const struct request *r, uint8_t out[GRH_SIZE])
{
	const struct send *s = r->send;
	uint32_t first =
		UINT32_C(6) << 28 | (uint32_t)s->traffic_class << 20 | (s->flow_label & 0xFFFFF);
	uint32_t length = (uint32_t)r->length + 24;

	for (unsigned i = 0; i < 4; i++)
		out[i] = (uint8_t)(first >> (24 - 8 * i));
	out[4] = (uint8_t)(length >> 8);
	out[5] = (uint8_t)length;
	out[6] = 0x1B; /* what comes next is a BTH */
	out[7] = s->hop_limit;
	port_gid(&r->from->port, out + 8);
	memcpy(out + 24, s->dgid.raw, 16);
}

void request_gather(const struct request *r, uint8_t *to)
{
	for (unsigned i = 0; i < r->n_local; i++) {
		memcpy(to, r->local[i].iov_base, r->local[i].iov_len);
		to += r->local[i].iov_len;
	}
}

/* Leaves out the first bytes of a list of pieces. */
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

static bool put_grh(const struct request *r, const struct landing *l)
{
	uint8_t grh[GRH_SIZE];
	struct iovec here = { grh, sizeof(grh) };

	if (!r->send->global)
		return true;
	make_grh(r, grh);
	return peer_copy(r->peer, &(struct pieces){ &here, 1 },
			 &(struct pieces){ l->parts, l->n_parts }, GRH_SIZE, true);
}

/* Small messages stay in the completion until it is polled. */
static bool carry(const struct request *r, const struct landing *l, struct cq_entry *c,
		  uint8_t *buffer)
{
	unsigned before = r->send->global ? l->skip : 0;
	uint64_t all = r->length + l->skip;

	if (r->length + before > CARRIED || l->n_parts == 0 || l->parts[0].iov_len < all)
		return false;
	if (before)
		make_grh(r, buffer);
	request_gather(r, buffer + before);
	c->carried = buffer;
	c->cqe.carried = (uint16_t)(r->length + before);
	c->cqe.target = (uintptr_t)l->parts[0].iov_base + (before ? 0 : l->skip);
	/* The first piece that has any length. */
	for (unsigned i = 0; i < l->receive->n_sge; i++)
		if (l->receive->sge[i].length) {
			c->cqe.target_key = l->receive->sge[i].lkey;
			break;
		}
	return true;
}

static bool place(const struct request *r, struct landing *l)
{
	if (l->skip && !put_grh(r, l))
		return false;
	unsigned first = skip_parts(l->parts, l->n_parts, l->skip);

	return peer_copy(r->peer, &(struct pieces){ r->local, r->n_local },
			 &(struct pieces){ l->parts + first, l->n_parts - first }, r->length, true);
}

/* The completion of a receive, for the message as it is. */
static void describe(const struct request *r, const struct landing *l, struct cq_entry *c)
{
	const struct pair *q = r->from;
	const struct send *s = r->send;
	bool datagram = r->to->type == IBV_QPT_UD;

	c->solicited = s->flags & IBV_SEND_SOLICITED;
	c->cqe.wr_id = l->receive->wr_id;
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
	if (datagram && s->global)
		c->cqe.flags |= IBV_WC_GRH;
}

/* The receive ends in an error of its own, and with it the queue pair. */
static enum answer fail_receive(const struct request *r, struct landing *l, struct cq_entry *c,
				enum ibv_wc_status status, enum answer why)
{
	c->cqe.status = (uint8_t)status;
	c->cqe.carried = 0;
	cq_add(r->peer, r->to->recv_cq, c, l->ring);
	close_landing(r, l);
	fail(r, NO_EVENT);
	return why;
}

static enum answer finish(const struct request *r, struct landing *l, struct cq_entry *c)
{
	bool fits = cq_add(r->peer, r->to->recv_cq, c, l->ring);

	close_landing(r, l);
	if (!fits) {
		fail(r, IBV_EVENT_QP_FATAL);
		return ANSWER_FAILED;
	}
	return ANSWER_ACK;
}

enum answer inbound_send(struct request *r)
{
	struct cq_entry c = { .solicited = false };
	uint8_t buffer[CARRIED];
	struct landing l;

	open_landing(r, &l);
	if (!l.receive) {
		close_landing(r, &l);
		return ANSWER_NO_RECEIVE;
	}
	describe(r, &l, &c);
	if (!find_parts(r, &l))
		return fail_receive(r, &l, &c, IBV_WC_LOC_PROT_ERR, ANSWER_FAILED);
	if (r->length + l.skip > l.room)
		return fail_receive(r, &l, &c, IBV_WC_LOC_LEN_ERR, ANSWER_INVALID);
	if (r->length > 0 && !carry(r, &l, &c, buffer) && !place(r, &l))
		return fail_receive(r, &l, &c, IBV_WC_LOC_PROT_ERR, ANSWER_FAILED);
	return finish(r, &l, &c);
}

/* ---- remote memory */

/* An R_Key is not looked at for nothing. */
static bool find_remote(const struct request *r, unsigned access, struct iovec *out)
{
	const struct span span = { r->send->rkey, r->send->remote_addr, r->length };
	uint64_t where = 0;

	if (r->length > 0 && !region_find(r->peer->memory, r->to->pd, &span, access, &where))
		return false;
	*out = (struct iovec){ at_address(where), r->length };
	return true;
}

static enum answer write_memory(const struct request *r)
{
	struct iovec there;

	if (!(r->to->access & IBV_ACCESS_REMOTE_WRITE))
		return ANSWER_INVALID;
	if (!find_remote(r, IBV_ACCESS_REMOTE_WRITE, &there))
		return ANSWER_REFUSED;
	return peer_copy(r->peer, &(struct pieces){ r->local, r->n_local },
			 &(struct pieces){ &there, 1 }, r->length, true)
		       ? ANSWER_ACK
		       : ANSWER_FAILED;
}

enum answer inbound_write(struct request *r)
{
	struct cq_entry c = { .solicited = false };
	struct landing l;

	if (r->send->opcode == IBV_WR_RDMA_WRITE) {
		enum answer a = write_memory(r);

		return a == ANSWER_ACK ? a : refuse(r, a);
	}
	open_landing(r, &l);
	if (!l.receive) {
		close_landing(r, &l);
		return ANSWER_NO_RECEIVE;
	}
	enum answer a = write_memory(r);

	if (a != ANSWER_ACK) {
		close_landing(r, &l);
		return refuse(r, a);
	}
	describe(r, &l, &c);
	c.cqe.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
	return finish(r, &l, &c);
}

enum answer inbound_read(struct request *r)
{
	struct iovec there;

	if (!(r->to->access & IBV_ACCESS_REMOTE_READ) || !r->to->max_dest_rd)
		return refuse(r, ANSWER_INVALID);
	if (!find_remote(r, IBV_ACCESS_REMOTE_READ, &there))
		return refuse(r, ANSWER_REFUSED);
	return peer_copy(r->peer, &(struct pieces){ r->local, r->n_local },
			 &(struct pieces){ &there, 1 }, r->length, false)
		       ? ANSWER_ACK
		       : refuse(r, ANSWER_FAILED);
}

enum answer inbound_atomic(struct request *r)
{
	const struct send *s = r->send;
	uint64_t old = 0, next;
	struct iovec here = { &old, sizeof(old) }, there;

	if (!(r->to->access & IBV_ACCESS_REMOTE_ATOMIC) || !r->to->max_dest_rd ||
	    s->remote_addr % sizeof(old) != 0)
		return refuse(r, ANSWER_INVALID);
	if (!find_remote(r, IBV_ACCESS_REMOTE_ATOMIC, &there))
		return refuse(r, ANSWER_REFUSED);
	/* Among adapters only: a program's own stores are not kept out. */
	lock_take(&r->peer->memory->atomics);
	bool done = peer_copy(r->peer, &(struct pieces){ &here, 1 }, &(struct pieces){ &there, 1 },
			      sizeof(old), false);

	next = old;
	if (s->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		next += s->compare;
	else if (old == s->compare)
		next = s->swap;
	here.iov_base = &next;
	if (done && next != old)
		done = peer_copy(r->peer, &(struct pieces){ &here, 1 },
				 &(struct pieces){ &there, 1 }, sizeof(old), true);
	lock_give(&r->peer->memory->atomics);
	if (!done)
		return refuse(r, ANSWER_FAILED);
	for (unsigned i = 0, at = 0; i < r->n_local; i++) {
		memcpy(r->local[i].iov_base, (char *)&old + at, r->local[i].iov_len);
		at += (unsigned)r->local[i].iov_len;
	}
	return ANSWER_ACK;
}
