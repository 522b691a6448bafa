/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_NAMES_H
#define HD_TOPO_NAMES_H

/*
 * Names of nodes need not be unique: many adapters of a site carry the name of
 * their product. A caller that selects a node by name refuses a name that two
 * nodes have, and the message gives both GUIDs.
 */

#include "topo/topo.h"

/* Another node of the same name, or TOPO_NONE. */
node_id topo_namesake(const struct topo *t, node_id node);
/* HD_ERR_INPUT: a name means both. */
HD_MUST_CHECK enum hd_status topo_refuse_name(const struct topo *t, node_id a, node_id b,
					      struct diag *d);

#endif
