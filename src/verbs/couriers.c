/* SPDX-License-Identifier: BSD-2-Clause */
#include "verbs/couriers.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/ring.h"
#include "verbs/pairs.h"

#define PIECE      (UINT64_C(1) << 20) /* bytes of a SEND, at most */
#define SEND_DEPTH 128                 /* SENDs under way (Q3) */
#define RECV_DEPTH 8                   /* restocked after every event */
#define LAST_PIECE (UINT64_C(1) << 32) /* in a SEND's id, above the message */

/* A message of which some SENDs are not posted yet. */
struct queued {
	uint32_t message;
	uint64_t rest; /* bytes */
};

struct courier {
	struct connection link; /* the first, so that a side knows us */
	const struct courier_listener *listener;
	void *context;
	/* The source's. */
	struct queued *queue; /* ring; `head` and `tail` count */
	uint32_t head, tail, size;
	uint32_t under_way; /* SENDs */
	uint64_t sends;
	uint64_t retries; /* if another process has the source */
	uint64_t early;   /* ... or the destination */
	bool is_broken;
};

struct couriers {
	struct profile profile;
	struct lab *lab;
	struct courier *items;
	uint32_t n, most;
};

/* ---- sending ------------------------------------------------------------- */

uint32_t courier_pieces(uint64_t bytes)
{
	return bytes ? (uint32_t)((bytes + PIECE - 1) / PIECE) : 1;
}

static void queue_put(struct courier *c, struct queued one)
{
	c->queue = ring_grow(c->queue, &c->size, c->head, c->tail, sizeof(*c->queue));
	c->queue[c->tail++ % c->size] = one;
}

static void post_piece(struct courier *c, struct queued *q)
{
	uint64_t bytes = q->rest < PIECE ? q->rest : PIECE;
	struct send_wr wr = { .id = q->message, .kind = WR_SEND_IMM, .imm = q->message };

	q->rest -= bytes;
	if (!q->rest) {
		wr.id |= LAST_PIECE;
		c->head++;
	}
	connection_post(&c->link, &wr, (uint32_t)bytes);
	c->under_way++;
	c->sends++;
}

static void post_all(struct courier *c)
{
	uint64_t before = c->sends;

	while (!c->is_broken && c->under_way < SEND_DEPTH && c->head != c->tail)
		post_piece(c, &c->queue[c->head % c->size]);
	if (c->sends > before)
		connection_go(&c->link);
}

void courier_send(struct couriers *all, uint32_t courier, hd_time now, uint32_t message,
		  uint64_t bytes)
{
	struct courier *c = &all->items[courier];

	c->link.from->dev->lab->now = now;
	queue_put(c, (struct queued){ message, bytes });
	post_all(c);
}

/* ---- completions --------------------------------------------------------- */

static void take_done(struct courier *c, const struct cq_entry *e)
{
	const struct lab *lab = c->link.from->dev->lab;
	bool is_acknowledged = e->wc.status == WC_SUCCESS;

	c->under_way--;
	c->is_broken |= !is_acknowledged;
	if (!is_acknowledged || e->wc.id & LAST_PIECE)
		c->listener->done(c->context, lab->number, lab->now, (uint32_t)e->wc.id,
				  is_acknowledged);
}

static void take_received(const struct courier *c, const struct cq_entry *e)
{
	const struct lab *lab = c->link.to->dev->lab;

	if (e->wc.status == WC_SUCCESS)
		c->listener->arrived(c->context, lab->number, lab->now, e->wc.imm);
}

static struct courier *courier_of(struct side *side)
{
	return (struct courier *)side->of;
}

/* What a listener does may post more, and so fill the queue's free places. */
static void settle(struct side *side)
{
	struct courier *c = courier_of(side);
	struct v_cq *cq = side->cq;
	bool receives = side == &c->link.receives;

	while (cq->head != cq->tail) {
		const struct cq_entry e = *cq_at(cq, cq->head++);

		if (receives)
			take_received(c, &e);
		else
			take_done(c, &e);
	}
	if (receives)
		connection_stock(&c->link);
	else
		post_all(c);
}

uint32_t courier_of_pair(const struct couriers *all, const struct v_qp *qp)
{
	const struct courier *c = courier_of(qp->send_cq->context);

	return (uint32_t)(c - all->items);
}

void courier_passes(const struct couriers *all, const struct sim_passage *x)
{
	/* What another process sent may be any number. */
	if (x->number >= all->n)
		return;
	const struct courier *c = &all->items[x->number];

	c->listener->passes(c->context, x);
}

/* ---- all of them --------------------------------------------------------- */

enum hd_status couriers_new(struct fabric *f, uint32_t most, struct diag *d, struct couriers **out)
{
	struct couriers *all = hd_alloc(1, sizeof(*all));
	enum hd_status status = profile_open("ideal", d, &all->profile);

	if (status != HD_OK) {
		free(all);
		return status;
	}
	all->lab = lab_new(f, &all->profile);
	all->lab->couriers = all;
	all->items = hd_alloc(most, sizeof(*all->items));
	all->most = most;
	pairs_open(all->lab, settle, PIECE);
	*out = all;
	return HD_OK;
}

void couriers_free(struct couriers *all)
{
	for (uint32_t i = 0; i < all->n; i++) {
		connection_fini(&all->items[i].link);
		free(all->items[i].queue);
	}
	lab_free(all->lab);
	profile_fini(&all->profile);
	free(all->items);
	free(all);
}

enum hd_status courier_open(struct couriers *all, const struct courier_want *want)
{
	const struct connecting how = {
		.from = { SEND_DEPTH, 1 },
		.to = { 1, RECV_DEPTH },
		.pkey = want->pkey,
		.sl = want->sl,
		.ack_timeout = want->ack_timeout,
	};
	struct lab *lab = all->lab;
	struct courier *c = &all->items[all->n];

	assert(all->n < all->most);
	all->n++;
	*c = (struct courier){
		.link = { .kind = QP_RC, .length = (uint32_t)PIECE },
		.listener = want->listener,
		.context = want->context,
	};
	return connection_open(&c->link, &lab->devices[lab->device_of_node[want->from]],
			       &lab->devices[lab->device_of_node[want->to]], &how);
}

void couriers_attach(struct couriers *all, struct sim *s)
{
	lab_use_sim(all->lab, s);
}

/* Of a run that several processes compute. */
static bool is_elsewhere(const struct v_qp *qp)
{
	const struct lab *lab = qp->dev->lab;

	return lab->pools[lab->number].is_elsewhere;
}

struct courier_counts courier_counts(const struct couriers *all, uint32_t courier)
{
	const struct courier *c = &all->items[courier];

	return (struct courier_counts){
		.sends = c->sends,
		.retries = is_elsewhere(c->link.from) ? c->retries : qp_retries(c->link.from->qp),
		.early = is_elsewhere(c->link.to) ? c->early : qp_early(c->link.to->qp),
		.is_broken = c->is_broken,
	};
}

static const struct pack_member counted_members[] = {
	PACK(courier, sends),
	PACK(courier, retries),
	PACK(courier, is_broken),
};

void couriers_collect(struct couriers *all, struct pack *k, uint32_t part)
{
	for (uint32_t i = 0; i < all->n; i++) {
		struct courier *c = &all->items[i];

		if (c->link.from->dev->lab->number == part) {
			if (!k->reads)
				c->retries = qp_retries(c->link.from->qp);
			PACK_STRUCT(k, counted_members, c);
		}
		if (c->link.to->dev->lab->number == part) {
			if (!k->reads)
				c->early = qp_early(c->link.to->qp);
			pack_u64(k, &c->early);
		}
	}
}

/* ---- as bytes ------------------------------------------------------------ */

static const struct pack_member source_members[] = {
	PACK(courier, under_way),
	PACK(courier, sends),
	PACK(courier, is_broken),
};

static const struct pack_member queued_members[] = {
	PACK(queued, message),
	PACK(queued, rest),
};

static void pack_source(struct courier *c, struct pack *k)
{
	size_t n = pack_count(k, c->tail - c->head);

	PACK_STRUCT(k, source_members, c);
	for (size_t i = 0; i < n && !k->refused; i++) {
		struct queued one = { 0 };

		if (!k->reads)
			one = c->queue[(c->head + (uint32_t)i) % c->size];
		PACK_STRUCT(k, queued_members, &one);
		if (k->reads)
			queue_put(c, one);
	}
	cq_pack(c->link.sends.cq, k);
}

void couriers_pack(struct couriers *all, struct pack *k, const struct sim_section *section)
{
	const struct connections of = { all->items, sizeof(*all->items), all->n };

	pack_same(k, all->n);
	for (uint32_t i = 0; i < all->n && !k->refused; i++) {
		struct courier *c = &all->items[i];

		if (section_has(section, c->link.from->dev->node))
			pack_source(c, k);
		if (section_has(section, c->link.to->dev->node))
			cq_pack(c->link.receives.cq, k);
	}
	pairs_pack_waiting(all->lab->pairs, k, &of);
}
