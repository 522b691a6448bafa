/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_NAMES_H
#define HD_TOPO_NAMES_H

/*
 * Names of nodes need not be unique: many adapters of a site are called by
 * what they are. Who means one node by its name must know whether another has
 * it, and refuse with the GUIDs of both, by which they can be told apart.
 */

#include "topo/topo.h"

/* Another node of the same name, or TOPO_NONE. */
node_id topo_namesake(const struct topo *t, node_id node);
/* HD_ERR_INPUT: a name means both. */
HD_MUST_CHECK enum hd_status topo_refuse_name(const struct topo *t, node_id a, node_id b,
					      struct diag *d);

#endif
