/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "subnet/routing/check.h"
#include "subnet/routing/deadlock.h"
#include "subnet/routing/fabric_for_tests.h"
#include "subnet/routing/oracle_for_tests.h"
#include "subnet/routing/route.h"

static const struct lid_options by_opensm = { .sm_port = TOPO_NONE };

static void route(struct subnet *s, const char *engine)
{
	struct diag d = { .status = HD_OK };

	if (subnet_assign_lids(s, &by_opensm, &d) != HD_OK ||
	    subnet_route(s, engine, NULL, &d) != HD_OK)
		fail_msg("%s: %s", engine, d.message);
}

static void assert_checks_agree_with_brute_force(const struct subnet *s)
{
	struct route_check c;
	struct deadlock_check lock;
	struct oracle o;

	route_check(s, &c);
	route_check_deadlock(s, DEADLOCK_PLAIN, &lock);
	oracle_run(s, &o);
	assert_int_equal(c.n_pairs, o.n_pairs);
	assert_int_equal(c.n_unreachable, o.n_unreachable);
	assert_int_equal(c.n_switch_pairs, o.n_switch_pairs);
	assert_int_equal(c.n_switch_unreachable, o.n_switch_unreachable);
	assert_int_equal(c.n_not_minimal, o.n_not_minimal);
	assert_int_equal(c.hops, o.hops);
	assert_int_equal(c.max_hops, o.max_hops);
	assert_int_equal(lock.n_cycle > 0, o.cyclic);
	route_deadlock_fini(&lock);
}

static void a_row_of_the_table_can_be_wrong_in_every_way(void **state)
{
	static const uint32_t dims[] = { 4, 3 };
	struct topo t;
	struct subnet s;
	struct rng r;

	(void)state;
	build_grid(&t, FAMILY_MESH, 2, dims, 2);
	subnet_init(&s, &t);
	for (unsigned round = 0; round < 40; round++) {
		route(&s, "xy");
		rng_init(&r, 1, round);
		for (unsigned i = 0; i < 1 + round % 4; i++) {
			size_t sw = rng_below(&r, s.n_switches);
			lid_t lid = (lid_t)(1 + rng_below(&r, s.top_lid[0]));
			unsigned port = (unsigned)rng_below(&r, 8);

			s.lft[sw * s.lft_stride + lid] = (uint8_t)(port == 7 ? LFT_NO_PORT : port);
		}
		struct route_check c;
		struct oracle o;

		route_check(&s, &c);
		oracle_run(&s, &o);
		assert_int_equal(c.n_unreachable, o.n_unreachable);
		assert_int_equal(c.n_switch_unreachable, o.n_switch_unreachable);
		assert_int_equal(c.n_not_minimal, o.n_not_minimal);
	}
	subnet_fini(&s);
	topo_fini(&t);
}

static void distinguishes_a_loop_from_a_missing_entry(void **state)
{
	static const uint32_t dims[] = { 3, 1 };
	struct topo t;
	struct subnet s;
	struct route_check c;
	struct strbuf path = STRBUF_INIT;

	(void)state;
	build_grid(&t, FAMILY_MESH, 2, dims, 1);
	subnet_init(&s, &t);
	route(&s, "minhop");
	port_id last = topo_port_of(&t, 5, 1); /* host2, on switch2 */
	lid_t lid = s.lid_of_port[last];

	s.lft[1 * s.lft_stride + lid] = 2; /* switch1 sends it back */
	route_check(&s, &c);
	assert_int_equal(c.n_unreachable, 2);
	assert_int_equal(c.n_loops, 2);
	assert_int_equal(c.fault, FAULT_LOOP);
	assert_int_equal(c.fault_at.lid, lid);
	route_print_path(&s, &(struct path_place){ 0, 0, lid }, &path);
	assert_string_equal(path.text, "'switch0' port 1 -> 'switch1' port 2 -> 'switch0': a loop");
	s.lft[1 * s.lft_stride + lid] = LFT_NO_PORT;
	route_check(&s, &c);
	assert_int_equal(c.n_unreachable, 2);
	assert_int_equal(c.n_loops, 0);
	assert_int_equal(c.fault, FAULT_NO_ENTRY);
	s.lft[1 * s.lft_stride + lid] = 5; /* the host inside the switch */
	route_check(&s, &c);
	assert_int_equal(c.fault, FAULT_ASTRAY);
	strbuf_clear(&path);
	route_print_path(&s, &(struct path_place){ 1, 0, lid }, &path);
	assert_string_equal(path.text, "'switch1' port 5 -> 'host1': the wrong one");
	strbuf_fini(&path);
	subnet_fini(&s);
	topo_fini(&t);
}

static void only_what_an_end_port_meets_is_a_fault(void **state)
{
	struct topo t;
	struct subnet s;
	struct route_check c;

	(void)state;
	generate(&t, "fat-tree --radix=4 --levels=2");
	subnet_init(&s, &t);
	route(&s, "updn");
	for (switch_id a = 0; a < s.n_switches; a++) {
		for (switch_id b = 0; b < s.n_switches; b++) {
			node_id x = s.node_of_switch[a], y = s.node_of_switch[b];

			/* Like OpenSM's updn: no path from top to top. */
			if (a != b && t.nodes[x].tier == 2 && t.nodes[y].tier == 2)
				s.lft[a * s.lft_stride + s.lid_of_port[t.nodes[y].first_port]] =
					LFT_NO_PORT;
		}
	}
	route_check(&s, &c);
	assert_true(c.n_faulty_entries > 0);
	assert_int_equal(c.n_unreachable, 0);
	assert_int_equal(c.n_switch_unreachable, 0);
	assert_true(route_check_is_clean(&c));
	/* Entries that a leaf lacks are missing for its hosts. */
	switch_id leaf = 0;

	while (t.nodes[s.node_of_switch[leaf]].tier != 1)
		leaf++;
	node_id top = t.n_nodes;

	while (t.nodes[--top].tier != 2)
		;
	s.lft[leaf * s.lft_stride + s.lid_of_port[t.nodes[top].first_port]] = LFT_NO_PORT;
	route_check(&s, &c);
	assert_true(route_check_is_clean(&c));
	assert_int_equal(c.n_switch_unreachable, 2); /* hosts of the leaf */
	assert_int_equal(c.switch_fault_at.from, leaf);
	subnet_fini(&s);
	topo_fini(&t);
}

static void gaps_of_dump_fts_are_recognised(void **state)
{
	struct topo t;
	struct subnet s;
	struct strbuf why = STRBUF_INIT;

	(void)state;
	/* A switch and 63 hosts: LIDs 1 to 64. */
	generate(&t, "star --hosts=63");
	subnet_init(&s, &t);
	route(&s, "minhop");
	assert_int_equal(s.top_lid[0], 64);
	assert_false(route_suspect_dump(&s, &why));
	s.lft[63] = LFT_NO_PORT;
	assert_false(route_suspect_dump(&s, &why));
	s.lft[64] = LFT_NO_PORT;
	assert_true(route_suspect_dump(&s, &why));
	assert_non_null(strstr(why.text, "the top LID, 64:"));
	subnet_fini(&s);
	topo_fini(&t);
	strbuf_clear(&why);
	generate(&t, "star --hosts=200");
	subnet_init(&s, &t);
	route(&s, "minhop");
	assert_false(route_suspect_dump(&s, &why));
	for (lid_t lid = 0; lid <= s.top_lid[0]; lid++) {
		if (s.lft[lid] >= 128)
			s.lft[lid] = LFT_NO_PORT;
	}
	assert_true(route_suspect_dump(&s, &why));
	assert_non_null(strstr(why.text, "no port from 128 on"));
	strbuf_fini(&why);
	subnet_fini(&s);
	topo_fini(&t);
}

/* Engine, fabric, and whether the routes can lock up. */
static const struct {
	const char *engine, *fabric;
	bool cyclic, minimal;
} cases[] = {
	{ "minhop", "star --hosts=5", false, true },
	{ "minhop", "back-to-back", false, true },
	{ "minhop", "two-switch", false, true },
	{ "minhop", "ring --switches=8", true, true },
	{ "minhop", "ring --switches=5", true, true },
	{ "minhop", "torus --sizes=4x4", true, true },
	{ "minhop", "torus --sizes=5x3x2", true, true },
	{ "minhop", "tree --arity=2 --levels=3", false, true },
	{ "minhop", "fat-tree --radix=4 --levels=3", false, true },
	{ "updn", "ring --switches=5", false, false },
	{ "updn", "torus --sizes=4x4", false, false },
	{ "updn", "tree --arity=3 --levels=2", false, true },
	{ "updn", "fat-tree --radix=4 --levels=3", false, true },
	{ "updn", "irregular --switches=16 --degree=4", false, false },
	{ "updn", "dragonfly --routers=3 --globals=1", false, false },
	{ "dor", "mesh --columns=4 --rows=3 --hosts=2", false, true },
	{ "dor", "torus --sizes=5x3", true, true },
	{ "dor", "torus --sizes=4x4x4", false, true },
	{ "dor", "hypercube --dimensions=4", false, true },
	{ "xy", "mesh --columns=3 --rows=5", false, true },
	{ "xy", "node-mesh --columns=4 --rows=3", false, true },
	{ "negative-first", "mesh --columns=4 --rows=4 --hosts=2", false, true },
	{ "ecube", "hypercube --dimensions=4", false, true },
	{ "torus", "ring --switches=4", false, true },
	{ "torus", "ring --switches=9 --hosts=2", false, true },
	{ "torus", "torus --sizes=4x4", false, true },
	{ "torus", "torus --sizes=5x6", false, true },
	{ "torus", "torus --sizes=4x3x2x5", false, true },
	{ "torus", "mesh --columns=3 --rows=3", false, true },
	{ "lash", "ring --switches=8", false, true },
	{ "lash", "torus --sizes=4x4 --hosts=2", false, true },
	{ "lash", "torus --sizes=5x5", false, true },
	{ "lash", "irregular --switches=16 --degree=4", false, true },
	{ "lash", "dragonfly --routers=3 --globals=1", false, true },
	{ "dfsssp", "ring --switches=8", false, true },
	{ "dfsssp", "torus --sizes=4x4 --hosts=2", false, true },
	{ "dfsssp", "torus --sizes=3x5x4", false, true },
	{ "dfsssp", "irregular --switches=16 --degree=4", false, true },
	{ "dfsssp", "fat-tree --radix=4 --levels=3", false, true },
	{ "dfsssp", "dragonfly --routers=4 --globals=2", false, true },
	{ "ftree", "star --hosts=5", false, true },
	{ "ftree", "tree --arity=2 --levels=4", false, true },
	{ "ftree", "fat-tree --radix=6 --levels=3", false, true },
	{ "ftree", "fat-tree --radix=8 --levels=2", false, true },
	{ "dragonfly", "dragonfly --routers=4 --globals=2", false, false },
	{ "dragonfly", "dragonfly --routers=3 --globals=1 --hosts=2", false, false },
	{ "dragonfly", "dragonfly-plus --leaves=3 --spines=2 --globals=2 --hosts=2", false, false },
};

static void routes_are_what_their_engine_promises(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct topo t;
		struct subnet s;
		struct route_check c;
		struct deadlock_check lock;

		generate(&t, cases[i].fabric);
		subnet_init(&s, &t);
		route(&s, cases[i].engine);
		route_check(&s, &c);
		route_check_deadlock(&s, DEADLOCK_PLAIN, &lock);
		if (!route_check_is_clean(&c) || c.n_pairs == 0 ||
		    (cases[i].minimal && c.n_not_minimal) ||
		    (lock.n_cycle > 0) != cases[i].cyclic || lock.n_dropped)
			fail_msg("%s on %s", cases[i].engine, cases[i].fabric);
		route_deadlock_fini(&lock);
		assert_checks_agree_with_brute_force(&s);
		subnet_fini(&s);
		topo_fini(&t);
	}
}

static void a_cycle_is_named_channel_by_channel(void **state)
{
	struct topo t;
	struct subnet s;
	struct deadlock_check c;
	struct strbuf text = STRBUF_INIT;

	(void)state;
	generate(&t, "ring --switches=5");
	subnet_init(&s, &t);
	route(&s, "minhop");
	route_check_deadlock(&s, DEADLOCK_PLAIN, &c);
	/* A ring has no shorter one than all of it. */
	assert_int_equal(c.n_cycle, 5);
	for (uint32_t i = 0; i < c.n_cycle; i++) {
		const struct topo_port *a = &t.ports[c.cycle[i].from];
		const struct topo_port *b = &t.ports[c.cycle[(i + 1) % c.n_cycle].from];

		assert_int_equal(t.ports[a->peer].node, b->node);
		assert_int_equal(c.cycle[i].vl, c.cycle[0].vl);
	}
	route_print_cycle(&s, &c, &text);
	assert_non_null(strstr(text.text, "' port "));
	assert_non_null(strstr(text.text, ", VL 0\n"));
	strbuf_fini(&text);
	route_deadlock_fini(&c);
	subnet_fini(&s);
	topo_fini(&t);
}

static void vls_can_break_a_cycle_and_make_one(void **state)
{
	struct topo t;
	struct subnet s;
	struct deadlock_check c;

	(void)state;
	generate(&t, "ring --switches=5");
	subnet_init(&s, &t);
	route(&s, "minhop");
	/* Switch 0 moves everything that passes it from VL 0 to VL 1 ... */
	for (unsigned in = 1; in <= 2; in++) {
		struct sl2vl up;

		memset(up.vl, 1, sizeof(up.vl));
		subnet_set_sl2vl(&s, 0, in, 3 - in, &up);
	}
	for (switch_id sw = 0; sw < 5; sw++) {
		for (unsigned i = 0; i < 16; i++) {
			struct sl2vl zero = { .vl = { 0 } };
			unsigned in = i % 4, out = i / 4;

			if (sw > 0 || in * out != 2)
				subnet_set_sl2vl(&s, sw, in, out, &zero);
		}
	}
	route_check_deadlock(&s, DEADLOCK_PLAIN, &c);
	/* ... so that each way round ends on another VL. */
	assert_int_equal(c.n_cycle, 0);
	assert_int_equal(c.size.vls, 3);
	route_deadlock_fini(&c);
	/* A VL that the link does not have loses packets. */
	struct sl2vl none;

	memset(none.vl, VL_MANAGEMENT, sizeof(none.vl));
	subnet_set_sl2vl(&s, 1, 1, 2, &none);
	route_check_deadlock(&s, DEADLOCK_PLAIN, &c);
	assert_true(c.n_dropped > 0);
	assert_int_equal(t.ports[c.dropped_at].node, 1);
	route_deadlock_fini(&c);
	subnet_fini(&s);
	topo_fini(&t);
}

static void an_sl_that_adapters_do_not_send_loses_nothing(void **state)
{
	struct topo t;
	struct subnet s;
	struct deadlock_check c;

	(void)state;
	generate(&t, "ring --switches=3");
	subnet_init(&s, &t);
	route(&s, "minhop");
	/* SL 9 is switched off, in one switch ... */
	struct sl2vl off = *sl2vl_at(&s, 0, 3, 1);

	off.vl[9] = VL_MANAGEMENT;
	for (unsigned i = 0; i < 16; i++)
		subnet_set_sl2vl(&s, 0, i % 4, i / 4, &off);
	route_check_deadlock(&s, DEADLOCK_PLAIN, &c);
	assert_true(c.n_dropped > 0);
	assert_int_equal(c.dropped_sl, 9);
	route_deadlock_fini(&c);
	/* ... and in all hosts. */
	for (port_id p = 0; p < t.n_ports; p++)
		subnet_set_port_sl2vl(&s, p, &off);
	route_check_deadlock(&s, DEADLOCK_PLAIN, &c);
	assert_int_equal(c.n_dropped, 0);
	route_deadlock_fini(&c);
	subnet_fini(&s);
	topo_fini(&t);
}

/* A ring of subnets, one switch and one host each, joined by routers. */
static void build_ring_of_subnets(struct topo *t, unsigned n)
{
	topo_init(t);
	for (unsigned i = 0; i < n; i++)
		add_host(t, add_switch(t, 4), 1);
	for (unsigned i = 0; i < n; i++) {
		node_id r = topo_add_node(t, NODE_ROUTER, 2, "router");

		t->nodes[r].guid = 0x300000 + 16 * i;
		/* nodes are switch, host, switch, host, ... */
		join(t, r, 1, 2 * i, 2);
		join(t, r, 2, 2 * ((i + 1) % n), 3);
	}
	topo_number_subnets(t);
}

static void routers_can_close_a_circle_of_subnets(void **state)
{
	(void)state;
	for (unsigned n = 2; n <= 6; n++) {
		struct topo t;
		struct subnet s;
		struct deadlock_check c;

		build_ring_of_subnets(&t, n);
		assert_int_equal(t.n_subnets, n);
		subnet_init(&s, &t);
		route(&s, "minhop");
		route_check_deadlock(&s, DEADLOCK_PLAIN, &c);
		/*
		 * Up to three subnets are all next to each other, and in a
		 * ring of four or more packets pass on through a subnet: the
		 * circle has a cable into and one out of each router.
		 */
		assert_int_equal(c.n_cycle, n < 4 ? 0 : 2 * n);
		route_deadlock_fini(&c);
		subnet_fini(&s);
		topo_fini(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_of_the_table_can_be_wrong_in_every_way),
		cmocka_unit_test(distinguishes_a_loop_from_a_missing_entry),
		cmocka_unit_test(only_what_an_end_port_meets_is_a_fault),
		cmocka_unit_test(gaps_of_dump_fts_are_recognised),
		cmocka_unit_test(routes_are_what_their_engine_promises),
		cmocka_unit_test(a_cycle_is_named_channel_by_channel),
		cmocka_unit_test(vls_can_break_a_cycle_and_make_one),
		cmocka_unit_test(an_sl_that_adapters_do_not_send_loses_nothing),
		cmocka_unit_test(routers_can_close_a_circle_of_subnets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
