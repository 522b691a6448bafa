/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_MCAST_H
#define HD_SUBNET_MCAST_H

/*
 * Multicast groups and their trees.
 *
 * A switch sends a packet for an MLID from every port of its set except the
 * one the packet came in by. Since a table knows only the MLID, a tree either
 * serves one source (its union of paths is right for that source only) or is a
 * spanning tree of the group, which serves any sender on it.
 */

#include "subnet/subnet.h"

enum mcast_method {
	MCAST_XY,       /* union of the XY paths from one source */
	MCAST_SHARED,   /* one spanning tree per group, as OpenSM builds it */
	MCAST_SHORTEST, /* shortest-path tree from one source, any topology */
	MCAST_UNION,    /* union of the unicast paths from one source */
};

struct mcast_group {
	enum mcast_method method;
	lid_t mlid;
	uint16_t subnet;
	port_id source;   /* TOPO_NONE: any member may send */
	port_id *members; /* end ports, the source too if it listens */
	uint32_t n_members;
	switch_id root; /* of a shared tree; TOPO_NONE otherwise */
};

/* Forgets all groups and their tables. */
void mcast_clear(struct subnet *s);

#endif
