/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "subnet/routing/fabric_for_tests.h"
#include "subnet/routing/load.h"
#include "subnet/routing/route.h"

static const struct lid_options by_opensm = { .sm_port = TOPO_NONE };

static void set_up(struct topo *t, struct subnet *s, const char *fabric, const char *engine)
{
	struct diag d = { .status = HD_OK };

	generate(t, fabric);
	subnet_init(s, t);
	if (subnet_assign_lids(s, &by_opensm, &d) != HD_OK ||
	    subnet_route(s, engine, NULL, &d) != HD_OK)
		fail_msg("%s", d.message);
}

static void tear_down(struct topo *t, struct subnet *s)
{
	subnet_fini(s);
	topo_fini(t);
}

static void all_to_all_on_a_mesh_is_the_closed_form(void **state)
{
	struct topo t;
	struct subnet s;
	struct load_spread l;

	(void)state;
	/*
	 * On a k x k mesh under XY the middle cut of a row is crossed, in one
	 * direction, by k/2 sources of the row times k/2 columns times k rows:
	 * k^3/4; all paths together take k^2 sum |dx| twice.
	 */
	set_up(&t, &s, "node-mesh --columns=16 --rows=16", "xy");
	load_all_to_all(&s, &l);
	assert_int_equal(l.n_flows, 256 * 255);
	assert_int_equal(l.n_lost, 0);
	assert_int_equal(l.n_channels, 4 * 16 * 15);
	assert_int_equal(l.max, 1024);
	assert_int_equal(l.n_idle, 0);
	/* mean |dx| over all pairs is (k^2 - 1) / (3k) */
	assert_int_equal(l.total, 2 * 256 * 16 * (16 * 16 - 1) / 3);
	tear_down(&t, &s);
}

/* Cables between switches from end port a to b. */
static uint64_t hops_of(const struct subnet *s, port_id a, port_id b)
{
	switch_id sw = subnet_switch_at(s, a);
	uint64_t hops = 0;

	for (; sw != subnet_switch_at(s, b); hops++) {
		unsigned out = lft_get(s, sw, s->lid_of_port[b]);

		sw = subnet_switch_at(s, topo_port_of(s->topo, s->node_of_switch[sw], out));
	}
	return hops;
}

static void assert_sum_of_walks(const char *fabric, const char *engine)
{
	struct topo t;
	struct subnet s;
	struct load_spread l;
	uint64_t total = 0, n = 0;

	set_up(&t, &s, fabric, engine);
	load_all_to_all(&s, &l);
	for (port_id a = 0; a < t.n_ports; a++) {
		for (port_id b = 0; b < t.n_ports; b++) {
			if (a == b || !topo_is_end_port(&t, a) || !topo_is_end_port(&t, b))
				continue;
			n++;
			total += hops_of(&s, a, b);
		}
	}
	assert_int_equal(l.n_flows, n);
	assert_int_equal(l.total, total);
	assert_true(l.max * l.n_channels >= l.total);
	tear_down(&t, &s);
}

static void all_to_all_is_what_single_walks_add_up_to(void **state)
{
	(void)state;
	assert_sum_of_walks("irregular --switches=12 --degree=3", "updn");
	assert_sum_of_walks("fat-tree --radix=4 --levels=3", "minhop");
	assert_sum_of_walks("torus --sizes=4x3 --hosts=2", "dfsssp");
}

static void assert_no_contention(const char *fabric, bool mixed)
{
	struct topo t;
	struct subnet s;
	struct load_shares l;
	struct diag d = { .status = HD_OK };

	generate(&t, fabric);
	if (mixed)
		shuffle(&t, 5);
	subnet_init(&s, &t);
	assert_int_equal(subnet_assign_lids(&s, &by_opensm, &d), HD_OK);
	assert_int_equal(subnet_route(&s, "ftree", NULL, &d), HD_OK);
	load_patterns(&s, LOAD_SHIFT, 1000, 1, &l);
	assert_int_equal(l.n_lost, 0);
	assert_int_equal(l.worst, 1);
	assert_float_equal(l.mean_share, 1, 1e-12);
	tear_down(&t, &s);
}

static void fat_tree_routing_is_free_of_contention_under_shifts(void **state)
{
	(void)state;
	for (unsigned mixed = 0; mixed < 2; mixed++) {
		assert_no_contention("fat-tree --radix=8 --levels=2", mixed);
		assert_no_contention("fat-tree --radix=6 --levels=3", mixed);
		assert_no_contention("tree --arity=2 --levels=4", mixed);
	}
}

static void one_cable_between_two_switches_halves_and_quarters(void **state)
{
	struct topo t;
	struct subnet s;
	struct load_shares l;
	struct diag d = { .status = HD_OK };

	(void)state;
	/* Four hosts on each of two switches, one cable between. */
	topo_init(&t);
	node_id a = add_switch(&t, 8), b = add_switch(&t, 8);

	join(&t, a, 8, b, 8);
	for (unsigned i = 1; i <= 4; i++)
		add_host(&t, a, i);
	for (unsigned i = 1; i <= 4; i++)
		add_host(&t, b, i);
	subnet_init(&s, &t);
	assert_int_equal(subnet_assign_lids(&s, &by_opensm, &d), HD_OK);
	assert_int_equal(subnet_route(&s, "minhop", NULL, &d), HD_OK);
	load_patterns(&s, LOAD_SHIFT, 1000, 1, &l);
	assert_int_equal(l.n_patterns, 7);
	/*
	 * Shifted by k, min(k, 8 - k) flows cross the cable each way: they
	 * get 1/that each, the others all. Eight flows per pattern.
	 */
	double sum = 0;

	for (unsigned k = 1; k <= 7; k++) {
		unsigned crossing = k < 8 - k ? k : 8 - k;

		sum += (2.0 * crossing / crossing + 8 - 2 * crossing) / 8;
	}
	assert_float_equal(l.mean_share, sum / 7, 1e-12);
	assert_int_equal(l.worst, 4);
	assert_float_equal(l.least_share, 0.25, 1e-12);
	/* A cable four times as fast as the hosts' carries four flows. */
	for (port_id p = 0; p < t.n_ports; p++) {
		if (s.rate_of_port[p].num)
			s.rate_of_port[p] = hd_rate_of_link(1, SPEED_SDR);
	}
	s.rate_of_port[topo_port_of(&t, a, 8)] = hd_rate_of_link(4, SPEED_SDR);
	s.rate_of_port[topo_port_of(&t, b, 8)] = hd_rate_of_link(4, SPEED_SDR);
	load_patterns(&s, LOAD_SHIFT, 1000, 1, &l);
	assert_float_equal(l.mean_share, 1, 1e-12);
	tear_down(&t, &s);
}

static void bisection_of_one_switch_is_full(void **state)
{
	struct topo t;
	struct subnet s;
	struct load_shares l;

	(void)state;
	set_up(&t, &s, "star --hosts=10", "minhop");
	load_patterns(&s, LOAD_BISECTION, 20, 1, &l);
	assert_int_equal(l.n_patterns, 20);
	assert_float_equal(l.mean_share, 1, 1e-12);
	assert_int_equal(l.worst, 1);
	load_patterns(&s, LOAD_PERMUTATION, 20, 1, &l);
	assert_float_equal(l.mean_share, 1, 1e-12);
	tear_down(&t, &s);
}

/* Two hosts and a cable: two flows, on no channel between switches, and each
 * has its cable for itself. */
static void hosts_back_to_back_have_all_of_their_cable(void **state)
{
	struct topo t;
	struct subnet s;
	struct load_spread spread;
	struct load_shares l;

	(void)state;
	set_up(&t, &s, "back-to-back", "minhop");
	load_all_to_all(&s, &spread);
	assert_int_equal(spread.n_flows, 2);
	assert_int_equal(spread.n_lost, 0);
	assert_int_equal(spread.n_channels, 0);
	for (enum load_pattern p = LOAD_PERMUTATION; p <= LOAD_BISECTION; p++) {
		load_patterns(&s, p, 8, 1, &l);
		assert_int_equal(l.n_patterns, p == LOAD_SHIFT ? 1 : 8);
		assert_true(l.n_flows > 0);
		assert_int_equal(l.n_lost, 0);
		assert_float_equal(l.mean_share, 1, 1e-12);
		assert_int_equal(l.worst, 1);
	}
	tear_down(&t, &s);
}

static void a_flow_without_a_route_has_no_share(void **state)
{
	struct topo t;
	struct subnet s;
	struct load_shares l;
	struct load_spread a;

	(void)state;
	set_up(&t, &s, "ring --switches=5", "minhop");
	load_all_to_all(&s, &a);
	assert_int_equal(a.n_lost, 0);
	port_id host = topo_port_of(&t, 5, 1);

	for (switch_id sw = 0; sw < 5; sw++)
		s.lft[sw * s.lft_stride + s.lid_of_port[host]] = LFT_NO_PORT;
	load_all_to_all(&s, &a);
	assert_int_equal(a.n_flows, 20);
	assert_int_equal(a.n_lost, 4);
	load_patterns(&s, LOAD_SHIFT, 10, 1, &l);
	assert_int_equal(l.n_lost, 4);
	assert_float_equal(l.least_share, 0, 0);
	tear_down(&t, &s);
}

/*
 * Every host sends to every other at exactly one distance: losses where tables have holes equal
 * those of all-to-all traffic.
 */
static void all_shifts_are_all_pairs(void **state)
{
	struct topo t;
	struct subnet s;
	struct load_shares l;
	struct load_spread a;
	struct rng rng;

	(void)state;
	rng_init(&rng, 3, 0);
	for (unsigned k = 0; k < 50; k++) {
		set_up(&t, &s, "torus --sizes=3x3 --hosts=2", "minhop");
		for (unsigned holes = 0; holes < 40; holes++) {
			uint64_t sw = rng_below(&rng, s.n_switches);
			uint64_t lid = 1 + rng_below(&rng, s.top_lid[0]);

			s.lft[sw * s.lft_stride + lid] = LFT_NO_PORT;
		}
		load_all_to_all(&s, &a);
		load_patterns(&s, LOAD_SHIFT, 1000, 1, &l);
		assert_int_equal(l.n_patterns, 17);
		assert_int_equal(a.n_flows, 18 * 17);
		assert_int_equal(l.n_flows, a.n_flows);
		assert_int_equal(l.n_lost, a.n_lost);
		assert_true(a.n_lost > 0 && a.n_lost < a.n_flows);
		tear_down(&t, &s);
	}
}

static void the_same_seed_draws_the_same(void **state)
{
	struct topo t;
	struct subnet s;
	struct load_shares a, b, c;

	(void)state;
	set_up(&t, &s, "torus --sizes=4x4 --hosts=2", "dor");
	load_patterns(&s, LOAD_BISECTION, 50, 7, &a);
	load_patterns(&s, LOAD_BISECTION, 50, 7, &b);
	load_patterns(&s, LOAD_BISECTION, 50, 8, &c);
	assert_memory_equal(&a, &b, sizeof(a));
	assert_float_not_equal(a.mean_share, c.mean_share, 1e-9);
	assert_true(a.mean_share > 0.2 && a.mean_share < 1);
	tear_down(&t, &s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_to_all_on_a_mesh_is_the_closed_form),
		cmocka_unit_test(all_to_all_is_what_single_walks_add_up_to),
		cmocka_unit_test(fat_tree_routing_is_free_of_contention_under_shifts),
		cmocka_unit_test(one_cable_between_two_switches_halves_and_quarters),
		cmocka_unit_test(hosts_back_to_back_have_all_of_their_cable),
		cmocka_unit_test(bisection_of_one_switch_is_full),
		cmocka_unit_test(a_flow_without_a_route_has_no_share),
		cmocka_unit_test(all_shifts_are_all_pairs),
		cmocka_unit_test(the_same_seed_draws_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
