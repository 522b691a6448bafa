/* SPDX-License-Identifier: BSD-2-Clause */
#include "plan.h"

#include <inttypes.h>
#include <string.h>

#include "base/rng.h"
#include "world.h"

void split(uint32_t seed, uint32_t total, uint32_t n, uint32_t *sizes)
{
	struct rng r;

	rng_init(&r, seed, n);
	for (uint32_t i = 0; i + 1 < n; i++) {
		uint32_t piece = 0;

		if (rng_below(&r, 4) > 0)
			piece = (uint32_t)rng_below(&r, total + 1);
		sizes[i] = piece;
		total -= piece;
	}
	if (n > 0)
		sizes[n - 1] = total;
}

static bool chance(struct rng *r, unsigned percent)
{
	return rng_below(r, 100) < percent;
}

static uint32_t below(struct rng *r, uint32_t n)
{
	return (uint32_t)rng_below(r, n);
}

/* Lengths at edges: zero, one byte, around the MTU. */
static uint32_t draw_length(struct rng *r, uint32_t mtu, uint32_t most)
{
	uint32_t around[] = { 0,           1,           3,       mtu - 1,     mtu,
			      mtu + 1,     2 * mtu - 1, 2 * mtu, 2 * mtu + 1, 3 * mtu,
			      3 * mtu + 5, 4 * mtu + 1, 64 };
	uint32_t n = below(r, 3) ? around[below(r, 13)] : below(r, most + 1);

	return n < most ? n : most;
}

static enum wr_kind draw_kind(struct rng *r, enum qp_kind kind)
{
	static const enum wr_kind reliable[] = { WR_SEND,  WR_SEND_IMM,  WR_SEND_INV,
						 WR_WRITE, WR_WRITE_IMM, WR_READ,
						 WR_READ,  WR_CMP_SWAP,  WR_FETCH_ADD,
						 WR_SEND,  WR_WRITE };
	static const enum wr_kind unreliable[] = { WR_SEND, WR_SEND_IMM, WR_WRITE, WR_WRITE_IMM };

	if (kind == QP_RC)
		return reliable[below(r, 11)];
	return unreliable[below(r, kind == QP_UC ? 4 : 2)];
}

static void draw_flags(struct rng *r, struct plan_wr *w)
{
	w->flags = (chance(r, 70) ? WR_SIGNALED : 0u) | (chance(r, 25) ? WR_SOLICITED : 0u) |
		   (chance(r, 20) ? WR_FENCE : 0u);
	if (!wr_lands(w) && w->length <= WR_MAX_INLINE && chance(r, 25))
		w->flags |= WR_INLINE;
}

static void draw_wr(struct rng *r, const struct plan_conn *c, struct plan_wr *w)
{
	uint32_t most = c->kind == QP_UD ? c->mtu : MAX_LENGTH;

	w->kind = draw_kind(r, c->kind);
	w->length = wr_is_atomic(w) ? 8 : draw_length(r, c->mtu, most);
	draw_flags(r, w);
	w->n_sge = wr_is_atomic(w) ? 1 : below(r, 4) + (w->length > 0);
	if (chance(r, 5))
		w->n_sge = WR_MAX_SGE;
	if (wr_is_atomic(w))
		w->n_sge = 1;
	w->recv_sge = 1 + below(r, chance(r, 10) ? WR_MAX_SGE : 3);
	w->cuts = (uint32_t)rng_next(r);
	w->source = below(r, MAX_LENGTH);
	w->target = below(r, REGION_SIZE - w->length + 1);
	if (chance(r, 50)) /* so that requests meet in memory */
		w->target = below(r, 64);
	if (wr_is_atomic(w))
		w->target = 8 * below(r, chance(r, 70) ? 8 : REGION_SIZE / 8);
	w->fixed = w->kind == WR_READ && chance(r, 40);
	w->forward = -1;
	w->imm = (uint32_t)rng_next(r);
	w->swap_add = chance(r, 50) ? below(r, 3) : rng_next(r);
	w->compare = chance(r, 60) ? below(r, 3) : rng_next(r);
	w->recv_length = w->length + (chance(r, 40) ? below(r, 300) : 0);
	if (w->kind == WR_WRITE_IMM && chance(r, 50))
		w->recv_length = 0;
	if (c->kind == QP_UD)
		w->recv_length += GRH_ROOM;
	w->recv_at = below(r, 1000);
	w->gap = chance(r, 60) ? 0 : rng_below(r, 20 * HD_US);
	w->global = chance(r, 40);
}

/* A request behind a fence may send what an earlier read has brought. */
static void draw_forward(struct rng *r, struct plan_conn *c, unsigned s, uint32_t at)
{
	struct plan_wr *w = &c->wr[s][at];

	for (uint32_t i = 0; i < at; i++) {
		const struct plan_wr *from = &c->wr[s][i];

		if (from->kind != WR_READ || !from->fixed || from->n_sge > 1 || chance(r, 40))
			continue;
		w->forward = (int)i;
		w->length = from->length;
		w->n_sge = w->length > 0;
		w->flags = (w->flags | WR_FENCE) & ~(unsigned)WR_INLINE;
		if (w->recv_length < w->length)
			w->recv_length = w->length;
		if (w->target > REGION_SIZE - w->length)
			w->target = 0;
		return;
	}
}

static bool fault_fits(const struct plan_conn *c, const struct plan_wr *w, enum fault f,
		       bool shared)
{
	bool remote = !wr_is_send(w) && w->length > 0;

	switch (f) {
	case FAULT_RKEY:
	case FAULT_PD:
	case FAULT_RIGHT:
	case FAULT_HIGH:
	case FAULT_LOW:
	case FAULT_WRAP:
		return remote && c->kind != QP_UD;
	case FAULT_FLAG:
		return !wr_is_send(w);
	case FAULT_ALIGN:
		return wr_is_atomic(w);
	case FAULT_LONG:
		return wr_is_send(w) && w->length > 0;
	case FAULT_RECV_KEY:
	case FAULT_RECV_RIGHT:
		return wr_is_send(w) && w->length > 0 && !shared && c->kind == QP_RC;
	case FAULT_NO_RECV:
		return wr_takes_recv(w) && !shared && c->kind == QP_RC;
	case FAULT_SGE_KEY:
	case FAULT_SGE_RANGE:
		return !wr_lands(w) && w->length > 0 && !(w->flags & WR_INLINE) && w->forward < 0;
	case FAULT_LANDING:
		return wr_lands(w) && w->length > 0;
	case FAULT_MTU:
	case FAULT_QKEY:
		return c->kind == QP_UD;
	default:
		return false;
	}
}

static unsigned right_needed(const struct plan_wr *w)
{
	if (wr_is_atomic(w))
		return ACCESS_REMOTE_ATOMIC;
	if (w->kind == WR_READ)
		return ACCESS_REMOTE_READ;
	return wr_is_write(w) ? ACCESS_REMOTE_WRITE : 0;
}

static void fault_apply(struct rng *r, struct plan_conn *c, unsigned s, struct plan_wr *w)
{
	switch (w->fault) {
	case FAULT_FLAG:
		c->access[!s] &= ~right_needed(w);
		break;
	case FAULT_ALIGN:
		w->target += 1 + below(r, 7);
		if (w->target > REGION_SIZE - 8)
			w->target -= 8;
		break;
	case FAULT_LONG:
		if (c->shared[!s]) {
			w->fault = FAULT_NONE;
			break;
		}
		w->recv_length = below(r, w->length) + (c->kind == QP_UD ? GRH_ROOM : 0u);
		break;
	case FAULT_NO_RECV:
		c->rnr_retry = (uint8_t)below(r, 4);
		c->min_rnr = (uint8_t)(1 + below(r, 6));
		c->late_recv = false;
		break;
	case FAULT_MTU:
		w->length = c->mtu + 1 + below(r, 100);
		w->flags &= ~(unsigned)WR_INLINE;
		if (w->n_sge == 0)
			w->n_sge = 1;
		break;
	default:
		break;
	}
}

static void draw_fault(struct rng *r, struct plan_conn *c, unsigned s)
{
	for (unsigned tries = 0; tries < 40; tries++) {
		struct plan_wr *w = &c->wr[s][below(r, c->n_wr[s])];
		enum fault f = 1 + below(r, FAULT_COUNT - 1);

		if (w->fault || !fault_fits(c, w, f, c->shared[!s]))
			continue;
		w->fault = f;
		fault_apply(r, c, s, w);
		return;
	}
}

/* Flags that are off make every request of the kind a violation; only the first counts. */
static void flags_mark(struct plan_conn *c, unsigned s)
{
	for (uint32_t i = 0; i < c->n_wr[s]; i++) {
		struct plan_wr *w = &c->wr[s][i];
		unsigned need = right_needed(w);

		if ((need & ~c->access[!s]) && w->fault != FAULT_SGE_KEY &&
		    w->fault != FAULT_SGE_RANGE && w->fault != FAULT_LANDING)
			w->fault = FAULT_FLAG;
	}
}

static void draw_attributes(struct rng *r, struct plan_conn *c)
{
	const unsigned all = ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ | ACCESS_REMOTE_ATOMIC;

	c->kind = chance(r, 76) ? QP_RC : chance(r, 50) ? QP_UC : QP_UD;
	c->mtu = 256u << below(r, chance(r, 50) ? 2 : 5);
	for (unsigned s = 0; s < 2; s++) {
		c->psn[s] =
			chance(r, 50) ? 0xffffff - below(r, 12) : (uint32_t)rng_next(r) & PSN_MASK;
		c->access[s] = all;
		c->shared[s] = chance(r, 25);
	}
	c->timeout = (uint8_t)(3 + below(r, 4));
	c->retry = (uint8_t)(chance(r, 70) ? 7 : below(r, 7));
	c->rnr_retry = 7;
	c->min_rnr = (uint8_t)(1 + below(r, 10));
	c->max_rd = (uint8_t)(1 + below(r, chance(r, 40) ? 1 : 5));
	c->max_dest_rd = (uint8_t)(c->max_rd + below(r, 3));
	c->credits = c->kind == QP_RC && chance(r, 30);
	c->signal_all = chance(r, 20);
	c->global = chance(r, 25);
	c->max_send = chance(r, 60) ? 32 : 1 + below(r, 4);
	c->max_recv = chance(r, 60) ? 64 : 1 + below(r, 4);
	c->ack_every = chance(r, 50) ? 0 : 1 + below(r, 6);
	c->late_recv = chance(r, 40) || c->max_recv < 64;
	c->calm = chance(r, 20);
}

/* With a limit to asking again, everything must be posted beforehand. */
static void settle_receives(struct plan_conn *c)
{
	bool limited = false;

	for (unsigned s = 0; s < 2; s++) {
		for (uint32_t i = 0; i < c->n_wr[s]; i++)
			limited |= c->wr[s][i].fault == FAULT_NO_RECV;
	}
	if (limited) {
		c->max_recv = 64;
		c->late_recv = false;
		c->shared[0] = c->shared[1] = false;
	} else {
		c->rnr_retry = 7;
	}
}

static void draw_conn(struct rng *r, struct plan_conn *c)
{
	draw_attributes(r, c);
	for (unsigned s = 0; s < 2; s++) {
		c->n_wr[s] = below(r, chance(r, 50) ? 5 : MAX_WR + 1);
		for (uint32_t i = 0; i < c->n_wr[s]; i++) {
			draw_wr(r, c, &c->wr[s][i]);
			if (!wr_lands(&c->wr[s][i]) && c->kind == QP_RC && chance(r, 15))
				draw_forward(r, c, s, i);
		}
		if (c->n_wr[s] && chance(r, c->kind == QP_RC ? 25 : 60))
			draw_fault(r, c, s);
	}
	for (unsigned s = 0; s < 2; s++)
		flags_mark(c, s);
	settle_receives(c);
	for (unsigned s = 0; s < 2; s++)
		c->window[s] = chance(r, 50) ? 1 + below(r, 12) : 0;
	if (c->kind == QP_RC && chance(r, 6))
		c->gone = 1 + below(r, 4);
	if (c->kind == QP_RC && chance(r, 16)) {
		c->act = chance(r, 60) ? ACT_SQD : ACT_ERR;
		c->act_side = below(r, 2);
		c->act_at = rng_below(r, (chance(r, 50) ? 10 : 60) * HD_US);
	}
}

void plan_draw(struct plan *p, uint64_t seed)
{
	struct rng r;

	*p = (struct plan){ .seed = seed };
	rng_init(&r, seed, 1);
	p->n_conn = 1 + (chance(&r, 40) ? below(&r, MAX_CONN) : 0);
	p->latency = 50 * HD_NS + rng_below(&r, 2 * HD_US);
	for (unsigned h = 0; h < HARM_COUNT; h++)
		p->harm[h] = chance(&r, 50) ? below(&r, 200) : 0;
	if (chance(&r, 15))
		memset(p->harm, 0, sizeof(p->harm));
	p->max_harms = UINT32_MAX;
	for (uint32_t i = 0; i < p->n_conn; i++)
		draw_conn(&r, &p->conn[i]);
}

void plan_plain(struct plan *p, uint32_t mtu)
{
	const unsigned all = ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ | ACCESS_REMOTE_ATOMIC;

	*p = (struct plan){ .seed = 14, .n_conn = 1, .latency = 300 * HD_NS, .scripted = true };
	p->conn[0] = (struct plan_conn){ .kind = QP_RC,
					 .mtu = mtu,
					 .psn = { 0xfffffe, 0x123456 },
					 .timeout = 3,
					 .retry = 7,
					 .rnr_retry = 7,
					 .min_rnr = 1,
					 .max_rd = 4,
					 .max_dest_rd = 4,
					 .access = { all, all },
					 .max_send = 32,
					 .max_recv = 64 };
}

struct plan_wr *plan_add(struct plan *p, enum wr_kind kind, uint32_t length)
{
	struct plan_conn *c = &p->conn[0];
	uint32_t at = c->n_wr[0]++;
	struct plan_wr *w = &c->wr[0][at];

	*w = (struct plan_wr){ .kind = kind,
			       .flags = WR_SIGNALED,
			       .length = length,
			       .n_sge = length > 0,
			       .recv_sge = 1,
			       .cuts = at,
			       .source = 64 * at,
			       .target = 128 * at,
			       .forward = -1,
			       .imm = 0xabc0 + at,
			       .swap_add = 3,
			       .recv_length = kind == WR_WRITE_IMM ? 0 : length };
	return w;
}

void plan_cut(struct plan *p, const struct cuts *c)
{
	for (unsigned h = 0; h < HARM_COUNT; h++) {
		if (c->harm >> h & 1)
			p->harm[h] = 0;
	}
	if (c->max_harms)
		p->max_harms = c->max_harms - 1;
	for (uint32_t i = 0; i < MAX_CONN; i++) {
		p->conn[i].cut = c->conn >> i & 1;
		for (unsigned s = 0; s < 2; s++) {
			for (uint32_t k = 0; k < MAX_WR; k++)
				p->conn[i].wr[s][k].cut = c->wr[i][s] >> k & 1;
		}
	}
}

const char *fault_name(enum fault f)
{
	static const char *const names[FAULT_COUNT] = { "none",       "unknown R_Key",
							"other PD",   "right",
							"bound high", "bound low",
							"wrap",       "access flag",
							"alignment",  "too long for the buffer",
							"recv L_Key", "recv right",
							"no receive", "own L_Key",
							"own range",  "landing",
							"over MTU",   "Q_Key" };

	return names[f];
}

const char *wr_name(enum wr_kind k)
{
	static const char *const names[] = { "SEND",      "SEND_IMM", "SEND_INV", "WRITE",
					     "WRITE_IMM", "READ",     "CMP_SWAP", "FETCH_ADD" };

	return names[k];
}

static void wr_print(const struct plan_wr *w, uint32_t at, FILE *to)
{
	fprintf(to, "    %" PRIu32 ": %s %" PRIu32 " B, %" PRIu32 " pieces", at, wr_name(w->kind),
		w->length, w->n_sge);
	if (!wr_is_send(w))
		fprintf(to, ", at +%" PRIu32 "%s", w->target, w->fixed ? " (fixed)" : "");
	if (wr_takes_recv(w))
		fprintf(to, ", receive %" PRIu32 " B in %" PRIu32, w->recv_length, w->recv_sge);
	if (w->forward >= 0)
		fprintf(to, ", what read %d brought", w->forward);
	fprintf(to, "%s%s%s%s", w->flags & WR_SIGNALED ? ", signalled" : "",
		w->flags & WR_SOLICITED ? ", solicited" : "", w->flags & WR_FENCE ? ", fence" : "",
		w->flags & WR_INLINE ? ", inline" : "");
	if (w->fault)
		fprintf(to, ", FAULT: %s", fault_name(w->fault));
	fprintf(to, ", gap %" PRIu64 " ps\n", w->gap);
}

static void conn_print(const struct plan_conn *c, FILE *to)
{
	static const char *const kinds[] = { "RC", "UC", "UD" };
	static const char *const gone[] = { "no", "P_Key", "QPN", "INIT", "LID" };
	static const char *const acts[] = { "none", "SQD", "ERR" };

	fprintf(to,
		"  %s mtu %" PRIu32 " psn %06" PRIx32 " %06" PRIx32
		" timeout %u retry %u rnr_retry %u min_rnr %u rd %u/%u%s%s%s\n",
		kinds[c->kind], c->mtu, c->psn[0], c->psn[1], c->timeout, c->retry, c->rnr_retry,
		c->min_rnr, c->max_rd, c->max_dest_rd, c->credits ? " credits" : "",
		c->signal_all ? " signal all" : "", c->calm ? " calm" : "");
	fprintf(to,
		"  shared %d %d, access %x %x, queues %" PRIu32 " %" PRIu32 ", ack every %" PRIu32
		", windows %" PRIu32 " %" PRIu32 ", gone: %s, act: %s side %u at %" PRIu64
		" ps%s\n",
		c->shared[0], c->shared[1], c->access[0], c->access[1], c->max_send, c->max_recv,
		c->ack_every, c->window[0], c->window[1], gone[c->gone], acts[c->act], c->act_side,
		c->act_at, c->late_recv ? ", late receives" : "");
	for (unsigned s = 0; s < 2; s++) {
		fprintf(to, "   side %u posts:\n", s);
		for (uint32_t i = 0; i < c->n_wr[s]; i++) {
			if (!c->wr[s][i].cut)
				wr_print(&c->wr[s][i], i, to);
		}
	}
}

void plan_print(const struct plan *p, FILE *to)
{
	fprintf(to,
		"schedule 0x%" PRIx64 ": latency %" PRIu64
		" ps; of 1000 packets lost %u, doubled %u, corrupted %u, late %u\n",
		p->seed, p->latency, p->harm[HARM_LOSS], p->harm[HARM_DOUBLE],
		p->harm[HARM_CORRUPT], p->harm[HARM_LATE]);
	for (uint32_t i = 0; i < p->n_conn; i++) {
		if (!p->conn[i].cut) {
			fprintf(to, " connection %" PRIu32 "\n", i);
			conn_print(&p->conn[i], to);
		}
	}
}

void cuts_print(uint64_t seed, const struct cuts *c, FILE *to)
{
	fprintf(to,
		"adversary_test --schedule 0x%" PRIx64 " --no-conn 0x%" PRIx32
		" --no-harm 0x%" PRIx32 " --harms %" PRIu32 " --no-wr ",
		seed, c->conn, c->harm, c->max_harms);
	for (unsigned i = 0; i < 2 * MAX_CONN; i++)
		fprintf(to, "%s%" PRIx32, i ? "," : "", c->wr[i / 2][i % 2]);
	fprintf(to, "\n");
}
