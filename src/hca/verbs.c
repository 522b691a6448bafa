/* SPDX-License-Identifier: BSD-2-Clause */
#include "hca/verbs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/ring.h"
#include "hca/objects.h"
#include "subnet/multicast/mcast.h"
#include "subnet/subnet.h"
#include "wire/cursor.h"

lid_t v_lid(const struct v_device *dev)
{
	return dev->lid;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The MTU of the profile, or less if packets of the scenario or the port are smaller. */
static uint32_t v_port_mtu(const struct v_device *dev)
{
	const struct fabric *fabric = dev->lab->fabric;
	uint32_t mtu =
		least((uint32_t)dev->lab->profile->mtu, (uint32_t)fabric->scenario->fabric.mtu);

	return least(mtu, hca_port_mtu(fabric, dev->port));
}

uint32_t v_path_mtu(const struct v_device *dev, lid_t to)
{
	const struct fabric *fabric = dev->lab->fabric;
	const struct sim_setup *s = &fabric->setup;
	uint32_t at = s->ports[dev->port].peer;
	uint32_t mtu =
		least((uint32_t)fabric->scenario->fabric.mtu, hca_port_mtu(fabric, dev->port));

	/* No path is longer than the number of nodes. */
	for (uint32_t hops = 0; hops <= s->n_nodes && at != SIM_NONE; hops++) {
		const struct sim_node *node = &s->nodes[s->ports[at].node];

		mtu = least(mtu, hca_port_mtu(fabric, at));
		if (node->kind == SIM_END)
			return mtu;
		uint8_t out = node->kind == SIM_SWITCH ? lft_get(&fabric->subnet, node->sw, to)
						       : LFT_NO_PORT;

		if (out == LFT_NO_PORT || out > node->n_ports)
			return 0;
		mtu = least(mtu, hca_port_mtu(fabric, node->first_port + out));
		at = s->ports[node->first_port + out].peer;
	}
	return 0;
}

void v_name(const struct v_device *dev, struct strbuf *out)
{
	fabric_port_name(dev->lab->fabric, dev->port, out);
}

bool v_same_subnet(const struct v_device *a, const struct v_device *b)
{
	const struct fabric *fabric = a->lab->fabric;
	const struct sim_port *ports = fabric->setup.ports;

	return fabric->topo.ports[ports[a->port].origin].subnet ==
	       fabric->topo.ports[ports[b->port].origin].subnet;
}

uint8_t v_path_sl(const struct v_device *dev, lid_t to, uint8_t wanted)
{
	const struct fabric *fabric = dev->lab->fabric;

	return path_sl(&fabric->subnet, fabric->setup.ports[dev->port].origin, to, wanted);
}

void v_gid(const struct v_device *dev, uint8_t gid[16])
{
	const struct fabric *fabric = dev->lab->fabric;
	port_id origin = fabric->setup.ports[dev->port].origin;

	store_be64(gid, subnet_gid_prefix(&fabric->subnet, origin));
	store_be64(gid + 8, fabric->topo.ports[origin].guid);
}

/* ---- protection domains and memory ------------------------------------ */

struct v_pd *v_pd_new(struct v_device *dev)
{
	struct v_pd *pd = hd_alloc(1, sizeof(*pd));

	pd->dev = dev;
	pd->number = ++dev->n_pds;
	spend(dev->lab, dev->lab->profile->command);
	return pd;
}

void v_pd_free(struct v_pd *pd)
{
	free(pd);
}

static uint32_t free_mr_number(struct v_device *dev)
{
	/* Index 0 would give key 0, which means no key. */
	for (uint32_t i = 1; i < dev->n_mrs; i++) {
		if (!dev->mrs[i])
			return i;
	}
	size_t n = dev->n_mrs ? dev->n_mrs : 1;

	dev->mrs = hd_grow(dev->mrs, &dev->mrs_cap, n + 1, sizeof(struct v_mr *));
	if (dev->n_mrs == 0)
		dev->mrs[0] = NULL;
	dev->n_mrs = (uint32_t)n + 1;
	return (uint32_t)n;
}

/* Allocates addresses by whole pages; addresses are never reused. */
static uint64_t take_addresses(struct v_device *dev, uint64_t len, uint64_t page)
{
	uint64_t start = (dev->next_addr + page - 1) / page * page;

	dev->next_addr = start + (len ? len : 1);
	return start;
}

struct v_mr *v_mr_new(struct v_pd *pd, void *memory, uint64_t len, unsigned access, uint64_t pages)
{
	struct v_device *dev = pd->dev;
	const struct hca_profile *p = dev->lab->profile;
	uint64_t size = pages ? pages : p->page_size;
	uint32_t i = free_mr_number(dev);
	struct v_mr *mr = hd_alloc(1, sizeof(*mr));

	*mr = (struct v_mr){
		.pd = pd,
		.memory = memory,
		.addr = take_addresses(dev, len, size),
		.len = len,
		.page_shift = (unsigned)__builtin_ctzll(size),
		.access = access | ACCESS_LOCAL_WRITE,
		.key = i << 8 | (++dev->key_turn & 255),
	};
	if (!(access & ACCESS_LOCAL_WRITE) &&
	    !(access & (ACCESS_REMOTE_WRITE | ACCESS_REMOTE_ATOMIC)))
		mr->access = access;
	dev->mrs[i] = mr;
	spend(dev->lab, p->command + (len + size - 1) / size * p->page);
	return mr;
}

void v_mr_free(struct v_mr *mr)
{
	struct v_device *dev = mr->pd->dev;
	const struct hca_profile *p = dev->lab->profile;
	uint64_t pages = (mr->len >> mr->page_shift) + 1;

	/* Unpinning takes a quarter of the time of pinning. */
	spend(dev->lab, p->command + pages * p->page / 4);
	dev->mrs[mr->key >> 8] = NULL;
	free(mr);
}

uint32_t v_mr_key(const struct v_mr *mr)
{
	return mr->key;
}

uint64_t v_mr_addr(const struct v_mr *mr)
{
	return mr->addr;
}

/* ---- queue pairs ------------------------------------------------------ */

static uint32_t wqe_size(uint32_t max_sge)
{
	return (32 + 16 * max_sge + 63) / 64 * 64;
}

/* The larger `out_of_order` of the adapter's profile and fabric.host, in packets; RC only. */
uint32_t v_window(const struct v_device *dev, enum qp_kind kind)
{
	uint64_t adapter = dev->lab->profile->out_of_order;
	uint64_t host = dev->lab->fabric->scenario->fabric.out_of_order;

	if (kind != QP_RC)
		return 0;
	return (uint32_t)(adapter > host ? adapter : host);
}

static hd_time queue_cost(const struct hca_profile *p, const struct v_qp_init *init)
{
	uint64_t entries = (uint64_t)init->max_send + (init->srq ? 0 : init->max_recv);
	uint64_t bytes = entries * wqe_size(init->max_sge);

	return p->command + (bytes + p->page_size - 1) / p->page_size * p->page;
}

static uint32_t free_qp_number(struct v_device *dev)
{
	for (uint32_t i = dev->qp_hint; i < dev->n_qps; i++) {
		if (!dev->qps[i])
			return i;
	}
	dev->qps = hd_grow(dev->qps, &dev->qps_cap, (size_t)dev->n_qps + 1, sizeof(struct v_qp *));
	return dev->n_qps++;
}

struct v_qp *v_qp_new(struct v_pd *pd, const struct v_qp_init *init)
{
	struct v_device *dev = pd->dev;

	if (init->max_send == 0 || init->max_send > V_MAX_QP_WR || init->max_recv > V_MAX_QP_WR ||
	    init->max_sge == 0 || init->max_sge > WR_MAX_SGE)
		return NULL;
	struct v_qp *qp = hd_alloc(1, sizeof(*qp));

	qp->dev = dev;
	qp->pd = pd;
	qp->send_cq = init->send_cq;
	qp->recv_cq = init->recv_cq;
	qp->srq = init->srq;
	qp->max_send = init->max_send;
	qp->max_recv = init->max_recv;
	qp->wqe_bytes = wqe_size(init->max_sge);
	qp->wqe_segments = init->max_sge;
	qp->mtu = v_port_mtu(dev);
	qp->weight = qp->burst = 1;
	qp->rank = N_PRIORITIES - 1;
	hca_owner_init(qp);
	qp->number = free_qp_number(dev);
	qp->birth = dev->births++;
	pace_start(qp);
	dev->qp_hint = qp->number + 1;
	const struct qp_params params = {
		.kind = init->kind,
		.qpn = FIRST_QPN + qp->number,
		.pd = pd->number,
		.max_send = init->max_send,
		.max_recv = init->max_recv ? init->max_recv : 1,
		.signal_all = init->signal_all,
		.shared_recv = init->srq != NULL,
		.window = v_window(dev, init->kind),
	};

	qp->qp = qp_new(&params, &qp->owner);
	dev->qps[qp->number] = qp;
	spend(dev->lab, queue_cost(dev->lab->profile, init));
	return qp;
}

static void drop_requests(struct v_device *dev, const struct v_qp *qp)
{
	for (size_t i = 0; i < dev->n_threads; i++) {
		struct v_thread *t = dev->threads[i];

		for (uint32_t k = t->head; k != t->tail; k++) {
			struct deferred *d = &t->requests[k % t->size];

			if (d->qp == qp)
				d->qp = NULL;
		}
	}
}

void v_qp_free(struct v_qp *qp)
{
	struct v_device *dev = qp->dev;
	const struct hca_profile *p = dev->lab->profile;

	lab_settle(dev->lab);
	spend(dev->lab, qp->connected ? p->teardown : p->command);
	lab_settle(dev->lab);
	device_forget(dev, qp);
	drop_requests(dev, qp);
	for (size_t i = dev->n_members; i > 0; i--) {
		if (dev->members[i - 1].qp == qp)
			dev->members[i - 1] = dev->members[--dev->n_members];
	}
	dev->qps[qp->number] = NULL;
	if (qp->number < dev->qp_hint)
		dev->qp_hint = qp->number;
	dev->lab->retries += qp_retries(qp->qp);
	qp_free(qp->qp);
	free(qp);
}

uint64_t lab_retries(const struct lab *lab)
{
	return lab->retries;
}

uint32_t v_qpn(const struct v_qp *qp)
{
	return FIRST_QPN + qp->number;
}

enum hd_status v_modify(struct v_qp *qp, const struct qp_attr *attr, unsigned mask)
{
	struct lab *lab = qp->dev->lab;

	spend(lab, lab->profile->command);
	lab_settle(lab);
	hca_requests_take(qp->dev);
	enum hd_status status = qp_modify(qp->qp, attr, mask);

	if (status != HD_OK)
		return status;
	/* After a reset, packets in flight no longer belong to the queue pair. */
	if (qp_state(qp->qp) == QPS_RESET)
		qp->birth = qp->dev->births++;
	if (mask & QPA_PATH || !qp_has_packet(qp->qp, lab->now))
		device_rest(qp->dev, qp);
	if (mask & QPA_PATH) {
		qp->sl = attr->sl;
		pace_start(qp);
	}
	if (mask & QPA_MTU)
		qp->mtu = attr->mtu;
	if (qp_params(qp->qp)->kind != QP_UD)
		qp->connected = qp_state(qp->qp) >= QPS_RTR;
	return HD_OK;
}

void v_qp_weigh(struct v_qp *qp, uint32_t weight, uint32_t priority)
{
	struct v_device *dev = qp->dev;

	if (dev->lab->profile->schedule != SCHEDULE_WEIGHTED)
		return;
	lab_settle(dev->lab);
	device_forget(dev, qp);
	qp->weight = weight ? weight : 1;
	qp->rank = priority < N_PRIORITIES ? N_PRIORITIES - 1 - priority : 0;
	device_activate(dev, qp);
}

/* ---- posting ----------------------------------------------------- */

static struct deferred *request_new(struct v_thread *t)
{
	t->requests = ring_grow(t->requests, &t->size, t->head, t->tail, sizeof(*t->requests));
	return &t->requests[t->tail++ % t->size];
}

/* The program may reuse its memory as soon as the post returns. */
static void keep_inline(struct deferred *d)
{
	struct send_wr *wr = &d->send;
	uint8_t *to = d->data;

	for (uint32_t i = 0; i < wr->n_sge; i++) {
		const void *from = (const void *)(uintptr_t)wr->sge[i].addr; /* NOLINT */

		memcpy(to, from, wr->sge[i].length);
		to += wr->sge[i].length;
	}
}

/* Sets the address of the copy, which is final because the ring no longer moves. */
static enum hd_status post_later(struct v_qp *qp, const struct send_wr *wr)
{
	struct lab *lab = qp->dev->lab;
	struct deferred *d = request_new(lab->current);

	d->when = lab->current->clock + lab->profile->doorbell;
	d->qp = qp;
	d->is_recv = false;
	send_wr_copy(&d->send, wr);
	if (wr->flags & WR_INLINE)
		keep_inline(d);
	qp->deferred_sends++;
	lab_alarm(lab, qp->dev, d->when);
	return HD_OK;
}

enum hd_status v_post_send(struct v_qp *qp, const struct send_wr *wr)
{
	struct lab *lab = qp->dev->lab;
	enum hd_status status = qp_check_send(qp->qp, wr);

	spend(lab, lab->profile->post_send);
	if (status != HD_OK)
		return status;
	if (wr->n_sge > qp->wqe_segments)
		return HD_ERR_RANGE;
	if (qp_sends_left(qp->qp) + qp->deferred_sends >= qp->max_send)
		return HD_ERR_FULL;
	if (lab->current)
		return post_later(qp, wr);
	return qp_post_send(qp->qp, wr);
}

static enum hd_status check_recv(const struct v_qp *qp, const struct recv_wr *wr)
{
	if (qp->srq || qp_state(qp->qp) == QPS_RESET)
		return HD_ERR_UNFIT;
	if (wr->n_sge > qp->wqe_segments)
		return HD_ERR_RANGE;
	if (qp_recvs_left(qp->qp) + qp->deferred_recvs >= qp->max_recv)
		return HD_ERR_FULL;
	return HD_OK;
}

static void copy_recv(struct recv_wr *to, const struct recv_wr *from)
{
	to->id = from->id;
	to->n_sge = from->n_sge;
	memcpy(to->sge, from->sge, from->n_sge * sizeof(*from->sge));
}

enum hd_status v_post_recv(struct v_qp *qp, const struct recv_wr *wr)
{
	struct lab *lab = qp->dev->lab;
	enum hd_status status = check_recv(qp, wr);

	spend(lab, lab->profile->post_recv);
	if (status != HD_OK)
		return status;
	if (!lab->current)
		return qp_post_recv(qp->qp, wr);
	struct deferred *d = request_new(lab->current);

	d->when = lab->current->clock + lab->profile->doorbell;
	d->qp = qp;
	d->is_recv = true;
	copy_recv(&d->recv, wr);
	qp->deferred_recvs++;
	/* A queue pair in error flushes the request, for which a program may wait. */
	if (qp_state(qp->qp) == QPS_ERR) {
		lab_settle(lab);
		hca_requests_take(qp->dev);
	}
	return HD_OK;
}

struct v_srq *v_srq_new(struct v_pd *pd, uint32_t max_wr)
{
	if (max_wr == 0 || max_wr > V_MAX_QP_WR)
		return NULL;
	struct v_srq *srq = hd_alloc(1, sizeof(*srq));

	srq->pd = pd;
	srq->size = max_wr;
	srq->ring = hd_alloc(max_wr, sizeof(*srq->ring));
	spend(pd->dev->lab, pd->dev->lab->profile->command);
	return srq;
}

void v_srq_free(struct v_srq *srq)
{
	free(srq->ring);
	free(srq);
}

enum hd_status v_post_srq(struct v_srq *srq, const struct recv_wr *wr)
{
	struct lab *lab = srq->pd->dev->lab;

	spend(lab, lab->profile->post_recv);
	if (wr->n_sge > WR_MAX_SGE)
		return HD_ERR_RANGE;
	if (srq->tail - srq->head == srq->size)
		return HD_ERR_FULL;
	struct srq_entry *d = &srq->ring[srq->tail++ % srq->size];

	copy_recv(&d->recv, wr);
	/* Without a program, the receive is available at once. */
	d->when = lab->current ? lab->current->clock + lab->profile->doorbell : lab->now;
	return HD_OK;
}

/* ---- datagrams -------------------------------------------------------- */

struct wr_datagram v_ah(const struct v_pd *pd, lid_t dlid, uint8_t sl)
{
	return (struct wr_datagram){ .dlid = dlid, .sl = sl, .pd = pd->number };
}

/* Link-local multicast GID that contains the MLID. */
static void group_gid(lid_t mlid, uint8_t out[16])
{
	store_be64(out, MCAST_MGID_PREFIX);
	store_be64(out + 8, mlid);
}

struct wr_datagram v_ah_multicast(const struct v_pd *pd, lid_t mlid, uint8_t sl)
{
	struct wr_datagram to = { .qpn = V_MULTICAST,
				  .dlid = mlid,
				  .sl = sl,
				  .global = true,
				  .hop_limit = 1,
				  .pd = pd->number };

	group_gid(mlid, to.dgid);
	return to;
}

enum hd_status v_attach(struct v_qp *qp, lid_t mlid, const uint8_t *mgid)
{
	struct v_device *dev = qp->dev;
	struct hca_member m = { .mlid = mlid, .qp = qp };

	if (qp_params(qp->qp)->kind != QP_UD || mlid < LID_FIRST_MCAST)
		return HD_ERR_UNFIT;
	spend(dev->lab, dev->lab->profile->command);
	lab_settle(dev->lab);
	dev->members =
		hd_grow(dev->members, &dev->members_cap, dev->n_members + 1, sizeof(*dev->members));
	if (mgid)
		memcpy(m.mgid, mgid, sizeof(m.mgid));
	else
		group_gid(mlid, m.mgid);
	dev->members[dev->n_members++] = m;
	return HD_OK;
}

void v_detach(struct v_qp *qp, lid_t mlid, const uint8_t *mgid)
{
	struct v_device *dev = qp->dev;

	for (size_t i = dev->n_members; i-- > 0;) {
		const struct hca_member *m = &dev->members[i];

		if (m->qp == qp && m->mlid == mlid && memcmp(m->mgid, mgid, sizeof(m->mgid)) == 0)
			dev->members[i] = dev->members[--dev->n_members];
	}
}

/* ---- memory that programs spin on ------------------------------------- */

struct v_watch *v_watch_new(struct v_device *dev, const void *at)
{
	struct v_watch *w = hd_alloc(1, sizeof(*w));

	w->dev = dev;
	w->at = at;
	w->next = dev->watches;
	dev->watches = w;
	return w;
}

void v_watch_free(struct v_watch *w)
{
	struct v_watch **at = &w->dev->watches;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	free(w);
}

bool v_watch_wait(struct v_watch *w, uint64_t times)
{
	struct lab *lab = w->dev->lab;

	while (w->hits < times) {
		w->waiter = lab->current;
		w->waits_for = times;
		bool woken = hca_thread_wait(lab);

		w->waiter = NULL;
		if (!woken)
			return false;
	}
	lab->current->clock = later(lab->current->clock, w->when);
	return true;
}
