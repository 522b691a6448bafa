/* SPDX-License-Identifier: BSD-2-Clause */
#include "hca/external_qp.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "hca/external_qp_internal.h"
#include "wire/headers.h"

#define REGION    (WR_MAX_LENGTH + GRH_SIZE)
#define NO_QP_QPN 0xfffff0u /* no queue pair has this number */

/* ---- all of them */

static struct external_host *host_at(struct external_qps *all, struct v_device *dev)
{
	struct external_host *h = &all->hosts[dev->host];

	if (!h->pd) {
		h->pd = v_pd_new(dev);
		h->mr = v_mr_new(h->pd, NULL, REGION,
				 ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ |
					 ACCESS_REMOTE_ATOMIC,
				 0);
	}
	return h;
}

static const struct external_host *host_of(const struct external_qp *q)
{
	return &q->all->hosts[q->qp->dev->host];
}

struct external_qps *external_qps_open(struct lab *lab, void (*note)(struct external_end *e))
{
	struct external_qps *all = hd_alloc(1, sizeof(*all));

	*all = (struct external_qps){
		.lab = lab,
		.hosts = hd_alloc(lab->n_devices, sizeof(*all->hosts)),
		.note = note,
	};
	lab->external = all;
	external_qps_cut(all, 1);
	return all;
}

void external_qps_cut(struct external_qps *all, uint32_t n)
{
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	all->waiting = hd_realloc(all->waiting, n, sizeof(*all->waiting));
	for (; all->n_parts < n; all->n_parts++)
		all->waiting[all->n_parts] = NULL;
}

static void end_fini(struct external_end *e)
{
	if (e->cq)
		v_cq_free(e->cq);
}

/* Frees everything except the queue pair of the adapter. */
static void qp_end(struct external_qp *q)
{
	end_fini(&q->sends);
	end_fini(&q->receives);
	external_followed_free(q->followed);
	free(q);
}

static void srq_end(struct external_srq *srq)
{
	v_srq_free(srq->srq);
	free(srq);
}

void external_qps_close(struct external_qps *all)
{
	for (struct external_qp *q = all->first, *next; q; q = next) {
		next = q->next;
		qp_end(q);
	}
	for (struct external_srq *srq = all->srqs, *next; srq; srq = next) {
		next = srq->next;
		srq_end(srq);
	}
	for (uint32_t i = 0; i < all->lab->n_devices; i++)
		v_pd_free(all->hosts[i].pd);
	free(all->waiting);
	free(all->lost);
	free(all->hosts);
	free(all);
}

/* ---- a queue pair */

static void on_completion(void *context)
{
	struct external_end *e = context;

	e->of->all->note(e);
}

void external_end_unlink(struct external_end *e)
{
	if (!e->is_waiting)
		return;
	struct external_end **at = &e->of->all->waiting[e->cq->dev->lab->number];

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	e->is_waiting = false;
}

static void end_init(struct external_end *e, struct external_qp *q, struct v_device *dev,
		     uint32_t entries)
{
	*e = (struct external_end){ .of = q, .cq = v_cq_new(dev, entries, NULL) };
	e->cq->note = on_completion;
	e->cq->context = e;
}

struct external_qp *external_qp_make(struct external_qps *all, struct v_device *dev,
				     const struct external_qp_params *p, void *owner)
{
	if (p->max_send > V_MAX_QP_WR || p->max_recv > V_MAX_QP_WR || p->max_send + p->max_recv < 1)
		return NULL;
	struct external_qp *q = hd_alloc(1, sizeof(*q));

	*q = (struct external_qp){
		.all = all, .owner = owner, .srq = p->srq, .next = all->first, .link = &all->first
	};
	if (q->srq)
		q->srq->users++;
	if (p->max_send)
		end_init(&q->sends, q, dev, p->max_send);
	/* UC writes create entries, too, without a limit. */
	if (p->max_recv)
		end_init(&q->receives, q, dev, V_MAX_CQE);
	const struct v_qp_init init = {
		.kind = p->kind,
		.send_cq = q->sends.cq ? q->sends.cq : q->receives.cq,
		.recv_cq = q->receives.cq ? q->receives.cq : q->sends.cq,
		.srq = p->srq ? p->srq->srq : NULL,
		.max_send = p->max_send ? p->max_send : 1,
		.max_recv = p->max_recv,
		.max_sge = 1,
	};

	q->qp = v_qp_new(host_at(all, dev)->pd, &init);
	if (all->lab->follows)
		q->followed = hd_alloc(1, sizeof(*q->followed));
	if (q->next)
		q->next->link = &q->next;
	all->first = q;
	return q;
}

static struct v_device *device_at(const struct external_qps *all, port_id port)
{
	const struct lab *lab = all->lab;

	for (uint32_t i = 0; i < lab->n_devices; i++)
		if (lab->fabric->setup.ports[lab->devices[i].port].origin == port)
			return &lab->devices[i];
	return NULL;
}

struct external_qp *external_qp_new(struct external_qps *all, const struct external_qp_params *p,
				    void *owner)
{
	struct v_device *dev = device_at(all, p->port);

	return dev && p->max_recv ? external_qp_make(all, dev, p, owner) : NULL;
}

static void qp_free_now(struct external_qp *q)
{
	*q->link = q->next;
	if (q->next)
		q->next->link = q->link;
	external_forget(q);
	v_qp_free(q->qp);
	external_end_unlink(&q->sends);
	external_end_unlink(&q->receives);
	if (q->srq)
		q->srq->users--;
	qp_end(q);
}

void external_qp_release(struct external_qp *q)
{
	q->is_released = true;
	q->owner = NULL;
	if (!qp_has_answer(q->qp->qp))
		qp_free_now(q);
}

/* ---- shared receive queues */

struct external_srq *external_srq_new(struct external_qps *all, port_id port, uint32_t max)
{
	struct v_device *dev = device_at(all, port);

	if (!dev || max == 0 || max > V_MAX_QP_WR)
		return NULL;
	const struct external_host *host = host_at(all, dev);
	struct external_srq *srq = hd_alloc(1, sizeof(*srq));

	*srq = (struct external_srq){
		.srq = v_srq_new(host->pd, max),
		.host = host,
		.next = all->srqs,
		.link = &all->srqs,
	};
	if (srq->next)
		srq->next->link = &srq->next;
	all->srqs = srq;
	return srq;
}

static void srq_free_now(struct external_srq *srq)
{
	*srq->link = srq->next;
	if (srq->next)
		srq->next->link = srq->link;
	srq_end(srq);
}

void external_srq_release(struct external_srq *srq)
{
	srq->is_released = true;
	if (srq->users == 0)
		srq_free_now(srq);
}

void external_free_released(struct external_qps *all)
{
	for (struct external_qp *q = all->first, *next; q; q = next) {
		next = q->next;
		if (q->is_released && !qp_has_answer(q->qp->qp))
			qp_free_now(q);
	}
	for (struct external_srq *srq = all->srqs, *next; srq; srq = next) {
		next = srq->next;
		if (srq->is_released && srq->users == 0)
			srq_free_now(srq);
	}
}

/* ---- connecting */

/* Steps through the states up to `to`. */
static enum hd_status step_to(struct v_qp *qp, const struct qp_attr *a, enum qp_state to)
{
	enum qp_kind kind = qp_params(qp->qp)->kind;
	enum hd_status status = HD_OK;
	struct qp_attr next = *a;

	for (next.state = qp_state(qp->qp); next.state < to && status == HD_OK;) {
		next.state++;
		status = v_modify(qp, &next, qp_step_mask(kind, next.state));
	}
	return status;
}

enum hd_status external_qp_connect(struct external_qp *q, struct external_qp *peer,
				   const struct qp_attr *a)
{
	struct qp_attr attr = *a;
	uint32_t most = external_kind(q) == QP_UD ? 0 : v_path_mtu(q->qp->dev, a->dlid);

	attr.access = ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ | ACCESS_REMOTE_ATOMIC;
	attr.mtu = most && most < a->mtu ? most : a->mtu;
	attr.dest_qpn = peer ? v_qpn(peer->qp) : NO_QP_QPN;
	q->peer = peer;
	return step_to(q->qp, &attr, QPS_RTR);
}

enum hd_status external_qp_start(struct external_qp *q, const struct qp_attr *a)
{
	if (q->followed)
		q->followed->psn = a->sq_psn;
	return step_to(q->qp, a, QPS_RTS);
}

enum hd_status external_qp_join(struct external_qp *q, lid_t mlid, const uint8_t mgid[16])
{
	return v_attach(q->qp, mlid, mgid);
}

void external_qp_leave(struct external_qp *q, lid_t mlid, const uint8_t mgid[16])
{
	v_detach(q->qp, mlid, mgid);
}

/* ---- posting */

static struct recv_wr receive_of(const struct external_host *h)
{
	return (struct recv_wr){
		.n_sge = 1,
		.sge[0] = { v_mr_addr(h->mr), REGION, v_mr_key(h->mr) },
	};
}

bool external_qp_receive(struct external_qp *q)
{
	const struct recv_wr wr = receive_of(host_of(q));

	return v_post_recv(q->qp, &wr) == HD_OK;
}

bool external_srq_receive(struct external_srq *srq)
{
	const struct recv_wr wr = receive_of(srq->host);

	return v_post_srq(srq->srq, &wr) == HD_OK;
}

static void set_destination(const struct external_qp *q, const struct external_qp *to,
			    struct wr_datagram *out)
{
	bool is_group = out->dlid >= LID_FIRST_MCAST;

	out->qpn = is_group ? V_MULTICAST : to ? v_qpn(to->qp) : NO_QP_QPN;
	out->pd = host_of(q)->pd->number;
	q->qp->sl = out->sl;
}

bool external_qp_post(struct external_qp *q, const struct external_qp *to, struct send_wr *wr)
{
	const struct v_mr *here = host_of(q)->mr;
	const struct v_mr *there = q->peer ? host_of(q->peer)->mr : here;

	wr->flags = WR_SIGNALED;
	wr->sge[0].addr = v_mr_addr(here);
	wr->sge[0].lkey = v_mr_key(here);
	wr->remote_addr = v_mr_addr(there);
	wr->rkey = v_mr_key(there);
	if (external_kind(q) == QP_UD)
		set_destination(q, to, &wr->to);
	if (!q->sends.cq || v_post_send(q->qp, wr) != HD_OK)
		return false;
	if (q->followed)
		external_follow(q, wr);
	return true;
}

void external_qp_ring(struct external_qp *q)
{
	device_activate(q->qp->dev, q->qp);
	device_send(q->qp->dev);
}

bool external_qp_send(struct external_qp *q, const struct external_qp *to, const struct send_wr *wr)
{
	struct send_wr own;

	send_wr_copy(&own, wr);
	if (!external_qp_post(q, to, &own))
		return false;
	external_qp_ring(q);
	return true;
}
