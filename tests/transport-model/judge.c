/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares queue pairs with the model. */
#include <inttypes.h>
#include <string.h>

#include "world.h"

bool is_error(const struct half *h)
{
	return qp_state(h->qp) == QPS_ERR;
}

/* ---- effects of the peer's requests ------------------------------------ */

static void effect_done(struct half *h)
{
	h->effect_at++;
	h->effect_off = 0;
	memset(h->early, 0, sizeof(h->early));
}

/* The next effect that must happen, after those of no more bytes. */
static struct effect *effect_next(struct half *h)
{
	while (h->effect_at < h->n_effect) {
		struct effect *e = &h->effect[h->effect_at];
		bool bytes = e->kind == EFFECT_WRITE || e->kind == EFFECT_SCATTER;

		if (!bytes || h->effect_off < e->len)
			return e;
		effect_done(h);
	}
	return NULL;
}

/* The same, but bytes that may be left out are. */
static struct effect *effect_other(struct half *h)
{
	struct effect *e = effect_next(h);

	while (e && e->optional) {
		effect_done(h);
		e = effect_next(h);
	}
	return e;
}

/* Position of the next byte of e. */
static bool effect_where(const struct half *h, const struct effect *e, struct sge *out)
{
	if (e->kind == EFFECT_WRITE) {
		*out = (struct sge){ e->addr + h->effect_off, e->len - h->effect_off, e->key };
		return true;
	}
	if (h->wqe_at >= h->n_wqe)
		return false;
	return sge_find(h->wqe[h->wqe_at].sge, h->wqe[h->wqe_at].n_sge, e->addr + h->effect_off,
			out);
}

/* The effect that a write to `addr` belongs to. */
static struct effect *effect_at(struct half *h, uint64_t addr)
{
	struct effect *e = effect_next(h);
	struct sge where;

	while (e && e->optional && (!effect_where(h, e, &where) || where.addr != addr)) {
		effect_done(h);
		e = effect_next(h);
	}
	return e;
}

static void effect_compare(const struct half *h, const struct effect *e, uint32_t off, uint8_t byte)
{
	if (e->bytes && byte != e->bytes[off])
		complain(h->w, "byte %" PRIu32 " of effect %" PRIu32 " is %02x, should be %02x",
			 off, h->effect_at, byte, e->bytes[off]);
}

/* With a window: a byte of the WRITE in progress that is not the next one. */
static bool effect_early(struct half *h, uint64_t addr, uint8_t byte)
{
	const struct effect *e = effect_next(h);

	if (!e || e->kind != EFFECT_WRITE || !h->plan->window[h->side] || !h->effect_off ||
	    addr <= e->addr + h->effect_off || addr >= e->addr + e->len)
		return false;
	uint32_t off = (uint32_t)(addr - e->addr);

	if (h->early[off])
		complain(h->w, "byte %" PRIu32 " is written twice", off);
	effect_compare(h, e, off, byte);
	h->early[off] = true;
	return true;
}

static void effect_byte(struct half *h, uint64_t addr, uint8_t byte)
{
	if (effect_early(h, addr, byte))
		return;
	struct effect *e = effect_at(h, addr);
	struct sge where = { 0 };

	if (!e || !(e->kind == EFFECT_WRITE || e->kind == EFFECT_SCATTER)) {
		complain(h->w, "a byte is written to %#" PRIx64 " that no request explains", addr);
		return;
	}
	if (!effect_where(h, e, &where) || where.addr != addr) {
		complain(h->w,
			 "byte %" PRIu32 " of effect %" PRIu32 " goes to %#" PRIx64
			 ", should %#" PRIx64,
			 h->effect_off, h->effect_at, addr, where.addr);
		return;
	}
	effect_compare(h, e, h->effect_off, byte);
	do
		h->effect_off++;
	while (h->effect_off < e->len && h->early[h->effect_off]);
}

static void effect_write(struct half *h, uint64_t addr, const uint8_t *from, size_t len)
{
	if (h->flushed) {
		complain(h->w, "memory is written after the queue was flushed");
		return;
	}
	for (size_t i = 0; i < len && !h->w->failed; i++)
		effect_byte(h, addr + i, from[i]);
	effect_next(h);
}

/* ---- what reads and atomics bring back --------------------------------- */

/* Whether a later request may already have changed that byte. */
static bool changed_later(const struct half *h, uint32_t at, uint64_t addr, uint8_t byte)
{
	uint32_t end = at + 1;

	while (end < h->n_wr && !(h->wr[end]->flags & WR_FENCE))
		end++;
	for (uint32_t i = h->start[at]; i < h->start[end]; i++) {
		const struct effect *e = &h->peer->effect[i];
		const uint8_t *bytes = e->kind == EFFECT_ATOMIC ? e->after : e->bytes;

		if (e->kind != EFFECT_WRITE && e->kind != EFFECT_ATOMIC)
			continue;
		if (addr >= e->addr && addr - e->addr < e->len && bytes[addr - e->addr] == byte)
			return true;
	}
	return false;
}

static void landing_skip(struct half *h)
{
	while (h->land_wr < h->n_wr &&
	       (!wr_lands(h->wr[h->land_wr]) || h->land_off >= h->wr[h->land_wr]->length)) {
		h->land_wr++;
		h->land_off = h->land_early = 0;
		memset(h->landed, 0, sizeof(h->landed));
	}
}

static void landing_compare(struct half *h, uint32_t at, uint32_t off, uint8_t byte)
{
	uint64_t remote;
	uint32_t rkey;

	remote_of(h, at, &remote, &rkey);
	if (byte != h->landing[at][off] && (h->wr[at]->fixed || h->wr[at]->kind != WR_READ ||
					    !changed_later(h, at, remote + off, byte)))
		complain(h->w, "byte %" PRIu32 " of %s %" PRIu32 " lands as %02x, should be %02x",
			 off, wr_name(h->wr[at]->kind), at, byte, h->landing[at][off]);
}

/* With a window: a byte of the oldest read that is not the next one. */
static bool landing_early(struct half *h, uint32_t at, const struct send_wr *wr, uint64_t addr,
			  uint8_t byte)
{
	uint32_t length = h->wr[at]->length, n = length - h->land_off - 1;
	struct sge where;

	if (wr->kind != WR_READ || !h->plan->window[h->side])
		return false;
	/* Most bytes follow the previous early one. */
	uint32_t from = h->land_early > h->land_off ? h->land_early : h->land_off;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t off = h->land_off + 1 + (from - h->land_off + i) % n;

		if (!sge_find(wr->sge, wr->n_sge, off, &where) || where.addr != addr)
			continue;
		if (h->landed[off])
			complain(h->w, "byte %" PRIu32 " lands twice", off);
		landing_compare(h, at, off, byte);
		h->landed[off] = true;
		h->land_early = off;
		return true;
	}
	return false;
}

static void landing_byte(struct half *h, uint64_t addr, uint8_t byte)
{
	uint32_t at;
	struct send_wr wr;
	struct sge where;

	landing_skip(h);
	at = h->land_wr;
	if (at >= h->n_wr || at >= h->posted || at >= h->fault_at) {
		complain(h->w, "something lands that no read explains");
		return;
	}
	request_make(h, at, &wr);
	if (!sge_find(wr.sge, wr.n_sge, h->land_off, &where) || where.addr != addr) {
		if (!landing_early(h, at, &wr, addr, byte))
			complain(h->w, "byte %" PRIu32 " of read %" PRIu32 " lands astray",
				 h->land_off, at);
		return;
	}
	landing_compare(h, at, h->land_off, byte);
	do
		h->land_off++;
	while (h->land_off < h->wr[at]->length && h->landed[h->land_off]);
}

void judge_write(struct half *h, uint32_t key, uint64_t addr, const uint8_t *from, size_t len)
{
	const struct region *r = region_find(h, key);

	if (len == 0)
		return;
	if (!r || !region_holds(r, addr, len) || r->pd != h->pd ||
	    !(r->access & (ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE))) {
		complain(h->w, "memory written that may not be");
		return;
	}
	if (key == h->region[ROLE_LANDING].key) {
		for (size_t i = 0; i < len && !h->w->failed; i++)
			landing_byte(h, addr + i, from[i]);
		landing_skip(h);
		wire_progress(h);
		return;
	}
	effect_write(h, addr, from, len);
}

void judge_atomic(struct half *h, const struct atomiceth *what, bool compare)
{
	struct effect *e = effect_other(h);

	if (h->flushed || !e || e->kind != EFFECT_ATOMIC || e->addr != what->va ||
	    e->key != what->rkey || e->swap_add != what->swap_add || e->is_compare != compare ||
	    (compare && e->compare != what->compare)) {
		complain(h->w, "an atomic that no request explains, or twice");
		return;
	}
	effect_done(h);
}

void judge_invalidate(struct half *h, uint32_t rkey)
{
	struct effect *e = effect_other(h);

	if (h->flushed || !e || e->kind != EFFECT_INVALIDATE || e->key != rkey) {
		complain(h->w, "a key is invalidated that no request explains");
		return;
	}
	effect_done(h);
}

static bool wc_equal(const struct half *h, const struct completion *a, const struct completion *b)
{
	if (a->status != b->status || a->qpn != b->qpn)
		return false;
	if (a->status != WC_SUCCESS)
		return true;
	if (a->kind != b->kind || a->byte_len != b->byte_len || a->flags != b->flags ||
	    a->solicited != b->solicited)
		return false;
	if (h->plan->kind == QP_UD &&
	    (a->src_qp != b->src_qp || a->slid != b->slid || a->sl != b->sl))
		return false;
	return !(a->flags & (WC_WITH_IMM | WC_WITH_INV)) || a->imm == b->imm;
}

/* Whether h has a reason to be in the error state that is not its sending. */
static bool pushed(const struct half *h)
{
	const struct half *p = h->peer;

	if (h->forced)
		return true;
	/* The peer's request was rejected. */
	return h->plan->kind == QP_RC && p->fault_at < p->n_wr &&
	       fault_is_nak(p->wr[p->fault_at]->fault) && h->effect_at >= p->start[p->fault_at];
}

static bool may_flush(const struct half *h)
{
	return is_error(h) || pushed(h) || h->failed;
}

void judge_recv(struct half *h, const struct completion *wc)
{
	struct effect *e = effect_next(h);
	const struct recv_wr *wqe = &h->wqe[h->wqe_at];

	if (h->wqe_at >= h->n_wqe) {
		complain(h->w, "a receive completes that was not posted");
		return;
	}
	if (wc->id != wqe->id) {
		complain(h->w, "receives complete out of order");
		return;
	}
	h->wqe_at++;
	if (wc->status == WC_WR_FLUSH_ERR) {
		if (!may_flush(h))
			complain(h->w, "a receive is flushed for no reason");
		h->flushed = true;
		return;
	}
	if (e && e->kind != EFFECT_RECV)
		e = effect_other(h);
	if (h->flushed || !e || e->kind != EFFECT_RECV || !wc_equal(h, wc, &e->wc)) {
		complain(h->w,
			 "receive %" PRIu64 " completes with status %d length %" PRIu32
			 " flags %x, expected status %d length %" PRIu32 " flags %x",
			 wc->id, (int)wc->status, wc->byte_len, wc->flags,
			 e && e->kind == EFFECT_RECV ? (int)e->wc.status : -1,
			 e ? e->wc.byte_len : 0, e ? e->wc.flags : 0);
		return;
	}
	h->w->n_success++;
	effect_done(h);
}

/* ---- send completions -------------------------------------------------- */

static enum wc_kind kind_of(enum wr_kind k)
{
	static const enum wc_kind kinds[] = { WC_SEND,  WC_SEND, WC_SEND,     WC_WRITE,
					      WC_WRITE, WC_READ, WC_CMP_SWAP, WC_FETCH_ADD };

	return kinds[k];
}

static bool reached(const struct half *h, uint32_t at)
{
	return h->plan->kind != QP_RC || h->peer->effect_at >= h->start[at];
}

static void success(struct half *h, uint32_t at, const struct completion *wc)
{
	const struct plan_wr *w = h->wr[at];

	if (at >= h->fault_at) {
		complain(h->w, "request %" PRIu32 " succeeds in spite of: %s", at,
			 fault_name(w->fault));
		return;
	}
	if (wc->kind != kind_of(w->kind) || wc->qpn != h->qpn ||
	    (w->kind == WR_READ && wc->byte_len != w->length)) {
		complain(h->w, "request %" PRIu32 " completes as another kind", at);
		return;
	}
	if (!reached(h, at + 1))
		complain(h->w, "request %" PRIu32 " completes before it was executed", at);
	landing_skip(h);
	if (h->plan->kind == QP_RC && h->land_wr <= at)
		complain(h->w, "request %" PRIu32 " completes before its data landed", at);
	h->w->n_success++;
	wire_progress(h);
}

/* Whether going unanswered is the right end of request `at`. */
static bool may_time_out(const struct half *h, uint32_t at)
{
	const struct half *p = h->peer;

	if (h->plan->gone)
		return at == 0;
	if (at > h->fault_at || qp_state(p->qp) != QPS_ERR)
		return false;
	/* The peer rejected a request; the error has arrived unless the response was lost. */
	if (h->fault_at < h->n_wr && !p->forced && fault_is_nak(h->wr[h->fault_at]->fault) &&
	    p->effect_at >= h->start[h->fault_at] && !p->failed)
		return h->answers_harmed > 0;
	return true;
}

static bool error_fits(const struct half *h, uint32_t at, enum wc_status s)
{
	if (s == WC_WR_FLUSH_ERR)
		return h->failed || pushed(h);
	if (h->failed)
		return false;
	if (s == WC_RETRY_EXC_ERR)
		return may_time_out(h, at);
	return at == h->fault_at && s == fault_status(h->wr[at]->fault) &&
	       (reached(h, at) || h->plan->gone);
}

void judge_send(struct half *h, const struct completion *wc)
{
	uint64_t at = wc->id - 1000;
	bool all = h->plan->signal_all;

	if (wc->id < 1000 || at >= h->posted || at < h->done) {
		complain(h->w, "completion %" PRIu64 " twice, or of nothing", wc->id);
		return;
	}
	for (uint32_t i = h->done; i < at; i++) {
		if (all || (h->wr[i]->flags & WR_SIGNALED) || h->failed) {
			complain(h->w, "request %" PRIu64 " completes before %" PRIu32, at, i);
			return;
		}
	}
	h->done = (uint32_t)at + 1;
	if (wc->status == WC_SUCCESS) {
		if (h->failed || !(all || (h->wr[at]->flags & WR_SIGNALED)))
			complain(h->w, "request %" PRIu64 " may not complete with success", at);
		success(h, (uint32_t)at, wc);
		return;
	}
	if (!error_fits(h, (uint32_t)at, wc->status)) {
		complain(h->w, "request %" PRIu64 " (%s, fault %s) ends with status %d", at,
			 wr_name(h->wr[at]->kind), fault_name(h->wr[at]->fault), (int)wc->status);
		return;
	}
	if (!h->failed) {
		h->failed = true;
		h->failed_at = (uint32_t)at;
		h->why = wc->status;
	}
}

/* ---- the end ----------------------------------------------------------- */

void judge_settled(struct half *h)
{
	const struct effect *e = effect_other(h);

	if (e && !h->flushed && !is_error(h))
		complain(h->w, "effect %" PRIu32 " of %" PRIu32 " did not happen", h->effect_at,
			 h->n_effect);
}

static void end_events(struct half *h)
{
	const struct half *p = h->peer;
	enum fault f = p->fault_at < p->n_wr ? p->wr[p->fault_at]->fault : FAULT_NONE;
	enum wc_status s = fault_status(f);
	bool refused = h->plan->kind == QP_RC && p->failed && p->failed_at == p->fault_at &&
		       p->why == s && fault_is_nak(f);
	unsigned access = refused && s == WC_REM_ACCESS_ERR;
	unsigned request = refused && (f == FAULT_FLAG || f == FAULT_ALIGN);
	/* Refused without the peer's hearing of it: may have happened. */
	bool maybe = pushed(h) && !h->forced;

	if (!maybe &&
	    (h->events[QP_EVENT_ACCESS_ERR] != access || h->events[QP_EVENT_REQ_ERR] != request))
		complain(h->w, "events: access %u, request %u; expected %u, %u",
			 h->events[QP_EVENT_ACCESS_ERR], h->events[QP_EVENT_REQ_ERR], access,
			 request);
	if (refused &&
	    (h->events[QP_EVENT_ACCESS_ERR] != access || h->events[QP_EVENT_REQ_ERR] != request))
		complain(h->w, "fault %s: access events %u, request events %u", fault_name(f),
			 h->events[QP_EVENT_ACCESS_ERR], h->events[QP_EVENT_REQ_ERR]);
	if (h->events[QP_EVENT_COMM_EST] > 1)
		complain(h->w, "established twice");
	if (h->events[QP_EVENT_LAST_WQE] != (h->plan->shared[h->side] && is_error(h)))
		complain(h->w, "last-WQE events: %u", h->events[QP_EVENT_LAST_WQE]);
	if (h->events[QP_EVENT_QKEY] != h->dg.wrong_qkey)
		complain(h->w, "Q_Key events: %u", h->events[QP_EVENT_QKEY]);
	/* In the error state it no longer listens. */
	if (h->plan->kind == QP_RC &&
	    (h->plan->gone == GONE_PKEY
		     ? h->events[QP_EVENT_PKEY] == 0 && p->first_sent > 0 && !is_error(h)
		     : h->events[QP_EVENT_PKEY] > 0))
		complain(h->w, "P_Key events: %u", h->events[QP_EVENT_PKEY]);
}

static void end_requests(struct half *h)
{
	uint32_t open = h->done;

	/* Unsignalled requests may have completed before the error. */
	while (open < h->posted && !h->failed && !h->plan->signal_all &&
	       !(h->wr[open]->flags & WR_SIGNALED) && (!is_error(h) || reached(h, open + 1)))
		open++;
	if (open < h->posted)
		complain(h->w, "request %" PRIu32 " of %" PRIu32 " never completes", open,
			 h->posted);
	if (h->posted < h->n_wr && !h->plan->gone)
		complain(h->w, "request %" PRIu32 " could not be posted", h->posted);
	if (h->failed && h->plan->kind == QP_RC && !is_error(h))
		complain(h->w, "failed, but not in the error state");
	if (h->failed && h->plan->kind != QP_RC && qp_state(h->qp) != QPS_SQE && !is_error(h))
		complain(h->w, "failed, but not in SQE");
	if (!h->failed && h->fault_at < h->posted && !is_error(h))
		complain(h->w, "fault %s went unnoticed", fault_name(h->wr[h->fault_at]->fault));
	if (h->plan->gone && h->n_wr && h->why == WC_RETRY_EXC_ERR &&
	    h->first_sent != h->plan->retry + 1u && h->harms == 0)
		complain(h->w, "sent %" PRIu32 " times with %u retries", h->first_sent,
			 h->plan->retry);
}

/* Everything that was promised here has happened, if it had to. */
static void end_effects(struct half *h)
{
	const struct half *p = h->peer;
	bool whole = p->posted == p->n_wr && !p->failed && p->fault_at == p->n_wr && !is_error(h) &&
		     !is_error(p);

	if (whole)
		judge_settled(h);
	/* Of a shared queue: the receive requests that were taken. */
	if (is_error(h) && h->wqe_at != h->n_wqe)
		complain(h->w, "receives left in the error state");
	if (is_error(h) && !h->failed && !pushed(h))
		complain(h->w, "in the error state for no reason");
}

void judge_end(struct world *w)
{
	for (uint32_t c = 0; c < w->p.n_conn && !w->failed; c++) {
		if (w->p.conn[c].cut)
			continue;
		for (unsigned s = 0; s < 2 && !w->failed; s++) {
			struct half *h = &w->half[c][s];

			end_requests(h);
			end_effects(h);
			end_events(h);
		}
	}
}
