/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/route/traffic.h"

#include <stdlib.h>

#include "base/alloc.h"

/* Where its packets leave their host. */
static port_id source_of(const struct fabric *f, const struct sim_flow *flow)
{
	const struct sim_node *n = &f->setup.nodes[flow->source];

	return f->setup.ports[n->first_port + 1].origin;
}

void route_traffic_init(struct load_traffic *t, const struct fabric *f)
{
	*t = (struct load_traffic){ .n = 0 };
	for (uint32_t i = 0; i < f->n_flows; i++) {
		const struct load_flow flow = {
			source_of(f, &f->flows[i]),
			f->flow_target[i],
		};

		if (flow.to == TOPO_NONE ||
		    f->topo.ports[flow.from].subnet != f->topo.ports[flow.to].subnet) {
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
