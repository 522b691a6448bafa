/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_VERBS_INBOUND_H
#define HD_LIVE_VERBS_INBOUND_H

/*
 * The responder of the free clock. The requester's thread runs it in the shared
 * memory of the responder's program and holds the lock of its queue pair. A
 * request is a whole message. transport/responder_rules.h has the rules, which
 * packets of a simulated fabric follow, too.
 */

#include <sys/uio.h>

#include "live/verbs/verbs_internal.h"
#include "transport/responder_rules.h"

struct inbound_request {
	struct peer_program *peer; /* program of the responder */
	struct shared_qp *to;
	const struct soft_qp *from;
	const struct send_wqe *send;
	struct iovec local[MAX_SGE]; /* memory of the requester */
	unsigned n_local;
	uint64_t length;
	int32_t srq; /* index of the shared receive queue, or NO_INDEX: the queue pair's receives */
	int32_t recv_cq; /* completion queue of the receives */
	uint32_t pd;     /* protection domain of R_Keys */
};

/* Copies the message from the requester's memory. */
void inbound_gather(const struct inbound_request *r, uint8_t *to);

/* Executes the request. Every verdict but RESPONDER_ACCEPTS leaves all memory as it was. */
enum responder_verdict inbound_execute(struct inbound_request *r);

#endif
