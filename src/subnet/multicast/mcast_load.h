/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_MULTICAST_MCAST_LOAD_H
#define HD_SUBNET_MULTICAST_MCAST_LOAD_H

/*
 * Number of messages on each cable when senders of groups send one message
 * each: along the trees, or by unicast with one copy per member. The counts
 * follow the forwarding tables, so they equal those of real packets.
 */

#include "subnet/multicast/mcast.h"

struct mcast_load {
	const struct subnet *s;
	uint64_t *sent;     /* per port of a switch, towards its cable */
	uint64_t *injected; /* per end port */
	uint64_t *ejected;  /* per end port */
	uint16_t *hops;     /* scratch of the last walk: per end port, cables
			     * between switches on the way; GRAPH_FAR */
};

void mcast_load_init(struct mcast_load *l, const struct subnet *s);
void mcast_load_fini(struct mcast_load *l);
void mcast_load_clear(struct mcast_load *l);

/* Counts the source's unicast copy to a member; false if the tables do not lead there. */
bool mcast_load_unicast(struct mcast_load *l, port_id source, port_id member);
/*
 * Counts one message of the sender to an MLID of its subnet; false if it
 * circulates forever (the counts are then invalid).
 */
bool mcast_load_tree(struct mcast_load *l, port_id sender, lid_t mlid);

struct mcast_peak {
	uint64_t link;      /* maximum over cables between switches */
	uint64_t injection; /* maximum over end ports */
	uint64_t ejection;  /* maximum over end ports */
	uint64_t total;     /* sum over cables between switches */
	port_id link_at;    /* the first port with the maximum; or TOPO_NONE */
};
struct mcast_peak mcast_load_peak(const struct mcast_load *l);

#endif
