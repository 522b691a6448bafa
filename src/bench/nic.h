/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_NIC_H
#define HD_BENCH_NIC_H

/*
 * Interface to an implementation of verbs on one host: the table of operations
 * that a back-end fills in. Tests use this interface only, so that the same
 * source measures the simulated adapter and real ones.
 *
 * Work requests, completions and states are the transport's (transport/work.h,
 * transport/qp.h); their numbers are those of libibverbs. Handles belong to the
 * back-end; structs also hold the keys and numbers for peers. An error of the
 * implementation is a status, with the reason in nic->why. All times are on the
 * clock of `now`, which is virtual time or the host's monotonic clock.
 *
 * A rank is one program: rank 0 sends and measures, rank 1 receives, the others
 * are contenders.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/units.h"
#include "measure/results.h"
#include "transport/qp.h"
#include "transport/work.h"

struct nic_ops;

struct nic {
	const struct nic_ops *ops;
	unsigned rank, n_ranks;
	struct diag why; /* the last error */
};

struct nic_mr {
	void *impl;
	uint64_t addr; /* address of its first byte, in work requests */
	uint32_t lkey, rkey;
};

struct nic_cq {
	void *impl;
};

struct nic_qp {
	void *impl;
	enum qp_kind kind;
	uint32_t qpn;
};

struct nic_qp_init {
	enum qp_kind kind;
	struct nic_cq *send_cq, *recv_cq;
	uint32_t max_send, max_recv, max_sge;
};

/* Description of a queue pair and its memory for the peer. */
struct nic_address {
	uint16_t lid;
	uint8_t gid[16];
	uint32_t qpn, psn;
	uint64_t addr;
	uint32_t rkey;
};

struct nic_path {
	struct nic_address to;
	uint32_t mtu;
	uint32_t psn; /* initial PSN of this side */
	uint8_t sl;
	uint16_t pkey;
	uint32_t qkey;
};

struct nic_ops {
	const char *name; /* "virtual" */
	enum origin origin;

	hd_time (*now)(struct nic *nic);
	/* Keeps the processor busy for `duration`. */
	void (*work)(struct nic *nic, hd_time duration);

	/* Zeroed, page-aligned memory that can be registered; NULL on failure. */
	void *(*alloc)(struct nic *nic, uint64_t bytes, bool huge);
	void (*release)(struct nic *nic, void *memory, uint64_t bytes);
	enum hd_status (*mr_new)(struct nic *nic, void *addr, uint64_t len, bool huge,
				 struct nic_mr *out);
	void (*mr_free)(struct nic *nic, struct nic_mr *mr);

	enum hd_status (*cq_new)(struct nic *nic, uint32_t entries, bool events,
				 struct nic_cq *out);
	void (*cq_free)(struct nic *nic, struct nic_cq *cq);

	enum hd_status (*qp_new)(struct nic *nic, const struct nic_qp_init *init,
				 struct nic_qp *out);
	void (*qp_free)(struct nic *nic, struct nic_qp *qp);
	/* Moves a queue pair to INIT, RTR or RTS with one modify. */
	enum hd_status (*qp_step)(struct nic *nic, struct nic_qp *qp, enum qp_state to,
				  const struct nic_path *path);
	/* Fills in this side's address; the caller sets addr and rkey. */
	void (*address)(struct nic *nic, const struct nic_qp *qp, struct nic_address *out);
	/* Fills in wr->to for datagrams to that address. */
	void (*datagram)(struct nic *nic, const struct nic_path *path, struct send_wr *wr);
	/* Joins the test's multicast group and returns its address. */
	enum hd_status (*join)(struct nic *nic, struct nic_qp *qp, struct nic_address *group);
	/* Sets the weight among the adapter's queue pairs, if supported. */
	enum hd_status (*weigh)(struct nic *nic, struct nic_qp *qp, uint32_t weight);

	enum hd_status (*post_send)(struct nic *nic, struct nic_qp *qp, const struct send_wr *wr);
	enum hd_status (*post_recv)(struct nic *nic, struct nic_qp *qp, const struct recv_wr *wr);
	/* Polls once. */
	bool (*poll)(struct nic *nic, struct nic_cq *cq, struct completion *wc);
	/* Polls until there is a completion, or the run must end. */
	enum hd_status (*wait)(struct nic *nic, struct nic_cq *cq, struct completion *wc);
	/* Like wait, sleeping: an event handler posts a semaphore. */
	enum hd_status (*wait_event)(struct nic *nic, struct nic_cq *cq, struct completion *wc);

	/* Watches the byte at `at`, which the peer will write. */
	void *(*watch_new)(struct nic *nic, const uint8_t *at);
	void (*watch_free)(struct nic *nic, void *watch);
	/* Spins until the byte has the value (uint8_t)turn. */
	enum hd_status (*watch_wait)(struct nic *nic, void *watch, uint64_t turn);

	/* Swaps `len` bytes with another rank, which must call it too. */
	enum hd_status (*exchange)(struct nic *nic, unsigned with, const void *mine, void *theirs,
				   size_t len);
	/* Rank 0: relays an exchange between two other ranks. */
	enum hd_status (*carry)(struct nic *nic, unsigned a, unsigned b, size_t len);
	enum hd_status (*barrier)(struct nic *nic);
	/* This rank gives up; other ranks stop waiting for it. */
	void (*abandon)(struct nic *nic);
	/* Rank 0: signals that the measurement is complete; contenders poll for it. */
	void (*finish)(struct nic *nic);
	bool (*finished)(struct nic *nic);
};

/* All functions, for a file that names them op_ and their name. */
#define NIC_OPS_HERE                                                                              \
	.now = op_now, .work = op_work, .alloc = op_alloc, .release = op_release,                 \
	.mr_new = op_mr_new, .mr_free = op_mr_free, .cq_new = op_cq_new, .cq_free = op_cq_free,   \
	.qp_new = op_qp_new, .qp_free = op_qp_free, .qp_step = op_qp_step, .address = op_address, \
	.datagram = op_datagram, .join = op_join, .weigh = op_weigh, .post_send = op_post_send,   \
	.post_recv = op_post_recv, .poll = op_poll, .wait = op_wait, .wait_event = op_wait_event, \
	.watch_new = op_watch_new, .watch_free = op_watch_free, .watch_wait = op_watch_wait,      \
	.exchange = op_exchange, .carry = op_carry, .barrier = op_barrier, .abandon = op_abandon, \
	.finish = op_finish, .finished = op_finished

/* Program of a rank; `context` is the same for all ranks of a process. */
typedef void nic_program(struct nic *nic, void *context);

/* Environment that runs programs. */
struct nic_backend {
	const char *name;
	enum origin origin;
	void *context;
	uint32_t max_ranks;
	uint32_t default_mtu, max_mtu;
	hd_time limit; /* maximum duration of a point without given iterations; 0: none */
	/*
	 * Set by the driver: ranks will join a group; queue pairs have weights;
	 * ranks alternate between two hosts instead of one host each; bytes to
	 * send to ranks in other processes.
	 */
	bool wants_group, wants_weights, wants_pairs;
	const void *letter;
	size_t letter_len;
	/* Runs the program to its end at every rank of this process. */
	enum hd_status (*run)(struct nic_backend *b, unsigned n_ranks, nic_program *program,
			      void *context, struct diag *d);
	/* Number of SLs with separate VLs; 0 = unknown. */
	uint32_t vls;
	/* Adds facts about host and device for the record. */
	void (*describe)(struct nic_backend *b, struct results *r);
	void (*close)(struct nic_backend *b);
};

#endif
