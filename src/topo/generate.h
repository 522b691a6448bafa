/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_GENERATE_H
#define HD_TOPO_GENERATE_H

/*
 * Fabrics made to order, from one table of generators.
 *
 * A generator is a name, a table of parameters and a function that builds.
 * The parameters are rows of an option table over struct topo_params, so that
 * a command line, its help, and a scenario file all read them the same way.
 *
 * What all generators have in common: switches come first in node order, then
 * hosts in the order of the switches they are plugged into; hosts are named
 * h0, h1, ...; a switch's ports towards other switches come before its ports
 * towards hosts (in trees: ports down before ports up). GUIDs depend on kind
 * and number only. The same parameters and seed give the same fabric on every
 * machine. docs/topologies.md has the port numbers of every family.
 */

#include <stdint.h>

#include "base/diag.h"
#include "base/option.h"
#include "base/units.h"
#include "topo/topo.h"

/* How the links between groups of a dragonfly are laid. */
enum dragonfly_arrangement { ARRANGE_ABSOLUTE, ARRANGE_PALMTREE };

/* Of each generator only the fields that its table names are looked at. */
struct topo_params {
	uint64_t columns, rows;        /* mesh, node-mesh */
	uint64_t dimensions;           /* hypercube */
	uint64_t switches;             /* ring, star, irregular */
	uint64_t degree;               /* irregular */
	uint64_t arity, levels;        /* tree, fat-tree */
	uint64_t radix;                /* fat-tree */
	uint64_t routers, globals;     /* dragonfly: a and h */
	uint64_t leaves, spines;       /* dragonfly-plus; spines: rail too */
	uint64_t groups;               /* 0: as many as there can be */
	uint64_t remote, local;        /* two-switch */
	uint64_t victims;              /* two-switch */
	uint64_t cables;               /* back-to-back */
	uint64_t subnets;              /* routed */
	uint64_t rails, units, planes; /* rail */
	const char *sizes;             /* torus: "4x4x8" */
	const char *down, *up;         /* xgft: "18,18,36", "1,18,18" */
	const char *parallel;          /* xgft: cables per pair, per level */
	struct hd_ratio taper;         /* fat-tree: ports down per port up */
	unsigned arrangement;          /* enum dragonfly_arrangement */
	uint64_t hosts;                /* per switch (per leaf in trees) */
	uint64_t host_ports;           /* of each host, all to its switch */
	uint64_t tcas;                 /* of the hosts of a switch */
	const char *link;              /* what ports support: "4x HDR" */
	const char *host_link;         /* ... those of hosts, if different */
	const char *trunk_link;        /* ... those between switches */
	uint64_t vls, host_vls;        /* 0: as vls */
	uint64_t mtu, host_mtu;        /* bytes; 0: as mtu */
	uint64_t seed;                 /* irregular */
	uint64_t max_nodes;            /* 0: a million */
};

struct generator {
	const char *name;
	enum topo_family family;
	const char *summary;     /* one line, lower case, no stop */
	const char *description; /* what it builds, port numbers */
	const struct option *params;
	const char *example; /* words after "heddle topo gen" */
	/* Adds nodes and cables; GUIDs and link speeds are set afterwards. */
	enum hd_status (*build)(const struct topo_params *p, struct diag *d, struct topo *t);
};

/* All of them, ended by one without a name. */
extern const struct generator topo_generators[];
/* Parameters that every generator takes besides its own. */
extern const struct option generator_common[];

/* NULL, and a refusal that suggests the nearest, if there is no such kind. */
const struct generator *generator_find(const char *name, struct diag *d);
/* The kind with the most similar name; NULL if no name is similar. */
const char *generator_nearest(const char *name);
/* Their names, a blank after each. */
void generator_words(struct strbuf *out);

/* Everything as the tables have it, seed 1. */
void topo_params_init(const struct generator *g, struct topo_params *p);

/* `out` is initialised on success only. */
HD_MUST_CHECK enum hd_status topo_generate(const struct generator *g, const struct topo_params *p,
					   struct diag *d, struct topo *out);

/*
 * The same from words as a command line has them: "--columns=4", "--rows=4",
 * and "--seed=2" instead of `seed`. Moves words in argv, as options_parse does.
 */
HD_MUST_CHECK enum hd_status topo_generate_words(const struct generator *g, int argc, char **argv,
						 uint64_t seed, struct diag *d, struct topo *out);

/*
 * The same from one text: "mesh --columns=4 --rows=4". What would have more
 * nodes than `max_nodes` is refused; 0 is a million.
 */
HD_MUST_CHECK enum hd_status topo_generate_text(const char *text, uint64_t seed, uint64_t max_nodes,
						struct diag *d, struct topo *out);

#endif
