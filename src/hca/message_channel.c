/* SPDX-License-Identifier: BSD-2-Clause */
#include "hca/message_channel.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/ring.h"
#include "hca/message_end.h"
#include "transport/codes.h"
#include "wire/headers.h"

#define SEND_DEPTH 128                 /* SENDs under way per channel (Q3) */
#define LAST_PIECE (UINT64_C(1) << 32) /* in a SEND's id, above the message */
#define QKEY       0x11111111u

/* A message of which some SENDs are not posted yet. */
struct queued_message {
	uint32_t number;
	uint64_t rest; /* bytes */
};

struct message_channel {
	const struct channel_listener *listener;
	void *context;
	enum qp_kind kind;
	uint32_t piece;
	bool has_number;
	struct v_qp *from, *to;
	struct message_end sends, receives;
	/* The source's. */
	struct queued_message *queue; /* ring; `head` and `tail` count */
	uint32_t head, tail, places;
	uint32_t under_way; /* SENDs */
	uint64_t n_sends;
	uint64_t retries; /* if another process has the source */
	uint64_t early;   /* ... or the destination */
	bool is_broken;
};

/*
 * What the adapters of one part have in common (lab.number): memory, which all
 * SENDs are read from and written to, and the ends with completions.
 */
struct channel_share {
	uint8_t *memory;
	struct message_end *first;
};

struct message_channels {
	struct lab *lab;
	struct message_channel *items;
	uint32_t n, most;
	struct message_host *hosts;
	uint64_t memory_len;
	struct channel_share *shares;
	uint32_t n_shares;
};

static struct channel_share *share_of(const struct v_device *dev)
{
	return &dev->lab->channels->shares[dev->lab->number];
}

static const struct message_host *host_of(const struct v_device *dev)
{
	return &dev->lab->channels->hosts[dev->host];
}

static uint32_t number_of(const struct message_channel *c)
{
	return (uint32_t)(c - c->from->dev->lab->channels->items);
}

/* ---- messages ------------------------------------------------------------ */

uint32_t channel_pieces(uint64_t bytes)
{
	return bytes ? (uint32_t)((bytes + CHANNEL_PIECE - 1) / CHANNEL_PIECE) : 1;
}

static void stock(const struct message_channel *c)
{
	const struct recv_wr wr = hca_message_receive(
		host_of(c->to->dev), c->piece + (c->kind == QP_UD ? GRH_SIZE : 0u));

	while (v_post_recv(c->to, &wr) == HD_OK)
		;
}

static void queue_put(struct message_channel *c, struct queued_message m)
{
	c->queue = ring_grow(c->queue, &c->places, c->head, c->tail, sizeof(*c->queue));
	c->queue[c->tail++ % c->places] = m;
}

static void post_piece(struct message_channel *c)
{
	const struct message_host *host = host_of(c->from->dev);
	struct queued_message *m = &c->queue[c->head % c->places];
	uint32_t bytes = m->rest < c->piece ? (uint32_t)m->rest : c->piece;
	struct send_wr wr = {
		.id = m->number,
		.kind = c->has_number ? WR_SEND_IMM : WR_SEND,
		.imm = m->number,
		.flags = WR_SIGNALED,
		.n_sge = 1,
		.sge[0] = { v_mr_addr(host->mr), bytes, v_mr_key(host->mr) },
	};

	m->rest -= bytes;
	if (!m->rest) {
		wr.id |= LAST_PIECE;
		c->head++;
	}
	if (c->kind == QP_UD) {
		wr.to = v_ah(host->pd, v_lid(c->to->dev), c->from->sl);
		wr.to.qpn = v_qpn(c->to);
		wr.to.qkey = QKEY;
	}
	enum hd_status status = v_post_send(c->from, &wr);

	assert(status == HD_OK);
	(void)status;
	c->under_way++;
	c->n_sends++;
}

static bool has_message(struct message_channel *c)
{
	if (c->head == c->tail && c->listener->refill)
		c->listener->refill(c->context, number_of(c));
	return c->head != c->tail;
}

static void post_all(struct message_channel *c)
{
	uint64_t before = c->n_sends;

	while (!c->is_broken && c->under_way < SEND_DEPTH && has_message(c))
		post_piece(c);
	if (c->n_sends > before) {
		device_activate(c->from->dev, c->from);
		device_send(c->from->dev);
	}
}

void channel_queue(struct lab *lab, uint32_t channel, uint32_t message, uint64_t bytes)
{
	queue_put(&lab->channels->items[channel], (struct queued_message){ message, bytes });
}

void channel_post(struct lab *lab, uint32_t channel)
{
	post_all(&lab->channels->items[channel]);
}

void channel_send(struct lab *lab, uint32_t channel, hd_time now, uint32_t message, uint64_t bytes)
{
	struct message_channel *c = &lab->channels->items[channel];

	c->from->dev->lab->now = now;
	queue_put(c, (struct queued_message){ message, bytes });
	post_all(c);
}

/* ---- completions --------------------------------------------------------- */

static void take_done(struct message_channel *c, const struct hca_cq_entry *e)
{
	const struct message_event event = {
		.channel = number_of(c),
		.part = c->from->dev->lab->number,
		.message = (uint32_t)e->wc.id,
		.when = e->when,
		.is_acknowledged = e->wc.status == WC_SUCCESS,
	};

	c->under_way--;
	c->is_broken |= !event.is_acknowledged;
	if (!event.is_acknowledged || e->wc.id & LAST_PIECE)
		c->listener->done(c->context, &event);
}

static void take_received(const struct message_channel *c, const struct hca_cq_entry *e)
{
	const struct message_event event = {
		.channel = number_of(c),
		.part = c->to->dev->lab->number,
		.message = e->wc.imm,
		.when = e->when,
	};

	if (e->wc.status == WC_SUCCESS)
		c->listener->arrived(c->context, &event);
}

/* A listener may post more, and so fill the queue's free places. */
static void settle(struct message_end *end)
{
	struct message_channel *c = end->of;
	struct v_cq *cq = end->cq;
	bool receives = end == &c->receives;

	while (cq->head != cq->tail) {
		const struct hca_cq_entry e = *cq_at(cq, cq->head++);

		if (receives)
			take_received(c, &e);
		else
			take_done(c, &e);
	}
	if (receives)
		stock(c);
	else
		post_all(c);
}

/* Ends wait in the order of their channels, of one channel the last first. */
static void end_wait(void *context)
{
	struct message_end *end = context, **at = &share_of(end->cq->dev)->first;

	if (end->is_waiting)
		return;
	end->is_waiting = true;
	while (*at && (struct message_channel *)(*at)->of < (struct message_channel *)end->of)
		at = &(*at)->next;
	end->next = *at;
	*at = end;
}

void hca_channels_settle(struct lab *lab)
{
	struct channel_share *share = &lab->channels->shares[lab->number];
	struct message_end *end;

	while ((end = share->first)) {
		share->first = end->next;
		end->is_waiting = false;
		settle(end);
	}
}

/* ---- packets ------------------------------------------------------------- */

uint32_t channel_of_pair(const struct v_qp *qp)
{
	const struct message_end *end = qp->send_cq->context;

	return number_of(end->of);
}

void channel_passes(const struct lab *lab, const struct sim_passage *x)
{
	/* Another process may have sent any number. */
	if (x->number >= lab->channels->n)
		return;
	const struct message_channel *c = &lab->channels->items[x->number];

	c->listener->passes(c->context, x);
}

/* ---- all of them --------------------------------------------------------- */

static void shares_add(struct message_channels *all, uint32_t n)
{
	all->shares = hd_realloc(all->shares, n, sizeof(*all->shares));
	for (; all->n_shares < n; all->n_shares++)
		all->shares[all->n_shares] = (struct channel_share){
			.memory = hd_alloc(all->memory_len, 1),
		};
}

void hca_channels_open(struct lab *lab, uint32_t most, uint64_t longest)
{
	struct message_channels *all = hd_alloc(1, sizeof(*all));

	*all = (struct message_channels){
		.lab = lab,
		.items = hd_alloc(most, sizeof(*all->items)),
		.most = most,
		.hosts = hd_alloc(lab->n_devices, sizeof(*all->hosts)),
		.memory_len = longest + GRH_SIZE,
	};
	shares_add(all, 1);
	lab->channels = all;
}

void hca_channels_close(struct message_channels *all)
{
	for (uint32_t i = 0; i < all->n; i++) {
		v_cq_free(all->items[i].sends.cq);
		v_cq_free(all->items[i].receives.cq);
		free(all->items[i].queue);
	}
	for (uint32_t i = 0; i < all->lab->n_devices; i++)
		v_pd_free(all->hosts[i].pd);
	for (uint32_t i = 0; i < all->n_shares; i++)
		free(all->shares[i].memory);
	free(all->shares);
	free(all->hosts);
	free(all->items);
	free(all);
}

void hca_channels_cut(struct message_channels *all, uint32_t n)
{
	shares_add(all, n);
	for (uint32_t i = 0; i < all->lab->n_devices; i++) {
		if (all->hosts[i].mr)
			all->hosts[i].mr->memory = share_of(&all->lab->devices[i])->memory;
	}
}

/* ---- connecting ---------------------------------------------------------- */

static uint8_t timeout_code(hd_time least)
{
	uint8_t code = 1;

	while (code < 31 && qp_ack_timeout(code) < least)
		code++;
	return code;
}

static struct v_qp *pair_new(const struct message_channel *c, struct v_device *dev, uint32_t sends,
			     uint32_t receives)
{
	struct message_channels *all = dev->lab->channels;
	const struct message_memory memory = { share_of(dev)->memory, all->memory_len,
					       ACCESS_LOCAL_WRITE };
	const struct v_qp_init init = {
		.kind = c->kind,
		.send_cq = c->sends.cq,
		.recv_cq = c->receives.cq,
		.max_send = sends,
		.max_recv = receives,
		.max_sge = 1,
	};

	hca_message_host_need(&all->hosts[dev->host], dev, &memory);
	return v_qp_new(host_of(dev)->pd, &init);
}

static enum hd_status connect(struct v_qp *qp, const struct v_qp *peer,
			      const struct qp_attr *common)
{
	struct qp_attr a = *common;

	a.slid = v_lid(qp->dev);
	a.dlid = v_lid(peer->dev);
	a.sl = v_path_sl(qp->dev, a.dlid, common->sl);
	a.dest_qpn = v_qpn(peer);
	return message_connect(qp, &a, QPS_RTS);
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static enum hd_status connect_both(const struct message_channel *c, const struct channel_params *p)
{
	const struct scenario *s = c->from->dev->lab->fabric->scenario;
	uint32_t there = v_path_mtu(c->from->dev, v_lid(c->to->dev));
	uint32_t back = v_path_mtu(c->to->dev, v_lid(c->from->dev));
	struct qp_attr common = {
		.pkey = p->pkey,
		.qkey = QKEY,
		.sl = p->sl,
		.mtu = least((uint32_t)s->fabric.mtu, least(there, back)),
		.max_dest_rd = 1,
		.max_rd = 1,
		.min_rnr = 1,
		.timeout = timeout_code(p->ack_timeout),
		.retry = 7,
		.rnr_retry = 7,
	};
	enum hd_status status = common.mtu ? connect(c->from, c->to, &common) : HD_ERR_UNFIT;

	/* A limited member sends to a full one only. */
	common.pkey |= PKEY_FULL;
	if (status == HD_OK)
		status = connect(c->to, c->from, &common);
	if (status != HD_OK)
		return HD_ERR_UNFIT;
	stock(c);
	return HD_OK;
}

enum hd_status channel_open(struct lab *lab, const struct channel_params *p)
{
	struct message_channels *all = lab->channels;
	struct message_channel *c = &all->items[all->n];
	struct v_device *from = &lab->devices[lab->device_of_node[p->from]];
	struct v_device *to = &lab->devices[lab->device_of_node[p->to]];
	uint32_t receives = p->receives;

	assert(all->n < all->most);
	lab->names_channels |= p->listener->passes != NULL;
	all->n++;
	*c = (struct message_channel){
		.listener = p->listener,
		.context = p->context,
		.kind = p->kind,
		.piece = p->piece,
		.has_number = p->has_number,
	};
	/* A packet that closes a gap may complete all that are under way. */
	if (v_window(to, p->kind) && receives < SEND_DEPTH)
		receives = SEND_DEPTH;
	hca_message_end_init(&c->sends, c, from, SEND_DEPTH, end_wait);
	hca_message_end_init(&c->receives, c, to, receives, end_wait);
	c->from = pair_new(c, from, SEND_DEPTH, 1);
	c->to = pair_new(c, to, 1, receives);
	return connect_both(c, p);
}

/* ---- what was counted ---------------------------------------------------- */

/* Of a run that several processes compute. */
static bool is_elsewhere(const struct v_qp *qp)
{
	const struct lab *lab = qp->dev->lab;

	return lab->pools[lab->number].is_elsewhere;
}

struct channel_counts channel_counts(const struct lab *lab, uint32_t channel)
{
	const struct message_channel *c = &lab->channels->items[channel];

	return (struct channel_counts){
		.sends = c->n_sends,
		.retries = is_elsewhere(c->from) ? c->retries : qp_retries(c->from->qp),
		.early = is_elsewhere(c->to) ? c->early : qp_early(c->to->qp),
		.is_broken = c->is_broken,
	};
}

static const struct pack_member counted_members[] = {
	PACK(message_channel, n_sends),
	PACK(message_channel, retries),
	PACK(message_channel, is_broken),
};

void hca_channels_collect(struct message_channels *all, struct pack *k, uint32_t part)
{
	for (uint32_t i = 0; i < all->n; i++) {
		struct message_channel *c = &all->items[i];

		if (c->from->dev->lab->number == part) {
			if (!k->reads)
				c->retries = qp_retries(c->from->qp);
			PACK_STRUCT(k, counted_members, c);
		}
		if (c->to->dev->lab->number == part) {
			if (!k->reads)
				c->early = qp_early(c->to->qp);
			pack_u64(k, &c->early);
		}
	}
}

/* ---- as bytes ------------------------------------------------------------ */

static const struct pack_member source_members[] = {
	PACK(message_channel, under_way),
	PACK(message_channel, n_sends),
	PACK(message_channel, is_broken),
};

static const struct pack_member queued_members[] = {
	PACK(queued_message, number),
	PACK(queued_message, rest),
};

PACK_KNOWS(message_channel, 168);

static void pack_source(struct message_channel *c, struct pack *k)
{
	size_t n = pack_count(k, c->tail - c->head);

	PACK_STRUCT(k, source_members, c);
	for (size_t i = 0; i < n && !k->refused; i++) {
		struct queued_message one = { 0 };

		if (!k->reads)
			one = c->queue[(c->head + (uint32_t)i) % c->places];
		PACK_STRUCT(k, queued_members, &one);
		if (k->reads)
			queue_put(c, one);
	}
	hca_cq_pack(c->sends.cq, k);
}

/* The ends with completions, share by share; the caller frees them. */
static struct message_end **waiting_ends(const struct message_channels *all, size_t *n)
{
	struct message_end **ends = NULL;
	size_t cap = 0;

	for (uint32_t i = 0; i < all->n_shares; i++) {
		for (struct message_end *x = all->shares[i].first; x; x = x->next) {
			/* NOLINTNEXTLINE(bugprone-sizeof-expression) */
			ends = hd_grow(ends, &cap, *n + 1, sizeof(*ends));
			ends[(*n)++] = x;
		}
	}
	return ends;
}

static void pack_end(const struct message_channels *all, struct pack *k, struct message_end **x)
{
	uint32_t number = k->reads ? 0 : number_of((*x)->of);
	bool receives = !k->reads && *x == &((struct message_channel *)(*x)->of)->receives;

	pack_u32(k, &number);
	pack_bool(k, &receives);
	if (k->reads && pack_check(k, number < all->n))
		*x = receives ? &all->items[number].receives : &all->items[number].sends;
}

static void pack_waiting(const struct message_channels *all, struct pack *k)
{
	size_t n = 0;
	struct message_end **ends = waiting_ends(all, &n);

	n = pack_count(k, n);
	if (k->reads)
		/* NOLINTNEXTLINE(bugprone-sizeof-expression) */
		ends = hd_realloc(ends, n, sizeof(*ends));
	for (size_t i = 0; i < n && !k->refused; i++)
		pack_end(all, k, &ends[i]);
	/* The last one in goes before others of its channel. */
	for (size_t i = n; k->reads && !k->refused && i-- > 0;)
		end_wait(ends[i]);
	free(ends);
}

void hca_channels_pack(struct message_channels *all, struct pack *k,
		       const struct sim_section *section)
{
	pack_same(k, all->n);
	for (uint32_t i = 0; i < all->n && !k->refused; i++) {
		struct message_channel *c = &all->items[i];

		if (section_has(section, c->from->dev->node))
			pack_source(c, k);
		if (section_has(section, c->to->dev->node))
			hca_cq_pack(c->receives.cq, k);
	}
	pack_waiting(all, k);
}
