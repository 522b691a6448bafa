/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_NIC_H
#define HD_BENCH_NIC_H

/*
 * One host's access to an implementation of verbs, whichever it is: the table
 * of operations that a back-end fills in. Tests are written against this and
 * know nothing else, so that the simulated adapter and real ones are measured
 * by the same source.
 *
 * Work requests, completions and states are the transport's (transport/work.h,
 * transport/qp.h): their numbers are those of libibverbs. Handles are the
 * back-end's; structs also hold the keys and numbers for peers. A refusal of
 * the implementation is a status, and nic->why gives the reason. All times are on
 * the clock of `now`, which is virtual time or the host's monotonic clock.
 *
 * A rank is one program: 0 sends and measures, 1 receives, the others contend.
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
	struct diag why; /* the last refusal */
};

struct nic_mr {
	void *impl;
	uint64_t addr; /* of its first byte, in work requests */
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

/* What one side tells the other of a queue pair and of its memory. */
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
	uint32_t psn; /* ours */
	uint8_t sl;
	uint16_t pkey;
	uint32_t qkey;
};

struct nic_ops {
	const char *name; /* "virtual" */
	enum origin origin;

	hd_time (*now)(struct nic *nic);
	/* Keeps the processor busy for this long. */
	void (*work)(struct nic *nic, hd_time duration);

	/* Memory that can be registered, on page boundaries, zeroed; NULL on
	 * failure. */
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
	/* To INIT, RTR or RTS: one modify. */
	enum hd_status (*qp_step)(struct nic *nic, struct nic_qp *qp, enum qp_state to,
				  const struct nic_path *path);
	/* Our side of an address; addr and rkey are the caller's to set. */
	void (*address)(struct nic *nic, const struct nic_qp *qp, struct nic_address *out);
	/* Fills wr->to for datagrams to that address. */
	void (*datagram)(struct nic *nic, const struct nic_path *path, struct send_wr *wr);
	/* Joins the test's multicast group; its address. */
	enum hd_status (*join)(struct nic *nic, struct nic_qp *qp, struct nic_address *group);
	/* A weight among the adapter's queue pairs, if it has any. */
	enum hd_status (*weigh)(struct nic *nic, struct nic_qp *qp, uint32_t weight);

	enum hd_status (*post_send)(struct nic *nic, struct nic_qp *qp, const struct send_wr *wr);
	enum hd_status (*post_recv)(struct nic *nic, struct nic_qp *qp, const struct recv_wr *wr);
	/* Looks once. */
	bool (*poll)(struct nic *nic, struct nic_cq *cq, struct completion *wc);
	/* Polls until there is one, or the run is to end. */
	enum hd_status (*wait)(struct nic *nic, struct nic_cq *cq, struct completion *wc);
	/* The same, sleeping: an event handler wakes us by a semaphore. */
	enum hd_status (*wait_event)(struct nic *nic, struct nic_cq *cq, struct completion *wc);

	/* The byte at `at` will be written by the peer. */
	void *(*watch_new)(struct nic *nic, const uint8_t *at);
	void (*watch_free)(struct nic *nic, void *watch);
	/* Spins until it is written, with the value (uint8_t)turn. */
	enum hd_status (*watch_wait)(struct nic *nic, void *watch, uint64_t turn);

	/* Swaps `len` bytes with another rank, which calls it too. */
	enum hd_status (*exchange)(struct nic *nic, unsigned with, const void *mine, void *theirs,
				   size_t len);
	/* Rank 0: lets two others, who exchange, reach each other. */
	enum hd_status (*carry)(struct nic *nic, unsigned a, unsigned b, size_t len);
	enum hd_status (*barrier)(struct nic *nic);
	/* This rank gives up; other ranks stop waiting for it. */
	void (*abandon)(struct nic *nic);
	/* Rank 0 has what it wants; contenders ask whether it has. */
	void (*finish)(struct nic *nic);
	bool (*finished)(struct nic *nic);
};

/* All functions, if a file calls them op_ and their name. */
#define NIC_OPS_HERE                                                                              \
	.now = op_now, .work = op_work, .alloc = op_alloc, .release = op_release,                 \
	.mr_new = op_mr_new, .mr_free = op_mr_free, .cq_new = op_cq_new, .cq_free = op_cq_free,   \
	.qp_new = op_qp_new, .qp_free = op_qp_free, .qp_step = op_qp_step, .address = op_address, \
	.datagram = op_datagram, .join = op_join, .weigh = op_weigh, .post_send = op_post_send,   \
	.post_recv = op_post_recv, .poll = op_poll, .wait = op_wait, .wait_event = op_wait_event, \
	.watch_new = op_watch_new, .watch_free = op_watch_free, .watch_wait = op_watch_wait,      \
	.exchange = op_exchange, .carry = op_carry, .barrier = op_barrier, .abandon = op_abandon, \
	.finish = op_finish, .finished = op_finished

/* What a rank does; `context` is the same for all ranks of a process. */
typedef void nic_program(struct nic *nic, void *context);

/* Where programs run. */
struct nic_backend {
	const char *name;
	enum origin origin;
	void *context;
	uint32_t max_ranks;
	uint32_t default_mtu, max_mtu;
	hd_time limit; /* of a point without given iterations; 0: none */
	/*
	 * Set by the driver: ranks will join a group; queue pairs have
	 * weights; ranks alternate between two hosts instead of one host each;
	 * bytes to send to ranks in other processes.
	 */
	bool wants_group, wants_weights, wants_pairs;
	const void *letter;
	size_t letter_len;
	/* Runs the program at every rank that is ours, to the end. */
	enum hd_status (*run)(struct nic_backend *b, unsigned n_ranks, nic_program *program,
			      void *context, struct diag *d);
	/* A number for SL to VL: how many SLs are apart; 0 = unknown. */
	uint32_t vls;
	/* Facts about host and device, for the record. */
	void (*describe)(struct nic_backend *b, struct results *r);
	void (*close)(struct nic_backend *b);
};

#endif
