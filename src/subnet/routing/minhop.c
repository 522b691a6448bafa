/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/routing/balance.h"
#include "subnet/routing/route.h"

/* A view is how far each switch is from the target. */

static void minhop_aim(const void *rule, switch_id target, void *view, switch_id *queue)
{
	graph_distances(rule, target, view, queue);
}

static unsigned minhop_ports(const void *rule, const void *view, switch_id at, uint8_t *out)
{
	const struct sw_graph *g = rule;
	const uint16_t *dist = view;
	unsigned n = 0;

	if (dist[at] == GRAPH_FAR)
		return 0;
	for (edge_id e = g->first[at]; e < g->first[at + 1]; e++) {
		if (dist[g->edges[e].to] + 1u == dist[at])
			out[n++] = g->edges[e].out;
	}
	return n;
}

static enum hd_status route_minhop(struct subnet *s, const struct sw_graph *g,
				   const struct route_options *o, struct diag *d)
{
	const struct route_rule rule = {
		.aim = minhop_aim,
		.ports = minhop_ports,
		.state = g,
		.view_size = g->n * sizeof(uint16_t),
		.keep = o->keep,
		.adaptive = o->adaptive,
	};

	(void)d;
	balance_routes(s, g, &rule);
	return HD_OK;
}

const struct route_engine engine_minhop = {
	.name = "minhop",
	.needs = "any fabric",
	.route = route_minhop,
};
