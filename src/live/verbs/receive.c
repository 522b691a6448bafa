/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "live/verbs/roce.h"
#include "live/verbs/timed.h"
#include "live/verbs/verbs_internal.h"

/* ---- rings */

static size_t stride(uint32_t max_sge)
{
	return sizeof(struct shared_receive) + max_sge * sizeof(struct live_piece);
}

int verbs_ring_create(struct shared_ring *r, uint32_t depth, uint32_t max_sge)
{
	*r = (struct shared_ring){ .size = depth, .max_sge = max_sge };
	if (depth > 0)
		r->at = verbs_memory_alloc(depth * stride(max_sge));
	return depth > 0 && r->at == 0 ? ENOMEM : 0;
}

void verbs_ring_free(struct shared_ring *r)
{
	if (r->at)
		verbs_memory_free(r->at, r->size * stride(r->max_sge));
}

static struct shared_receive *ring_entry(struct program_memory *m, const struct shared_ring *r,
					 uint64_t n)
{
	return memory_at(m, r->at + n % r->size * stride(r->max_sge));
}

/*
 * True if the ring has room. A completion becomes visible just before its receive's entry is free;
 * a program that polls it and posts the next receive waits here for that entry. If the sender was
 * killed in between, the next holder of the lock recovers the ring.
 */
static bool has_room(struct shared_ring *r, uint64_t tail)
{
	const uint64_t patience = 1000000000; /* ns */
	uint64_t since = 0;

	for (;;) {
		/*
		 * This order is required: an entry that is being taken may be free at the second
		 * load.
		 */
		bool is_taken = atomic_load_explicit(&r->taking, memory_order_acquire);

		if (tail - atomic_load(&r->head) < r->size)
			return true;
		if (!is_taken)
			return false;
		since = since ? since : verbs_now_ns();
		if (verbs_now_ns() - since > patience)
			return false;
		sched_yield();
	}
}

int verbs_ring_post(struct program_memory *m, struct shared_ring *r, const struct ibv_recv_wr *wr)
{
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > r->max_sge)
		return EINVAL;
	if (!has_room(r, tail))
		return ENOMEM;
	struct shared_receive *e = ring_entry(m, r, tail);

	e->wr_id = wr->wr_id;
	e->n_sge = (uint32_t)wr->num_sge;
	for (int i = 0; i < wr->num_sge; i++)
		e->sge[i] = (struct live_piece){ wr->sg_list[i].addr, wr->sg_list[i].length,
						 wr->sg_list[i].lkey };
	atomic_store_explicit(&r->tail, tail + 1, memory_order_release);
	return 0;
}

const struct shared_receive *verbs_ring_first(struct program_memory *m, const struct shared_ring *r)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);

	if (r->size == 0 || head == atomic_load_explicit(&r->tail, memory_order_acquire))
		return NULL;
	return ring_entry(m, r, head);
}

/* ---- shared receive queues */

static struct srq *srq_of(struct ibv_srq *srq)
{
	return container(srq, struct srq, ibv);
}

static int shared_make(struct srq *srq, const struct ibv_srq_init_attr_ex *init)
{
	static uint32_t serials;

	pthread_mutex_lock(&verbs_adapter.lock);
	srq->index = verbs_id_alloc(&verbs_adapter.srq_numbers);
	uint32_t serial = ++serials;

	pthread_mutex_unlock(&verbs_adapter.lock);
	if (srq->index == NO_INDEX)
		return ENOMEM;
	struct shared_srq *s = &verbs_adapter.memory->srqs[srq->index];

	srq->shared = s;
	verbs_row_clear(&s->lock, &s->has_lock, sizeof(*s));
	s->pd = container(init->pd, struct pd, ibv)->id;
	s->serial = serial;
	s->limit = init->attr.srq_limit;
	s->cq = srq->cq ? srq->cq->index : NO_INDEX;
	if (verbs_ring_create(&s->ring, init->attr.max_wr, init->attr.max_sge) == 0) {
		atomic_store(&s->xrcd, srq->xrcd ? srq->xrcd->id : 0);
		return 0;
	}
	pthread_mutex_lock(&verbs_adapter.lock);
	verbs_id_free(&verbs_adapter.srq_numbers, srq->index);
	pthread_mutex_unlock(&verbs_adapter.lock);
	return ENOMEM;
}

/* Adds references to the objects that the queue uses. */
static void use(const struct srq *srq, int more)
{
	container(srq->ibv.pd, struct pd, ibv)->users += (uint32_t)more;
	if (!srq->xrcd)
		return;
	srq->xrcd->users += (uint32_t)more;
	pthread_mutex_lock(&verbs_adapter.lock);
	srq->cq->users += (uint32_t)more;
	pthread_mutex_unlock(&verbs_adapter.lock);
}

static struct srq *srq_new(struct ibv_srq_init_attr_ex *init)
{
	struct srq *srq = calloc(1, sizeof(*srq));

	if (!srq)
		return NULL;
	if (init->attr.max_sge == 0)
		init->attr.max_sge = 1;
	if (init->srq_type == IBV_SRQT_XRC) {
		srq->xrcd = container(init->xrcd, struct xrcd, ibv);
		srq->cq = container(init->cq, struct cq, ibv);
	}
	if (shared_make(srq, init) != 0) {
		free(srq);
		return NULL;
	}
	srq->ibv.context = init->pd->context;
	srq->ibv.srq_context = init->srq_context;
	srq->ibv.pd = init->pd;
	srq->ibv.handle = (uint32_t)srq->index;
	pthread_mutex_init(&srq->ibv.mutex, NULL);
	pthread_cond_init(&srq->ibv.cond, NULL);
	pthread_mutex_init(&srq->post, NULL);
	use(srq, 1);
	pthread_mutex_lock(&verbs_adapter.lock);
	verbs_adapter.srqs[srq->index] = srq;
	pthread_mutex_unlock(&verbs_adapter.lock);
	if (is_timed())
		timed_shared(srq, true);
	return srq;
}

/* Returns an errno. */
static int check_init(const struct ibv_srq_init_attr_ex *a)
{
	const uint32_t basic = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
	const uint32_t xrc = basic | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
	bool is_xrc = a->comp_mask & IBV_SRQ_INIT_ATTR_TYPE && a->srq_type == IBV_SRQT_XRC &&
		      verbs_has_extensions();

	if (a->comp_mask & ~(is_xrc ? xrc : basic) ||
	    (a->comp_mask & IBV_SRQ_INIT_ATTR_TYPE && !is_xrc && a->srq_type != IBV_SRQT_BASIC))
		return EOPNOTSUPP;
	if (!(a->comp_mask & IBV_SRQ_INIT_ATTR_PD) || (is_xrc && a->comp_mask != xrc) ||
	    a->attr.max_wr == 0 || a->attr.max_wr > MAX_DEPTH || a->attr.max_sge > most_sge())
		return EINVAL;
	return context_is_inherited(a->pd->context) ||
			       (is_xrc && context_is_inherited(a->cq->context))
		       ? EPERM
		       : 0;
}

struct ibv_srq *verbs_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	struct ibv_srq_init_attr_ex init = *attr;
	int error = check_init(attr);

	(void)context;
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE))
		init.srq_type = IBV_SRQT_BASIC;
	struct srq *srq = error ? NULL : srq_new(&init);

	if (!srq) {
		errno = error ? error : ENOMEM;
		return NULL;
	}
	attr->attr = init.attr;
	return &srq->ibv;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
	struct ibv_srq_init_attr_ex all = { .srq_context = init->srq_context,
					    .attr = init->attr,
					    .comp_mask = IBV_SRQ_INIT_ATTR_PD,
					    .pd = pd };
	struct ibv_srq *srq = verbs_create_srq_ex(pd->context, &all);

	init->attr = all.attr;
	return srq;
}

int verbs_get_srq_num(struct ibv_srq *srq, uint32_t *number)
{
	*number = (uint32_t)srq_of(srq)->index;
	return 0;
}

int ibv_modify_srq(struct ibv_srq *ibv, struct ibv_srq_attr *attr, int mask)
{
	struct srq *srq = srq_of(ibv);

	if (context_is_inherited(ibv->context))
		return EPERM;
	if (mask & ~IBV_SRQ_LIMIT)
		return EOPNOTSUPP;
	if (mask & IBV_SRQ_LIMIT) {
		if (attr->srq_limit >= srq->shared->ring.size)
			return EINVAL;
		atomic_store(&srq->shared->limit, attr->srq_limit);
	}
	return 0;
}

int ibv_query_srq(struct ibv_srq *ibv, struct ibv_srq_attr *attr)
{
	const struct shared_srq *s = srq_of(ibv)->shared;

	if (context_is_inherited(ibv->context))
		return EPERM;
	*attr = (struct ibv_srq_attr){ s->ring.size, s->ring.max_sge, atomic_load(&s->limit) };
	return 0;
}

static void shared_end(struct srq *srq)
{
	verbs_await_acknowledged(&srq->ibv.mutex, &srq->ibv.cond, &srq->got_async,
				 &srq->ibv.events_completed);
	if (is_timed())
		timed_shared(srq, false);
	/* A peer may be delivering to an XRC queue, whose target queue pair still exists. */
	if (verbs_lock(&srq->shared->lock))
		verbs_ring_recover(verbs_adapter.memory, &srq->shared->ring);
	atomic_store(&srq->shared->xrcd, 0);
	verbs_ring_free(&srq->shared->ring);
	verbs_unlock(&srq->shared->lock);
	pthread_mutex_lock(&verbs_adapter.lock);
	verbs_id_free(&verbs_adapter.srq_numbers, srq->index);
	pthread_mutex_unlock(&verbs_adapter.lock);
}

int ibv_destroy_srq(struct ibv_srq *ibv)
{
	struct srq *srq = srq_of(ibv);
	bool inherited = context_is_inherited(ibv->context);

	pthread_mutex_lock(&verbs_adapter.lock);
	bool busy = srq->users > 0;

	if (!busy && !inherited)
		verbs_adapter.srqs[srq->index] = NULL;
	pthread_mutex_unlock(&verbs_adapter.lock);
	if (busy)
		return EBUSY;
	if (!inherited)
		shared_end(srq);
	use(srq, -1);
	free(srq);
	return 0;
}

int verbs_post_srq_recv(struct ibv_srq *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct srq *srq = srq_of(ibv);
	uint32_t n = 0;
	int error = 0;

	if (context_is_inherited(ibv->context)) {
		*bad = wr;
		return EPERM;
	}
	pthread_mutex_lock(&srq->post);
	while (wr && !error) {
		error = verbs_ring_post(verbs_adapter.memory, &srq->shared->ring, wr);
		if (error)
			*bad = wr;
		else
			wr = wr->next;
		n += !error;
	}
	if (is_timed())
		timed_shared_receive(srq, n);
	pthread_mutex_unlock(&srq->post);
	return error;
}
