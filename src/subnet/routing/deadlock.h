/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_DEADLOCK_H
#define HD_SUBNET_ROUTING_DEADLOCK_H

/*
 * Can the fabric lock up? A packet that holds a buffer behind channel a and
 * wants channel b makes a depend on b. Without a cycle of such dependencies
 * some packet can always move (Dally and Seitz); with one, they may all wait.
 *
 * A channel is a cable in one direction and one data VL of it. Dependencies
 * are those of the forwarding and multicast tables under the SL2VL tables and
 * the SLs of paths in force, from every end port to every end port; where the
 * SL is left open, for every SL. Management packets (VL15) are not flow
 * controlled and cannot lock. A plain switch port 0 receives nothing but
 * management, so paths to it count only with DEADLOCK_WITH_SWITCHES.
 * DEADLOCK_ONE_VL checks the unicast tables alone with every packet on one
 * VL, for fabrics whose VLs are unknown; DEADLOCK_UNICAST ignores multicast
 * groups.
 *
 * Where switches choose (adaptive.h), a packet may wait for any port of the
 * group: a choice, once made, is waited for, so there is no way out of a cycle
 * by another port, and no part of the choices may close one.
 *
 * Routers are included: one holds what it received until it can send it on
 * into the next subnet, so cycles may pass through several subnets.
 */

#include "base/strbuf.h"
#include "subnet/routing/depgraph.h"

struct deadlock_check {
	struct depgraph_size size;
	uint64_t n_dropped; /* (path, SL) that lose their packets: no VL */
	port_id dropped_at; /* output port of the first of these */
	uint8_t dropped_sl;
	struct channel *cycle; /* NULL: free of cycles */
	uint32_t n_cycle;
};

enum deadlock_flags {
	DEADLOCK_PLAIN = 0,
	DEADLOCK_WITH_SWITCHES = 1,
	DEADLOCK_ONE_VL = 2,
	DEADLOCK_UNICAST = 4,
};

void route_check_deadlock(const struct subnet *s, unsigned flags, struct deadlock_check *out);
void route_deadlock_fini(struct deadlock_check *c);

/* One line per channel of the cycle: node, port, VL and where it leads. */
void route_print_cycle(const struct subnet *s, const struct deadlock_check *c, struct strbuf *out);

#endif
