/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MGMT_SM_SM_H
#define HD_MGMT_SM_SM_H

/*
 * The subnet manager. It discovers a fabric by directed-route SMPs, assigns LIDs, computes routes
 * by a routing algorithm of subnet/, programs all nodes, activates links, and answers SA queries.
 *
 * The module is pure: MADs that arrive at its port go in, and MADs to send come out through
 * callbacks. It has no sockets and no clock; all it knows of the fabric comes from MADs.
 *
 *         struct sm *m = sm_new(&options, &events);
 *         sm_start(m, now);
 *         sm_receive(m, &from, mad, size, now);    each MAD that arrives
 *         sm_timeout(m, mad, now);                 a request without a response
 *         sm_run(m, now);                          at sm_next(m)
 *
 * A heavy sweep discovers all nodes from the manager's own port. The manager enters standby if
 * another one has a higher priority, or the same priority and a lower GUID, and polls it. When a
 * cable goes down, routes that still work stay; when one comes up, all routes are computed again,
 * as OpenSM does.
 */

#include <stdbool.h>

#include "base/units.h"
#include "subnet/routing/route.h"
#include "subnet/tables/port_tables.h"
#include "wire/mad.h"

struct sm_options {
	const char *engine; /* a name of route_engines[] */
	uint8_t priority;   /* 0 to 15 */
	uint64_t key;       /* SM_Key */
	/* Port tables to program in place of the defaults; borrowed, or NULL. */
	const struct port_tables *tables;
};

struct sm_events {
	/*
	 * Sends a MAD with a P_Key that the callee selects. LID_PERMISSIVE: by the MAD's directed
	 * route. More than MAD_SIZE bytes: in RMPP segments. A request without a response returns
	 * through sm_timeout; only the lower half of its TID is preserved.
	 */
	void (*send)(void *context, const struct mad_address *to, const uint8_t *mad, size_t size,
		     bool is_request);
	/* One line for the log. */
	void (*log)(void *context, const char *line);
	void *context;
};

/* The codes of SMInfo's SMState. */
enum sm_state {
	SM_NOT_ACTIVE,
	SM_DISCOVERING,
	SM_STANDBY,
	SM_MASTER,
};

struct sm;

struct sm *sm_new(const struct sm_options *o, const struct sm_events *e);
void sm_free(struct sm *m);

void sm_start(struct sm *m, hd_time now);
void sm_receive(struct sm *m, const struct mad_address *from, const uint8_t *mad, size_t size,
		hd_time now);
void sm_timeout(struct sm *m, const uint8_t *mad, hd_time now);
hd_time sm_next(const struct sm *m);
void sm_run(struct sm *m, hd_time now);

enum sm_state sm_state(const struct sm *m);
/* True if the manager is master, all nodes have responded, and all tables are programmed. */
bool sm_is_up(const struct sm *m);
/* Why the routing algorithm refuses the fabric; HD_OK if it does not. */
const struct diag *sm_refusal(const struct sm *m);

#endif
