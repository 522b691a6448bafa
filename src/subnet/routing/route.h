/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_ROUTE_H
#define HD_SUBNET_ROUTING_ROUTE_H

/*
 * Routing algorithms, in one table.
 *
 * An algorithm fills the forwarding tables of a subnet whose LIDs are assigned
 * and, if its deadlock freedom needs VLs, the SL2VL tables and the SL of every
 * path. It either applies the named algorithm or returns the reason why it
 * cannot; it never substitutes another one. s->engine, s->vls_used and s->note
 * record the result.
 */

#include "subnet/routing/graph.h"

struct route_options {
	const uint64_t *roots; /* updn, ftree: GUIDs of the top switches */
	unsigned n_roots;
	unsigned max_vls; /* dfsssp, lash: maximum number of layers; 0: all VLs */
	/* minhop, updn: tables in force, to minimise changes; may be NULL */
	const struct subnet *keep;
	FILE *tables; /* file: a dump, read line by line */
	/* Set of SLs with adaptive routing: adaptive.h */
	uint16_t adaptive;
	bool around; /* dragonfly: permits nonminimal paths */
};

struct route_engine {
	const char *name;
	const char *needs; /* accepted fabrics, for --help and errors */
	/* OpenSM's routing engine that also separates paths by VLs, or NULL. */
	const char *opensm;
	enum hd_status (*route)(struct subnet *s, const struct sw_graph *g,
				const struct route_options *o, struct diag *d);
};

/* All algorithms, in the order of CMakeLists.txt; each is defined in its own file. */
extern const struct route_engine *const route_engines[];
extern const unsigned route_n_engines;

/* NULL if there is no algorithm with that name. */
const struct route_engine *route_engine_find(const char *name);
/* Like route_engine_find; the error suggests the nearest name. */
HD_MUST_CHECK enum hd_status route_engine_known(const char *name, struct diag *d);
/* Appends their names, each followed by a space. */
void route_engine_words(struct strbuf *out);

/*
 * Runs an algorithm. Adaptive choices that could deadlock are rejected with the
 * cycle of channels. On error the forwarding tables are empty and s->engine is
 * NULL; the diag names the algorithm.
 */
HD_MUST_CHECK enum hd_status subnet_route(struct subnet *s, const char *engine,
					  const struct route_options *o, struct diag *d);

#endif
