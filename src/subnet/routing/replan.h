/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_REPLAN_H
#define HD_SUBNET_ROUTING_REPLAN_H

/*
 * Heavy sweep of a manager after cables went down or came back: discovers the
 * fabric, computes the tables, and writes the changed blocks of 64 LIDs.
 *
 *	bool *down = ...;            one flag per port of whole->topo
 *	struct replan now;
 *	if (replan(&whole, present, down, &o, &d, &now) == HD_OK)
 *		for each of now.writes: send the block to the switch
 *
 * `whole` is the fabric with every cable in place, its LIDs, and its VLs.
 * `present` has the tables in force and the cables that the manager knows:
 * `whole` itself at first, later the subnet of the last replan. All of them
 * have the same nodes, ports, switches and LIDs, and are read-only.
 *
 * Nodes that the manager cannot reach are lost: they have no LIDs, and no block
 * is written to them. LIDs of other nodes do not change.
 */

#include "subnet/routing/route.h"

enum replan_mode {
	/*
	 * As OpenSM: entries that still work are kept by algorithms that
	 * support it (minhop, updn); if there is a cable that the manager did
	 * not know, everything is routed from scratch.
	 */
	REPLAN_AS_OPENSM,
	REPLAN_FRESH, /* from scratch */
	REPLAN_KEEP,  /* entries that still work are kept, even if there are new cables */
};

extern const char *const replan_mode_names[]; /* ends with NULL */

struct replan_options {
	const char *engine;
	const struct route_options *route; /* may be NULL; `keep` is set here */
	enum replan_mode mode;
	port_id manager; /* TOPO_NONE: subnet_manager_port() of each subnet */
};

/* The routing algorithm of a manager's sweep; minhop for routes from a file. */
const char *replan_engine(const struct subnet *s);

struct lft_change {
	lid_t lid;
	uint8_t before, after; /* port numbers; LFT_NO_PORT: none */
};

/*
 * One block of one switch. It may have no changes: OpenSM writes the whole
 * table of a switch that is new or reports a port state change.
 */
struct lft_write {
	switch_id sw;
	uint16_t block; /* LIDs 64 * block ... */
	uint32_t first; /* index of its first change, by LID */
	uint16_t n;
};

struct replan {
	struct topo topo;     /* the discovered fabric; other cables are removed */
	struct subnet subnet; /* over that topology; must not be moved */
	/*
	 * In the order in which OpenSM sends them: the first block of all
	 * switches, by GUID, then the second block, etc.
	 */
	struct lft_write *writes;
	uint32_t n_writes;
	struct lft_change *changes;
	uint32_t n_changes;
	uint32_t n_new_cables; /* cables that `present` does not have */
	uint32_t n_lost_ports; /* ports with LIDs in `whole` that are unreachable */
	bool kept;             /* working entries were kept */
};

/*
 * A cable is down if either of its ports is marked. HD_ERR_UNFIT, with the
 * reason, if the routing algorithm rejects the present fabric.
 */
HD_MUST_CHECK enum hd_status replan(const struct subnet *whole, const struct subnet *present,
				    const bool *down, const struct replan_options *o,
				    struct diag *d, struct replan *out);
void replan_fini(struct replan *r);

#endif
