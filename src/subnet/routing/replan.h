/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_REPLAN_H
#define HD_SUBNET_ROUTING_REPLAN_H

/*
 * What a manager does when cables go down or come back: it looks at the fabric
 * again, computes the tables, and writes what changed, in blocks of 64 LIDs.
 *
 *	bool *down = ...;            one flag per port of whole->topo
 *	struct replan now;
 *	if (replan(&whole, present, down, &o, &d, &now) == HD_OK)
 *		for each of now.writes: send the block to the switch
 *
 * `whole` is the fabric with every cable in place, its LIDs, and its VLs;
 * `present` has the tables in force and the cables that the manager knows:
 * `whole` itself at first, later the subnet of the last replan. All of them
 * have the same nodes, ports, switches and LIDs, and are only read.
 *
 * What the manager cannot reach is lost: it has no LIDs and nothing is written
 * to it. LIDs never move.
 */

#include "subnet/routing/route.h"

enum replan_mode {
	/*
	 * As OpenSM: what still works is kept, with engines that can (minhop,
	 * updn), but as soon as there is a cable that it did not know, all is
	 * routed from scratch.
	 */
	REPLAN_AS_OPENSM,
	REPLAN_FRESH, /* from scratch */
	REPLAN_KEEP,  /* what still works is kept, new cables or not */
};

extern const char *const replan_mode_names[]; /* up to NULL */

struct replan_options {
	const char *engine;
	const struct route_options *route; /* or NULL; `keep` is set here */
	enum replan_mode mode;
	port_id manager; /* TOPO_NONE: subnet_manager_port() of each */
};

/* The algorithm with which a manager re-routes; minhop for routes of a file. */
const char *replan_engine(const struct subnet *s);

struct lft_change {
	lid_t lid;
	uint8_t before, after; /* ports; LFT_NO_PORT: none */
};

/*
 * One block of one switch. It may have no changes: OpenSM writes the whole
 * table of a switch that is new to it or reports that a port changed.
 */
struct lft_write {
	switch_id sw;
	uint16_t block; /* LIDs 64 * block ... */
	uint32_t first; /* its changes, by LID */
	uint16_t n;
};

struct replan {
	struct topo topo;     /* what the manager sees; the rest is unplugged */
	struct subnet subnet; /* over that topology; not to be moved */
	/*
	 * In the order in which OpenSM sends them: the first block of all
	 * switches, by GUID, then the second, and so on.
	 */
	struct lft_write *writes;
	uint32_t n_writes;
	struct lft_change *changes;
	uint32_t n_changes;
	uint32_t n_new_cables; /* that `present` did not have */
	uint32_t n_lost_ports; /* with LIDs in `whole`, out of reach */
	bool kept;             /* what still worked was kept */
};

/*
 * A cable is down if either of its ports is marked. HD_ERR_UNFIT and why if
 * the engine does not take the fabric as it is now.
 */
HD_MUST_CHECK enum hd_status replan(const struct subnet *whole, const struct subnet *present,
				    const bool *down, const struct replan_options *o,
				    struct diag *d, struct replan *out);
void replan_fini(struct replan *r);

#endif
