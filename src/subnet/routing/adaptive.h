/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_ADAPTIVE_H
#define HD_SUBNET_ROUTING_ADAPTIVE_H

/*
 * Adaptive routing: a switch selects a port from a group, by the state of its
 * own ports, where a forwarding table has one port only. A group has the ports
 * that the rule of the routing algorithm permits toward the destination's
 * switch, so every choice leads closer to it.
 *
 * The subnet manager selects the SLs with adaptive routing. Other SLs, and
 * management on VL15, use the forwarding tables. The last switch has no choice.
 *
 * A dragonfly may also permit nonminimal paths: over a cable to a third group
 * that ends at a switch with a cable to the target's group. A packet that has
 * crossed between groups once may cross again only to the target's group. The
 * input port shows whether it has crossed: with nonminimal paths a switch has
 * groups per kind of input, as real switches have private tables.
 */

#include "subnet/routing/balance.h"

#define ADAPTIVE_NO_GROUP UINT16_MAX

struct port_set {
	uint64_t bits[4]; /* bit n of the set is port n */
};

/* Nonminimal groups. The tables are [switch][target]: numbers of groups, as adaptive.number. */
struct detours {
	uint8_t *way_in;     /* by port_id of a switch: enum way_in */
	uint16_t *around[2]; /* for packets from an end port, from the same group */
	uint16_t *straight;  /* for packets from the same group: minimal ports only */
};

struct adaptive {
	uint16_t sls;             /* set of SLs with adaptive routing */
	uint32_t n;               /* switches */
	uint16_t *number;         /* [switch][target]: number of its minimal group */
	struct port_set **groups; /* [switch][number] */
	uint32_t *n_groups;       /* [switch] */
	struct detours *detours;  /* NULL: minimal paths only */
};

/* Builds the groups of all switches from a rule, for a set of SLs, with
 * nonminimal groups if the rule has them. */
void adaptive_gather(struct subnet *s, const struct sw_graph *g, const struct route_rule *rule,
		     uint16_t sls);
void adaptive_forget(struct subnet *s);

/* Whether some packet may take a nonminimal path. */
bool adaptive_goes_around(const struct adaptive *a);

/* NULL: no choice; the forwarding table has the port. */
static inline const struct port_set *adaptive_group(const struct adaptive *a, switch_id at,
						    switch_id target)
{
	uint16_t number = a->number[(size_t)at * a->n + target];

	return number == ADAPTIVE_NO_GROUP ? NULL : &a->groups[at][number];
}

/* Group numbers of a switch, or ADAPTIVE_NO_GROUP. */
struct adaptive_ways {
	uint16_t minimal, around;
};

/* Groups for a packet that arrived at port `in`; TOPO_NONE: generated at this switch. */
static inline struct adaptive_ways adaptive_ways(const struct adaptive *a, switch_id at,
						 switch_id target, port_id in)
{
	size_t i = (size_t)at * a->n + target;
	const struct detours *d = a->detours;
	struct adaptive_ways w = { a->number[i], ADAPTIVE_NO_GROUP };

	if (!d)
		return w;
	enum way_in from = in == TOPO_NONE ? FROM_END : (enum way_in)d->way_in[in];

	if (from == FROM_GROUP)
		w.minimal = d->straight[i];
	if (from != FROM_BEYOND)
		w.around = d->around[from][i];
	return w;
}

/* All ports of the packet's groups; empty if the forwarding table decides. */
static inline struct port_set adaptive_ports(const struct adaptive *a, switch_id at,
					     switch_id target, port_id in)
{
	struct adaptive_ways w = adaptive_ways(a, at, target, in);
	const uint16_t numbers[2] = { w.minimal, w.around };
	struct port_set all = { { 0 } };

	for (unsigned i = 0; i < 2; i++) {
		for (unsigned k = 0; numbers[i] != ADAPTIVE_NO_GROUP && k < 4; k++)
			all.bits[k] |= a->groups[at][numbers[i]].bits[k];
	}
	return all;
}

/* Iterates over a set: *port becomes the next member after *port; false at the end. */
static inline bool port_set_next(const struct port_set *set, unsigned *port)
{
	for (unsigned i = *port + 1; i < 256; i = (i | 63) + 1) {
		uint64_t left = set->bits[i / 64] >> i % 64;

		if (left) {
			*port = i + (unsigned)__builtin_ctzll(left);
			return true;
		}
	}
	return false;
}

static inline unsigned port_set_size(const struct port_set *set)
{
	unsigned n = 0;

	for (unsigned i = 0; i < 4; i++)
		n += (unsigned)__builtin_popcountll(set->bits[i]);
	return n;
}

/* Statistics of the groups, over switches and targets with end ports. */
struct adaptive_size {
	uint64_t n_pairs;                 /* (switch, target) with a group */
	uint64_t n_choices;               /* of these, with two or more ports */
	uint64_t n_ports;                 /* sum over the groups of these pairs */
	unsigned most_ports, most_groups; /* maximum per group; maximum per switch */
	unsigned most_hops;               /* longest permitted path to a target */
	/* Pairs with nonminimal groups; maximum number of their ports. */
	uint64_t n_around, n_around_ports;
};
void adaptive_measure(const struct subnet *s, struct adaptive_size *out);

#endif
