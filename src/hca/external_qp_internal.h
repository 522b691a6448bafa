/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_EXTERNAL_QP_INTERNAL_H
#define HD_HCA_EXTERNAL_QP_INTERNAL_H

/* Shared by external_qp.c and external_hops.c. */

#include "hca/external_qp.h"
#include "hca/message_end.h"

/* A message that may still arrive. */
struct in_flight_message {
	uint64_t number;
	uint32_t psn, packets; /* psn: of the first */
	enum wr_kind kind;
	bool is_over;
	/* To a group: it is on no link any more, and this number of arrivals have not
	 * been reported yet. */
	bool has_ended;
	uint32_t unreported;
};

/* The message of a completion of a receive; NULL: its sender is gone. */
struct recv_slot {
	struct external_qp *from;
	uint64_t number;
};

struct external_qp {
	struct external_qps *all;
	void *owner; /* NULL: it was released */
	struct v_qp *qp;
	struct external_qp *peer;
	struct external_srq *srq;
	struct message_end sends, receives;
	struct in_flight_message *in_flight; /* ring; `head` and `tail` count */
	uint32_t head, tail, places;
	struct recv_slot *slots; /* ring: one per completion of a receive */
	uint32_t first, last, size;
	uint32_t psn; /* of the next packet */
	bool is_released;
	struct external_qp *next, **link;
};

struct external_srq {
	struct v_srq *srq;
	const struct message_host *host;
	uint32_t users;
	bool is_released;
	struct external_srq *next, **link;
};

struct external_qps {
	struct lab *lab;
	struct sim *sim;
	struct message_host *hosts;
	uint8_t *zeros;
	struct external_qp *first;
	struct external_srq *srqs;
	struct message_end *waiting; /* ends with completions */
	struct recv_slot *lost;      /* ring of messages that are to be reported as lost */
	uint32_t head, tail, places;
	void (*seen)(void *context, const struct external_hop *h);
	void *context;
	bool is_observed;
};

/* The queue pair of a completion queue's end. */
static inline struct external_qp *external_of(const struct v_cq *cq)
{
	return ((struct message_end *)cq->context)->of;
}

/* The message with this PSN, and the packets of it before that; or NULL. */
struct in_flight_message *external_in_flight_with(const struct external_qp *q, uint32_t psn,
						  uint32_t *before);

#endif
