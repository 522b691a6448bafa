/* SPDX-License-Identifier: BSD-2-Clause */
/* Small fabrics with a purpose: cables, examples of papers, routers. */
#include <stdio.h>

#include "topo/builder.h"

/* Two hosts, port n to port n. */
enum hd_status build_back_to_back(const struct topo_params *p, struct diag *d, struct topo *t)
{
	unsigned n = (unsigned)p->cables;

	(void)d;
	topo_add_node(t, NODE_CA, n, "h0");
	topo_add_node(t, NODE_CA, n, "h1");
	for (unsigned i = 1; i <= n; i++)
		build_cable(t, 0, i, 1, i);
	return HD_OK;
}

/* A host on the next free port of `sw`; *port is that port's number. */
static void host_on(struct topo *t, node_id sw, const char *name, unsigned *port)
{
	node_id host = topo_add_node(t, NODE_CA, 1, name);

	t->nodes[host].coord[0] = t->nodes[sw].coord[0];
	build_cable(t, host, 1, sw, (*port)++);
}

/* Hosts <prefix>1, <prefix>2, ...; just <prefix> if it is one of a kind. */
static void hosts_on(struct topo *t, node_id sw, const char *prefix, uint64_t n, unsigned *port)
{
	for (uint64_t i = 1; i <= n; i++) {
		char name[32];

		if (n == 1 && prefix[1] == 'v')
			snprintf(name, sizeof(name), "%s", prefix);
		else
			snprintf(name, sizeof(name), "%s%llu", prefix, (unsigned long long)i);
		host_on(t, sw, name, port);
	}
}

/*
 * The thesis' congestion scenario: remote flows A1.. -> Bc and victims Av ->
 * Bv share the one cable from A to B; local flows B1.. -> Bc do not.
 */
enum hd_status build_two_switch(const struct topo_params *p, struct diag *d, struct topo *t)
{
	uint64_t ports_a = 1 + p->remote + p->victims;
	uint64_t ports_b = 2 + p->local + p->victims;
	unsigned port_a = 2, port_b = 2;

	if (build_check_ports(ports_a, d) != HD_OK || build_check_ports(ports_b, d) != HD_OK)
		return d->status;
	node_id a = build_switch(t, (unsigned)ports_a, "A");
	node_id b = build_switch(t, (unsigned)ports_b, "B");

	t->n_dims = 1;
	t->dims[0] = 2;
	t->nodes[a].tier = t->nodes[b].tier = 1;
	t->nodes[b].coord[0] = 1;
	build_cable(t, a, 1, b, 1);
	hosts_on(t, a, "A", p->remote, &port_a);
	hosts_on(t, a, "Av", p->victims, &port_a);
	hosts_on(t, b, "B", p->local, &port_b);
	host_on(t, b, "Bc", &port_b);
	hosts_on(t, b, "Bv", p->victims, &port_b);
	return HD_OK;
}

/* Paper 003's Figure 1: N1 and N2 on S1, N3 and N4 on S2. */
enum hd_status build_blrm(const struct topo_params *p, struct diag *d, struct topo *t)
{
	unsigned port_1 = 2, port_2 = 2;
	node_id s1 = build_switch(t, 3, "S1"), s2 = build_switch(t, 3, "S2");

	(void)p;
	(void)d;
	t->n_dims = 1;
	t->dims[0] = 2;
	t->nodes[s1].tier = t->nodes[s2].tier = 1;
	t->nodes[s2].coord[0] = 1;
	build_cable(t, s1, 1, s2, 1);
	host_on(t, s1, "N1", &port_1);
	host_on(t, s1, "N2", &port_1);
	host_on(t, s2, "N3", &port_2);
	host_on(t, s2, "N4", &port_2);
	return HD_OK;
}

/*
 * Subnets of one switch each, in a row, neighbours joined by a router. Ports
 * of a switch: 1 to the router before it, 2 to the one after it, then hosts;
 * of a router: 1 to the lower subnet, 2 to the higher.
 */
enum hd_status build_routed(const struct topo_params *p, struct diag *d, struct topo *t)
{
	uint32_t n = (uint32_t)p->subnets, n_hosts = 0;
	uint64_t ports = 2 + build_host_ports(p);

	if (build_check_ports(ports, d) != HD_OK ||
	    build_check_size(p, 2 * n - 1, n * p->hosts, d) != HD_OK)
		return d->status;
	t->n_dims = 1;
	t->dims[0] = n;
	for (uint32_t i = 0; i < n; i++) {
		build_switch(t, (unsigned)ports, "s-%u", i);
		t->nodes[i].tier = 1;
		t->nodes[i].coord[0] = (uint16_t)i;
	}
	for (uint32_t i = 0; i + 1 < n; i++) {
		char name[32];

		snprintf(name, sizeof(name), "r-%u", i);
		node_id router = topo_add_node(t, NODE_ROUTER, 2, name);

		t->nodes[router].coord[0] = (uint16_t)i;
		build_cable(t, i, 2, router, 1);
		build_cable(t, i + 1, 1, router, 2);
	}
	for (uint32_t i = 0; i < n; i++)
		build_hosts(t, p, i, 3, &n_hosts);
	return HD_OK;
}
