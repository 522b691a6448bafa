/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_ENDPOINT_H
#define HD_BENCH_ENDPOINT_H

/* Queues and memory of a rank, connected to a peer; private to bench/. */

#include "bench/params.h"
#include "bench/peak.h"

struct endpoint {
	struct nic *nic;
	const struct nic_ops *ops;
	struct bench_point *point;
	const struct bench_params *p;
	unsigned peer;
	bool ok;      /* false: an operation failed, and all others are skipped */
	bool running; /* all are connected; failures from now on are failures of the test */

	uint8_t *memory;
	uint64_t bytes, stride, pool, half; /* the second half is for receives */
	struct nic_mr mr;
	struct nic_cq send_cq, recv_cq;
	struct nic_qp *qps;
	struct nic_path *paths;
	uint32_t n_qps;
	uint32_t depth; /* of each queue */
	uint64_t posted_sends, posted_recvs;
	hd_time base;      /* CORE_COMPUTE: an iteration without work */
	struct peak *peak; /* of the current messages, or NULL */
};

/* Waits for all ranks of the point. */
void endpoint_barrier(struct endpoint *e);
/* Opens `n_qps` queue pairs to `peer`, which must do the same. */
void endpoint_open(struct endpoint *e, struct nic *nic, struct bench_point *point, unsigned peer,
		   uint32_t n_qps);
/* Like endpoint_open, without connecting to the peer. */
void endpoint_prepare(struct endpoint *e, struct nic *nic, struct bench_point *point,
		      uint32_t n_qps);
/* The address of queue pair i, for a peer. */
struct nic_address endpoint_address(struct endpoint *e, uint32_t i);
/* Moves queue pair i to RTS; `to` is the peer's address. */
void endpoint_connect(struct endpoint *e, uint32_t i, const struct nic_address *to);
void endpoint_close(struct endpoint *e);
void endpoint_fail(struct endpoint *e, const char *what);
/* Records that a completion had this status. */
void endpoint_fail_status(struct endpoint *e, unsigned status);

/*
 * Exchanges values with rank `with`, which must call the same function; *theirs
 * is unchanged on failure.
 */
void endpoint_swap_address(struct endpoint *e, unsigned with, const struct nic_address *mine,
			   struct nic_address *theirs);
void endpoint_swap_number(struct endpoint *e, unsigned with, uint64_t mine, uint64_t *theirs);
void endpoint_swap_real(struct endpoint *e, unsigned with, double mine, double *theirs);

/* Posts message number posted_sends, from the buffers of the point's scheme. */
void endpoint_send(struct endpoint *e, unsigned flags);
/* Like endpoint_send, on queue pair `q`. */
void endpoint_send_on(struct endpoint *e, uint32_t q, unsigned flags);
void endpoint_recv(struct endpoint *e);
/* Waits for a completion by polling or by events, as the point specifies. */
bool endpoint_wait(struct endpoint *e, struct nic_cq *cq, struct completion *wc);

#endif
