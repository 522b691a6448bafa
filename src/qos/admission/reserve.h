/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_RESERVE_H
#define HD_QOS_ADMISSION_RESERVE_H

/*
 * Reservation signalling between subnets, modelled on RSVP's subnet bandwidth manager:
 * one manager per subnet, which exchange messages.
 *
 *	source --PATH--> manager 0 --PATH--> manager 1 --PATH--> destination
 *	source <--RESV-- manager 0 <--RESV-- manager 1 <--RESV-- destination
 *
 * PATH records the path and reserves nothing. RESV travels back and reserves each subnet's
 * part of the path: from the source or the ingress router to the destination or the egress
 * router. If a part does not fit, RESV_ERROR is sent to the destination, and the parts
 * behind it are released. The class is carried as TClass; each subnet has its own SL for it, given
 * in the segments of the path.
 *
 * A deadline applies to the whole path. The bounds of the parts are added (RESV names the part
 * behind), and the manager of the source, the last one to reserve, compares the sum with the
 * deadline.
 *
 * State is soft: it expires unless PATH and RESV are repeated within the lifetime. TEAR
 * removes it at once. Managers are state machines: messages in, messages out, time as an
 * argument. The loss of a message is harmless, because the next repetition replaces it.
 */

#include <stdint.h>

#include "base/diag.h"
#include "base/units.h"
#include "qos/admission/broker.h"

enum reserve_kind {
	RESERVE_PATH,
	RESERVE_RESV,
	RESERVE_RESV_ERROR, /* to the destination, with the reason */
	RESERVE_TEAR,       /* to the destination: release the reservation */
};

/* Sender or receiver of a message that is a host, not a manager. */
#define RESERVE_HOST UINT32_MAX

struct reserve_message {
	enum reserve_kind kind;
	uint32_t from, to;             /* subnet number of a manager, or RESERVE_HOST */
	uint32_t session;              /* unique per flow, chosen by the source */
	struct broker_request request; /* request for the whole path */
	uint32_t then;                 /* RESV: 1 + the connection of the part behind; 0: none */
	struct broker_refusal why;     /* RESV_ERROR */
	uint32_t where;                /* RESV_ERROR: the refusing subnet */
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
	uint32_t connection;     /* id in the subnet's broker */
	uint32_t then;           /* `then` of the RESV that was reserved */
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

/* Processes a message and appends the resulting messages to `out`. */
void reserve_receive(struct reserve_manager *m, hd_time now, const struct reserve_message *in,
		     struct reserve_outbox *out);

/* Removes state that was not refreshed; call at or after reserve_due. */
void reserve_expire(struct reserve_manager *m, hd_time now);
/* Time of the next expiry, or HD_TIME_NEVER. */
hd_time reserve_due(const struct reserve_manager *m);

#endif
