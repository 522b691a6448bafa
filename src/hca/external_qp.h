/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_EXTERNAL_QP_H
#define HD_HCA_EXTERNAL_QP_H

/*
 * Queue pairs without a program of the lab: access to the transport for rows and jobs
 * (message_channel.h) and, by these functions, for programs outside of the simulation. The
 * caller posts work requests for a program; events report arrival and completion of
 * messages. The program keeps the bytes of messages: packets carry zeros of the same length.
 *
 * An RC message is done when it is acknowledged, which is after its arrival. UC and UD messages are
 * done when their last packet has left; they arrive, or are lost, before or after that. A
 * multicast message arrives at each member that receives it, and is lost when no further
 * member can receive it.
 *
 *	struct external_qps *all = external_qps_new(fabric, &profile, run_sim(run));
 *	struct external_qp *a = external_qp_new(all, &params, mine);
 *	...	external_qp_connect both, external_qp_receive, external_qp_send
 *	while (external_qps_next(all, external_qps_now(all) + step, &event))
 *		...	event.owner may post more
 */

#include "fabric/fabric.h"
#include "hca/profile.h"
#include "transport/qp.h"

struct sim;
struct external_qps;
struct external_qp;
struct external_srq;

struct external_qp_params {
	enum qp_kind kind;
	port_id port;
	uint32_t max_send, max_recv; /* max_send 0: receives only */
	struct external_srq *srq;    /* or NULL */
};

enum external_event_kind {
	/*
	 * The whole message is at its destination; RC writes have no such event. For a read: the
	 * request has arrived.
	 */
	EXTERNAL_ARRIVED,
	EXTERNAL_LOST, /* UC, UD: the message will not arrive */
	EXTERNAL_DONE,
	EXTERNAL_NOTHING, /* no event up to the given time */
};

struct external_event {
	enum external_event_kind kind;
	void *owner;           /* owner of the sending queue pair */
	void *receiver;        /* EXTERNAL_ARRIVED: owner of the receiving queue pair */
	bool took_receive;     /* EXTERNAL_ARRIVED: a receive was consumed */
	uint64_t number;       /* message: the id of its work request */
	enum wc_status status; /* of EXTERNAL_DONE */
};

/*
 * Fabric, profile and simulation are borrowed. The rules of the simulation come from
 * lab_program_rules; call before its first instant. Free the simulation after external_qps_free.
 */
struct external_qps *external_qps_new(struct fabric *fabric, const struct hca_profile *profile,
				      struct sim *sim);
void external_qps_free(struct external_qps *all);

/* NULL if the port has no adapter, or the queues are too large. */
struct external_qp *external_qp_new(struct external_qps *all, const struct external_qp_params *p,
				    void *owner);
/* A shared receive queue of a host. Freed after its last queue pair. */
struct external_srq *external_srq_new(struct external_qps *all, port_id port, uint32_t max);
void external_srq_release(struct external_srq *srq);
/* The queue pair still sends pending responses, then it is freed. */
void external_qp_release(struct external_qp *q);
/*
 * Changes the state to RTR (external_qp_connect) and RTS (external_qp_start) with these
 * attributes; `peer` replaces dest_qpn. NULL: no peer yet, so no responses. UD has no peer.
 */
HD_MUST_CHECK enum hd_status external_qp_connect(struct external_qp *q, struct external_qp *peer,
						 const struct qp_attr *a);
HD_MUST_CHECK enum hd_status external_qp_start(struct external_qp *q, const struct qp_attr *a);

/* Posts a receive. False if the queue is full. */
bool external_qp_receive(struct external_qp *q);
bool external_srq_receive(struct external_srq *srq);
/* UD: joins or leaves a multicast group. */
HD_MUST_CHECK enum hd_status external_qp_join(struct external_qp *q, lid_t mlid,
					      const uint8_t mgid[16]);
void external_qp_leave(struct external_qp *q, lid_t mlid, const uint8_t mgid[16]);
/*
 * Posts a send. Fields of the work request that are used: id, kind, length of the single
 * segment; for UD also dlid, sl, qkey, global and, for a group, dgid. `to`: destination queue
 * pair of UD; NULL: none, or a group. False if the request is refused.
 */
bool external_qp_send(struct external_qp *q, const struct external_qp *to,
		      const struct send_wr *wr);
/* First PSN of a message in flight; for any other message: the next PSN. */
uint32_t external_qp_psn(const struct external_qp *q, uint64_t number);

/* The start of a packet of an external queue pair on a link. */
struct external_hop {
	hd_time now, there; /* there: arrival of the first bit at the far end, unless lost */
	bool is_lost;
	bool is_corrupt, is_marked;
	port_id out, in; /* ports of the topology */
	uint8_t vl;
	uint32_t bytes; /* from LRH to VCRC */
	bool is_first;  /* first link of the path */
	uint32_t id;    /* unique among packets in flight */
	/* Numbers, addresses and content are those of the simulation. */
	const struct packet *packet;
	void *sender; /* owner of the sending queue pair; NULL: released */
	/*
	 * The message to which this request or response belongs, and the offset of the packet's
	 * content in it; owner NULL: unknown.
	 */
	void *owner;
	uint64_t number, offset;
};

/*
 * From now on `seen` is called for each hop, at the end of its instant; NULL ends that. Results
 * do not change.
 */
void external_qps_observe(struct external_qps *all,
			  void (*seen)(void *context, const struct external_hop *h), void *context);

/*
 * Returns the next event and advances time to it, or to `until`. False: no event will ever
 * occur; time has advanced to `until` unless that is HD_TIME_NEVER. A message without a receive
 * may be retried for ever.
 */
bool external_qps_next(struct external_qps *all, hd_time until, struct external_event *out);
hd_time external_qps_now(const struct external_qps *all);

#endif
