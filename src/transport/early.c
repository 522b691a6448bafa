/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets that come before their turn, on fabrics that spread those of a
 * connection over several ways. InfiniBand answers such requests by a NAK, and
 * takes answers behind a missing one of a READ for a sign that it is lost; an
 * adapter that can keep as many as its window says waits for those that are
 * missing instead.
 *
 * The bytes of the WRITE under way go to their place at once: its RETH has
 * named it, and where in it they belong follows from the packet's number. All
 * else waits for its turn, and is then what it would have been: what a SEND is
 * received into follows from what is before it, and what later WRITEs and
 * atomics do must not be undone by those before them. With answers it is the
 * same: those of the oldest READ go to their place.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "transport/transport_internal.h"

/* A power of 2, so that numbers may wrap. */
static uint32_t places_for(uint32_t window)
{
	uint32_t places = 1;

	while (places < window)
		places *= 2;
	return places;
}

static struct early **place_in(const struct qp *qp, struct early ***set, uint32_t psn)
{
	uint32_t places = places_for(qp->params.window);

	if (!*set)
		*set = hd_alloc(places, sizeof(struct early *));
	return &(*set)[psn & (places - 1)];
}

static struct early **place_of(struct qp *qp, uint32_t psn)
{
	return place_in(qp, &qp->resp.early, psn);
}

static void set_fini(const struct qp *qp, struct early ***set)
{
	if (*set) {
		for (uint32_t i = 0; i < places_for(qp->params.window); i++)
			free((*set)[i]);
	}
	free(*set);
	*set = NULL;
}

void qp_early_fini(struct qp *qp)
{
	set_fini(qp, &qp->resp.early);
	set_fini(qp, &qp->req.early);
	qp->req.n_kept = 0;
}

/*
 * Copies the payload if it belongs to the WRITE in progress. Not with immediate data, which needs
 * its receive request first.
 */
static bool put_in_place(struct qp *qp, const struct packet *p)
{
	struct responder *r = &qp->resp;
	unsigned op = p->bth.opcode & OP_MASK;
	unsigned flags = opcode_flags(p->bth.opcode);

	if (r->kind != IN_WRITE || op < OP_WRITE_FIRST || op > OP_WRITE_ONLY_IMM ||
	    packet_has(p, HEADER_IMMDT) || !(flags & (OPCODE_MIDDLE | OPCODE_LAST)))
		return false;
	uint64_t ahead = (uint64_t)psn_diff(p->bth.psn, r->epsn);
	uint64_t offset = r->received + ahead * qp->attr.mtu;
	uint64_t end = offset + p->payload_len;
	bool fits = flags & OPCODE_LAST ? p->payload_len && p->payload_len <= qp->attr.mtu &&
						  end == r->write.dma_len
					: p->payload_len == qp->attr.mtu && end < r->write.dma_len;

	if (fits)
		qp->owner->write(qp->owner->context, r->write.rkey, r->write.va + offset,
				 p->payload, p->payload_len);
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

bool qp_early_keep(struct qp *qp, const struct packet *p)
{
	if (psn_diff(p->bth.psn, qp->resp.epsn) > (int32_t)qp->params.window)
		return false;
	struct early **place = place_of(qp, p->bth.psn);

	if (*place && (*place)->packet.bth.psn == p->bth.psn) {
		/* The repeated packet may request an ACK that the first did not. */
		(*place)->packet.bth.ack_req |= p->bth.ack_req;
		return true;
	}
	free(*place); /* passed over: within a READ's answers */
	*place = copy_of(p);
	(*place)->in_place = put_in_place(qp, p);
	return true;
}

struct early *qp_early_take(struct qp *qp)
{
	if (!qp->resp.early)
		return NULL;
	struct early **place = place_of(qp, qp->resp.epsn);
	struct early *e = *place;

	if (!e || e->packet.bth.psn != qp->resp.epsn)
		return NULL;
	*place = NULL;
	return e;
}

/* ---- answers ----------------------------------------------------------- */

const struct early *qp_early_answer(const struct qp *qp, uint32_t psn)
{
	if (!qp->req.early)
		return NULL;
	const struct early *e = qp->req.early[psn & (places_for(qp->params.window) - 1)];

	return e && e->packet.bth.psn == psn ? e : NULL;
}

struct early *qp_early_take_answer(struct qp *qp, uint32_t psn)
{
	struct early **place = place_in(qp, &qp->req.early, psn);
	struct early *e = *place;

	*place = NULL;
	qp->req.n_kept--;
	return e;
}

static bool is_nak(const struct packet *p)
{
	return (p->bth.opcode & OP_MASK) == OP_ACK && (p->aeth.syndrome & AETH_KIND) != AETH_ACK;
}

bool qp_early_keep_answer(struct qp *qp, const struct packet *p, uint32_t missing, bool in_place)
{
	int32_t ahead = psn_diff(p->bth.psn, missing);

	if (ahead <= 0 || ahead > (int32_t)qp->params.window)
		return false;
	struct early **place = place_in(qp, &qp->req.early, p->bth.psn);

	/* A packet that was rejected may have been accepted since, but not the reverse. */
	if (*place && !(is_nak(&(*place)->packet) && !is_nak(p)))
		return true;
	qp->req.n_kept += !*place;
	free(*place);
	*place = copy_of(p);
	(*place)->in_place = in_place;
	return true;
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

/* Members of a set within a window after a PSN. */
struct early_set {
	const struct qp *qp;
	struct early ***set;
	uint32_t from;
};

static struct early *read_one(const struct early_set *k, struct pack *p)
{
	uint8_t bytes[PACKET_MAX];
	size_t size = pack_count(p, 0);
	struct diag ignored = { .status = HD_OK };
	struct packet packet;

	if (!pack_check(p, size <= sizeof(bytes)))
		return NULL;
	pack_bytes(p, bytes, size);
	if (!pack_check(p, packet_decode(bytes, size, &ignored, &packet) == HD_OK))
		return NULL;
	int32_t ahead = psn_diff(packet.bth.psn, k->from);
	struct early **place = place_in(k->qp, k->set, packet.bth.psn);

	if (!pack_check(p, ahead > 0 && ahead <= (int32_t)k->qp->params.window && !*place))
		return NULL;
	return *place = copy_of(&packet);
}

static struct early *at(const struct early_set *k, uint32_t ahead)
{
	uint32_t psn = psn_add(k->from, ahead);
	struct early *e = *k->set ? *place_in(k->qp, k->set, psn) : NULL;

	return e && e->packet.bth.psn == psn ? e : NULL;
}

/* Packs the number of members. */
static uint32_t pack_kept(const struct early_set *k, struct pack *p)
{
	const uint32_t window = k->qp->params.window;
	uint32_t n = 0;

	for (uint32_t i = 1; !p->reads && i <= window; i++)
		n += at(k, i) != NULL;
	n = (uint32_t)pack_count(p, n);
	for (uint32_t i = 1; !p->reads && i <= window; i++) {
		struct early *e = at(k, i);

		if (!e)
			continue;
		write_one(p, &e->packet);
		pack_bool(p, &e->in_place);
	}
	for (uint32_t i = 0; p->reads && i < n; i++) {
		struct early *e = read_one(k, p);

		if (!e)
			return i;
		pack_bool(p, &e->in_place);
	}
	return n;
}

void qp_early_pack(struct qp *qp, struct pack *p)
{
	struct early_set requests = { qp, &qp->resp.early, qp->resp.epsn };
	struct early_set answers = { qp, &qp->req.early, 0 };

	pack_kept(&requests, p);
	if (requester_misses(&qp->req, &answers.from))
		qp->req.n_kept = pack_kept(&answers, p);
}
