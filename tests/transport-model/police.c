/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets as they leave: a request's PSN says which packet of which work
 * request it is, and then every field follows from the plan. So first tries
 * and repetitions are held to the same, and nothing may be sent that the plan
 * does not have.
 */
#include <inttypes.h>
#include <string.h>

#include "world.h"

/* Which request PSN `rel` (from 0 on) belongs to. */
static uint32_t request_of(const struct half *h, uint32_t rel)
{
	uint32_t at = 0;

	while (at < h->n_wr && h->first[at + 1] <= rel)
		at++;
	return at;
}

static unsigned operation_of(const struct half *h, uint32_t at, uint32_t k)
{
	static const unsigned last[] = { OP_SEND_LAST, OP_SEND_LAST_IMM, OP_SEND_LAST_INV,
					 OP_WRITE_LAST, OP_WRITE_LAST_IMM };
	static const unsigned only[] = { OP_SEND_ONLY,  OP_SEND_ONLY_IMM,  OP_SEND_ONLY_INV,
					 OP_WRITE_ONLY, OP_WRITE_ONLY_IMM, OP_READ_REQUEST,
					 OP_CMP_SWAP,   OP_FETCH_ADD };
	const struct plan_wr *w = h->wr[at];
	uint32_t n = packets_in(h, at);

	if (wr_lands(w) || n == 1)
		return only[w->kind];
	if (k + 1 == n)
		return last[w->kind];
	if (wr_is_send(w))
		return k ? OP_SEND_MIDDLE : OP_SEND_FIRST;
	return k ? OP_WRITE_MIDDLE : OP_WRITE_FIRST;
}

static void police_headers(const struct half *h, const struct packet *p, uint32_t at, uint32_t k)
{
	const struct plan_wr *w = h->wr[at];
	uint64_t addr;
	uint32_t rkey, skip = w->kind == WR_READ ? k * h->plan->mtu : 0;
	bool last = wr_lands(w) || k + 1 == packets_in(h, at);
	bool se = last && (w->flags & WR_SOLICITED) && wr_takes_recv(w);

	remote_of(h, at, &addr, &rkey);
	if (packet_has(p, HEADER_RETH) && (p->reth.va != addr + skip || p->reth.rkey != rkey ||
					   p->reth.dma_len != w->length - skip))
		complain(h->w, "RETH of request %" PRIu32 " is wrong", at);
	if (packet_has(p, HEADER_ATOMICETH) &&
	    (p->atomiceth.va != addr || p->atomiceth.rkey != rkey ||
	     p->atomiceth.swap_add != w->swap_add ||
	     (w->kind == WR_CMP_SWAP && p->atomiceth.compare != w->compare)))
		complain(h->w, "AtomicETH of request %" PRIu32 " is wrong", at);
	if (packet_has(p, HEADER_IMMDT) && p->immdt.data != w->imm)
		complain(h->w, "immediate data is wrong");
	if (packet_has(p, HEADER_IETH) && p->ieth.rkey != w->imm)
		complain(h->w, "IETH is wrong");
	if (p->bth.se != se)
		complain(h->w, "SE is %d in packet %" PRIu32 " of request %" PRIu32, p->bth.se, k,
			 at);
	if (h->plan->kind == QP_RC && last && !p->bth.ack_req)
		complain(h->w, "the last packet of %" PRIu32 " asks for no answer", at);
}

static void police_payload(const struct half *h, const struct packet *p, uint32_t at, uint32_t k)
{
	const struct plan_wr *w = h->wr[at];
	uint32_t mtu = h->plan->mtu, from = k * mtu;
	uint32_t len = w->length - from < mtu ? w->length - from : mtu;
	uint8_t data[MAX_LENGTH];

	if (wr_lands(w))
		len = 0;
	if (p->payload_len != len) {
		complain(h->w,
			 "packet %" PRIu32 " of request %" PRIu32
			 " carries %zu bytes, should %" PRIu32,
			 k, at, p->payload_len, len);
		return;
	}
	if (len == 0)
		return;
	request_data(h, at, data);
	if (memcmp(p->payload, data + from, len) != 0)
		complain(h->w, "packet %" PRIu32 " of request %" PRIu32 " carries other data", k,
			 at);
}

/* Checks the headers of a datagram. */
static void police_datagram(const struct half *h, const struct packet *p, uint32_t at)
{
	struct send_wr wr;

	request_make(h, at, &wr);
	if (wr.to.qkey >> 31)
		wr.to.qkey = QKEY_OF(h); /* the default Q_Key */
	if (p->deth.qkey != wr.to.qkey || p->deth.src_qp != h->qpn || p->bth.dest_qp != wr.to.qpn ||
	    p->lrh.dlid != wr.to.dlid)
		complain(h->w, "datagram %" PRIu32 " goes elsewhere", at);
	if (packet_has(p, HEADER_GRH) != wr.to.global ||
	    (wr.to.global &&
	     (memcmp(p->grh.dgid, wr.to.dgid, 16) != 0 || p->grh.hop_limit != wr.to.hop_limit ||
	      p->grh.tclass != wr.to.tclass)))
		complain(h->w, "GRH of datagram %" PRIu32 " is wrong", at);
}

/* Checks that a request may start. */
static void police_begin(struct half *h, uint32_t at)
{
	uint32_t under_way = 0;

	for (uint32_t i = 0; i < at; i++) {
		if (wr_lands(h->wr[i]) && i >= h->land_wr && h->wr[i]->length > 0)
			under_way++;
	}
	if ((h->wr[at]->flags & WR_FENCE) && under_way)
		complain(h->w, "request %" PRIu32 " passes its fence", at);
	if (wr_lands(h->wr[at]) && under_way >= h->plan->max_rd)
		complain(h->w, "request %" PRIu32 " makes %" PRIu32 " reads and atomics under way",
			 at, under_way + 1);
	if (qp_state(h->qp) == QPS_SQD && at >= h->in_sqd)
		complain(h->w, "request %" PRIu32 " is begun in SQD", at);
}

static void police_request(struct half *h, const struct packet *p)
{
	uint32_t rel = psn_add(p->bth.psn, PSN_MASK + 1 - h->plan->psn[h->side]);
	uint32_t at = request_of(h, rel), k, op;

	if (at >= h->posted) {
		complain(h->w, "a request is sent that was not posted");
		return;
	}
	k = rel - h->first[at];
	op = operation_of(h, at, k);
	if ((p->bth.opcode & OP_MASK) != op) {
		complain(h->w,
			 "packet %" PRIu32 " of request %" PRIu32 " has operation %x, should be %x",
			 k, at, p->bth.opcode & OP_MASK, op);
		return;
	}
	if (rel > h->next_new)
		complain(h->w, "PSNs are skipped");
	if (rel == h->next_new) {
		if (k == 0)
			police_begin(h, at);
		h->next_new += wr_lands(h->wr[at]) ? packets_in(h, at) - k : 1;
	}
	h->first_sent += rel == 0;
	if (at >= h->fault_at && fault_is_local(h->wr[h->fault_at]->fault) &&
	    h->plan->kind == QP_RC)
		complain(h->w, "sent in spite of a local fault");
	if (h->drained && qp_state(h->qp) == QPS_SQD)
		complain(h->w, "a request leaves a drained queue");
	if (h->w->now < h->hold_until)
		complain(h->w, "a request leaves while asked to wait");
	if (h->plan->kind == QP_UD)
		police_datagram(h, p, at);
	police_headers(h, p, at, k);
	police_payload(h, p, at, k);
}

/* An acknowledgement of PSN `rel` of the peer's requests. */
static void police_ack(struct half *h, const struct packet *p, uint32_t rel, uint32_t at)
{
	const struct half *to = h->peer;
	unsigned kind = p->aeth.syndrome & AETH_KIND;
	bool ends = rel + 1 == to->first[at + 1];
	uint32_t msn = at;

	if (kind == AETH_ACK) {
		msn = at + (ends || wr_lands(to->wr[at]));
		if (h->effect_at < to->start[ends ? at + 1 : at])
			complain(h->w, "acknowledged before it was executed");
	}
	if (p->aeth.msn != (msn & PSN_MASK))
		complain(h->w,
			 "syndrome %02x PSN +%" PRIu32 " has MSN %" PRIu32 ", should %" PRIu32,
			 p->aeth.syndrome, rel, p->aeth.msn, msn);
	if (kind == AETH_NAK && (p->aeth.syndrome & AETH_VALUE) && at != to->fault_at)
		complain(h->w, "NAK %x for request %" PRIu32 ", not the wrong one",
			 p->aeth.syndrome, at);
}

static void police_answer(struct half *h, const struct packet *p)
{
	const struct half *to = h->peer;
	uint32_t rel = psn_add(p->bth.psn, PSN_MASK + 1 - to->plan->psn[to->side]);
	uint32_t at = request_of(to, rel);
	unsigned op = p->bth.opcode & OP_MASK;

	if (packet_has(p, HEADER_AETH) && (p->aeth.syndrome & AETH_KIND) == AETH_ACK &&
	    (!h->plan->credits || h->plan->shared[h->side]) &&
	    (p->aeth.syndrome & AETH_VALUE) != 31)
		complain(h->w, "credit code %u where there are none",
			 p->aeth.syndrome & AETH_VALUE);
	if (at >= to->posted) {
		complain(h->w, "an answer to PSN +%" PRIu32 ", never asked", rel);
		return;
	}
	if (op == OP_ACK) {
		police_ack(h, p, rel, at);
		return;
	}
	if (op == OP_ATOMIC_ACK ? !wr_is_atomic(to->wr[at]) : to->wr[at]->kind != WR_READ)
		complain(h->w, "an answer of the wrong kind");
	if (packet_has(p, HEADER_AETH) && (p->aeth.msn < at + 1 || p->aeth.msn > to->n_wr))
		complain(h->w, "answer to %" PRIu32 " with MSN %" PRIu32, at, p->aeth.msn);
}

void police(struct half *h, const struct packet *p)
{
	static const unsigned services[] = { SERVICE_RC, SERVICE_UC, SERVICE_UD };
	unsigned flags = opcode_flags(p->bth.opcode);

	if ((p->bth.opcode & SERVICE_MASK) != services[h->plan->kind])
		complain(h->w, "opcode %02x of another service", p->bth.opcode);
	else if (flags & OPCODE_REQUEST)
		police_request(h, p);
	else
		police_answer(h, p);
	if (p->lrh.slid != 1 + h->side)
		complain(h->w, "source LID %u", p->lrh.slid);
}
