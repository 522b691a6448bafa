/* SPDX-License-Identifier: BSD-2-Clause */
/* Responses to a requester: acknowledgements, NAKs and data; or a timeout. */
#include <stdlib.h>

#include "transport/codes.h"
#include "transport/transport_internal.h"

#define INFINITE_RNR 7

/* The first PSN that is not acknowledged. */
static uint32_t oldest_psn(const struct requester *r)
{
	if (!is_outstanding(r))
		return r->next_psn;
	const struct send_item *item = item_at(r, r->head);

	return psn_add(item->psn, item->done);
}

void requester_drained(struct qp *qp)
{
	struct requester *r = &qp->req;

	if (qp->state != QPS_SQD || is_outstanding(r) || r->drained_told)
		return;
	r->drained_told = true;
	qp_tell(qp, QP_EVENT_SQ_DRAINED);
}

static void progress(struct qp *qp, hd_time now)
{
	struct requester *r = &qp->req;

	requester_reload(qp);
	r->implied = false;
	bool expects = is_outstanding(r) && psn_diff(r->asked, oldest_psn(r)) > 0;

	/* The timer does not run during an RNR NAK. */
	r->timer = expects && qp->attr.timeout && !r->rnr_until
			   ? now + qp_ack_timeout(qp->attr.timeout)
			   : HD_TIME_NEVER;
	requester_drained(qp);
}

/* Sends everything from this PSN on again. */
static void go_back(struct qp *qp, uint32_t psn)
{
	struct requester *r = &qp->req;

	r->next = r->head;
	while (r->next != r->tail) {
		const struct send_item *item = item_at(r, r->next);

		if (!item->started)
			break;
		if (psn_diff(psn, psn_add(item->psn, item->n_psns)) < 0)
			break;
		r->next++;
	}
	if (r->next == r->tail || !item_at(r, r->next)->started) {
		r->offset = 0;
		return;
	}
	const struct send_item *item = item_at(r, r->next);
	int32_t into = psn_diff(psn, item->psn);

	r->offset = into > (int32_t)item->done ? (uint32_t)into : item->done;
	if (needs_answer(item))
		r->offset = item->done;
	r->timer = HD_TIME_NEVER; /* restarted by the next packet that requests an ACK */
	r->asked = psn;
}

/* Goes back at the price of one retry; the request fails if none is left. */
static void retry(struct qp *qp, uint32_t psn)
{
	if (qp->req.retry_left == 0) {
		requester_fail(qp, WC_RETRY_EXC_ERR);
		return;
	}
	qp->req.retry_left--;
	qp->req.retries++;
	go_back(qp, psn);
}

/* Skips requests that were acknowledged while they were sent again. */
static void catch_up(struct requester *r)
{
	if ((int32_t)(r->next - r->head) < 0) {
		r->next = r->head;
		r->offset = 0;
	}
	if (r->next == r->head && r->head != r->tail) {
		uint32_t done = item_at(r, r->head)->done;

		if (r->offset < done)
			r->offset = done;
	}
}

/*
 * Everything up to and including `psn` has arrived. False if a read or atomic before it has no
 * response: an implied NAK, which is handled.
 */
static bool acknowledge(struct qp *qp, uint32_t psn, hd_time now)
{
	struct requester *r = &qp->req;
	bool moved = false;

	while (is_outstanding(r)) {
		struct send_item *item = item_at(r, r->head);
		int32_t upto = psn_diff(psn, item->psn) + 1;

		if (upto <= (int32_t)item->done)
			break;
		if (needs_answer(item)) {
			if (moved)
				progress(qp, now);
			/* Once: the answers behind a hole all show it. */
			if (!r->implied)
				retry(qp, psn_add(item->psn, item->done));
			r->implied = true;
			return false;
		}
		moved = true;
		if (upto < (int32_t)item->n_psns) {
			item->done = (uint32_t)upto;
			break;
		}
		item->done = item->n_psns;
		requester_complete(qp, WC_SUCCESS);
	}
	catch_up(r);
	if (moved)
		progress(qp, now);
	return true;
}

static void take_credits(struct requester *r, const struct aeth *aeth)
{
	unsigned code = aeth->syndrome & AETH_VALUE;

	if ((aeth->syndrome & AETH_KIND) != AETH_ACK)
		return;
	if (code == CREDITS_NONE) {
		r->unlimited = true;
		return;
	}
	uint32_t limit = psn_add(aeth->msn, qp_credit_count(code));

	if (psn_diff(limit, r->lsn) > 0)
		r->lsn = limit;
}

static void on_rnr(struct qp *qp, const struct packet *p, hd_time now)
{
	struct requester *r = &qp->req;

	if (r->rnr_left == 0) {
		requester_fail(qp, WC_RNR_RETRY_EXC_ERR);
		return;
	}
	if (r->rnr_left != INFINITE_RNR)
		r->rnr_left--;
	go_back(qp, p->bth.psn);
	r->timer = HD_TIME_NEVER;
	r->rnr_until = now + qp_rnr_delay(p->aeth.syndrome & AETH_VALUE);
}

static void on_nak(struct qp *qp, const struct packet *p)
{
	unsigned code = p->aeth.syndrome & AETH_VALUE;

	/*
	 * During an RNR NAK, packets after the one without a receive request may be lost too: all
	 * will be sent again.
	 */
	if (code == NAK_PSN_ERROR && qp->req.rnr_until)
		return;
	if (code == NAK_PSN_ERROR)
		retry(qp, p->bth.psn);
	else if (code <= NAK_REMOTE_OPERATION)
		requester_fail(qp, responder_nak_status(code));
}

static void on_ack(struct qp *qp, const struct packet *p, hd_time now)
{
	unsigned kind = p->aeth.syndrome & AETH_KIND;
	uint32_t before = psn_add(p->bth.psn, PSN_MASK);

	if (kind == AETH_ACK) {
		take_credits(&qp->req, &p->aeth);
		(void)acknowledge(qp, p->bth.psn, now);
		return;
	}
	/* A NAK acknowledges what is before it, and only if all of it is. */
	if (!acknowledge(qp, before, now) || !is_outstanding(&qp->req))
		return;
	if (kind == AETH_RNR_NAK)
		on_rnr(qp, p, now);
	else if (kind == AETH_NAK)
		on_nak(qp, p);
}

/* Bytes of answer k of a read. */
static uint64_t answer_bytes(const struct qp *qp, const struct send_item *item, uint32_t k)
{
	uint64_t left = item->length - (uint64_t)k * qp->attr.mtu;

	return left < qp->attr.mtu ? left : qp->attr.mtu;
}

/* Copies the payload of response number `done` of a read. */
static void on_read_response(struct qp *qp, const struct packet *p, bool in_place, hd_time now)
{
	struct send_item *item = item_at(&qp->req, qp->req.head);

	if (item->wr.kind != WR_READ) {
		requester_fail(qp, WC_BAD_RESP_ERR);
		return;
	}
	if (p->payload_len != answer_bytes(qp, item, item->done)) {
		requester_fail(qp, WC_LOC_LEN_ERR);
		return;
	}
	if (!in_place)
		sg_write(qp, item->wr.sge, (uint64_t)item->done * qp->attr.mtu, p->payload,
			 p->payload_len);
	item->done++;
	if (packet_has(p, HEADER_AETH))
		take_credits(&qp->req, &p->aeth);
	if (item->done == item->n_psns)
		requester_complete(qp, WC_SUCCESS);
	catch_up(&qp->req);
	progress(qp, now);
}

static void on_atomic_ack(struct qp *qp, const struct packet *p, hd_time now)
{
	struct send_item *item = item_at(&qp->req, qp->req.head);
	uint64_t value = p->atomicacketh.original;

	if (item->wr.kind != WR_CMP_SWAP && item->wr.kind != WR_FETCH_ADD) {
		requester_fail(qp, WC_BAD_RESP_ERR);
		return;
	}
	sg_write(qp, item->wr.sge, 0, (const uint8_t *)&value, sizeof(value));
	item->done = 1;
	take_credits(&qp->req, &p->aeth);
	requester_complete(qp, WC_SUCCESS);
	catch_up(&qp->req);
	progress(qp, now);
}

/* Handles a response that is not old: the expected one, or one that reveals a loss. */
static void take_answer(struct qp *qp, const struct packet *p, bool in_place, hd_time now)
{
	struct requester *r = &qp->req;
	uint32_t psn = p->bth.psn;
	unsigned operation = p->bth.opcode & OP_MASK;

	if (operation == OP_ACK) {
		on_ack(qp, p, now);
		return;
	}
	/* A response acknowledges the requests before its own. */
	if (!acknowledge(qp, psn_add(psn, PSN_MASK), now) || !is_outstanding(r) ||
	    oldest_psn(r) != psn)
		return;
	if (operation == OP_ATOMIC_ACK)
		on_atomic_ack(qp, p, now);
	else
		on_read_response(qp, p, in_place, now);
}

/* ---- before their turn ------------------------------------------------- */

bool requester_misses(const struct requester *r, uint32_t *psn)
{
	for (uint32_t i = r->head; r->rd_out && i != r->tail; i++) {
		const struct send_item *item = item_at(r, i);

		if (!item->started)
			return false;
		if (needs_answer(item)) {
			*psn = psn_add(item->psn, item->done);
			return true;
		}
	}
	return false;
}

/* Only an ACK includes its own number; other responses acknowledge the numbers before. */
static bool passes(const struct packet *p, uint32_t missing)
{
	bool is_ack =
		(p->bth.opcode & OP_MASK) == OP_ACK && (p->aeth.syndrome & AETH_KIND) == AETH_ACK;

	return psn_diff(p->bth.psn, missing) >= (is_ack ? 0 : 1);
}

/* Copies the payload if it belongs to the oldest request, a read. */
static bool put_in_place(struct qp *qp, const struct packet *p)
{
	const struct send_item *item = item_at(&qp->req, qp->req.head);
	unsigned operation = p->bth.opcode & OP_MASK;
	uint32_t k = (uint32_t)psn_diff(p->bth.psn, item->psn);

	if (item->wr.kind != WR_READ || operation == OP_ACK || operation == OP_ATOMIC_ACK ||
	    k >= item->n_psns || p->payload_len != answer_bytes(qp, item, k))
		return false;
	sg_write(qp, item->wr.sge, (uint64_t)k * qp->attr.mtu, p->payload, p->payload_len);
	return true;
}

/* True if it has to wait, and can. */
static bool keep_early(struct qp *qp, const struct packet *p)
{
	struct requester *r = &qp->req;
	uint32_t missing, psn = p->bth.psn;

	if (!requester_misses(r, &missing) || !passes(p, missing))
		return false;
	r->n_early++;
	if (qp_early_answer(qp, psn))
		return qp_early_keep_answer(qp, p, missing, false);
	bool near = psn_diff(psn, missing) <= (int32_t)qp->params.window;

	return qp_early_keep_answer(qp, p, missing, near && put_in_place(qp, p));
}

/* The first early response that is no longer blocked. */
static bool next_kept(const struct qp *qp, uint32_t *psn)
{
	uint32_t oldest = oldest_psn(&qp->req), missing = 0;
	bool misses = requester_misses(&qp->req, &missing);

	for (uint32_t i = 0; i <= qp->params.window; i++) {
		*psn = psn_add(oldest, i);
		const struct early *e = qp_early_answer(qp, *psn);

		if (e)
			return !misses || !passes(&e->packet, missing);
		if (misses && *psn == missing)
			return false;
	}
	return false;
}

static void take_kept(struct qp *qp, hd_time now)
{
	uint32_t psn;

	while (qp->req.n_kept && is_outstanding(&qp->req) && next_kept(qp, &psn)) {
		struct early *e = qp_early_take_answer(qp, psn);

		take_answer(qp, &e->packet, e->in_place, now);
		free(e);
	}
}

void requester_receive(struct qp *qp, const struct packet *p, hd_time now)
{
	struct requester *r = &qp->req;
	uint32_t psn = p->bth.psn;

	if (qp->state < QPS_RTS || psn_diff(psn, r->next_psn) >= 0)
		return;
	if (psn_diff(psn, oldest_psn(r)) < 0) {
		/* Old news, but its credits may be new. */
		if ((p->bth.opcode & OP_MASK) == OP_ACK && psn_add(psn, 1) == oldest_psn(r))
			take_credits(r, &p->aeth);
		return;
	}
	if (keep_early(qp, p))
		return;
	take_answer(qp, p, false, now);
	take_kept(qp, now);
}

/* ---- time -------------------------------------------------------------- */

hd_time requester_due(const struct qp *qp)
{
	const struct requester *r = &qp->req;

	if (r->rnr_until)
		return r->rnr_until;
	return r->timer;
}

void requester_timer(struct qp *qp, hd_time now)
{
	struct requester *r = &qp->req;

	if (r->rnr_until) {
		if (now >= r->rnr_until)
			r->rnr_until = 0;
		return;
	}
	if (now < r->timer)
		return;
	r->timer = HD_TIME_NEVER;
	r->implied = false;
	if (is_outstanding(r))
		retry(qp, oldest_psn(r));
}
