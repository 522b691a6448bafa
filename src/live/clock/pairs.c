/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/ring.h"
#include "live/clock/engine.h"
#include "transport/psn.h"

enum { SHARED_MOST = 1 << 16 };

static struct pair **place_of(struct engine *e, uint32_t qpn)
{
	struct program *p = e->programs[live_qpn_program(qpn)];

	if (!p)
		return NULL;
	if (!p->pairs)
		p->pairs = hd_alloc(LIVE_QPS, sizeof(struct pair *));
	return &p->pairs[live_qpn_index(qpn)];
}

struct pair *clock_pair_find(struct engine *e, uint32_t qpn)
{
	struct pair **at = place_of(e, qpn);

	return at && *at && (*at)->qpn == qpn ? *at : NULL;
}

/* ---- messages */

static void message_put(struct engine *e, struct pair *q, const struct message *m)
{
	q->messages = ring_grow(q->messages, &q->size, q->head, q->tail, sizeof(*q->messages));
	q->messages[q->tail++ % q->size] = *m;
	e->under_way++;
}

/* Removes messages that are over from the head of the ring, in order. */
static void messages_clear(struct engine *e, struct pair *q)
{
	while (q->head != q->tail && q->messages[q->head % q->size].is_over) {
		q->head++;
		e->under_way--;
	}
}

static void tell(struct engine *e, const struct pair *q, enum live_note_kind kind, uint64_t number,
		 enum wc_status status)
{
	const struct live_note n = { kind, q->qpn, number, status, 0 };

	clock_program_notify(e, q->of, &n);
}

static bool is_to_group(const struct message *m)
{
	return m->request.pair.dlid >= LID_FIRST_MCAST;
}

struct message *clock_pair_message(const struct pair *q, uint64_t number)
{
	for (uint32_t i = q->head; i != q->tail; i++)
		if (q->messages[i % q->size].request.number == number)
			return &q->messages[i % q->size];
	return NULL;
}

static void pair_end(struct engine *e, struct pair *q)
{
	if (q->sim_qp)
		external_qp_release(q->sim_qp);
	e->under_way -= q->tail - q->head;
	free(q->messages);
	free(q->groups);
	free(q);
}

/* ---- shared receive queues */

static struct shared *shared_of(const struct program *p, int64_t index)
{
	return index >= 0 && (size_t)index < p->n_shared && p->shared[index].max > 0
		       ? &p->shared[index]
		       : NULL;
}

static struct external_srq *shared_enter(struct engine *e, const struct pair *q)
{
	struct shared *s = shared_of(q->of, q->asked.shared);

	if (!s || s->queue)
		return s ? s->queue : NULL;
	s->queue = external_srq_new(e->external, q->asked.port, s->max);
	for (uint64_t i = 0; s->queue && i < s->receives; i++)
		(void)!external_srq_receive(s->queue);
	return s->queue;
}

/* ---- entry into the simulation */

static bool is_reliable(const struct pair *q)
{
	return q->asked.kind == QP_RC;
}

static void attributes(const struct live_pair *p, struct qp_attr *out)
{
	*out = (struct qp_attr){
		.pkey = p->pkey,
		.qkey = p->qkey,
		.slid = p->slid,
		.dlid = p->dlid,
		.sl = p->sl & 15,
		.mtu = p->mtu,
		.rq_psn = p->rq_psn,
		.sq_psn = p->sq_psn,
		.max_rd = p->max_rd,
		.max_dest_rd = p->max_dest_rd,
		.min_rnr = p->min_rnr,
		.timeout = p->timeout,
		.retry = p->retry,
		.rnr_retry = p->rnr_retry,
	};
}

static void enter(struct engine *e, struct pair *q)
{
	if (q->sim_qp || q->asked.state < QPS_INIT || q->asked.kind > QP_UD)
		return;
	const struct external_qp_params place = { q->asked.kind, q->asked.port, q->asked.max_send,
						  q->asked.max_recv + 1, shared_enter(e, q) };

	q->sim_qp = external_qp_new(e->external, &place, q);
}

/* Brings the simulated queue pair to the state that its program has requested. */
static void follow(struct engine *e, struct pair *q)
{
	struct qp_attr a;

	attributes(&q->asked, &a);
	if (q->sim_qp && !q->is_connected && q->asked.state >= QPS_RTR) {
		const struct pair *peer = clock_pair_find(e, q->asked.dest_qpn);

		q->psn.receive = a.rq_psn;
		q->is_alone = !pair_is_ud(q) && (!peer || !peer->sim_qp);
		q->is_connected =
			external_qp_connect(q->sim_qp, peer ? peer->sim_qp : NULL, &a) == HD_OK;
		for (uint64_t i = 0; q->is_connected && i < q->receives; i++)
			(void)!external_qp_receive(q->sim_qp);
		for (size_t i = 0; q->is_connected && i < q->n_groups; i++)
			(void)!external_qp_join(q->sim_qp, q->groups[i].mlid, q->groups[i].mgid);
	}
	if (q->is_connected && !q->has_started && q->asked.state >= QPS_RTS) {
		q->psn.send = a.sq_psn;
		q->has_started = external_qp_start(q->sim_qp, &a) == HD_OK;
	}
}

static void tell_done(struct engine *e, struct pair *q, uint64_t number, enum wc_status status)
{
	for (uint32_t i = q->head; i != q->tail; i++) {
		struct message *m = &q->messages[i % q->size];

		if (m->request.number > number)
			break;
		m->is_done = true;
		m->is_over |= is_reliable(q) || m->has_landed || status != WC_SUCCESS;
	}
	tell(e, q, LIVE_DONE, number, status);
	messages_clear(e, q);
}

/* Posts a message; false if the simulation rejects it, which ends the message. */
static bool post(struct engine *e, struct pair *q, const struct message *m)
{
	const struct live_request *r = &m->request;
	const struct pair *to = pair_is_ud(q) ? clock_pair_find(e, r->pair.dest_qpn) : NULL;
	struct send_wr wr = {
		.id = r->number,
		.kind = r->operation,
		.n_sge = r->length > 0,
		.sge[0].length = (uint32_t)r->length,
		.to = { .qkey = r->pair.qkey,
			.dlid = r->pair.dlid,
			.sl = r->pair.sl & 15,
			.global = r->pair.global },
	};

	memcpy(wr.to.dgid, r->content.dgid, sizeof(wr.to.dgid));
	if (q->has_started && external_qp_send(q->sim_qp, to ? to->sim_qp : NULL, &wr))
		return true;
	tell_done(e, q, m->request.number, WC_LOC_QP_OP_ERR);
	return false;
}

bool clock_pairs_send(struct engine *e)
{
	bool all = true;

	for (size_t i = 0; i < e->n_fresh; i++) {
		struct pair *q = clock_pair_find(e, e->fresh[i]);

		/* The queue pair may have ended, or have entered a later simulation. */
		if (!q || q->entered == q->tail)
			continue;
		const struct message m = q->messages[q->entered++ % q->size];

		all &= post(e, q, &m);
	}
	e->n_fresh = 0;
	return !all;
}

/* The message cannot arrive at any further destination. */
static void lose(struct engine *e, struct pair *q, struct message *m)
{
	m->has_landed = true;
	m->is_over = m->is_done;
	tell(e, q, LIVE_LOST, m->request.number, WC_SUCCESS);
}

/*
 * Sends messages in flight again after the tables changed, except multicast messages that some
 * members have received.
 */
static void resend(struct engine *e, struct pair *q)
{
	for (uint32_t i = q->head; i != q->tail; i++) {
		struct message *at = &q->messages[i % q->size];

		if (at->is_spread && !at->has_landed)
			lose(e, q, at);
		const struct message m = *at;

		if (m.has_landed && (i == q->head || !is_reliable(q)))
			tell_done(e, q, m.request.number, WC_SUCCESS);
		else if (!m.has_landed && !m.is_over)
			(void)!post(e, q, &m);
	}
	q->entered = q->tail;
}

static void each(struct engine *e, void (*f)(struct engine *e, struct pair *q))
{
	for (uint32_t i = 0; i < e->n_programs; i++) {
		const struct program *p = e->programs[i];

		for (uint32_t k = 0; p && p->pairs && k < LIVE_QPS; k++)
			if (p->pairs[k])
				f(e, p->pairs[k]);
	}
}

/* The first message that resend() would send; or NULL. */
static const struct message *first_to_resend(const struct pair *q)
{
	for (uint32_t i = q->head; i != q->tail; i++) {
		const struct message *m = &q->messages[i % q->size];

		if (!m->has_landed && !m->is_spread && !m->is_over)
			return m;
	}
	return NULL;
}

/* The queue pair continues with its current PSN, which its peer expects. */
static void keep_psn(struct engine *e, struct pair *q)
{
	const struct message *m = first_to_resend(q);
	struct pair *peer = clock_pair_find(e, q->asked.dest_qpn);

	if (!q->has_started)
		return;
	uint32_t psn = external_qp_psn(q->sim_qp, m ? m->request.number : UINT64_MAX);

	q->asked.sq_psn = psn;
	if (peer && peer->is_connected && !pair_is_ud(q))
		peer->asked.rq_psn = psn_add(peer->psn.receive, psn - q->psn.send);
}

static void leave(struct engine *e, struct pair *q)
{
	(void)e;
	q->sim_qp = NULL;
	q->is_connected = q->has_started = q->is_alone = false;
}

/*
 * Enters the queue pair again if it is alone: its peer exists now. Programs create queue pairs in
 * any order.
 */
static void renew(struct engine *e, struct pair *q)
{
	const struct pair *peer = clock_pair_find(e, q->asked.dest_qpn);

	if (!q->is_alone || !peer || !peer->sim_qp)
		return;
	keep_psn(e, q);
	external_qp_release(q->sim_qp);
	leave(e, q);
	enter(e, q);
	follow(e, q);
	resend(e, q);
}

static void leave_shared(struct engine *e)
{
	for (uint32_t i = 0; i < e->n_programs; i++)
		for (size_t k = 0; e->programs[i] && k < e->programs[i]->n_shared; k++)
			e->programs[i]->shared[k].queue = NULL;
}

void clock_pairs_leave(struct engine *e)
{
	each(e, keep_psn);
	each(e, leave);
	leave_shared(e);
}

void clock_pairs_enter(struct engine *e)
{
	each(e, enter);
	each(e, follow);
	each(e, resend);
}

/* ---- requests of programs */

static void take_pair(struct engine *e, struct program *p, const struct live_request *r)
{
	struct pair **at = place_of(e, r->qpn);

	if (!at || live_qpn_program(r->qpn) != p->number)
		return;
	if (!*at) {
		*at = hd_alloc(1, sizeof(**at));
		**at = (struct pair){ .of = p, .qpn = r->qpn };
	}
	(*at)->asked = r->pair;
	if (!e->external)
		return;
	bool is_new = !(*at)->sim_qp;

	enter(e, *at);
	follow(e, *at);
	if (is_new && (*at)->sim_qp)
		each(e, renew);
}

/* Handlers for the tables in take_request(). */

static void take_gone(struct engine *e, struct pair *q, const struct live_request *r)
{
	*place_of(e, r->qpn) = NULL;
	pair_end(e, q);
}

/* True for operations that programs may request; SENDs with invalidate are not simulated. */
static bool is_sendable(const struct live_request *r)
{
	return r->operation <= WR_FETCH_ADD && r->operation != WR_SEND_INV &&
	       r->length <= WR_MAX_LENGTH;
}

static void take_send(struct engine *e, struct pair *q, const struct live_request *r)
{
	const struct message m = { .request = *r };

	if (!is_sendable(r))
		return;
	message_put(e, q, &m);
	e->fresh = hd_grow(e->fresh, &e->fresh_cap, e->n_fresh + 1, sizeof(*e->fresh));
	e->fresh[e->n_fresh++] = q->qpn;
}

/* cppcheck-suppress constParameter ; a row of a table */
static void take_detach(struct engine *e, struct pair *q, const struct live_request *r)
{
	(void)e;
	for (size_t i = q->n_groups; i-- > 0;)
		if (q->groups[i].mlid == r->pair.dlid &&
		    memcmp(q->groups[i].mgid, r->content.dgid, sizeof(q->groups[i].mgid)) == 0)
			q->groups[i] = q->groups[--q->n_groups];
	if (q->is_connected)
		external_qp_leave(q->sim_qp, r->pair.dlid, r->content.dgid);
}

static void take_attach(struct engine *e, struct pair *q, const struct live_request *r)
{
	struct membership m = { .mlid = r->pair.dlid };

	if (!pair_is_ud(q))
		return;
	take_detach(e, q, r);
	memcpy(m.mgid, r->content.dgid, sizeof(m.mgid));
	q->groups = hd_grow(q->groups, &q->groups_cap, q->n_groups + 1, sizeof(*q->groups));
	q->groups[q->n_groups++] = m;
	if (q->is_connected)
		(void)!external_qp_join(q->sim_qp, m.mlid, m.mgid);
}

/* cppcheck-suppress constParameter ; a row of a table */
static void take_receive(struct engine *e, struct pair *q, const struct live_request *r)
{
	(void)e;
	q->receives += r->number;
	for (uint64_t i = 0; q->is_connected && i < r->number; i++)
		if (!external_qp_receive(q->sim_qp))
			break;
}

static void take_shared(struct program *p, const struct live_request *r)
{
	if (r->qpn >= SHARED_MOST || r->number == 0 || r->number > UINT32_MAX)
		return;
	if (r->qpn >= p->n_shared) {
		size_t n = (size_t)r->qpn + 1;

		p->shared = hd_realloc(p->shared, n, sizeof(*p->shared));
		memset(p->shared + p->n_shared, 0, (n - p->n_shared) * sizeof(*p->shared));
		p->n_shared = n;
	}
	p->shared[r->qpn] = (struct shared){ .max = (uint32_t)r->number };
}

static void take_shared_gone(struct shared *s, const struct live_request *r)
{
	(void)r;
	if (s->queue)
		external_srq_release(s->queue);
	*s = (struct shared){ .max = 0 };
}

static void take_shared_receive(struct shared *s, const struct live_request *r)
{
	s->receives += r->number;
	for (uint64_t i = 0; s->queue && i < r->number; i++)
		if (!external_srq_receive(s->queue))
			break;
}

static void take_request(struct engine *e, struct program *p, const struct live_request *r)
{
	static void (*const of_pair[LIVE_REQUEST_KINDS])(struct engine * e, struct pair * q,
							 const struct live_request *r) = {
		[LIVE_PAIR_GONE] = take_gone,  [LIVE_SEND] = take_send,
		[LIVE_RECEIVE] = take_receive, [LIVE_ATTACH] = take_attach,
		[LIVE_DETACH] = take_detach,
	};
	static void (*const of_shared[LIVE_REQUEST_KINDS])(struct shared * s,
							   const struct live_request *r) = {
		[LIVE_SHARED_GONE] = take_shared_gone,
		[LIVE_SHARED_RECEIVE] = take_shared_receive,
	};
	struct pair *q = clock_pair_find(e, r->qpn);
	struct shared *s = shared_of(p, r->qpn);

	if (r->kind >= LIVE_REQUEST_KINDS)
		return;
	if (r->kind == LIVE_PAIR)
		take_pair(e, p, r);
	else if (r->kind == LIVE_SHARED)
		take_shared(p, r);
	else if (of_pair[r->kind] && q && q->of == p)
		of_pair[r->kind](e, q, r);
	else if (of_shared[r->kind] && s)
		of_shared[r->kind](s, r);
}

bool clock_pairs_take(struct engine *e)
{
	bool any = false;

	for (uint32_t i = 0; i < e->n_programs; i++) {
		struct program *p = e->programs[i];

		if (!p)
			continue;
		struct live_clock *c = &p->memory->clock;
		uint64_t at = atomic_load(&c->taken);

		for (; at != atomic_load(&c->posted); any = true) {
			const struct live_request r = c->requests[at % LIVE_REQUESTS];

			take_request(e, p, &r);
			atomic_store(&c->taken, ++at);
		}
	}
	return any;
}

void clock_pairs_forget(struct engine *e, struct program *p)
{
	for (uint32_t k = 0; p->pairs && k < LIVE_QPS; k++)
		if (p->pairs[k])
			pair_end(e, p->pairs[k]);
	free(p->pairs);
	for (size_t i = 0; i < p->n_shared; i++)
		if (p->shared[i].queue)
			external_srq_release(p->shared[i].queue);
	free(p->shared);
}

/* ---- events of the simulation */

/* A message has consumed a receive of this queue pair, or of its shared queue. */
static void receive_taken(struct pair *q)
{
	struct shared *s = shared_of(q->of, q->asked.shared);
	uint64_t *receives = s ? &s->receives : &q->receives;

	*receives -= *receives > 0;
}

static void tell_arrived(struct engine *e, struct pair *q, struct message *m,
			 const struct pair *receiver)
{
	const struct live_note n = { LIVE_ARRIVED, q->qpn, m->request.number, WC_SUCCESS,
				     receiver->qpn };

	m->is_spread = is_to_group(m);
	if (!m->is_spread) {
		m->has_landed = true;
		m->is_over = m->is_done;
	}
	clock_program_notify(e, q->of, &n);
}

void clock_pairs_events(struct engine *e, const struct external_event *n)
{
	struct pair *q = n->owner;
	struct message *m = clock_pair_message(q, n->number);

	if (n->kind == EXTERNAL_ARRIVED && n->took_receive)
		receive_taken(n->receiver);
	if (!m)
		return;
	if (n->kind == EXTERNAL_DONE) {
		if (!m->is_done)
			tell_done(e, q, n->number, n->status);
		return;
	}
	if (n->kind == EXTERNAL_ARRIVED)
		tell_arrived(e, q, m, n->receiver);
	else
		lose(e, q, m);
	messages_clear(e, q);
}
