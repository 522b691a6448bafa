/* SPDX-License-Identifier: BSD-2-Clause */
#include "verbs/pairs.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "transport/codes.h"
#include "verbs/objects.h"
#include "wire/headers.h"

/* ---- what connections of a lab have in common --------------------------- */

static void shares_add(struct pairs *pairs, uint32_t n)
{
	pairs->shares = hd_realloc(pairs->shares, n, sizeof(*pairs->shares));
	for (; pairs->n_shares < n; pairs->n_shares++)
		pairs->shares[pairs->n_shares] = (struct pairs_share){
			.memory = hd_alloc(pairs->memory_len, 1),
		};
}

void pairs_open(struct lab *lab, void (*settle)(struct side *side), uint64_t longest)
{
	struct pairs *pairs = hd_alloc(1, sizeof(*pairs));

	pairs->lab = lab;
	pairs->settle = settle;
	pairs->memory_len = longest + GRH_SIZE;
	pairs->hosts = hd_alloc(lab->n_devices, sizeof(*pairs->hosts));
	shares_add(pairs, 1);
	lab->pairs = pairs;
}

void pairs_close(struct pairs *pairs)
{
	for (uint32_t i = 0; i < pairs->lab->n_devices; i++)
		free(pairs->hosts[i].pd);
	for (uint32_t i = 0; i < pairs->n_shares; i++)
		free(pairs->shares[i].memory);
	free(pairs->shares);
	free(pairs->hosts);
	free(pairs);
}

static struct pairs_share *share_of(const struct v_device *dev)
{
	return &dev->lab->pairs->shares[dev->lab->number];
}

void pairs_cut(struct pairs *pairs, uint32_t n)
{
	shares_add(pairs, n);
	for (uint32_t i = 0; i < pairs->lab->n_devices; i++) {
		if (pairs->hosts[i].mr)
			pairs->hosts[i].mr->memory = share_of(&pairs->lab->devices[i])->memory;
	}
}

/*
 * It has a completion that is to be looked at: in the order of their
 * connections, whoever came to wait first.
 */
static void side_wait(struct side *side)
{
	struct side **at = &share_of(side->cq->dev)->first;

	if (side->is_waiting)
		return;
	side->is_waiting = true;
	while (*at && (*at)->of < side->of)
		at = &(*at)->next;
	side->next = *at;
	*at = side;
}

void pairs_settle(struct lab *lab)
{
	struct pairs_share *share = &lab->pairs->shares[lab->number];
	struct side *side;

	while ((side = share->first)) {
		share->first = side->next;
		side->is_waiting = false;
		lab->pairs->settle(side);
	}
}

/* ---- connecting ---------------------------------------------------------- */

static unsigned timeout_code(hd_time least)
{
	unsigned code = 1;

	while (code < 31 && ack_timeout(code) < least)
		code++;
	return code;
}

static const struct pairs_host *host_of(const struct v_device *dev)
{
	return &dev->lab->pairs->hosts[dev->host];
}

static void host_need(struct v_device *dev)
{
	struct pairs *pairs = dev->lab->pairs;
	struct pairs_host *h = &pairs->hosts[dev->host];

	if (h->pd)
		return;
	h->pd = v_pd_new(dev);
	h->mr = v_mr_new(h->pd, share_of(dev)->memory, pairs->memory_len, ACCESS_LOCAL_WRITE, 0);
}

static struct v_qp *make_pair(const struct connection *c, struct v_device *dev, struct depths room)
{
	const struct v_qp_init init = {
		.kind = c->kind,
		.send_cq = c->sends.cq,
		.recv_cq = c->receives.cq,
		.max_send = room.send,
		.max_recv = room.recv,
		.max_sge = 1,
	};

	host_need(dev);
	return v_qp_new(host_of(dev)->pd, &init);
}

static enum hd_status connect(struct v_qp *qp, const struct v_qp *peer,
			      const struct qp_attr *common)
{
	struct qp_attr a = *common;
	enum hd_status status = HD_OK;

	a.slid = v_lid(qp->dev);
	a.dlid = v_lid(peer->dev);
	a.sl = v_path_sl(qp->dev, a.dlid, common->sl);
	a.dest_qpn = v_qpn(peer);
	for (unsigned i = 0; i < 3 && status == HD_OK; i++) {
		a.state = QPS_INIT + i;
		status = v_modify(qp, &a, qp_step_mask(qp_params(qp->qp)->kind, a.state));
	}
	return status;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static enum hd_status connect_both(const struct connection *c, const struct connecting *how)
{
	const struct scenario *s = c->from->dev->lab->build->scenario;
	uint32_t there = v_path_mtu(c->from->dev, v_lid(c->to->dev));
	uint32_t back = v_path_mtu(c->to->dev, v_lid(c->from->dev));
	struct qp_attr common = {
		.pkey = how->pkey,
		.qkey = QKEY,
		.sl = how->sl,
		.mtu = least((uint32_t)s->fabric.mtu, least(there, back)),
		.max_dest_rd = 1,
		.max_rd = 1,
		.min_rnr = 1,
		.timeout = (uint8_t)timeout_code(how->ack_timeout),
		.retry = 7,
		.rnr_retry = 7,
	};
	enum hd_status status = common.mtu ? connect(c->from, c->to, &common) : HD_ERR_UNFIT;

	/* Who takes what a limited member sends is a full one. */
	common.pkey |= PKEY_FULL;
	if (status == HD_OK)
		status = connect(c->to, c->from, &common);
	if (status != HD_OK)
		return HD_ERR_UNFIT;
	connection_stock(c);
	return HD_OK;
}

static void note(void *context)
{
	side_wait(context);
}

static void make_side(struct side *side, struct connection *c, struct v_device *dev,
		      uint32_t entries)
{
	side->of = c;
	side->cq = v_cq_new(dev, entries, NULL);
	side->cq->note = note;
	side->cq->context = side;
}

enum hd_status connection_open(struct connection *c, struct v_device *from, struct v_device *to,
			       const struct connecting *how)
{
	struct depths at_end = how->to;

	/* A packet that closes a gap may complete all that are under way. */
	if (v_window(to, c->kind) && at_end.recv < how->from.send)
		at_end.recv = how->from.send;
	make_side(&c->sends, c, from, how->from.send);
	make_side(&c->receives, c, to, at_end.recv);
	c->from = make_pair(c, from, how->from);
	c->to = make_pair(c, to, at_end);
	return connect_both(c, how);
}

void connection_fini(struct connection *c)
{
	v_cq_free(c->sends.cq);
	v_cq_free(c->receives.cq);
}

/* ---- messages ------------------------------------------------------------ */

void connection_stock(const struct connection *c)
{
	const struct v_mr *mr = host_of(c->to->dev)->mr;
	uint32_t room = c->kind == QP_UD ? GRH_SIZE : 0;
	const struct recv_wr wr = {
		.n_sge = 1,
		.sge[0] = { v_mr_addr(mr), c->length + room, v_mr_key(mr) },
	};

	while (v_post_recv(c->to, &wr) == HD_OK)
		;
}

void connection_post(const struct connection *c, struct send_wr *wr, uint32_t length)
{
	const struct pairs_host *host = host_of(c->from->dev);

	wr->flags = WR_SIGNALED;
	wr->n_sge = 1;
	wr->sge[0] = (struct sge){ v_mr_addr(host->mr), length, v_mr_key(host->mr) };
	if (c->kind == QP_UD) {
		wr->to = v_ah(host->pd, v_lid(c->to->dev), c->from->sl);
		wr->to.qpn = v_qpn(c->to);
		wr->to.qkey = QKEY;
	}
	enum hd_status status = v_post_send(c->from, wr);

	assert(status == HD_OK);
	(void)status;
}

void connection_go(const struct connection *c)
{
	device_activate(c->from->dev, c->from);
	device_send(c->from->dev);
}

/* ---- as bytes ------------------------------------------------------------ */

/* Those that have completions which nobody has looked at, share by share; the
 * caller frees them. */
static struct side **waiting_of(const struct pairs *pairs, size_t *n)
{
	struct side **all = NULL;
	size_t cap = 0;

	for (uint32_t i = 0; i < pairs->n_shares; i++) {
		for (struct side *x = pairs->shares[i].first; x; x = x->next) {
			/* NOLINTNEXTLINE(bugprone-sizeof-expression) */
			all = hd_grow(all, &cap, *n + 1, sizeof(*all));
			all[(*n)++] = x;
		}
	}
	return all;
}

static void pack_side(struct pack *k, const struct connections *of, struct side **x)
{
	char *first = of->first;
	uint32_t number = k->reads ? 0 : (uint32_t)((size_t)((char *)(*x)->of - first) / of->size);
	bool receives = !k->reads && *x == &(*x)->of->receives;

	pack_u32(k, &number);
	pack_bool(k, &receives);
	if (!k->reads || !pack_check(k, number < of->n))
		return;
	struct connection *c = (void *)(first + number * of->size);

	*x = receives ? &c->receives : &c->sends;
}

void pairs_pack_waiting(struct pairs *pairs, struct pack *k, const struct connections *of)
{
	size_t n = 0;
	struct side **all = waiting_of(pairs, &n);

	n = pack_count(k, n);
	if (k->reads)
		/* NOLINTNEXTLINE(bugprone-sizeof-expression) */
		all = hd_realloc(all, n, sizeof(*all));
	for (size_t i = 0; i < n && !k->refused; i++)
		pack_side(k, of, &all[i]);
	/* The one that came last is looked at first. */
	for (size_t i = n; k->reads && !k->refused && i-- > 0;)
		side_wait(all[i]);
	free(all);
}
