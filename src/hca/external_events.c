/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of programs outside of the simulation: those in flight, the positions of their packets,
 * and the events that report their results.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/ring.h"
#include "hca/external_qp_internal.h"
#include "hca/objects.h"
#include "transport/psn.h"
#include "transport/responder_rules.h"

/* ---- all of them */

/* For each completion of a receive there is a slot; others are filled in when it arrives. */
static void on_completion(struct external_end *e)
{
	struct external_qps *all = e->of->all;
	struct followed *f = e->of->followed;
	struct external_end **waiting = &all->waiting[e->cq->dev->lab->number];

	if (e == &e->of->receives) {
		f->slots = ring_grow(f->slots, &f->size, f->first, f->last, sizeof(*f->slots));
		f->slots[f->last++ % f->size] = (struct recv_slot){ NULL, 0 };
	}
	sim_pause(all->sim);
	if (e->is_waiting)
		return;
	e->is_waiting = true;
	e->next = *waiting;
	*waiting = e;
}

struct external_qps *external_qps_new(struct fabric *fabric, const struct hca_profile *profile,
				      struct sim *sim)
{
	struct lab *lab = lab_new(fabric, profile);
	struct external_qps *all = external_qps_open(lab, on_completion);

	lab->follows = true;
	all->sim = sim;
	lab_use_sim(lab, sim);
	return all;
}

void external_qps_free(struct external_qps *all)
{
	if (all)
		lab_free(all->lab);
}

hd_time external_qps_now(const struct external_qps *all)
{
	return all->lab->now;
}

/* ---- messages in flight */

/* A message takes one PSN per packet; a read, per packet of its answer. */
void external_follow(struct external_qp *q, const struct send_wr *wr)
{
	struct followed *f = q->followed;
	uint32_t n = wr_packets(wr->n_sge ? wr->sge[0].length : 0, q->qp->mtu);

	f->in_flight = ring_grow(f->in_flight, &f->places, f->head, f->tail, sizeof(*f->in_flight));
	f->in_flight[f->tail++ % f->places] = (struct in_flight_message){
		.number = wr->id, .psn = f->psn, .packets = n, .kind = wr->kind
	};
	f->psn = psn_add(f->psn, n);
}

void external_forget(struct external_qp *q)
{
	struct external_qps *all = q->all;

	for (struct external_qp *o = all->first; o; o = o->next) {
		struct followed *f = o->followed;

		if (o->peer == q)
			o->peer = NULL;
		for (uint32_t i = f->first; i != f->last; i++)
			if (f->slots[i % f->size].from == q)
				f->slots[i % f->size].from = NULL;
	}
	for (uint32_t i = all->head; i != all->tail; i++)
		if (all->lost[i % all->places].from == q)
			all->lost[i % all->places].from = NULL;
}

void external_followed_free(struct followed *f)
{
	if (!f)
		return;
	free(f->in_flight);
	free(f->slots);
	free(f);
}

static struct in_flight_message *in_flight_numbered(const struct external_qp *q, uint64_t number)
{
	const struct followed *f = q->followed;

	for (uint32_t i = f->head; i != f->tail; i++)
		if (f->in_flight[i % f->places].number == number)
			return &f->in_flight[i % f->places];
	return NULL;
}

uint32_t external_qp_psn(const struct external_qp *q, uint64_t number)
{
	const struct in_flight_message *m = in_flight_numbered(q, number);

	return m ? m->psn : q->followed->psn;
}

/* The message with this PSN, and the packets of it before that; or NULL. */
static struct in_flight_message *in_flight_with(const struct external_qp *q, uint32_t psn,
						uint32_t *before)
{
	const struct followed *f = q->followed;

	for (uint32_t i = f->head; i != f->tail; i++) {
		struct in_flight_message *m = &f->in_flight[i % f->places];

		*before = (psn - m->psn) & PSN_MASK;
		if (*before < m->packets)
			return m;
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
	return in_flight_with(*from, s->packet.bth.psn, &before);
}

static void in_flight_end(const struct external_qp *q, struct in_flight_message *m)
{
	struct followed *f = q->followed;

	m->is_over = true;
	while (f->head != f->tail && f->in_flight[f->head % f->places].is_over)
		f->head++;
}

void external_qp_arrived(struct v_qp *to, const struct hca_slot *last)
{
	struct external_qp *q = external_of(to->recv_cq), *from;
	struct in_flight_message *m = message_of(to->dev->lab, last, &from);

	if (!m || (external_kind(from) == QP_RC && m->kind == WR_WRITE))
		return;
	if (!responder_takes_receive(m->kind)) {
		const struct completion written = { .kind = WC_WRITE };

		hca_cq_push(to->recv_cq, &written, to->dev->visible);
	}
	q->followed->slots[(q->followed->last - 1) % q->followed->size] =
		(struct recv_slot){ from, m->number };
	if (last->packet.lrh.dlid >= LID_FIRST_MCAST)
		m->unreported++;
	else if (external_kind(from) != QP_RC)
		in_flight_end(from, m);
}

static void put_lost(struct external_qp *from, struct in_flight_message *m)
{
	struct external_qps *all = from->all;

	all->lost = ring_grow(all->lost, &all->places, all->head, all->tail, sizeof(*all->lost));
	all->lost[all->tail++ % all->places] = (struct recv_slot){ from, m->number };
	in_flight_end(from, m);
	sim_pause(all->sim);
}

/* An arrival of a message to a group has been reported. */
static void group_reported(const struct recv_slot *s)
{
	struct in_flight_message *m = s->from ? in_flight_numbered(s->from, s->number) : NULL;

	if (m && m->unreported > 0 && --m->unreported == 0 && m->has_ended)
		put_lost(s->from, m);
}

void external_packet_over(struct lab *lab, const struct hca_slot *s)
{
	const unsigned last = OPCODE_LAST | OPCODE_ONLY;
	struct external_qp *from;

	if (!s->tells || !(opcode_flags(s->packet.bth.opcode) & last))
		return;
	struct in_flight_message *m = message_of(lab, s, &from);

	if (!m || m->is_over)
		return;
	m->has_ended = true;
	if (m->unreported == 0)
		put_lost(from, m);
}

/* ---- events */

/* The end with the earliest completion; or NULL. */
static struct external_end *earliest(const struct external_qps *all)
{
	struct external_end *first = NULL;

	for (struct external_end *e = *all->waiting; e; e = e->next)
		if (!first ||
		    cq_at(e->cq, e->cq->head)->when < cq_at(first->cq, first->cq->head)->when)
			first = e;
	return first;
}

static struct completion take_first(struct external_end *e)
{
	const struct completion wc = cq_at(e->cq, e->cq->head++)->wc;

	if (e->cq->head == e->cq->tail)
		external_end_unlink(e);
	return wc;
}

/* A receive that was taken by a message without a sender is posted again. */
static void repost(struct external_qp *q, const struct completion *wc)
{
	if (wc->status == WC_SUCCESS && wc->kind != WC_WRITE)
		(void)!(q->srq ? external_srq_receive(q->srq) : external_qp_receive(q));
}

/* These three: false if there is no event to report. */
static bool report_arrived(struct external_end *e, struct external_event *out)
{
	struct external_qp *q = e->of;
	struct followed *f = q->followed;
	const struct completion wc = take_first(e);
	const struct recv_slot s = f->slots[f->first++ % f->size];

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

static bool report_done(struct external_end *e, struct external_event *out)
{
	struct external_qp *q = e->of;
	struct followed *f = q->followed;
	const struct completion wc = take_first(e);

	if (q->is_released)
		return false;
	/* An acknowledged message does not arrive again. */
	while (external_kind(q) == QP_RC && f->head != f->tail &&
	       f->in_flight[f->head % f->places].number <= wc.id)
		f->head++;
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

static bool report(struct external_end *e, struct external_event *out)
{
	return e == &e->of->receives ? report_arrived(e, out) : report_done(e, out);
}

bool external_qps_next(struct external_qps *all, hd_time until, struct external_event *out)
{
	for (;;) {
		struct external_end *e = earliest(all);
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
		external_free_released(all);
		hd_time to = due < until ? due : until;
		enum sim_state state = sim_run(all->sim, to, NULL, NULL);

		all->lab->now = later(all->lab->now, sim_now(all->sim));
		if (state == SIM_PAUSED)
			continue;
		if (!e && !*all->waiting && all->head == all->tail) {
			/* Timers without effect may have been popped since the last event. */
			if (until < HD_TIME_NEVER)
				all->lab->now = later(all->lab->now, until);
			return false;
		}
		if (e)
			all->lab->now = later(all->lab->now, to);
	}
}

/* ---- hops */

/* The message of a packet of `from`: a request is of its own, an answer of its
 * peer's. */
static void name_message(const struct external_qp *from, const struct packet *p,
			 struct external_hop *out)
{
	bool answers = opcode_flags(p->bth.opcode) & OPCODE_RESPONSE;
	const struct external_qp *of = answers ? from->peer : from;
	uint32_t before;
	const struct in_flight_message *f = of ? in_flight_with(of, p->bth.psn, &before) : NULL;

	if (!f)
		return;
	out->owner = of->owner;
	out->number = f->number;
	out->offset = (uint64_t)before * of->qp->mtu;
}

static void on_granted(void *context, hd_time now, uint32_t port, const struct sim_packet *p)
{
	struct external_qps *all = context;
	const struct lab *lab = all->lab;
	const struct sim_setup *setup = &lab->fabric->setup;
	const struct sim_port *from = &setup->ports[port];

	if (!all->seen || p->endpoint != lab->endpoint + 1)
		return;
	const struct hca_slot *s = hca_slot_at(lab, p->cookie);
	const struct v_qp *qp = hca_slot_sender(lab, s);
	const struct external_qp *q = qp ? external_of(qp->send_cq) : NULL;
	struct external_hop hop = {
		.now = now,
		.there = now + from->propagation,
		.is_lost = p->lost,
		.is_corrupt = p->corrupt,
		.is_marked = p->marked,
		.out = from->origin,
		.in = setup->ports[from->peer].origin,
		.vl = p->vl,
		.bytes = p->bytes,
		.is_first = setup->nodes[from->node].kind == SIM_END,
		.id = p->cookie,
		.packet = &s->packet,
		.sender = q ? q->owner : NULL,
	};

	if (q)
		name_message(q, &s->packet, &hop);
	all->seen(all->context, &hop);
}

void external_qps_observe(struct external_qps *all,
			  void (*seen)(void *context, const struct external_hop *h), void *context)
{
	const struct sim_observer observer = { .context = all, .granted = on_granted };

	all->seen = seen;
	all->context = context;
	if (!seen || all->is_observed)
		return;
	sim_observe(all->sim, &observer);
	all->is_observed = true;
}
