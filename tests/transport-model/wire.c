/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The wire: every packet becomes bytes and back. It loses, doubles, corrupts
 * and delays, but not for ever: a connection that has suffered a few harms
 * without going forward is left alone until it does, because after its last
 * retry it may rightly give up. One harm costs at most two retries: a packet
 * that comes late can be missed by a timeout and by a NAK.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "transport/codes.h"
#include "world.h"

#define BYTES_MAX 4400

void wire_progress(struct half *h)
{
	h->harms = 0;
}

/* The half that sent the requests to which a packet belongs. */
static struct half *requester_of(struct half *h, const struct packet *p)
{
	bool request = opcode_flags(p->bth.opcode) & OPCODE_REQUEST;

	return request ? h : h->peer;
}

static uint32_t mercy(const struct half *h)
{
	if (h->plan->kind != QP_RC)
		return UINT32_MAX;
	return h->plan->retry / 2u;
}

static int draw_harm(struct half *h, const struct packet *p)
{
	struct world *w = h->w;
	struct half *r = requester_of(h, p);
	uint64_t x = rng_below(&w->wire, 1000);
	bool now = w->n_packets - w->p.script_at < w->p.script_n;

	if (w->p.scripted) {
		w->n_harms += now;
		r->harms += now;
		r->answers_harmed += now && r != h;
		return now ? (int)w->p.script : -1;
	}

	if (h->plan->calm || r->harms >= mercy(r) || w->n_harms >= w->p.max_harms)
		return -1;
	for (unsigned i = 0; i < HARM_COUNT; i++) {
		if (x < w->p.harm[i]) {
			w->n_harms++;
			r->harms++;
			r->answers_harmed += r != h;
			return (int)i;
		}
		x -= w->p.harm[i];
	}
	return -1;
}

static void put(struct world *w, const uint8_t *bytes, size_t size, unsigned to, hd_time arrives)
{
	struct flight *f = &w->flight[w->n_flight];

	if (w->n_flight == MAX_FLIGHTS) {
		complain(w, "harness: too many packets in flight");
		return;
	}
	w->n_flight++;
	*f = (struct flight){ hd_alloc_dense(size, 1), size, arrives, w->order++, to };
	memcpy(f->bytes, bytes, size);
}

static void corrupt(struct world *w, uint8_t *bytes, size_t size)
{
	uint64_t n = 1 + rng_below(&w->wire, 3);

	for (uint64_t i = 0; i < n; i++)
		bytes[rng_below(&w->wire, size)] ^= (uint8_t)(1u << rng_below(&w->wire, 8));
}

static void trace(const struct half *h, const struct packet *p, int harm)
{
	static const char *const names[] = { "", " LOST", " DOUBLED", " CORRUPTED", " LATE" };

	if (!h->w->trace)
		return;
	fprintf(h->w->trace, "%12" PRIu64 " c%u %u>%u %-20s psn %06" PRIx32 " len %zu", h->w->now,
		h->conn, h->side, !h->side, opcode_operation_name(p->bth.opcode), p->bth.psn,
		p->payload_len);
	if (packet_has(p, HEADER_AETH))
		fprintf(h->w->trace, " aeth %02x msn %" PRIu32, p->aeth.syndrome, p->aeth.msn);
	fprintf(h->w->trace, "%s%s\n", p->bth.ack_req ? " A" : "", names[harm + 1]);
}

void wire_launch(struct half *h, const struct packet *p)
{
	struct world *w = h->w;
	uint8_t bytes[BYTES_MAX];
	size_t size;
	int harm = draw_harm(h, p);
	unsigned to = p->lrh.dlid == 1 ? 0 : 1;
	hd_time arrives = w->now + w->p.latency;
	hd_time late = 1 + rng_below(&w->wire, 3 * w->p.latency);

	if (rng_below(&w->wire, 5) == 0)
		late += rng_below(&w->wire, 100 * HD_US);
	w->n_packets++;
	trace(h, p, harm);
	if (packet_encode(p, bytes, sizeof(bytes), &size) != HD_OK) {
		complain(w, "opcode %02x: not a packet", p->bth.opcode);
		return;
	}
	if (p->lrh.dlid != 1 && p->lrh.dlid != 2)
		return;
	if (harm == HARM_LATE) {
		put(w, bytes, size, to, arrives + late);
		return;
	}
	if (arrives < w->last[to])
		arrives = w->last[to];
	w->last[to] = arrives;
	if (harm == HARM_DOUBLE)
		put(w, bytes, size, to, arrives + late);
	if (harm == HARM_CORRUPT)
		corrupt(w, bytes, size);
	if (harm != HARM_LOSS)
		put(w, bytes, size, to, arrives);
}

hd_time wire_due(const struct world *w)
{
	hd_time due = HD_TIME_NEVER;

	for (uint32_t i = 0; i < w->n_flight; i++) {
		if (w->flight[i].arrives < due)
			due = w->flight[i].arrives;
	}
	return due;
}

static struct half *destination(struct world *w, const struct packet *p, unsigned host)
{
	for (uint32_t c = 0; c < w->p.n_conn; c++) {
		struct half *h = &w->half[c][host];

		if (!w->p.conn[c].cut && h->qpn == p->bth.dest_qp)
			return h;
	}
	return NULL;
}

/* Records a response that arrived, for the limit of faults. */
static void note_answer(struct half *h, const struct packet *p)
{
	bool reads = false;

	if (opcode_flags(p->bth.opcode) & OPCODE_REQUEST)
		return;
	for (uint32_t i = 0; i < h->n_wr; i++)
		reads |= wr_lands(h->wr[i]);
	if (!reads && (p->aeth.syndrome & AETH_KIND) == AETH_ACK &&
	    (!h->has_newest || psn_diff(p->bth.psn, h->newest) > 0)) {
		h->newest = p->bth.psn;
		h->has_newest = true;
		wire_progress(h);
	}
	if ((p->aeth.syndrome & AETH_KIND) == AETH_RNR_NAK && packet_has(p, HEADER_AETH) &&
	    h->plan->calm)
		h->hold_until = h->w->now + qp_rnr_delay(p->aeth.syndrome & AETH_VALUE);
}

static void arrive(struct world *w, const struct flight *f)
{
	struct crc_verdicts v = packet_check(f->bytes, f->size);
	struct packet p = { 0 };
	struct half *h;

	if (v.icrc != CRC_GOOD || v.vcrc != CRC_GOOD)
		return;
	if (packet_decode(f->bytes, f->size, NULL, &p) != HD_OK) {
		complain(w, "a packet with good CRCs does not decode");
		return;
	}
	h = destination(w, &p, f->to);
	if (!h)
		return;
	w->n_delivered++;
	if (h->plan->kind == QP_RC)
		note_answer(h, &p);
	else
		datagram_expect(h, &p);
	qp_receive(h->qp, &p, w->now);
	if (h->plan->kind != QP_RC)
		judge_settled(h);
}

void wire_deliver(struct world *w)
{
	while (!w->failed) {
		uint32_t best = UINT32_MAX;
		struct flight f;

		for (uint32_t i = 0; i < w->n_flight; i++) {
			const struct flight *x = &w->flight[i];

			if (x->arrives > w->now)
				continue;
			if (best == UINT32_MAX || x->arrives < w->flight[best].arrives ||
			    (x->arrives == w->flight[best].arrives &&
			     x->order < w->flight[best].order))
				best = i;
		}
		if (best == UINT32_MAX)
			return;
		f = w->flight[best];
		w->flight[best] = w->flight[--w->n_flight];
		arrive(w, &f);
		free(f.bytes);
	}
}
