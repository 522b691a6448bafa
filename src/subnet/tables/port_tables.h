/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_TABLES_PORT_TABLES_H
#define HD_SUBNET_TABLES_PORT_TABLES_H

/*
 * VL arbitration tables and SL-to-VL maps of single ports, for a subnet whose
 * routing algorithm does not assign VLs. Rows are sorted by node GUID and port
 * number, each pair once; VLs of a row are below `vls`.
 */

#include "base/diag.h"
#include "subnet/subnet.h"

struct port_table {
	uint64_t node; /* GUID */
	uint8_t port;
	unsigned line; /* line in the file */
	struct vlarb vlarb;
	struct sl2vl sl2vl; /* for packets that leave by the port, from any input port */
};

struct port_tables {
	unsigned vls; /* maximum number of operational data VLs of a link */
	struct port_table *rows;
	size_t n, cap;
};

void port_tables_fini(struct port_tables *t);

/* The row of a port; NULL if it has none. */
const struct port_table *port_tables_find(const struct port_tables *t, uint64_t node,
					  unsigned port);
const struct port_table *port_tables_of(const struct port_tables *t, const struct topo *topo,
					port_id p);

/* HD_ERR_UNFIT if the routing algorithm of the subnet chooses VLs itself. */
HD_MUST_CHECK enum hd_status port_tables_allowed(const struct subnet *s, struct diag *d);

/*
 * Sets the tables of all ports with a row; call it after subnet_limit_vls and
 * routing. Other ports and rows are ignored. *n is the number of ports that
 * were set. HD_ERR_UNFIT if a port does not have the VLs of its row.
 */
HD_MUST_CHECK enum hd_status port_tables_apply(const struct port_tables *t, struct subnet *s,
					       struct diag *d, size_t *n);

/* HD_ERR_UNFIT if a cabled port has no row, or a row has no port. */
HD_MUST_CHECK enum hd_status port_tables_cover(const struct port_tables *t, const struct topo *topo,
					       struct diag *d);

#endif
