/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TRANSPORT_WIRE_FOR_TESTS_H
#define HD_TRANSPORT_WIRE_FOR_TESTS_H

/*
 * Two queue pairs and the wire between them, for tests. Each side has flat memory, registered as a
 * whole under one key; a rule decides the fate of each packet. Time passes only when nothing can be
 * sent.
 */

#include <stdlib.h>
#include <string.h>

#include "transport/qp.h"

#define MEMORY   (64 * 1024)
#define KEY      77u
#define PD       5u
#define MAX_DONE 256
#define MAX_FLY  512
#define MAX_SENT 4096

struct side {
	uint8_t memory[MEMORY];
	struct qp_owner owner;
	struct qp *qp;
	struct completion done[MAX_DONE];
	unsigned n_done;
	unsigned events[8];
	unsigned atomics;
};

struct flight {
	struct packet packet;
	uint8_t payload[4096];
	unsigned to;
};

/* Fate of packet number n: copies that arrive, and a delay. */
struct verdict {
	unsigned copies;
	bool late; /* after the packet behind it */
};

struct pair {
	struct side side[2];
	struct flight flight[MAX_FLY];
	unsigned n_flight;
	hd_time now;
	/* May change the packet, as switches do with marks. */
	struct verdict (*rule)(void *context, unsigned n, struct packet *p, unsigned to);
	void *context;
	unsigned n_sent;
	/* Sent packets, for tests that check headers. */
	struct packet sent[MAX_SENT];
};

static inline bool side_allows(void *context, uint32_t pd, uint32_t key, uint64_t addr,
			       uint64_t len, unsigned access)
{
	(void)context;
	(void)access;
	return pd == PD && key == KEY && addr <= MEMORY && len <= MEMORY - addr;
}

static inline void side_read(void *context, uint32_t key, uint64_t addr, void *to, size_t len)
{
	struct side *s = context;

	(void)key;
	memcpy(to, s->memory + addr, len);
}

static inline void side_write(void *context, uint32_t key, uint64_t addr, const void *from,
			      size_t len)
{
	struct side *s = context;

	(void)key;
	memcpy(s->memory + addr, from, len);
}

static inline uint64_t side_atomic(void *context, const struct atomiceth *what, bool compare)
{
	struct side *s = context;
	uint64_t old, value;

	memcpy(&old, s->memory + what->va, sizeof(old));
	value = compare ? (old == what->compare ? what->swap_add : old) : old + what->swap_add;
	memcpy(s->memory + what->va, &value, sizeof(value));
	s->atomics++;
	return old;
}

static inline void side_invalidate(void *context, uint32_t rkey)
{
	(void)context;
	(void)rkey;
}

static inline void side_complete(void *context, struct qp *qp, const struct completion *wc,
				 bool receive)
{
	struct side *s = context;

	(void)qp;
	(void)receive;
	if (s->n_done == MAX_DONE)
		abort();
	s->done[s->n_done++] = *wc;
}

static inline void side_event(void *context, struct qp *qp, enum qp_event event)
{
	struct side *s = context;

	(void)qp;
	s->events[event]++;
}

static inline bool side_take(void *context, struct recv_wr *out)
{
	(void)context;
	(void)out;
	return false;
}

/* Attributes that work: adapt before pair_new. */
static inline struct qp_attr pair_attr(unsigned side)
{
	return (struct qp_attr){
		.access = ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ | ACCESS_REMOTE_ATOMIC,
		.pkey = 0xffff,
		.qkey = 0x11111111,
		.slid = (uint16_t)(1 + side),
		.dlid = (uint16_t)(2 - side),
		.mtu = 256,
		.dest_qpn = 101 - side,
		.rq_psn = side ? 0xfffffe : 0x000100,
		.sq_psn = side ? 0x000100 : 0xfffffe,
		.max_dest_rd = 4,
		.max_rd = 4,
		.min_rnr = 1,
		.timeout = 1,
		.retry = 7,
		.rnr_retry = 7,
	};
}

static inline enum hd_status pair_raise(struct qp *qp, struct qp_attr a, enum qp_kind kind)
{
	for (unsigned step = 0; step < 3; step++) {
		a.state = (enum qp_state)(QPS_INIT + step);
		enum hd_status status = qp_modify(qp, &a, qp_step_mask(kind, a.state));

		if (status != HD_OK)
			return status;
	}
	return HD_OK;
}

/* Creates a pair with this window for early requests. */
static inline struct pair *pair_with_window(enum qp_kind kind, const struct qp_attr *a,
					    uint32_t window)
{
	struct pair *p = calloc(1, sizeof(*p));

	if (!p)
		abort();
	for (unsigned i = 0; i < 2; i++) {
		struct side *s = &p->side[i];
		struct qp_params params = { .kind = kind,
					    .qpn = 100 + i,
					    .pd = PD,
					    .max_send = 64,
					    .max_recv = 64,
					    .window = window };

		s->owner =
			(struct qp_owner){ s,           side_allows,     side_read,     side_write,
					   side_atomic, side_invalidate, side_complete, side_event,
					   side_take };
		s->qp = qp_new(&params, &s->owner);
		if (pair_raise(s->qp, a ? a[i] : pair_attr(i), kind) != HD_OK)
			abort();
	}
	return p;
}

static inline struct pair *pair_new(enum qp_kind kind, const struct qp_attr *a)
{
	return pair_with_window(kind, a, 0);
}

static inline void pair_free(struct pair *p)
{
	qp_free(p->side[0].qp);
	qp_free(p->side[1].qp);
	free(p);
}

/* A pair of other queue pairs with the packed state of these. */
static inline struct pair *pair_saved_and_restored(struct pair *p, uint32_t window)
{
	struct pair *again = pair_with_window(QP_RC, NULL, window);
	struct side fresh[2] = { again->side[0], again->side[1] };

	*again = *p;
	for (unsigned i = 0; i < 2; i++) {
		struct strbuf bytes = STRBUF_INIT;
		struct pack pack;

		again->side[i].qp = fresh[i].qp;
		again->side[i].owner = fresh[i].owner;
		pack_to(&pack, &bytes);
		qp_pack(p->side[i].qp, &pack);
		pack_from(&pack, bytes.text, bytes.len);
		qp_pack(again->side[i].qp, &pack);
		if (!pack_is_done(&pack))
			abort();
		strbuf_fini(&bytes);
	}
	pair_free(p);
	return again;
}

/* Puts a packet on the wire; a late one is exchanged with the last one. */
static inline void pair_launch(struct pair *p, const struct packet *packet, const uint8_t *payload,
			       unsigned to, bool late)
{
	if (p->n_flight == MAX_FLY)
		return;
	unsigned at = p->n_flight++;

	if (late && at > 0) {
		p->flight[at] = p->flight[at - 1];
		at--;
	}
	p->flight[at].packet = *packet;
	p->flight[at].to = to;
	memcpy(p->flight[at].payload, payload, 4096);
}

/* Takes one packet from each side that has one; true if any had. */
static inline bool pair_collect(struct pair *p)
{
	bool any = false;

	for (unsigned from = 0; from < 2; from++) {
		struct packet packet;
		uint8_t payload[4096];

		if (!qp_transmit(p->side[from].qp, p->now, &packet, payload))
			continue;
		any = true;
		qp_sent(p->side[from].qp, &packet);
		unsigned to = 1 - from, n = p->n_sent++;
		struct verdict v = { 1, false };

		if (p->rule)
			v = p->rule(p->context, n, &packet, to);
		p->sent[n % MAX_SENT] = packet;
		for (unsigned c = 0; c < v.copies; c++)
			pair_launch(p, &packet, payload, to, v.late);
	}
	return any;
}

static inline void pair_deliver(struct pair *p)
{
	struct flight f = p->flight[0];

	memmove(p->flight, p->flight + 1, --p->n_flight * sizeof(f));
	f.packet.payload = f.payload;
	qp_receive(p->side[f.to].qp, &f.packet, p->now);
}

/* Runs until nothing is in flight and no timer is left, or `steps` are over. */
static inline void pair_run(struct pair *p, unsigned steps)
{
	while (steps--) {
		if (pair_collect(p) && p->n_flight < MAX_FLY / 2)
			continue;
		if (p->n_flight) {
			pair_deliver(p);
			continue;
		}
		hd_time due[2] = { qp_due(p->side[0].qp), qp_due(p->side[1].qp) };
		hd_time next = due[0] < due[1] ? due[0] : due[1];

		if (next == HD_TIME_NEVER)
			return;
		if (next > p->now)
			p->now = next;
		for (unsigned i = 0; i < 2; i++) {
			if (due[i] <= p->now)
				qp_timer(p->side[i].qp, p->now);
		}
	}
}

static inline struct send_wr pair_wr(uint64_t id, enum wr_kind kind, uint64_t local, uint32_t len,
				     uint64_t remote)
{
	struct send_wr wr = { .id = id,
			      .kind = kind,
			      .flags = WR_SIGNALED,
			      .n_sge = len ? 1 : 0,
			      .remote_addr = remote,
			      .rkey = KEY,
			      .to = { .qpn = 101, .qkey = 0x11111111, .dlid = 2, .pd = PD } };

	wr.sge[0] = (struct sge){ local, len, KEY };
	return wr;
}

static inline struct recv_wr pair_recv(uint64_t id, uint64_t addr, uint32_t len)
{
	struct recv_wr wr = { .id = id, .n_sge = 1 };

	wr.sge[0] = (struct sge){ addr, len, KEY };
	return wr;
}

#endif
