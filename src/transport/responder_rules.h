/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TRANSPORT_RESPONDER_RULES_H
#define HD_TRANSPORT_RESPONDER_RULES_H

/*
 * The rules of a responder, as pure functions: which request takes a receive,
 * which requests are refused and why, which status each side's completion has,
 * and what an atomic writes (InfiniBand Architecture Specification, 9.7.5.2 and
 * 9.9.3).
 *
 * Two responders use them. responder.c and unreliable.c apply them to packets;
 * live/verbs/inbound.c applies them to whole messages in shared memory. A rule
 * sees values only, so the caller looks up keys and receives.
 *
 * RC answers a refused request with a NAK and moves to ERR. UC and UD have no
 * NAK: they drop the message and the receive stays posted.
 */

#include "transport/qp.h"

enum responder_verdict {
	RESPONDER_ACCEPTS,
	RESPONDER_NO_RECEIVE, /* RC: RNR NAK; UC, UD: the message is dropped */
	RESPONDER_BAD_REQUEST,
	RESPONDER_BAD_LENGTH, /* longer than the receive */
	RESPONDER_BAD_ACCESS, /* by the R_Key */
	RESPONDER_BAD_BUFFER, /* by the receive's L_Keys */
};

/* Consequences of a refusal for RC. */
struct responder_refusal {
	uint8_t nak;                   /* enum nak_code */
	enum wc_status receive_status; /* of the receive consumed by the request */
	bool has_event;                /* an asynchronous event reports the refusal */
	enum qp_event event;
};

/* For the verdicts RESPONDER_BAD_*. */
const struct responder_refusal *responder_refusal(enum responder_verdict verdict);
/* Completion status of the requester after a fatal NAK. */
enum wc_status responder_nak_status(unsigned nak);

/* SENDs, and RDMA WRITEs with immediate data, consume a receive. */
bool responder_takes_receive(enum wr_kind kind);

/*
 * Checks a receive with room for `room` bytes against `bytes` of a message (UD: plus GRH).
 * `is_allowed`: its L_Keys permit local writes.
 */
enum responder_verdict responder_check_receive(uint64_t bytes, uint64_t room, bool is_allowed);

/*
 * Whether a queue pair with these ACCESS_ bits accepts a kind of request; checked before a
 * receive is consumed.
 */
bool responder_permits(unsigned access, enum wr_kind kind);
/* The ACCESS_ bit that the memory region must grant; 0: none. */
unsigned responder_access(enum wr_kind kind);

/* An RDMA WRITE, RDMA READ or atomic permitted by the queue pair. */
struct responder_request {
	enum wr_kind kind;
	uint64_t va, length;
	/* Unanswered READs and atomics, and the limit of the queue pair. */
	uint32_t outstanding, max_outstanding;
};

/* `is_allowed`: the R_Key grants responder_access() to all bytes. A request
 * without bytes uses neither key nor address. */
enum responder_verdict responder_check_remote(const struct responder_request *r, bool is_allowed);

/* The value that an atomic writes in place of `old`. */
uint64_t responder_atomic(const struct atomiceth *operands, bool is_compare, uint64_t old);

#endif
