/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "hca/external_qp.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/ring.h"
#include "hca/external_qp_internal.h"
#include "hca/objects.h"
#include "transport/responder_rules.h"

#define ZEROS     (UINT64_C(2) << 20)     /* bytes that are mapped */
#define REGION    (WR_MAX_LENGTH + ZEROS) /* repeatedly, up to this length */
#define NO_QP_QPN 0xfffff0u               /* no queue pair has this number */

/* ---- memory: the length of the longest message, all of it on the same pages */

static uint8_t *map_zeros(void)
{
	int file = memfd_create("heddle-nothing", MFD_CLOEXEC);
	uint8_t *all = MAP_FAILED;

	if (file >= 0 && ftruncate(file, (off_t)ZEROS) == 0)
		all = mmap(NULL, REGION, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			   0);
	for (uint64_t at = 0; all != MAP_FAILED && at < REGION; at += ZEROS)
		if (mmap(all + at, ZEROS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
			 0) == MAP_FAILED) {
			munmap(all, REGION);
			all = MAP_FAILED;
		}
	if (file >= 0)
		close(file);
	return all == MAP_FAILED ? NULL : all;
}

static struct message_host *host_at(struct external_qps *all, struct v_device *dev)
{
	const struct message_memory memory = { all->zeros, REGION,
					       ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE |
						       ACCESS_REMOTE_READ | ACCESS_REMOTE_ATOMIC };

	hca_message_host_need(&all->hosts[dev->host], dev, &memory);
	return &all->hosts[dev->host];
}

static const struct message_host *host_of(const struct external_qp *q)
{
	return &q->all->hosts[q->qp->dev->host];
}

/* ---- all of them */

static void qp_free_now(struct external_qp *q);
static void srq_free_now(struct external_srq *srq);

struct external_qps *external_qps_new(struct fabric *fabric, const struct hca_profile *profile,
				      struct sim *sim)
{
	struct external_qps *all = hd_alloc(1, sizeof(*all));

	all->zeros = map_zeros();
	if (!all->zeros) {
		free(all);
		return NULL;
	}
	all->lab = lab_new(fabric, profile);
	all->lab->external = all;
	all->hosts = hd_alloc(lab_hosts(all->lab), sizeof(*all->hosts));
	all->sim = sim;
	lab_use_sim(all->lab, sim);
	return all;
}

void external_qps_free(struct external_qps *all)
{
	if (!all)
		return;
	for (struct external_qp *q = all->first, *next; q; q = next) {
		next = q->next;
		qp_free_now(q);
	}
	for (struct external_srq *srq = all->srqs, *next; srq; srq = next) {
		next = srq->next;
		srq_free_now(srq);
	}
	for (uint32_t i = 0; i < lab_hosts(all->lab); i++)
		v_pd_free(all->hosts[i].pd);
	lab_free(all->lab);
	munmap(all->zeros, REGION);
	free(all->lost);
	free(all->hosts);
	free(all);
}

hd_time external_qps_now(const struct external_qps *all)
{
	return all->lab->now;
}

/* ---- a queue pair */

static void on_completion(void *context)
{
	struct message_end *e = context;
	struct external_qps *all = ((struct external_qp *)e->of)->all;

	sim_pause(all->sim);
	if (e->is_waiting)
		return;
	e->is_waiting = true;
	e->next = all->waiting;
	all->waiting = e;
}

static void on_received(void *context)
{
	struct external_qp *q = ((struct message_end *)context)->of;

	q->slots = ring_grow(q->slots, &q->size, q->first, q->last, sizeof(*q->slots));
	q->slots[q->last++ % q->size] = (struct recv_slot){ NULL, 0 };
	on_completion(context);
}

static void end_unlink(struct message_end *e)
{
	struct message_end **at = &((struct external_qp *)e->of)->all->waiting;

	while (*at && *at != e)
		at = &(*at)->next;
	if (*at)
		*at = e->next;
	e->is_waiting = false;
}

static void end_fini(struct message_end *e)
{
	end_unlink(e);
	v_cq_free(e->cq);
}

static struct v_device *device_at(struct external_qps *all, port_id port)
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

	if (!dev || p->max_send == 0 || p->max_send > V_MAX_QP_WR || p->max_recv > V_MAX_QP_WR)
		return NULL;
	struct external_qp *q = hd_alloc(1, sizeof(*q));

	*q = (struct external_qp){
		.all = all, .owner = owner, .srq = p->srq, .next = all->first, .link = &all->first
	};
	if (q->srq)
		q->srq->users++;
	hca_message_end_init(&q->sends, q, dev, p->max_send, on_completion);
	/* UC writes have an entry, too; their number has no limit. */
	hca_message_end_init(&q->receives, q, dev, V_MAX_CQE, on_received);
	const struct v_qp_init init = {
		.kind = p->kind,
		.send_cq = q->sends.cq,
		.recv_cq = q->receives.cq,
		.srq = p->srq ? p->srq->srq : NULL,
		.max_send = p->max_send,
		.max_recv = p->max_recv + 1,
		.max_sge = 1,
	};

	q->qp = v_qp_new(host_at(all, dev)->pd, &init);
	if (q->next)
		q->next->link = &q->next;
	all->first = q;
	return q;
}

/* Removes all references to it. */
static void forget(struct external_qp *q)
{
	struct external_qps *all = q->all;

	for (struct external_qp *o = all->first; o; o = o->next) {
		if (o->peer == q)
			o->peer = NULL;
		for (uint32_t i = o->first; i != o->last; i++)
			if (o->slots[i % o->size].from == q)
				o->slots[i % o->size].from = NULL;
	}
	for (uint32_t i = all->head; i != all->tail; i++)
		if (all->lost[i % all->places].from == q)
			all->lost[i % all->places].from = NULL;
}

static void qp_free_now(struct external_qp *q)
{
	*q->link = q->next;
	if (q->next)
		q->next->link = q->link;
	forget(q);
	v_qp_free(q->qp);
	end_fini(&q->sends);
	end_fini(&q->receives);
	if (q->srq)
		q->srq->users--;
	free(q->in_flight);
	free(q->slots);
	free(q);
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
	const struct message_host *host = host_at(all, dev);
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
	v_srq_free(srq->srq);
	free(srq);
}

void external_srq_release(struct external_srq *srq)
{
	srq->is_released = true;
	if (srq->users == 0)
		srq_free_now(srq);
}

/* Frees what was released and owes no answer any more. */
static void free_released(struct external_qps *all)
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

static enum qp_kind kind_of(const struct external_qp *q)
{
	return qp_params(q->qp->qp)->kind;
}

enum hd_status external_qp_connect(struct external_qp *q, struct external_qp *peer,
				   const struct qp_attr *a)
{
	struct qp_attr attr = *a;
	uint32_t most = kind_of(q) == QP_UD ? 0 : v_path_mtu(q->qp->dev, a->dlid);

	attr.access = ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ | ACCESS_REMOTE_ATOMIC;
	attr.mtu = most && most < a->mtu ? most : a->mtu;
	attr.dest_qpn = peer ? v_qpn(peer->qp) : NO_QP_QPN;
	q->peer = peer;
	return message_connect(q->qp, &attr, QPS_RTR);
}

enum hd_status external_qp_start(struct external_qp *q, const struct qp_attr *a)
{
	q->psn = a->sq_psn;
	return message_connect(q->qp, a, QPS_RTS);
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

bool external_qp_receive(struct external_qp *q)
{
	const struct recv_wr wr = hca_message_receive(host_of(q), WR_MAX_LENGTH);

	return v_post_recv(q->qp, &wr) == HD_OK;
}

bool external_srq_receive(struct external_srq *srq)
{
	const struct recv_wr wr = hca_message_receive(srq->host, WR_MAX_LENGTH);

	return v_post_srq(srq->srq, &wr) == HD_OK;
}

/* A message takes one PSN per packet; a read, per packet of its answer. */
static void in_flight_put(struct external_qp *q, const struct send_wr *wr)
{
	uint32_t length = wr->n_sge ? wr->sge[0].length : 0;
	uint32_t n = length ? (length - 1) / q->qp->mtu + 1 : 1;

	q->in_flight = ring_grow(q->in_flight, &q->places, q->head, q->tail, sizeof(*q->in_flight));
	q->in_flight[q->tail++ % q->places] = (struct in_flight_message){
		.number = wr->id, .psn = q->psn, .packets = n, .kind = wr->kind
	};
	q->psn = psn_add(q->psn, n);
}

static void set_destination(const struct external_qp *q, const struct external_qp *to,
			    struct wr_datagram *out)
{
	bool is_group = out->dlid >= LID_FIRST_MCAST;

	out->qpn = is_group ? V_MULTICAST : to ? v_qpn(to->qp) : NO_QP_QPN;
	out->pd = host_of(q)->pd->number;
	q->qp->sl = out->sl;
}

bool external_qp_send(struct external_qp *q, const struct external_qp *to, const struct send_wr *wr)
{
	const struct v_mr *here = host_of(q)->mr;
	const struct v_mr *there = q->peer ? host_of(q->peer)->mr : here;
	struct send_wr own;

	send_wr_copy(&own, wr);
	own.flags = WR_SIGNALED;
	own.sge[0].addr = v_mr_addr(here);
	own.sge[0].lkey = v_mr_key(here);
	own.remote_addr = v_mr_addr(there);
	own.rkey = v_mr_key(there);
	if (kind_of(q) == QP_UD)
		set_destination(q, to, &own.to);
	if (v_post_send(q->qp, &own) != HD_OK)
		return false;
	in_flight_put(q, &own);
	device_activate(q->qp->dev, q->qp);
	device_send(q->qp->dev);
	return true;
}

/* ---- messages in flight */

static struct in_flight_message *in_flight_numbered(const struct external_qp *q, uint64_t number)
{
	for (uint32_t i = q->head; i != q->tail; i++)
		if (q->in_flight[i % q->places].number == number)
			return &q->in_flight[i % q->places];
	return NULL;
}

uint32_t external_qp_psn(const struct external_qp *q, uint64_t number)
{
	const struct in_flight_message *f = in_flight_numbered(q, number);

	return f ? f->psn : q->psn;
}

struct in_flight_message *external_in_flight_with(const struct external_qp *q, uint32_t psn,
						  uint32_t *before)
{
	for (uint32_t i = q->head; i != q->tail; i++) {
		struct in_flight_message *f = &q->in_flight[i % q->places];

		*before = (psn - f->psn) & PSN_MASK;
		if (*before < f->packets)
			return f;
	}
	return NULL;
}

/* The message of a request, and its sender; or NULL. */
static struct in_flight_message *message_of(const struct lab *lab, const struct hca_slot *s,
					    struct external_qp **from)
{
	const struct v_qp *qp = hca_slot_sender(lab, s);
	uint32_t before;

	if (!qp)
		return NULL;
	*from = external_of(qp->send_cq);
	return external_in_flight_with(*from, s->packet.bth.psn, &before);
}

static void in_flight_end(struct external_qp *q, struct in_flight_message *f)
{
	f->is_over = true;
	while (q->head != q->tail && q->in_flight[q->head % q->places].is_over)
		q->head++;
}

void external_qp_arrived(struct v_qp *to, const struct hca_slot *last)
{
	struct external_qp *q = external_of(to->recv_cq), *from;
	struct in_flight_message *f = message_of(to->dev->lab, last, &from);

	if (!f || (kind_of(from) == QP_RC && f->kind == WR_WRITE))
		return;
	if (!responder_takes_receive(f->kind)) {
		const struct completion written = { .kind = WC_WRITE };

		hca_cq_push(to->recv_cq, &written, to->dev->visible);
	}
	q->slots[(q->last - 1) % q->size] = (struct recv_slot){ from, f->number };
	if (last->packet.lrh.dlid >= LID_FIRST_MCAST)
		f->unreported++;
	else if (kind_of(from) != QP_RC)
		in_flight_end(from, f);
}

static void put_lost(struct external_qp *from, struct in_flight_message *f)
{
	struct external_qps *all = from->all;

	all->lost = ring_grow(all->lost, &all->places, all->head, all->tail, sizeof(*all->lost));
	all->lost[all->tail++ % all->places] = (struct recv_slot){ from, f->number };
	in_flight_end(from, f);
	sim_pause(all->sim);
}

/* An arrival of a message to a group has been reported. */
static void group_reported(const struct recv_slot *s)
{
	struct in_flight_message *f = s->from ? in_flight_numbered(s->from, s->number) : NULL;

	if (f && f->unreported > 0 && --f->unreported == 0 && f->has_ended)
		put_lost(s->from, f);
}

void external_packet_over(struct lab *lab, const struct hca_slot *s)
{
	const unsigned last = OPCODE_LAST | OPCODE_ONLY;
	struct external_qp *from;

	if (!s->tells || !(opcode_flags(s->packet.bth.opcode) & last))
		return;
	struct in_flight_message *f = message_of(lab, s, &from);

	if (!f || f->is_over)
		return;
	f->has_ended = true;
	if (f->unreported == 0)
		put_lost(from, f);
}

/* ---- events */

/* The end with the earliest completion; or NULL. */
static struct message_end *earliest(const struct external_qps *all)
{
	struct message_end *first = NULL;

	for (struct message_end *e = all->waiting; e; e = e->next)
		if (!first ||
		    cq_at(e->cq, e->cq->head)->when < cq_at(first->cq, first->cq->head)->when)
			first = e;
	return first;
}

static struct completion take_first(struct message_end *e)
{
	const struct completion wc = cq_at(e->cq, e->cq->head++)->wc;

	if (e->cq->head == e->cq->tail)
		end_unlink(e);
	return wc;
}

/* A receive that was taken by a message without a sender is posted again. */
static void repost(struct external_qp *q, const struct completion *wc)
{
	if (wc->status == WC_SUCCESS && wc->kind != WC_WRITE)
		(void)!(q->srq ? external_srq_receive(q->srq) : external_qp_receive(q));
}

/* These three: false if there is no event to report. */
static bool report_arrived(struct message_end *e, struct external_event *out)
{
	struct external_qp *q = e->of;
	const struct completion wc = take_first(e);
	const struct recv_slot s = q->slots[q->first++ % q->size];

	group_reported(&s);
	if (q->is_released)
		return false;
	if (wc.status != WC_SUCCESS || !s.from || s.from->is_released) {
		repost(q, &wc);
		return false;
	}
	*out = (struct external_event){ .kind = EXTERNAL_ARRIVED,
					.owner = s.from->owner,
					.receiver = q->owner,
					.took_receive = wc.kind != WC_WRITE,
					.number = s.number };
	return true;
}

static bool report_done(struct message_end *e, struct external_event *out)
{
	struct external_qp *q = e->of;
	const struct completion wc = take_first(e);

	if (q->is_released)
		return false;
	/* An acknowledged message does not arrive again. */
	while (kind_of(q) == QP_RC && q->head != q->tail &&
	       q->in_flight[q->head % q->places].number <= wc.id)
		q->head++;
	*out = (struct external_event){
		.kind = EXTERNAL_DONE, .owner = q->owner, .number = wc.id, .status = wc.status
	};
	return true;
}

static bool report_lost(struct external_qps *all, struct external_event *out)
{
	while (all->head != all->tail) {
		const struct recv_slot s = all->lost[all->head++ % all->places];

		if (!s.from || s.from->is_released)
			continue;
		*out = (struct external_event){ .kind = EXTERNAL_LOST,
						.owner = s.from->owner,
						.number = s.number };
		return true;
	}
	return false;
}

static bool report(struct message_end *e, struct external_event *out)
{
	return e == &((struct external_qp *)e->of)->receives ? report_arrived(e, out)
							     : report_done(e, out);
}

bool external_qps_next(struct external_qps *all, hd_time until, struct external_event *out)
{
	for (;;) {
		struct message_end *e = earliest(all);
		hd_time due = e ? cq_at(e->cq, e->cq->head)->when : NEVER;

		if (report_lost(all, out))
			return true;
		if (e && due <= all->lab->now) {
			if (report(e, out))
				return true;
			continue;
		}
		if (all->lab->now >= until) {
			*out = (struct external_event){ .kind = EXTERNAL_NOTHING };
			return true;
		}
		free_released(all);
		hd_time to = due < until ? due : until;
		enum sim_state state = sim_run(all->sim, to, NULL, NULL);

		all->lab->now = later(all->lab->now, sim_now(all->sim));
		if (state == SIM_PAUSED)
			continue;
		if (!e && !all->waiting && all->head == all->tail) {
			/* Timers without effect may have been popped since the last event. */
			if (until < HD_TIME_NEVER)
				all->lab->now = later(all->lab->now, until);
			return false;
		}
		if (e)
			all->lab->now = later(all->lab->now, to);
	}
}
