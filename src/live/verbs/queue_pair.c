/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/iba.h"
#include "live/protocol.h"
#include "live/verbs/roce.h"
#include "live/verbs/timed.h"
#include "live/verbs/verbs_internal.h"

/* ---- creation */

/* True if the type has a send queue; a receive queue. */
static bool has_sends(enum ibv_qp_type type)
{
	return type != IBV_QPT_XRC_RECV;
}

static bool has_receives(enum ibv_qp_type type)
{
	return type != IBV_QPT_XRC_RECV && type != IBV_QPT_XRC_SEND;
}

static bool is_foreign_cq(const struct ibv_cq *cq)
{
	return cq && context_is_inherited(cq->context);
}

static int check_caps(const struct ibv_qp_init_attr *a)
{
	const struct ibv_qp_cap *c = &a->cap;
	bool is_xrc = a->qp_type == IBV_QPT_XRC_SEND || a->qp_type == IBV_QPT_XRC_RECV;

	if (a->qp_type != IBV_QPT_RC && a->qp_type != IBV_QPT_UC && a->qp_type != IBV_QPT_UD &&
	    !(is_xrc && verbs_has_extensions()))
		return EOPNOTSUPP;
	if (is_foreign_cq(a->send_cq) || is_foreign_cq(a->recv_cq) ||
	    (a->srq && context_is_inherited(a->srq->context)))
		return EPERM;
	if ((has_sends(a->qp_type) && !a->send_cq) || (has_receives(a->qp_type) && !a->recv_cq) ||
	    (a->srq && container(a->srq, struct srq, ibv)->xrcd) || c->max_send_wr > MAX_DEPTH ||
	    c->max_recv_wr > MAX_DEPTH || c->max_send_sge > most_sge() ||
	    c->max_recv_sge > most_sge() || c->max_inline_data > MAX_INLINE)
		return EINVAL;
	return 0;
}

/* Grants at least one entry of each kind, and room for inline data. */
static void grant_caps(struct ibv_qp_init_attr *a)
{
	struct ibv_qp_cap *c = &a->cap;

	if (!has_sends(a->qp_type))
		a->send_cq = NULL;
	if (!has_receives(a->qp_type)) {
		a->recv_cq = NULL;
		a->srq = NULL;
	}
	if (c->max_send_wr == 0)
		c->max_send_wr = 1;
	if (c->max_send_sge == 0)
		c->max_send_sge = 1;
	if (c->max_recv_sge == 0)
		c->max_recv_sge = 1;
	if (a->srq || !a->recv_cq)
		c->max_recv_wr = c->max_recv_sge = 0;
	if (c->max_inline_data < CARRIED)
		c->max_inline_data = CARRIED;
}

static int shared_make(struct soft_qp *q, const struct ibv_qp_init_attr *a, const struct ibv_pd *pd)
{
	pthread_mutex_lock(&verbs_adapter.lock);
	q->index = verbs_id_alloc(&verbs_adapter.qp_numbers);
	pthread_mutex_unlock(&verbs_adapter.lock);
	if (q->index == NO_INDEX)
		return ENOMEM;
	struct shared_qp *s = &verbs_adapter.memory->qps[q->index];

	q->shared = s;
	verbs_row_clear(&s->lock, &s->has_lock, sizeof(*s));
	s->type = (uint32_t)a->qp_type;
	s->pd = pd ? container(pd, struct pd, ibv)->id : 0;
	s->xrcd = q->xrcd ? q->xrcd->id : 0;
	s->recv_cq = a->recv_cq ? container(a->recv_cq, struct cq, ibv)->index : NO_INDEX;
	s->srq = a->srq ? container(a->srq, struct srq, ibv)->index : NO_INDEX;
	if (verbs_ring_create(&s->ring, a->cap.max_recv_wr, a->cap.max_recv_sge) == 0)
		return 0;
	pthread_mutex_lock(&verbs_adapter.lock);
	verbs_id_free(&verbs_adapter.qp_numbers, q->index);
	pthread_mutex_unlock(&verbs_adapter.lock);
	return ENOMEM;
}

static int sends_make(struct soft_qp *q)
{
	const struct ibv_qp_cap *c = &q->init.cap;
	size_t stride = sizeof(struct send_wqe) + c->max_send_sge * sizeof(struct live_piece) +
			c->max_inline_data;

	q->stride = (uint32_t)((stride + 15) / 16 * 16);
	q->ring = calloc(c->max_send_wr, q->stride);
	return q->ring ? 0 : ENOMEM;
}

static void use(const struct soft_qp *q, int more)
{
	const struct ibv_qp_init_attr *a = &q->init;

	pthread_mutex_lock(&verbs_adapter.lock);
	if (a->send_cq)
		container(a->send_cq, struct cq, ibv)->users += (uint32_t)more;
	if (a->recv_cq)
		container(a->recv_cq, struct cq, ibv)->users += (uint32_t)more;
	if (a->srq)
		container(a->srq, struct srq, ibv)->users += (uint32_t)more;
	if (q->ibv.pd)
		container(q->ibv.pd, struct pd, ibv)->users += (uint32_t)more;
	if (q->xrcd)
		q->xrcd->users += (uint32_t)more;
	pthread_mutex_unlock(&verbs_adapter.lock);
}

static void present(struct soft_qp *q, struct ibv_pd *pd)
{
	q->ibv.context = pd ? pd->context : q->xrcd->ibv.context;
	q->ibv.qp_context = q->init.qp_context;
	q->ibv.pd = pd;
	q->ibv.send_cq = q->init.send_cq;
	q->ibv.recv_cq = q->init.recv_cq;
	q->ibv.srq = q->init.srq;
	q->ibv.handle = (uint32_t)q->index;
	q->ibv.qp_num = live_qpn(verbs_adapter.number, (uint32_t)q->index);
	q->ibv.state = IBV_QPS_RESET;
	q->ibv.qp_type = q->init.qp_type;
	pthread_mutex_init(&q->ibv.mutex, NULL);
	pthread_cond_init(&q->ibv.cond, NULL);
	pthread_mutex_init(&q->post, NULL);
	pthread_mutex_init(&q->send, NULL);
	use(q, 1);
	pthread_mutex_lock(&verbs_adapter.lock);
	verbs_adapter.qps[q->index] = q;
	atomic_store(&q->shared->qpn, q->ibv.qp_num);
	pthread_mutex_unlock(&verbs_adapter.lock);
}

static struct ibv_qp *refuse(struct soft_qp *q, int error)
{
	if (q)
		free(q->ring);
	free(q);
	errno = error;
	return NULL;
}

/* A target of XRC has a domain of XRC, any other queue pair a protection domain. */
static struct ibv_qp *qp_new(struct ibv_pd *pd, struct xrcd *xrcd, struct ibv_qp_init_attr *init)
{
	struct soft_qp *q = NULL;
	int error = check_caps(init);

	if (!error) {
		q = calloc(1, sizeof(*q));
		error = q ? 0 : ENOMEM;
	}
	if (!error) {
		grant_caps(init);
		q->init = *init;
		q->xrcd = xrcd;
		error = sends_make(q);
	}
	if (!error)
		error = shared_make(q, &q->init, pd);
	if (error)
		return refuse(q, error);
	present(q, pd);
	return &q->ibv;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	if (context_is_inherited(pd->context))
		return refuse(NULL, EPERM);
	if (init->qp_type == IBV_QPT_XRC_RECV)
		return refuse(NULL, verbs_has_extensions() ? EINVAL : EOPNOTSUPP);
	return qp_new(pd, NULL, init);
}

/* An errno: EOPNOTSUPP unless every bit has a meaning in this adapter. */
static int check_extension(const struct ibv_qp_init_attr_ex *a)
{
	bool is_target = a->qp_type == IBV_QPT_XRC_RECV && verbs_has_extensions();
	const uint32_t domain = is_target ? IBV_QP_INIT_ATTR_XRCD : IBV_QP_INIT_ATTR_PD;
	const uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
			       IBV_QP_INIT_ATTR_SEND_OPS_FLAGS | domain;

	if (a->comp_mask & ~known ||
	    (a->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS && a->create_flags) ||
	    (a->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS &&
	     a->send_ops_flags & ~post_operations(a->qp_type)))
		return EOPNOTSUPP;
	return (a->comp_mask & domain) ? 0 : EINVAL;
}

struct ibv_qp *verbs_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	int error = context_is_inherited(context) ? EPERM : check_extension(attr);
	/* The first members of both structures are the same. */
	struct ibv_qp_init_attr *plain = (struct ibv_qp_init_attr *)attr;

	if (error)
		return refuse(NULL, error);
	if (attr->qp_type == IBV_QPT_XRC_RECV)
		return qp_new(NULL, container(attr->xrcd, struct xrcd, ibv), plain);
	struct ibv_qp *qp = ibv_create_qp(attr->pd, plain);

	if (qp && attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		verbs_qp_fill_ex(qp_of(qp), attr->send_ops_flags);
	return qp;
}

/* ---- flushing */

void verbs_qp_flush_receives(struct peer_program *owner, struct shared_qp *s)
{
	const struct shared_receive *r;

	if (s->srq != NO_INDEX) {
		const struct notification last = { NEWS_QP, live_qpn_index(atomic_load(&s->qpn)),
						   IBV_EVENT_QP_LAST_WQE_REACHED,
						   atomic_load(&s->qpn) };

		verbs_peer_notify(owner, &last);
		return;
	}
	while ((r = verbs_ring_first(owner->memory, &s->ring))) {
		struct new_completion c = {
			.cqe = { .wr_id = r->wr_id,
				 .status = IBV_WC_WR_FLUSH_ERR,
				 .opcode = IBV_WC_RECV,
				 .qpn = atomic_load(&s->qpn) },
		};

		verbs_cq_add(owner, s->recv_cq, &c, &s->ring);
	}
}

void verbs_qp_flush_sends(struct soft_qp *q)
{
	while (q->head < q->tail) {
		const struct send_wqe *s = send_at(q, q->head);
		struct new_completion c = {
			.cqe = { .wr_id = s->wr_id,
				 .status = IBV_WC_WR_FLUSH_ERR,
				 .qpn = q->ibv.qp_num },
		};

		verbs_cq_add(verbs_adapter.self, container(q->init.send_cq, struct cq, ibv)->index,
			     &c, NULL);
		q->head++;
	}
	q->given = q->arrived = q->tail;
	q->waits = WAIT_NOT;
}

struct soft_qp *verbs_qp_lock(uint32_t qpn)
{
	pthread_mutex_lock(&verbs_adapter.lock);
	struct soft_qp *q = verbs_adapter.qps[live_qpn_index(qpn)];

	if (q && q->ibv.qp_num != qpn)
		q = NULL;
	if (q)
		pthread_mutex_lock(&q->send);
	pthread_mutex_unlock(&verbs_adapter.lock);
	return q;
}

void verbs_qp_fail(struct soft_qp *q, enum ibv_event_type event)
{
	struct shared_qp *s = q->shared;

	/* The receive that is being filled completes before the receives after it. */
	if (verbs_is_roce())
		verbs_roce_fail_qp(q);
	if (verbs_lock(&s->lock))
		verbs_ring_recover(verbs_adapter.memory, &s->ring);
	if (atomic_load(&s->state) != IBV_QPS_ERR) {
		atomic_store(&s->state, IBV_QPS_ERR);
		verbs_qp_flush_receives(verbs_adapter.self, s);
		if (event != (enum ibv_event_type)NO_EVENT) {
			const struct notification n = { NEWS_QP, (uint32_t)q->index,
							(uint32_t)event, q->ibv.qp_num };

			verbs_peer_notify(verbs_adapter.self, &n);
		}
	}
	verbs_unlock(&s->lock);
	verbs_qp_flush_sends(q);
	timed_flight_drop(q);
	if (is_timed())
		timed_pair(q);
}

/* ---- modification */

/* Checks the values of attributes; returns an errno. */
static int check_values(const struct soft_qp *q, const struct ibv_qp_attr *a, int mask,
			const struct live_port *port)
{
	if ((mask & IBV_QP_PORT &&
	     (a->port_num == 0 || a->port_num > verbs_adapter.node.n_ports)) ||
	    (mask & IBV_QP_PKEY_INDEX &&
	     (a->pkey_index >= port->n_pkeys || a->pkey_index >= LIVE_PKEYS)) ||
	    (mask & IBV_QP_PATH_MTU && (a->path_mtu < IBV_MTU_256 || a->path_mtu > IBV_MTU_4096 ||
					(uint8_t)a->path_mtu > port->mtu_cap)) ||
	    (mask & IBV_QP_AV && (a->ah_attr.sl > 15 || !is_path(&a->ah_attr))))
		return EINVAL;
	if (mask & IBV_QP_ACCESS_FLAGS && a->qp_access_flags & ~(unsigned)KNOWN_ACCESS)
		return EOPNOTSUPP;
	if (verbs_is_roce() &&
	    ((mask & IBV_QP_MAX_QP_RD_ATOMIC && a->max_rd_atomic > ROCE_READS) ||
	     (mask & IBV_QP_MAX_DEST_RD_ATOMIC && a->max_dest_rd_atomic > ROCE_READS)))
		return EINVAL;
	if ((mask & IBV_QP_TIMEOUT && a->timeout > 31) ||
	    (mask & IBV_QP_RETRY_CNT && a->retry_cnt > 7) ||
	    (mask & IBV_QP_RNR_RETRY && a->rnr_retry > 7) ||
	    (mask & IBV_QP_MIN_RNR_TIMER && a->min_rnr_timer > 31))
		return EINVAL;
	if (mask & IBV_QP_CUR_STATE && a->cur_qp_state != (enum ibv_qp_state)q->shared->state)
		return EINVAL;
	return 0;
}

/* Attributes that are stored without conversion. */
#define KEEP(flag, member)                          \
	do {                                        \
		if (mask & (flag))                  \
			q->attr.member = a->member; \
	} while (0)

static void keep_values(struct soft_qp *q, const struct ibv_qp_attr *a, int mask)
{
	KEEP(IBV_QP_ACCESS_FLAGS, qp_access_flags);
	KEEP(IBV_QP_PKEY_INDEX, pkey_index);
	KEEP(IBV_QP_PORT, port_num);
	KEEP(IBV_QP_QKEY, qkey);
	KEEP(IBV_QP_AV, ah_attr);
	KEEP(IBV_QP_PATH_MTU, path_mtu);
	KEEP(IBV_QP_TIMEOUT, timeout);
	KEEP(IBV_QP_RETRY_CNT, retry_cnt);
	KEEP(IBV_QP_RNR_RETRY, rnr_retry);
	KEEP(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	KEEP(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
	KEEP(IBV_QP_SQ_PSN, sq_psn);
	KEEP(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	KEEP(IBV_QP_PATH_MIG_STATE, path_mig_state);
	KEEP(IBV_QP_DEST_QPN, dest_qp_num);
	if (mask & IBV_QP_SQ_PSN)
		q->psn = a->sq_psn & 0xFFFFFF;
	if (mask & IBV_QP_EN_SQD_ASYNC_NOTIFY)
		q->wants_drained = a->en_sqd_async_notify;
}

/* Copies the attributes that peers use to shared memory; with both locks. */
static void share_values(struct soft_qp *q, const struct ibv_qp_attr *a, int mask)
{
	struct shared_qp *s = q->shared;

	s->port = q->port.id;
	s->access = q->attr.qp_access_flags;
	s->qkey = q->attr.qkey;
	s->dest_qpn = q->attr.dest_qp_num;
	s->min_rnr = q->attr.min_rnr_timer;
	s->max_dest_rd = q->attr.max_dest_rd_atomic;
	s->pkey_index = q->attr.pkey_index;
	s->pkey = q->port.pkeys[q->attr.pkey_index];
	s->mtu = q->init.qp_type == IBV_QPT_UD ? mtu_of_code(q->port.mtu)
					       : mtu_of_code(q->attr.path_mtu);
	if (mask & IBV_QP_RQ_PSN)
		s->rq_psn = a->rq_psn & 0xFFFFFF;
	q->path.generation = 0;
}

static void reset(struct soft_qp *q)
{
	struct shared_qp *s = q->shared;

	atomic_store(&s->ring.head, atomic_load(&s->ring.tail));
	s->ring.taking = 0;
	s->is_heard = 0;
	q->head = q->given = q->arrived = q->tail;
	q->drain = 0;
	q->waits = WAIT_NOT;
	q->attr = (struct ibv_qp_attr){ 0 };
	timed_flight_drop(q);
	verbs_peer_put(q->peer);
	q->peer = NULL;
	if (q->init.send_cq)
		verbs_cq_clean(container(q->init.send_cq, struct cq, ibv), q->ibv.qp_num);
	if (q->init.recv_cq)
		verbs_cq_clean(container(q->init.recv_cq, struct cq, ibv), q->ibv.qp_num);
}

void verbs_qp_notify_drained(struct soft_qp *q)
{
	const struct notification n = { NEWS_QP, (uint32_t)q->index, IBV_EVENT_SQ_DRAINED,
					q->ibv.qp_num };

	q->drain = 0;
	if (q->wants_drained)
		verbs_peer_notify(verbs_adapter.self, &n);
	q->wants_drained = false;
}

/* With `send`. */
static int change(struct soft_qp *q, const struct ibv_qp_attr *a, int mask)
{
	struct shared_qp *s = q->shared;
	enum ibv_qp_state from = (enum ibv_qp_state)atomic_load(&s->state);
	enum ibv_qp_state to = (mask & IBV_QP_STATE) ? a->qp_state : from;
	struct live_port port = q->port;
	int error = verbs_qp_transition_is_valid(q->init.qp_type, from, to, mask) ? 0 : EINVAL;

	if (!error && mask & (IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_AV | IBV_QP_PATH_MTU))
		error = verbs_query_live_port((mask & IBV_QP_PORT) ? a->port_num : q->attr.port_num,
					      &port);
	if (!error)
		error = check_values(q, a, mask, &port);
	if (error)
		return error;
	if (to == IBV_QPS_ERR) {
		verbs_qp_fail(q, (enum ibv_event_type)NO_EVENT);
	} else {
		if (verbs_lock(&s->lock))
			verbs_ring_recover(verbs_adapter.memory, &s->ring);
		q->port = port;
		if (to == IBV_QPS_RESET)
			reset(q);
		keep_values(q, a, mask);
		share_values(q, a, mask);
		atomic_store(&s->state, (uint32_t)to);
		verbs_unlock(&s->lock);
	}
	q->ibv.state = q->attr.qp_state = to;
	if (to == IBV_QPS_SQD && from != IBV_QPS_SQD) {
		q->drain = q->tail;
		if (q->head == q->tail)
			verbs_qp_notify_drained(q);
	}
	return 0;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct soft_qp *q = qp_of(qp);

	if (context_is_inherited(qp->context))
		return EPERM;
	if (atomic_load_explicit(&verbs_adapter.has_failed, memory_order_relaxed))
		return EIO;
	if (mask & IBV_QP_STATE &&
	    (attr->qp_state == IBV_QPS_RESET || attr->qp_state == IBV_QPS_ERR))
		timed_linger(q);
	pthread_mutex_lock(&q->send);
	int error = change(q, attr, mask);

	if (!error && is_timed() && attr->qp_state != IBV_QPS_ERR)
		timed_pair(q);
	if (!error && verbs_is_roce())
		verbs_roce_modify_qp(q);
	if (!error && mask & IBV_QP_STATE)
		post_run(q);
	pthread_mutex_unlock(&q->send);
	return error;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init)
{
	struct soft_qp *q = qp_of(qp);

	(void)mask;
	if (context_is_inherited(qp->context))
		return EPERM;
	pthread_mutex_lock(&q->send);
	*attr = q->attr;
	attr->qp_state = attr->cur_qp_state = (enum ibv_qp_state)atomic_load(&q->shared->state);
	attr->sq_psn = q->psn;
	attr->rq_psn = q->shared->rq_psn;
	attr->cap = q->init.cap;
	attr->sq_draining = attr->qp_state == IBV_QPS_SQD && q->head < q->tail;
	*init = q->init;
	qp->state = attr->qp_state;
	pthread_mutex_unlock(&q->send);
	return 0;
}

/* ---- destruction */

static void shared_end(struct soft_qp *q)
{
	struct ibv_qp *qp = &q->ibv;
	struct shared_qp *s = q->shared;

	timed_linger(q);
	pthread_mutex_lock(&verbs_adapter.lock);
	verbs_adapter.qps[q->index] = NULL;
	pthread_mutex_unlock(&verbs_adapter.lock);
	post_forget(q);
	verbs_await_acknowledged(&qp->mutex, &qp->cond, &q->got_async, &qp->events_completed);
	pthread_mutex_lock(&q->send);
	verbs_lock(&s->lock);
	atomic_store(&s->state, IBV_QPS_RESET);
	reset(q);
	atomic_store(&s->qpn, 0);
	verbs_unlock(&s->lock);
	if (is_timed())
		timed_pair(q);
	if (verbs_is_roce())
		verbs_roce_modify_qp(q);
	pthread_mutex_unlock(&q->send);
	verbs_ring_free(&s->ring);
	pthread_mutex_lock(&verbs_adapter.lock);
	verbs_id_free(&verbs_adapter.qp_numbers, q->index);
	pthread_mutex_unlock(&verbs_adapter.lock);
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	struct soft_qp *q = qp_of(qp);

	if (!context_is_inherited(qp->context))
		shared_end(q);
	use(q, -1);
	free(q->group.qpns);
	free(q->ring);
	free(q);
	return 0;
}

/* ---- multicast groups */

static int join(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid, bool joins)
{
	struct soft_qp *q = qp_of(qp);
	struct live_member m = {
		.program = verbs_adapter.number,
		.qpn = qp->qp_num,
		.port = q->attr.port_num ? q->attr.port_num : 1,
		.joins = joins,
		.mlid = lid,
	};

	if (context_is_inherited(qp->context))
		return EPERM;
	if (qp->qp_type != IBV_QPT_UD || lid < LID_FIRST_MCAST || gid->raw[0] != 0xFF)
		return EINVAL;
	/* RoCE has no multicast groups in this adapter. */
	if (verbs_is_roce())
		return EOPNOTSUPP;
	/* Sends in flight use the group's tables as they are before the queue pair leaves. */
	if (!joins)
		timed_linger(q);
	memcpy(m.mgid, gid->raw, sizeof(m.mgid));
	struct daemon_reply t = { .file = -1 };
	int error = verbs_daemon_call(LIVE_MEMBER, &m, sizeof(m), &t);

	if (!error && is_timed())
		timed_member(q, &m);
	return error;
}

int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	return join(qp, gid, lid, true);
}

int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	return join(qp, gid, lid, false);
}
