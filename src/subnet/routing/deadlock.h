/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_DEADLOCK_H
#define HD_SUBNET_ROUTING_DEADLOCK_H

/*
 * Deadlock check. A packet that holds a buffer behind channel a and waits for
 * channel b makes a depend on b. Without a cycle of dependencies some packet
 * can always advance (Dally and Seitz); with a cycle, all of them may wait
 * forever.
 *
 * A channel is one direction of a cable and one of its data VLs. Dependencies
 * are those of the forwarding and multicast tables with the SL2VL tables and
 * the path SLs in force, between all end ports; if a path has no SL, for every
 * SL. Management packets (VL15) are not flow controlled and cannot deadlock. A
 * basic switch port 0 receives management only, so paths to it count only with
 * DEADLOCK_WITH_SWITCHES. DEADLOCK_ONE_VL checks the unicast tables alone with
 * every packet on one VL, for fabrics whose VLs are unknown; DEADLOCK_UNICAST
 * ignores multicast groups.
 *
 * With adaptive routing (adaptive.h), a packet may wait for any port of the
 * group. A selected port is not changed while the packet waits, so another port
 * does not resolve a cycle, and no subset of the choices may close one.
 *
 * Routers are included: a router holds a packet until it can send it into the
 * next subnet, so cycles may pass through several subnets.
 */

#include "base/strbuf.h"
#include "subnet/routing/depgraph.h"

struct deadlock_check {
	struct depgraph_size size;
	uint64_t n_dropped; /* (path, SL) combinations whose packets are dropped: no VL */
	port_id dropped_at; /* output port of the first of these */
	uint8_t dropped_sl;
	struct channel *cycle; /* NULL: no cycle */
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

/* Writes one line per channel of the cycle: node, port, VL and the next node. */
void route_print_cycle(const struct subnet *s, const struct deadlock_check *c, struct strbuf *out);

#endif
