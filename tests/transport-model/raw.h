/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TRANSPORT_MODEL_RAW_H
#define HD_TRANSPORT_MODEL_RAW_H

/*
 * One queue pair and a peer that is the test itself: packets made by hand go
 * in, what comes out is looked at. The rules are those of the standard's
 * tables; the expected values are written down in the tests.
 */

#include <stdlib.h>
#include <string.h>

#include "transport/qp.h"

#define RAW_BASE   UINT64_C(0x7000000000)
#define RAW_SIZE   16384u
#define RAW_KEY    0x501u /* everything */
#define RAW_FIXED  0x502u /* the same memory, remote reading only */
#define RAW_ALIEN  0x503u /* the same, another protection domain */
#define RAW_PD     9u
#define RAW_QPN    0x77u
#define RAW_PEER   0x88u
#define RAW_SQ_PSN 0xfffffeu
#define RAW_RQ_PSN 0xfffffdu
#define RAW_MTU    256u
#define RAW_MAX    256

struct raw {
	uint8_t memory[RAW_SIZE];
	struct qp_owner owner;
	struct qp *qp;
	struct qp_attr attr;
	hd_time now;
	unsigned writes, reads, atomics, events[8];
	struct completion sent[RAW_MAX], received[RAW_MAX];
	unsigned n_sent, n_received;
	struct recv_wr shared[8];
	unsigned n_shared, shared_at;
	/* What came out since raw_drain was called. */
	struct packet out[RAW_MAX];
	uint8_t payload[RAW_MAX][64]; /* the beginning of it */
	unsigned n_out;
};

static inline bool raw_allows(void *context, uint32_t pd, uint32_t key, uint64_t addr, uint64_t len,
			      unsigned access)
{
	unsigned rights = key == RAW_FIXED ? ACCESS_REMOTE_READ : 15u;

	(void)context;
	if (key != RAW_KEY && key != RAW_FIXED && key != RAW_ALIEN)
		return false;
	return pd == (key == RAW_ALIEN ? 1 : RAW_PD) && (access & ~rights) == 0 &&
	       addr >= RAW_BASE && addr - RAW_BASE <= RAW_SIZE &&
	       len <= RAW_SIZE - (addr - RAW_BASE);
}

static inline void raw_read(void *context, uint32_t key, uint64_t addr, void *to, size_t len)
{
	struct raw *r = context;

	(void)key;
	r->reads++;
	memcpy(to, r->memory + (addr - RAW_BASE), len);
}

static inline void raw_write(void *context, uint32_t key, uint64_t addr, const void *from,
			     size_t len)
{
	struct raw *r = context;

	(void)key;
	r->writes += len > 0;
	memcpy(r->memory + (addr - RAW_BASE), from, len);
}

static inline uint64_t raw_atomic(void *context, const struct atomiceth *what, bool compare)
{
	struct raw *r = context;
	uint64_t old, value;

	r->atomics++;
	memcpy(&old, r->memory + (what->va - RAW_BASE), 8);
	value = old + what->swap_add;
	if (compare)
		value = old == what->compare ? what->swap_add : old;
	memcpy(r->memory + (what->va - RAW_BASE), &value, 8);
	return old;
}

static inline void raw_invalidate(void *context, uint32_t rkey)
{
	(void)context;
	(void)rkey;
}

static inline void raw_complete(void *context, struct qp *qp, const struct completion *wc,
				bool receive)
{
	struct raw *r = context;

	(void)qp;
	if (receive)
		r->received[r->n_received++ % RAW_MAX] = *wc;
	else
		r->sent[r->n_sent++ % RAW_MAX] = *wc;
}

static inline void raw_event(void *context, struct qp *qp, enum qp_event event)
{
	struct raw *r = context;

	(void)qp;
	r->events[event]++;
}

static inline bool raw_take(void *context, struct recv_wr *out)
{
	struct raw *r = context;

	if (r->shared_at == r->n_shared)
		return false;
	*out = r->shared[r->shared_at++];
	return true;
}

/* Attributes to adapt before raw_raise. */
static inline void raw_open(struct raw *r, enum qp_kind kind, bool shared)
{
	struct qp_params params = { .kind = kind,
				    .qpn = RAW_QPN,
				    .pd = RAW_PD,
				    .max_send = 64,
				    .max_recv = 64,
				    .shared_recv = shared };

	*r = (struct raw){ 0 };
	for (unsigned i = 0; i < RAW_SIZE; i++)
		r->memory[i] = (uint8_t)(i * 31 + i / 256);
	r->owner = (struct qp_owner){ r,          raw_allows,     raw_read,     raw_write,
				      raw_atomic, raw_invalidate, raw_complete, raw_event,
				      raw_take };
	r->qp = qp_new(&params, &r->owner);
	r->attr = (struct qp_attr){ .access = 14,
				    .pkey = 0x8001,
				    .qkey = 0x1234,
				    .slid = 4,
				    .dlid = 5,
				    .mtu = RAW_MTU,
				    .dest_qpn = RAW_PEER,
				    .rq_psn = RAW_RQ_PSN,
				    .sq_psn = RAW_SQ_PSN,
				    .max_dest_rd = 4,
				    .max_rd = 4,
				    .min_rnr = 12,
				    .timeout = 5,
				    .retry = 2,
				    .rnr_retry = 3 };
}

static inline void raw_init(struct raw *r, enum qp_kind kind)
{
	raw_open(r, kind, false);
}

/* RESET up to `to`: INIT, RTR or RTS. */
static inline bool raw_raise(struct raw *r, enum qp_state to)
{
	enum qp_kind kind = qp_params(r->qp)->kind;

	for (unsigned s = QPS_INIT; s <= (unsigned)to; s++) {
		r->attr.state = (enum qp_state)s;
		if (qp_modify(r->qp, &r->attr, qp_step_mask(kind, r->attr.state)) != HD_OK)
			return false;
	}
	return true;
}

static inline bool raw_move(struct raw *r, enum qp_state to)
{
	struct qp_attr a = { .state = to };

	return qp_modify(r->qp, &a, QPA_STATE) == HD_OK;
}

/* A packet from the peer, `psn` counted from what is expected first. */
static inline struct packet raw_packet(const struct raw *r, unsigned opcode, int psn)
{
	static const uint8_t data[8192] = { 0xd1, 0xd2, 0xd3, 0xd4 };
	struct packet p;

	packet_init(&p, (uint8_t)opcode);
	p.lrh.slid = r->attr.dlid;
	p.lrh.dlid = r->attr.slid;
	p.bth.pkey = r->attr.pkey;
	p.bth.dest_qp = RAW_QPN;
	p.bth.psn = psn_add(r->attr.rq_psn, (uint32_t)psn);
	p.bth.ack_req = true;
	p.deth.qkey = r->attr.qkey;
	p.deth.src_qp = RAW_PEER;
	p.reth.va = RAW_BASE + 512;
	p.reth.rkey = RAW_KEY;
	p.atomiceth.va = RAW_BASE + 1024;
	p.atomiceth.rkey = RAW_KEY;
	p.atomiceth.swap_add = 1;
	p.payload = data;
	return p;
}

/* The same with a payload; RETH.DMALen is `dma`. */
static inline struct packet raw_data(const struct raw *r, unsigned opcode, int psn, size_t len,
				     uint32_t dma)
{
	struct packet p = raw_packet(r, opcode, psn);

	p.payload_len = len;
	p.reth.dma_len = dma;
	return p;
}

/* An answer to our request number `psn`, counted from our first. */
static inline struct packet raw_answer(const struct raw *r, unsigned opcode, int psn,
				       unsigned syndrome, size_t len)
{
	struct packet p = raw_packet(r, opcode, 0);

	p.bth.psn = psn_add(r->attr.sq_psn, (uint32_t)psn);
	p.bth.ack_req = false;
	p.aeth.syndrome = (uint8_t)syndrome;
	p.payload_len = len;
	return p;
}

static inline void raw_in(struct raw *r, struct packet p)
{
	qp_receive(r->qp, &p, r->now);
}

/* Takes everything that wants to leave. */
static inline unsigned raw_drain(struct raw *r)
{
	uint8_t payload[4096];

	r->n_out = 0;
	while (r->n_out < RAW_MAX && qp_transmit(r->qp, r->now, &r->out[r->n_out], payload)) {
		qp_sent(r->qp, &r->out[r->n_out]);
		memcpy(r->payload[r->n_out], payload, 64);
		r->n_out++;
	}
	return r->n_out;
}

/* Time passes up to `until`, timers run; what leaves is kept by drain. */
static inline void raw_wait(struct raw *r, hd_time until)
{
	while (qp_due(r->qp) <= until) {
		if (qp_due(r->qp) > r->now)
			r->now = qp_due(r->qp);
		qp_timer(r->qp, r->now);
		if (qp_due(r->qp) <= r->now)
			break;
	}
	r->now = until;
}

static inline struct send_wr raw_wr(uint64_t id, enum wr_kind kind, uint32_t length)
{
	struct send_wr wr = { .id = id,
			      .kind = kind,
			      .flags = WR_SIGNALED,
			      .n_sge = length > 0,
			      .remote_addr = 0xabc000,
			      .rkey = 0x99,
			      .to = { .qpn = RAW_PEER, .qkey = 0x1234, .dlid = 5, .pd = RAW_PD } };

	wr.sge[0] = (struct sge){ RAW_BASE + 2048, length, RAW_KEY };
	return wr;
}

static inline bool raw_post(struct raw *r, uint64_t id, enum wr_kind kind, uint32_t length)
{
	struct send_wr wr = raw_wr(id, kind, length);

	return qp_post_send(r->qp, &wr) == HD_OK;
}

static inline bool raw_recv(struct raw *r, uint64_t id, uint32_t length)
{
	struct recv_wr wr = { .id = id, .n_sge = 1 };

	wr.sge[0] = (struct sge){ RAW_BASE + 8192, length, RAW_KEY };
	return qp_post_recv(r->qp, &wr) == HD_OK;
}

static inline void raw_fini(struct raw *r)
{
	qp_free(r->qp);
}

/* PSN of what came out, counted from the first that the peer sends. */
static inline int32_t raw_rq_psn(const struct raw *r, unsigned i)
{
	return psn_diff(r->out[i].bth.psn, r->attr.rq_psn);
}

/* ... and from the first that we send. */
static inline int32_t raw_sq_psn(const struct raw *r, unsigned i)
{
	return psn_diff(r->out[i].bth.psn, r->attr.sq_psn);
}

#endif
