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
 * than that is known. One to a group arrives at each of its members, if it
 * does; that it is lost is told when no more of it is to come.
 *
 *	struct guests *all = guests_new(fabric, &profile);
 *	struct guest *a = guest_new(all, &place, mine);
 *	...	guest_connect both, guest_receive, guest_send
 *	while (guests_next(all, guests_now(all) + step, &news))
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
	/* All of a message is there; of RC: unless it is a write, of which
	 * nobody there hears. Of a read: what asks for it. */
	GUEST_ARRIVED,
	GUEST_LOST, /* UC, UD: it will never arrive */
	GUEST_DONE,
	GUEST_NOTHING, /* yet */
};

struct guest_news {
	enum guest_news_kind kind;
	void *owner;           /* of who sent it */
	void *receiver;        /* of GUEST_ARRIVED, */
	bool took_receive;     /* as is this */
	uint64_t number;       /* as it was posted */
	enum wc_status status; /* of GUEST_DONE */
};

/* Fabric and profile are borrowed. */
struct guests *guests_new(struct fabric *f, const struct profile *profile);
void guests_free(struct guests *all);

/* NULL if there is no adapter at that port, or the queues are too large. */
struct guest *guest_new(struct guests *all, const struct guest_place *place, void *owner);
/* Receives that several of a host share; it stays until all of them left. */
struct guest_queue *guest_queue_new(struct guests *all, port_id port, uint32_t max);
void guest_queue_leave(struct guest_queue *q);
/* It sends no more but what it owes: an answer to what has arrived. */
void guest_leave(struct guest *g);
/*
 * Ready to receive, and later to send, by these attributes; `peer` in place of
 * their dest_qpn, or NULL: nobody will answer. UD has none.
 */
HD_MUST_CHECK enum hd_status guest_connect(struct guest *g, struct guest *peer,
					   const struct qp_attr *a);
HD_MUST_CHECK enum hd_status guest_start(struct guest *g, const struct qp_attr *a);

/* False if there is no room. */
bool guest_receive(struct guest *g);
bool guest_queue_receive(struct guest_queue *q);
/* Of UD: where it goes; `to` NULL: to nobody, or to a group. */
struct guest_address {
	const struct guest *to;
	uint32_t qkey;
	lid_t dlid;
	uint8_t sl;
	bool global;
	uint8_t dgid[16]; /* of a group */
};
/* UD: it gets what is sent to a group, or no more. */
HD_MUST_CHECK enum hd_status guest_attach(struct guest *g, lid_t mlid, const uint8_t mgid[16]);
void guest_detach(struct guest *g, lid_t mlid, const uint8_t mgid[16]);
struct guest_message {
	enum wr_kind kind;
	uint64_t number, length;
	struct guest_address address;
};
bool guest_send(struct guest *g, const struct guest_message *m);
/* The PSN that this message of its began with; of one that is not under way,
 * that of the next. */
uint32_t guest_psn(const struct guest *g, uint64_t number);

/* A packet of theirs starts on a link. */
struct guest_passage {
	hd_time now, there; /* there: it begins to arrive, unless */
	bool is_lost;
	bool is_corrupt, is_marked;
	port_id out, in; /* of the topology */
	uint8_t vl;
	bool is_first; /* link of its way */
	uint32_t id;   /* its own for as long as it is on its way */
	/* Numbers, addresses and content are the simulation's. */
	const struct packet *packet;
	void *sender; /* owner of the queue pair; NULL: it has left */
	/* The message that it is of, as a request or an answer; owner NULL: of
	 * none. Its content begins behind so many bytes. */
	void *owner;
	uint64_t number, offset;
};

/*
 * From now on somebody is told of each, at the end of its instant; NULL: nobody
 * any more. It changes nothing.
 */
void guests_watch(struct guests *all, void (*seen)(void *context, const struct guest_passage *p),
		  void *context);

/*
 * What happens next, and goes on to its time, or to `until`; false: nothing
 * will. One that finds no receive may be sent again for ever.
 */
bool guests_next(struct guests *all, hd_time until, struct guest_news *out);
hd_time guests_now(const struct guests *all);

#endif
