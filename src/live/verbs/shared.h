/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_VERBS_SHARED_H
#define HD_LIVE_VERBS_SHARED_H

/*
 * The part of an adapter that peers reach into: one memory per program, made
 * by it, found by others through the daemon. Only the owner makes and destroys
 * what is in it. A peer that delivers a message takes the lock of the queue
 * pair, and below it those of the shared receive queue and of the completion
 * queue, in this order.
 *
 * The holder of a lock may be killed at any instruction. Locks are robust, and
 * what they guard is written such that the next holder finds it consistent: an
 * entry counts once the index behind it has moved, and the one step that moves
 * two (a receive is taken, its completion is there) is noted before it begins.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "live/adapter.h"

enum {
	MAX_CQS = 1 << 13,
	MAX_SRQS = 1 << 12,
	MAX_REGIONS = 1 << 20,
	MAX_SGE = 32,
	MAX_DEPTH = 1 << 17, /* of a queue */
	MAX_CQE = 1 << 20,
	MAX_INLINE = 1024, /* that a program may ask for */
	CARRIED = 256,     /* bytes of a message that its completion holds */
	NO_INDEX = -1,
};

/* Of address space, most of it never touched; with a limit (ulimit -v) an eighth of that. */
enum { MEMORY_MAX_BITS = 32, MEMORY_MIN_BITS = 27 };

/* An R_Key or L_Key: an index, and below it how often that was used. */
enum { KEY_USE_BITS = 8 };

struct shared_region {
	_Atomic uint32_t key; /* 0: none; written last */
	uint32_t pd;
	uint32_t access; /* enum ibv_access_flags */
	uint64_t iova;   /* what remote addresses count from */
	uint64_t start;  /* where that is in the program */
	uint64_t length;
	uint32_t is_window;
	uint32_t qpn; /* of a window of type 2: the queue pair that it is bound to */
};

struct shared_receive {
	uint64_t wr_id;
	uint32_t n_sge;
	uint32_t reserved;
	struct live_piece sge[]; /* max_sge of the queue */
};

/*
 * A ring of receives. The owner moves `tail`; the holder of the lock of the
 * queue pair, or of the shared queue, moves `head`.
 */
struct shared_ring {
	uint64_t at; /* offset of the first entry */
	uint32_t size, max_sge;
	_Atomic uint64_t head, tail;
	/* A receive that is just being completed: see verbs_ring_recover. */
	_Atomic uint64_t taking; /* its number + 1; 0: none */
	uint64_t place;          /* that of its completion */
	int32_t place_cq;
};

struct shared_cqe {
	uint64_t wr_id;
	uint64_t target;  /* where carried bytes go */
	uint64_t receive; /* its number + 1; 0: a send */
	uint32_t qpn, src_qp;
	uint32_t byte_len;
	uint32_t imm; /* as on the wire, or an R_Key */
	uint32_t target_key;
	uint16_t carried;
	uint16_t slid, pkey_index;
	uint8_t status, opcode, flags;
	uint8_t sl, path_bits, solicited;
};

struct shared_cq {
	pthread_mutex_t lock; /* of who adds */
	uint32_t has_lock;
	uint64_t ring, carried; /* offsets: entries, and CARRIED bytes each */
	uint32_t size;
	int32_t channel;          /* where events are written; -1: nowhere */
	uint32_t channel_id;      /* descriptors are used again */
	uint32_t serial;          /* and so are indices */
	_Atomic uint32_t is_lost; /* it overran */
	_Atomic uint64_t head, tail;
	_Atomic uint32_t armed; /* enum arming */
	/* `tail` when an event was made last, and behind a solicited entry. */
	_Atomic uint64_t told, solicited;
};

/* FIRING: an event is being written, by a program that may die. */
enum arming { ARM_NONE, ARM_SOLICITED, ARM_ANY, ARM_FIRING };

struct shared_srq {
	pthread_mutex_t lock;
	uint32_t has_lock;
	struct shared_ring ring;
	uint32_t pd, serial;
	_Atomic uint32_t xrcd;  /* its XRC domain; 0: none, or the queue is gone */
	int32_t cq;             /* of an XRC one: where its receives complete */
	_Atomic uint32_t limit; /* 0: not armed */
};

struct shared_qp {
	pthread_mutex_t lock; /* what comes in */
	uint32_t has_lock;
	_Atomic uint32_t qpn;   /* 0: none */
	_Atomic uint32_t state; /* enum ibv_qp_state */
	uint32_t type;          /* enum ibv_qp_type */
	uint32_t pd;
	uint32_t xrcd; /* of IBV_QPT_XRC_RECV */
	uint32_t port; /* the fabric's number of it */
	uint16_t pkey, pkey_index;
	uint32_t access, qkey;
	uint32_t dest_qpn;
	uint32_t mtu; /* bytes */
	uint32_t rq_psn;
	uint8_t min_rnr, max_dest_rd, is_heard, reserved;
	int32_t recv_cq, srq;
	struct shared_ring ring;
};

/* What follows the daemon's part; tables at fixed places. */
struct program_memory {
	struct live_memory head;
	int32_t bell;            /* where peers write a struct notification */
	pthread_mutex_t atomics; /* of peers, on all of this memory */
	struct shared_qp qps[LIVE_QPS];
	struct shared_cq cqs[MAX_CQS];
	struct shared_srq srqs[MAX_SRQS];
	struct shared_region regions[MAX_REGIONS];
};

/* What a peer tells the owner of memory that it changed. */
enum news_kind { NEWS_QP = 1, NEWS_CQ, NEWS_SRQ, NEWS_PORT, NEWS_DEVICE };

#define NO_EVENT UINT32_MAX /* only: look after it */

struct notification {
	uint32_t kind;
	uint32_t index;
	uint32_t event;  /* enum ibv_event_type */
	uint32_t number; /* QPN or serial: the index may be another's by now */
};

/* An address that a program gave as a number. */
static inline void *at_address(uint64_t address)
{
	/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
	return (void *)(uintptr_t)address;
}

static inline void *memory_at(struct program_memory *m, uint64_t offset)
{
	return (char *)m + offset;
}

/* ---- locks; after a death, what they guard is consistent for the next holder */

/*
 * Makes zeros of a row whose lock comes first, and `has_lock` behind it. A
 * lock is made once: a thread may still wait for it when the row is reused.
 */
void verbs_row_clear(pthread_mutex_t *lock, uint32_t *has_lock, size_t size);
/* True if the last holder died with it. */
int verbs_lock(pthread_mutex_t *lock);
void verbs_unlock(pthread_mutex_t *lock);

#endif
