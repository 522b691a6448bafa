/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_VERBS_SHARED_H
#define HD_LIVE_VERBS_SHARED_H

/*
 * Shared memory of a program: its queues and regions, which peers read and write. Each program
 * creates one; peers get it through the daemon. Only the owner creates and destroys objects in it.
 * A peer that delivers a message takes the lock of the queue pair, then that of the shared receive
 * queue, then that of the completion queue.
 *
 * The holder of a lock may be killed at any instruction. Locks are robust, and the data that they
 * guard are consistent for the next holder at any time: an entry becomes valid when the index
 * after it is advanced. The only step that advances two indices (consume a receive, add its
 * completion) is logged in the ring before it begins.
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
	MAX_DEPTH = 1 << 17, /* entries of a work queue */
	MAX_CQE = 1 << 20,
	MAX_INLINE = 1024, /* limit that a program may request */
	CARRIED = 256,     /* bytes of a message that its completion can hold */
	NO_INDEX = -1,
};

/*
 * Address space, most of it never touched; with a limit (ulimit -v) at most an eighth of the
 * limit.
 */
enum { MEMORY_MAX_BITS = 32, MEMORY_MIN_BITS = 27 };

/* An R_Key or L_Key: an index, and the index's use count in the low bits. */
enum { KEY_USE_BITS = 8 };

struct shared_region {
	_Atomic uint32_t key; /* 0: unused; written last */
	uint32_t pd;
	uint32_t access; /* enum ibv_access_flags */
	uint64_t iova;   /* remote address of the first byte */
	uint64_t start;  /* address of the first byte in the program */
	uint64_t length;
	uint32_t is_window;
	uint32_t qpn; /* for a bound window of type 2: its queue pair */
};

struct shared_receive {
	uint64_t wr_id;
	uint32_t n_sge;
	uint32_t reserved;
	struct live_piece sge[]; /* max_sge entries */
};

/*
 * A ring of receives. The owner advances `tail`; the holder of the lock of the queue pair, or of
 * the shared queue, advances `head`.
 */
struct shared_ring {
	uint64_t at; /* offset of the first entry */
	uint32_t size, max_sge;
	_Atomic uint64_t head, tail;
	/* The receive that is being completed: see verbs_ring_recover. */
	_Atomic uint64_t taking; /* its number + 1; 0: none */
	uint64_t place;          /* position of its completion */
	int32_t place_cq;
};

struct shared_cqe {
	uint64_t wr_id;
	uint64_t target;  /* address for the carried bytes */
	uint64_t receive; /* number of the receive + 1; 0: a send */
	uint32_t qpn, src_qp;
	uint32_t byte_len;
	uint32_t imm; /* in network byte order; or an R_Key */
	uint32_t target_key;
	uint16_t carried;
	uint16_t slid, pkey_index;
	uint8_t status, opcode, flags;
	uint8_t sl, path_bits, solicited;
};

struct shared_cq {
	pthread_mutex_t lock; /* held while adding */
	uint32_t has_lock;
	uint64_t ring, carried; /* offsets: entries, and CARRIED bytes for each */
	uint32_t size;
	int32_t channel;          /* descriptor for events; -1: none */
	uint32_t channel_id;      /* detects reuse of the descriptor */
	uint32_t serial;          /* detects reuse of the index */
	_Atomic uint32_t is_lost; /* the queue overran */
	_Atomic uint64_t head, tail;
	_Atomic uint32_t armed; /* enum arming */
	/* Values of `tail` at the last event, and after the last solicited entry. */
	_Atomic uint64_t told, solicited;
};

/* ARM_FIRING: a program is writing the event, and may die before it is written. */
enum arming { ARM_NONE, ARM_SOLICITED, ARM_ANY, ARM_FIRING };

struct shared_srq {
	pthread_mutex_t lock;
	uint32_t has_lock;
	struct shared_ring ring;
	uint32_t pd, serial;
	_Atomic uint32_t xrcd;  /* XRC domain; 0: none, or the queue is destroyed */
	int32_t cq;             /* for an XRC queue: completion queue of its receives */
	_Atomic uint32_t limit; /* 0: not armed */
};

struct shared_qp {
	pthread_mutex_t lock; /* held while a message is delivered */
	uint32_t has_lock;
	_Atomic uint32_t qpn;   /* 0: none */
	_Atomic uint32_t state; /* enum ibv_qp_state */
	uint32_t type;          /* enum ibv_qp_type */
	uint32_t pd;
	uint32_t xrcd; /* for IBV_QPT_XRC_RECV */
	uint32_t port; /* port_id in the fabric */
	uint16_t pkey, pkey_index;
	uint32_t access, qkey;
	uint32_t dest_qpn;
	uint32_t mtu; /* bytes */
	uint32_t rq_psn;
	uint8_t min_rnr, max_dest_rd, is_heard, reserved;
	int32_t recv_cq, srq;
	struct shared_ring ring;
};

/* The memory of a program: the daemon's part first, then tables at fixed offsets. */
struct program_memory {
	struct live_memory head;
	int32_t bell;            /* descriptor to which peers write notifications */
	pthread_mutex_t atomics; /* held by peers for atomics on any address of this memory */
	struct shared_qp qps[LIVE_QPS];
	struct shared_cq cqs[MAX_CQS];
	struct shared_srq srqs[MAX_SRQS];
	struct shared_region regions[MAX_REGIONS];
};

/* Objects whose change a peer reports to their owner. */
enum news_kind { NEWS_QP = 1, NEWS_CQ, NEWS_SRQ, NEWS_PORT, NEWS_DEVICE };

#define NO_EVENT UINT32_MAX /* No event for the program; the owner only examines the object. */

struct notification {
	uint32_t kind;
	uint32_t index;
	uint32_t event;  /* enum ibv_event_type */
	uint32_t number; /* QPN or serial; the index may have been reused */
};

/* Converts an address given as a number. */
static inline void *at_address(uint64_t address)
{
	/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
	return (void *)(uintptr_t)address;
}

static inline void *memory_at(struct program_memory *m, uint64_t offset)
{
	return (char *)m + offset;
}

/* ---- locks; after the death of a holder, the next holder finds consistent data */

/*
 * Zeroes a row, whose first members are its lock and `has_lock`. The lock is initialized only
 * once: a thread may still wait for it when the row is reused.
 */
void verbs_row_clear(pthread_mutex_t *lock, uint32_t *has_lock, size_t size);
/* Nonzero if the last holder died with the lock. */
int verbs_lock(pthread_mutex_t *lock);
void verbs_unlock(pthread_mutex_t *lock);

#endif
