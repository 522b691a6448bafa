/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests that come before their turn, on fabrics that spread the packets of a
 * connection over several ways. InfiniBand asks for a NAK; an adapter that can
 * keep as many as its window says waits for those that are missing instead.
 *
 * The bytes of the WRITE under way go to their place at once: its RETH has
 * named it, and where in it they belong follows from the packet's number. All
 * else waits for its turn, and is then what it would have been: what a SEND is
 * received into follows from what is before it, and what later WRITEs and
 * atomics do must not be undone by those before them.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "transport/state.h"

/* A power of 2, so that numbers may wrap. */
static uint32_t places_for(uint32_t window)
{
	uint32_t places = 1;

	while (places < window)
		places *= 2;
	return places;
}

static struct early **place_of(struct qp *qp, uint32_t psn)
{
	struct responder *r = &qp->rs;

	if (!r->early)
		r->early = hd_alloc(places_for(qp->params.window),
				    sizeof(struct early *));
	return &r->early[psn & (places_for(qp->params.window) - 1)];
}

void early_fini(struct qp *qp)
{
	struct responder *r = &qp->rs;

	if (r->early) {
		for (uint32_t i = 0; i < places_for(qp->params.window); i++)
			free(r->early[i]);
	}
	free(r->early);
	r->early = NULL;
}

/*
 * Whether these are bytes of the WRITE under way; then puts them there. Not
 * with immediate data: its receive request must be there first.
 */
static bool put_in_place(struct qp *qp, const struct packet *p)
{
	struct responder *r = &qp->rs;
	unsigned op = p->bth.opcode & OP_MASK;
	unsigned flags = opcode_flags(p->bth.opcode);

	if (r->kind != IN_WRITE || op < OP_WRITE_FIRST ||
	    op > OP_WRITE_ONLY_IMM || packet_has(p, HEADER_IMMDT) ||
	    !(flags & (OPCODE_MIDDLE | OPCODE_LAST)))
		return false;
	uint64_t ahead = (uint64_t)psn_diff(p->bth.psn, r->epsn);
	uint64_t offset = r->received + ahead * qp->attr.mtu;
	uint64_t end = offset + p->payload_len;
	bool fits = flags & OPCODE_LAST
			    ? p->payload_len &&
				      p->payload_len <= qp->attr.mtu &&
				      end == r->write.dma_len
			    : p->payload_len == qp->attr.mtu &&
				      end < r->write.dma_len;

	if (fits)
		qp->owner->write(qp->owner->context, r->write.rkey,
				 r->write.va + offset, p->payload,
				 p->payload_len);
	return fits;
}

static struct early *copy_of(const struct packet *p)
{
	struct early *e = hd_alloc(1, sizeof(*e) + p->payload_len);

	e->packet = *p;
	e->packet.payload = e->data;
	if (p->payload_len)
		memcpy(e->data, p->payload, p->payload_len);
	return e;
}

bool early_keep(struct qp *qp, const struct packet *p)
{
	if (psn_diff(p->bth.psn, qp->rs.epsn) > (int32_t)qp->params.window)
		return false;
	struct early **place = place_of(qp, p->bth.psn);

	if (*place && (*place)->packet.bth.psn == p->bth.psn) {
		/* Again; the repetition may ask where the first did not. */
		(*place)->packet.bth.ack_req |= p->bth.ack_req;
		return true;
	}
	free(*place); /* passed over: a number among those of a READ's answers
		       */
	*place = copy_of(p);
	(*place)->in_place = put_in_place(qp, p);
	return true;
}

struct early *early_take(struct qp *qp)
{
	if (!qp->rs.early)
		return NULL;
	struct early **place = place_of(qp, qp->rs.epsn);
	struct early *e = *place;

	if (!e || e->packet.bth.psn != qp->rs.epsn)
		return NULL;
	*place = NULL;
	return e;
}

/* ---- as bytes and back ------------------------------------------------- */

static void write_one(struct pack *p, const struct packet *packet)
{
	uint8_t bytes[PACKET_MAX];
	size_t size = 0;

	if (packet_encode(packet, bytes, sizeof(bytes), &size) != HD_OK)
		assert(false && "it was received");
	size = pack_count(p, size);
	pack_bytes(p, bytes, size);
}

static struct early *read_one(struct qp *qp, struct pack *p)
{
	uint8_t bytes[PACKET_MAX];
	size_t size = pack_count(p, 0);
	struct diag ignored = { .status = HD_OK };
	struct packet packet;

	if (!pack_check(p, size <= sizeof(bytes)))
		return NULL;
	pack_bytes(p, bytes, size);
	if (!pack_check(p,
			packet_decode(bytes, size, &ignored, &packet) == HD_OK))
		return NULL;
	int32_t ahead = psn_diff(packet.bth.psn, qp->rs.epsn);

	if (!pack_check(p, ahead > 0 && ahead <= (int32_t)qp->params.window &&
				   !*place_of(qp, packet.bth.psn)))
		return NULL;
	return *place_of(qp, packet.bth.psn) = copy_of(&packet);
}

static struct early *at(struct qp *qp, uint32_t ahead)
{
	uint32_t psn = psn_add(qp->rs.epsn, ahead);
	struct early *e = qp->rs.early ? *place_of(qp, psn) : NULL;

	return e && e->packet.bth.psn == psn ? e : NULL;
}

void early_pack(struct qp *qp, struct pack *p)
{
	uint32_t n = 0;

	for (uint32_t i = 1; !p->reads && i <= qp->params.window; i++)
		n += at(qp, i) != NULL;
	n = (uint32_t)pack_count(p, n);
	for (uint32_t i = 1; !p->reads && i <= qp->params.window; i++) {
		struct early *e = at(qp, i);

		if (!e)
			continue;
		write_one(p, &e->packet);
		pack_bool(p, &e->in_place);
	}
	for (uint32_t i = 0; p->reads && i < n; i++) {
		struct early *e = read_one(qp, p);

		if (!e)
			return;
		pack_bool(p, &e->in_place);
	}
}
