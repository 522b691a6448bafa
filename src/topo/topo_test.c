/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "topo/topo.h"

static void ports_of_a_node_are_consecutive_and_start_at_0(void **state)
{
	struct topo t;

	(void)state;
	topo_init(&t);
	node_id a = topo_add_node(&t, NODE_SWITCH, 36, "a");
	node_id b = topo_add_node(&t, NODE_CA, 2, "b \"quoted\" \xc3\xa9");

	assert_int_equal(t.n_nodes, 2);
	assert_int_equal(t.n_ports, 37 + 3);
	for (unsigned n = 0; n <= 36; n++) {
		assert_int_equal(t.ports[topo_port_of(&t, a, n)].node, a);
		assert_int_equal(t.ports[topo_port_of(&t, a, n)].number, n);
	}
	assert_int_equal(t.ports[topo_port_of(&t, b, 2)].node, b);
	assert_int_equal(t.ports[topo_port_of(&t, b, 2)].number, 2);
	assert_string_equal(t.nodes[b].name, "b \"quoted\" \xc3\xa9");
	topo_fini(&t);
}

static void a_switch_may_have_255_ports(void **state)
{
	struct topo t;

	(void)state;
	topo_init(&t);
	node_id a = topo_add_node(&t, NODE_SWITCH, 255, "a");

	assert_int_equal(t.ports[topo_port_of(&t, a, 255)].number, 255);
	topo_fini(&t);
}

static void a_link_runs_at_the_best_that_both_ends_support(void **state)
{
	struct topo t;
	struct topo_link_state got;

	(void)state;
	topo_init(&t);
	node_id a = topo_add_node(&t, NODE_SWITCH, 2, "a");
	node_id b = topo_add_node(&t, NODE_CA, 1, "b");
	struct topo_port *p = &t.ports[topo_port_of(&t, a, 1)];
	struct topo_port *q = &t.ports[topo_port_of(&t, b, 1)];

	topo_link(&t, topo_port_of(&t, a, 1), topo_port_of(&t, b, 1));
	/* Both ends unspecified: the mandatory value of the specification. */
	assert_int_equal(topo_link_state(&t, topo_port_of(&t, a, 1), &got), HD_OK);
	assert_int_equal(got.lanes, 1);
	assert_int_equal(got.speed, SPEED_SDR);

	p->widths = WIDTH_1X | WIDTH_4X | WIDTH_12X;
	q->widths = WIDTH_1X | WIDTH_2X | WIDTH_4X;
	p->speeds = 1 << SPEED_SDR | 1 << SPEED_QDR | 1 << SPEED_HDR;
	q->speeds = 1 << SPEED_SDR | 1 << SPEED_QDR | 1 << SPEED_EDR;
	p->vls = 8;
	q->vls = 4;
	p->mtu = 2048;
	q->mtu = 4096;
	assert_int_equal(topo_link_state(&t, topo_port_of(&t, b, 1), &got), HD_OK);
	assert_int_equal(got.lanes, 4);
	assert_int_equal(got.speed, SPEED_QDR);
	assert_int_equal(got.vls, 4);
	assert_int_equal(got.mtu, 2048);
	assert_int_equal(got.rate.num, UINT64_C(32000000000));

	q->speeds = 1 << SPEED_XDR;
	assert_int_equal(topo_link_state(&t, topo_port_of(&t, b, 1), &got), HD_ERR_UNFIT);
	assert_int_equal(topo_link_state(&t, topo_port_of(&t, a, 2), &got), HD_ERR_UNFIT);
	topo_fini(&t);
}

static void end_ports_are_adapters_routers_and_enhanced_ports_0(void **state)
{
	struct topo t;

	(void)state;
	topo_init(&t);
	node_id s = topo_add_node(&t, NODE_SWITCH, 3, "s");
	node_id h = topo_add_node(&t, NODE_CA, 2, "h");
	node_id r = topo_add_node(&t, NODE_ROUTER, 2, "r");

	topo_link(&t, topo_port_of(&t, s, 1), topo_port_of(&t, h, 1));
	topo_link(&t, topo_port_of(&t, s, 2), topo_port_of(&t, r, 1));
	assert_false(topo_is_end_port(&t, topo_port_of(&t, s, 0)));
	t.nodes[s].enhanced_port0 = true;
	assert_true(topo_is_end_port(&t, topo_port_of(&t, s, 0)));
	assert_false(topo_is_end_port(&t, topo_port_of(&t, s, 1)));
	assert_true(topo_is_end_port(&t, topo_port_of(&t, h, 1)));
	assert_false(topo_is_end_port(&t, topo_port_of(&t, h, 2)));
	assert_false(topo_is_end_port(&t, topo_port_of(&t, h, 0)));
	assert_true(topo_is_end_port(&t, topo_port_of(&t, r, 1)));
	topo_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports_of_a_node_are_consecutive_and_start_at_0),
		cmocka_unit_test(a_switch_may_have_255_ports),
		cmocka_unit_test(a_link_runs_at_the_best_that_both_ends_support),
		cmocka_unit_test(end_ports_are_adapters_routers_and_enhanced_ports_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
