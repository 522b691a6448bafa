/* SPDX-License-Identifier: BSD-2-Clause */
#include "hca/message_channel.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/ring.h"
#include "hca/external_qp_internal.h"
#include "transport/codes.h"

#define SEND_DEPTH 128                 /* SENDs in flight per channel (Q3) */
#define LAST_PIECE (UINT64_C(1) << 32) /* flag in a SEND's id */
#define QKEY       0x11111111u

/* A message whose SENDs are not all posted yet. */
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
	struct external_qp *from, *to;
	/* Source only. */
	struct queued_message *queue; /* ring; `head` and `tail` count */
	uint32_t head, tail, places;
	uint32_t under_way; /* SENDs */
	uint64_t n_sends;
	uint64_t retries; /* of a source in another process */
	uint64_t early;   /* of a destination in another process */
	bool is_broken;
};

struct message_channels {
	struct lab *lab;
	struct message_channel *items;
	uint32_t n, most;
};

static const struct message_channels *channels_of(const struct external_qp *q)
{
	return q->qp->dev->lab->channels;
}

static uint32_t number_of(const struct message_channel *c)
{
	return (uint32_t)(c - channels_of(c->from)->items);
}

/* ---- messages ------------------------------------------------------------ */

uint32_t channel_pieces(uint64_t bytes)
{
	return bytes ? (uint32_t)((bytes + CHANNEL_PIECE - 1) / CHANNEL_PIECE) : 1;
}

static void stock(const struct message_channel *c)
{
	while (external_qp_receive(c->to))
		;
}

static void queue_put(struct message_channel *c, struct queued_message m)
{
	c->queue = ring_grow(c->queue, &c->places, c->head, c->tail, sizeof(*c->queue));
	c->queue[c->tail++ % c->places] = m;
}

static void post_piece(struct message_channel *c)
{
	struct queued_message *m = &c->queue[c->head % c->places];
	uint32_t bytes = m->rest < c->piece ? (uint32_t)m->rest : c->piece;
	struct send_wr wr = {
		.id = m->number,
		.kind = c->has_number ? WR_SEND_IMM : WR_SEND,
		.imm = m->number,
		.n_sge = 1,
		.sge[0].length = bytes,
		.to = { .dlid = v_lid(c->to->qp->dev), .sl = c->from->qp->sl, .qkey = QKEY },
	};

	m->rest -= bytes;
	if (!m->rest) {
		wr.id |= LAST_PIECE;
		c->head++;
	}
	bool is_posted = external_qp_post(c->from, c->to, &wr);

	assert(is_posted);
	(void)is_posted;
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
	if (c->n_sends > before)
		external_qp_ring(c->from);
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

	c->from->qp->dev->lab->now = now;
	queue_put(c, (struct queued_message){ message, bytes });
	post_all(c);
}

/* ---- completions --------------------------------------------------------- */

static void take_done(struct message_channel *c, const struct hca_cq_entry *e)
{
	const struct message_event event = {
		.channel = number_of(c),
		.part = c->from->qp->dev->lab->number,
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
		.part = c->to->qp->dev->lab->number,
		.message = e->wc.imm,
		.when = e->when,
	};

	if (e->wc.status == WC_SUCCESS)
		c->listener->arrived(c->context, &event);
}

static struct message_channel *channel_of(const struct external_end *end)
{
	return end->of->owner;
}

static bool is_of_receives(const struct external_end *end)
{
	return end == &end->of->receives;
}

/* A listener may queue more messages and so refill the queue. */
static void settle(const struct external_end *end)
{
	struct message_channel *c = channel_of(end);
	struct v_cq *cq = end->cq;

	while (cq->head != cq->tail) {
		const struct hca_cq_entry e = *cq_at(cq, cq->head++);

		if (is_of_receives(end))
			take_received(c, &e);
		else
			take_done(c, &e);
	}
	if (is_of_receives(end))
		stock(c);
	else
		post_all(c);
}

/* Ends are sorted by channel; within a channel, the last one first. */
static void end_wait(struct external_end *end)
{
	struct external_end **at = &end->of->all->waiting[end->cq->dev->lab->number];

	if (end->is_waiting)
		return;
	end->is_waiting = true;
	while (*at && channel_of(*at) < channel_of(end))
		at = &(*at)->next;
	end->next = *at;
	*at = end;
}

void hca_channels_settle(struct lab *lab)
{
	struct external_end **waiting = &lab->external->waiting[lab->number], *end;

	while ((end = *waiting)) {
		*waiting = end->next;
		end->is_waiting = false;
		settle(end);
	}
}

/* ---- packets ------------------------------------------------------------- */

uint32_t channel_of_pair(const struct v_qp *qp)
{
	return number_of(external_of(qp->send_cq)->owner);
}

void channel_passes(const struct lab *lab, const struct sim_passage *x)
{
	/* A number from another process may be invalid. */
	if (x->number >= lab->channels->n)
		return;
	const struct message_channel *c = &lab->channels->items[x->number];

	c->listener->passes(c->context, x);
}

/* ---- all of them --------------------------------------------------------- */

void hca_channels_open(struct lab *lab, uint32_t most)
{
	struct message_channels *all = hd_alloc(1, sizeof(*all));

	*all = (struct message_channels){
		.lab = lab,
		.items = hd_alloc(most, sizeof(*all->items)),
		.most = most,
	};
	lab->channels = all;
	(void)external_qps_open(lab, end_wait);
}

void hca_channels_close(struct message_channels *all)
{
	for (uint32_t i = 0; i < all->n; i++)
		free(all->items[i].queue);
	free(all->items);
	free(all);
}

/* ---- connecting ---------------------------------------------------------- */

static uint8_t timeout_code(hd_time least)
{
	uint8_t code = 1;

	while (code < 31 && qp_ack_timeout(code) < least)
		code++;
	return code;
}

static enum hd_status connect(struct external_qp *q, struct external_qp *peer,
			      const struct qp_attr *common)
{
	struct qp_attr a = *common;

	a.slid = v_lid(q->qp->dev);
	a.dlid = v_lid(peer->qp->dev);
	a.sl = v_path_sl(q->qp->dev, a.dlid, common->sl);
	enum hd_status status = external_qp_connect(q, peer, &a);

	return status == HD_OK ? external_qp_start(q, &a) : status;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static enum hd_status connect_both(const struct message_channel *c, const struct channel_params *p)
{
	const struct v_device *from = c->from->qp->dev, *to = c->to->qp->dev;
	const struct scenario *s = from->lab->fabric->scenario;
	uint32_t there = v_path_mtu(from, v_lid(to)), back = v_path_mtu(to, v_lid(from));
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

	/* A limited member sends only to full members. */
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
	/* A packet that fills a gap may complete all SENDs in flight. */
	if (v_window(to, p->kind) && receives < SEND_DEPTH)
		receives = SEND_DEPTH;
	const struct external_qp_params sends = { .kind = p->kind, .max_send = SEND_DEPTH };
	const struct external_qp_params takes = { .kind = p->kind, .max_recv = receives };

	c->from = external_qp_make(lab->external, from, &sends, c);
	c->to = external_qp_make(lab->external, to, &takes, c);
	return connect_both(c, p);
}

/* ---- what was counted ---------------------------------------------------- */

/* In a run of several processes: whether another process has it. */
static bool is_elsewhere(const struct external_qp *q)
{
	const struct lab *lab = q->qp->dev->lab;

	return lab->pools[lab->number].is_elsewhere;
}

struct channel_counts channel_counts(const struct lab *lab, uint32_t channel)
{
	const struct message_channel *c = &lab->channels->items[channel];

	return (struct channel_counts){
		.sends = c->n_sends,
		.retries = is_elsewhere(c->from) ? c->retries : qp_retries(c->from->qp->qp),
		.early = is_elsewhere(c->to) ? c->early : qp_early(c->to->qp->qp),
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

		if (c->from->qp->dev->lab->number == part) {
			if (!k->reads)
				c->retries = qp_retries(c->from->qp->qp);
			PACK_STRUCT(k, counted_members, c);
		}
		if (c->to->qp->dev->lab->number == part) {
			if (!k->reads)
				c->early = qp_early(c->to->qp->qp);
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

PACK_KNOWS(message_channel, 104);

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
	hca_cq_pack(c->from->sends.cq, k);
}

/* The ends with completions, domain by domain; the caller frees the array. */
static struct external_end **waiting_ends(const struct external_qps *all, size_t *n)
{
	struct external_end **ends = NULL;
	size_t cap = 0;

	for (uint32_t i = 0; i < all->n_parts; i++) {
		for (struct external_end *x = all->waiting[i]; x; x = x->next) {
			/* NOLINTNEXTLINE(bugprone-sizeof-expression) */
			ends = hd_grow(ends, &cap, *n + 1, sizeof(*ends));
			ends[(*n)++] = x;
		}
	}
	return ends;
}

static void pack_end(const struct message_channels *all, struct pack *k, struct external_end **x)
{
	uint32_t number = k->reads ? 0 : number_of(channel_of(*x));
	bool receives = !k->reads && is_of_receives(*x);

	pack_u32(k, &number);
	pack_bool(k, &receives);
	if (k->reads && pack_check(k, number < all->n))
		*x = receives ? &all->items[number].to->receives : &all->items[number].from->sends;
}

static void pack_waiting(const struct message_channels *all, struct pack *k)
{
	size_t n = 0;
	struct external_end **ends = waiting_ends(all->lab->external, &n);

	n = pack_count(k, n);
	if (k->reads)
		/* NOLINTNEXTLINE(bugprone-sizeof-expression) */
		ends = hd_realloc(ends, n, sizeof(*ends));
	for (size_t i = 0; i < n && !k->refused; i++)
		pack_end(all, k, &ends[i]);
	/* Reversed, because the last one added precedes others of its channel. */
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

		if (section_has(section, c->from->qp->dev->node))
			pack_source(c, k);
		if (section_has(section, c->to->qp->dev->node))
			hca_cq_pack(c->to->receives.cq, k);
	}
	pack_waiting(all, k);
}
