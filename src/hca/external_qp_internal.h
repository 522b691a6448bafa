/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_EXTERNAL_QP_INTERNAL_H
#define HD_HCA_EXTERNAL_QP_INTERNAL_H

/*
 * Shared by external_qp.c (queue pairs), external_events.c (messages of programs outside of the
 * simulation) and message_channel.c (rows and jobs).
 */

#include "hca/external_qp.h"
#include "hca/hca_internal.h"

/* A completion queue as an element of a list of queues with completions. */
struct external_end {
	struct external_qp *of;
	struct v_cq *cq; /* NULL: no such direction */
	bool is_waiting; /* in the list */
	struct external_end *next;
};

/* A message that may still arrive. */
struct in_flight_message {
	uint64_t number;
	uint32_t psn, packets; /* psn: of the first packet */
	enum wr_kind kind;
	bool is_over;
	/* Multicast: on no link any more, and this number of arrivals is not reported yet. */
	bool has_ended;
	uint32_t unreported;
};

/* The message of a receive completion; NULL: the sender was freed. */
struct recv_slot {
	struct external_qp *from;
	uint64_t number;
};

/* Present if the lab follows messages. */
struct followed {
	struct in_flight_message *in_flight; /* ring; `head` and `tail` are counters */
	uint32_t head, tail, places;
	struct recv_slot *slots; /* ring: one entry per receive completion */
	uint32_t first, last, size;
	uint32_t psn; /* of the next packet */
};

struct external_qp {
	struct external_qps *all;
	void *owner; /* NULL: released */
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

/* Objects shared by the queue pairs of a host. */
struct external_host {
	struct v_pd *pd;
	struct v_mr *mr;
};

struct external_qps {
	struct lab *lab;
	struct external_host *hosts;
	struct external_qp *first;
	struct external_srq *srqs;
	void (*note)(struct external_end *e); /* called for each completion */
	struct external_end **waiting;        /* per domain: queues with completions */
	uint32_t n_parts;
	/* Used if the lab follows messages. */
	struct sim *sim;
	struct recv_slot *lost; /* ring of lost messages to report */
	uint32_t head, tail, places;
	void (*seen)(void *context, const struct external_hop *h);
	void *context;
	bool is_observed;
};

/* ---- external_qp.c ------------------------------------------------------- */

/* For a lab, which frees them. */
struct external_qps *external_qps_open(struct lab *lab, void (*note)(struct external_end *e));
struct external_qp *external_qp_make(struct external_qps *all, struct v_device *dev,
				     const struct external_qp_params *p, void *owner);
/* external_qp_send without the notification of the adapter; external_qp_ring notifies it. */
bool external_qp_post(struct external_qp *q, const struct external_qp *to, struct send_wr *wr);
void external_qp_ring(struct external_qp *q);
/* Frees released queue pairs without pending responses. */
void external_free_released(struct external_qps *all);
void external_end_unlink(struct external_end *e);

/* The queue pair that owns a completion queue. */
static inline struct external_qp *external_of(const struct v_cq *cq)
{
	return ((struct external_end *)cq->context)->of;
}

static inline enum qp_kind external_kind(const struct external_qp *q)
{
	return qp_params(q->qp->qp)->kind;
}

/* ---- external_events.c --------------------------------------------------- */

/* Call after posting a message. */
void external_follow(struct external_qp *q, const struct send_wr *wr);
/* The queue pair is about to be freed: removes all references to it. */
void external_forget(struct external_qp *q);
void external_followed_free(struct followed *f);

#endif
