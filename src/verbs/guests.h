/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_VERBS_GUESTS_H
#define HD_VERBS_GUESTS_H

/*
 * Queue pairs whose programs are not in the simulation: they say what they
 * post, and hear when it arrives and when it is done. What they send stays with
 * them; packets carry as many bytes of nothing.
 *
 * RC is done when it is acknowledged, so after it has arrived. UC and UD are
 * done when their last packet has left; it arrives, or is lost, sooner or later
 * than that is known.
 *
 *	struct guests *all = guests_new(fabric, &profile);
 *	struct guest *a = guest_new(all, &place, mine);
 *	...	guest_connect both, guest_receive, guest_send
 *	while (guests_next(all, &news))
 *		...	tell news.owner; whoever hears may post more
 */

#include "fabric/fabric.h"
#include "transport/qp.h"
#include "verbs/profile.h"

struct guests;
struct guest;
struct guest_queue;

struct guest_place {
	enum qp_kind kind;
	port_id port;
	uint32_t max_send, max_recv;
	struct guest_queue *queue; /* of receives, shared; or NULL */
};

enum guest_news_kind {
	/* All of a message is there; of RC: of one that takes a receive. */
	GUEST_ARRIVED,
	GUEST_LOST, /* UC, UD: it will never arrive */
	GUEST_DONE,
};

struct guest_news {
	enum guest_news_kind kind;
	void *owner;           /* of who sent it */
	void *receiver;        /* of GUEST_ARRIVED */
	uint64_t number;       /* as it was posted */
	enum wc_status status; /* of GUEST_DONE */
};

/* Fabric and profile are borrowed. */
struct guests *guests_new(struct fabric *f, const struct profile *profile);
void guests_free(struct guests *all);

/* NULL if there is no adapter at that port, or the queues are too large. */
struct guest *guest_new(struct guests *all, const struct guest_place *place,
			void *owner);
/* Receives that several of a host share; it stays until all of them left. */
struct guest_queue *guest_queue_new(struct guests *all, port_id port,
				    uint32_t max);
void guest_queue_leave(struct guest_queue *q);
/* It sends no more but what it owes: an answer to what has arrived. */
void guest_leave(struct guest *g);
/*
 * Ready to receive, and later to send, by these attributes; `peer` in place of
 * their dest_qpn, or NULL: nobody will answer. UD has none.
 */
HD_MUST_CHECK enum hd_status guest_connect(struct guest *g, struct guest *peer,
					   const struct qp_attr *a);
HD_MUST_CHECK enum hd_status guest_start(struct guest *g,
					 const struct qp_attr *a);

/* False if there is no room. */
bool guest_receive(struct guest *g);
bool guest_queue_receive(struct guest_queue *q);
/* Of UD: where it goes; `to` NULL: to nobody. */
struct guest_address {
	const struct guest *to;
	uint32_t qkey;
	lid_t dlid;
	uint8_t sl;
	bool global;
};
struct guest_message {
	enum wr_kind kind;
	uint64_t number, length;
	struct guest_address address;
};
bool guest_send(struct guest *g, const struct guest_message *m);

/* What happens next, and goes on to its time; false: nothing will. */
bool guests_next(struct guests *all, struct guest_news *out);
hd_time guests_now(const struct guests *all);

#endif
