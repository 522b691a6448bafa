/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_DEADLOCK_H
#define HD_SUBNET_DEADLOCK_H

/*
 * Can the fabric lock up? A packet that holds a buffer behind channel a and
 * wants channel b makes a depend on b. Without a cycle of such dependencies
 * some packet can always move (Dally and Seitz); with one, they may all wait.
 *
 * A channel is a cable in one direction and one data VL of it. Dependencies
 * are those of the forwarding and multicast tables under the SL2VL tables and
 * the SLs of paths in force, from every end port to every end port; where the
 * engine leaves the SL open, for every SL. Management packets (VL15) are not
 * flow controlled and cannot lock. A plain switch port 0 receives nothing but
 * management, so paths to it count only if `with_switches` is set.
 *
 * Routers are included: one holds what it received until it can send it on
 * into the next subnet, so cycles may pass through several subnets.
 */

#include "base/strbuf.h"
#include "subnet/depgraph.h"

struct deadlock_check {
	struct depgraph_size size;
	uint16_t open_sls;  /* SLs that were tried; 0: those of the paths */
	uint64_t n_dropped; /* (path, SL) that lose their packets: no lane */
	port_id dropped_at; /* output port of the first of these */
	uint8_t dropped_sl;
	struct channel *cycle; /* NULL if there is none */
	uint32_t n_cycle;
};

void check_deadlock(const struct subnet *s, bool with_switches,
		    struct deadlock_check *out);
void deadlock_check_fini(struct deadlock_check *c);

/* One line per channel of the cycle: node, port, VL and where it leads. */
void deadlock_print_cycle(const struct subnet *s,
			  const struct deadlock_check *c, struct strbuf *out);

#endif
