/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_NAMES_H
#define HD_TOPO_NAMES_H

/*
 * Node names need not be unique: many adapters of a site have their product's
 * name. A caller that selects a node by name rejects a name that two nodes
 * have; the error has both GUIDs.
 */

#include "topo/topo.h"

/* Another node with the same name, or TOPO_NONE. */
node_id topo_namesake(const struct topo *t, node_id node);
/* Reports that a name matches both nodes, and returns HD_ERR_INPUT. */
HD_MUST_CHECK enum hd_status topo_refuse_name(const struct topo *t, node_id a, node_id b,
					      struct diag *d);

#endif
