/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TRANSPORT_MODEL_PLAN_H
#define HD_TRANSPORT_MODEL_PLAN_H

/*
 * A random schedule: two hosts, a few connections between them, what each
 * side posts on them, what is wrong with it, and how the wire misbehaves.
 *
 * A plan follows from its seed alone. Cuts take parts of it away again, so
 * that a failing schedule can be made small and still be named in one line.
 */

#include <stdio.h>

#include "transport/qp.h"

#define MAX_CONN   3
#define MAX_WR     20
#define MAX_LENGTH 9216
#define GRH_ROOM   40 /* before a datagram in its buffer */

/* What is wrong with a work request, and what the rules make of it. */
enum fault {
	FAULT_NONE,
	FAULT_RKEY,       /* no such key */
	FAULT_PD,         /* memory of another protection domain */
	FAULT_RIGHT,      /* memory that does not allow it */
	FAULT_HIGH,       /* one byte after the end of the memory */
	FAULT_LOW,        /* one byte before its start */
	FAULT_WRAP,       /* from the end of the address space to its start */
	FAULT_FLAG,       /* the queue pair's access flags forbid it */
	FAULT_ALIGN,      /* atomic at an odd address */
	FAULT_LONG,       /* longer than the receive buffer */
	FAULT_RECV_KEY,   /* the receive buffer's own key is wrong */
	FAULT_RECV_RIGHT, /* ... or its memory is read-only */
	FAULT_NO_RECV,    /* none posted, and a limit to asking again */
	FAULT_SGE_KEY,    /* own data under a wrong key */
	FAULT_SGE_RANGE,  /* own data outside its memory */
	FAULT_LANDING,    /* nowhere to put what is read */
	FAULT_MTU,        /* datagram longer than a packet */
	FAULT_QKEY,       /* datagram with the wrong Q_Key */
	FAULT_COUNT
};

/* Where the other side is not as it should be. */
enum gone {
	GONE_NOT,
	GONE_PKEY, /* partitions differ */
	GONE_QPN,  /* no such queue pair */
	GONE_INIT, /* never made ready to receive */
	GONE_LID,  /* it expects another peer */
};

enum act { ACT_NONE, ACT_SQD, ACT_ERR };

struct plan_wr {
	enum wr_kind kind;
	unsigned flags;
	enum fault fault;
	uint32_t length;
	uint32_t n_sge, recv_sge;
	uint32_t cuts;   /* seed of how lists are cut */
	uint32_t source; /* offset in the source region */
	uint32_t target; /* offset in the remote region */
	bool fixed;      /* read a part that is never written */
	int forward;     /* source: where that read has put it; -1 */
	uint32_t imm;
	uint64_t swap_add, compare;
	uint32_t recv_length; /* of the buffer for it */
	uint32_t recv_at;
	hd_time gap; /* after the one before it was posted */
	bool global; /* datagram with a GRH */
	bool cut;    /* taken away when the plan was made smaller */
};

struct plan_conn {
	enum qp_kind kind;
	uint32_t mtu;
	uint32_t psn[2]; /* first of the side's requests */
	uint8_t timeout, retry, rnr_retry, min_rnr;
	uint8_t max_rd, max_dest_rd;
	bool credits, signal_all, global;
	bool shared[2]; /* receives come from the host's shared queue */
	unsigned access[2];
	uint32_t max_send, max_recv, ack_every;
	uint32_t window[2]; /* of packets kept before their turn */
	enum gone gone;     /* side 1 is, for side 0 */
	bool late_recv;     /* receives are posted while sends come in */
	enum act act;
	unsigned act_side;
	hd_time act_at;
	bool cut;
	bool calm; /* the wire leaves it alone */
	uint32_t n_wr[2];
	struct plan_wr wr[2][MAX_WR]; /* by the side that posts */
};

enum harm { HARM_LOSS, HARM_DOUBLE, HARM_CORRUPT, HARM_LATE, HARM_COUNT };

struct plan {
	uint64_t seed;
	uint32_t n_conn;
	struct plan_conn conn[MAX_CONN];
	hd_time latency;
	unsigned harm[HARM_COUNT]; /* of 1000 packets */
	uint32_t max_harms;
	/* Instead of chance: this harm to packets at .. at + n - 1. */
	bool scripted;
	enum harm script;
	uint32_t script_at, script_n;
};

/* What of a plan is left out, by bits. */
struct cuts {
	uint32_t conn;
	uint32_t harm;
	uint32_t wr[MAX_CONN][2];
	uint32_t max_harms; /* 0: as many as drawn */
};

void plan_draw(struct plan *p, uint64_t seed);
/* One reliable connection that nothing is wrong with, and no requests. */
void plan_plain(struct plan *p, uint32_t mtu);
/* Adds a request of side 0; its data and place are arbitrary. */
struct plan_wr *plan_add(struct plan *p, enum wr_kind kind, uint32_t length);
void plan_cut(struct plan *p, const struct cuts *c);
void plan_print(const struct plan *p, FILE *to);
/* The options that name this schedule to adversary_test. */
void cuts_print(uint64_t seed, const struct cuts *c, FILE *to);

const char *fault_name(enum fault f);
const char *wr_name(enum wr_kind k);

/* Cuts `total` bytes into n pieces, some of them empty. */
void split(uint32_t seed, uint32_t total, uint32_t n, uint32_t *sizes);

static inline bool wr_takes_recv(const struct plan_wr *w)
{
	return w->kind == WR_SEND || w->kind == WR_SEND_IMM || w->kind == WR_SEND_INV ||
	       w->kind == WR_WRITE_IMM;
}

static inline bool wr_is_send(const struct plan_wr *w)
{
	return w->kind == WR_SEND || w->kind == WR_SEND_IMM || w->kind == WR_SEND_INV;
}

static inline bool wr_is_atomic(const struct plan_wr *w)
{
	return w->kind == WR_CMP_SWAP || w->kind == WR_FETCH_ADD;
}

static inline bool wr_lands(const struct plan_wr *w)
{
	return w->kind == WR_READ || wr_is_atomic(w);
}

static inline bool wr_is_write(const struct plan_wr *w)
{
	return w->kind == WR_WRITE || w->kind == WR_WRITE_IMM;
}

#endif
