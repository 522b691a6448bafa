/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "verbs/guests.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "verbs/device.h"

#define NOTHING (UINT64_C(2) << 20)       /* bytes that are there, */
#define REGION  (WR_MAX_LENGTH + NOTHING) /* again and again */
#define NOBODY  0xfffff0u                 /* a queue pair number */

/* One of a guest's completion queues. */
struct end {
	struct guest *of;
	struct v_cq *cq;
	bool is_waiting;
	struct end *next; /* that has completions */
};

struct guest {
	struct guests *all;
	void *owner;
	struct v_qp *qp;
	struct guest *peer;
	struct end sends, receives;
	/* Messages that take receives, in a ring; `head` and `tail` count. */
	uint64_t *awaited;
	uint32_t head, tail, size;
	bool leaves;
	struct guest *next, **link;
};

/* What a host has for all of them. */
struct host {
	struct v_pd *pd;
	struct v_mr *mr;
};

struct guests {
	struct lab *lab;
	struct sim *sim;
	struct host *hosts;
	uint8_t *nothing;
	struct guest *first;
	struct end *waiting;
};

/* ---- memory: as much as the longest message, of the same few pages */

static uint8_t *map_nothing(void)
{
	int file = memfd_create("heddle-nothing", MFD_CLOEXEC);
	uint8_t *all = MAP_FAILED;

	if (file >= 0 && ftruncate(file, (off_t)NOTHING) == 0)
		all = mmap(NULL, REGION, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	for (uint64_t at = 0; all != MAP_FAILED && at < REGION; at += NOTHING)
		if (mmap(all + at, NOTHING, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) {
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
			 ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE |
				 ACCESS_REMOTE_READ | ACCESS_REMOTE_ATOMIC,
			 0);
}

/* ---- all of them */

static void guest_free(struct guest *g);

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
	all->lab->has_guests = true;
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
	while (all->first)
		guest_free(all->first);
	for (uint32_t i = 0; i < lab_hosts(all->lab); i++)
		free(all->hosts[i].pd);
	lab_free(all->lab);
	sim_free(all->sim);
	munmap(all->nothing, REGION);
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

static void end_init(struct end *e, struct guest *g, struct v_device *dev,
		     uint32_t entries)
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
		if (lab->build->setup.ports[lab->devices[i].port].origin ==
		    port)
			return &lab->devices[i];
	return NULL;
}

struct guest *guest_new(struct guests *all, const struct guest_place *place,
			void *owner)
{
	struct v_device *dev = device_at(all, place->port);

	if (!dev || place->max_send == 0 || place->max_send > V_MAX_QP_WR ||
	    place->max_recv > V_MAX_QP_WR)
		return NULL;
	struct guest *g = hd_alloc(1, sizeof(*g));

	*g = (struct guest){ .all = all,
			     .owner = owner,
			     .size = place->max_send,
			     .next = all->first,
			     .link = &all->first };
	g->awaited = hd_alloc(g->size, sizeof(*g->awaited));
	host_need(all, dev);
	end_init(&g->sends, g, dev, place->max_send);
	end_init(&g->receives, g, dev, place->max_recv + 1);
	const struct v_qp_init init = {
		.kind = QP_RC,
		.send_cq = g->sends.cq,
		.recv_cq = g->receives.cq,
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

static void guest_free(struct guest *g)
{
	*g->link = g->next;
	if (g->next)
		g->next->link = g->link;
	for (struct guest *o = g->all->first; o; o = o->next)
		if (o->peer == g)
			o->peer = NULL;
	v_qp_free(g->qp);
	end_fini(&g->sends);
	end_fini(&g->receives);
	free(g->awaited);
	free(g);
}

void guest_leave(struct guest *g)
{
	g->leaves = true;
	if (!qp_has_answer(g->qp->qp))
		guest_free(g);
}

/* Those that owe nothing any more. */
static void let_go(struct guests *all)
{
	for (struct guest *g = all->first, *next; g; g = next) {
		next = g->next;
		if (g->leaves && !qp_has_answer(g->qp->qp))
			guest_free(g);
	}
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

enum hd_status guest_connect(struct guest *g, struct guest *peer,
			     const struct qp_attr *a)
{
	struct qp_attr attr = *a;
	uint32_t most = v_path_mtu(g->qp->dev, a->dlid);

	attr.state = QPS_INIT;
	attr.access =
		ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ | ACCESS_REMOTE_ATOMIC;
	enum hd_status status =
		v_modify(g->qp, &attr, QPA_STATE | QPA_PKEY | QPA_ACCESS);

	if (status != HD_OK)
		return status;
	g->peer = peer;
	attr.state = QPS_RTR;
	attr.mtu = most ? least(a->mtu, most) : a->mtu;
	attr.dest_qpn = peer ? v_qpn(peer->qp) : NOBODY;
	return v_modify(g->qp, &attr,
			QPA_STATE | QPA_PATH | QPA_MTU | QPA_DEST_QP |
				QPA_RQ_PSN | QPA_MAX_DEST_RD | QPA_MIN_RNR);
}

enum hd_status guest_start(struct guest *g, const struct qp_attr *a)
{
	struct qp_attr attr = *a;

	attr.state = QPS_RTS;
	return v_modify(g->qp, &attr,
			QPA_STATE | QPA_SQ_PSN | QPA_TIMEOUT | QPA_RETRY |
				QPA_RNR_RETRY | QPA_MAX_RD);
}

/* ---- posting */

bool guest_receive(struct guest *g)
{
	const struct v_mr *mr = host_of(g)->mr;
	const struct recv_wr wr = {
		.n_sge = 1,
		.sge[0] = { v_mr_addr(mr), (uint32_t)WR_MAX_LENGTH,
			    v_mr_key(mr) },
	};

	return v_post_recv(g->qp, &wr) == HD_OK;
}

bool guest_send(struct guest *g, const struct guest_message *m)
{
	const struct v_mr *here = host_of(g)->mr;
	const struct v_mr *there = g->peer ? host_of(g->peer)->mr : here;
	const struct send_wr wr = {
		.id = m->number,
		.kind = m->kind,
		.flags = WR_SIGNALED,
		.n_sge = m->length > 0,
		.sge[0] = { v_mr_addr(here), (uint32_t)m->length,
			    v_mr_key(here) },
		.remote_addr = v_mr_addr(there),
		.rkey = v_mr_key(there),
	};

	if (v_post_send(g->qp, &wr) != HD_OK)
		return false;
	if (m->kind == WR_SEND || m->kind == WR_SEND_IMM ||
	    m->kind == WR_SEND_INV || m->kind == WR_WRITE_IMM)
		g->awaited[g->tail++ % g->size] = m->number;
	device_activate(g->qp->dev, g->qp);
	device_send(g->qp->dev);
	return true;
}

/* ---- what happens */

/* The first entry of all ends, or NULL. */
static struct end *earliest(const struct guests *all)
{
	struct end *first = NULL;

	for (struct end *e = all->waiting; e; e = e->next)
		if (!first || cq_at(e->cq, e->cq->head)->when <
				      cq_at(first->cq, first->cq->head)->when)
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

/* False if it is about nobody. */
static bool tell(struct end *e, struct guest_news *out)
{
	struct guest *g = e->of;
	const struct completion wc = take_first(e);

	if (g->leaves)
		return false;
	if (e == &g->sends) {
		*out = (struct guest_news){ .kind = GUEST_DONE,
					    .owner = g->owner,
					    .number = wc.id,
					    .status = wc.status };
		return true;
	}
	struct guest *from = g->peer;

	if (wc.status != WC_SUCCESS || !from || from->leaves ||
	    from->head == from->tail)
		return false;
	*out = (struct guest_news){
		.kind = GUEST_ARRIVED,
		.owner = from->owner,
		.receiver = g->owner,
		.number = from->awaited[from->head++ % from->size]
	};
	return true;
}

bool guests_next(struct guests *all, struct guest_news *out)
{
	for (;;) {
		struct end *e = earliest(all);
		hd_time due = e ? cq_at(e->cq, e->cq->head)->when : NEVER;

		if (e && due <= all->lab->now) {
			if (tell(e, out))
				return true;
			continue;
		}
		let_go(all);
		enum sim_state state = sim_run(all->sim, due, NULL, NULL);

		all->lab->now = later(all->lab->now, sim_now(all->sim));
		if (state == SIM_PAUSED && all->lab->now < due)
			continue;
		if (!e && !all->waiting)
			return false;
		if (e && state != SIM_PAUSED)
			all->lab->now = later(all->lab->now, due);
	}
}
