/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_GENERATE_H
#define HD_TOPO_GENERATE_H

/*
 * Generates fabrics, from one table of generators.
 *
 * A generator is a name, a table of parameters and a build function. The
 * parameters are rows of an option table over struct topo_params. The command
 * line, its help and scenario files therefore parse them in the same way.
 *
 * In every generated fabric, switches come first in node order, then hosts in
 * the order of their switches. Hosts are named h0, h1, .... A switch's ports to
 * other switches precede its ports to hosts (in trees: ports down precede ports
 * up). GUIDs depend on kind and number only. The same parameters and seed give
 * the same fabric on every machine. docs/topologies.md has the port numbers of
 * every family.
 */

#include <stdint.h>

#include "base/diag.h"
#include "base/option.h"
#include "base/units.h"
#include "topo/topo.h"

/* Arrangement of the links between the groups of a dragonfly. */
enum dragonfly_arrangement { ARRANGE_ABSOLUTE, ARRANGE_PALMTREE };

/* A generator reads only the fields that its table names. */
struct topo_params {
	uint64_t columns, rows;        /* mesh, node-mesh */
	uint64_t dimensions;           /* hypercube */
	uint64_t switches;             /* ring, star, irregular */
	uint64_t degree;               /* irregular */
	uint64_t arity, levels;        /* tree, fat-tree */
	uint64_t radix;                /* fat-tree */
	uint64_t routers, globals;     /* dragonfly: a and h */
	uint64_t leaves, spines;       /* dragonfly-plus; spines: rail too */
	uint64_t groups;               /* 0: the maximum number */
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
	uint64_t tcas;                 /* target channel adapters per switch, part of `hosts` */
	const char *link;              /* supported by all ports: "4x HDR" */
	const char *host_link;         /* supported by ports of hosts, if different */
	const char *trunk_link;        /* supported by ports between switches */
	uint64_t vls, host_vls;        /* 0: as vls */
	uint64_t mtu, host_mtu;        /* bytes; 0: as mtu */
	uint64_t seed;                 /* irregular */
	uint64_t max_nodes;            /* 0: a million */
};

struct generator {
	const char *name;
	enum topo_family family;
	const char *summary;     /* one line, lower case, no stop */
	const char *description; /* structure and port numbers */
	const struct option *params;
	const char *example; /* words after "heddle topo gen" */
	/* Adds nodes and cables; the caller sets GUIDs and link speeds afterwards. */
	enum hd_status (*build)(const struct topo_params *p, struct diag *d, struct topo *t);
};

/* All generators; the last entry has no name. */
extern const struct generator topo_generators[];
/* Parameters that every generator accepts in addition to its own. */
extern const struct option generator_common[];

/* NULL if there is no such kind; the error then suggests the nearest name. */
const struct generator *generator_find(const char *name, struct diag *d);
/* The kind with the most similar name; NULL if no name is similar. */
const char *generator_nearest(const char *name);
/* Appends their names, each followed by a space. */
void generator_words(struct strbuf *out);

/* Sets every parameter to its default; the seed is 1. */
void topo_params_init(const struct generator *g, struct topo_params *p);

/* `out` is initialised on success only. */
HD_MUST_CHECK enum hd_status topo_generate(const struct generator *g, const struct topo_params *p,
					   struct diag *d, struct topo *out);

/*
 * Like topo_generate, from command-line words: "--columns=4", "--rows=4". "--
 * seed=2" overrides `seed`. Reorders argv, as options_parse does.
 */
HD_MUST_CHECK enum hd_status topo_generate_words(const struct generator *g, int argc, char **argv,
						 uint64_t seed, struct diag *d, struct topo *out);

/*
 * Like topo_generate, from one text: "mesh --columns=4 --rows=4". Rejects
 * fabrics with more than `max_nodes` nodes; 0: a million.
 */
HD_MUST_CHECK enum hd_status topo_generate_text(const char *text, uint64_t seed, uint64_t max_nodes,
						struct diag *d, struct topo *out);

#endif
