/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/verbs/timed.h"

#include <sched.h>
#include <string.h>

#include "live/verbs/backend.h"
#include "live/verbs/transport_names.h"

_Static_assert(sizeof(struct live_ring) == sizeof(struct notification),
	       "the engine writes to the same bell as peers");

static struct live_clock *clock_of(void)
{
	return &verbs_adapter.memory->head.clock;
}

/* ---- requests to the engine */

bool timed_has_engine(void)
{
	return atomic_load(&verbs_adapter.page->has_engine) != 0 && !verbs_adapter.is_lost;
}

void timed_meet(void)
{
	enum { REST = 2000000 }; /* ns */
	struct live_clock *c = clock_of();

	while (timed_has_engine()) {
		uint32_t seen = atomic_load(&c->called);

		if (atomic_load(&c->is_kept))
			return;
		live_sleep(&c->called, seen, REST);
	}
}

/* Posts a request. The engine takes requests at any time, so the wait for room in the ring ends. */
static void ask(const struct live_request *r)
{
	struct live_clock *c = clock_of();

	pthread_mutex_lock(&verbs_adapter.request_lock);
	uint64_t at = atomic_load(&c->posted);

	while (at - atomic_load(&c->taken) >= LIVE_REQUESTS && timed_has_engine())
		sched_yield();
	if (at - atomic_load(&c->taken) < LIVE_REQUESTS) {
		c->requests[at % LIVE_REQUESTS] = *r;
		timed_stir(verbs_adapter.memory);
		atomic_store(&c->posted, at + 1);
		/* Wakes the engine only if it has taken all earlier requests; it also polls. */
		if (at == atomic_load(&c->taken))
			live_wake(&c->waits);
	}
	pthread_mutex_unlock(&verbs_adapter.request_lock);
}

void timed_pair(const struct soft_qp *q)
{
	const struct ibv_qp_attr *a = &q->attr;
	enum qp_state state = transport_state(atomic_load(&q->shared->state));
	struct live_request r = {
		.kind = state == QPS_RESET || state == QPS_ERR ? LIVE_PAIR_GONE : LIVE_PAIR,
		.qpn = q->ibv.qp_num,
		.pair = {
			.kind = transport_kind(q->init.qp_type),
			.state = state,
			.port = q->port.id,
			.max_send = q->init.cap.max_send_wr,
			.max_recv = q->init.cap.max_recv_wr,
			.dest_qpn = a->dest_qp_num,
			.rq_psn = q->shared->rq_psn,
			.sq_psn = q->psn,
			.qkey = a->qkey,
			.shared = q->shared->srq,
			.mtu = q->shared->mtu,
			.slid = (uint16_t)(q->port.lid |
					   a->ah_attr.src_path_bits),
			.dlid = a->ah_attr.dlid,
			.pkey = q->shared->pkey,
			.sl = a->ah_attr.sl,
			.timeout = a->timeout,
			.retry = a->retry_cnt,
			.rnr_retry = a->rnr_retry,
			.min_rnr = a->min_rnr_timer,
			.max_rd = a->max_rd_atomic,
			.max_dest_rd = a->max_dest_rd_atomic,
		},
	};

	ask(&r);
}

void timed_member(const struct soft_qp *q, const struct live_member *m)
{
	struct live_request r = { .kind = m->joins ? LIVE_ATTACH : LIVE_DETACH,
				  .qpn = q->ibv.qp_num,
				  .pair = { .dlid = m->mlid } };

	memcpy(r.content.dgid, m->mgid, sizeof(r.content.dgid));
	ask(&r);
}

void timed_receive(const struct soft_qp *q, uint32_t n)
{
	const struct live_request r = { .kind = LIVE_RECEIVE, .qpn = q->ibv.qp_num, .number = n };

	if (n > 0)
		ask(&r);
}

void timed_shared_receive(const struct srq *srq, uint32_t n)
{
	const struct live_request r = { .kind = LIVE_SHARED_RECEIVE,
					.qpn = (uint32_t)srq->index,
					.number = n };

	if (n > 0)
		ask(&r);
}

void timed_shared(const struct srq *srq, bool is_there)
{
	const struct live_request r = {
		.kind = is_there ? LIVE_SHARED : LIVE_SHARED_GONE,
		.qpn = (uint32_t)srq->index,
		.number = srq->shared->ring.size,
	};

	ask(&r);
}

/*
 * Sets the destination of a datagram. A datagram above the MTU fails when it is executed, and
 * takes the time of one packet.
 */
static void address(const struct soft_qp *q, const struct send_wqe *s, struct live_request *r)
{
	r->length = s->length < q->shared->mtu ? s->length : q->shared->mtu;
	r->pair.dest_qpn = s->dest_qpn;
	r->pair.qkey = s->qkey;
	r->pair.dlid = s->dlid;
	r->pair.sl = s->sl;
	r->pair.global = s->global;
}

/* Content of the packets, for captures. */
static struct live_content content(struct soft_qp *q, struct send_wqe *s)
{
	bool is_inline = s->flags & IBV_SEND_INLINE;
	struct live_content c = {
		.at = (uintptr_t)(is_inline ? (void *)send_inline(q, s) : (void *)s->sge),
		.n_pieces = s->n_sge,
		.is_inline = is_inline,
		.remote_addr = s->remote_addr,
		.compare = s->compare,
		.swap = s->swap,
		.rkey = s->rkey,
		.imm = s->imm,
		.solicited = (s->flags & IBV_SEND_SOLICITED) != 0,
		.flow_label = s->flow_label,
		.hop_limit = s->hop_limit,
		.traffic_class = s->traffic_class,
	};

	(void)!verbs_locate_sges(q, s);
	verbs_port_gid(&q->port, c.sgid);
	memcpy(c.dgid, s->dgid.raw, sizeof(c.dgid));
	return c;
}

void timed_give(struct soft_qp *q, uint64_t limit)
{
	for (; q->given < limit; q->given++) {
		struct send_wqe *s = send_at(q, q->given);
		struct live_request r = {
			.kind = LIVE_SEND,
			.qpn = q->ibv.qp_num,
			.number = q->given,
			.length = s->length,
			.operation = transport_wr(s->opcode),
			.content = content(q, s),
		};

		s->is_over = 0;
		if (q->init.qp_type == IBV_QPT_UD)
			address(q, s, &r);
		ask(&r);
	}
}

void timed_polled(bool found)
{
	enum { REST = 2000000 }; /* ns */
	struct live_clock *c = clock_of();

	if (found) {
		timed_stir(verbs_adapter.memory);
		return;
	}
	uint32_t seen = atomic_load(&c->called);
	uint32_t polls = atomic_fetch_add(&c->polls, 1) + 1;

	if (atomic_load(&c->told) != atomic_load(&c->heard)) {
		timed_hear();
		return;
	}
	if (polls == LIVE_PATIENCE)
		live_wake(&c->waits);
	/* Nothing completes before time advances: yield the core. */
	if (polls >= LIVE_PATIENCE)
		live_sleep(&c->called, seen, REST);
}

/*
 * True if a send of UC or UD, which wait for no acknowledgement, has not left yet. Nothing leaves
 * through a port that is not active.
 */
static bool is_leaving(struct soft_qp *q)
{
	pthread_mutex_lock(&q->send);
	bool leaves = q->init.qp_type != IBV_QPT_RC && q->head < q->given &&
		      q->port.state == IBV_PORT_ACTIVE;

	pthread_mutex_unlock(&q->send);
	return leaves;
}

void timed_linger(struct soft_qp *q)
{
	while (is_timed() && timed_has_engine() &&
	       (atomic_load(&q->n_flights) > 0 || is_leaving(q))) {
		timed_hear();
		timed_polled(false);
	}
}

/* ---- notes of the engine */

static void take_note(const struct live_note *n)
{
	struct soft_qp *q = verbs_qp_lock(n->qpn);

	if (!q)
		return;
	/* An RC send that was flushed meanwhile is outside head..given. */
	if (q->init.qp_type != IBV_QPT_RC) {
		timed_flight_event(q, n);
	} else if (n->number >= q->head && n->number < q->given) {
		post_arrived(q, n->number, n->kind == LIVE_DONE && n->status != IBV_WC_SUCCESS);
		if (n->kind == LIVE_DONE)
			post_done(q, n->number, (enum ibv_wc_status)n->status);
	}
	pthread_mutex_unlock(&q->send);
}

void timed_mend(void)
{
	for (uint32_t i = 0; !timed_has_engine() && i < LIVE_QPS; i++) {
		pthread_mutex_lock(&verbs_adapter.lock);
		struct soft_qp *q = verbs_adapter.qps[i];

		if (q)
			pthread_mutex_lock(&q->send);
		pthread_mutex_unlock(&verbs_adapter.lock);
		if (!q)
			continue;
		/* Sends that have arrived succeed; the next one fails. */
		if (q->head < q->given)
			post_done(q, q->given - 1, IBV_WC_RETRY_EXC_ERR);
		timed_flight_drop(q);
		pthread_mutex_unlock(&q->send);
	}
}

void timed_hear(void)
{
	struct live_clock *c = clock_of();

	if (pthread_mutex_trylock(&verbs_adapter.notes_lock) != 0)
		return;
	uint64_t at = atomic_load(&c->heard);

	while (at != atomic_load(&c->told)) {
		const struct live_note n = c->notes[at % LIVE_NOTES];

		take_note(&n);
		timed_stir(verbs_adapter.memory);
		atomic_store(&c->heard, ++at);
	}
	pthread_mutex_unlock(&verbs_adapter.notes_lock);
}
