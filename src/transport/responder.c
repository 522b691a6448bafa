/* SPDX-License-Identifier: BSD-2-Clause */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/ring.h"
#include "transport/codes.h"
#include "transport/transport_internal.h"

void responder_init(struct responder *r, uint32_t size)
{
	r->size = size;
}

void responder_fini(struct responder *r)
{
	free(r->queue);
	free(r->resources);
	free(r->answers);
}

void responder_reset(struct responder *r)
{
	const struct responder before = *r;

	free(r->resources);
	*r = (struct responder){ .queue = before.queue,
				 .places = before.places,
				 .size = before.size,
				 .answers = before.answers,
				 .answer_places = before.answer_places };
}

/* ---- receive requests -------------------------------------------------- */

enum hd_status qp_post_recv(struct qp *qp, const struct recv_wr *wr)
{
	struct responder *r = &qp->resp;

	if (qp->state == QPS_RESET || qp->params.shared_recv)
		return HD_ERR_UNFIT;
	if (wr->n_sge > WR_MAX_SGE)
		return HD_ERR_RANGE;
	if (r->tail - r->head == r->size)
		return HD_ERR_FULL;
	r->queue = ring_grow(r->queue, &r->places, r->head, r->tail, sizeof(*r->queue));
	recv_wr_copy(&r->queue[r->tail++ % r->places], wr);
	if (qp->state == QPS_ERR)
		responder_flush(qp);
	return HD_OK;
}

bool responder_take(struct qp *qp)
{
	struct responder *r = &qp->resp;

	if (r->has_recv)
		return true;
	if (qp->params.shared_recv) {
		r->has_recv = qp->owner->take_shared(qp->owner->context, &r->recv);
		return r->has_recv;
	}
	if (r->head == r->tail)
		return false;
	recv_wr_copy(&r->recv, &r->queue[r->head++ % r->places]);
	r->has_recv = true;
	return true;
}

void responder_complete(struct qp *qp, const struct completion *like, enum wc_status status)
{
	struct completion wc = *like;

	wc.id = qp->resp.recv.id;
	wc.status = status;
	wc.qpn = qp->params.qpn;
	qp->resp.has_recv = false;
	qp->owner->complete(qp->owner->context, qp, &wc, true);
}

bool responder_allows(const struct qp *qp, enum wr_kind kind, const struct reth *memory)
{
	return memory->dma_len > 0 &&
	       qp->owner->allows(qp->owner->context, qp->params.pd, memory->rkey, memory->va,
				 memory->dma_len, responder_access(kind));
}

enum responder_verdict responder_check_sge(const struct qp *qp, size_t bytes, bool is_first)
{
	const struct responder *r = &qp->resp;
	uint64_t room = sg_length(r->recv.sge, r->recv.n_sge);

	return responder_check_receive(
		r->received + bytes, room,
		!is_first || sg_allows(qp, r->recv.sge, r->recv.n_sge, ACCESS_LOCAL_WRITE));
}

void responder_flush(struct qp *qp)
{
	struct responder *r = &qp->resp;
	const struct completion wc = { .kind = WC_RECV };

	r->kind = IN_NOTHING;
	if (r->has_recv)
		responder_complete(qp, &wc, WC_WR_FLUSH_ERR);
	while (!qp->params.shared_recv && responder_take(qp))
		responder_complete(qp, &wc, WC_WR_FLUSH_ERR);
}

/* ---- answers ----------------------------------------------------------- */

static struct qp_answer *answer_at(struct responder *r, uint32_t i)
{
	return &r->answers[i % r->answer_places];
}

static bool is_plain_ack(const struct qp_answer *a)
{
	return a->kind == ANSWER_ACK && (a->syndrome & AETH_KIND) == AETH_ACK;
}

void responder_answer(struct qp *qp, const struct qp_answer *answer)
{
	struct responder *r = &qp->resp;

	/* One ACK acknowledges all requests before it, but not across a read. */
	if (r->answer_tail != r->answer_head && is_plain_ack(answer) &&
	    is_plain_ack(answer_at(r, r->answer_tail - 1))) {
		*answer_at(r, r->answer_tail - 1) = *answer;
		return;
	}
	if (r->answer_tail - r->answer_head == MAX_ANSWERS)
		return; /* as if lost; the peer sends the request again */
	r->answers = ring_grow(r->answers, &r->answer_places, r->answer_head, r->answer_tail,
			       sizeof(*r->answers));
	*answer_at(r, r->answer_tail++) = *answer;
	r->resources_held += answer->holds_resource;
}

static uint8_t ack_syndrome(const struct qp *qp)
{
	const struct responder *r = &qp->resp;

	if (!qp->attr.credits || qp->params.shared_recv)
		return AETH_ACK + CREDITS_NONE;
	return (uint8_t)(AETH_ACK + qp_credit_code(r->tail - r->head));
}

static void send_ack(struct qp *qp, uint32_t psn)
{
	struct qp_answer a = { .kind = ANSWER_ACK,
			       .syndrome = ack_syndrome(qp),
			       .psn = psn & PSN_MASK,
			       .msn = qp->resp.msn };

	responder_answer(qp, &a);
}

static void send_nak(struct qp *qp, uint8_t syndrome)
{
	struct qp_answer a = {
		.kind = ANSWER_ACK, .syndrome = syndrome, .psn = qp->resp.epsn, .msn = qp->resp.msn
	};

	responder_answer(qp, &a);
	qp->resp.nak_sent = true;
}

/* Answers with a NAK and moves to ERR. */
static bool refuse(struct qp *qp, enum responder_verdict verdict)
{
	const struct responder_refusal *refusal = responder_refusal(verdict);
	const struct completion wc = { .kind = WC_RECV };

	send_nak(qp, (uint8_t)(AETH_NAK + refusal->nak));
	if (qp->resp.has_recv)
		responder_complete(qp, &wc, refusal->receive_status);
	if (refusal->has_event)
		qp_tell(qp, refusal->event);
	qp_enter_error(qp);
	return false;
}

static uint8_t read_operation(const struct qp_answer *a)
{
	if (a->n_psns == 1)
		return OP_READ_RESPONSE_ONLY;
	if (a->sent == 0)
		return OP_READ_RESPONSE_FIRST;
	return a->sent + 1 == a->n_psns ? OP_READ_RESPONSE_LAST : OP_READ_RESPONSE_MIDDLE;
}

/* The next packet of a read's answer; its data are fetched only now. */
static void fill_read(struct qp *qp, struct qp_answer *a, struct packet *out, uint8_t *buffer)
{
	uint32_t skip = a->sent * qp->attr.mtu;
	uint32_t left = a->length - skip;
	uint32_t len = left < qp->attr.mtu ? left : qp->attr.mtu;

	qp_address(qp, out, opcode_of(qp, read_operation(a)), a->psn + a->sent);
	if (len)
		qp->owner->read(qp->owner->context, a->rkey, a->va + skip, buffer, len);
	out->payload = buffer;
	out->payload_len = len;
	a->sent++;
}

static void fill_cnp(const struct qp *qp, const struct qp_answer *a, struct packet *out,
		     uint8_t *buffer)
{
	qp_address(qp, out, OPCODE_CNP, 0);
	memset(buffer, 0, CNP_RESERVED_BYTES);
	out->payload = buffer;
	out->payload_len = CNP_RESERVED_BYTES;
	out->lrh.dlid = a->dlid;
	out->lrh.sl = a->sl;
	out->bth.dest_qp = a->qpn;
	out->bth.becn = true;
}

bool responder_has_packet(const struct qp *qp)
{
	return qp->resp.answer_head != qp->resp.answer_tail;
}

bool responder_transmit(struct qp *qp, struct packet *out, uint8_t *buffer)
{
	struct responder *r = &qp->resp;

	if (!responder_has_packet(qp))
		return false;
	struct qp_answer *a = answer_at(r, r->answer_head);

	switch (a->kind) {
	case ANSWER_READ:
		fill_read(qp, a, out, buffer);
		break;
	case ANSWER_ATOMIC:
		qp_address(qp, out, opcode_of(qp, OP_ATOMIC_ACK), a->psn);
		out->atomicacketh.original = a->value;
		break;
	case ANSWER_ACK:
		qp_address(qp, out, opcode_of(qp, OP_ACK), a->psn);
		break;
	case ANSWER_CNP:
		fill_cnp(qp, a, out, buffer);
		break;
	}
	out->aeth = (struct aeth){ .syndrome = a->syndrome, .msn = a->msn };
	if (a->kind != ANSWER_CNP) {
		out->bth.becn = r->becn_due;
		r->becn_due = false;
	}
	if (a->kind != ANSWER_READ || a->sent == a->n_psns) {
		r->resources_held -= a->holds_resource;
		r->answer_head++;
	}
	return true;
}

/* ---- checks ------------------------------------------------------------ */

static bool is_send(unsigned op)
{
	return op <= OP_SEND_ONLY_IMM || op == OP_SEND_LAST_INV || op == OP_SEND_ONLY_INV;
}

static bool is_write(unsigned op)
{
	return op >= OP_WRITE_FIRST && op <= OP_WRITE_ONLY_IMM;
}

/*
 * Middle and last packets are valid only inside a message of their kind, all others only outside.
 */
static bool follows(const struct responder *r, uint8_t opcode)
{
	unsigned flags = opcode_flags(opcode);
	unsigned op = opcode & OP_MASK;

	if (!(flags & (OPCODE_MIDDLE | OPCODE_LAST)))
		return r->kind == IN_NOTHING;
	return r->kind == (is_send(op) ? IN_SEND : IN_WRITE);
}

/* First and middle packets are full, last ones are not empty. */
static bool length_fits(const struct qp *qp, const struct packet *p)
{
	unsigned flags = opcode_flags(p->bth.opcode);
	size_t len = p->payload_len, mtu = qp->attr.mtu;

	if (flags & (OPCODE_FIRST | OPCODE_MIDDLE))
		return len == mtu;
	if (flags & OPCODE_LAST)
		return len >= 1 && len <= mtu;
	return len <= mtu;
}

/* The verdict over a request to memory under an R_Key. */
static enum responder_verdict check_remote(const struct qp *qp, enum wr_kind kind,
					   const struct reth *memory)
{
	const struct responder_request request = {
		.kind = kind,
		.va = memory->va,
		.length = memory->dma_len,
		.outstanding = qp->resp.resources_held,
		.max_outstanding = qp->attr.max_dest_rd,
	};

	return responder_check_remote(&request, responder_allows(qp, kind, memory));
}

static bool ends_message(uint8_t opcode)
{
	return opcode_flags(opcode) & (OPCODE_LAST | OPCODE_ONLY);
}

static bool begins_message(uint8_t opcode)
{
	return opcode_flags(opcode) & (OPCODE_FIRST | OPCODE_ONLY);
}

/* ---- execution --------------------------------------------------------- */

static bool not_ready(struct qp *qp)
{
	send_nak(qp, (uint8_t)(AETH_RNR_NAK | qp->attr.min_rnr));
	return false;
}

static struct completion describe(const struct qp *qp, const struct packet *p)
{
	struct completion wc = {
		.kind = WC_RECV,
		.byte_len = (uint32_t)qp->resp.received,
		.solicited = p->bth.se,
	};

	if (packet_has(p, HEADER_IMMDT)) {
		wc.flags |= WC_WITH_IMM;
		wc.imm = p->immdt.data;
	}
	if (packet_has(p, HEADER_IETH)) {
		wc.flags |= WC_WITH_INV;
		wc.imm = p->ieth.rkey;
	}
	return wc;
}

static bool execute_send(struct qp *qp, const struct packet *p)
{
	struct responder *r = &qp->resp;

	if (begins_message(p->bth.opcode)) {
		if (!responder_take(qp))
			return not_ready(qp);
		r->kind = IN_SEND;
		r->received = 0;
	}
	if (!length_fits(qp, p))
		return refuse(qp, RESPONDER_BAD_REQUEST);
	enum responder_verdict verdict =
		responder_check_sge(qp, p->payload_len, begins_message(p->bth.opcode));

	if (verdict != RESPONDER_ACCEPTS)
		return refuse(qp, verdict);
	sg_write(qp, r->recv.sge, r->received, p->payload, p->payload_len);
	r->received += p->payload_len;
	if (!ends_message(p->bth.opcode))
		return true;
	struct completion wc = describe(qp, p);

	if (packet_has(p, HEADER_IETH))
		qp->owner->invalidate(qp->owner->context, p->ieth.rkey);
	r->kind = IN_NOTHING;
	r->msn = psn_add(r->msn, 1);
	responder_complete(qp, &wc, WC_SUCCESS);
	return true;
}

/* Checks of a WRITE with its RETH before its first byte is written. */
static bool begin_write(struct qp *qp, const struct packet *p)
{
	struct responder *r = &qp->resp;
	enum responder_verdict verdict = check_remote(qp, WR_WRITE, &p->reth);

	if (verdict != RESPONDER_ACCEPTS)
		return refuse(qp, verdict);
	r->kind = IN_WRITE;
	r->write = p->reth;
	r->received = 0;
	return true;
}

static bool execute_write(struct qp *qp, const struct packet *p)
{
	struct responder *r = &qp->resp;
	bool imm = packet_has(p, HEADER_IMMDT);

	if (imm && !responder_take(qp))
		return not_ready(qp);
	if (!length_fits(qp, p))
		return refuse(qp, RESPONDER_BAD_REQUEST);
	if (begins_message(p->bth.opcode) && !begin_write(qp, p))
		return false;
	uint64_t end = r->received + p->payload_len;

	if (end > r->write.dma_len || (ends_message(p->bth.opcode) && end != r->write.dma_len))
		return refuse(qp, RESPONDER_BAD_REQUEST);
	if (p->payload_len && !r->in_place)
		qp->owner->write(qp->owner->context, r->write.rkey, r->write.va + r->received,
				 p->payload, p->payload_len);
	r->received = end;
	if (!ends_message(p->bth.opcode))
		return true;
	r->kind = IN_NOTHING;
	r->msn = psn_add(r->msn, 1);
	if (imm) {
		struct completion wc = describe(qp, p);

		wc.kind = WC_RECV_WRITE_IMM;
		responder_complete(qp, &wc, WC_SUCCESS);
	}
	return true;
}

static struct resource *remember(struct responder *r, uint8_t n)
{
	if (!r->resources)
		r->resources = hd_alloc(MAX_RD, sizeof(*r->resources));
	struct resource *resource = &r->resources[r->next_resource];

	r->next_resource = (r->next_resource + 1) % n;
	resource->used = true;
	return resource;
}

static bool execute_read(struct qp *qp, const struct packet *p)
{
	struct responder *r = &qp->resp;
	const struct reth *reth = &p->reth;
	enum responder_verdict verdict = check_remote(qp, WR_READ, reth);

	if (verdict != RESPONDER_ACCEPTS)
		return refuse(qp, verdict);
	uint32_t n = wr_packets(reth->dma_len, qp->attr.mtu);

	r->msn = psn_add(r->msn, 1);
	*remember(r, qp->attr.max_dest_rd) = (struct resource){
		.used = true,
		.psn = r->epsn,
		.n_psns = n,
		.rkey = reth->rkey,
		.va = reth->va,
		.length = reth->dma_len,
	};
	struct qp_answer a = { .kind = ANSWER_READ,
			       .syndrome = ack_syndrome(qp),
			       .psn = r->epsn,
			       .msn = r->msn,
			       .n_psns = n,
			       .rkey = reth->rkey,
			       .va = reth->va,
			       .length = reth->dma_len,
			       .holds_resource = true };

	responder_answer(qp, &a);
	r->epsn = psn_add(r->epsn, n - 1); /* the caller adds one */
	return true;
}

static bool execute_atomic(struct qp *qp, const struct packet *p)
{
	struct responder *r = &qp->resp;
	const struct atomiceth *what = &p->atomiceth;
	bool compare = (p->bth.opcode & OP_MASK) == OP_CMP_SWAP;
	const struct reth memory = { what->va, what->rkey, sizeof(uint64_t) };
	enum responder_verdict verdict =
		check_remote(qp, compare ? WR_CMP_SWAP : WR_FETCH_ADD, &memory);

	if (verdict != RESPONDER_ACCEPTS)
		return refuse(qp, verdict);
	uint64_t old = qp->owner->atomic(qp->owner->context, what, compare);

	r->msn = psn_add(r->msn, 1);
	*remember(r, qp->attr.max_dest_rd) = (struct resource){
		.used = true, .atomic = true, .psn = r->epsn, .n_psns = 1, .value = old
	};
	struct qp_answer a = { .kind = ANSWER_ATOMIC,
			       .syndrome = ack_syndrome(qp),
			       .psn = r->epsn,
			       .msn = r->msn,
			       .value = old,
			       .holds_resource = true };

	responder_answer(qp, &a);
	return true;
}

/* Whether it is a request, and one of a kind that the queue pair takes. */
static bool is_permitted(const struct qp *qp, unsigned op)
{
	enum wr_kind kind = is_write(op)            ? WR_WRITE
			    : op == OP_READ_REQUEST ? WR_READ
			    : op == OP_CMP_SWAP     ? WR_CMP_SWAP
			    : op == OP_FETCH_ADD    ? WR_FETCH_ADD
						    : WR_SEND;

	return (kind != WR_SEND || is_send(op)) && responder_permits(qp->attr.access, kind);
}

static bool execute(struct qp *qp, const struct packet *p)
{
	unsigned op = p->bth.opcode & OP_MASK;

	if (is_send(op))
		return execute_send(qp, p);
	if (is_write(op))
		return execute_write(qp, p);
	if (op == OP_READ_REQUEST)
		return execute_read(qp, p);
	return execute_atomic(qp, p);
}

/* ---- duplicates -------------------------------------------------------- */

static const struct resource *recall(const struct responder *r, uint32_t psn, bool atomic)
{
	for (unsigned i = 0; r->resources && i < MAX_RD; i++) {
		const struct resource *res = &r->resources[i];
		int32_t into = psn_diff(psn, res->psn);

		if (res->used && res->atomic == atomic && into >= 0 && into < (int32_t)res->n_psns)
			return res;
	}
	return NULL;
}

/* The answer to the same read that is still being sent; or NULL. */
static struct qp_answer *under_way(struct responder *r, uint32_t psn)
{
	for (uint32_t i = r->answer_head; i != r->answer_tail; i++) {
		struct qp_answer *a = answer_at(r, i);
		int32_t into = psn_diff(psn, a->psn);

		if (a->kind == ANSWER_READ && into >= 0 && into < (int32_t)a->n_psns)
			return a;
	}
	return NULL;
}

/*
 * Repeats a read from the requested position if that is inside the original request. The rest of
 * the previous response is dropped, because this one replaces it.
 */
static void repeat_read(struct qp *qp, const struct packet *p)
{
	const struct resource *res = recall(&qp->resp, p->bth.psn, false);
	const struct reth *reth = &p->reth;

	if (!res || reth->rkey != res->rkey || reth->va < res->va ||
	    reth->va + reth->dma_len != res->va + res->length)
		return;
	if (reth->dma_len > 0 && !responder_allows(qp, WR_READ, reth))
		return;
	struct qp_answer a = { .kind = ANSWER_READ,
			       .syndrome = ack_syndrome(qp),
			       .psn = p->bth.psn,
			       .msn = qp->resp.msn,
			       .n_psns = wr_packets(reth->dma_len, qp->attr.mtu),
			       .rkey = reth->rkey,
			       .va = reth->va,
			       .length = reth->dma_len };
	struct qp_answer *before = under_way(&qp->resp, p->bth.psn);

	if (before) {
		a.holds_resource = before->holds_resource;
		*before = a;
		return;
	}
	responder_answer(qp, &a);
}

static void repeat_atomic(struct qp *qp, const struct packet *p)
{
	const struct resource *res = recall(&qp->resp, p->bth.psn, true);

	if (!res)
		return;
	struct qp_answer a = { .kind = ANSWER_ATOMIC,
			       .syndrome = ack_syndrome(qp),
			       .psn = res->psn,
			       .msn = qp->resp.msn,
			       .value = res->value };

	responder_answer(qp, &a);
}

static void on_duplicate(struct qp *qp, const struct packet *p)
{
	unsigned op = p->bth.opcode & OP_MASK;

	if (op == OP_READ_REQUEST)
		repeat_read(qp, p);
	else if (op == OP_CMP_SWAP || op == OP_FETCH_ADD)
		repeat_atomic(qp, p);
	else if (p->bth.ack_req)
		send_ack(qp, psn_add(qp->resp.epsn, PSN_MASK));
}

/* The expected packet; false if that is what it still is. */
static bool take_expected(struct qp *qp, const struct packet *p)
{
	struct responder *r = &qp->resp;
	unsigned op = p->bth.opcode & OP_MASK;

	r->nak_sent = false;
	if (!follows(r, p->bth.opcode) || !is_permitted(qp, op))
		return refuse(qp, RESPONDER_BAD_REQUEST);
	if (!execute(qp, p))
		return false;
	uint32_t psn = r->epsn;

	r->epsn = psn_add(r->epsn, 1);
	if (p->bth.ack_req && (is_send(op) || is_write(op)))
		send_ack(qp, psn);
	return true;
}

/* Handles early packets that are now in sequence. */
static void take_early(struct qp *qp)
{
	struct early *e;
	bool goes_on = true;

	while (goes_on && (e = qp_early_take(qp))) {
		qp->resp.in_place = e->in_place;
		goes_on = take_expected(qp, &e->packet);
		qp->resp.in_place = false;
		free(e);
	}
}

void responder_receive(struct qp *qp, const struct packet *p)
{
	struct responder *r = &qp->resp;
	int32_t ahead = psn_diff(p->bth.psn, r->epsn);

	if (ahead < 0) {
		on_duplicate(qp, p);
		return;
	}
	if (ahead > 0) {
		r->n_early++;
		if (!qp_early_keep(qp, p) && !r->nak_sent)
			send_nak(qp, AETH_NAK + NAK_PSN_ERROR);
		return;
	}
	if (take_expected(qp, p))
		take_early(qp);
}
