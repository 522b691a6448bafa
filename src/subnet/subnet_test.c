/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "subnet/routing/fabric_for_tests.h"
#include "subnet/routing/route.h"
#include "subnet/routing/router.h"
#include "subnet/subnet.h"

static const struct lid_options by_opensm = { .sm_port = TOPO_NONE };
static const struct lid_options by_paper = { .order = LIDS_PAPER, .sm_port = TOPO_NONE };

static void route(struct subnet *s, const char *engine)
{
	struct diag d = { .status = HD_OK };

	assert_int_equal(subnet_assign_lids(s, &by_opensm, &d), HD_OK);
	assert_int_equal(subnet_route(s, engine, NULL, &d), HD_OK);
	assert_string_equal(s->engine, engine);
}

/*
 * The fabric behind tests/fixtures: host1 and host2 on leaf1, host3 and host4
 * on leaf2, two cables between the leaves.
 */
static void build_two_leaves(struct topo *t)
{
	topo_init(t);
	node_id leaf1 = add_switch(t, 8);
	node_id leaf2 = add_switch(t, 8);

	add_host(t, leaf1, 1);
	add_host(t, leaf1, 2);
	add_host(t, leaf2, 1);
	add_host(t, leaf2, 2);
	join(t, leaf1, 3, leaf2, 3);
	join(t, leaf1, 4, leaf2, 4);
}

static void lids_come_in_the_order_that_opensm_gave_them(void **state)
{
	/* guid2lid of a real run: SM's host, leaf1, leaf2, host2 .. host4 */
	static const lid_t expected[] = { 2, 3, 1, 4, 5, 6 };
	struct topo t;
	struct subnet s;
	struct diag d = { .status = HD_OK };

	(void)state;
	build_two_leaves(&t);
	subnet_init(&s, &t);
	assert_int_equal(subnet_assign_lids(&s, &by_opensm, &d), HD_OK);
	for (node_id v = 0; v < t.n_nodes; v++) {
		unsigned number = topo_is_switch(&t, v) ? 0 : 1;
		port_id p = topo_port_of(&t, v, number);

		assert_int_equal(s.lid_of_port[p], expected[v]);
		assert_int_equal(s.port_of_lid[0][expected[v]], p);
	}
	assert_int_equal(s.top_lid[0], 6);
	subnet_fini(&s);
	topo_fini(&t);
}

static void minhop_gives_the_tables_that_opensm_gave(void **state)
{
	/* opensm-lfts.dump of the same run: LIDs 1 .. 6 */
	static const uint8_t leaf1[] = { 1, 0, 3, 2, 3, 4 };
	static const uint8_t leaf2[] = { 3, 3, 0, 4, 1, 2 };
	struct topo t;
	struct subnet s;

	(void)state;
	build_two_leaves(&t);
	subnet_init(&s, &t);
	route(&s, "minhop");
	for (lid_t lid = 1; lid <= 6; lid++) {
		assert_int_equal(lft_get(&s, 0, lid), leaf1[lid - 1]);
		assert_int_equal(lft_get(&s, 1, lid), leaf2[lid - 1]);
	}
	assert_int_equal(lft_get(&s, 0, 7), LFT_NO_PORT);
	assert_int_equal(lft_get(&s, 0, 48000), LFT_NO_PORT);
	subnet_fini(&s);
	topo_fini(&t);
}

static void lmc_aligns_base_lids_and_spreads_the_ways(void **state)
{
	static const struct lid_options four = { .lmc = 2, .sm_port = TOPO_NONE };
	struct topo t;
	struct subnet s;
	struct diag d = { .status = HD_OK };

	(void)state;
	build_two_leaves(&t);
	subnet_init(&s, &t);
	assert_int_equal(subnet_assign_lids(&s, &four, &d), HD_OK);
	assert_int_equal(subnet_route(&s, "minhop", NULL, &d), HD_OK);
	port_id host4 = topo_port_of(&t, 5, 1);
	lid_t base = s.lid_of_port[host4];
	unsigned by_port[256] = { 0 };

	assert_int_equal(base % 4, 0);
	for (lid_t i = 0; i < 4; i++) {
		assert_int_equal(s.port_of_lid[0][base + i], host4);
		by_port[lft_get(&s, 0, (lid_t)(base + i))]++;
		assert_int_equal(lft_get(&s, 1, (lid_t)(base + i)), 2);
	}
	assert_int_equal(by_port[3], 2);
	assert_int_equal(by_port[4], 2);
	subnet_fini(&s);
	topo_fini(&t);
}

static void the_papers_lids_count_by_columns(void **state)
{
	static const uint32_t dims[] = { 4, 6 }; /* where x * m + y collides */
	struct topo t;
	struct subnet s;
	struct diag d = { .status = HD_OK };

	(void)state;
	build_grid(&t, FAMILY_NODE_MESH, 2, dims, 0);
	for (node_id v = 0; v < t.n_nodes; v++)
		t.nodes[v].enhanced_port0 = true;
	subnet_init(&s, &t);
	assert_int_equal(subnet_assign_lids(&s, &by_paper, &d), HD_OK);
	for (node_id v = 0; v < t.n_nodes; v++) {
		unsigned x = t.nodes[v].coord[0], y = t.nodes[v].coord[1];

		assert_int_equal(s.lid_of_port[t.nodes[v].first_port], x * 6 + y + 1);
	}
	subnet_fini(&s);
	topo_fini(&t);
}

static void xy_goes_by_columns_first(void **state)
{
	static const uint32_t dims[] = { 3, 5 };
	struct topo t;
	struct subnet s;

	(void)state;
	build_grid(&t, FAMILY_MESH, 2, dims, 2);
	subnet_init(&s, &t);
	route(&s, "xy");
	for (switch_id sw = 0; sw < s.n_switches; sw++) {
		for (node_id v = 0; v < t.n_nodes; v++) {
			unsigned own = topo_is_switch(&t, v) ? 0 : 1;
			port_id p = topo_port_of(&t, v, own);
			node_id at = own ? t.ports[t.ports[p].peer].node : v;
			const uint16_t *here = t.nodes[sw].coord;
			const uint16_t *there = t.nodes[at].coord;
			unsigned port = own ? t.ports[t.ports[p].peer].number : 0;

			if (there[0] != here[0])
				port = there[0] > here[0] ? 1 : 2;
			else if (there[1] != here[1])
				port = there[1] > here[1] ? 3 : 4;
			assert_int_equal(lft_get(&s, sw, s.lid_of_port[p]), port);
		}
	}
	subnet_fini(&s);
	topo_fini(&t);
}

static void engines_refuse_what_does_not_fit(void **state)
{
	static const char *const engines[] = { "xy", "dor", "negative-first", "ecube" };
	struct topo t;
	struct subnet s;

	(void)state;
	build_random(&t, 1, 9, 9);
	subnet_init(&s, &t);
	for (size_t i = 0; i < 4; i++) {
		struct diag d = { .status = HD_OK };

		assert_int_equal(subnet_assign_lids(&s, &by_opensm, &d), HD_OK);
		assert_int_equal(subnet_route(&s, engines[i], NULL, &d), HD_ERR_UNFIT);
		assert_non_null(strstr(d.message, engines[i]));
		assert_null(s.engine);
		assert_int_equal(lft_get(&s, 0, 1), LFT_NO_PORT);
	}
	struct diag d = { .status = HD_OK };

	assert_int_equal(subnet_route(&s, "best", NULL, &d), HD_ERR_NOT_FOUND);
	subnet_fini(&s);
	topo_fini(&t);
}

static void defaults_are_opensms_cut_to_the_link(void **state)
{
	struct topo t;
	struct subnet s;

	(void)state;
	build_two_leaves(&t);
	t.ports[topo_port_of(&t, 1, 3)].vls = 4; /* leaf2's end of a cable */
	subnet_init(&s, &t);
	assert_int_equal(s.vls_of_port[topo_port_of(&t, 0, 3)], 4);
	assert_int_equal(s.vls_of_port[topo_port_of(&t, 0, 4)], 15);
	for (unsigned sl = 0; sl < 15; sl++) {
		assert_int_equal(sl2vl_at(&s, 0, 1, 4)->vl[sl], sl);
		assert_int_equal(sl2vl_at(&s, 0, 1, 3)->vl[sl], sl % 4);
	}
	assert_int_equal(sl2vl_at(&s, 0, 1, 4)->vl[15], 7);
	assert_int_equal(sl2vl_at(&s, 0, 1, 3)->vl[15], 3);
	assert_int_equal(vlarb_of(&s, topo_port_of(&t, 0, 3))->n_low, 4);
	assert_int_equal(s.pkeys[topo_port_of(&t, 2, 1)].n, 1);
	assert_int_equal(s.pkeys[topo_port_of(&t, 2, 1)].keys[0], 0xFFFF);
	subnet_fini(&s);
	topo_fini(&t);
}

static void equal_tables_are_stored_once(void **state)
{
	struct topo t;
	struct subnet s;

	(void)state;
	build_two_leaves(&t);
	subnet_init(&s, &t);
	uint32_t before = s.n_vlarb_tables;

	for (unsigned i = 0; i < 1000; i++) {
		struct vlarb table = { .n_low = 1 };

		table.low[0].weight = (uint8_t)(1 + i % 10);
		/* out of use: has no effect */
		table.low[1].weight = (uint8_t)(i % 251);
		subnet_set_vlarb(&s, i % t.n_ports, &table);
		assert_int_equal(vlarb_of(&s, i % t.n_ports)->low[0].weight, 1 + i % 10);
	}
	assert_int_equal(s.n_vlarb_tables, before + 10);
	for (unsigned i = 0; i < 200; i++) {
		struct sl2vl vls = sl2vl_default(8);

		vls.vl[i % 16] = (uint8_t)(i / 16);
		subnet_set_sl2vl(&s, 1, i % 9, i / 9 % 9, &vls);
		assert_memory_equal(sl2vl_at(&s, 1, i % 9, i / 9 % 9), &vls, sizeof(vls));
	}
	subnet_fini(&s);
	topo_fini(&t);
}

/* Two subnets of one switch and two hosts each, joined by two routers. */
static void build_routed(struct topo *t)
{
	topo_init(t);
	t->n_subnets = 2;
	node_id left = add_switch(t, 8), right = add_switch(t, 8);

	for (unsigned i = 1; i <= 2; i++) {
		add_host(t, left, i);
		add_host(t, right, i);
	}
	for (unsigned i = 0; i < 2; i++) {
		node_id r = topo_add_node(t, NODE_ROUTER, 2, "router");

		t->nodes[r].guid = 0x300000 + 16 * i;
		t->ports[topo_port_of(t, r, 1)].guid = 0x300001 + 16 * i;
		t->ports[topo_port_of(t, r, 2)].guid = 0x300002 + 16 * i;
		join(t, r, 1, left, 3 + i);
		join(t, r, 2, right, 3 + i);
	}
	for (port_id p = 0; p < t->n_ports; p++) {
		const struct topo_port *port = &t->ports[p];
		node_id v = port->node;

		if (t->nodes[v].kind == NODE_ROUTER)
			t->ports[p].subnet = port->number == 2;
		else if (topo_is_switch(t, v))
			t->ports[p].subnet = v == right;
		else if (port->peer != TOPO_NONE)
			t->ports[p].subnet = t->ports[port->peer].node == right;
	}
}

static void packets_for_other_subnets_go_to_a_router(void **state)
{
	struct topo t;
	struct subnet s;

	(void)state;
	build_routed(&t);
	subnet_init(&s, &t);
	route(&s, "minhop");
	assert_int_not_equal(s.prefix[0], s.prefix[1]);
	port_id here = topo_port_of(&t, 2, 1), near = topo_port_of(&t, 4, 1);
	port_id there[] = { topo_port_of(&t, 3, 1), topo_port_of(&t, 5, 1) };
	unsigned used = 0;

	assert_int_equal(route_dlid(&s, here, near), s.lid_of_port[near]);
	for (unsigned i = 0; i < 2; i++) {
		lid_t dlid = route_dlid(&s, here, there[i]);
		port_id at = s.port_of_lid[0][dlid];
		port_id out;

		assert_int_equal(topo_node_of(&t, at)->kind, NODE_ROUTER);
		assert_true(subnet_router_forward(&s, t.ports[at].node, there[i], &out, &dlid));
		assert_int_equal(t.ports[out].number, 2);
		assert_int_equal(dlid, s.lid_of_port[there[i]]);
		/* The LIDs of the two subnets overlap without effect. */
		assert_int_equal(s.port_of_lid[1][dlid], there[i]);
		assert_int_equal(lft_get(&s, 1, dlid), 1 + i);
		used |= 1u << (t.ports[at].node & 1);
	}
	assert_int_equal(used, 3);
	subnet_fini(&s);
	topo_fini(&t);
}

static void more_ports_than_lids_are_refused(void **state)
{
	static const struct lid_options many = { .lmc = 7, .sm_port = TOPO_NONE };
	struct topo t;
	struct subnet s;
	struct diag d = { .status = HD_OK };

	(void)state;
	topo_init(&t);
	for (unsigned i = 0; i < 4; i++) {
		node_id sw = add_switch(&t, 200);

		for (unsigned n = 1; n <= 96; n++)
			add_host(&t, sw, n);
	}
	subnet_init(&s, &t);
	assert_int_equal(subnet_assign_lids(&s, &many, &d), HD_ERR_FULL);
	assert_null(s.lft);
	subnet_fini(&s);
	topo_fini(&t);
}

/* Two limited members do not talk to each other; another partition's key never passes. */
static void keys_pass_by_partition_and_membership(void **state)
{
	uint16_t full[] = { 0x8001, 0xFFFF }, limited[] = { 0x0001 };
	const struct pkey_table of_full = { .keys = full, .n = 2 };
	const struct pkey_table of_limited = { .keys = limited, .n = 1 };
	const struct pkey_table empty = { .n = 0 };

	(void)state;
	assert_true(pkey_passes(&of_full, 0x8001));
	assert_true(pkey_passes(&of_full, 0x0001));
	assert_true(pkey_passes(&of_full, 0x7FFF));
	assert_false(pkey_passes(&of_full, 0x8002));
	assert_true(pkey_passes(&of_limited, 0x8001));
	assert_false(pkey_passes(&of_limited, 0x0001));
	assert_false(pkey_passes(&of_limited, 0xFFFF));
	assert_false(pkey_passes(&empty, 0xFFFF));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lids_come_in_the_order_that_opensm_gave_them),
		cmocka_unit_test(minhop_gives_the_tables_that_opensm_gave),
		cmocka_unit_test(lmc_aligns_base_lids_and_spreads_the_ways),
		cmocka_unit_test(the_papers_lids_count_by_columns),
		cmocka_unit_test(xy_goes_by_columns_first),
		cmocka_unit_test(engines_refuse_what_does_not_fit),
		cmocka_unit_test(defaults_are_opensms_cut_to_the_link),
		cmocka_unit_test(equal_tables_are_stored_once),
		cmocka_unit_test(packets_for_other_subnets_go_to_a_router),
		cmocka_unit_test(more_ports_than_lids_are_refused),
		cmocka_unit_test(keys_pass_by_partition_and_membership),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
