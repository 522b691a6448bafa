/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_FABRIC_SETUP_FOR_TESTS_H
#define HD_FABRIC_SETUP_FOR_TESTS_H

/*
 * A setup of a whole generated fabric for tests and benchmarks: one rate, one propagation delay,
 * one buffer size. Sim nodes and ports are those of the topology.
 */

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "fabric/flow.h"
#include "fabric/setup.h"
#include "subnet/routing/route.h"
#include "topo/generate.h"

struct test_fabric {
	struct topo topo;
	struct subnet subnet;
	struct sim_setup setup;
	struct sim_address *ends; /* of every host, in node order */
	uint32_t *end_nodes;
	uint32_t n_ends;
};

struct test_links {
	struct hd_rate rate;
	hd_time propagation;
	uint32_t in_blocks, out_blocks;
	uint8_t vls;
};

/* The definition, to compare hd_rate_duration with. */
static inline hd_time exact_duration(struct hd_rate rate, uint64_t bytes)
{
	__extension__ typedef unsigned __int128 u128;
	u128 num = (u128)8000000000000u * bytes * rate.den;

	return (hd_time)((num + rate.num - 1) / rate.num);
}

static inline void test_must(enum hd_status status, const struct diag *d)
{
	if (status == HD_OK)
		return;
	fprintf(stderr, "%s\n", d->message);
	abort();
}

/* Fills the setup from a routed subnet and its links. */
static inline void test_fabric_setup(struct test_fabric *f, const struct test_links *links)
{
	struct topo *t = &f->topo;
	struct sim_setup *u = &f->setup;

	*u = (struct sim_setup){
		.subnet = &f->subnet,
		.nodes = hd_alloc(t->n_nodes, sizeof(*u->nodes)),
		.n_nodes = t->n_nodes,
		.ports = hd_alloc(t->n_ports, sizeof(*u->ports)),
		.n_ports = t->n_ports,
		.sw.speedup = { 1, 1 },
		.seed = 1,
	};
	f->ends = hd_alloc(t->n_nodes, sizeof(*f->ends));
	f->end_nodes = hd_alloc(t->n_nodes, sizeof(*f->end_nodes));
	f->n_ends = 0;
	for (node_id v = 0; v < t->n_nodes; v++) {
		const struct topo_node *n = &t->nodes[v];
		bool is_end = n->kind == NODE_CA;

		u->nodes[v] = (struct sim_node){
			.kind = is_end                   ? SIM_END
				: n->kind == NODE_SWITCH ? SIM_SWITCH
							 : SIM_ROUTER,
			.first_port = n->first_port,
			.n_ports = n->n_ports,
			.sw = f->subnet.switch_of_node[v],
			.node = v,
		};
		if (!is_end)
			continue;
		f->ends[f->n_ends] =
			(struct sim_address){ f->subnet.lid_of_port[n->first_port + 1], TOPO_NONE };
		f->end_nodes[f->n_ends++] = v;
	}
	for (port_id p = 0; p < t->n_ports; p++) {
		u->ports[p] = (struct sim_port){
			.node = t->ports[p].node,
			.peer = t->ports[p].peer,
			.origin = p,
			.rate = links->rate,
			.propagation = links->propagation,
			.in_blocks = links->in_blocks,
			.out_blocks = links->out_blocks,
			.vl15_blocks = links->in_blocks,
			.vls = links->vls,
		};
	}
}

/* `words` as for "heddle topo gen", the kind first; ended by NULL. */
static inline void test_fabric_init(struct test_fabric *f, const char *const *words,
				    const char *engine, const struct test_links *links)
{
	struct diag d = { .status = HD_OK };
	char *argv[16];
	int n = 0;

	while (words[n + 1]) {
		argv[n] = hd_strdup(words[n + 1]);
		n++;
	}
	char *kept[16];
	for (int i = 0; i < n; i++)
		kept[i] = argv[i];
	test_must(topo_generate_words(generator_find(words[0], &d), n, argv, 1, &d, &f->topo), &d);
	for (int i = 0; i < n; i++)
		free(kept[i]);
	subnet_init(&f->subnet, &f->topo);
	subnet_limit_vls(&f->subnet, links->vls);
	test_must(subnet_assign_lids(
			  &f->subnet,
			  &(struct lid_options){ .order = LIDS_NODES, .sm_port = TOPO_NONE }, &d),
		  &d);
	test_must(subnet_route(&f->subnet, engine, &(struct route_options){ 0 }, &d), &d);
	subnet_share(&f->subnet);
	test_fabric_setup(f, links);
}

static inline void test_fabric_fini(struct test_fabric *f)
{
	subnet_fini(&f->subnet);
	topo_fini(&f->topo);
	free(f->setup.nodes);
	free(f->setup.ports);
	free(f->ends);
	free(f->end_nodes);
}

#endif
