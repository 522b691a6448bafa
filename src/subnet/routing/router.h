/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_ROUTER_H
#define HD_SUBNET_ROUTING_ROUTER_H

/*
 * Routing between subnets: the router port that is the destination of a packet
 * whose DGID has another subnet's prefix, and the forwarding of the routers.
 *
 * Paths use the fewest routers. Among equivalent routers, the destination port
 * decides, so that all packets to one destination take the same path and
 * destinations are spread over the routers.
 */

#include "subnet/subnet.h"

/* From one subnet to another: a range of s->router_choices. */
struct router_hop {
	uint32_t first;
	uint32_t n;      /* 0: no path, or the same subnet */
	uint32_t n_hops; /* routers on the path */
};

/* Fills the tables; called by subnet_assign_lids. */
void subnet_router_tables_init(struct subnet *s);
void subnet_router_tables_free(struct subnet *s);

/*
 * The DLID of a packet from end port `from` to end port `to` in the subnet of
 * `from`: that of `to`, or of the first router; 0 if there is no path.
 */
lid_t route_dlid(const struct subnet *s, port_id from, port_id to);

/*
 * Looks up a router's table: the router forwards packets for end port `to` from
 * its port `out`, with DLID `dlid` in the subnet of that port. False if
 * `router` has no path.
 */
bool subnet_router_forward(const struct subnet *s, node_id router, port_id to, port_id *out,
			   lid_t *dlid);

/* Whether the router forwards packets from port `in` to port `out`. */
bool subnet_router_turns(const struct subnet *s, port_id in, port_id out);
/* Whether packets that leave a router by `out` may continue to router port `next`. */
bool subnet_router_passes(const struct subnet *s, port_id out, port_id next);

#endif
