/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/iba.h"
#include "transport/transport_internal.h"
#include "wire/roce.h"

/* ---- UC: a lost message is not repeated and has no completion ----------- */

/* A half-filled receive request stays taken and serves the next message. */
static void forget_message(struct responder *r)
{
	r->kind = IN_NOTHING;
	r->received = 0;
	r->skipping = true;
}

static bool uc_begin(struct qp *qp, const struct packet *p, bool write)
{
	struct responder *r = &qp->resp;

	r->skipping = false;
	r->received = 0;
	r->kind = write ? IN_WRITE : IN_SEND;
	if (!write)
		return responder_take(qp);
	const struct responder_request request = { .kind = WR_WRITE, .length = p->reth.dma_len };

	r->write = p->reth;
	return responder_permits(qp->attr.access, WR_WRITE) &&
	       responder_check_remote(&request, responder_allows(qp, WR_WRITE, &p->reth)) ==
		       RESPONDER_ACCEPTS;
}

/* Copies the payload of one packet; false: the message is lost. */
static bool uc_store(struct qp *qp, const struct packet *p)
{
	struct responder *r = &qp->resp;
	uint64_t end = r->received + p->payload_len;
	bool first = opcode_flags(p->bth.opcode) & (OPCODE_FIRST | OPCODE_ONLY);

	if (r->kind == IN_WRITE) {
		if (end > r->write.dma_len)
			return false;
		if (p->payload_len)
			qp->owner->write(qp->owner->context, r->write.rkey,
					 r->write.va + r->received, p->payload, p->payload_len);
	} else {
		if (responder_check_sge(qp, p->payload_len, first) != RESPONDER_ACCEPTS)
			return false;
		sg_write(qp, r->recv.sge, r->received, p->payload, p->payload_len);
	}
	r->received = end;
	return true;
}

static void uc_finish(struct qp *qp, const struct packet *p, bool write)
{
	struct responder *r = &qp->resp;
	bool imm = packet_has(p, HEADER_IMMDT);
	struct completion wc = { .kind = write ? WC_RECV_WRITE_IMM : WC_RECV,
				 .byte_len = (uint32_t)r->received,
				 .solicited = p->bth.se,
				 .flags = imm ? WC_WITH_IMM : 0,
				 .imm = imm ? p->immdt.data : 0 };

	r->kind = IN_NOTHING;
	if (imm && write && !responder_take(qp))
		return;
	r->msn = psn_add(r->msn, 1);
	if (imm || !write)
		responder_complete(qp, &wc, WC_SUCCESS);
}

void qp_receive_uc(struct qp *qp, const struct packet *p)
{
	struct responder *r = &qp->resp;
	unsigned flags = opcode_flags(p->bth.opcode);
	unsigned op = p->bth.opcode & OP_MASK;
	bool write = op >= OP_WRITE_FIRST && op <= OP_WRITE_ONLY_IMM;
	bool first = flags & (OPCODE_FIRST | OPCODE_ONLY);

	if (p->bth.psn != r->epsn)
		forget_message(r);
	r->epsn = psn_add(p->bth.psn, 1);
	if (first && !uc_begin(qp, p, write)) {
		forget_message(r);
		return;
	}
	if (r->skipping || r->kind != (write ? IN_WRITE : IN_SEND))
		return;
	bool full = !(flags & (OPCODE_FIRST | OPCODE_MIDDLE)) || p->payload_len == qp->attr.mtu;

	if (!full || p->payload_len > qp->attr.mtu || !uc_store(qp, p)) {
		forget_message(r);
		return;
	}
	if (flags & (OPCODE_LAST | OPCODE_ONLY))
		uc_finish(qp, p, write);
}

/* ---- UD: one packet, one message --------------------------------------- */

static void ud_store(struct qp *qp, const struct packet *p)
{
	const struct sge *list = qp->resp.recv.sge;

	if (packet_has(p, HEADER_GRH)) {
		uint8_t bytes[GRH_SIZE];

		wire_roce_write_grh(&p->grh, bytes);
		sg_write(qp, list, 0, bytes, sizeof(bytes));
	}
	sg_write(qp, list, GRH_SIZE, p->payload, p->payload_len);
}

void qp_receive_ud(struct qp *qp, const struct packet *p)
{
	struct responder *r = &qp->resp;
	bool imm = packet_has(p, HEADER_IMMDT);
	struct completion wc = {
		.kind = WC_RECV,
		.byte_len = (uint32_t)(GRH_SIZE + p->payload_len),
		.solicited = p->bth.se,
		.flags = (imm ? WC_WITH_IMM : 0u) | (packet_has(p, HEADER_GRH) ? WC_GRH : 0u),
		.imm = imm ? p->immdt.data : 0,
		.src_qp = p->deth.src_qp,
		.slid = p->lrh.slid,
		.sl = p->lrh.sl,
	};

	/* Multicast requires the GRH that names the group. */
	if (p->lrh.dlid >= LID_FIRST_MCAST && p->lrh.dlid != LID_PERMISSIVE &&
	    !packet_has(p, HEADER_GRH))
		return;
	if (p->deth.qkey != qp->attr.qkey) {
		qp_tell(qp, QP_EVENT_QKEY);
		return;
	}
	if (!responder_take(qp))
		return;
	if (responder_check_sge(qp, wc.byte_len, true) != RESPONDER_ACCEPTS)
		return;
	ud_store(qp, p);
	r->msn = psn_add(r->msn, 1);
	responder_complete(qp, &wc, WC_SUCCESS);
}
