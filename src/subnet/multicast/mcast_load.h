/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_MULTICAST_MCAST_LOAD_H
#define HD_SUBNET_MULTICAST_MCAST_LOAD_H

/*
 * How many messages each cable carries when senders of groups send one each:
 * along the trees, or as one copy per member by unicast. Counted by following
 * the tables, so it is what packets will do.
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

/* The source's copy to a member; false if the tables do not lead there. */
bool mcast_load_unicast(struct mcast_load *l, port_id source, port_id member);
/*
 * One message of the sender to an MLID of its subnet; false if it goes round
 * for ever (what was counted up to there is no use then).
 */
bool mcast_load_tree(struct mcast_load *l, port_id sender, lid_t mlid);

struct mcast_peak {
	uint64_t link;      /* most on a cable between switches */
	uint64_t injection; /* most of one end port */
	uint64_t ejection;  /* most to one end port */
	uint64_t total;     /* on all cables between switches */
	port_id link_at;    /* the first that has the most; or TOPO_NONE */
};
struct mcast_peak mcast_load_peak(const struct mcast_load *l);

#endif
