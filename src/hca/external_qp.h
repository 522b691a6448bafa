/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_EXTERNAL_QP_H
#define HD_HCA_EXTERNAL_QP_H

/*
 * Queue pairs that no program of the lab uses: the way to the transport for rows
 * and jobs (message_channel.h) and, by these functions, for programs outside of
 * the simulation. The caller says what a program posts; events say when a message
 * arrives and when it is done. The bytes of messages stay with the program:
 * packets carry zeros of that length.
 *
 * An RC message is done when it is acknowledged, so after it has arrived. UC and
 * UD messages are done when their last packet has left; they arrive, or are
 * lost, before or after that. A message to a group arrives at each member that
 * gets it; it is lost once no more members can get it.
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
	uint32_t max_send, max_recv; /* max_send 0: it does not send */
	struct external_srq *srq;    /* or NULL */
};

enum external_event_kind {
	/* All of a message is at its destination; an RC write has no such event.
	 * Of a read: its request is there. */
	EXTERNAL_ARRIVED,
	EXTERNAL_LOST, /* UC, UD: it will never arrive */
	EXTERNAL_DONE,
	EXTERNAL_NOTHING, /* until the given time */
};

struct external_event {
	enum external_event_kind kind;
	void *owner;           /* of the sender */
	void *receiver;        /* of EXTERNAL_ARRIVED: owner of the receiver, */
	bool took_receive;     /* and whether a receive was used */
	uint64_t number;       /* of the message: id of its work request */
	enum wc_status status; /* of EXTERNAL_DONE */
};

/*
 * Fabric, profile and simulation (made by lab_program_rules, before its first
 * instant) are borrowed. The simulation is freed after external_qps_free.
 */
struct external_qps *external_qps_new(struct fabric *fabric, const struct hca_profile *profile,
				      struct sim *sim);
void external_qps_free(struct external_qps *all);

/* NULL if there is no adapter at that port, or the queues are too large. */
struct external_qp *external_qp_new(struct external_qps *all, const struct external_qp_params *p,
				    void *owner);
/* A shared receive queue of a host. It is freed after its last queue pair. */
struct external_srq *external_srq_new(struct external_qps *all, port_id port, uint32_t max);
void external_srq_release(struct external_srq *srq);
/* It still sends the answers that it owes, then it is freed. */
void external_qp_release(struct external_qp *q);
/*
 * Ready to receive, and later to send, by these attributes; `peer` replaces
 * their dest_qpn. NULL: no peer yet, so there will be no answer. UD has none.
 */
HD_MUST_CHECK enum hd_status external_qp_connect(struct external_qp *q, struct external_qp *peer,
						 const struct qp_attr *a);
HD_MUST_CHECK enum hd_status external_qp_start(struct external_qp *q, const struct qp_attr *a);

/* False if the queue is full. */
bool external_qp_receive(struct external_qp *q);
bool external_srq_receive(struct external_srq *srq);
/* UD: joins a multicast group, leaves it. */
HD_MUST_CHECK enum hd_status external_qp_join(struct external_qp *q, lid_t mlid,
					      const uint8_t mgid[16]);
void external_qp_leave(struct external_qp *q, lid_t mlid, const uint8_t mgid[16]);
/*
 * Of the work request count id, kind, the length of its one segment, and for UD
 * dlid, sl, qkey, global and, of a group, dgid. `to`: the destination of UD;
 * NULL: no queue pair, or a group. False if it is refused.
 */
bool external_qp_send(struct external_qp *q, const struct external_qp *to,
		      const struct send_wr *wr);
/* The first PSN of a message that is in flight; of any other: the next PSN. */
uint32_t external_qp_psn(const struct external_qp *q, uint64_t number);

/* A packet of an external queue pair starts on a link. */
struct external_hop {
	hd_time now, there; /* there: its first bit is at the far end, unless lost */
	bool is_lost;
	bool is_corrupt, is_marked;
	port_id out, in; /* of the topology */
	uint8_t vl;
	uint32_t bytes; /* LRH to VCRC */
	bool is_first;  /* link of its path */
	uint32_t id;    /* unique among packets in flight */
	/* Numbers, addresses and content are the simulation's. */
	const struct packet *packet;
	void *sender; /* owner of the queue pair; NULL: it was released */
	/* The message of which this is a request or an answer, and the offset of
	 * the packet's content in it; owner NULL: unknown. */
	void *owner;
	uint64_t number, offset;
};

/*
 * From now on `seen` is called for each hop, at the end of its instant; NULL
 * ends that. Results do not change.
 */
void external_qps_observe(struct external_qps *all,
			  void (*seen)(void *context, const struct external_hop *h), void *context);

/*
 * The next event; time advances to it, or to `until`. False: no event will ever
 * come; time has advanced to `until` unless that is HD_TIME_NEVER. A message that finds no receive
 * may be sent again for ever.
 */
bool external_qps_next(struct external_qps *all, hd_time until, struct external_event *out);
hd_time external_qps_now(const struct external_qps *all);

#endif
