/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport/qp.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/iba.h"
#include "transport/transport_internal.h"

struct qp *qp_new(const struct qp_params *params, const struct qp_owner *owner)
{
	if (params->max_send == 0 || params->window > QP_MAX_WINDOW ||
	    (params->max_recv == 0 && !params->shared_recv))
		return NULL;
	struct qp *qp = hd_alloc(1, sizeof(*qp));

	qp->params = *params;
	qp->owner = owner;
	requester_init(&qp->req, params->max_send);
	responder_init(&qp->resp, params->shared_recv ? 1 : params->max_recv);
	return qp;
}

void qp_free(struct qp *qp)
{
	qp_early_fini(qp);
	requester_fini(&qp->req);
	responder_fini(&qp->resp);
	free(qp);
}

enum qp_state qp_state(const struct qp *qp)
{
	return qp->state;
}

const struct qp_params *qp_params(const struct qp *qp)
{
	return &qp->params;
}

void qp_query(const struct qp *qp, struct qp_attr *out)
{
	*out = qp->attr;
	out->state = qp->state;
	out->sq_psn = qp->req.next_psn;
	out->rq_psn = qp->resp.epsn;
}

uint32_t qp_sends_left(const struct qp *qp)
{
	return qp->req.tail - qp->req.head;
}

uint32_t qp_recvs_left(const struct qp *qp)
{
	return qp->resp.tail - qp->resp.head;
}

void qp_tell(struct qp *qp, enum qp_event event)
{
	qp->owner->event(qp->owner->context, qp, event);
}

void qp_enter_error(struct qp *qp)
{
	if (qp->state == QPS_ERR)
		return;
	qp->state = QPS_ERR;
	requester_flush(qp);
	responder_flush(qp);
	if (qp->params.shared_recv)
		qp_tell(qp, QP_EVENT_LAST_WQE);
}

/* ---- modify ------------------------------------------------------------ */

/* Required and optional attributes of a transition, by kind of queue pair. */
struct qp_transition {
	enum qp_state from, to;
	unsigned needs[3]; /* RC, UC, UD */
	unsigned may;
};

#define QPA_ANY (QPA_ACCESS | QPA_PKEY | QPA_QKEY | QPA_MIN_RNR)

static const struct qp_transition transitions[] = {
	{ QPS_RESET,
	  QPS_INIT,
	  { QPA_PKEY | QPA_ACCESS, QPA_PKEY | QPA_ACCESS, QPA_PKEY | QPA_QKEY },
	  0 },
	{ QPS_INIT, QPS_INIT, { 0, 0, 0 }, QPA_PKEY | QPA_ACCESS | QPA_QKEY },
	{ QPS_INIT,
	  QPS_RTR,
	  { QPA_PATH | QPA_MTU | QPA_DEST_QP | QPA_RQ_PSN | QPA_MAX_DEST_RD | QPA_MIN_RNR,
	    QPA_PATH | QPA_MTU | QPA_DEST_QP | QPA_RQ_PSN, 0 },
	  QPA_PKEY | QPA_ACCESS | QPA_QKEY | QPA_PATH | QPA_MTU },
	{ QPS_RTR,
	  QPS_RTS,
	  { QPA_SQ_PSN | QPA_TIMEOUT | QPA_RETRY | QPA_RNR_RETRY | QPA_MAX_RD, QPA_SQ_PSN,
	    QPA_SQ_PSN },
	  QPA_ANY },
	{ QPS_RTS, QPS_RTS, { 0, 0, 0 }, QPA_ANY },
	{ QPS_RTS, QPS_SQD, { 0, 0, 0 }, 0 },
	{ QPS_SQD,
	  QPS_SQD,
	  { 0, 0, 0 },
	  QPA_ANY | QPA_PATH | QPA_TIMEOUT | QPA_RETRY | QPA_RNR_RETRY },
	{ QPS_SQD, QPS_RTS, { 0, 0, 0 }, QPA_ANY },
	{ QPS_SQE, QPS_RTS, { 0, 0, 0 }, QPA_ANY },
};

static const struct qp_transition *find_transition(enum qp_state from, enum qp_state to)
{
	for (size_t i = 0; i < sizeof(transitions) / sizeof(*transitions); i++) {
		if (transitions[i].from == from && transitions[i].to == to)
			return &transitions[i];
	}
	return NULL;
}

unsigned qp_step_mask(enum qp_kind kind, enum qp_state to)
{
	enum qp_state from = to == QPS_INIT ? QPS_RESET : to == QPS_RTR ? QPS_INIT : QPS_RTR;
	const struct qp_transition *step = find_transition(from, to);

	assert(step);
	unsigned mask = step->needs[kind] | QPA_STATE;

	return kind == QP_UD && to == QPS_RTR ? mask | QPA_PATH | QPA_MTU : mask;
}

static bool values_fit(const struct qp_attr *a, unsigned mask)
{
	return (!(mask & QPA_MTU) || is_mtu(a->mtu)) &&
	       (!(mask & QPA_DEST_QP) || a->dest_qpn <= PSN_MASK) &&
	       (!(mask & QPA_RQ_PSN) || a->rq_psn <= PSN_MASK) &&
	       (!(mask & QPA_SQ_PSN) || a->sq_psn <= PSN_MASK) &&
	       (!(mask & QPA_MAX_DEST_RD) || a->max_dest_rd <= MAX_RD) &&
	       (!(mask & QPA_MAX_RD) || a->max_rd <= MAX_RD) &&
	       (!(mask & QPA_MIN_RNR) || a->min_rnr < 32) &&
	       (!(mask & QPA_TIMEOUT) || a->timeout < 32) &&
	       (!(mask & QPA_RETRY) || a->retry < 8) &&
	       (!(mask & QPA_RNR_RETRY) || a->rnr_retry < 8);
}

static void take_path(struct qp_attr *to, const struct qp_attr *from)
{
	to->slid = from->slid;
	to->dlid = from->dlid;
	to->sl = from->sl;
	to->global = from->global;
	to->tclass = from->tclass;
	to->hop_limit = from->hop_limit;
	memcpy(to->sgid, from->sgid, sizeof(to->sgid));
	memcpy(to->dgid, from->dgid, sizeof(to->dgid));
}

#define TAKE(bit, field)                         \
	do {                                     \
		if (mask & (bit))                \
			to->field = from->field; \
	} while (0)

static void take_attributes(struct qp_attr *to, const struct qp_attr *from, unsigned mask)
{
	TAKE(QPA_ACCESS, access);
	TAKE(QPA_PKEY, pkey);
	TAKE(QPA_QKEY, qkey);
	TAKE(QPA_MTU, mtu);
	TAKE(QPA_DEST_QP, dest_qpn);
	TAKE(QPA_RQ_PSN, rq_psn);
	TAKE(QPA_SQ_PSN, sq_psn);
	TAKE(QPA_MAX_DEST_RD, max_dest_rd);
	TAKE(QPA_MAX_RD, max_rd);
	TAKE(QPA_MIN_RNR, min_rnr);
	TAKE(QPA_TIMEOUT, timeout);
	TAKE(QPA_RETRY, retry);
	TAKE(QPA_RNR_RETRY, rnr_retry);
	if (mask & QPA_PATH)
		take_path(to, from);
	if (mask & QPA_RQ_PSN)
		to->credits = from->credits;
	if (mask & QPA_SQ_PSN)
		to->ack_every = from->ack_every ? from->ack_every : 16;
}

/* Resets requester and responder when a state is entered. */
static void enter(struct qp *qp, enum qp_state from, enum qp_state to)
{
	qp->state = to;
	if (from == QPS_INIT && to == QPS_RTR) {
		qp->resp.epsn = qp->attr.rq_psn;
		if (qp->attr.mtu == 0)
			qp->attr.mtu = 4096; /* UD: what no port exceeds */
	} else if (from == QPS_RTR && to == QPS_RTS) {
		requester_start(qp);
	} else if (from == QPS_RTS && to == QPS_SQD) {
		qp->req.drained_told = false;
		requester_drained(qp);
	}
}

static void reset(struct qp *qp)
{
	qp->state = QPS_RESET;
	qp->attr = (struct qp_attr){ 0 };
	qp_early_fini(qp);
	requester_reset(&qp->req);
	responder_reset(&qp->resp);
}

enum hd_status qp_modify(struct qp *qp, const struct qp_attr *attr, unsigned mask)
{
	enum qp_state from = qp->state;
	enum qp_state to = mask & QPA_STATE ? attr->state : from;
	const struct qp_transition *t = find_transition(from, to);
	unsigned given = mask & ~(unsigned)QPA_STATE;

	if (to == QPS_RESET || to == QPS_ERR) {
		if (given)
			return HD_ERR_INPUT;
		if (to == QPS_RESET)
			reset(qp);
		else
			qp_enter_error(qp);
		return HD_OK;
	}
	if (!t)
		return HD_ERR_UNFIT;
	/* The send queue of a reliable queue pair has no error state of its own. */
	if (from == QPS_SQE && qp->params.kind == QP_RC)
		return HD_ERR_UNFIT;
	unsigned needs = t->needs[qp->params.kind];

	if ((given & needs) != needs || (given & ~(needs | t->may)) || !values_fit(attr, mask))
		return HD_ERR_INPUT;
	take_attributes(&qp->attr, attr, mask);
	enter(qp, from, to);
	return HD_OK;
}

/* ---- memory ------------------------------------------------------------ */

uint64_t sg_length(const struct sge *list, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += list[i].length;
	return sum;
}

bool sg_allows(const struct qp *qp, const struct sge *list, uint32_t n, unsigned access)
{
	for (uint32_t i = 0; i < n; i++) {
		if (list[i].length &&
		    !qp->owner->allows(qp->owner->context, qp->params.pd, list[i].lkey,
				       list[i].addr, list[i].length, access))
			return false;
	}
	return true;
}

/* The piece of the list that holds byte `offset`, and what is left of it. */
static const struct sge *sg_at(const struct sge *list, uint64_t *offset)
{
	while (*offset >= list->length) {
		*offset -= list->length;
		list++;
	}
	return list;
}

void sg_read(const struct qp *qp, const struct sge *list, uint64_t offset, uint8_t *to, size_t len)
{
	while (len) {
		list = sg_at(list, &offset);
		size_t part = list->length - offset;

		if (part > len)
			part = len;
		qp->owner->read(qp->owner->context, list->lkey, list->addr + offset, to, part);
		to += part;
		len -= part;
		offset += part;
	}
}

void sg_write(const struct qp *qp, const struct sge *list, uint64_t offset, const uint8_t *from,
	      size_t len)
{
	while (len) {
		list = sg_at(list, &offset);
		size_t part = list->length - offset;

		if (part > len)
			part = len;
		qp->owner->write(qp->owner->context, list->lkey, list->addr + offset, from, part);
		from += part;
		len -= part;
		offset += part;
	}
}

/* ---- packets ----------------------------------------------------------- */

void qp_address(const struct qp *qp, struct packet *p, uint8_t opcode, uint32_t psn)
{
	const struct qp_attr *a = &qp->attr;

	packet_init(p, opcode);
	p->lrh.sl = a->sl;
	p->lrh.slid = a->slid;
	p->lrh.dlid = a->dlid;
	p->bth.pkey = a->pkey;
	p->bth.dest_qp = a->dest_qpn;
	p->bth.psn = psn & PSN_MASK;
	p->bth.mig = true;
	if (!a->global)
		return;
	p->headers |= HEADER_BIT(HEADER_GRH);
	p->grh = (struct grh){ .ip_ver = GRH_IP_VERSION,
			       .tclass = a->tclass,
			       .next_header = GRH_NEXT_IBA,
			       .hop_limit = a->hop_limit };
	memcpy(p->grh.sgid, a->sgid, sizeof(a->sgid));
	memcpy(p->grh.dgid, a->dgid, sizeof(a->dgid));
}

/* Whether the packet is from the connected peer. */
static bool is_from_peer(const struct qp *qp, const struct packet *p)
{
	const struct qp_attr *a = &qp->attr;

	if (p->lrh.slid != a->dlid || p->lrh.dlid != a->slid)
		return false;
	if (!a->global || !packet_has(p, HEADER_GRH))
		return true;
	return memcmp(p->grh.sgid, a->dgid, sizeof(a->dgid)) == 0 &&
	       memcmp(p->grh.dgid, a->sgid, sizeof(a->sgid)) == 0;
}

/* Congestion was met on the way here: echo it. */
static void on_fecn(struct qp *qp, const struct packet *p)
{
	if (qp->params.kind == QP_RC) {
		qp->resp.becn_due = true;
		return;
	}
	if (p->lrh.dlid >= LID_FIRST_MCAST || p->lrh.vl == 15)
		return;
	struct qp_answer cnp = {
		.kind = ANSWER_CNP,
		.dlid = p->lrh.slid,
		.sl = p->lrh.sl,
		.qpn = qp->params.kind == QP_UD ? p->deth.src_qp : qp->attr.dest_qpn,
	};

	responder_answer(qp, &cnp);
}

static void dispatch(struct qp *qp, const struct packet *p, hd_time now)
{
	switch (qp->params.kind) {
	case QP_UD:
		qp_receive_ud(qp, p);
		break;
	case QP_UC:
		qp_receive_uc(qp, p);
		break;
	case QP_RC:
		if (opcode_flags(p->bth.opcode) & OPCODE_RESPONSE)
			requester_receive(qp, p, now);
		else
			responder_receive(qp, p);
		break;
	}
}

void qp_receive(struct qp *qp, const struct packet *p, hd_time now)
{
	if (!qp_state_receives(qp->state) || !packet_has(p, HEADER_BTH) || p->bth.tver != 0)
		return;
	if (p->bth.becn)
		qp->becn_seen = true;
	if (p->bth.opcode == OPCODE_CNP || (p->bth.opcode & SERVICE_MASK) != service_of(qp))
		return;
	if (qp->params.kind != QP_UD && !is_from_peer(qp, p))
		return;
	if (!pkey_matches(p->bth.pkey, qp->attr.pkey)) {
		qp_tell(qp, QP_EVENT_PKEY);
		return;
	}
	if (qp->state == QPS_RTR && !qp->resp.established) {
		qp->resp.established = true;
		qp_tell(qp, QP_EVENT_COMM_EST);
	}
	if (p->bth.fecn)
		on_fecn(qp, p);
	dispatch(qp, p, now);
}

bool qp_has_packet(const struct qp *qp, hd_time now)
{
	return responder_has_packet(qp) || requester_has_packet(qp, now);
}

bool qp_has_answer(const struct qp *qp)
{
	return responder_has_packet(qp);
}

uint16_t qp_dlid(const struct qp *qp)
{
	const struct requester *r = &qp->req;

	return qp->params.kind == QP_UD && r->next != r->tail ? item_at(r, r->next)->wr.to.dlid
							      : qp->attr.dlid;
}

bool qp_transmit(struct qp *qp, hd_time now, struct packet *out, uint8_t *buffer)
{
	return responder_transmit(qp, out, buffer) || requester_transmit(qp, now, out, buffer);
}

void qp_sent(struct qp *qp, const struct packet *packet)
{
	requester_sent(qp, packet);
}

hd_time qp_due(const struct qp *qp)
{
	return requester_due(qp);
}

void qp_timer(struct qp *qp, hd_time now)
{
	requester_timer(qp, now);
}

bool qp_take_becn(struct qp *qp)
{
	bool seen = qp->becn_seen;

	qp->becn_seen = false;
	return seen;
}

uint32_t qp_taken(const struct qp *qp)
{
	return qp->resp.msn;
}

uint64_t qp_retries(const struct qp *qp)
{
	return qp->req.retries;
}

uint64_t qp_early(const struct qp *qp)
{
	return qp->resp.n_early + qp->req.n_early;
}
