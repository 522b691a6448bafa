/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ADAPTIVE_H
#define HD_SUBNET_ADAPTIVE_H

/*
 * Adaptive routing: a switch takes any port of a group, by what it sees of its
 * own ports, where its forwarding table has just one. A group is what the rule
 * of the routing engine permits toward the switch that the destination hangs
 * on, so whatever is chosen leads nearer to it.
 *
 * Some SLs route so, as the subnet manager sets it; the others, and management
 * on VL15, keep to the forwarding tables. The last switch has no choice.
 */

#include "subnet/balance.h"

#define ADAPTIVE_NO_GROUP UINT16_MAX

struct port_set {
	uint64_t bits[4]; /* bit n of them is port n */
};

struct adaptive {
	uint16_t sls;             /* set of those that choose */
	uint32_t n;               /* switches */
	uint16_t *number;         /* [switch][target]: of its group */
	struct port_set **groups; /* [switch][number] */
	uint32_t *n_groups;       /* [switch] */
};

/* The groups of all switches, from a rule, for a set of SLs. */
void adaptive_gather(struct subnet *s, const struct sw_graph *g,
		     const struct route_rule *rule, uint16_t sls);
void adaptive_forget(struct subnet *s);

/* NULL: there is no choice, the forwarding table says it. */
static inline const struct port_set *
adaptive_group(const struct adaptive *a, switch_id at, switch_id target)
{
	uint16_t number = a->number[(size_t)at * a->n + target];

	return number == ADAPTIVE_NO_GROUP ? NULL : &a->groups[at][number];
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
	unsigned most_hops; /* to a target, by the longest of the choices */
};
void adaptive_measure(const struct subnet *s, struct adaptive_size *out);

#endif
