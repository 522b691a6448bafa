/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/alloc.h"
#include "fabric/fabric.h"

/* A switch is a node of the setup, as is each end port. */
static void add_nodes(struct fabric *fabric, node_id v)
{
	const struct topo_node *n = &fabric->topo.nodes[v];
	struct sim_setup *u = &fabric->setup;

	if (n->kind == NODE_SWITCH) {
		for (unsigned i = 0; i <= n->n_ports; i++)
			u->ports[n->first_port + i].node = u->n_nodes;
		u->nodes[u->n_nodes++] = (struct sim_node){
			.kind = SIM_SWITCH,
			.first_port = n->first_port,
			.n_ports = n->n_ports,
			.sw = fabric->subnet.switch_of_node[v],
			.node = v,
		};
		return;
	}
	for (unsigned i = 1; i <= n->n_ports; i++) {
		u->ports[n->first_port + i].node = u->n_nodes;
		u->nodes[u->n_nodes++] = (struct sim_node){ .kind = SIM_END,
							    .first_port = n->first_port + i - 1,
							    .n_ports = 1,
							    .node = v };
	}
}

struct fabric *fabric_unaddressed(const struct topo *t, const struct sim_switch_model *sw,
				  const struct sim_port *ports)
{
	struct fabric *fabric = hd_alloc(1, sizeof(*fabric));
	struct sim_setup *u = &fabric->setup;

	fabric->scenario = hd_alloc(1, sizeof(*fabric->scenario));
	topo_copy(t, &fabric->topo);
	subnet_init(&fabric->subnet, &fabric->topo);
	subnet_limit_vls(&fabric->subnet, 1);
	u->subnet = &fabric->subnet;
	u->sw = *sw;
	u->nodes = hd_alloc(t->n_ports, sizeof(*u->nodes));
	u->ports = hd_alloc(t->n_ports, sizeof(*u->ports));
	u->n_ports = t->n_ports;
	for (port_id p = 0; p < t->n_ports; p++) {
		u->ports[p] = ports[p];
		u->ports[p].peer = t->ports[p].peer;
		u->ports[p].origin = p;
		u->ports[p].vls = 1;
	}
	for (node_id v = 0; v < t->n_nodes; v++)
		add_nodes(fabric, v);
	return fabric;
}
