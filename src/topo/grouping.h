/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_GROUPING_H
#define HD_TOPO_GROUPING_H

/*
 * Grouping of nodes by chassis. The source is a file of ibnetdiscover -g or,
 * for other fabrics, the rules of ibnetdiscover: several nodes with the same
 * system image GUID form a chassis, and switches whose description has the form
 * "MF0;system:type/L01/U1" (Mellanox IS4) have a slot in it. Chassis of
 * Voltaire, which ibnetdiscover recognises chip by chip, and of Xsigo are not
 * recognised.
 */

#include "topo/topo.h"

struct grouping {
	const struct topo_place **place; /* [node]; NULL for none */
	const struct topo_chassis *chassis;
	uint32_t n_chassis;
	uint8_t *external; /* [port]: number on the chassis' front, or 0 */
	node_id *order;    /* nodes in the order of their chassis */
	uint32_t n_order;
	/* Derived places, owned by the grouping. */
	struct topo_place *found_places;
	struct topo_chassis *found_chassis;
};

/* `file_order`: the nodes in the order of a file; see topo_file_order. */
void grouping_init(struct grouping *g, const struct topo *t, const node_id *file_order);
void grouping_fini(struct grouping *g, const struct topo *t);

#endif
