/* SPDX-License-Identifier: BSD-2-Clause */
#include "topo/names.h"

#include <inttypes.h>
#include <string.h>

node_id topo_namesake(const struct topo *t, node_id node)
{
	for (node_id v = 0; v < t->n_nodes; v++) {
		if (v != node && strcmp(t->nodes[v].name, t->nodes[node].name) == 0)
			return v;
	}
	return TOPO_NONE;
}

enum hd_status topo_refuse_name(const struct topo *t, node_id a, node_id b, struct diag *d)
{
	return diag_fail(d, HD_ERR_INPUT,
			 "'%.80s' is the name of 0x%016" PRIx64 " and 0x%016" PRIx64 ": say which",
			 t->nodes[a].name, t->nodes[a].guid, t->nodes[b].guid);
}
