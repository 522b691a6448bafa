/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_FABRIC_FOR_TESTS_H
#define HD_SUBNET_ROUTING_FABRIC_FOR_TESTS_H

/* Small fabrics for tests, built by hand so that tests know every port. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "topo/generate.h"
#include "topo/topo.h"

#define SWITCH_GUID UINT64_C(0x200000)
#define HOST_GUID   UINT64_C(0x100000)

static inline node_id add_switch(struct topo *t, unsigned n_ports)
{
	char name[32];
	unsigned n = 0;

	for (node_id v = 0; v < t->n_nodes; v++)
		n += topo_is_switch(t, v);
	snprintf(name, sizeof(name), "switch%u", n);
	node_id v = topo_add_node(t, NODE_SWITCH, n_ports, name);

	t->nodes[v].guid = SWITCH_GUID + n;
	t->ports[t->nodes[v].first_port].guid = SWITCH_GUID + n;
	return v;
}

/* Adds a host with one port, cabled to port `number` of switch `sw`. */
static inline node_id add_host(struct topo *t, node_id sw, unsigned number)
{
	char name[32];
	unsigned n = 0;

	for (node_id v = 0; v < t->n_nodes; v++)
		n += t->nodes[v].kind == NODE_CA;
	snprintf(name, sizeof(name), "host%u", n);
	node_id v = topo_add_node(t, NODE_CA, 1, name);

	t->nodes[v].guid = HOST_GUID + 2 * n;
	t->ports[topo_port_of(t, v, 1)].guid = HOST_GUID + 2 * n + 1;
	topo_link(t, topo_port_of(t, v, 1), topo_port_of(t, sw, number));
	return v;
}

static inline void join(struct topo *t, node_id a, unsigned pa, node_id b, unsigned pb)
{
	topo_link(t, topo_port_of(t, a, pa), topo_port_of(t, b, pb));
}

/*
 * Builds a grid with `n_hosts` hosts per switch (on ports 2 * n_dims + 1 ...).
 * Port 2k + 1 leads up in dimension k, port 2k + 2 down. Switch numbers count
 * dimension 0 fastest.
 */
static inline void build_grid(struct topo *t, enum topo_family family, unsigned n_dims,
			      const uint32_t *dims, unsigned n_hosts)
{
	bool rings = family == FAMILY_TORUS || family == FAMILY_RING;
	uint32_t n = 1, stride = 1;

	topo_init(t);
	t->family = family;
	t->n_dims = n_dims;
	for (unsigned k = 0; k < n_dims; k++) {
		t->dims[k] = dims[k];
		n *= dims[k];
	}
	for (uint32_t i = 0; i < n; i++) {
		node_id v = add_switch(t, 2 * n_dims + n_hosts);
		uint32_t rest = i;

		for (unsigned k = 0; k < n_dims; k++) {
			t->nodes[v].coord[k] = (uint16_t)(rest % dims[k]);
			rest /= dims[k];
		}
	}
	for (unsigned k = 0; k < n_dims; k++, stride *= dims[k - 1]) {
		for (uint32_t i = 0; i < n; i++) {
			uint32_t at = t->nodes[i].coord[k];
			bool last = at + 1 == dims[k];

			if (last && (!rings || dims[k] < 3))
				continue;
			join(t, i, 2 * k + 1, last ? i - stride * (dims[k] - 1) : i + stride,
			     2 * k + 2);
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		for (unsigned h = 1; h <= n_hosts; h++)
			add_host(t, i, 2 * n_dims + h);
	}
}

/* Builds a random connected graph of n switches with one host each on port 1. */
static inline void build_random(struct topo *t, uint64_t seed, uint32_t n, uint32_t extra)
{
	struct rng r;
	unsigned *used;

	rng_init(&r, seed, 0);
	topo_init(t);
	t->family = FAMILY_IRREGULAR;
	used = calloc(n, sizeof(*used));
	for (uint32_t i = 0; i < n; i++) {
		add_switch(t, 60);
		used[i] = 1;
	}
	for (uint32_t i = 1; i < n + extra; i++) {
		uint32_t a = i < n ? i : (uint32_t)rng_below(&r, n);
		uint32_t b = (uint32_t)rng_below(&r, i < n ? i : n);

		if (a != b && used[a] < 60 && used[b] < 60)
			join(t, a, ++used[a], b, ++used[b]);
	}
	for (uint32_t i = 0; i < n; i++)
		add_host(t, i, 1);
	free(used);
}

/* Builds a random tree of n switches: port 1 leads up, the last port has a host. */
static inline void build_tree(struct topo *t, struct rng *r, unsigned n, unsigned n_ports)
{
	topo_init(t);
	for (unsigned i = 0; i < n; i++)
		add_switch(t, n_ports);
	for (unsigned i = 1; i < n; i++)
		join(t, i, 1, (node_id)rng_below(r, i), 1 + i);
	for (unsigned i = 0; i < n; i++)
		add_host(t, i, n_ports);
	topo_number_subnets(t);
}

/* The port of the i-th host, from 0. */
static inline port_id host_port(const struct topo *t, unsigned i)
{
	unsigned n = 0;

	for (node_id v = 0; v < t->n_nodes; v++)
		if (t->nodes[v].kind == NODE_CA && n++ == i)
			return topo_port_of(t, v, 1);
	return TOPO_NONE;
}

/* Builds a fabric from command-line words: "mesh --columns=4 --rows=3". */
static inline void generate(struct topo *t, const char *words)
{
	struct diag d = { .status = HD_OK };
	char copy[256], *argv[32], *save = NULL;
	int argc = 0;

	snprintf(copy, sizeof(copy), "%s", words);
	const char *kind = strtok_r(copy, " ", &save);

	while (argc < 32 && (argv[argc] = strtok_r(NULL, " ", &save)))
		argc++;
	const struct generator *g = generator_find(kind, &d);

	if (!g || topo_generate_words(g, argc, argv, 1, &d, t) != HD_OK) {
		fprintf(stderr, "%s: %s\n", words, d.message);
		abort();
	}
}

/* Converts a fabric to what a file would give: nodes in random order, no family. */
static inline void shuffle(struct topo *t, uint64_t seed)
{
	struct topo copy;
	struct rng r;
	uint32_t *order = calloc(t->n_nodes, sizeof(*order));
	port_id *moved = calloc(t->n_ports, sizeof(*moved));

	for (uint32_t i = 0; i < t->n_nodes; i++)
		order[i] = i;
	rng_init(&r, seed, 99);
	rng_shuffle(&r, order, t->n_nodes);
	topo_init(&copy);
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		const struct topo_node *v = &t->nodes[order[i]];
		node_id id = topo_add_node(&copy, v->kind, v->n_ports, v->name);

		copy.nodes[id].guid = v->guid;
		copy.nodes[id].system_guid = v->system_guid;
		copy.nodes[id].enhanced_port0 = v->enhanced_port0;
		copy.nodes[id].line = v->line;
		for (unsigned n = 0; n <= v->n_ports; n++) {
			port_id p = copy.nodes[id].first_port + n;

			moved[v->first_port + n] = p;
			copy.ports[p] = t->ports[v->first_port + n];
			copy.ports[p].node = id;
			copy.ports[p].peer = TOPO_NONE;
		}
	}
	for (port_id p = 0; p < t->n_ports; p++) {
		port_id peer = t->ports[p].peer;

		if (peer != TOPO_NONE && p < peer)
			topo_link(&copy, moved[p], moved[peer]);
	}
	copy.source.from_node = t->source.from_node;
	copy.source.from_port = t->source.from_port;
	copy.n_subnets = t->n_subnets;
	free(order);
	free(moved);
	topo_fini(t);
	*t = copy;
}

#endif
