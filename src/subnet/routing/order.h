/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_ORDER_H
#define HD_SUBNET_ROUTING_ORDER_H

/*
 * In which order ports are numbered and routed. Balancing gives each
 * destination the least loaded port so far, so the order is part of the
 * result; here it is OpenSM's, whose maps are sorted by GUID as its bytes lie
 * in memory (the byte-swapped number on the machines it runs on).
 */

#include "subnet/routing/graph.h"

/* All ports that get LIDs: end ports and switches. Return how many. */
uint32_t order_ports_by_node(const struct subnet *s, port_id *out);
uint32_t order_ports_by_guid(const struct subnet *s, port_id *out);

/* The GUID of a port; where it has none of its own, its node's. */
uint64_t order_port_guid(const struct topo *t, port_id p);

/*
 * End ports in the order of the fabric: those of one switch together, by port,
 * and where switches form levels, those that share a subtree together.
 * Returns how many.
 */
uint32_t order_hosts(const struct subnet *s, const struct sw_graph *g, port_id *out);

/*
 * Destinations in routing order, grouped by the switch they hang on: switches
 * with many hosts first, their hosts by port number; switches themselves last.
 */
struct dest {
	port_id owner;
	switch_id sw; /* where it leaves the fabric */
	uint8_t port; /* output port there; 0 = the switch itself */
	bool counts;  /* its traffic counts in balancing */
};

struct dest_order {
	struct dest *dests;
	uint32_t n;
	unsigned max_lmc;
};

void order_dests_init(struct dest_order *o, const struct subnet *s, const struct sw_graph *g);
void order_dests_fini(struct dest_order *o);

#endif
