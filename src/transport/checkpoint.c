/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packs the state of a queue pair. A queue pair that reads it has been created and connected like
 * the original: parameters and attributes are not packed.
 */
#include "base/alloc.h"
#include "base/pack.h"
#include "base/ring.h"
#include "transport/transport_internal.h"

/* ---- work requests ------------------------------------------------------ */

static const struct pack_member sge_members[] = {
	PACK(sge, addr),
	PACK(sge, length),
	PACK(sge, lkey),
};

static const struct pack_member send_members[] = {
	PACK(send_wr, id),        PACK(send_wr, kind),         PACK(send_wr, flags),
	PACK(send_wr, n_sge),     PACK(send_wr, imm),          PACK(send_wr, remote_addr),
	PACK(send_wr, rkey),      PACK(send_wr, swap_add),     PACK(send_wr, compare),
	PACK(send_wr, to.qpn),    PACK(send_wr, to.qkey),      PACK(send_wr, to.dlid),
	PACK(send_wr, to.sl),     PACK(send_wr, to.global),    PACK_EACH(send_wr, to.dgid),
	PACK(send_wr, to.tclass), PACK(send_wr, to.hop_limit), PACK(send_wr, to.flow_label),
	PACK(send_wr, to.pd),
};

static void pack_sges(struct pack *p, struct sge *list, uint32_t *n)
{
	if (!pack_check(p, *n <= WR_MAX_SGE))
		*n = 0;
	for (uint32_t i = 0; i < *n; i++)
		PACK_STRUCT(p, sge_members, &list[i]);
}

static void pack_recv(struct pack *p, struct recv_wr *wr)
{
	pack_u64(p, &wr->id);
	pack_u32(p, &wr->n_sge);
	pack_sges(p, wr->sge, &wr->n_sge);
}

static const struct pack_member item_members[] = {
	PACK(send_item, length), PACK(send_item, psn), PACK(send_item, n_psns),
	PACK(send_item, done),   PACK(send_item, ssn), PACK(send_item, started),
	PACK(send_item, wrong),
};

static void pack_item(struct pack *p, struct send_item *item)
{
	PACK_STRUCT(p, send_members, &item->wr);
	pack_check(p, item->wr.kind <= WR_FETCH_ADD);
	pack_sges(p, item->wr.sge, &item->wr.n_sge);
	PACK_STRUCT(p, item_members, item);
	if (item->wr.flags & WR_INLINE)
		pack_bytes(p, item->data, sizeof(item->data));
}

/* ---- our requests ------------------------------------------------------- */

static const struct pack_member requester_members[] = {
	PACK(requester, head),      PACK(requester, next),         PACK(requester, tail),
	PACK(requester, next_psn),  PACK(requester, offset),       PACK(requester, ssn),
	PACK(requester, lsn),       PACK(requester, unlimited),    PACK(requester, rd_out),
	PACK(requester, since_ack), PACK(requester, asked),        PACK(requester, retry_left),
	PACK(requester, rnr_left),  PACK(requester, retries),      PACK(requester, timer),
	PACK(requester, rnr_until), PACK(requester, drained_told), PACK(requester, implied),
	PACK(requester, n_early),
};

PACK_KNOWS(send_item, 648);
PACK_KNOWS(requester, 120);

static void pack_requester(struct pack *p, struct requester *r)
{
	PACK_STRUCT(p, requester_members, r);
	if (!pack_check(p, r->tail - r->head <= r->size && r->next - r->head <= r->tail - r->head))
		r->head = r->next = r->tail = 0;
	for (uint32_t i = r->head; i != r->tail; i++) {
		r->items = ring_grow(r->items, &r->places, r->head, i, sizeof(*r->items));
		pack_item(p, item_at(r, i));
	}
}

/* ---- the peer's --------------------------------------------------------- */

static const struct pack_member responder_members[] = {
	PACK(responder, epsn),          PACK(responder, msn),
	PACK(responder, nak_sent),      PACK(responder, kind),
	PACK(responder, has_recv),      PACK(responder, received),
	PACK(responder, write.va),      PACK(responder, write.rkey),
	PACK(responder, write.dma_len), PACK(responder, skipping),
	PACK(responder, head),          PACK(responder, tail),
	PACK(responder, next_resource), PACK(responder, answer_head),
	PACK(responder, answer_tail),   PACK(responder, resources_held),
	PACK(responder, becn_due),      PACK(responder, established),
	PACK(responder, n_early),
};

static const struct pack_member resource_members[] = {
	PACK(resource, used),   PACK(resource, atomic), PACK(resource, psn),
	PACK(resource, n_psns), PACK(resource, rkey),   PACK(resource, va),
	PACK(resource, length), PACK(resource, value),
};

static const struct pack_member answer_members[] = {
	PACK(qp_answer, kind),
	PACK(qp_answer, syndrome),
	PACK(qp_answer, psn),
	PACK(qp_answer, msn),
	PACK(qp_answer, n_psns),
	PACK(qp_answer, sent),
	PACK(qp_answer, rkey),
	PACK(qp_answer, length),
	PACK(qp_answer, va),
	PACK(qp_answer, value),
	PACK(qp_answer, holds_resource),
	PACK(qp_answer, dlid),
	PACK(qp_answer, sl),
	PACK(qp_answer, qpn),
};

PACK_KNOWS(resource, 40);
PACK_KNOWS(qp_answer, 64);
PACK_KNOWS(responder, 416);

static bool responder_is_sound(const struct responder *r)
{
	return r->tail - r->head <= r->size && r->kind <= IN_WRITE &&
	       r->answer_tail - r->answer_head <= MAX_ANSWERS && r->next_resource < MAX_RD;
}

static void pack_responder(struct pack *p, struct responder *r)
{
	PACK_STRUCT(p, responder_members, r);
	pack_recv(p, &r->recv);
	if (!pack_check(p, responder_is_sound(r))) {
		r->head = r->tail = r->answer_head = r->answer_tail = 0;
		return;
	}
	for (uint32_t i = r->head; i != r->tail; i++) {
		r->queue = ring_grow(r->queue, &r->places, r->head, i, sizeof(*r->queue));
		pack_recv(p, &r->queue[i % r->places]);
	}
	bool remembers = r->resources != NULL;

	pack_bool(p, &remembers);
	if (remembers && !r->resources)
		r->resources = hd_alloc(MAX_RD, sizeof(*r->resources));
	for (uint32_t i = 0; remembers && i < MAX_RD; i++)
		PACK_STRUCT(p, resource_members, &r->resources[i]);
	for (uint32_t i = r->answer_head; i != r->answer_tail; i++) {
		r->answers = ring_grow(r->answers, &r->answer_places, r->answer_head, i,
				       sizeof(*r->answers));
		struct qp_answer *a = &r->answers[i % r->answer_places];

		PACK_STRUCT(p, answer_members, a);
		pack_check(p, a->kind <= ANSWER_CNP);
	}
}

PACK_KNOWS(qp, 672);

void qp_pack(struct qp *qp, struct pack *p)
{
	uint32_t state = qp->state;

	pack_u32(p, &state);
	pack_check(p, state <= QPS_ERR);
	qp->state = (enum qp_state)state;
	pack_bool(p, &qp->becn_seen);
	pack_requester(p, &qp->req);
	pack_responder(p, &qp->resp);
	if (qp->params.window)
		qp_early_pack(qp, p);
}
