/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_GRAPH_H
#define HD_SUBNET_ROUTING_GRAPH_H

/*
 * The switches of a subnet and the channels between them, for routing
 * algorithms and checkers.
 *
 * An edge is one direction of one cable: a channel. The edges of a switch are
 * consecutive, by port number. Cables to adapters, from a switch to itself,
 * between subnets, and on port 255 (which a forwarding table cannot name) are
 * not edges.
 */

#include "subnet/subnet.h"

typedef uint32_t edge_id;

struct sw_edge {
	switch_id to;
	uint8_t out; /* output port */
	uint8_t in;  /* input port at the other end */
};

struct sw_graph {
	uint32_t n;      /* switches */
	uint32_t *first; /* edges of s: first[s] .. first[s + 1] - 1 */
	struct sw_edge *edges;
	uint32_t n_edges;
	edge_id *reverse; /* opposite direction of the same cable */
	/* Ports of switch s are port_base[s] + 0 .. n_ports. */
	uint32_t *port_base;
	edge_id *edge_at; /* [port_base[s] + port], TOPO_NONE if none */
	uint32_t *n_ends; /* end ports attached to s, including its port 0 */
};

void graph_init(struct sw_graph *g, const struct subnet *s);
void graph_fini(struct sw_graph *g);

/* The switch that transmits on a channel. */
static inline switch_id edge_from(const struct sw_graph *g, edge_id e)
{
	return g->edges[g->reverse[e]].to;
}

/* The channel on which port `port` of switch `sw` transmits, or TOPO_NONE. */
static inline edge_id edge_of(const struct sw_graph *g, switch_id sw, unsigned port)
{
	uint32_t at = g->port_base[sw] + port;

	return at < g->port_base[sw + 1] ? g->edge_at[at] : TOPO_NONE;
}

#define GRAPH_FAR UINT16_MAX

/*
 * Computes the hops between switch `from` and every switch; GRAPH_FAR if
 * unreachable. Writes the reachable switches to `queue` (room for g->n) in
 * order of distance and returns their number.
 */
uint32_t graph_distances(const struct sw_graph *g, switch_id from, uint16_t *dist,
			 switch_id *queue);

/* Whether every switch reaches every other. */
bool graph_is_connected(const struct sw_graph *g);

#endif
