/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_ORDER_H
#define HD_SUBNET_ROUTING_ORDER_H

/*
 * Order in which ports are numbered and routed. Balancing gives each
 * destination the least loaded port so far, so the order affects the result. It
 * is OpenSM's order, whose maps are sorted by the GUID in memory (byte-swapped
 * on little-endian machines).
 */

#include "subnet/routing/graph.h"

/* All ports that get LIDs: end ports and switches. The functions return their number. */
uint32_t order_ports_by_node(const struct subnet *s, port_id *out);
uint32_t order_ports_by_guid(const struct subnet *s, port_id *out);

/* The GUID of a port; the GUID of its node if it has none. */
uint64_t order_port_guid(const struct topo *t, port_id p);

/*
 * End ports in the order of the fabric: those of one switch are consecutive, by
 * port, and where switches form levels, those of one subtree are consecutive.
 * Returns their number.
 */
uint32_t order_hosts(const struct subnet *s, const struct sw_graph *g, port_id *out);

/*
 * Destinations in routing order, grouped by their switch: switches with many
 * hosts first, their hosts by port number; switches themselves last.
 */
struct dest {
	port_id owner;
	switch_id sw; /* last switch of the path */
	uint8_t port; /* output port there; 0 = the switch itself */
	bool counts;  /* counts in balancing */
};

struct dest_order {
	struct dest *dests;
	uint32_t n;
	unsigned max_lmc;
};

void order_dests_init(struct dest_order *o, const struct subnet *s, const struct sw_graph *g);
void order_dests_fini(struct dest_order *o);

#endif
