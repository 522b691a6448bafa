/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reserved multicast with reserved unicast and greedy best effort: no
 * member ever waits longer than the bound of its way through the tree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/fabric.h"
#include "qos/admission/tree_for_tests.h"
#include "sim/sim.h"
#include "subnet/multicast/mcast.h"

#define HOSTS 16
#define PS    1e-12

static const char scenario_text[] =
	"fabric:\n"
	"  topology: {kind: mesh, columns: 4, rows: 2, hosts: 2}\n"
	"  link: {rate: 8Gb/s, propagation: 5ns}\n"
	"  switch: {order: voq, arbitration: oldest, routing_delay: 90ns, arbitration_delay: 5ns, input_buffer: 16 packets}\n"
	"  packet: {overhead: 66}\n"
	"  routing: xy\n"
	"  groups: [{name: g, members: all, tree: xy}]\n"
	"qos:\n"
	"  vls: 2\n"
	"  classes:\n"
	"  - {name: reserved, sl: 1, vl: 1, priority: high, weight: 255}\n"
	"  - {name: rest, sl: 0, vl: 0, weight: 64}\n"
	"  high_limit: 255\n"
	"traffic:\n"
	"- {name: m, kind: cbr, pattern: group, group: g, source: h0, class: reserved, payload: 1000, rate: 400Mb/s}\n"
	"- {name: n, kind: cbr, pattern: group, group: g, source: h9, class: reserved, payload: 1000, rate: 500Mb/s}\n"
	"- {name: u, kind: cbr, pattern: permutation, class: reserved, payload: 1000, rate: 600Mb/s}\n"
	"- {name: b, kind: saturating, class: rest, payload: 2000}\n"
	"run: {warmup: 0s, measure: 2ms}\n";

struct watch {
	const struct fabric *fabric;
	hd_time most[64][HOSTS]; /* [flow][host] */
};

static uint32_t host_number(const struct fabric *fabric, uint32_t node)
{
	const struct selection *hosts = selector_hosts(fabric->selector);
	port_id p = fabric->setup.ports[fabric->setup.nodes[node].first_port + 1].origin;
	uint32_t i = 0;

	while (hosts->ports[i] != p)
		i++;
	return i;
}

static void on_delivery(void *context, hd_time now, uint32_t node, const struct sim_packet *p)
{
	struct watch *w = context;
	hd_time *most = &w->most[p->flow][host_number(w->fabric, node)];

	if (now - p->born > *most)
		*most = now - p->born;
}

/* Bounds of all reserved flows; those of a group are one per member. */
struct bounds {
	struct bound_flow flows[64];
	struct path paths[64];
	uint32_t sim_flow[64], host[64];
	uint32_t n;
};

static void add_group(struct bounds *x, const struct fabric *fabric, uint32_t i,
		      const struct bound_flow *like)
{
	const struct selection *hosts = selector_hosts(fabric->selector);
	const struct sim_flow *f = &fabric->flows[i];
	port_id source = fabric->setup.ports[fabric->setup.nodes[f->source].first_port + 1].origin;
	port_id members[HOSTS];
	uint32_t n = 0;
	struct tree_path tree;

	for (uint32_t k = 0; k < hosts->n; k++) {
		if (hosts->ports[k] == source)
			continue;
		x->host[x->n + n] = k;
		x->sim_flow[x->n + n] = i;
		members[n++] = hosts->ports[k];
	}
	assert_int_equal(tree_walk(&fabric->subnet, source, f->to.list[0].dlid, f->sl, &tree),
			 HD_OK);
	struct tree_flow group = { .tree = &tree,
				   .subnet = &fabric->subnet,
				   .like = *like,
				   .members = members,
				   .n_members = n,
				   .first = x->n };

	assert_int_equal(tree_flows(&group, &x->paths[x->n], &x->flows[x->n]), HD_OK);
	tree_path_fini(&tree);
	x->n += n;
}

static void add_unicast(struct bounds *x, const struct fabric *fabric, uint32_t i,
			const struct bound_flow *like)
{
	const struct selection *hosts = selector_hosts(fabric->selector);
	const struct sim_flow *f = &fabric->flows[i];
	port_id source = fabric->setup.ports[fabric->setup.nodes[f->source].first_port + 1].origin;
	uint32_t k = 0;

	while (hosts->ports[k] != fabric->flow_target[i])
		k++;
	assert_int_equal(
		path_walk(&fabric->subnet, source, f->to.list[0].dlid, f->sl, &x->paths[x->n]),
		HD_OK);
	x->flows[x->n] = *like;
	x->flows[x->n].path = x->paths[x->n].port;
	x->flows[x->n].n_hops = x->paths[x->n].n_hops;
	x->host[x->n] = k;
	x->sim_flow[x->n++] = i;
}

static void list_flows(struct bounds *x, const struct fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->n_flows; i++) {
		const struct sim_flow *f = &fabric->flows[i];
		struct bound_flow like = {
			.class = CLASS_DBTS,
			.burst = f->bytes,
			.period = (double)f->interval.num / (double)f->interval.den * PS,
		};

		if (f->kind != SIM_CBR)
			continue;
		if (f->to.list[0].dlid >= LID_FIRST_MCAST)
			add_group(x, fabric, i, &like);
		else
			add_unicast(x, fabric, i, &like);
	}
}

static struct bound_port *list_ports(const struct fabric *fabric)
{
	struct bound_port *ports = calloc(fabric->topo.n_ports, sizeof(*ports));

	for (port_id p = 0; p < fabric->topo.n_ports; p++) {
		bool sw = topo_is_switch(&fabric->topo, fabric->topo.ports[p].node);

		ports[p] = (struct bound_port){
			.rate = 1e9,
			.max_packet = 2066,
			.fixed = sw ? 100e-9 : 5e-9,
			.high_limit = HIGH_LIMIT_NONE,
		};
	}
	return ports;
}

static void no_member_waits_longer_than_its_bound(void **state)
{
	static struct fabric *fabric;
	static struct watch w;
	static struct bounds x;
	static double delay[64 * PATH_MAX_HOPS];
	struct diag d = { .status = HD_OK };
	uint32_t at = 0, seen = 0;
	double closest = 0;

	(void)state;
	if (fabric_load(scenario_text, strlen(scenario_text), "test", NULL, &d, &fabric) != HD_OK)
		fail_msg("%u:%u: %s", d.line, d.column, d.message);
	w.fabric = fabric;
	struct sim *s = sim_new(&fabric->setup, fabric->flows, fabric->n_flows, &fabric->rules);
	struct sim_observer observer = { .context = &w, .delivered = on_delivery };

	sim_observe(s, &observer);
	sim_run(s, HD_TIME_NEVER, NULL, NULL);
	sim_free(s);
	list_flows(&x, fabric);
	assert_int_equal(x.n, 15 + 15 + 16);
	struct bound_port *ports = list_ports(fabric);
	struct bound_network network = { ports, fabric->topo.n_ports, x.flows, x.n, false };

	if (bound_delays(BOUND_GROUPED, &network, &d, delay) != HD_OK)
		fail_msg("%s", d.message);
	for (uint32_t i = 0; i < x.n; i++) {
		hd_time most = w.most[x.sim_flow[i]][x.host[i]];
		double bound = 0;

		for (uint32_t h = 0; h < x.flows[i].n_hops; h++)
			bound += delay[at++];
		seen += most > 0;
		if ((double)most * PS / bound > closest)
			closest = (double)most * PS / bound;
		if ((double)most * PS > bound)
			fail_msg("flow %u to host %u: %g s, bound %g s", x.sim_flow[i], x.host[i],
				 (double)most * PS, bound);
	}
	assert_int_equal(seen, x.n); /* all were delivered */
	assert_true(closest > 0.5);  /* and the bound means something */
	free(ports);
	fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_member_waits_longer_than_its_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
