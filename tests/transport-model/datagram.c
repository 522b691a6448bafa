/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A second receiver of unreliable packets: what each packet that arrives must
 * do, from the rules alone. It knows which receive requests are there, and
 * nothing of the queue pair that it is compared with.
 */
#include <string.h>

#include "world.h"

static struct effect *add(struct half *h, enum effect_kind kind)
{
	struct effect *e;

	if (h->n_effect == MAX_EFFECTS) { /* all of them have happened */
		h->n_effect = 0;
		h->effect_at = 0;
	}
	e = &h->effect[h->n_effect++];
	*e = (struct effect){ .kind = kind };
	return e;
}

static void add_bytes(struct half *h, struct effect like, const uint8_t *from, size_t len)
{
	struct effect *e;
	uint8_t *bytes;

	if (len == 0)
		return;
	bytes = arena_take(h->w, len);
	memcpy(bytes, from, len);
	e = add(h, like.kind);
	*e = like;
	e->bytes = bytes;
	e->len = (uint32_t)len;
}

static bool has_recv(const struct half *h)
{
	const struct shared *s = &h->w->shared[h->side];

	if (h->wqe_at < h->n_wqe)
		return true;
	return h->plan->shared[h->side] && s->taken < s->posted;
}

static uint64_t recv_room(const struct half *h)
{
	uint64_t room = 0;

	if (h->plan->shared[h->side])
		return MAX_LENGTH + GRH_ROOM;
	for (uint32_t i = 0; i < h->wqe[h->wqe_at].n_sge; i++)
		room += h->wqe[h->wqe_at].sge[i].length;
	return room;
}

static struct completion arrived(const struct half *h, const struct packet *p)
{
	struct completion wc = { .kind = WC_RECV, .solicited = p->bth.se, .qpn = h->qpn };

	if (packet_has(p, HEADER_IMMDT)) {
		wc.flags = WC_WITH_IMM;
		wc.imm = p->immdt.data;
	}
	return wc;
}

static void ud_expect(struct half *h, const struct packet *p)
{
	struct effect e = { .kind = EFFECT_SCATTER };
	struct completion wc = arrived(h, p);

	if (p->deth.qkey != QKEY_OF(h)) {
		h->dg.wrong_qkey++;
		return;
	}
	if (!has_recv(h) || recv_room(h) < GRH_ROOM + p->payload_len)
		return;
	if (packet_has(p, HEADER_GRH)) {
		uint8_t grh[GRH_SIZE];
		struct byte_writer w;

		writer_init(&w, grh, sizeof(grh));
		grh_write(&w, &p->grh);
		add_bytes(h, e, grh, sizeof(grh));
		wc.flags |= WC_GRH;
	} else {
		struct effect *any = add(h, EFFECT_SCATTER);

		any->optional = true;
		any->len = GRH_ROOM;
	}
	e.addr = GRH_ROOM;
	add_bytes(h, e, p->payload, p->payload_len);
	wc.byte_len = (uint32_t)(GRH_ROOM + p->payload_len);
	wc.src_qp = p->deth.src_qp;
	wc.slid = p->lrh.slid;
	wc.sl = p->lrh.sl;
	add(h, EFFECT_RECV)->wc = wc;
}

/* The first packet of a message; false: the message is not taken. */
static bool uc_begin(struct half *h, const struct packet *p)
{
	struct datagram *d = &h->dg;
	const struct region *r;

	d->got = 0;
	d->write = packet_has(p, HEADER_RETH);
	if (!d->write)
		return has_recv(h);
	d->va = p->reth.va;
	d->rkey = p->reth.rkey;
	d->length = p->reth.dma_len;
	if (!(h->plan->access[h->side] & ACCESS_REMOTE_WRITE))
		return false;
	if (d->length == 0)
		return true;
	r = region_find(h, d->rkey);
	return r && r->pd == h->pd && (r->access & ACCESS_REMOTE_WRITE) &&
	       region_holds(r, d->va, d->length);
}

static void uc_end(struct half *h, const struct packet *p)
{
	struct completion wc = arrived(h, p);

	h->dg.busy = false;
	if (h->dg.write && !packet_has(p, HEADER_IMMDT))
		return;
	if (h->dg.write)
		wc.kind = WC_RECV_WRITE_IMM;
	wc.byte_len = (uint32_t)h->dg.got;
	add(h, EFFECT_RECV)->wc = wc;
}

static void uc_expect(struct half *h, const struct packet *p)
{
	struct datagram *d = &h->dg;
	unsigned op = p->bth.opcode & OP_MASK;
	unsigned f = opcode_flags(p->bth.opcode);
	bool begins = f & (OPCODE_FIRST | OPCODE_ONLY);
	bool ends = f & (OPCODE_LAST | OPCODE_ONLY);
	struct effect e = { .kind = EFFECT_SCATTER };

	if (p->bth.psn != d->epsn)
		d->busy = false;
	d->epsn = psn_add(p->bth.psn, 1);
	if (begins)
		d->busy = uc_begin(h, p);
	if (!d->busy || d->write != (op >= OP_WRITE_FIRST)) {
		d->busy = false;
		return;
	}
	if (d->write) {
		e.kind = EFFECT_WRITE;
		e.addr = d->va + d->got;
		e.key = d->rkey;
	} else {
		e.addr = d->got;
		if (d->got + p->payload_len > recv_room(h)) {
			d->busy = false;
			return;
		}
	}
	/*
	 * The specification does not define whether the last part is written before the missing
	 * receive request is detected.
	 */
	e.optional = d->write && packet_has(p, HEADER_IMMDT) && !has_recv(h);
	add_bytes(h, e, p->payload, p->payload_len);
	d->got += p->payload_len;
	if (e.optional)
		d->busy = false;
	if (d->busy && ends)
		uc_end(h, p);
	else if (ends)
		d->busy = false;
}

void datagram_expect(struct half *h, const struct packet *p)
{
	if (h->plan->kind == QP_UD)
		ud_expect(h, p);
	else
		uc_expect(h, p);
}
