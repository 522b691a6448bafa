/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/opensm/opensm.h"

/*
 * Programs a whole subnet. An external switch port has one map per input port. Port 0 is programmed
 * if it is enhanced: packets from outside are mapped as on external ports, and its own tables are
 * those of qos_sw0_. Adapters and routers have one map for the packets that they send.
 */

struct opensm_program_state {
	const struct opensm_conf *conf;
	struct subnet *subnet;
	unsigned entries;
};

static struct opensm_tables tables_of(const struct opensm_program_state *p, enum opensm_scope scope,
				      port_id port)
{
	const struct opensm_port at = { .scope = scope,
					.vls = p->subnet->vls_of_port[port],
					.low_cap = p->entries,
					.high_cap = p->entries };
	struct opensm_tables t;

	opensm_effective(p->conf, &at, &t);
	return t;
}

static void program_end(const struct opensm_program_state *p, enum opensm_scope scope, port_id port)
{
	struct opensm_tables t = tables_of(p, scope, port);

	subnet_set_vlarb(p->subnet, port, &t.vlarb);
	subnet_set_port_sl2vl(p->subnet, port, &t.sl2vl);
}

static void program_switch(const struct opensm_program_state *p, switch_id sw)
{
	const struct topo *topo = p->subnet->topo;
	node_id node = p->subnet->node_of_switch[sw];
	unsigned n = topo->nodes[node].n_ports;

	for (unsigned out = !topo->nodes[node].enhanced_port0; out <= n; out++) {
		port_id port = topo_port_of(topo, node, out);

		if (!p->subnet->vls_of_port[port])
			continue;
		struct opensm_tables t = tables_of(p, OPENSM_SWE, port);

		subnet_set_vlarb(p->subnet, port, &t.vlarb);
		for (unsigned in = 0; in <= n; in++)
			subnet_set_sl2vl(p->subnet, sw, in, out, &t.sl2vl);
	}
	if (topo->nodes[node].enhanced_port0) {
		port_id own = topo_port_of(topo, node, 0);
		struct opensm_tables t = tables_of(p, OPENSM_SW0, own);

		program_end(p, OPENSM_SW0, own);
		subnet_set_sl2vl(p->subnet, sw, 0, 0, &t.sl2vl);
	}
}

void opensm_program(const struct opensm_conf *conf, unsigned entries, struct subnet *s)
{
	const struct opensm_program_state p = { conf, s, entries };
	const struct topo *t = s->topo;

	if (!conf->qos)
		return;
	for (switch_id sw = 0; sw < s->n_switches; sw++)
		program_switch(&p, sw);
	for (port_id port = 0; port < t->n_ports; port++) {
		node_id node = t->ports[port].node;

		if (!topo_is_switch(t, node) && s->vls_of_port[port])
			program_end(&p,
				    t->nodes[node].kind == NODE_ROUTER ? OPENSM_ROUTER : OPENSM_CA,
				    port);
	}
}
