/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_LOAD_H
#define HD_SUBNET_ROUTING_LOAD_H

/*
 * Distribution of flows over channels, counted by following the forwarding
 * tables.
 *
 * A flow's share is its fraction of its source's link if every channel is
 * divided equally among its flows and the tightest channel decides (links of
 * different rates count by rate). The mean share over random bisections, in
 * which half of the hosts each send to one host of the other half, is the
 * effective bisection bandwidth (Hoefler, Schneider, Lumsdaine, 2008).
 */

#include "subnet/subnet.h"

/* Flows per channel under one pattern. */
struct load_spread {
	uint64_t n_flows;
	uint64_t n_lost;     /* flows that do not arrive */
	uint32_t n_channels; /* channels between switches, each direction */
	uint32_t n_idle;     /* of these, without flows */
	uint64_t max;
	uint64_t total; /* sum over these channels */
	port_id max_at; /* the first port with the maximum, or TOPO_NONE */
};

/* Flows between all pairs of end ports, by base LIDs. */
void load_all_to_all(const struct subnet *s, struct load_spread *out);

/* Shares over several patterns. */
struct load_shares {
	unsigned n_patterns;
	uint64_t n_flows;
	uint64_t n_lost;
	uint64_t worst;     /* maximum number of flows on one channel, over all patterns */
	double mean_max;    /* mean over patterns of the maximum number of flows on one channel */
	double mean_share;  /* over all flows */
	double least_share; /* minimum over all flows */
	double worst_mean;  /* mean share of the worst pattern */
	double half_width;  /* half-width of the 95 % interval of mean_share */
};

/* Source and destination end ports. */
struct load_flow {
	port_id from, to;
};

/* A traffic pattern of the user; list NULL: none. */
struct load_traffic {
	struct load_flow *list;
	size_t n, cap;
	size_t n_left; /* flows without a single destination port */
};

/*
 * Flows per transmitting port, including hosts' ports: with all pairs, the
 * maximum over `n` shifts (load_patterns), and for the user's traffic.
 */
struct load_map {
	uint64_t *all_pairs, *shifts; /* indexed by port */
	uint64_t *traffic;            /* NULL: no traffic was given */
	struct load_shares of_shifts, of_traffic;
};
void load_map_init(struct load_map *m, const struct subnet *s, unsigned n,
		   const struct load_traffic *traffic);
void load_map_fini(struct load_map *m);

/* The transmitting ports of channels between switches in descending order of
 * flows: by the user's traffic, then by all pairs. Free the result. */
port_id *load_order(const struct load_map *m, const struct subnet *s, uint32_t *n);

enum load_pattern {
	LOAD_PERMUTATION, /* random: a one-to-one mapping of hosts */
	LOAD_SHIFT,       /* host i sends to host i + k, for all or some k */
	LOAD_BISECTION,   /* random halves; one half sends to the other */
};

/*
 * `n` random patterns derived from (seed), or for shifts at most `n` evenly
 * spaced distances. Hosts have the order of the fabric: hosts of one switch are
 * consecutive, and so are switches that share a subtree.
 */
void load_patterns(const struct subnet *s, enum load_pattern pattern, unsigned n, uint64_t seed,
		   struct load_shares *out);

#endif
