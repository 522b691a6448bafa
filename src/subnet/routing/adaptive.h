/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_ADAPTIVE_H
#define HD_SUBNET_ROUTING_ADAPTIVE_H

/*
 * Adaptive routing: a switch takes any port of a group, by what it sees of its
 * own ports, where its forwarding table has just one. A group is what the rule
 * of the routing engine permits toward the switch that the destination hangs
 * on, so whatever is chosen leads nearer to it.
 *
 * Some SLs route so, as the subnet manager sets it; the others, and management
 * on VL15, keep to the forwarding tables. The last switch has no choice.
 *
 * A dragonfly may also permit *ways around*: by a cable to a third group that
 * ends at a switch with a cable to the target's group. A packet
 * that has crossed between groups once may cross again only to the target's
 * group. The input port shows whether it has crossed: with ways around a switch
 * has groups per kind of input, as real switches have private tables.
 */

#include "subnet/routing/balance.h"

#define ADAPTIVE_NO_GROUP UINT16_MAX

struct port_set {
	uint64_t bits[4]; /* bit n of them is port n */
};

/* The tables are [switch][target]: of a group, as adaptive.number. */
struct detours {
	uint8_t *way_in;     /* by port_id of a switch: enum way_in */
	uint16_t *around[2]; /* from an end, from the group */
	uint16_t *straight;  /* from the group: the minimal ones */
};

struct adaptive {
	uint16_t sls;             /* set of those that choose */
	uint32_t n;               /* switches */
	uint16_t *number;         /* [switch][target]: of its minimal group */
	struct port_set **groups; /* [switch][number] */
	uint32_t *n_groups;       /* [switch] */
	struct detours *detours;  /* NULL: minimal ways only */
};

/* The groups of all switches, from a rule, for a set of SLs; with ways around
 * if the rule has them. */
void adaptive_gather(struct subnet *s, const struct sw_graph *g, const struct route_rule *rule,
		     uint16_t sls);
void adaptive_forget(struct subnet *s);

/* True if some packet may take a way around. */
bool adaptive_goes_around(const struct adaptive *a);

/* NULL: there is no choice, the forwarding table says it. */
static inline const struct port_set *adaptive_group(const struct adaptive *a, switch_id at,
						    switch_id target)
{
	uint16_t number = a->number[(size_t)at * a->n + target];

	return number == ADAPTIVE_NO_GROUP ? NULL : &a->groups[at][number];
}

/* Numbers of a switch's groups, or ADAPTIVE_NO_GROUP. */
struct adaptive_ways {
	uint16_t minimal, around;
};

/* Of a packet that came in by `in`; TOPO_NONE: it was made here. */
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

/* All ports of its groups: empty if the forwarding table says it. */
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

/* Goes through a set: *port is the next member after itself, or false. */
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

/* What there is to choose from; of switches toward those with end ports. */
struct adaptive_size {
	uint64_t n_pairs;                 /* (switch, target) with a group */
	uint64_t n_choices;               /* of these, of two ports or more */
	uint64_t n_ports;                 /* in all groups of these pairs */
	unsigned most_ports, most_groups; /* of a group, of a switch */
	unsigned most_hops;               /* to a target, by the longest of the choices */
	/* Pairs that have ways around, and ports of these, at the most. */
	uint64_t n_around, n_around_ports;
};
void adaptive_measure(const struct subnet *s, struct adaptive_size *out);

#endif
