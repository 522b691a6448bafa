/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_ROUTER_H
#define HD_SUBNET_ROUTING_ROUTER_H

/*
 * Routing between subnets: the router port to which a source addresses a packet
 * whose DGID has another subnet's prefix, and the forwarding of the routers.
 *
 * Paths cross as few routers as possible. Where several routers are equally
 * good, the destination port decides among them, so that all packets to one
 * destination take the same way and destinations are spread over the routers.
 */

#include "subnet/subnet.h"

/* From one subnet toward another: a range of s->router_choices. */
struct router_hop {
	uint32_t first;
	uint32_t n;      /* 0: no way, or the same subnet */
	uint32_t n_hops; /* routers on the way */
};

/* Fills the tables; subnet_assign_lids does this. */
void subnet_router_tables_init(struct subnet *s);
void subnet_router_tables_free(struct subnet *s);

/*
 * The DLID that a packet from end port `from` to end port `to` carries in the
 * subnet of `from`: that of `to`, or of the router on the way; 0 if there is
 * no way.
 */
lid_t route_dlid(const struct subnet *s, port_id from, port_id to);

/*
 * One entry of a router's table: it forwards packets for end port `to` from
 * its port `out`, with DLID `dlid` in the subnet there. False if `router` has
 * no way.
 */
bool subnet_router_forward(const struct subnet *s, node_id router, port_id to, port_id *out,
			   lid_t *dlid);

/* Does its router pass packets on from port `in` by port `out`? */
bool subnet_router_turns(const struct subnet *s, port_id in, port_id out);
/* Does what leaves a router by `out` go to router port `next` after it? */
bool subnet_router_passes(const struct subnet *s, port_id out, port_id next);

#endif
