/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory, queue pairs, posting, time. */
#include "world.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define MAX_STEPS 200000u

void complain(struct world *w, const char *format, ...)
{
	va_list args;

	if (w->failed)
		return;
	w->failed = true;
	va_start(args, format);
	vsnprintf(w->why, sizeof(w->why), format, args);
	va_end(args);
}

uint8_t *arena_take(struct world *w, size_t len)
{
	w->arena = hd_grow(w->arena, &w->arena_cap, w->n_arena + 1, sizeof(*w->arena));
	w->arena[w->n_arena] = hd_alloc(len + 1, 1);
	return w->arena[w->n_arena++];
}

/* ---- memory ------------------------------------------------------------ */

const struct region *region_find(const struct half *h, uint32_t key)
{
	struct world *w = h->w;

	for (uint32_t c = 0; c < w->p.n_conn; c++) {
		const struct half *x = &w->half[c][h->side];

		for (unsigned r = 0; r < ROLE_COUNT; r++) {
			if (x->region[r].bytes && x->region[r].key == key)
				return &x->region[r];
		}
	}
	return NULL;
}

bool region_holds(const struct region *r, uint64_t addr, uint64_t len)
{
	return addr >= r->base && addr - r->base <= r->size && len <= r->size - (addr - r->base);
}

static bool on_allows(void *context, uint32_t pd, uint32_t key, uint64_t addr, uint64_t len,
		      unsigned access)
{
	const struct half *h = context;
	const struct region *r = region_find(h, key);

	return r && r->pd == pd && (r->access & access) == access && region_holds(r, addr, len);
}

static void on_read(void *context, uint32_t key, uint64_t addr, void *to, size_t len)
{
	struct half *h = context;
	/* Inline data is read without a key, as programs' memory. */
	uint32_t known = key ? key : h->region[ROLE_INLINE].key;
	const struct region *r = region_find(h, known);

	if (len == 0)
		return;
	if (!r || r->pd != h->pd || !region_holds(r, addr, len)) {
		complain(h->w,
			 "memory read that may not be: key %#" PRIx32 " at %#" PRIx64 ", %zu bytes",
			 key, addr, len);
		memset(to, 0, len);
		return;
	}
	memcpy(to, r->bytes + (addr - r->base), len);
}

static void on_write(void *context, uint32_t key, uint64_t addr, const void *from, size_t len)
{
	struct half *h = context;
	const struct region *r = region_find(h, key);

	judge_write(h, key, addr, from, len);
	if (len && r && region_holds(r, addr, len))
		memcpy(r->bytes + (addr - r->base), from, len);
}

static uint64_t on_atomic(void *context, const struct atomiceth *what, bool compare)
{
	struct half *h = context;
	const struct region *r = region_find(h, what->rkey);
	uint64_t old, new;

	judge_atomic(h, what, compare);
	if (!r || !region_holds(r, what->va, 8))
		return 0;
	memcpy(&old, r->bytes + (what->va - r->base), 8);
	new = old + what->swap_add;
	if (compare)
		new = old == what->compare ? what->swap_add : old;
	memcpy(r->bytes + (what->va - r->base), &new, 8);
	return old;
}

static void on_invalidate(void *context, uint32_t rkey)
{
	judge_invalidate(context, rkey);
}

static void on_complete(void *context, struct qp *qp, const struct completion *wc, bool receive)
{
	struct half *h = context;

	(void)qp;
	if (h->w->trace)
		fprintf(h->w->trace, "%12" PRIu64 " c%u side %u: %s %" PRIu64 " status %d\n",
			h->w->now, h->conn, h->side, receive ? "receive" : "send", wc->id,
			(int)wc->status);
	if (receive)
		judge_recv(h, wc);
	else
		judge_send(h, wc);
}

static void on_event(void *context, struct qp *qp, enum qp_event event)
{
	struct half *h = context;

	(void)qp;
	h->events[event]++;
	if (event != QP_EVENT_SQ_DRAINED)
		return;
	if (!h->acted || h->drained)
		complain(h->w, "drained without a request");
	h->drained = true;
	h->resume_at = h->w->now + 30 * HD_US;
}

static bool on_take(void *context, struct recv_wr *out)
{
	struct half *h = context;
	struct shared *s = &h->w->shared[h->side];

	if (s->taken == s->posted)
		return false;
	*out = s->wqe[s->taken++];
	if (h->n_wqe < MAX_WQE)
		h->wqe[h->n_wqe++] = *out;
	return true;
}

/* ---- set-up ------------------------------------------------------------ */

static void region_init(struct half *h, enum role role, uint32_t size)
{
	static const unsigned rights[ROLE_COUNT] = {
		[ROLE_LANDING] = ACCESS_LOCAL_WRITE,
		[ROLE_RECV] = ACCESS_LOCAL_WRITE,
		[ROLE_TARGET] = ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ |
				ACCESS_REMOTE_ATOMIC,
		[ROLE_FIXED] = ACCESS_REMOTE_READ,
		[ROLE_ALIEN] = ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ |
			       ACCESS_REMOTE_ATOMIC,
	};
	struct region *r = &h->region[role];

	*r = (struct region){
		.key = (h->side + 1) << 16 | h->conn << 8 | role << 4 | 3,
		.pd = role == ROLE_ALIEN ? 99 : h->pd,
		.size = size,
		.access = rights[role],
		.base = (rng_next(&h->w->rng) >> 8 & ~UINT64_C(7)) + 0x10000,
		.bytes = hd_alloc(size, 1),
	};
	if (role == ROLE_LANDING || role == ROLE_RECV)
		return;
	for (uint32_t i = 0; i + 8 <= size; i += 8) {
		uint64_t x = rng_next(&h->w->rng);

		memcpy(r->bytes + i, &x, 8);
	}
	for (uint32_t i = 0; role == ROLE_INLINE && i < size; i++)
		r->bytes[i] = inline_byte(i);
	if (role == ROLE_TARGET) /* so that comparing has a chance */
		memset(r->bytes, 0, 64);
}

static struct qp_attr attributes(const struct half *h)
{
	const struct plan_conn *c = h->plan;
	struct qp_attr a = {
		.access = c->access[h->side],
		.pkey = c->gone == GONE_PKEY && h->side ? 0x8005 : 0x8001,
		.qkey = QKEY_OF(h),
		.slid = (uint16_t)(1 + h->side),
		.dlid = (uint16_t)(2 - h->side),
		.sl = 3,
		.global = c->global,
		.tclass = 9,
		.hop_limit = 5,
		.mtu = c->mtu,
		.dest_qpn = h->peer->qpn,
		.rq_psn = c->psn[!h->side],
		.sq_psn = c->psn[h->side],
		.max_dest_rd = c->max_dest_rd,
		.max_rd = c->max_rd,
		.min_rnr = c->min_rnr,
		.timeout = c->timeout,
		.retry = c->retry,
		.rnr_retry = c->rnr_retry,
		.credits = c->credits,
		.ack_every = c->ack_every,
	};

	memset(a.sgid, 0x20 + (int)h->side, 16);
	memset(a.dgid, 0x21 - (int)h->side, 16);
	if (c->gone == GONE_QPN && h->side == 0)
		a.dest_qpn = 0x777777;
	if (c->gone == GONE_LID && h->side == 1)
		a.dlid = 3;
	return a;
}

static void raise_qp(struct half *h)
{
	struct qp_attr a = attributes(h);
	unsigned steps = h->plan->gone == GONE_INIT && h->side ? 1 : 3;

	for (unsigned step = 0; step < steps; step++) {
		a.state = (enum qp_state)(QPS_INIT + step);
		if (qp_modify(h->qp, &a, qp_step_mask(h->plan->kind, a.state)) != HD_OK)
			complain(h->w, "cannot enter state %d", (int)a.state);
	}
}

static void half_init(struct world *w, uint32_t c, unsigned s)
{
	struct half *h = &w->half[c][s];
	struct plan_conn *pc = &w->p.conn[c];

	*h = (struct half){ .w = w,
			    .conn = c,
			    .side = s,
			    .plan = pc,
			    .peer = &w->half[c][!s],
			    .pd = 5 + s,
			    .qpn = 0x100 + 16 * c + s,
			    .in_sqd = UINT32_MAX };
	for (uint32_t i = 0; i < pc->n_wr[s]; i++) {
		if (!pc->wr[s][i].cut)
			h->wr[h->n_wr++] = &pc->wr[s][i];
	}
	region_init(h, ROLE_SOURCE, 2 * MAX_LENGTH + 256);
	region_init(h, ROLE_INLINE, MAX_WR * WR_MAX_INLINE);
	region_init(h, ROLE_LANDING, MAX_WR * SLOT);
	region_init(h, ROLE_RECV, REGION_SIZE);
	region_init(h, ROLE_TARGET, REGION_SIZE);
	region_init(h, ROLE_FIXED, REGION_SIZE);
	region_init(h, ROLE_ALIEN, REGION_SIZE);
	h->dg.epsn = pc->psn[!s];
}

static void half_start(struct half *h)
{
	const struct plan_conn *c = h->plan;
	struct qp_params params = { .kind = c->kind,
				    .qpn = h->qpn,
				    .pd = h->pd,
				    .max_send = c->max_send,
				    .max_recv = c->max_recv,
				    .signal_all = c->signal_all,
				    .shared_recv = c->shared[h->side],
				    .window = c->window[h->side] };

	h->owner = (struct qp_owner){ h,           on_allows, on_read,
				      on_write,    on_atomic, on_invalidate,
				      on_complete, on_event,  on_take };
	h->qp = qp_new(&params, &h->owner);
	if (h->n_wr)
		h->post_at = h->wr[0]->gap;
	raise_qp(h);
	if (c->late_recv) /* some time after the first requests */
		h->resume_at = 0;
}

/* Entries enough for every message, and for those that die half received. */
static void shared_fill(struct world *w, unsigned host)
{
	struct shared *s = &w->shared[host];

	for (uint32_t c = 0; c < w->p.n_conn; c++) {
		struct half *h = &w->half[c][host];

		if (w->p.conn[c].cut || !w->p.conn[c].shared[host])
			continue;
		for (uint32_t i = 0; i < h->peer->n_wr + 2; i++) {
			shared_make(h, s->n, &s->wqe[s->n]);
			s->n++;
		}
	}
}

struct world *world_new(const struct plan *p)
{
	struct world *w = hd_alloc(1, sizeof(*w));

	w->p = *p;
	w->plan = p;
	w->flight = hd_alloc(MAX_FLIGHTS, sizeof(*w->flight));
	rng_init(&w->rng, p->seed, 2);
	rng_init(&w->wire, p->seed, 3);
	for (uint32_t c = 0; c < p->n_conn; c++) {
		half_init(w, c, 0);
		half_init(w, c, 1);
	}
	for (uint32_t c = 0; c < p->n_conn; c++) {
		if (p->conn[c].cut)
			continue;
		model_build(&w->half[c][0]);
		model_build(&w->half[c][1]);
		half_start(&w->half[c][0]);
		half_start(&w->half[c][1]);
	}
	shared_fill(w, 0);
	shared_fill(w, 1);
	return w;
}

void world_free(struct world *w)
{
	for (uint32_t c = 0; c < w->p.n_conn; c++) {
		for (unsigned s = 0; s < 2; s++) {
			if (w->half[c][s].qp)
				qp_free(w->half[c][s].qp);
			for (unsigned r = 0; r < ROLE_COUNT; r++)
				free(w->half[c][s].region[r].bytes);
		}
	}
	for (uint32_t i = 0; i < w->n_flight; i++)
		free(w->flight[i].bytes);
	for (size_t i = 0; i < w->n_arena; i++)
		free(w->arena[i]);
	free(w->arena);
	free(w->flight);
	free(w);
}

/* ---- posting ----------------------------------------------------------- */

/* The receive for the peer's next request that takes one. */
static void post_recv(struct half *h)
{
	const struct half *p = h->peer;
	uint32_t end = p->n_wr;
	struct recv_wr wr;

	if (h->plan->kind == QP_RC && p->fault_at < p->n_wr &&
	    p->wr[p->fault_at]->fault == FAULT_NO_RECV)
		end = p->fault_at;
	while (h->wqe_posted < end && !wr_takes_recv(p->wr[h->wqe_posted]))
		h->wqe_posted++;
	if (h->wqe_posted >= end)
		return;
	receive_make(p, h->wqe_posted, &wr);
	h->wqe[h->n_wqe] = wr;
	h->n_wqe++; /* a flush may complete before the call returns */
	switch (qp_post_recv(h->qp, &wr)) {
	case HD_OK:
		h->wqe_posted++;
		break;
	case HD_ERR_FULL:
		h->n_wqe--;
		if (h->n_wqe - h->wqe_at < h->plan->max_recv)
			complain(h->w, "the receive queue is full too early");
		break;
	default:
		complain(h->w, "a receive is refused");
	}
}

static bool recv_left(const struct half *h)
{
	const struct half *p = h->peer;
	uint32_t end = p->n_wr;

	if (h->plan->kind == QP_RC && p->fault_at < p->n_wr &&
	    p->wr[p->fault_at]->fault == FAULT_NO_RECV)
		end = p->fault_at;
	for (uint32_t i = h->wqe_posted; i < end; i++) {
		if (wr_takes_recv(p->wr[i]))
			return true;
	}
	return false;
}

static void post_send(struct half *h)
{
	uint32_t at = h->posted;
	const struct plan_wr *pw = h->wr[at];
	struct send_wr wr;

	request_make(h, at, &wr);
	h->posted++; /* it may complete before the call returns */
	switch (qp_post_send(h->qp, &wr)) {
	case HD_OK:
		break;
	case HD_ERR_FULL:
		h->posted--;
		if (h->posted - h->done < h->plan->max_send)
			complain(h->w, "the send queue is full too early");
		h->post_at = h->w->now + HD_US;
		return;
	default:
		complain(h->w, "request %" PRIu32 " (%s) is refused", at, wr_name(pw->kind));
		return;
	}
	if (pw->flags & WR_INLINE) /* ours again at once */
		memset(h->region[ROLE_INLINE].bytes + (size_t)plan_index(h, at) * WR_MAX_INLINE,
		       0xee, WR_MAX_INLINE);
	h->post_at = at + 1 < h->n_wr ? h->w->now + h->wr[at + 1]->gap : HD_TIME_NEVER;
}

static void act(struct half *h)
{
	const struct plan_conn *c = h->plan;
	struct qp_attr a = { .state = c->act == ACT_SQD ? QPS_SQD : QPS_ERR };

	h->acted = true;
	if (qp_state(h->qp) != QPS_RTS)
		return;
	h->in_sqd = 0;
	while (h->in_sqd < h->n_wr && h->first[h->in_sqd] < h->next_new)
		h->in_sqd++;
	h->forced = c->act == ACT_ERR;
	if (qp_modify(h->qp, &a, QPA_STATE) != HD_OK)
		complain(h->w, "cannot enter %s", c->act == ACT_SQD ? "SQD" : "ERR");
}

static void resume(struct half *h)
{
	struct qp_attr a = { .state = QPS_RTS };

	h->resume_at = HD_TIME_NEVER;
	if (qp_state(h->qp) == QPS_SQD && qp_modify(h->qp, &a, QPA_STATE) != HD_OK)
		complain(h->w, "cannot leave SQD");
}

static bool acts(const struct half *h)
{
	return h->plan->act && h->plan->act_side == h->side && !h->acted;
}

/* Actions of the host program at this time. */
static void half_program(struct half *h)
{
	struct world *w = h->w;
	struct shared *s = &w->shared[h->side];
	bool late = h->plan->late_recv;

	if (h->plan->shared[h->side]) {
		while (s->posted < s->n && (!late || rng_below(&w->rng, 8) == 0))
			s->posted++;
	} else {
		for (uint32_t n = 0; n < (late ? 1u : MAX_WR); n++) {
			if (!late || rng_below(&w->rng, 8) == 0)
				post_recv(h);
		}
	}
	if (acts(h) && h->plan->act_at <= w->now)
		act(h);
	if (h->drained && h->resume_at <= w->now)
		resume(h);
	if (h->posted < h->n_wr && h->post_at <= w->now && !(h->plan->gone == GONE_INIT && h->side))
		post_send(h);
}

/* ---- time -------------------------------------------------------------- */

static hd_time least(hd_time a, hd_time b)
{
	return a < b ? a : b;
}

static hd_time half_due(const struct half *h)
{
	const struct world *w = h->w;
	const struct shared *s = &w->shared[h->side];
	hd_time due = qp_due(h->qp);

	if (h->posted < h->n_wr && !(h->plan->gone == GONE_INIT && h->side))
		due = least(due, h->post_at);
	if (acts(h))
		due = least(due, h->plan->act_at);
	if (h->drained && qp_state(h->qp) == QPS_SQD)
		due = least(due, h->resume_at);
	if (h->plan->shared[h->side] ? s->posted < s->n
				     : recv_left(h) && h->n_wqe - h->wqe_at < h->plan->max_recv)
		due = least(due, w->now + HD_US);
	return due;
}

static void half_send(struct half *h)
{
	struct packet p = { 0 };
	uint8_t payload[4096];
	bool failed = h->failed, has = qp_has_packet(h->qp, h->w->now);
	bool gave = qp_transmit(h->qp, h->w->now, &p, payload);

	/* Instead of a packet there may be a local fault, now or later. */
	if (has != gave && failed == h->failed && (!has || qp_has_packet(h->qp, h->w->now)))
		complain(h->w, "says it has %s packet, gives %s", has ? "a" : "no",
			 gave ? "one" : "none");
	if (!gave)
		return;
	police(h, &p);
	wire_launch(h, &p);
	qp_sent(h->qp, &p);
}

/* One pass over all queue pairs; false: nothing can change. */
static bool world_step(struct world *w)
{
	hd_time due = HD_TIME_NEVER;
	bool sent = false;
	uint32_t n = 2 * w->p.n_conn, from = (uint32_t)rng_below(&w->rng, n);

	for (uint32_t i = 0; i < n && !w->failed; i++) {
		uint32_t x = (from + i) % n;
		struct half *h = &w->half[x / 2][x % 2];

		if (h->plan->cut)
			continue;
		half_program(h);
		if (qp_due(h->qp) <= w->now)
			qp_timer(h->qp, w->now);
		if (qp_has_packet(h->qp, w->now) && rng_below(&w->rng, 4) > 0) {
			half_send(h);
			w->now += 1 + rng_below(&w->rng, 20 * HD_NS);
		}
		sent |= qp_has_packet(h->qp, w->now);
		due = least(due, half_due(h));
	}
	due = least(due, wire_due(w));
	if (due == HD_TIME_NEVER && !sent)
		return false;
	if (!sent && due > w->now)
		w->now = due;
	wire_deliver(w);
	return true;
}

bool world_run(struct world *w)
{
	uint32_t steps = 0;

	while (!w->failed && world_step(w)) {
		if (++steps == MAX_STEPS)
			complain(w, "no end after %u steps, %" PRIu64 " ps", steps, w->now);
	}
	if (!w->failed)
		judge_end(w);
	return !w->failed;
}
