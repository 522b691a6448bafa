/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_RESERVE_H
#define HD_QOS_ADMISSION_RESERVE_H

/*
 * Reservation signalling between subnets, in the spirit of RSVP's subnet
 * bandwidth manager: one manager per subnet, and messages between them.
 *
 *	source --PATH--> manager 0 --PATH--> manager 1 --PATH--> destination
 *	source <--RESV-- manager 0 <--RESV-- manager 1 <--RESV-- destination
 *
 * PATH lays a trail and reserves nothing. RESV, coming back, reserves each
 * subnet's part of the way: from the source or the router where the flow
 * enters, to the destination or the router where it leaves. Where a part
 * does not fit, RESV_ERROR tells the destination, and the parts behind it are
 * torn down. The class travels as TClass; each subnet has an SL of its own for
 * it, which the segments of the way name.
 *
 * A deadline is for the whole way. The bounds of the parts add up (RESV names
 * the part behind it), and the source's manager, the last that reserves, holds
 * the sum against the deadline.
 *
 * State is soft: it vanishes unless PATH and RESV are repeated within the
 * lifetime. TEAR removes it at once. Managers are state machines: messages in,
 * messages out, time as an argument. Losing any message is harmless, because
 * the next repetition makes good for it.
 */

#include <stdint.h>

#include "base/diag.h"
#include "base/units.h"
#include "qos/admission/broker.h"

enum reserve_kind {
	RESERVE_PATH,
	RESERVE_RESV,
	RESERVE_RESV_ERROR, /* towards the destination: why not */
	RESERVE_TEAR,       /* towards the destination: forget it */
};

/* Who sends or gets a message: a manager, or a host at either end. */
#define RESERVE_HOST UINT32_MAX

struct reserve_message {
	enum reserve_kind kind;
	uint32_t from, to;             /* subnet number of a manager, or RESERVE_HOST */
	uint32_t session;              /* unique per flow, chosen by the source */
	struct broker_request request; /* of the whole way */
	uint32_t then;                 /* RESV: 1 + the part behind; 0: none */
	struct broker_refusal why;     /* RESV_ERROR */
	uint32_t where;                /* RESV_ERROR: which subnet refused */
};

struct reserve_outbox {
	struct reserve_message *items;
	size_t n, cap;
};
void reserve_outbox_fini(struct reserve_outbox *box);

struct reserve_session {
	struct reserve_message path; /* the last PATH */
	hd_time path_expires, resv_expires;
	bool reserved;
	uint32_t connection;     /* the broker's */
	uint32_t then;           /* as RESV said when it was reserved */
	uint32_t next, previous; /* manager, or RESERVE_HOST */
};

struct reserve_manager {
	struct broker *broker; /* of its subnet; borrowed */
	uint32_t subnet;
	hd_time lifetime;
	struct reserve_session *sessions;
	uint32_t n_sessions;
	size_t cap;
};

void reserve_manager_init(struct reserve_manager *m, struct broker *broker, uint32_t subnet,
			  hd_time lifetime);
void reserve_manager_fini(struct reserve_manager *m);

/* Acts on a message; what follows is appended to `out`. */
void reserve_receive(struct reserve_manager *m, hd_time now, const struct reserve_message *in,
		     struct reserve_outbox *out);

/* Forgets what was not repeated in time; call at or after reserve_due. */
void reserve_expire(struct reserve_manager *m, hd_time now);
/* The next instant at which something expires, or HD_TIME_NEVER. */
hd_time reserve_due(const struct reserve_manager *m);

#endif
