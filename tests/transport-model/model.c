/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a reliable connection must do: the requests of one side, one after the
 * other, each whole and once, until the first that breaks a rule. Nothing of
 * packets, acknowledgements or time is here.
 */
#include <string.h>

#include "base/alloc.h"
#include "world.h"

enum wc_status fault_status(enum fault f)
{
	switch (f) {
	case FAULT_RKEY:
	case FAULT_PD:
	case FAULT_RIGHT:
	case FAULT_HIGH:
	case FAULT_LOW:
	case FAULT_WRAP:
		return WC_REM_ACCESS_ERR;
	case FAULT_FLAG:
	case FAULT_ALIGN:
	case FAULT_LONG:
		return WC_REM_INV_REQ_ERR;
	case FAULT_RECV_KEY:
	case FAULT_RECV_RIGHT:
		return WC_REM_OP_ERR;
	case FAULT_NO_RECV:
		return WC_RNR_RETRY_EXC_ERR;
	case FAULT_SGE_KEY:
	case FAULT_SGE_RANGE:
	case FAULT_LANDING:
		return WC_LOC_PROT_ERR;
	case FAULT_MTU:
		return WC_LOC_LEN_ERR;
	default:
		return WC_SUCCESS;
	}
}

bool fault_is_nak(enum fault f)
{
	enum wc_status s = fault_status(f);

	return s == WC_REM_ACCESS_ERR || s == WC_REM_INV_REQ_ERR || s == WC_REM_OP_ERR;
}

bool fault_is_local(enum fault f)
{
	enum wc_status s = fault_status(f);

	return s == WC_LOC_PROT_ERR || s == WC_LOC_LEN_ERR;
}

static struct effect *add(struct half *to, enum effect_kind kind)
{
	struct effect *e = &to->effect[to->n_effect];

	if (to->n_effect + 1 < MAX_EFFECTS)
		to->n_effect++;
	else
		complain(to->w, "harness: too many effects");
	*e = (struct effect){ .kind = kind };
	return e;
}

/* Byte at `addr` of the memory that h sends from, when it is read. */
static uint8_t source_byte(const struct half *h, uint32_t at, const struct sge *where)
{
	const struct plan_wr *w = h->wr[at];
	const struct region *r = region_find(h, where->lkey);
	uint64_t offset;

	if (w->flags & WR_INLINE)
		return inline_byte(where->addr - h->region[ROLE_INLINE].base);
	offset = where->addr - r->base;
	if (w->forward < 0)
		return r->bytes[offset];
	for (uint32_t i = 0; i < at; i++) {
		if (plan_index(h, i) == (uint32_t)w->forward && h->landing[i])
			return h->landing[i][offset % SLOT];
	}
	return 0; /* that read was cut */
}

void request_data(const struct half *h, uint32_t at, uint8_t *to)
{
	struct send_wr wr;
	struct sge piece;

	request_make(h, at, &wr);
	for (uint32_t o = 0; o < h->wr[at]->length; o++) {
		if (!sge_find(wr.sge, wr.n_sge, o, &piece))
			return;
		to[o] = source_byte(h, at, &piece);
	}
}

static void expect_recv(struct half *to, const struct half *h, uint32_t at, enum wc_status status)
{
	const struct plan_wr *w = h->wr[at];
	struct effect *e = add(to, EFFECT_RECV);

	e->wc = (struct completion){ .status = status,
				     .kind = w->kind == WR_WRITE_IMM ? WC_RECV_WRITE_IMM : WC_RECV,
				     .solicited = w->flags & WR_SOLICITED,
				     .qpn = to->qpn,
				     .byte_len = w->length };
	if (w->kind == WR_SEND_IMM || w->kind == WR_WRITE_IMM)
		e->wc.flags = WC_WITH_IMM;
	if (w->kind == WR_SEND_INV)
		e->wc.flags = WC_WITH_INV;
	if (e->wc.flags)
		e->wc.imm = w->imm;
}

static void expect_data(struct half *to, const struct half *h, uint32_t at)
{
	const struct plan_wr *w = h->wr[at];
	struct effect *e;
	uint8_t *bytes;

	if (w->length == 0)
		return;
	bytes = arena_take(h->w, w->length);
	request_data(h, at, bytes);
	e = add(to, wr_is_send(w) ? EFFECT_SCATTER : EFFECT_WRITE);
	e->len = w->length;
	e->bytes = bytes;
	if (!wr_is_send(w))
		remote_of(h, at, &e->addr, &e->key);
}

static void expect_atomic(struct half *to, struct half *h, uint32_t at, uint8_t *memory)
{
	const struct plan_wr *w = h->wr[at];
	struct effect *e = add(to, EFFECT_ATOMIC);
	uint64_t old, new;

	remote_of(h, at, &e->addr, &e->key);
	e->len = 8;
	e->swap_add = w->swap_add;
	e->compare = w->kind == WR_CMP_SWAP ? w->compare : 0;
	e->is_compare = w->kind == WR_CMP_SWAP;
	memcpy(&old, memory + w->target, 8);
	new = old + w->swap_add;
	if (w->kind == WR_CMP_SWAP)
		new = old == w->compare ? w->swap_add : old;
	memcpy(memory + w->target, &new, 8);
	memcpy(e->after, &new, 8);
	h->landing[at] = arena_take(h->w, 8);
	memcpy(h->landing[at], &old, 8);
}

/* Permitted effects of an invalid request at the responder. */
static void expect_fault(struct half *to, const struct half *h, uint32_t at)
{
	const struct plan_wr *w = h->wr[at];

	switch (w->fault) {
	case FAULT_LONG:
		expect_data(to, h, at);
		to->effect[to->n_effect - 1].optional = true;
		to->effect[to->n_effect - 1].len = w->recv_length;
		expect_recv(to, h, at, WC_LOC_LEN_ERR);
		break;
	case FAULT_RECV_KEY:
	case FAULT_RECV_RIGHT:
		expect_recv(to, h, at, WC_LOC_PROT_ERR);
		break;
	case FAULT_NO_RECV:
		/* A long WRITE is only stopped at its last packet. */
		if (w->kind != WR_WRITE_IMM || packets_in(h, at) == 1)
			break;
		expect_data(to, h, at);
		to->effect[to->n_effect - 1].optional = true;
		to->effect[to->n_effect - 1].len = (packets_in(h, at) - 1) * h->plan->mtu;
		break;
	default:
		/* An immediate may have taken its receive request before. */
		if (w->kind == WR_WRITE_IMM && fault_is_nak(w->fault) && w->fault != FAULT_FLAG &&
		    packets_in(h, at) == 1) {
			expect_recv(to, h, at, WC_LOC_ACCESS_ERR);
			to->effect[to->n_effect - 1].or_flushed = true;
		}
		break;
	}
}

static void expect_request(struct half *to, struct half *h, uint32_t at, uint8_t *memory)
{
	const struct plan_wr *w = h->wr[at];

	if (wr_is_atomic(w)) {
		expect_atomic(to, h, at, memory);
		return;
	}
	if (w->kind == WR_READ) {
		const uint8_t *from = w->fixed ? to->region[ROLE_FIXED].bytes : memory;

		h->landing[at] = arena_take(h->w, w->length + 1);
		memcpy(h->landing[at], from + w->target, w->length);
		return;
	}
	expect_data(to, h, at);
	if (wr_is_write(w) && w->length)
		memcpy(memory + w->target, to->effect[to->n_effect - 1].bytes, w->length);
	if (w->kind == WR_SEND_INV) {
		struct effect *e = add(to, EFFECT_INVALIDATE);

		e->key = w->imm;
	}
	if (wr_takes_recv(w))
		expect_recv(to, h, at, WC_SUCCESS);
}

void model_build(struct half *h)
{
	struct half *to = h->peer;
	uint8_t *memory = arena_take(h->w, REGION_SIZE);

	memcpy(memory, to->region[ROLE_TARGET].bytes, REGION_SIZE);
	h->fault_at = h->n_wr;
	for (uint32_t i = h->n_wr; i-- > 0;) {
		if (h->plan->kind == QP_RC ? h->wr[i]->fault != FAULT_NONE
					   : fault_is_local(h->wr[i]->fault))
			h->fault_at = i;
	}
	for (uint32_t i = 0; i < h->n_wr; i++)
		h->first[i + 1] = h->first[i] + packets_in(h, i);
	if (h->plan->kind != QP_RC)
		return;
	for (uint32_t i = 0; i < h->n_wr; i++) {
		h->start[i] = to->n_effect;
		if (i == h->fault_at)
			expect_fault(to, h, i);
		else if (i < h->fault_at)
			expect_request(to, h, i, memory);
	}
	h->start[h->n_wr] = to->n_effect;
}
