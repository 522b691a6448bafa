/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "base/alloc.h"
#include "subnet/balance.h"
#include "subnet/route.h"

struct minhop {
	const struct sw_graph *g;
	uint16_t *dist;
	switch_id *queue;
};

static void minhop_aim(void *rule, switch_id target)
{
	struct minhop *m = rule;

	graph_distances(m->g, target, m->dist, m->queue);
}

static unsigned minhop_ports(void *rule, switch_id at, uint8_t *out)
{
	const struct minhop *m = rule;
	const struct sw_graph *g = m->g;
	unsigned n = 0;

	if (m->dist[at] == GRAPH_FAR)
		return 0;
	for (edge_id e = g->first[at]; e < g->first[at + 1]; e++) {
		if (m->dist[g->edges[e].to] + 1u == m->dist[at])
			out[n++] = g->edges[e].out;
	}
	return n;
}

enum hd_status route_minhop(struct subnet *s, const struct sw_graph *g,
			    const struct route_options *o, struct diag *d)
{
	struct minhop m = {
		.g = g,
		.dist = hd_alloc(g->n, sizeof(*m.dist)),
		.queue = hd_alloc(g->n, sizeof(*m.queue)),
	};
	struct route_rule rule = { minhop_aim, minhop_ports, &m, false,
				   o->keep };

	(void)d;
	balance_routes(s, g, &rule);
	free(m.dist);
	free(m.queue);
	return HD_OK;
}
