/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_VERBS_INBOUND_H
#define HD_LIVE_VERBS_INBOUND_H

/*
 * What a responder does with a request, carried out by whoever brings it, in
 * the responder's memory and with the lock of its queue pair.
 */

#include <sys/uio.h>

#include "live/verbs/verbs_internal.h"

struct request {
	struct peer *peer; /* whose queue pair it is for */
	struct shared_qp *to;
	const struct pair *from;
	const struct send *send;
	struct iovec local[MAX_SGE]; /* the requester's memory */
	unsigned n_local;
	uint64_t length;
};

/* What goes back, and what the requester's completion says then. */
enum answer {
	ANSWER_ACK,
	ANSWER_NO_RECEIVE, /* RNR NAK */
	ANSWER_INVALID,    /* NAK: invalid request */
	ANSWER_REFUSED,    /* NAK: remote access error */
	ANSWER_FAILED,     /* NAK: remote operational error */
};

/* The message, from its pieces. */
void request_gather(const struct request *r, uint8_t *to);

enum answer inbound_send(struct request *r);
enum answer inbound_write(struct request *r);
enum answer inbound_read(struct request *r);
enum answer inbound_atomic(struct request *r);

#endif
