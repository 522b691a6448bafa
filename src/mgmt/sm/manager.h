/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MGMT_SM_MANAGER_H
#define HD_MGMT_SM_MANAGER_H

/*
 * A subnet manager: it finds a fabric by MADs that say their own route, gives
 * it LIDs, computes routes by an engine of subnet/, programs all of it by MADs,
 * and brings links up; then it answers questions about the subnet.
 *
 * Pure: MADs that come to its port go in, MADs that it sends come out. It has
 * no sockets and no clock, and knows of the fabric what MADs told it.
 *
 *	struct manager *m = manager_new(&options, &events);
 *	manager_start(m, now);
 *	manager_take(m, &from, mad, size, now);     whatever arrives
 *	manager_lost(m, mad, now);                  a request without an answer
 *	manager_run(m, now);                        at manager_next(m)
 *
 * A sweep looks at all that can be reached, from the manager's own port on.
 * Another manager of higher priority, or of the same and a lower GUID, makes
 * it stand by until that one is gone. When a cable goes, routes that still
 * work stay; when one comes, the fabric is routed anew, as OpenSM does it.
 */

#include <stdbool.h>

#include "base/units.h"
#include "subnet/routing/route.h"
#include "subnet/tables/port_tables.h"
#include "wire/mad.h"

struct manager_options {
	const char *engine; /* a name of route_engines[] */
	uint8_t priority;   /* 0 to 15 */
	uint64_t key;       /* SM_Key */
	/* What ports are programmed with, in place of the defaults; borrowed, or NULL. */
	const struct port_tables *tables;
};

struct manager_events {
	/*
	 * Sends a MAD, by a P_Key that the sender chooses; to LID_PERMISSIVE
	 * by the route that it says, of more than MAD_SIZE bytes in segments. A
	 * request that is not answered is to come back by manager_lost; of its
	 * TID only the lower half stays.
	 */
	void (*send)(void *context, const struct mad_address *to, const uint8_t *mad, size_t size,
		     bool is_request);
	/* A line of what happened, for whoever looks on. */
	void (*say)(void *context, const char *line);
	void *context;
};

/* As SMInfo has them. */
enum manager_role {
	MANAGER_NOT_ACTIVE,
	MANAGER_DISCOVERING,
	MANAGER_STANDBY,
	MANAGER_MASTER,
};

struct manager;

struct manager *manager_new(const struct manager_options *o, const struct manager_events *e);
void manager_free(struct manager *m);

void manager_start(struct manager *m, hd_time now);
void manager_take(struct manager *m, const struct mad_address *from, const uint8_t *mad,
		  size_t size, hd_time now);
void manager_lost(struct manager *m, const uint8_t *mad, hd_time now);
hd_time manager_next(const struct manager *m);
void manager_run(struct manager *m, hd_time now);

enum manager_role manager_role(const struct manager *m);
/* Master, everybody has answered, and all that was to be programmed is. */
bool manager_is_up(const struct manager *m);
/* Why the engine does not take the fabric as it is; HD_OK if it does. */
const struct diag *manager_refusal(const struct manager *m);

#endif
