/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TRANSPORT_MODEL_WORLD_H
#define HD_TRANSPORT_MODEL_WORLD_H

/*
 * Two hosts with memory, the queue pairs of a plan on them, a wire that does
 * harm, and a judge.
 *
 * The judge never looks at packets to know what a reliable connection must
 * do: from the plan alone it computes the effects that the responder must
 * have, byte by byte and in order (model.c), and holds every call that a
 * queue pair makes against them (judge.c). So "exactly once", "in order" and
 * "memory is not touched" are one claim: the list of effects is the list.
 *
 * On unreliable services the list grows with what the wire delivers: a second
 * receiver (datagram.c), written from the rules, says what each packet does.
 *
 * Requests on the wire are held against the plan too (police.c): every field
 * of every request follows from the plan and the packet's PSN.
 */

#include "base/rng.h"
#include "plan.h"

/* Memory regions of one side of a connection. */
enum role {
	ROLE_SOURCE, /* local reading only */
	ROLE_INLINE, /* source of inline data; changes after the post */
	ROLE_LANDING,
	ROLE_RECV,
	ROLE_TARGET, /* remote reading, writing, atomics */
	ROLE_FIXED,  /* remote reading only */
	ROLE_ALIEN,  /* everything, in another protection domain */
	ROLE_COUNT
};

#define REGION_SIZE   16384u
#define SLOT          MAX_LENGTH /* of the landing region, per request */
#define MAX_EFFECTS   512
#define MAX_WQE       256
#define MAX_FLIGHTS   4096
#define UNKNOWN_KEY   0xdeadbeu
#define QKEY_OF(half) (0x1000u + (half)->conn)

struct region {
	uint32_t key, pd, size;
	unsigned access;
	uint64_t base;
	uint8_t *bytes;
};

enum effect_kind {
	EFFECT_WRITE,   /* bytes at an address */
	EFFECT_SCATTER, /* bytes into the receive request under way */
	EFFECT_ATOMIC,
	EFFECT_INVALIDATE,
	EFFECT_RECV, /* a receive request completes */
};

struct effect {
	enum effect_kind kind;
	bool optional; /* may be left out, or left off */
	uint64_t addr; /* or, to scatter: offset in the message */
	uint32_t len, key;
	const uint8_t *bytes;
	struct completion wc;
	bool or_flushed; /* this error, or flushed */
	uint64_t swap_add, compare;
	bool is_compare;
	uint8_t after[8]; /* atomic: what it leaves */
};

/* The reference receiver of unreliable packets. */
struct datagram {
	uint32_t epsn;
	bool busy; /* inside a message */
	bool write;
	uint64_t va, got, length;
	uint32_t rkey;
	unsigned wrong_qkey;
};

struct world;

/* One side of a connection: a queue pair and all that is expected of it. */
struct half {
	struct world *w;
	unsigned conn, side;
	struct plan_conn *plan;
	struct half *peer;
	struct qp *qp;
	struct qp_owner owner;
	struct region region[ROLE_COUNT];
	uint32_t pd, qpn;
	unsigned events[8];

	/* What it posts: the plan's requests that were not cut. */
	struct plan_wr *wr[MAX_WR];
	uint32_t n_wr, posted;
	hd_time post_at;
	uint32_t first[MAX_WR + 1]; /* PSN of each, from 0 on */
	uint32_t fault_at;          /* the first with a fault, or n_wr */
	uint32_t start[MAX_WR + 1]; /* where the peer's effects for it begin */
	uint8_t *landing[MAX_WR];   /* what must be read */
	uint32_t land_wr, land_off; /* the next byte to land */

	/* What came of it. */
	uint32_t done; /* requests whose fate is known */
	bool failed;
	enum wc_status why;
	uint32_t failed_at;
	uint32_t next_new;   /* PSN, from 0 on, never sent before */
	uint32_t first_sent; /* times that PSN 0 was sent */
	uint32_t in_sqd;     /* requests started when SQD was entered */
	bool drained, acted, forced;
	hd_time resume_at;
	hd_time hold_until; /* asked by an RNR NAK */

	/* What the peer's requests must do here. */
	struct effect effect[MAX_EFFECTS];
	uint32_t n_effect, effect_at, effect_off;
	bool early[MAX_LENGTH];      /* bytes of the effect at effect_at */
	bool landed[MAX_LENGTH];     /* bytes of the read at land_wr, early */
	uint32_t land_early;         /* offset behind the last one of these */
	struct recv_wr wqe[MAX_WQE]; /* posted, or taken from the shared */
	uint32_t n_wqe, wqe_at, wqe_posted;
	bool flushed;
	struct datagram dg;

	/* The wire's mercy. */
	uint32_t harms, answers_harmed;
	uint32_t newest;
	bool has_newest;
};

struct flight {
	uint8_t *bytes;
	size_t size;
	hd_time arrives;
	uint64_t order;
	unsigned to; /* host */
};

/* A host's shared receive queue. */
struct shared {
	struct recv_wr wqe[MAX_WQE];
	uint32_t n, posted, taken;
};

struct world {
	const struct plan *plan;
	struct plan p; /* ours to change */
	struct half half[MAX_CONN][2];
	struct shared shared[2];
	struct rng rng, wire;
	hd_time now;
	struct flight *flight;
	uint32_t n_flight;
	uint64_t order;
	hd_time last[2]; /* arrival, by destination host */
	uint32_t n_harms, n_packets, n_delivered, n_success;
	uint8_t **arena;
	size_t n_arena, arena_cap;
	bool failed;
	char why[400];
	FILE *trace;
};

/* ---- world.c ----------------------------------------------------------- */

struct world *world_new(const struct plan *p);
void world_free(struct world *w);
/* To the end; false: see w->why. */
bool world_run(struct world *w);
HD_PRINTF(2, 3) void complain(struct world *w, const char *format, ...);
uint8_t *arena_take(struct world *w, size_t len);
const struct region *region_find(const struct half *h, uint32_t key);
bool region_holds(const struct region *r, uint64_t addr, uint64_t len);

/* ---- requests.c -------------------------------------------------------- */

/* The request as it is posted, with its fault. */
void request_make(const struct half *h, uint32_t at, struct send_wr *out);
/* The buffer for request `at` of h, posted by the peer. */
void receive_make(const struct half *h, uint32_t at, struct recv_wr *out);
void shared_make(const struct half *h, uint32_t at, struct recv_wr *out);
/* Where byte `offset` of a message is, and the contiguous bytes there. */
bool sge_find(const struct sge *list, uint32_t n, uint64_t offset, struct sge *out);
/* Remote address and key of it. */
void remote_of(const struct half *h, uint32_t at, uint64_t *addr, uint32_t *rkey);
uint32_t packets_in(const struct half *h, uint32_t at);

/* The place that h's request number `at` has in the plan. */
static inline uint32_t plan_index(const struct half *h, uint32_t at)
{
	return (uint32_t)(h->wr[at] - h->plan->wr[h->side]);
}

/* Inline data before the request is posted. */
static inline uint8_t inline_byte(uint64_t offset)
{
	return (uint8_t)(offset * 13 + offset / 256 + 1);
}

/* ---- model.c ----------------------------------------------------------- */

/* Everything that h's requests must do, from the plan alone. */
void model_build(struct half *h);
/* The status that a fault gives the requester. */
enum wc_status fault_status(enum fault f);
/* Whether the responder says it with a NAK and enters the error state. */
bool fault_is_nak(enum fault f);
/* Whether the requester finds it itself. */
bool fault_is_local(enum fault f);
/* The data of request `at`. */
void request_data(const struct half *h, uint32_t at, uint8_t *to);

/* ---- datagram.c -------------------------------------------------------- */

/* Adds the effects that this packet must have on h. */
void datagram_expect(struct half *h, const struct packet *p);

/* ---- judge.c ----------------------------------------------------------- */

void judge_write(struct half *h, uint32_t key, uint64_t addr, const uint8_t *from, size_t len);
void judge_atomic(struct half *h, const struct atomiceth *what, bool compare);
void judge_invalidate(struct half *h, uint32_t rkey);
void judge_recv(struct half *h, const struct completion *wc);
void judge_send(struct half *h, const struct completion *wc);
/* When nothing moves any more. */
void judge_end(struct world *w);
/* Everything expected has happened by now. */
void judge_settled(struct half *h);
bool is_error(const struct half *h);

/* ---- police.c ---------------------------------------------------------- */

void police(struct half *h, const struct packet *p);

/* ---- wire.c ------------------------------------------------------------ */

/* Sends it on its way, harmed or not. */
void wire_launch(struct half *h, const struct packet *p);
/* Hands the packets that have arrived to their queue pairs. */
void wire_deliver(struct world *w);
hd_time wire_due(const struct world *w);
/* Something of h's requests went forward. */
void wire_progress(struct half *h);

#endif
