/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_EXTERNAL_QP_INTERNAL_H
#define HD_HCA_EXTERNAL_QP_INTERNAL_H

/*
 * Shared by external_qp.c (the queue pairs), external_events.c (messages of
 * programs outside of the simulation) and message_channel.c (rows and jobs).
 */

#include "hca/external_qp.h"
#include "hca/hca_internal.h"

/* A completion queue, and its place in a list of those that have completions. */
struct external_end {
	struct external_qp *of;
	struct v_cq *cq; /* NULL: the queue pair does not send, or receive */
	bool is_waiting; /* it is in the list */
	struct external_end *next;
};

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

/* If the lab follows messages. */
struct followed {
	struct in_flight_message *in_flight; /* ring; `head` and `tail` count */
	uint32_t head, tail, places;
	struct recv_slot *slots; /* ring: one per completion of a receive */
	uint32_t first, last, size;
	uint32_t psn; /* of the next packet */
};

struct external_qp {
	struct external_qps *all;
	void *owner; /* NULL: it was released */
	struct v_qp *qp;
	struct external_qp *peer;
	struct external_srq *srq;
	struct external_end sends, receives;
	struct followed *followed; /* or NULL */
	bool is_released;
	struct external_qp *next, **link;
};

struct external_srq {
	struct v_srq *srq;
	const struct external_host *host;
	uint32_t users;
	bool is_released;
	struct external_srq *next, **link;
};

/* What a host has for all of its queue pairs. */
struct external_host {
	struct v_pd *pd;
	struct v_mr *mr;
};

struct external_qps {
	struct lab *lab;
	struct external_host *hosts;
	struct external_qp *first;
	struct external_srq *srqs;
	void (*note)(struct external_end *e); /* of each completion */
	struct external_end **waiting;        /* of each part: ends with completions */
	uint32_t n_parts;
	/* If the lab follows messages. */
	struct sim *sim;
	struct recv_slot *lost; /* ring of messages that are to be reported as lost */
	uint32_t head, tail, places;
	void (*seen)(void *context, const struct external_hop *h);
	void *context;
	bool is_observed;
};

/* ---- external_qp.c ------------------------------------------------------- */

/* Those of a lab, which frees them. */
struct external_qps *external_qps_open(struct lab *lab, void (*note)(struct external_end *e));
struct external_qp *external_qp_make(struct external_qps *all, struct v_device *dev,
				     const struct external_qp_params *p, void *owner);
/* external_qp_send without a notification to the adapter, and that. */
bool external_qp_post(struct external_qp *q, const struct external_qp *to, struct send_wr *wr);
void external_qp_ring(struct external_qp *q);
/* Frees what was released and owes no answer any more. */
void external_free_released(struct external_qps *all);
void external_end_unlink(struct external_end *e);

/* The queue pair of a completion queue's end. */
static inline struct external_qp *external_of(const struct v_cq *cq)
{
	return ((struct external_end *)cq->context)->of;
}

static inline enum qp_kind external_kind(const struct external_qp *q)
{
	return qp_params(q->qp->qp)->kind;
}

/* ---- external_events.c --------------------------------------------------- */

/* A message was posted. */
void external_follow(struct external_qp *q, const struct send_wr *wr);
/* Nothing refers to this queue pair any more. */
void external_forget(struct external_qp *q);
void external_followed_free(struct followed *f);

#endif
