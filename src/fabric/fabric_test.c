/* SPDX-License-Identifier: BSD-2-Clause */
/* Topology, VLs, faults and rules of a scenario become a fabric. */
#include "fabric/build_for_tests.h"
#include "fabric/fabric_internal.h"
#include "subnet/routing/adaptive.h"

/* Nodes have their ports one after the other; ends have one, plugged in. */
static uint32_t check_nodes(const struct fabric *fabric)
{
	uint32_t ends = 0, n = 0;

	for (uint32_t v = 0; v < fabric->setup.n_nodes; v++) {
		const struct sim_node *node = &fabric->setup.nodes[v];

		assert_int_equal(node->first_port, n);
		n += node->n_ports + 1;
		if (node->kind != SIM_END)
			continue;
		ends++;
		assert_int_equal(node->n_ports, 1);
		assert_int_not_equal(fabric->setup.ports[node->first_port + 1].peer, SIM_NONE);
	}
	assert_int_equal(n, fabric->setup.n_ports);
	return ends;
}

static void check_port(const struct fabric *fabric, uint32_t p)
{
	const struct sim_port *port = &fabric->setup.ports[p];
	const struct sim_port *peer = &fabric->setup.ports[port->peer];

	assert_int_equal(peer->peer, p);
	assert_int_equal(hd_rate_compare(port->rate, peer->rate), 0);
	assert_true(port->propagation >= 1);
	assert_true(port->in_blocks >= 33); /* 2074 B */
	assert_in_range(port->vls, 1, 15);
}

static void every_cable_has_two_ends(void **state)
{
	static const char *const texts[] = {
		MESH ANY,
		SMALL ANY,
		"fabric: {topology: {kind: node-mesh, columns: 3, rows: 2}, routing: xy}\n" ANY,
		"fabric: {topology: {kind: star, hosts: 3, host_ports: 2}}\n" ANY,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct fabric *fabric;

		must_build(texts[i], &fabric);
		assert_int_equal(check_nodes(fabric), selector_hosts(fabric->selector)->n);
		for (uint32_t p = 0; p < fabric->setup.n_ports; p++) {
			if (fabric->setup.ports[p].peer != SIM_NONE)
				check_port(fabric, p);
		}
		fabric_free(fabric);
	}
}

static void links_run_at_what_the_scenario_says(void **state)
{
	struct fabric *fabric;
	struct hd_rate sdr = hd_rate_of_link(1, SPEED_SDR);

	(void)state;
	must_build("fabric:\n"
		   "  topology: {kind: star, hosts: 4, link: 4x EDR}\n"
		   "  links:\n"
		   "  - {ports: h1, rate: 1x SDR, propagation: 1us, ber: 1e-9}\n"
		   "  switch: {input_buffer: 8KiB, routing_delay: 1ns}\n" ANY,
		   &fabric);
	const struct selection *hosts = selector_hosts(fabric->selector);
	const struct sim_port *h0 = &fabric->setup.ports[fabric->port_of_origin[hosts->ports[0]]];
	const struct sim_port *h1 = &fabric->setup.ports[fabric->port_of_origin[hosts->ports[1]]];

	assert_true(h0->rate.num == UINT64_C(100000000000));
	assert_int_equal(hd_rate_compare(h1->rate, sdr), 0);
	assert_int_equal(hd_rate_compare(fabric->setup.ports[h1->peer].rate, sdr), 0);
	assert_true(h1->propagation == HD_US);
	assert_true(h1->ber == 1e-9);
	assert_true(fabric->setup.ports[h1->peer].ber == 0); /* one way only */
	assert_true(h0->ber == 0 && h0->propagation == 5 * HD_NS);
	assert_int_equal(fabric->setup.ports[h1->peer].in_blocks, 128);
	assert_int_equal(h1->in_blocks, 4 * (4096 / 64 + 2)); /* T1 */
	assert_true(fabric->setup.sw.routing == HD_NS);
	fabric_free(fabric);
}

/* The cables of a bare fabric are those of the simulation. */
static void cables_are_those_of_the_setup(void **state)
{
	static const char text[] = "fabric:\n"
				   "  topology: {kind: star, hosts: 6, link: 4x EDR}\n"
				   "  link: {propagation: 3ns}\n"
				   "  links:\n"
				   "  - {ports: 'h1,h2', rate: 1x SDR, propagation: 1us}\n"
				   "  - {ports: 'h2', propagation: 2us, ber: 1e-9}\n"
				   "  switch: {management_buffer: 700}\n" ANY;
	struct diag d = { .status = HD_OK };
	struct fabric *whole, *bare;
	struct fabric_cable *cables;

	(void)state;
	write_file("cables.yaml", text);
	assert_int_equal(fabric_open("cables.yaml", NULL, &d, &whole), HD_OK);
	assert_int_equal(fabric_open_bare("cables.yaml", NULL, &d, &bare), HD_OK);
	assert_int_equal(fabric_cables(bare, &d, &cables), HD_OK);
	assert_int_equal(fabric_vl15_blocks(bare), 10);
	for (port_id p = 0; p < bare->topo.n_ports; p++) {
		const struct sim_port *port;

		if (bare->topo.ports[p].peer == TOPO_NONE)
			continue;
		port = &whole->setup.ports[whole->port_of_origin[p]];
		assert_true(cables[p].propagation == port->propagation);
		assert_true(port->propagation == 3 * HD_NS || port->propagation == HD_US ||
			    port->propagation == 2 * HD_US);
		assert_int_equal(port->vl15_blocks, 10);
		if (cables[p].rate.num)
			assert_int_equal(hd_rate_compare(cables[p].rate, port->rate), 0);
		assert_true((cables[p].rate.num == 0) == (port->propagation == 3 * HD_NS));
	}
	free(cables);
	fabric_free(whole);
	fabric_free(bare);
	remove("cables.yaml");
}

/* 40 bytes of a GRH for groups where packets have real headers. */
static void packets_to_groups_have_a_grh(void **state)
{
	static const struct {
		const char *packet;
		uint32_t single, group, last;
	} cases[] = {
		{ "", 4096 + 26, 4096 + 66, 1000 + 66 },
		{ "  packet: {overhead: 66}\n", 4162, 4162, 1066 },
		{ "  packet: {overhead: 0}\n", 4096, 4096, 1000 },
		{ "  packet: {multicast_grh: no}\n", 4122, 4122, 1026 },
		{ "  packet: {overhead: 8, multicast_grh: yes}\n", 4104, 4144, 1048 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct strbuf text = STRBUF_INIT;
		struct fabric *fabric;

		strbuf_printf(
			&text,
			SMALL
			"  groups: [{name: g, members: 0..1}]\n%straffic:\n"
			"- {name: a, kind: messages, payload: 5096, source: 0, destination: 1}\n"
			"- {name: b, kind: messages, payload: 5096, pattern: group, group: g, source: 3}\n",
			cases[i].packet);
		must_build(text.text, &fabric);
		assert_int_equal(fabric->n_flows, 2);
		assert_int_equal(fabric->flows[0].bytes, cases[i].single);
		assert_int_equal(fabric->flows[1].bytes, cases[i].group);
		assert_int_equal(fabric->flows[1].last_bytes, cases[i].last);
		/* Two members, without the sender. */
		assert_int_equal(fabric->flows[1].copies, 2);
		fabric_free(fabric);
		strbuf_fini(&text);
	}
}

static void readers_follow_the_order(void **state)
{
	static const struct {
		const char *text;
		uint32_t readers;
	} cases[] = {
		{ SMALL "  switch: {order: voq}\n" ANY, 0 },
		{ SMALL "  switch: {order: fifo}\n" ANY, 1 },
		{ SMALL "  switch: {order: fifo, crossbar_reads: 0}\n" ANY, 0 },
		{ SMALL "  switch: {crossbar_reads: 3}\n" ANY, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fabric *fabric;

		must_build(cases[i].text, &fabric);
		assert_int_equal(fabric->setup.sw.readers, cases[i].readers);
		fabric_free(fabric);
	}
}

static void classes_become_tables(void **state)
{
	struct fabric *fabric;

	(void)state;
	must_build(SMALL "qos:\n"
			 "  vls: 4\n"
			 "  classes:\n"
			 "  - {name: v, sl: 5, vl: 3, priority: high, weight: 300}\n"
			 "  - {name: w, sl: 1, weight: 20}\n"
			 "  high_limit: 7\n"
			 "traffic: [{name: a, kind: saturating, class: v}]\n",
		   &fabric);
	port_id host = selector_hosts(fabric->selector)->ports[0];
	const struct vlarb *t = vlarb_of(&fabric->subnet, host);

	assert_int_equal(fabric->flows[0].sl, 5);
	assert_int_equal(sl2vl_of(&fabric->subnet, host)->vl[5], 3);
	assert_int_equal(sl2vl_of(&fabric->subnet, host)->vl[1], 1);
	assert_int_equal(sl2vl_at(&fabric->subnet, 0, 1, 2)->vl[5], 3);
	assert_int_equal(t->high_limit, 7);
	assert_int_equal(t->n_high, 2); /* 300 = 255 + 45 */
	assert_int_equal(t->high[0].vl, 3);
	assert_int_equal(t->high[0].weight, 255);
	assert_int_equal(t->high[1].weight, 45);
	assert_int_equal(t->n_low, 3); /* VL 1 by its class, then 0 and 2 */
	assert_int_equal(t->low[0].vl, 1);
	assert_int_equal(t->low[0].weight, 20);
	assert_int_equal(t->low[1].vl, 0);
	assert_int_equal(t->low[1].weight, 65);
	assert_int_equal(t->low[2].vl, 2);
	fabric_free(fabric);
}

/*
 * Paper 002, Figure 8 (e): a VL for each direction of a mesh, and a map for packets from hosts
 * only.
 */
static void ports_have_maps_by_input_and_output(void **state)
{
	struct fabric *fabric;

	(void)state;
	must_build(
		"fabric: {topology: {kind: mesh, columns: 3, rows: 3, hosts: 1}, routing: xy}\n"
		"qos:\n"
		"  vls: 4\n"
		"  ports:\n"
		"  - {ports: 's*:1', sl2vl: 0}\n"
		"  - {ports: 's*:2', sl2vl: 1}\n"
		"  - {ports: 's*:3', sl2vl: 2}\n"
		"  - {ports: 's*:4', sl2vl: 3}\n"
		"  - {ports: 's-1-1', from: 's-1-1:2, hosts', sl2vl: '3,2,1,0,3,2,1,0,3,2,1,0,3,2,1,0'}\n"
		"  - {ports: h0, sl2vl: 2}\n" ANY,
		&fabric);
	for (port_id p = 0; p < fabric->topo.n_ports; p++) {
		const struct topo_port *port = &fabric->topo.ports[p];
		switch_id sw = fabric->subnet.switch_of_node[port->node];
		unsigned out = port->number;

		if (sw == TOPO_NONE || port->peer == TOPO_NONE || out > 4)
			continue;
		for (unsigned i = 0; i < 6 * N_SLS; i++) {
			unsigned in = i / N_SLS, sl = i % N_SLS;
			bool other = strcmp(fabric->topo.nodes[port->node].name, "s-1-1") == 0 &&
				     (in == 2 || in == 5);

			assert_int_equal(sl2vl_at(&fabric->subnet, sw, in, out)->vl[sl],
					 other ? 3 - sl % 4 : out - 1);
		}
	}
	const struct selection *hosts = selector_hosts(fabric->selector);

	assert_int_equal(sl2vl_of(&fabric->subnet, hosts->ports[0])->vl[9], 2);
	assert_int_equal(sl2vl_of(&fabric->subnet, hosts->ports[1])->vl[9], 1);
	fabric_free(fabric);
}

/* Classes with admission keep their path, whichever kind they have. */
static void classes_that_ask_are_not_routed_adaptively(void **state)
{
	struct fabric *fabric;

	(void)state;
	must_build(
		"fabric: {topology: {kind: xgft, down: '2,2', up: '1,2'}, routing: {engine: updn, adaptive: {choice: load}}}\n"
		"qos: {vls: 15, classes: [{name: t, sl: 1, kind: DBTS}, {name: d, sl: 4, kind: DB}, {name: p, sl: 6, kind: PBE}, {name: w, sl: 5, kind: BE}, {name: c, sl: 9, kind: CH}]}\n"
		"traffic: [{name: a, class: w, kind: saturating}]\n",
		&fabric);
	assert_int_equal(fabric->subnet.adaptive->sls, 0xffff & ~(1 << 1 | 1 << 4 | 1 << 6));
	fabric_free(fabric);
	/* Packets have the SLs of their class's block. */
	must_build(
		"fabric: {topology: {kind: torus, sizes: 5x5, hosts: 1}, routing: {engine: torus, adaptive: {choice: turns}}}\n"
		"qos: {vls: 15, classes: [{name: d, sl: 9, kind: DB}, {name: w, sl: 5, kind: BE}]}\n"
		"traffic: [{name: a, class: w, kind: saturating}]\n",
		&fabric);
	unsigned sls = fabric->subnet.split.sls;

	assert_int_equal(fabric->subnet.split.class_of_sl[9], 0);
	assert_true(sls > 1);
	assert_int_equal(fabric->subnet.adaptive->sls & ((1u << 2 * sls) - 1), ((1u << sls) - 1)
										       << sls);
	fabric_free(fabric);
}

/* torus needs two VLs for itself: four VLs are two blocks for three kinds. */
static void kinds_share_the_blocks_of_an_algorithm(void **state)
{
	struct fabric *fabric;

	(void)state;
	must_build(
		"fabric: {topology: {kind: torus, sizes: 5x5, hosts: 1}, routing: torus}\n"
		"qos: {vls: 4, classes: [{name: u, sl: 1, kind: BE}, {name: v, sl: 2, kind: DB}, {name: w, sl: 3, kind: DBTS}]}\n"
		"traffic: [{name: a, class: u, kind: saturating}]\n",
		&fabric);
	const struct vl_split *split = &fabric->subnet.split;

	assert_int_equal(split->n_classes, 2);
	assert_int_equal(split->vls, 2);
	assert_int_equal(split->class_of_sl[3], 0);
	assert_int_equal(split->class_of_sl[2], 0);
	assert_int_equal(split->class_of_sl[1], 1);
	assert_int_equal(split->class_of_sl[0], 1);
	fabric_free(fabric);
}

static void narrow_links_fold_vls(void **state)
{
	struct fabric *fabric;

	(void)state;
	must_build(SMALL "qos:\n"
			 "  vls: 8\n"
			 "  high: none\n"
			 "  low: [0:1, 5:2]\n"
			 "  ports: [{ports: h2, vls: 2, low: [1:9]}]\n" ANY,
		   &fabric);
	const struct selection *hosts = selector_hosts(fabric->selector);
	port_id h2 = hosts->ports[2];
	port_id at_switch = fabric->topo.ports[h2].peer;
	unsigned out = fabric->topo.ports[at_switch].number;

	assert_int_equal(fabric->setup.ports[fabric->port_of_origin[h2]].vls, 2);
	assert_int_equal(fabric->setup.ports[fabric->port_of_origin[at_switch]].vls, 2);
	assert_int_equal(sl2vl_at(&fabric->subnet, 0, 1, out)->vl[5], 1);
	assert_int_equal(sl2vl_of(&fabric->subnet, hosts->ports[0])->vl[5], 5);
	assert_int_equal(vlarb_of(&fabric->subnet, h2)->n_low, 1);
	assert_int_equal(vlarb_of(&fabric->subnet, h2)->low[0].weight, 9);
	assert_int_equal(vlarb_of(&fabric->subnet, hosts->ports[0])->n_low, 2);
	assert_int_equal(vlarb_of(&fabric->subnet, hosts->ports[0])->n_high, 0);
	fabric_free(fabric);
}

static void partitions_are_enforced_where_hosts_are(void **state)
{
	struct fabric *fabric;

	(void)state;
	must_build(SMALL "qos:\n"
			 "  partitions:\n"
			 "  - {name: p, key: 0x11, full: h0, limited: 'h1,h2'}\n"
			 "  enforce: true\n"
			 "traffic:\n"
			 "- {name: a, kind: saturating, partition: p}\n",
		   &fabric);
	const struct selection *hosts = selector_hosts(fabric->selector);
	port_id at_switch = fabric->topo.ports[hosts->ports[1]].peer;
	const struct pkey_table *table = &fabric->subnet.pkeys[at_switch];

	assert_int_equal(fabric->flows[0].pkey, 0x8011);
	assert_int_equal(fabric->flows[1].pkey, 0x0011);
	assert_int_equal(fabric->flows[3].pkey, 0x8011); /* no member, but tries */
	assert_true(table->enforce_in && table->enforce_out);
	assert_int_equal(table->n, 2);
	assert_int_equal(table->keys[0], 0xffff);
	assert_int_equal(table->keys[1], 0x0011);
	fabric_free(fabric);
}

static void faults_are_in_order_of_time(void **state)
{
	struct fabric *fabric;

	(void)state;
	must_build(SMALL "faults:\n"
			 "  hoq_life: 5us\n"
			 "  events:\n"
			 "  - {at: 3us, kind: link-up, port: h1}\n"
			 "  - {at: 1us, kind: link-down, port: h1}\n"
			 "  - {at: 2us, kind: sink-stuck, port: h2}\n" ANY,
		   &fabric);
	const struct selection *hosts = selector_hosts(fabric->selector);

	assert_int_equal(fabric->setup.n_faults, 3);
	assert_int_equal(fabric->setup.faults[0].kind, SIM_LINK_DOWN);
	assert_int_equal(fabric->setup.faults[0].port, fabric->port_of_origin[hosts->ports[1]]);
	assert_int_equal(fabric->setup.faults[1].kind, SIM_SINK_STUCK);
	assert_int_equal(fabric->setup.faults[1].port, fabric->port_of_origin[hosts->ports[2]]);
	assert_true(fabric->setup.faults[2].time == 3 * HD_US);
	const struct sim_port *h1 = &fabric->setup.ports[fabric->port_of_origin[hosts->ports[1]]];

	assert_true(h1->hoq_life == 0);
	assert_true(fabric->setup.ports[h1->peer].hoq_life == 5 * HD_US);
	fabric_free(fabric);
}

/* Each named port once, ordered by time, whatever the order of the file. */
static void changes_are_those_of_all_ports_named(void **state)
{
	struct fabric *fabric;

	(void)state;
	must_build(SMALL "qos:\n"
			 "  changes:\n"
			 "  - {at: 2us, ports: all, low: '0:7'}\n"
			 "  - {at: 1us, ports: h1, low: '0:9'}\n" ANY,
		   &fabric);
	const struct sim_setup *s = &fabric->setup;
	uint32_t *times = calloc(s->n_ports, sizeof(*times));

	assert_true(s->n_changes > 0 && s->changes[0].time == HD_US);
	assert_int_equal(s->changes[0].port,
			 fabric->port_of_origin[selector_hosts(fabric->selector)->ports[1]]);
	for (uint32_t i = 1; i < s->n_changes; i++) {
		assert_true(s->changes[i].time == 2 * HD_US);
		times[s->changes[i].port]++;
	}
	for (uint32_t p = 0; p < s->n_ports; p++)
		assert_int_equal(times[p], s->ports[p].peer != SIM_NONE);
	free(times);
	fabric_free(fabric);
}

static void service_levels_that_choose_are_a_list(void **state)
{
	static const struct {
		char *text;
		uint16_t sls; /* 0: refused */
	} lists[] = {
		{ "all", 0xFFFF },  { "0", 1 },      { "15", 0x8000 },
		{ "0,2-5", 0x3D },  { "7-7", 0x80 }, { "10-11,3", 0x0C08 },
		{ "0-15", 0xFFFF }, { "", 0 },       { "16", 0 },
		{ "5-2", 0 },       { "1,", 0 },     { ",1", 0 },
		{ "1-", 0 },        { "1 2", 0 },    { "-1", 0 },
		{ "2-16", 0 },      { "x", 0 },      { "99999999999", 0 },
	};
	struct scenario s = { .fabric.routing.adaptive.choice = SCN_AR_OFF + 1 };

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct diag d = { .status = HD_OK };
		uint16_t sls = 0;

		s.fabric.routing.adaptive.sls = lists[i].text;
		enum hd_status status = fabric_adaptive_sls(&s, &d, &sls);

		assert_int_equal(status, lists[i].sls ? HD_OK : HD_ERR_INPUT);
		if (status == HD_OK)
			assert_int_equal(sls, lists[i].sls);
	}
}

static void rules_follow_the_run(void **state)
{
	struct fabric *fabric;

	(void)state;
	must_build(SMALL ANY "run: {warmup: 10us, measure: 90us, precision: 5%}\n", &fabric);
	assert_true(fabric->rules.warmup == 10 * HD_US);
	assert_true(fabric->rules.stop == 100 * HD_US);
	assert_true(fabric->rules.precision == 0.05);
	fabric_free(fabric);
	must_build(
		SMALL ANY
		"run: {warmup: 100 packets, measure: 7 packets per flow, horizon: 2ms, seed: 9}\n",
		&fabric);
	assert_true(fabric->rules.warmup == 0 && fabric->rules.warmup_packets == 100);
	assert_true(fabric->rules.packets_per_flow == 7);
	assert_true(fabric->rules.stop == 2 * HD_MS);
	assert_true(fabric->setup.seed == 9);
	fabric_free(fabric);
	must_build(SMALL ANY "run: {measure: 7 packets per SL}\n", &fabric);
	assert_true(fabric->rules.packets_per_sl == 7);
	fabric_free(fabric);
}

static void a_fabric_may_come_from_a_file(void **state)
{
	struct fabric *fabric;

	(void)state;
	write_file("build_test.net", "Switch 3 \"S1\"\n[1] \"A\"[1]\n[2] \"B\"[1]\n\n"
				     "Hca 1 \"A\"\n[1] \"S1\"[1]\n\n"
				     "Hca 1 \"B\"\n[1] \"S1\"[2]\n");
	must_build("fabric: {topology: build_test.net}\n" ANY, &fabric);
	assert_int_equal(selector_hosts(fabric->selector)->n, 2);
	assert_int_equal(fabric->n_flows, 2);
	fabric_free(fabric);
	remove("build_test.net");
}

static const struct {
	const char *text, *message;
} refusals[] = {
	{ "fabric: {topology: {kind: mesh, columns: 9999, rows: 9999}}\n" ANY,
	  "x.yaml:1:27: fabric.topology: " },
	{ SMALL "  routing: xy\n" ANY, "x.yaml:4:12: fabric.routing.engine: " },
	{ SMALL "  routing: bestroute\n" ANY, "x.yaml:4:12: fabric.routing.engine: " },
	{ SMALL "  routing: {engine: updn, roots: [spine]}\n" ANY,
	  "x.yaml:4:34: fabric.routing.roots: no switch 'spine'" },
	{ SMALL "  switch: {input_buffer: 2KiB}\n" ANY,
	  "x.yaml:4:26: fabric.switch.input_buffer: 32 blocks of 64 bytes cannot hold a packet of 2074 bytes" },
	{ SMALL "  links: [{ports: h7, rate: 1Gb/s}]\n" ANY,
	  "x.yaml:4:19: fabric.links[].ports: no node 'h7' (did you mean 'h0'?)" },
	{ SMALL "qos: {ports: [{ports: nowhere}]}\n" ANY,
	  "x.yaml:4:23: qos.ports[].ports: no node 'nowhere'" },
	{ SMALL "qos: {vls: 4, ports: [{ports: h2, vls: 2}, {ports: h2, sl2vl: 3}]}\n" ANY,
	  "x.yaml:4:63: qos.ports[].sl2vl: SL 0 goes to VL 3, but port 1 of 'h2' has 2 VLs" },
	{ SMALL "qos: {ports: [{ports: h2, from: h1, sl2vl: 3}]}\n" ANY,
	  "x.yaml:4:33: qos.ports[].from: port 1 of 'h2' is not a switch port; only switches map SLs by input port" },
	{ SMALL "qos: {ports: [{ports: h2, from: h9, sl2vl: 3}]}\n" ANY,
	  "x.yaml:4:33: qos.ports[].from: no node 'h9'" },
	{ "fabric: {topology: {kind: torus, sizes: 5x5, hosts: 1}, routing: torus}\nqos: {ports: [{ports: hosts, sl2vl: 0}]}\n" ANY,
	  "x.yaml:2:37: the routing engine 'torus' needs VLs to be free of deadlock, and chooses those of all SLs" },
	{ "fabric: {topology: {kind: xgft, down: '2,2', up: '1,2'}, routing: {engine: updn, adaptive: {choice: load, sls: 1-3}}}\nqos: {classes: [{name: v, sl: 3, kind: DB}, {name: w, sl: 5, kind: BE}]}\n"
	  "traffic: [{name: a, class: w, kind: saturating}]\n",
	  "x.yaml:1:112: SL 3 is that of class 'v', which asks admission for one path; leave it out of fabric.routing.adaptive.sls" },
	{ SMALL "qos: {classes: [{name: v, sl: 1, weight: 16320}, {name: w, sl: 2}], vls: 4}\n" ANY,
	  "x.yaml:4:24: the weights of the classes need more than the 64 entries of a VL arbitration table" },
	{ SMALL "qos: {partitions: [{name: p, key: 1, full: h9}]}\n" ANY,
	  "x.yaml:4:44: qos.partitions[].full: no host 'h9' (did you mean 'h0'?)" },
	{ SMALL "traffic: [{name: a, kind: saturating, source: h4}]\n",
	  "x.yaml:4:47: traffic[].source: no host 'h4' (did you mean 'h0'?)" },
	{ SMALL "traffic: [{name: a, kind: saturating, destination: x}]\n",
	  "x.yaml:4:52: traffic[].destination: no host 'x'" },
	{ SMALL "traffic: [{name: a, kind: saturating, pattern: hotspot, hotspot: x}]\n",
	  "x.yaml:4:66: traffic[].hotspot: no host 'x'" },
	{ SMALL "traffic: [{name: a, kind: saturating, source: 0..2, pattern: transpose}]\n",
	  "x.yaml:4:62: traffic 'a': transpose needs a square number of sources, not 3" },
	{ SMALL "traffic: [{name: a, kind: saturating, source: 0..2, pattern: bit-reverse}]\n",
	  "x.yaml:4:62: traffic 'a': bit-reverse needs a power of 2 of sources, not 3" },
	{ SMALL
	  "traffic: [{name: a, kind: saturating, source: 0..2, pattern: pairs, destination: 0..1}]\n",
	  "x.yaml:4:62: traffic 'a': 3 sources but 2 destinations make no pairs" },
	{ SMALL
	  "traffic: [{name: a, kind: saturating, source: 0..1, pattern: pairs, destination: 1..0}]\n",
	  "x.yaml:4:82: traffic[].destination: '1..0' is not a rising range" },
	{ SMALL
	  "traffic: [{name: a, kind: saturating, source: 0..1, pattern: pairs, destination: 'h2,h1'}]\n",
	  "x.yaml:4:82: traffic 'a': 'h1' is paired with itself" },
	{ SMALL "traffic: [{name: a, kind: saturating, source: 1, destination: 1}]\n",
	  "x.yaml:4:18: traffic 'a': 'h1' has no destination other than itself" },
	{ SMALL
	  "traffic: [{name: a, kind: saturating, source: 1, destination: 1, connections: 3}]\n",
	  "x.yaml:4:18: traffic 'a' has no flow: its sources have no destination other than themselves" },
	{ SMALL "traffic: [{name: a, kind: saturating, pattern: tornado, source: 1}]\n",
	  "x.yaml:4:48: traffic 'a': with this pattern every source would send to itself" },
	{ SMALL "traffic: [{name: a, kind: saturating, pattern: tornado, connections: 3}]\n",
	  "x.yaml:4:70: traffic 'a': connections need the pattern uniform, hotspot or incast" },
	{ SMALL "  groups: [{name: g, members: 1}]\n"
		"traffic: [{name: a, kind: saturating, pattern: group, group: g, source: 1}]\n",
	  "x.yaml:5:62: traffic 'a': group 'g' has no member but 'h1' itself" },
	{ SMALL "  groups: [{name: g, members: h9}]\n"
		"traffic: [{name: a, kind: saturating, pattern: group, group: g}]\n",
	  "x.yaml:4:31: fabric.groups[].members: no host 'h9' (did you mean 'h0'?)" },
	{ SMALL "  groups: [{name: g, tree: paths}]\n"
		"traffic: [{name: a, kind: saturating, pattern: group, group: g}]\n",
	  "x.yaml:4:28: fabric.groups[].tree: 'paths' is not one of xy, union, shortest, shared" },
	{ SMALL "  groups: [{name: g, tree: xy}]\n"
		"traffic: [{name: a, kind: saturating, pattern: group, group: g}]\n",
	  "x.yaml:4:28: fabric.groups[].tree: " },
	{ "fabric: {topology: {kind: torus, sizes: 5x5, hosts: 1}, routing: torus}\nqos: {classes: [{name: v, sl: 1, vl: 1}]}\n" ANY,
	  "x.yaml:2:38: the routing engine 'torus' needs VLs to be free of deadlock, and chooses those of all SLs" },
	{ "fabric: {topology: {kind: torus, sizes: 5x5, hosts: 1}, routing: torus}\nqos: {vls: 4, classes: [{name: u, sl: 1}, {name: v, sl: 2}, {name: w, sl: 3}]}\n" ANY,
	  "x.yaml:2:32: qos.classes: torus needs 2 VLs for itself; 3 classes need 6, and port " },
	{ "fabric: {topology: {kind: torus, sizes: 5x5x5, hosts: 1}, routing: torus}\nqos: {classes: [{name: u, sl: 1}, {name: v, sl: 2}, {name: w, sl: 3}]}\n" ANY,
	  "x.yaml:2:24: qos.classes: torus needs 8 SLs for itself; 3 classes need 24, and there are 16" },
	{ SMALL "qos: {changes: [{at: 1us, ports: s9, low: [0:1]}]}\n" ANY,
	  "x.yaml:4:34: qos.changes[].ports: no node 's9'" },
	{ "fabric: {topology: {kind: routed}}\n"
	  "qos: {tclasses: [{tclass: 1, sl: 1, subnet: 2}]}\n" ANY,
	  "x.yaml:2:45: qos.tclasses[].subnet: no subnet 2; the fabric has 2, numbered from 0" },
	{ "fabric: {topology: {kind: routed}}\n"
	  "qos: {tclass_of_sl: [{sl: 1, tclass: 1}, {sl: 1, tclass: 1, subnet: 2}]}\n" ANY,
	  "x.yaml:2:69: qos.tclass_of_sl[].subnet: no subnet 2; the fabric has 2, numbered from 0" },
	{ "fabric: {topology: not-there.net}\n" ANY, "x.yaml:1:20: fabric.topology.file: " },
	{ SMALL "traffic: [{name: a, kind: trace, file: not-there.csv}]\n",
	  "x.yaml:4:40: traffic[].file: " },
	{ SMALL "faults: {events: [{at: 1us, kind: link-down, port: h9}]}\n" ANY,
	  "x.yaml:4:52: faults.events[].port: no node 'h9' (did you mean 'h0'?)" },
	{ SMALL ANY "run: {warmup: 10 packets, measure: 1us}\n",
	  "x.yaml:5:36: run.measure is a time, but run.warmup counts packets; say both in one way" },
	{ SMALL ANY "run: {warmup: 1s, horizon: 1s}\n",
	  "x.yaml:5:15: run.warmup leaves nothing before run.horizon" },
	{ SMALL ANY "run: {measure: 1000s}\n",
	  "x.yaml:5:16: run.measure does not end before run.horizon, which ends the run in any case and is 1s unless it is stated" },
	{ SMALL ANY "run: {warmup: 1us, measure: 10us, horizon: 10us}\n",
	  "x.yaml:5:29: run.measure does not end before run.horizon, which ends the run in any case and is 1s unless it is stated" },
	{ SMALL
	  "traffic: [{name: a, kind: saturating, pattern: incast, source: 1, destination: 1}]\n",
	  "x.yaml:4:18: traffic 'a' has no flow: its sources have no destination other than themselves" },
	{ SMALL
	  "traffic: [{name: a, kind: saturating, pattern: hotspot, source: 1, hotspot: 1, hot_share: 100%, connections: 2}]\n",
	  "x.yaml:4:18: traffic 'a' has no flow: its sources have no destination other than themselves" },
};

static void refuses_what_the_fabric_cannot_do(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		struct diag d = { .status = HD_OK };
		struct fabric *fabric;
		struct strbuf line = STRBUF_INIT;
		const char *text = refusals[i].text;
		const char *expected = refusals[i].message;

		if (fabric_load(text, strlen(text), "x.yaml", NULL, &d, &fabric) == HD_OK)
			fail_msg("accepted: %s", text);
		diag_print(&d, &line);
		if (strncmp(line.text, expected, strlen(expected)) != 0)
			fail_msg("%s gives %s", text, line.text);
		strbuf_fini(&line);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_cable_has_two_ends),
		cmocka_unit_test(links_run_at_what_the_scenario_says),
		cmocka_unit_test(cables_are_those_of_the_setup),
		cmocka_unit_test(packets_to_groups_have_a_grh),
		cmocka_unit_test(readers_follow_the_order),
		cmocka_unit_test(classes_become_tables),
		cmocka_unit_test(ports_have_maps_by_input_and_output),
		cmocka_unit_test(classes_that_ask_are_not_routed_adaptively),
		cmocka_unit_test(kinds_share_the_blocks_of_an_algorithm),
		cmocka_unit_test(narrow_links_fold_vls),
		cmocka_unit_test(partitions_are_enforced_where_hosts_are),
		cmocka_unit_test(faults_are_in_order_of_time),
		cmocka_unit_test(changes_are_those_of_all_ports_named),
		cmocka_unit_test(service_levels_that_choose_are_a_list),
		cmocka_unit_test(rules_follow_the_run),
		cmocka_unit_test(a_fabric_may_come_from_a_file),
		cmocka_unit_test(refuses_what_the_fabric_cannot_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
