/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_TABLES_PORT_TABLES_H
#define HD_SUBNET_TABLES_PORT_TABLES_H

/*
 * VL arbitration tables and SL-to-VL maps of single ports, for a subnet whose
 * routing algorithm leaves VLs to SLs. Rows are sorted by node GUID and port
 * number, each pair once; VLs of a row are below `vls`.
 */

#include "base/diag.h"
#include "subnet/subnet.h"

struct port_table {
	uint64_t node; /* GUID */
	uint8_t port;
	unsigned line; /* of the file that has it */
	struct vlarb vlarb;
	struct sl2vl sl2vl; /* of packets that leave by the port, whatever port they came by */
};

struct port_tables {
	unsigned vls; /* data VLs that links have in operation at most */
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
 * Sets the tables of all ports that have a row, after subnet_limit_vls and
 * routing; other ports and rows are left out. The number of ports that were
 * set goes to `n`. HD_ERR_UNFIT if a port does not have the VLs of its row.
 */
HD_MUST_CHECK enum hd_status port_tables_apply(const struct port_tables *t, struct subnet *s,
					       struct diag *d, size_t *n);

/* HD_ERR_UNFIT if a port with a cable has no row, or a row no port. */
HD_MUST_CHECK enum hd_status port_tables_cover(const struct port_tables *t, const struct topo *topo,
					       struct diag *d);

#endif
