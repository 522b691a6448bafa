/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "live/verbs/backend.h"
#include "live/verbs/roce.h"
#include "live/verbs/timed.h"
#include "live/verbs/verbs_internal.h"
#include "transport/codes.h"

uint64_t verbs_now_ns(void)
{
	struct timespec t;

	verbs_real_clock(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- receives */

int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct soft_qp *q = qp_of(qp);
	struct shared_qp *s = q->shared;
	uint32_t n = 0;
	int error = 0;

	if (context_is_inherited(qp->context)) {
		*bad = wr;
		return EPERM;
	}
	pthread_mutex_lock(&q->post);
	if (atomic_load(&s->state) == IBV_QPS_RESET || q->init.srq || !q->init.recv_cq)
		error = EINVAL;
	for (; wr && !error; wr = error ? wr : wr->next) {
		error = verbs_ring_post(verbs_adapter.memory, &s->ring, wr);
		n += !error;
	}
	if (error)
		*bad = wr;
	if (is_timed())
		timed_receive(q, n);
	/* A concurrent flush may have missed these receives. */
	if (atomic_load(&s->state) == IBV_QPS_ERR) {
		verbs_lock(&s->lock);
		if (atomic_load(&s->state) == IBV_QPS_ERR)
			verbs_qp_flush_receives(verbs_adapter.self, s);
		verbs_unlock(&s->lock);
	}
	pthread_mutex_unlock(&q->post);
	return error;
}

/* ---- sends: operations that can be posted */

enum {
	RC = 1 << IBV_QPT_RC | 1 << IBV_QPT_XRC_SEND,
	UC = 1 << IBV_QPT_UC,
	UD = 1 << IBV_QPT_UD,
};

static const struct {
	uint16_t kinds;    /* 1 << enum ibv_qp_type */
	bool reads;        /* the operation returns data */
	bool is_extension; /* verbs_has_extensions */
} operations[] = {
	[IBV_WR_RDMA_WRITE] = { RC | UC },
	[IBV_WR_RDMA_WRITE_WITH_IMM] = { RC | UC },
	[IBV_WR_SEND] = { RC | UC | UD },
	[IBV_WR_SEND_WITH_IMM] = { RC | UC | UD },
	[IBV_WR_RDMA_READ] = { RC, .reads = true },
	[IBV_WR_ATOMIC_CMP_AND_SWP] = { RC, .reads = true },
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = { RC, .reads = true },
	[IBV_WR_LOCAL_INV] = { RC | UC, .is_extension = true },
	[IBV_WR_BIND_MW] = { RC | UC, .is_extension = true },
	[IBV_WR_SEND_WITH_INV] = { RC | UC, .is_extension = true },
	[IBV_WR_ATOMIC_WRITE] = { RC, .is_extension = true },
};

static bool is_operation(enum ibv_qp_type type, uint32_t opcode)
{
	return opcode < sizeof(operations) / sizeof(operations[0]) && (unsigned)type < 16 &&
	       operations[opcode].kinds >> type & 1 &&
	       (!operations[opcode].is_extension || verbs_has_extensions());
}

/* Flag and opcode have the same number in verbs, except for the last opcode. */
uint64_t post_operation_flag(uint32_t opcode)
{
	return opcode == IBV_WR_ATOMIC_WRITE ? (uint64_t)IBV_QP_EX_WITH_ATOMIC_WRITE
					     : UINT64_C(1) << opcode;
}

_Static_assert(IBV_QP_EX_WITH_RDMA_WRITE == 1 << IBV_WR_RDMA_WRITE &&
		       IBV_QP_EX_WITH_SEND == 1 << IBV_WR_SEND &&
		       IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD == 1 << IBV_WR_ATOMIC_FETCH_AND_ADD &&
		       IBV_QP_EX_WITH_SEND_WITH_INV == 1 << IBV_WR_SEND_WITH_INV,
	       "bit of an operation");

uint64_t post_operations(enum ibv_qp_type type)
{
	uint64_t ops = 0;

	for (uint32_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		if (is_operation(type, i))
			ops |= post_operation_flag(i);
	return ops;
}

bool post_reads(uint32_t opcode)
{
	return operations[opcode].reads;
}

static bool is_possible(const struct soft_qp *q, const struct ibv_send_wr *wr)
{
	return is_operation(q->init.qp_type, wr->opcode) && wr->num_sge >= 0 &&
	       (uint32_t)wr->num_sge <= q->init.cap.max_send_sge &&
	       !(wr->send_flags & ~(unsigned)SEND_FLAGS) &&
	       !(wr->send_flags & IBV_SEND_INLINE && post_reads(wr->opcode));
}

static int take_inline(const struct soft_qp *q, const struct ibv_send_wr *wr, struct send_wqe *s)
{
	uint8_t *to = send_inline(q, s);

	if (s->length > q->init.cap.max_inline_data)
		return EINVAL;
	for (int i = 0; i < wr->num_sge; i++) {
		memcpy(to, at_address(wr->sg_list[i].addr), wr->sg_list[i].length);
		to += wr->sg_list[i].length;
	}
	s->n_sge = 0;
	return 0;
}

void post_address(const struct soft_qp *q, struct send_wqe *s, const struct ah *ah, uint32_t qpn,
		  uint32_t qkey)
{
	s->dest_qpn = qpn;
	/* If the highest bit is set, the Q_Key of the queue pair is used. */
	s->qkey = (qkey & UINT32_C(0x80000000)) ? q->attr.qkey : qkey;
	s->dlid = ah->dlid;
	s->sl = ah->sl;
	s->path_bits = ah->path_bits;
	s->global = ah->global;
	s->dgid = ah->dgid;
	s->hop_limit = ah->hop_limit;
	s->traffic_class = ah->traffic_class;
	s->flow_label = ah->flow_label;
}

static int take_address(const struct soft_qp *q, const struct ibv_send_wr *wr, struct send_wqe *s)
{
	if (!wr->wr.ud.ah || !verbs_pd_is_same(wr->wr.ud.ah->pd, q->ibv.pd))
		return EINVAL;
	post_address(q, s, container(wr->wr.ud.ah, struct ah, ibv), wr->wr.ud.remote_qpn,
		     wr->wr.ud.remote_qkey);
	return 0;
}

/*
 * Returns an errno. The parameters of the binding are copied: the window may be deallocated before
 * the request is executed.
 */
int post_take_bind(struct send_wqe *s, const struct ibv_mw *mw, uint32_t key,
		   const struct ibv_mw_bind_info *info)
{
	if (!mw || (info->length > 0 && !info->mr))
		return EINVAL;
	s->bind = (struct window_bind){ .window = mw->rkey,
					.key = key,
					.lkey = info->mr ? info->mr->lkey : 0,
					.access = info->mw_access_flags,
					.addr = info->addr,
					.length = info->length };
	return 0;
}

/* Stores a request in the ring at `at`; returns an errno. With `send`. */
static int take(struct soft_qp *q, const struct ibv_send_wr *wr, uint64_t at)
{
	struct send_wqe *s = send_at(q, at);
	bool atomic = wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
		      wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;

	if (!is_possible(q, wr))
		return EINVAL;
	s->wr_id = wr->wr_id;
	s->opcode = wr->opcode;
	s->flags = wr->send_flags | (q->init.sq_sig_all ? (uint32_t)IBV_SEND_SIGNALED : 0);
	s->imm = wr->imm_data;
	s->srqn = wr->qp_type.xrc.remote_srqn;
	s->n_sge = (uint32_t)wr->num_sge;
	s->length = 0;
	for (int i = 0; i < wr->num_sge; i++) {
		s->sge[i] = (struct live_piece){ wr->sg_list[i].addr, wr->sg_list[i].length,
						 wr->sg_list[i].lkey };
		s->length += wr->sg_list[i].length;
	}
	s->rkey = atomic ? wr->wr.atomic.rkey : wr->wr.rdma.rkey;
	s->remote_addr = atomic ? wr->wr.atomic.remote_addr : wr->wr.rdma.remote_addr;
	if (atomic) {
		s->compare = wr->wr.atomic.compare_add;
		s->swap = wr->wr.atomic.swap;
	}
	int error = 0;

	if (q->init.qp_type == IBV_QPT_UD)
		error = take_address(q, wr, s);
	else if (wr->opcode == IBV_WR_BIND_MW)
		error = post_take_bind(s, wr->bind_mw.mw, wr->bind_mw.rkey, &wr->bind_mw.bind_info);

	if (!error && wr->send_flags & IBV_SEND_INLINE)
		error = take_inline(q, wr, s);
	return error;
}

/* ---- sends: completion and errors */

static enum ibv_wc_opcode completion_opcode(uint32_t opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return IBV_WC_RDMA_WRITE;
	case IBV_WR_ATOMIC_WRITE:
		return IBV_WC_ATOMIC_WRITE;
	case IBV_WR_BIND_MW:
		return IBV_WC_BIND_MW;
	case IBV_WR_LOCAL_INV:
		return IBV_WC_LOCAL_INV;
	case IBV_WR_RDMA_READ:
		return IBV_WC_RDMA_READ;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return IBV_WC_COMP_SWAP;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return IBV_WC_FETCH_ADD;
	default:
		return IBV_WC_SEND;
	}
}

/* False if the completion queue overran; the queue pair then fails. */
static bool complete(struct soft_qp *q, const struct send_wqe *s, const struct result *r)
{
	struct new_completion c = {
		.cqe = { .wr_id = s->wr_id,
			 .status = (uint8_t)r->status,
			 .opcode = (uint8_t)completion_opcode(s->opcode),
			 .byte_len = r->byte_len,
			 .qpn = q->ibv.qp_num },
	};

	if (r->status == IBV_WC_SUCCESS && !(s->flags & IBV_SEND_SIGNALED))
		return true;
	return verbs_cq_add(verbs_adapter.self, container(q->init.send_cq, struct cq, ibv)->index,
			    &c, NULL);
}

/* Errors of UD and UC move the queue pair to SQE, errors of other types to ERR. */
static void stop(struct soft_qp *q)
{
	if (verbs_is_reliable(q->init.qp_type)) {
		verbs_qp_fail(q, (enum ibv_event_type)NO_EVENT);
		return;
	}
	uint32_t rts = IBV_QPS_RTS;

	atomic_compare_exchange_strong(&q->shared->state, &rts, IBV_QPS_SQE);
	verbs_qp_flush_sends(q);
}

/* `is_waiting` changes under both locks, so either lock permits reading it. */
static void enlist(struct soft_qp *q)
{
	const struct notification wake = { 0 };

	if (q->is_waiting)
		return;
	pthread_mutex_lock(&verbs_adapter.waiting_lock);
	q->is_waiting = true;
	q->next_waiting = verbs_adapter.waiting;
	verbs_adapter.waiting = q;
	verbs_adapter.n_waiting++;
	pthread_mutex_unlock(&verbs_adapter.waiting_lock);
	/* Lets the background thread compute the time of the next retry. */
	verbs_peer_notify(verbs_adapter.self, &wake);
}

/* Sets the interval of retries by the background thread, and the end of the wait. */
static void wait_for(struct soft_qp *q, enum waiting why, const struct result *r)
{
	enum { PS = 1000, LEAST = 50000, MOST = 2000000 };
	uint64_t step, tries;

	if (q->waits == why)
		return;
	q->waits = why;
	q->since = verbs_now_ns();
	if (why == WAIT_RECEIVE) {
		step = qp_rnr_delay(r->rnr_timer) / PS;
		tries = q->attr.rnr_retry;
		/* 7: no limit of retries. */
		q->until = tries == 7 ? 0 : q->since + step * tries;
	} else {
		step = q->attr.timeout ? qp_ack_timeout(q->attr.timeout) / PS : 0;
		tries = q->attr.retry_cnt + 1U;
		q->until = step ? q->since + step * tries : 0;
	}
	step = step < LEAST ? LEAST : step > MOST ? MOST : step;
	q->next_try = q->since + step;
	enlist(q);
}

/* True if the wait has exceeded its limit; false if it continues. */
static bool has_failed(struct soft_qp *q, enum outcome o, struct result *r)
{
	enum waiting why = o == NO_RECEIVE ? WAIT_RECEIVE : WAIT_ANSWER;

	wait_for(q, why, r);
	if (q->until == 0 || verbs_now_ns() < q->until)
		return false;
	r->status = o == NO_RECEIVE ? IBV_WC_RNR_RETRY_EXC_ERR : IBV_WC_RETRY_EXC_ERR;
	return true;
}

/* End of the sends to process: sends posted in SQD wait for RTS. */
static uint64_t limit_of(const struct soft_qp *q)
{
	return atomic_load(&q->shared->state) == IBV_QPS_SQD ? q->drain : q->tail;
}

/* Completes the first send in the ring. */
static void finish(struct soft_qp *q, const struct result *r)
{
	bool fits = complete(q, send_at(q, q->head), r);

	q->waits = WAIT_NOT;
	q->head++;
	if (r->status != IBV_WC_SUCCESS)
		stop(q);
	else if (!fits)
		verbs_qp_fail(q, IBV_EVENT_QP_FATAL);
}

void post_arrived(struct soft_qp *q, uint64_t number, bool has_failed)
{
	uint64_t end = has_failed ? number : number + 1;

	for (; q->arrived < end; q->arrived++) {
		struct result r = { .status = IBV_WC_SUCCESS };
		struct send_wqe *s = send_at(q, q->arrived);

		/* The responder has ended, although the message has arrived. */
		if (verbs_execute_send(q, s, &r) != DONE)
			r.status = IBV_WC_RETRY_EXC_ERR;
		s->status = (uint32_t)r.status;
	}
}

void post_finish(struct soft_qp *q, enum ibv_wc_status status)
{
	struct result r = {
		.status = status,
		.byte_len = (uint32_t)send_at(q, q->head)->length,
	};

	(void)verbs_fault_complete(q, &r.status);
	finish(q, &r);
}

void post_done(struct soft_qp *q, uint64_t number, enum ibv_wc_status status)
{
	bool was_draining = q->head < q->drain;

	while (q->head <= number && q->head < q->given) {
		const struct send_wqe *s = send_at(q, q->head);

		post_finish(q, q->head < q->arrived ? (enum ibv_wc_status)s->status : status);
	}
	if (was_draining && q->head >= q->drain)
		verbs_qp_notify_drained(q);
}

void post_run(struct soft_qp *q)
{
	bool was_draining = q->head < q->drain;

	while (q->head < limit_of(q)) {
		uint32_t state = atomic_load(&q->shared->state);
		struct send_wqe *s = send_at(q, q->head);
		struct result r = { .status = IBV_WC_SUCCESS };

		if (state == IBV_QPS_ERR || state == IBV_QPS_SQE) {
			verbs_qp_flush_sends(q);
			return;
		}
		if (state != IBV_QPS_RTS && state != IBV_QPS_SQD)
			return;
		if (is_timed()) {
			timed_give(q, limit_of(q));
			if (timed_has_engine())
				return;
			post_done(q, q->head, IBV_WC_RETRY_EXC_ERR);
			continue;
		}
		if (verbs_is_roce()) {
			verbs_roce_submit(q, limit_of(q));
			return;
		}
		enum outcome o = DONE;

		if (verbs_fault_is_not_ready(q))
			o = NO_RECEIVE;
		else if (!verbs_fault_complete(q, &r.status))
			o = verbs_execute_send(q, s, &r);
		if (o != DONE && !has_failed(q, o, &r))
			return;
		finish(q, &r);
	}
	if (was_draining && q->head >= q->drain)
		verbs_qp_notify_drained(q);
}

int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct soft_qp *q = qp_of(qp);
	int error = 0;

	if (context_is_inherited(qp->context)) {
		*bad = wr;
		return EPERM;
	}
	pthread_mutex_lock(&q->send);
	uint32_t state = atomic_load(&q->shared->state);

	if (state < IBV_QPS_RTS || state > IBV_QPS_ERR)
		error = EINVAL;
	for (; wr && !error; wr = error ? wr : wr->next) {
		if (q->tail - q->head >= q->init.cap.max_send_wr)
			error = ENOMEM;
		else
			error = verbs_fault_post(q);
		if (!error)
			error = take(q, wr, q->tail);
		if (error)
			break;
		q->tail++;
		if (q->waits == WAIT_NOT)
			post_run(q);
	}
	if (error)
		*bad = wr;
	pthread_mutex_unlock(&q->send);
	return error;
}

/* ---- retries */

/* Removes queue pairs that no longer wait from the list. */
static void delist(struct soft_qp **link)
{
	struct soft_qp *q = *link;

	*link = q->next_waiting;
	q->is_waiting = false;
	verbs_adapter.n_waiting--;
}

/* True if the queue pair no longer waits; with `send`. */
static bool retry(struct soft_qp *q, bool only_due)
{
	enum { RETRY_STEP = 500000 }; /* ns */

	if (q->waits != WAIT_NOT && (!only_due || q->next_try <= verbs_now_ns())) {
		post_run(q);
		q->next_try = verbs_now_ns() + RETRY_STEP;
	}
	return q->waits == WAIT_NOT;
}

void post_retry(bool only_due)
{
	if (pthread_mutex_trylock(&verbs_adapter.waiting_lock) != 0)
		return;
	struct soft_qp **link = &verbs_adapter.waiting;

	while (*link) {
		struct soft_qp *q = *link;
		bool done;

		/* The thread that holds the lock processes the sends. */
		if (pthread_mutex_trylock(&q->send) != 0) {
			link = &q->next_waiting;
			continue;
		}
		done = retry(q, only_due);
		if (done)
			delist(link);
		else
			link = &q->next_waiting;
		pthread_mutex_unlock(&q->send);
	}
	pthread_mutex_unlock(&verbs_adapter.waiting_lock);
}

uint64_t post_due(void)
{
	uint64_t due = UINT64_MAX;

	pthread_mutex_lock(&verbs_adapter.waiting_lock);
	for (const struct soft_qp *q = verbs_adapter.waiting; q; q = q->next_waiting)
		if (q->next_try < due)
			due = q->next_try;
	pthread_mutex_unlock(&verbs_adapter.waiting_lock);
	return due;
}

void post_forget(const struct soft_qp *q)
{
	struct soft_qp **link = &verbs_adapter.waiting;

	pthread_mutex_lock(&verbs_adapter.waiting_lock);
	while (*link && *link != q)
		link = &(*link)->next_waiting;
	if (*link)
		delist(link);
	pthread_mutex_unlock(&verbs_adapter.waiting_lock);
}
