/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue pair whose peer, program and clock are the input: packets of any
 * kind in any order, posts, moves between states, time. Whatever comes, it
 * touches memory only where it may, completes each request once, and sends
 * only packets that can be encoded.
 */
#include <stdlib.h>
#include <string.h>

#include "transport/qp.h"

#define BASE     UINT64_C(0x10000)
#define SIZE     8192u
#define KEY      7u
#define READABLE 8u /* the same memory, for reading only */
#define PD       3u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct rig {
	const uint8_t *data;
	size_t left;
	uint8_t memory[SIZE];
	struct qp *qp;
	struct qp_attr attr;
	hd_time now;
	uint64_t posted[2], completed[2]; /* sends, receives */
	uint32_t seen;                    /* last PSN that was sent */
};

static void check(int condition)
{
	if (!condition)
		abort();
}

static unsigned next_byte(struct rig *r)
{
	if (r->left == 0)
		return 0;
	r->left--;
	return *r->data++;
}

static bool rig_allows(void *context, uint32_t pd, uint32_t key, uint64_t addr, uint64_t len,
		       unsigned access)
{
	unsigned rights = key == KEY ? 15u : ACCESS_REMOTE_READ;

	(void)context;
	return pd == PD && (key == KEY || key == READABLE) && (access & ~rights) == 0 &&
	       addr >= BASE && addr - BASE <= SIZE && len <= SIZE - (addr - BASE);
}

static void rig_read(void *context, uint32_t key, uint64_t addr, void *to, size_t len)
{
	struct rig *r = context;

	/* Without a key: inline data, which the program vouches for. */
	check(rig_allows(r, PD, key ? key : KEY, addr, len, 0));
	memcpy(to, r->memory + (addr - BASE), len);
}

static void rig_write(void *context, uint32_t key, uint64_t addr, const void *from, size_t len)
{
	struct rig *r = context;

	check(rig_allows(r, PD, key, addr, len, ACCESS_LOCAL_WRITE));
	memcpy(r->memory + (addr - BASE), from, len);
}

static uint64_t rig_atomic(void *context, const struct atomiceth *what, bool compare)
{
	struct rig *r = context;

	(void)compare;
	check(what->va % 8 == 0);
	check(rig_allows(r, PD, what->rkey, what->va, 8, ACCESS_REMOTE_ATOMIC));
	return what->swap_add;
}

static void rig_invalidate(void *context, uint32_t rkey)
{
	(void)context;
	(void)rkey;
}

static void rig_complete(void *context, struct qp *qp, const struct completion *wc, bool receive)
{
	struct rig *r = context;

	(void)qp;
	(void)wc;
	r->completed[receive]++;
	check(r->completed[receive] <= r->posted[receive]);
}

static void rig_event(void *context, struct qp *qp, enum qp_event event)
{
	(void)context;
	(void)qp;
	(void)event;
}

static bool rig_take(void *context, struct recv_wr *out)
{
	struct rig *r = context;

	if (next_byte(r) & 1)
		return false;
	*out = (struct recv_wr){ .n_sge = 1 };
	out->sge[0] = (struct sge){ BASE, 8 * next_byte(r), KEY };
	r->posted[1]++;
	return true;
}

/* A length near what the rules look at. */
static uint32_t length(struct rig *r)
{
	static const uint32_t near[] = { 0, 1, 3, 8, 255, 256, 257, 512, 1024, 2048, 600, 4096 };

	return near[next_byte(r) % 12];
}

static struct sge place(struct rig *r, uint32_t len)
{
	static const uint32_t keys[] = { KEY, KEY, READABLE, 99 };

	return (struct sge){ BASE + 8 * next_byte(r), len, keys[next_byte(r) % 4] };
}

static void post_send(struct rig *r)
{
	struct send_wr wr = { .kind = (enum wr_kind)(next_byte(r) % 8),
			      .flags = next_byte(r) & 15,
			      .n_sge = next_byte(r) % 3,
			      .remote_addr = next_byte(r),
			      .to = { .pd = PD, .qkey = 5 } };

	for (uint32_t i = 0; i < wr.n_sge; i++) {
		wr.sge[i] = place(r, wr.kind > WR_READ ? 8 : length(r));
		if (wr.flags & WR_INLINE)
			wr.sge[i].addr = BASE;
	}
	r->posted[0]++;
	if (qp_post_send(r->qp, &wr) != HD_OK)
		r->posted[0]--;
}

static void post_recv(struct rig *r)
{
	struct recv_wr wr = { .n_sge = next_byte(r) % 3 };

	for (uint32_t i = 0; i < wr.n_sge; i++)
		wr.sge[i] = place(r, length(r));
	r->posted[1]++;
	if (qp_post_recv(r->qp, &wr) != HD_OK)
		r->posted[1]--;
}

/* A packet from the peer; mostly one that gets past the first checks. */
static void receive(struct rig *r)
{
	static const uint8_t payload[4096];
	static const uint32_t keys[] = { KEY, KEY, READABLE, 99 };
	static const unsigned services[] = { SERVICE_RC, SERVICE_UC, SERVICE_UD };
	unsigned how = next_byte(r), op = next_byte(r), psn = next_byte(r);
	unsigned service = services[qp_params(r->qp)->kind];
	struct qp_attr now;
	struct packet p;

	packet_init(&p, (uint8_t)(how & 64 ? op : service | op % 24));
	qp_query(r->qp, &now);
	p.lrh.slid = r->attr.dlid;
	p.lrh.dlid = how & 32 ? 0xc000 : r->attr.slid;
	p.bth.pkey = r->attr.pkey;
	p.deth.qkey = r->attr.qkey;
	p.bth.ack_req = how & 1;
	p.bth.se = how & 2;
	p.bth.fecn = how & 4;
	p.bth.becn = how & 8;
	/* What is expected, or an answer to something sent, or near it. */
	p.bth.psn = opcode_flags(p.bth.opcode) & OPCODE_RESPONSE
			    ? psn_add(r->seen, psn + PSN_MASK + 1 - 8)
			    : psn_add(now.rq_psn, psn & 1 ? psn : 0);
	if (psn & 64)
		p.bth.psn = psn_add(p.bth.psn, PSN_MASK + 1 - psn);
	if (how & 16)
		p.headers |= HEADER_BIT(HEADER_GRH);
	p.reth = (struct reth){ BASE + 8 * next_byte(r), keys[next_byte(r) % 4], length(r) };
	p.atomiceth = (struct atomiceth){ p.reth.va + next_byte(r) % 16 / 15, p.reth.rkey, 1, 2 };
	p.aeth = (struct aeth){ (uint8_t)next_byte(r), next_byte(r) };
	p.payload = payload;
	if (opcode_flags(p.bth.opcode) & OPCODE_PAYLOAD)
		p.payload_len = length(r);
	qp_receive(r->qp, &p, r->now);
}

static void transmit(struct rig *r)
{
	static uint8_t bytes[PACKET_MAX];
	uint8_t payload[4096];
	struct packet p;
	size_t size;

	if (!qp_transmit(r->qp, r->now, &p, payload))
		return;
	check(packet_encode(&p, bytes, sizeof(bytes), &size) == HD_OK);
	check(p.payload_len <= r->attr.mtu);
	qp_sent(r->qp, &p);
	if (opcode_flags(p.bth.opcode) & OPCODE_REQUEST)
		r->seen = p.bth.psn;
}

static void move(struct rig *r)
{
	enum qp_state from = qp_state(r->qp);
	unsigned to = next_byte(r) % 7, mask = QPA_STATE;

	if (to >= QPS_INIT && to <= QPS_RTS && from < QPS_RTS)
		mask = qp_step_mask(qp_params(r->qp)->kind, (enum qp_state)to);
	r->attr.state = (enum qp_state)to;
	if (qp_modify(r->qp, &r->attr, mask) == HD_OK)
		check(qp_state(r->qp) == r->attr.state);
	else
		check(qp_state(r->qp) == from);
	/* What was posted is forgotten, not completed. */
	if (qp_state(r->qp) == QPS_RESET)
		r->completed[0] = r->completed[1] = r->posted[0] = r->posted[1] = 0;
}

static void pass_time(struct rig *r)
{
	hd_time due = qp_due(r->qp);

	r->now += next_byte(r) * HD_US;
	if (next_byte(r) & 1 && due != HD_TIME_NEVER && due > r->now)
		r->now = due;
	if (qp_due(r->qp) <= r->now)
		qp_timer(r->qp, r->now);
}

static void rig_start(struct rig *r, const struct qp_owner *owner)
{
	unsigned kind = next_byte(r), limits = next_byte(r);
	struct qp_params params = { .kind = (enum qp_kind)(kind % 3),
				    .qpn = 17,
				    .pd = PD,
				    .max_send = 1 + limits % 8,
				    .max_recv = 1 + limits / 8 % 8,
				    .signal_all = kind & 64,
				    .shared_recv = kind & 128,
				    .window = limits / 64 * 3 };
	/* As programs do; later moves may undo it. */
	const enum qp_state up[] = { QPS_INIT, QPS_RTR, QPS_RTS };
	uint8_t steps[1];

	r->attr = (struct qp_attr){ .access = kind >> 2 & 14,
				    .pkey = 0x8001,
				    .qkey = 5,
				    .slid = 1,
				    .dlid = 2,
				    .mtu = 256,
				    .dest_qpn = 18,
				    .rq_psn = 0xfffffe,
				    .sq_psn = 0xfffffd,
				    .max_dest_rd = (uint8_t)(limits % 5),
				    .max_rd = (uint8_t)(1 + limits % 4),
				    .min_rnr = 1,
				    .timeout = 1,
				    .retry = 2,
				    .rnr_retry = 2,
				    .credits = limits & 128 };
	r->seen = 0xfffffd;
	r->qp = qp_new(&params, owner);
	for (unsigned i = 0; i < 3; i++) {
		const uint8_t *data = r->data;
		size_t left = r->left;

		steps[0] = (uint8_t)up[i];
		r->data = steps;
		r->left = 1;
		move(r);
		r->data = data;
		r->left = left;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct rig r;
	struct qp_owner owner = { &r,           rig_allows, rig_read,
				  rig_write,    rig_atomic, rig_invalidate,
				  rig_complete, rig_event,  rig_take };

	r = (struct rig){ .data = data, .left = size };
	rig_start(&r, &owner);
	while (r.left > 0) {
		switch (next_byte(&r) % 16) {
		case 0:
			move(&r);
			break;
		case 1:
		case 2:
			post_send(&r);
			break;
		case 3:
		case 4:
			post_recv(&r);
			break;
		case 5:
			pass_time(&r);
			break;
		case 6:
		case 7:
		case 8:
			transmit(&r);
			break;
		default:
			receive(&r);
			break;
		}
	}
	qp_free(r.qp);
	return 0;
}
