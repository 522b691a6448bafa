/* SPDX-License-Identifier: BSD-2-Clause */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/ring.h"
#include "transport/codes.h"
#include "transport/transport_internal.h"

/* At most half of the numbers may be under way, or old and new look alike. */
#define PSN_WINDOW (UINT32_C(1) << 23)

void requester_init(struct requester *r, uint32_t size)
{
	r->size = size;
	requester_reset(r);
}

void requester_fini(struct requester *r)
{
	free(r->items);
}

void requester_reset(struct requester *r)
{
	*r = (struct requester){
		.items = r->items, .places = r->places, .size = r->size, .timer = HD_TIME_NEVER
	};
}

void requester_reload(struct qp *qp)
{
	qp->req.retry_left = qp->attr.retry;
	qp->req.rnr_left = qp->attr.rnr_retry;
}

void requester_start(struct qp *qp)
{
	struct requester *r = &qp->req;

	r->next_psn = qp->attr.sq_psn;
	r->asked = r->next_psn;
	r->unlimited = !qp->attr.credits;
	requester_reload(qp);
}

/* ---- completing -------------------------------------------------------- */

static enum wc_kind completion_kind(enum wr_kind kind)
{
	switch (kind) {
	case WR_WRITE:
	case WR_WRITE_IMM:
		return WC_WRITE;
	case WR_READ:
		return WC_READ;
	case WR_CMP_SWAP:
		return WC_CMP_SWAP;
	case WR_FETCH_ADD:
		return WC_FETCH_ADD;
	default:
		return WC_SEND;
	}
}

/* Silent only if it succeeded and is unsignalled. */
static void complete_item(struct qp *qp, const struct send_item *item, enum wc_status status)
{
	struct completion wc = {
		.id = item->wr.id,
		.status = status,
		.kind = completion_kind(item->wr.kind),
		.qpn = qp->params.qpn,
		.byte_len = (uint32_t)item->length,
	};
	bool wanted = qp->params.signal_all || item->wr.flags & WR_SIGNALED;

	if (status != WC_SUCCESS || wanted)
		qp->owner->complete(qp->owner->context, qp, &wc, false);
}

void requester_complete(struct qp *qp, enum wc_status status)
{
	struct requester *r = &qp->req;
	struct send_item *item = item_at(r, r->head);

	if (needs_answer(item) && item->started)
		r->rd_out--;
	r->head++;
	complete_item(qp, item, status);
}

/* The oldest request fails; what is behind it is flushed. */
void requester_fail(struct qp *qp, enum wc_status status)
{
	struct requester *r = &qp->req;

	r->timer = HD_TIME_NEVER;
	r->rnr_until = 0;
	requester_complete(qp, status);
	if (qp->params.kind == QP_RC) {
		qp_enter_error(qp);
		return;
	}
	qp->state = QPS_SQE;
	requester_flush(qp);
}

void requester_flush(struct qp *qp)
{
	struct requester *r = &qp->req;

	r->timer = HD_TIME_NEVER;
	r->rnr_until = 0;
	while (r->head != r->tail)
		requester_complete(qp, WC_WR_FLUSH_ERR);
	r->next = r->head;
	r->offset = 0;
	r->rd_out = 0;
}

/* ---- posting ----------------------------------------------------------- */

static bool kind_is_allowed(const struct qp *qp, const struct send_wr *wr)
{
	switch (qp->params.kind) {
	case QP_RC:
		return true;
	case QP_UC:
		return wr->kind <= WR_WRITE_IMM && wr->kind != WR_SEND_INV;
	case QP_UD:
		return wr->kind == WR_SEND || wr->kind == WR_SEND_IMM;
	}
	return false;
}

static enum hd_status check_request(const struct qp *qp, const struct send_wr *wr, uint64_t length)
{
	bool is_atomic = wr->kind == WR_CMP_SWAP || wr->kind == WR_FETCH_ADD;

	if (!kind_is_allowed(qp, wr))
		return HD_ERR_UNFIT;
	if (length > WR_MAX_LENGTH || (is_atomic && length != 8))
		return HD_ERR_RANGE;
	if (wr->flags & WR_INLINE && (length > WR_MAX_INLINE || wr->kind >= WR_READ))
		return HD_ERR_RANGE;
	return HD_OK;
}

static void copy_inline(const struct send_wr *wr, uint8_t *to, const struct qp *qp)
{
	for (uint32_t i = 0; i < wr->n_sge; i++) {
		/* Inline data need no registration: key 0 is the program. */
		qp->owner->read(qp->owner->context, 0, wr->sge[i].addr, to, wr->sge[i].length);
		to += wr->sge[i].length;
	}
}

enum hd_status qp_check_send(const struct qp *qp, const struct send_wr *wr)
{
	if (qp->state < QPS_RTS)
		return HD_ERR_UNFIT;
	if (wr->n_sge > WR_MAX_SGE)
		return HD_ERR_RANGE;
	enum hd_status status = check_request(qp, wr, sg_length(wr->sge, wr->n_sge));

	if (status == HD_OK && qp->req.tail - qp->req.head == qp->req.size)
		return HD_ERR_FULL;
	return status;
}

enum hd_status qp_post_send(struct qp *qp, const struct send_wr *wr)
{
	struct requester *r = &qp->req;
	enum hd_status status = qp_check_send(qp, wr);

	if (status != HD_OK)
		return status;
	uint64_t length = sg_length(wr->sge, wr->n_sge);

	r->items = ring_grow(r->items, &r->places, r->head, r->tail, sizeof(*r->items));
	struct send_item *item = item_at(r, r->tail++);

	send_wr_copy(&item->wr, wr);
	item->length = length;
	item->started = false;
	item->wrong = false;
	item->done = 0;
	item->n_psns = 0;
	if (wr->flags & WR_INLINE)
		copy_inline(wr, item->data, qp);
	if (qp->state == QPS_ERR || qp->state == QPS_SQE)
		requester_flush(qp);
	return HD_OK;
}

/* ---- sending ----------------------------------------------------------- */

static bool is_waiting(const struct requester *r, hd_time now)
{
	return r->rnr_until && now < r->rnr_until;
}

/* PSNs that an item takes. */
static uint32_t psns_of(const struct qp *qp, const struct send_item *item)
{
	return item->wr.kind > WR_READ ? 1 : wr_packets(item->length, qp->attr.mtu);
}

/* PSNs sent since the oldest request that is not complete. */
static uint32_t under_way(const struct requester *r)
{
	if (r->head == r->next)
		return 0;
	return psn_add(r->next_psn, PSN_MASK + 1 - item_at(r, r->head)->psn);
}

/* Whether a request that was never sent may start now. */
static bool may_start(const struct qp *qp, const struct send_item *item)
{
	const struct requester *r = &qp->req;
	bool uses_recv = item->wr.kind <= WR_SEND_INV || item->wr.kind == WR_WRITE_IMM;

	if (qp->state == QPS_SQD)
		return false; /* only finishes what was started */
	if (item->wr.flags & WR_FENCE && r->rd_out)
		return false;
	if (needs_answer(item) && r->rd_out >= qp->attr.max_rd)
		return false;
	if (qp->params.kind == QP_RC && uses_recv && !r->unlimited &&
	    psn_diff(psn_add(r->ssn, 1), psn_add(r->lsn, 1)) > 0)
		return false;
	/* The longest message at the smallest MTU needs the whole window. */
	return under_way(r) + psns_of(qp, item) <= PSN_WINDOW;
}

bool requester_has_packet(const struct qp *qp, hd_time now)
{
	const struct requester *r = &qp->req;

	if ((qp->state != QPS_RTS && qp->state != QPS_SQD) || r->next == r->tail ||
	    is_waiting(r, now))
		return false;
	const struct send_item *item = item_at(r, r->next);

	return item->started || (may_start(qp, item) && !(item->wrong && r->next != r->head));
}

/* Errors of the request that are detected before it is sent. */
static enum wc_status check_item(const struct qp *qp, const struct send_item *item)
{
	const struct send_wr *wr = &item->wr;
	unsigned access = wr->kind >= WR_READ ? ACCESS_LOCAL_WRITE : 0;

	if (qp->params.kind == QP_UD && item->length > qp->attr.mtu)
		return WC_LOC_LEN_ERR;
	if (qp->params.kind == QP_UD && wr->to.pd != qp->params.pd)
		return WC_LOC_QP_OP_ERR;
	if (!(wr->flags & WR_INLINE) && !sg_allows(qp, wr->sge, wr->n_sge, access))
		return WC_LOC_PROT_ERR;
	return WC_SUCCESS;
}

static void start_item(struct qp *qp, struct send_item *item)
{
	struct requester *r = &qp->req;

	item->started = true;
	item->psn = r->next_psn;
	item->n_psns = psns_of(qp, item);
	r->ssn = psn_add(r->ssn, 1);
	item->ssn = r->ssn;
	r->rd_out += needs_answer(item);
	/* A request without a receive request needs no end-to-end credit. */
	if (needs_answer(item) || item->wr.kind == WR_WRITE)
		r->lsn = psn_add(r->lsn, 1);
}

/* Opcode of packet k of n of a SEND or WRITE. */
static uint8_t operation_of(const struct send_wr *wr, uint32_t k, uint32_t n)
{
	bool write = wr->kind == WR_WRITE || wr->kind == WR_WRITE_IMM;
	bool imm = wr->kind == WR_SEND_IMM || wr->kind == WR_WRITE_IMM;
	bool last = k + 1 == n;

	if (last && wr->kind == WR_SEND_INV)
		return n == 1 ? OP_SEND_ONLY_INV : OP_SEND_LAST_INV;
	unsigned place = n == 1   ? OP_SEND_ONLY
			 : k == 0 ? OP_SEND_FIRST
			 : last   ? OP_SEND_LAST
				  : OP_SEND_MIDDLE;

	return (uint8_t)(place + (last && imm) + (write ? OP_WRITE_FIRST - OP_SEND_FIRST : 0));
}

static void fill_payload(const struct qp *qp, const struct send_item *item, uint32_t k,
			 struct packet *out, uint8_t *buffer)
{
	uint64_t offset = (uint64_t)k * qp->attr.mtu;
	uint64_t left = item->length - offset;
	size_t len = left < qp->attr.mtu ? (size_t)left : qp->attr.mtu;

	if (item->wr.flags & WR_INLINE)
		memcpy(buffer, item->data + offset, len);
	else
		sg_read(qp, item->wr.sge, offset, buffer, len);
	out->payload = buffer;
	out->payload_len = len;
}

static void fill_message(const struct qp *qp, const struct send_item *item, uint32_t k,
			 struct packet *out, uint8_t *buffer)
{
	const struct send_wr *wr = &item->wr;
	uint8_t operation = operation_of(wr, k, item->n_psns);
	bool last = k + 1 == item->n_psns;

	qp_address(qp, out, opcode_of(qp, operation), item->psn + k);
	fill_payload(qp, item, k, out, buffer);
	out->bth.se = last && wr->flags & WR_SOLICITED && wr->kind != WR_WRITE;
	out->reth = (struct reth){ .va = wr->remote_addr,
				   .rkey = wr->rkey,
				   .dma_len = (uint32_t)item->length };
	out->immdt.data = wr->imm;
	out->ieth.rkey = wr->imm;
}

static void fill_datagram(const struct qp *qp, const struct send_wr *wr, struct packet *out)
{
	const struct wr_datagram *to = &wr->to;

	out->lrh.dlid = to->dlid;
	out->lrh.sl = to->sl;
	out->bth.dest_qp = to->qpn;
	out->deth.qkey = to->qkey >> 31 ? qp->attr.qkey : to->qkey;
	out->deth.src_qp = qp->params.qpn;
	out->headers &= (header_set)~HEADER_BIT(HEADER_GRH);
	if (!to->global)
		return;
	out->headers |= HEADER_BIT(HEADER_GRH);
	out->grh = (struct grh){ .ip_ver = GRH_IP_VERSION,
				 .tclass = to->tclass,
				 .next_header = GRH_NEXT_IBA,
				 .hop_limit = to->hop_limit,
				 .flow_label = to->flow_label };
	memcpy(out->grh.sgid, qp->attr.sgid, sizeof(out->grh.sgid));
	memcpy(out->grh.dgid, to->dgid, sizeof(out->grh.dgid));
}

/* A read from its k-th answer on, or an atomic. */
static void fill_request(const struct qp *qp, const struct send_item *item, uint32_t k,
			 struct packet *out)
{
	const struct send_wr *wr = &item->wr;
	uint64_t skip = (uint64_t)k * qp->attr.mtu;

	if (wr->kind == WR_READ) {
		qp_address(qp, out, opcode_of(qp, OP_READ_REQUEST), item->psn + k);
		out->reth = (struct reth){
			.va = wr->remote_addr + skip,
			.rkey = wr->rkey,
			.dma_len = (uint32_t)(item->length - skip),
		};
		return;
	}
	bool swap = wr->kind == WR_CMP_SWAP;

	qp_address(qp, out, opcode_of(qp, swap ? OP_CMP_SWAP : OP_FETCH_ADD), item->psn);
	out->atomiceth = (struct atomiceth){ .va = wr->remote_addr,
					     .rkey = wr->rkey,
					     .swap_add = wr->swap_add,
					     .compare = swap ? wr->compare : 0 };
}

static void advance(struct requester *r)
{
	r->next++;
	r->offset = r->next != r->tail ? item_at(r, r->next)->done : 0;
}

/* Sends packet `offset` of the current item and moves on. */
static void send_packet(struct qp *qp, hd_time now, struct send_item *item, struct packet *out,
			uint8_t *buffer)
{
	struct requester *r = &qp->req;
	uint32_t k = r->offset++;
	bool last = needs_answer(item) || k + 1 == item->n_psns;
	uint32_t upto = needs_answer(item) ? item->n_psns : k + 1;

	if (needs_answer(item))
		fill_request(qp, item, k, out);
	else
		fill_message(qp, item, k, out, buffer);
	if (qp->params.kind == QP_UD)
		fill_datagram(qp, &item->wr, out);
	/* Compares distances, because a distance of 2^23 has no sign. */
	if (upto > psn_add(r->next_psn, PSN_MASK + 1 - item->psn))
		r->next_psn = psn_add(item->psn, upto);
	if (last)
		advance(r);
	if (qp->params.kind != QP_RC)
		return; /* unreliable requests complete in requester_sent() */
	out->bth.ack_req = last || ++r->since_ack >= qp->attr.ack_every;
	if (!out->bth.ack_req)
		return; /* no answer to it is possible yet */
	r->since_ack = 0;
	r->asked = psn_add(item->psn, upto);
	if (r->timer == HD_TIME_NEVER && qp->attr.timeout)
		r->timer = now + qp_ack_timeout(qp->attr.timeout);
}

bool requester_transmit(struct qp *qp, hd_time now, struct packet *out, uint8_t *buffer)
{
	struct requester *r = &qp->req;

	if (!requester_has_packet(qp, now))
		return false;
	r->rnr_until = 0;
	struct send_item *item = item_at(r, r->next);

	if (!item->started) {
		enum wc_status status = check_item(qp, item);

		/* The request fails in order, after all earlier requests. */
		item->wrong = status != WC_SUCCESS;
		if (item->wrong && r->next != r->head)
			return false;
		if (status != WC_SUCCESS) {
			r->next++;
			requester_fail(qp, status);
			return false;
		}
		start_item(qp, item);
		r->offset = 0;
	}
	send_packet(qp, now, item, out, buffer);
	return true;
}

/*
 * Without answers a request is complete when its last packet has left. What
 * was flushed or forgotten since then does not count any more.
 */
void requester_sent(struct qp *qp, const struct packet *p)
{
	struct requester *r = &qp->req;

	if (qp->params.kind == QP_RC || p->bth.opcode == OPCODE_CNP)
		return;
	/* Datagrams of another VL may overtake, but not complete earlier. */
	for (uint32_t i = r->head; i != r->tail && item_at(r, i)->started; i++) {
		struct send_item *item = item_at(r, i);

		if (psn_add(p->bth.psn, PSN_MASK + 1 - item->psn) >= item->n_psns)
			continue;
		item->done++;
		break;
	}
	while (is_outstanding(r) && item_at(r, r->head)->done == item_at(r, r->head)->n_psns)
		requester_complete(qp, WC_SUCCESS);
	requester_drained(qp);
}
