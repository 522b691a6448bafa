/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/route_traffic.h"

#include <stdlib.h>

#include "base/alloc.h"

/* End port of the host from which a flow's packets start. */
static port_id source_of(const struct fabric *fabric, const struct sim_flow *flow)
{
	const struct sim_node *n = &fabric->setup.nodes[flow->source];

	return fabric->setup.ports[n->first_port + 1].origin;
}

void route_traffic_init(struct load_traffic *t, const struct fabric *fabric)
{
	*t = (struct load_traffic){ .n = 0 };
	for (uint32_t i = 0; i < fabric->n_flows; i++) {
		const struct load_flow flow = {
			source_of(fabric, &fabric->flows[i]),
			fabric->flow_target[i],
		};

		if (flow.to == TOPO_NONE ||
		    fabric->topo.ports[flow.from].subnet != fabric->topo.ports[flow.to].subnet) {
			t->n_left++;
			continue;
		}
		t->list = hd_grow(t->list, &t->cap, t->n + 1, sizeof(*t->list));
		t->list[t->n++] = flow;
	}
}

void route_traffic_fini(struct load_traffic *t)
{
	free(t->list);
}
