/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_ROUTE_H
#define HD_SUBNET_ROUTING_ROUTE_H

/*
 * Routing engines, behind one table.
 *
 * An engine fills the forwarding tables of a subnet whose LIDs are assigned
 * and, where its freedom from deadlock needs VLs, the SL2VL tables and the
 * SL of every path. It either applies the named algorithm or refuses with
 * the reason; it never substitutes another algorithm. s->engine, s->vls_used and
 * s->note record what was done.
 */

#include "subnet/routing/graph.h"

struct route_options {
	const uint64_t *roots; /* updn, ftree: GUIDs of the top switches */
	unsigned n_roots;
	unsigned max_vls; /* dfsssp, lash: most layers; 0: all there are */
	/* minhop, updn: tables in force, to change no more than needed; NULL */
	const struct subnet *keep;
	FILE *tables; /* file: a dump, read line by line */
	/* A set of SLs that leave the choice to the switches: adaptive.h */
	uint16_t adaptive;
	bool around; /* dragonfly: they may choose ways that are not minimal */
};

struct route_engine {
	const char *name;
	const char *needs; /* what it accepts, for --help and refusals */
	/* OpenSM's engine that keeps paths apart by VLs as well, or NULL. */
	const char *opensm;
	enum hd_status (*route)(struct subnet *s, const struct sw_graph *g,
				const struct route_options *o, struct diag *d);
};

/* All of them, as CMakeLists.txt lists them; each is in its engine's file. */
extern const struct route_engine *const route_engines[];
extern const unsigned route_n_engines;

/* NULL if no engine has that name. */
const struct route_engine *route_engine_find(const char *name);
/* The same; refused with the nearest one's name. */
HD_MUST_CHECK enum hd_status route_engine_known(const char *name, struct diag *d);
/* Their names, each with a blank after it. */
void route_engine_words(struct strbuf *out);

/*
 * Runs an engine. Choices that could lock the fabric up, whatever else it does,
 * are refused with the circle of channels. On refusal the forwarding tables are
 * empty and s->engine is NULL; the diag names the engine.
 */
HD_MUST_CHECK enum hd_status subnet_route(struct subnet *s, const char *engine,
					  const struct route_options *o, struct diag *d);

#endif
