/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "verbs/guests.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/ring.h"
#include "verbs/guests_parts.h"
#include "verbs/objects.h"

#define NOTHING (UINT64_C(2) << 20)       /* bytes that are there, */
#define REGION  (WR_MAX_LENGTH + NOTHING) /* again and again */
#define NOBODY  0xfffff0u                 /* a queue pair number */

/* ---- memory: as much as the longest message, of the same few pages */

static uint8_t *map_nothing(void)
{
	int file = memfd_create("heddle-nothing", MFD_CLOEXEC);
	uint8_t *all = MAP_FAILED;

	if (file >= 0 && ftruncate(file, (off_t)NOTHING) == 0)
		all = mmap(NULL, REGION, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			   0);
	for (uint64_t at = 0; all != MAP_FAILED && at < REGION; at += NOTHING)
		if (mmap(all + at, NOTHING, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
			 0) == MAP_FAILED) {
			munmap(all, REGION);
			all = MAP_FAILED;
		}
	if (file >= 0)
		close(file);
	return all == MAP_FAILED ? NULL : all;
}

static const struct host *host_of(const struct guest *g)
{
	return &g->all->hosts[g->qp->dev->host];
}

static void host_need(struct guests *all, struct v_device *dev)
{
	struct host *h = &all->hosts[dev->host];

	if (h->pd)
		return;
	h->pd = v_pd_new(dev);
	h->mr = v_mr_new(h->pd, all->nothing, REGION,
			 ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ |
				 ACCESS_REMOTE_ATOMIC,
			 0);
}

/* ---- all of them */

static void guest_free(struct guest *g);
static void queue_free(struct guest_queue *q);

struct guests *guests_new(struct fabric *f, const struct profile *profile)
{
	struct guests *all = hd_alloc(1, sizeof(*all));
	struct sim_rules rules;

	all->nothing = map_nothing();
	if (!all->nothing) {
		free(all);
		return NULL;
	}
	all->lab = lab_new(f, profile);
	all->lab->guests = all;
	all->hosts = hd_alloc(lab_hosts(all->lab), sizeof(*all->hosts));
	sim_rules_init(&rules);
	lab_rules(&rules);
	rules.flow_metrics = false;
	rules.check_order = false;
	all->sim = sim_new(&f->setup, f->flows, 0, &rules);
	lab_use_sim(all->lab, all->sim);
	return all;
}

void guests_free(struct guests *all)
{
	if (!all)
		return;
	for (struct guest *g = all->first, *next; g; g = next) {
		next = g->next;
		guest_free(g);
	}
	for (struct guest_queue *q = all->queues, *next; q; q = next) {
		next = q->next;
		queue_free(q);
	}
	for (uint32_t i = 0; i < lab_hosts(all->lab); i++)
		free(all->hosts[i].pd);
	lab_free(all->lab);
	sim_free(all->sim);
	munmap(all->nothing, REGION);
	free(all->lost);
	free(all->hosts);
	free(all);
}

hd_time guests_now(const struct guests *all)
{
	return all->lab->now;
}

/* ---- one */

static void note(void *context)
{
	struct end *e = context;
	struct guests *all = e->of->all;

	sim_pause(all->sim);
	if (e->is_waiting)
		return;
	e->is_waiting = true;
	e->next = all->waiting;
	all->waiting = e;
}

static void note_receive(void *context)
{
	struct end *e = context;
	struct guest *g = e->of;

	g->landings = ring_grow(g->landings, &g->size, g->first, g->last, sizeof(*g->landings));
	g->landings[g->last++ % g->size] = (struct landing){ NULL, 0 };
	note(context);
}

static void end_init(struct end *e, struct guest *g, struct v_device *dev, uint32_t entries)
{
	e->of = g;
	e->cq = v_cq_new(dev, entries, NULL);
	e->cq->note = note;
	e->cq->context = e;
}

static void end_fini(struct end *e)
{
	struct end **at = &e->of->all->waiting;

	while (*at && *at != e)
		at = &(*at)->next;
	if (*at)
		*at = e->next;
	v_cq_free(e->cq);
}

static struct v_device *device_at(struct guests *all, port_id port)
{
	const struct lab *lab = all->lab;

	for (uint32_t i = 0; i < lab->n_devices; i++)
		if (lab->build->setup.ports[lab->devices[i].port].origin == port)
			return &lab->devices[i];
	return NULL;
}

struct guest *guest_new(struct guests *all, const struct guest_place *place, void *owner)
{
	struct v_device *dev = device_at(all, place->port);

	if (!dev || place->max_send == 0 || place->max_send > V_MAX_QP_WR ||
	    place->max_recv > V_MAX_QP_WR)
		return NULL;
	struct guest *g = hd_alloc(1, sizeof(*g));

	*g = (struct guest){ .all = all,
			     .owner = owner,
			     .queue = place->queue,
			     .next = all->first,
			     .link = &all->first };
	if (g->queue)
		g->queue->users++;
	host_need(all, dev);
	end_init(&g->sends, g, dev, place->max_send);
	/* Writes of UC are told of, too, as many as come. */
	end_init(&g->receives, g, dev, V_MAX_CQE);
	g->receives.cq->note = note_receive;
	const struct v_qp_init init = {
		.kind = place->kind,
		.send_cq = g->sends.cq,
		.recv_cq = g->receives.cq,
		.srq = place->queue ? place->queue->srq : NULL,
		.max_send = place->max_send,
		.max_recv = place->max_recv + 1,
		.max_sge = 1,
	};

	g->qp = v_qp_new(all->hosts[dev->host].pd, &init);
	if (g->next)
		g->next->link = &g->next;
	all->first = g;
	return g;
}

/* Nobody hears of its messages. */
static void forget(struct guest *g)
{
	struct guests *all = g->all;

	for (struct guest *o = all->first; o; o = o->next) {
		if (o->peer == g)
			o->peer = NULL;
		for (uint32_t i = o->first; i != o->last; i++)
			if (o->landings[i % o->size].from == g)
				o->landings[i % o->size].from = NULL;
	}
	for (uint32_t i = all->head; i != all->tail; i++)
		if (all->lost[i % all->places].from == g)
			all->lost[i % all->places].from = NULL;
}

static void guest_free(struct guest *g)
{
	*g->link = g->next;
	if (g->next)
		g->next->link = g->link;
	forget(g);
	v_qp_free(g->qp);
	end_fini(&g->sends);
	end_fini(&g->receives);
	if (g->queue)
		g->queue->users--;
	free(g->flights);
	free(g->landings);
	free(g);
}

void guest_leave(struct guest *g)
{
	g->leaves = true;
	g->owner = NULL;
	if (!qp_has_answer(g->qp->qp))
		guest_free(g);
}

/* ---- shared receives */

struct guest_queue *guest_queue_new(struct guests *all, port_id port, uint32_t max)
{
	struct v_device *dev = device_at(all, port);

	if (!dev || max == 0 || max > V_MAX_QP_WR)
		return NULL;
	struct guest_queue *q = hd_alloc(1, sizeof(*q));

	host_need(all, dev);
	*q = (struct guest_queue){
		.all = all,
		.srq = v_srq_new(all->hosts[dev->host].pd, max),
		.mr = all->hosts[dev->host].mr,
		.next = all->queues,
		.link = &all->queues,
	};
	if (q->next)
		q->next->link = &q->next;
	all->queues = q;
	return q;
}

static void queue_free(struct guest_queue *q)
{
	*q->link = q->next;
	if (q->next)
		q->next->link = q->link;
	v_srq_free(q->srq);
	free(q);
}

void guest_queue_leave(struct guest_queue *q)
{
	q->leaves = true;
	if (q->users == 0)
		queue_free(q);
}

/* Those that owe nothing any more. */
static void let_go(struct guests *all)
{
	for (struct guest *g = all->first, *next; g; g = next) {
		next = g->next;
		if (g->leaves && !qp_has_answer(g->qp->qp))
			guest_free(g);
	}
	for (struct guest_queue *q = all->queues, *next; q; q = next) {
		next = q->next;
		if (q->leaves && q->users == 0)
			queue_free(q);
	}
}

/* ---- connecting */

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static enum qp_kind kind_of(const struct guest *g)
{
	return qp_params(g->qp->qp)->kind;
}

enum hd_status guest_connect(struct guest *g, struct guest *peer, const struct qp_attr *a)
{
	struct qp_attr attr = *a;
	enum qp_kind kind = kind_of(g);
	uint32_t most = kind == QP_UD ? 0 : v_path_mtu(g->qp->dev, a->dlid);

	attr.state = QPS_INIT;
	attr.access = ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ | ACCESS_REMOTE_ATOMIC;
	enum hd_status status = v_modify(g->qp, &attr, qp_step_mask(kind, attr.state));

	if (status != HD_OK)
		return status;
	g->peer = peer;
	attr.state = QPS_RTR;
	attr.mtu = most ? least(a->mtu, most) : a->mtu;
	attr.dest_qpn = peer ? v_qpn(peer->qp) : NOBODY;
	return v_modify(g->qp, &attr, qp_step_mask(kind, attr.state));
}

enum hd_status guest_start(struct guest *g, const struct qp_attr *a)
{
	struct qp_attr attr = *a;

	attr.state = QPS_RTS;
	g->psn = a->sq_psn;
	return v_modify(g->qp, &attr, qp_step_mask(kind_of(g), attr.state));
}

/* ---- posting */

static struct recv_wr receive_into(const struct v_mr *mr)
{
	return (struct recv_wr){
		.n_sge = 1,
		.sge[0] = { v_mr_addr(mr), (uint32_t)WR_MAX_LENGTH, v_mr_key(mr) },
	};
}

bool guest_receive(struct guest *g)
{
	const struct recv_wr wr = receive_into(host_of(g)->mr);

	return v_post_recv(g->qp, &wr) == HD_OK;
}

bool guest_queue_receive(struct guest_queue *q)
{
	const struct recv_wr wr = receive_into(q->mr);

	return v_post_srq(q->srq, &wr) == HD_OK;
}

static struct wr_datagram datagram(const struct guest *g, const struct guest_address *a)
{
	struct wr_datagram to = v_ah(host_of(g)->pd, a->dlid, a->sl);

	to.qpn = a->to ? v_qpn(a->to->qp) : NOBODY;
	to.qkey = a->qkey;
	to.global = a->global;
	if (a->dlid >= LID_FIRST_MCAST) {
		to.qpn = V_MULTICAST;
		memcpy(to.dgid, a->dgid, sizeof(to.dgid));
	}
	return to;
}

/* It takes as many PSNs as packets, of a read: of its answer. */
static void take_off(struct guest *g, const struct guest_message *m)
{
	uint64_t n = m->length ? (m->length - 1) / g->qp->mtu + 1 : 1;

	g->flights = ring_grow(g->flights, &g->places, g->head, g->tail, sizeof(*g->flights));
	g->flights[g->tail++ % g->places] =
		(struct flight){ m->number, g->psn, (uint32_t)n, m->kind, false };
	g->psn = psn_add(g->psn, (uint32_t)n);
}

enum hd_status guest_attach(struct guest *g, lid_t mlid, const uint8_t mgid[16])
{
	return v_attach(g->qp, mlid, mgid);
}

void guest_detach(struct guest *g, lid_t mlid, const uint8_t mgid[16])
{
	v_detach(g->qp, mlid, mgid);
}

bool guest_send(struct guest *g, const struct guest_message *m)
{
	const struct v_mr *here = host_of(g)->mr;
	const struct v_mr *there = g->peer ? host_of(g->peer)->mr : here;
	struct send_wr wr = {
		.id = m->number,
		.kind = m->kind,
		.flags = WR_SIGNALED,
		.n_sge = m->length > 0,
		.sge[0] = { v_mr_addr(here), (uint32_t)m->length, v_mr_key(here) },
		.remote_addr = v_mr_addr(there),
		.rkey = v_mr_key(there),
	};

	if (kind_of(g) == QP_UD) {
		wr.to = datagram(g, &m->address);
		g->qp->sl = m->address.sl;
	}
	if (v_post_send(g->qp, &wr) != HD_OK)
		return false;
	take_off(g, m);
	device_activate(g->qp->dev, g->qp);
	device_send(g->qp->dev);
	return true;
}

uint32_t guest_psn(const struct guest *g, uint64_t number)
{
	for (uint32_t i = g->head; i != g->tail; i++)
		if (g->flights[i % g->places].number == number)
			return g->flights[i % g->places].psn;
	return g->psn;
}

/* ---- on the way */

struct flight *flight_with(const struct guest *g, uint32_t psn, uint32_t *before)
{
	for (uint32_t i = g->head; i != g->tail; i++) {
		struct flight *f = &g->flights[i % g->places];

		*before = (psn - f->psn) & PSN_MASK;
		if (*before < f->packets)
			return f;
	}
	return NULL;
}

/* The guest that sent this request, and the message that it is of; or NULL. */
static struct flight *flight_of(const struct lab *lab, const struct slot *s, struct guest **from)
{
	const struct v_qp *qp = slot_sender(lab, s);
	uint32_t before;

	if (!qp)
		return NULL;
	*from = ((struct end *)qp->send_cq->context)->of;
	return flight_with(*from, s->packet.bth.psn, &before);
}

static bool takes_receive(enum wr_kind kind)
{
	return kind == WR_SEND || kind == WR_SEND_IMM || kind == WR_SEND_INV ||
	       kind == WR_WRITE_IMM;
}

static void land(struct guest *g, struct flight *f)
{
	f->is_over = true;
	while (g->head != g->tail && g->flights[g->head % g->places].is_over)
		g->head++;
}

void guests_arrived(struct v_qp *to, const struct slot *last)
{
	struct guest *g = ((struct end *)to->recv_cq->context)->of, *from;
	struct flight *f = flight_of(to->dev->lab, last, &from);

	if (!f || (kind_of(from) == QP_RC && f->kind == WR_WRITE))
		return;
	if (!takes_receive(f->kind)) {
		const struct completion written = { .kind = WC_WRITE };

		cq_push(to->recv_cq, &written, to->dev->visible);
	}
	g->landings[(g->last - 1) % g->size] = (struct landing){ from, f->number };
	if (last->packet.lrh.dlid >= LID_FIRST_MCAST)
		f->untold++;
	else if (kind_of(from) != QP_RC)
		land(from, f);
}

static void put_lost(struct guest *from, struct flight *f)
{
	struct guests *all = from->all;

	all->lost = ring_grow(all->lost, &all->places, all->head, all->tail, sizeof(*all->lost));
	all->lost[all->tail++ % all->places] = (struct landing){ from, f->number };
	land(from, f);
	sim_pause(all->sim);
}

/* Of one to a group somebody was told where it has arrived. */
static void group_told(const struct landing *l)
{
	for (uint32_t i = l->from ? l->from->head : 0; l->from && i != l->from->tail; i++) {
		struct flight *f = &l->from->flights[i % l->from->places];

		if (f->number != l->number || f->untold == 0)
			continue;
		if (--f->untold == 0 && f->has_ended)
			put_lost(l->from, f);
		return;
	}
}

void guests_over(struct lab *lab, const struct slot *s)
{
	const unsigned last = OPCODE_LAST | OPCODE_ONLY;
	struct guest *from;

	if (!s->tells || !(opcode_flags(s->packet.bth.opcode) & last))
		return;
	struct flight *f = flight_of(lab, s, &from);

	if (!f || f->is_over)
		return;
	f->has_ended = true;
	if (f->untold == 0)
		put_lost(from, f);
}

/* ---- what happens */

/* The first entry of all ends, or NULL. */
static struct end *earliest(const struct guests *all)
{
	struct end *first = NULL;

	for (struct end *e = all->waiting; e; e = e->next)
		if (!first ||
		    cq_at(e->cq, e->cq->head)->when < cq_at(first->cq, first->cq->head)->when)
			first = e;
	return first;
}

static struct completion take_first(struct end *e)
{
	struct guests *all = e->of->all;
	struct end **at = &all->waiting;
	const struct completion wc = cq_at(e->cq, e->cq->head++)->wc;

	if (e->cq->head == e->cq->tail) {
		while (*at != e)
			at = &(*at)->next;
		*at = e->next;
		e->is_waiting = false;
	}
	return wc;
}

/* The receive that a message of nobody took is there again. */
static void give_back(struct guest *g, const struct completion *wc)
{
	if (wc->status == WC_SUCCESS && wc->kind != WC_WRITE)
		(void)!(g->queue ? guest_queue_receive(g->queue) : guest_receive(g));
}

/* False if it is about nobody. */
static bool tell_arrived(struct end *e, struct guest_news *out)
{
	struct guest *g = e->of;
	const struct completion wc = take_first(e);
	const struct landing l = g->landings[g->first++ % g->size];

	group_told(&l);
	if (g->leaves)
		return false;
	if (wc.status != WC_SUCCESS || !l.from || l.from->leaves) {
		give_back(g, &wc);
		return false;
	}
	*out = (struct guest_news){ .kind = GUEST_ARRIVED,
				    .owner = l.from->owner,
				    .receiver = g->owner,
				    .took_receive = wc.kind != WC_WRITE,
				    .number = l.number };
	return true;
}

static bool tell(struct end *e, struct guest_news *out)
{
	struct guest *g = e->of;

	if (e == &g->receives)
		return tell_arrived(e, out);
	const struct completion wc = take_first(e);

	if (g->leaves)
		return false;
	/* It does not arrive once more. */
	while (kind_of(g) == QP_RC && g->head != g->tail &&
	       g->flights[g->head % g->places].number <= wc.id)
		g->head++;
	*out = (struct guest_news){
		.kind = GUEST_DONE, .owner = g->owner, .number = wc.id, .status = wc.status
	};
	return true;
}

static bool tell_lost(struct guests *all, struct guest_news *out)
{
	while (all->head != all->tail) {
		const struct landing l = all->lost[all->head++ % all->places];

		if (!l.from || l.from->leaves)
			continue;
		*out = (struct guest_news){ .kind = GUEST_LOST,
					    .owner = l.from->owner,
					    .number = l.number };
		return true;
	}
	return false;
}

bool guests_next(struct guests *all, hd_time until, struct guest_news *out)
{
	for (;;) {
		struct end *e = earliest(all);
		hd_time due = e ? cq_at(e->cq, e->cq->head)->when : NEVER;

		if (tell_lost(all, out))
			return true;
		if (e && due <= all->lab->now) {
			if (tell(e, out))
				return true;
			continue;
		}
		if (all->lab->now >= until) {
			*out = (struct guest_news){ .kind = GUEST_NOTHING };
			return true;
		}
		let_go(all);
		hd_time to = due < until ? due : until;
		enum sim_state state = sim_run(all->sim, to, NULL, NULL);

		all->lab->now = later(all->lab->now, sim_now(all->sim));
		if (state == SIM_PAUSED)
			continue;
		if (!e && !all->waiting && all->head == all->tail)
			return false;
		if (e)
			all->lab->now = later(all->lab->now, to);
	}
}
