/* SPDX-License-Identifier: BSD-2-Clause */
/* Work requests of the plan, and their errors. */
#include <string.h>

#include "world.h"

uint32_t packets_in(const struct half *h, uint32_t at)
{
	uint32_t mtu = h->plan->mtu, len = h->wr[at]->length;

	if (wr_is_atomic(h->wr[at]) || len == 0)
		return 1;
	return (len + mtu - 1) / mtu;
}

void remote_of(const struct half *h, uint32_t at, uint64_t *addr, uint32_t *rkey)
{
	const struct plan_wr *w = h->wr[at];
	const struct region *target = &h->peer->region[ROLE_TARGET];

	if (w->fixed)
		target = &h->peer->region[ROLE_FIXED];
	if (w->fault == FAULT_PD)
		target = &h->peer->region[ROLE_ALIEN];
	if (w->fault == FAULT_RIGHT)
		target = &h->peer->region[wr_lands(w) ? ROLE_SOURCE : ROLE_FIXED];
	*addr = target->base + w->target;
	*rkey = target->key;
	if (w->fault == FAULT_HIGH)
		*addr = target->base + target->size - w->length + (wr_is_atomic(w) ? 8 : 1);
	if (w->fault == FAULT_LOW)
		*addr = target->base - (wr_is_atomic(w) ? 8 : 1);
	if (w->fault == FAULT_WRAP)
		*addr = wr_is_atomic(w) ? UINT64_MAX - 7 : UINT64_MAX - w->length / 2;
	if (w->fault == FAULT_RKEY)
		*rkey = UNKNOWN_KEY;
	if (w->length == 0) { /* neither is looked at */
		*addr = 12345;
		*rkey = UNKNOWN_KEY;
	}
}

/* The first piece of the message lies last in memory. */
static void pieces(const struct region *r, uint64_t at, uint32_t n, const uint32_t *sizes,
		   struct sge *out)
{
	for (uint32_t i = n; i-- > 0;) {
		out[i] = (struct sge){ r->base + at, sizes[i], r->key };
		at += sizes[i];
	}
}

bool sge_find(const struct sge *list, uint32_t n, uint64_t offset, struct sge *out)
{
	for (uint32_t i = 0; i < n; i++) {
		if (offset < list[i].length) {
			*out = list[i];
			out->addr += offset;
			out->length -= (uint32_t)offset;
			return true;
		}
		offset -= list[i].length;
	}
	return false;
}

void request_make(const struct half *h, uint32_t at, struct send_wr *out)
{
	const struct plan_wr *w = h->wr[at];
	const struct region *r = &h->region[ROLE_SOURCE];
	uint32_t sizes[WR_MAX_SGE];
	uint64_t from = w->source;

	*out = (struct send_wr){ .id = 1000 + at,
				 .kind = w->kind,
				 .flags = w->flags,
				 .n_sge = w->n_sge,
				 .imm = w->imm,
				 .swap_add = w->swap_add,
				 .compare = w->compare };
	if (w->flags & WR_INLINE) {
		r = &h->region[ROLE_INLINE];
		from = (uint64_t)plan_index(h, at) * WR_MAX_INLINE;
	}
	if (wr_lands(w) || w->forward >= 0) {
		uint32_t slot = wr_lands(w) ? plan_index(h, at) : (uint32_t)w->forward;

		r = &h->region[ROLE_LANDING];
		from = (uint64_t)slot * SLOT;
	}
	split(w->cuts, w->length, w->n_sge, sizes);
	pieces(r, from, w->n_sge, sizes, out->sge);
	remote_of(h, at, &out->remote_addr, &out->rkey);
	for (uint32_t i = 0; i < w->n_sge && (w->flags & WR_INLINE); i++)
		out->sge[i].lkey = UNKNOWN_KEY; /* ignored */
	for (uint32_t i = 0; i < w->n_sge; i++) {
		if (sizes[i] == 0)
			continue;
		if (w->fault == FAULT_SGE_KEY)
			out->sge[i].lkey = UNKNOWN_KEY;
		if (w->fault == FAULT_SGE_RANGE)
			out->sge[i].addr = r->base + r->size - sizes[i] + 1;
		if (w->fault == FAULT_LANDING)
			out->sge[i] = (struct sge){ h->region[ROLE_SOURCE].base, sizes[i],
						    h->region[ROLE_SOURCE].key };
	}
	out->to = (struct wr_datagram){
		.qpn = h->peer->qpn,
		.qkey = QKEY_OF(h->peer) + (w->fault == FAULT_QKEY),
		.dlid = (uint16_t)(1 + h->peer->side),
		.global = w->global,
		.pd = h->pd,
		.hop_limit = 3,
		.tclass = 7,
	};
	memset(out->to.dgid, 0x20 + (int)h->peer->side, 16);
	if (at % 3 == 1 && w->fault != FAULT_QKEY)
		out->to.qkey = UINT32_C(0x80000000); /* the Q_Key of the queue pair */
}

void receive_make(const struct half *h, uint32_t at, struct recv_wr *out)
{
	const struct plan_wr *w = h->wr[at];
	const struct region *r = &h->peer->region[ROLE_RECV];
	uint32_t sizes[WR_MAX_SGE];

	*out = (struct recv_wr){ .id = 5000 + at, .n_sge = w->recv_sge };
	split(w->cuts ^ 1, w->recv_length, w->recv_sge, sizes);
	pieces(r, w->recv_at, w->recv_sge, sizes, out->sge);
	for (uint32_t i = 0; i < w->recv_sge; i++) {
		if (w->fault == FAULT_RECV_KEY)
			out->sge[i].lkey = UNKNOWN_KEY;
		if (w->fault == FAULT_RECV_RIGHT)
			out->sge[i].lkey = h->peer->region[ROLE_FIXED].key;
		if (w->fault == FAULT_RECV_RIGHT)
			out->sge[i].addr = h->peer->region[ROLE_FIXED].base;
	}
}

/* All are equal, because any connection may take them. */
void shared_make(const struct half *h, uint32_t at, struct recv_wr *out)
{
	const struct region *r = &h->region[ROLE_RECV];
	uint32_t sizes[3];

	*out = (struct recv_wr){ .id = 9000 + at, .n_sge = 3 };
	split(at, MAX_LENGTH + GRH_ROOM, 3, sizes);
	pieces(r, at, 3, sizes, out->sge);
}
