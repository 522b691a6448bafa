/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_LOAD_H
#define HD_SUBNET_ROUTING_LOAD_H

/*
 * How evenly routes spread traffic: flows per channel, counted by following
 * the forwarding tables.
 *
 * A flow's share is what it gets of its source's link if every channel is
 * divided equally among the flows on it and the tightest one decides (links of
 * different rates count by rate). The mean share over random bisections, half
 * the hosts each sending to one of the other half, is the effective bisection
 * bandwidth (Hoefler, Schneider, Lumsdaine, 2008).
 */

#include "subnet/subnet.h"

/* Flows per channel under one pattern. */
struct load_spread {
	uint64_t n_flows;
	uint64_t n_lost;     /* flows that do not arrive */
	uint32_t n_channels; /* between switches, each direction */
	uint32_t n_idle;     /* of these, without any flow */
	uint64_t max;
	uint64_t total; /* summed over these channels */
	port_id max_at; /* the first port with that maximum, or TOPO_NONE */
};

/* Every end port to every other, by base LIDs. */
void load_all_to_all(const struct subnet *s, struct load_spread *out);

/* Over many patterns. */
struct load_shares {
	unsigned n_patterns;
	uint64_t n_flows;
	uint64_t n_lost;
	uint64_t worst;     /* most flows on one channel, in any pattern */
	double mean_max;    /* most flows on one channel, per pattern */
	double mean_share;  /* over all flows */
	double least_share; /* the poorest flow of all */
	double worst_mean;  /* mean share of the worst pattern */
	double half_width;  /* of the 95 % interval of mean_share */
};

/* Source and destination, both end ports. */
struct load_flow {
	port_id from, to;
};

/* A traffic pattern of the user; list NULL: none was given. */
struct load_traffic {
	struct load_flow *list;
	size_t n, cap;
	size_t n_left; /* flows that go to no single end port */
};

/*
 * The flows that each port sends, hosts' ports too: when every pair sends, the
 * most in any of `n` shifts (load_patterns), and of that pattern.
 */
struct load_map {
	uint64_t *all_pairs, *shifts; /* by port */
	uint64_t *traffic;            /* NULL: none was given */
	struct load_shares of_shifts, of_traffic;
};
void load_map_init(struct load_map *m, const struct subnet *s, unsigned n,
		   const struct load_traffic *traffic);
void load_map_fini(struct load_map *m);

/* The ports that send on channels between switches, those with the most flows
 * first: of the traffic, then of all pairs; to be freed. */
port_id *load_order(const struct load_map *m, const struct subnet *s, uint32_t *n);

enum load_pattern {
	LOAD_PERMUTATION, /* random: each host sends to one, one to each */
	LOAD_SHIFT,       /* host i sends to host i + k, all k or some */
	LOAD_BISECTION,   /* random halves, one half sends to the other */
};

/*
 * `n` random patterns drawn from (seed), or for shifts at most `n` distances,
 * evenly spaced. Hosts are counted in the order of the fabric: those of one
 * switch together, and switches that share a subtree.
 */
void load_patterns(const struct subnet *s, enum load_pattern pattern, unsigned n, uint64_t seed,
		   struct load_shares *out);

#endif
