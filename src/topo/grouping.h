/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_GROUPING_H
#define HD_TOPO_GROUPING_H

/*
 * Which nodes share a chassis: as a file of ibnetdiscover -g said, or, for a
 * fabric that none told of, as ibnetdiscover would find out. Nodes of one
 * system image GUID make a chassis if there are several; switches whose
 * description has the form "MF0;system:type/L01/U1" (Mellanox IS4) have a slot
 * in it. Voltaire's chassis, which ibnetdiscover knows chip by chip, and
 * Xsigo's are not found out.
 */

#include "topo/topo.h"

struct grouping {
	const struct topo_place **place; /* [node]; NULL for none */
	const struct topo_chassis *chassis;
	uint32_t n_chassis;
	uint8_t *external; /* [port]: number on the chassis' front, or 0 */
	node_id *order;    /* nodes as they stand within their chassis */
	uint32_t n_order;
	/* What was found out, and so is ours. */
	struct topo_place *found_places;
	struct topo_chassis *found_chassis;
};

/* `file_order` are the nodes as a file has them; see topo_file_order. */
void grouping_init(struct grouping *g, const struct topo *t, const node_id *file_order);
void grouping_fini(struct grouping *g, const struct topo *t);

#endif
