/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_CHECK_PICTURE_H
#define HD_SUBNET_CHECK_PICTURE_H

/*
 * Tables from which a report page draws a fabric: positions of nodes, links and
 * their utilisation, and programmed tables. docs/report.md describes the use of
 * each table.
 */

#include "measure/results.h"
#include "subnet/routing/load.h"
#include "subnet/subnet.h"

/* One direction of a cable; used and waiting: fractions of time. */
struct picture_link {
	port_id from, to;
	struct hd_rate rate;
	double used, waiting;
};

/* Adds "layout" and "nodes". Nodes need no LIDs yet. */
void picture_nodes(const struct subnet *s, struct results *r);
/*
 * Adds the tables of picture_nodes and "links" with loads relative to the
 * busiest link: with traffic between all pairs, in the worst of `n` shifts, and
 * under `traffic`, if given.
 */
void picture_loads(const struct subnet *s, unsigned n, const struct load_traffic *traffic,
		   struct results *r);
/* Adds "links", numbered in the order of the array. */
void picture_links(const struct topo *topo, const struct picture_link *links, size_t n,
		   struct results *r);
/*
 * Adds "forwarding", "VL mapping", and the "arbitration" of the links'
 * transmitting ports. Very large forwarding tables are omitted with a remark.
 */
void picture_tables(const struct subnet *s, const struct picture_link *links, size_t n,
		    struct results *r);

/* Writes "leaf1:4", or "h7" for a node with a single port. */
void picture_port_name(const struct topo *t, port_id port, struct strbuf *out);

#endif
