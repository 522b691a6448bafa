/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_FACTS_H
#define HD_TOPO_FACTS_H

/* Statistics of a fabric. */

#include "measure/results.h"
#include "topo/bisection/bisection.h"
#include "topo/topo.h"

#define FACTS_MAX_TIERS 32

/* Switches at the same distance from hosts: tier 1 has hosts, tier 2 is adjacent to tier 1. */
struct facts_tier {
	uint32_t switches;
	uint32_t least_ports, most_ports;
	uint64_t cables_down, cables_up, cables_across; /* include cables to hosts */
};

/* Cables with the same active width and speed. */
struct facts_links {
	unsigned lanes; /* 0: the ends have no common width */
	enum link_speed speed;
	uint64_t between_switches, to_hosts;
};

struct topo_facts {
	uint32_t switches, adapters, tcas, routers;
	uint64_t end_ports;
	uint64_t cables, trunks; /* all cables; cables between switches */
	uint32_t subnets, parts;
	uint32_t least_radix, most_radix; /* ports of a switch */
	uint32_t n_tiers;                 /* tier[0], the hosts, is unused */
	struct facts_tier tier[FACTS_MAX_TIERS];
	struct facts_links *links; /* sorted by rate, fastest first */
	size_t n_links, links_cap;
	struct shape_distances distances; /* between switches with hosts */
	struct bisection bisection;
	/* Bisection divided by half of the hosts' cables; 1: full bisection. */
	double bisection_share;
};

void topo_facts_init(struct topo_facts *f, const struct topo *t);
void topo_facts_fini(struct topo_facts *f);

/* "mesh", "XGFT"; "none" for fabrics read from a file. */
const char *topo_family_name(enum topo_family family);

/* Adds the fabric, its tiers and its links as tables (facts_tables.c). */
void topo_facts_show(const struct topo_facts *f, const struct topo *t, struct results *r);

#endif
