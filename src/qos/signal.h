/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_SIGNAL_H
#define HD_QOS_SIGNAL_H

/*
 * Reservation signalling between subnets, in the spirit of RSVP's subnet
 * bandwidth manager: one manager per subnet, and messages between them.
 *
 *	source --PATH--> manager 0 --PATH--> manager 1 --PATH--> destination
 *	source <--RESV-- manager 0 <--RESV-- manager 1 <--RESV-- destination
 *
 * PATH lays a trail and reserves nothing. RESV, coming back, reserves each
 * subnet's part of the way: from the source or the router by which the flow
 * enters, to the destination or the router by which it leaves. Where a part
 * does not fit, RESV_ERROR tells the destination, and the parts behind it are
 * torn down. The class travels as TClass; each subnet maps it to an SL of its
 * own.
 *
 * State is soft: it vanishes unless PATH and RESV are repeated within the
 * lifetime. TEAR removes it at once. Managers are state machines: messages in,
 * messages out, time as an argument. Losing any message is harmless, because
 * the next repetition makes good for it.
 */

#include <stdint.h>

#include "base/diag.h"
#include "base/units.h"
#include "qos/broker.h"
#include "qos/diffserv.h"

enum signal_kind {
	SIGNAL_PATH,
	SIGNAL_RESV,
	SIGNAL_RESV_ERROR, /* towards the destination: why not */
	SIGNAL_TEAR,       /* towards the destination: forget it */
};

/* Who sends or gets a message: a manager, or a host at either end. */
#define SIGNAL_HOST UINT32_MAX

struct signal_message {
	enum signal_kind kind;
	uint32_t from, to; /* subnet number of a manager, or SIGNAL_HOST */
	uint32_t session;  /* unique per flow, chosen by the source */
	port_id source, destination; /* end ports */
	uint8_t tclass;
	struct hd_rate rate;       /* on the wire */
	struct broker_refusal why; /* RESV_ERROR */
	uint32_t where;            /* RESV_ERROR: which subnet refused */
};

struct signal_outbox {
	struct signal_message *items;
	size_t n, cap;
};
void signal_outbox_fini(struct signal_outbox *box);

struct signal_session {
	struct signal_message path; /* the last PATH */
	hd_time path_expires, resv_expires;
	bool reserved;
	uint32_t connection;     /* the broker's */
	uint32_t next, previous; /* manager, or SIGNAL_HOST */
};

struct signal_manager {
	struct broker *broker; /* of its subnet; borrowed */
	uint32_t subnet;
	struct diffserv_map map;
	hd_time lifetime;
	struct signal_session *sessions;
	uint32_t n_sessions;
	size_t cap;
};

void signal_manager_init(struct signal_manager *m, struct broker *broker,
			 uint32_t subnet, hd_time lifetime);
void signal_manager_fini(struct signal_manager *m);

/* Acts on a message; what follows is appended to `out`. */
void signal_receive(struct signal_manager *m, hd_time now,
		    const struct signal_message *in, struct signal_outbox *out);

/* Forgets what was not repeated in time; call at or after signal_due. */
void signal_expire(struct signal_manager *m, hd_time now);
/* The next instant at which something expires, or HD_TIME_NEVER. */
hd_time signal_due(const struct signal_manager *m);

#endif
