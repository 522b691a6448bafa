/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_CHECK_PICTURE_H
#define HD_SUBNET_CHECK_PICTURE_H

/*
 * A fabric for a page that draws it: where its nodes are, its links and how
 * busy they are, and what was programmed. docs/report.md says which table
 * becomes what.
 */

#include "measure/results.h"
#include "subnet/routing/load.h"
#include "subnet/subnet.h"

/* One direction of a cable; used and waiting: shares of the time. */
struct picture_link {
	port_id from, to;
	struct hd_rate rate;
	double used, waiting;
};

/* "layout" and "nodes". Nodes need no LIDs yet. */
void picture_nodes(const struct subnet *s, struct results *r);
/*
 * The same and "links", with what tables make of them: how much of the busiest
 * link's load each has if every pair sends, in the worst of `n` shifts, and by
 * the traffic, if there is some.
 */
void picture_loads(const struct subnet *s, unsigned n, const struct load_traffic *traffic,
		   struct results *r);
/* "links", numbered as they are given. */
void picture_links(const struct topo *topo, const struct picture_link *links, size_t n,
		   struct results *r);
/*
 * "forwarding", "VL mapping", and the "arbitration" of where links leave.
 * Forwarding tables that would be huge are left out with a remark.
 */
void picture_tables(const struct subnet *s, const struct picture_link *links, size_t n,
		    struct results *r);

/* "leaf1:4", or "h7" where there is only one port. */
void picture_port_name(const struct topo *t, port_id port, struct strbuf *out);

#endif
