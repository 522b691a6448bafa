/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "topo/generate_for_tests.h"

static void check_mesh(unsigned m, unsigned n)
{
	unsigned inner = (m - 1) * n + m * (n - 1);
	char words[80];

	for (unsigned h = 0; h <= 2; h++) {
		snprintf(words, sizeof(words), "mesh --columns %u --rows %u --hosts %u", m, n, h);
		check_shape(words, m * n, m * n * h, inner + m * n * h, m + n - 2);
	}
	snprintf(words, sizeof(words), "node-mesh --columns %u --rows %u", m, n);
	check_shape(words, m * n, 0, inner, m + n - 2);
}

static void meshes_have_the_counts_and_diameters_of_theory(void **state)
{
	(void)state;
	for (unsigned m = 1; m <= 5; m++) {
		for (unsigned n = 1; n <= 5; n++)
			check_mesh(m, n);
	}
}

static void mesh_ports_are_east_north_west_south_then_hosts(void **state)
{
	struct topo t;

	(void)state;
	make(&t, "mesh --columns 4 --rows 3 --hosts 2", 1);
	for (unsigned x = 0; x < 4; x++) {
		for (unsigned y = 0; y < 3; y++) {
			node_id v = x * 3 + y;

			assert_int_equal(t.nodes[v].coord[0], x);
			assert_int_equal(t.nodes[v].coord[1], y);
			assert_int_equal(peer_node(&t, v, 1), x < 3 ? v + 3 : TOPO_NONE);
			assert_int_equal(peer_node(&t, v, 2), y < 2 ? v + 1 : TOPO_NONE);
			assert_int_equal(peer_node(&t, v, 3), x > 0 ? v - 3 : TOPO_NONE);
			assert_int_equal(peer_node(&t, v, 4), y > 0 ? v - 1 : TOPO_NONE);
			assert_int_equal(peer_node(&t, v, 5), 12 + 2 * v);
			assert_int_equal(peer_node(&t, v, 6), 13 + 2 * v);
		}
	}
	topo_fini(&t);
	make(&t, "node-mesh --columns 5 --rows 5", 1);
	for (node_id v = 0; v < t.n_nodes; v++)
		assert_true(topo_is_end_port(&t, topo_port_of(&t, v, 0)));
	topo_fini(&t);
}

static void tori_have_the_counts_and_diameters_of_theory(void **state)
{
	static const unsigned sizes[][3] = {
		{ 1, 1, 1 }, { 2, 1, 1 }, { 2, 2, 2 }, { 3, 3, 1 }, { 4, 2, 3 },
		{ 5, 4, 1 }, { 3, 3, 3 }, { 7, 1, 2 }, { 4, 4, 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		const unsigned *k = sizes[i];
		unsigned n = k[0] * k[1] * k[2], cables = 0, longest = 0;
		char words[80];

		for (unsigned j = 0; j < 3; j++) {
			/* A ring of k has k cables, but of 2 it has one. */
			cables += n / k[j] * (k[j] > 2 ? k[j] : k[j] - 1);
			longest += k[j] / 2;
		}
		snprintf(words, sizeof(words), "torus --sizes %ux%ux%u --hosts 2", k[0], k[1],
			 k[2]);
		check_shape(words, n, 2 * n, cables + 2 * n, longest);
	}
	check_shape("ring --switches 9 --hosts 3", 9, 27, 36, 4);
	check_shape("torus --sizes 2,2,2,2,2 --hosts 0", 32, 0, 80, 5);
}

static void torus_ports_lead_up_and_down_each_dimension(void **state)
{
	struct topo t;

	(void)state;
	make(&t, "torus --sizes 3x4 --hosts 1", 1);
	for (unsigned a = 0; a < 3; a++) {
		for (unsigned b = 0; b < 4; b++) {
			node_id v = a * 4 + b;

			assert_int_equal(t.nodes[v].coord[0], a);
			assert_int_equal(t.nodes[v].coord[1], b);
			assert_int_equal(peer_node(&t, v, 1), (a + 1) % 3 * 4 + b);
			assert_int_equal(peer_node(&t, v, 2), (a + 2) % 3 * 4 + b);
			assert_int_equal(peer_node(&t, v, 3), a * 4 + (b + 1) % 4);
			assert_int_equal(peer_node(&t, v, 4), a * 4 + (b + 3) % 4);
			assert_int_equal(peer_node(&t, v, 5), 12 + v);
		}
	}
	topo_fini(&t);
}

static void check_hypercube(unsigned n)
{
	unsigned size = 1u << n;
	char words[80];
	struct topo t;

	snprintf(words, sizeof(words), "hypercube --dimensions %u --hosts 4", n);
	check_shape(words, size, 4 * size, size / 2 * n + 4 * size, n);
	make(&t, words, 1);
	for (node_id v = 0; v < size; v++) {
		for (unsigned i = 0; i < n; i++) {
			assert_int_equal(peer_node(&t, v, i + 1), v ^ 1u << i);
			assert_int_equal(t.nodes[v].coord[i], v >> i & 1);
		}
	}
	topo_fini(&t);
}

static void hypercubes_are_hypercubes(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= 6; n++)
		check_hypercube(n);
}

static void stars_and_cables_are_what_they_say(void **state)
{
	struct topo t;

	(void)state;
	check_shape("star --hosts 255", 1, 255, 255, 0);
	check_shape("star --switches 5 --hosts 3", 6, 15, 20, 2);
	check_shape("star --hosts 4 --host-ports 2", 1, 4, 8, 0);
	make(&t, "back-to-back --cables 2", 1);
	assert_int_equal(t.n_nodes, 2);
	assert_int_equal(n_cables(&t), 2);
	assert_int_equal(t.n_subnets, 2);
	topo_fini(&t);
}

static void irregular_graphs_are_simple_regular_and_connected(void **state)
{
	unsigned rounds = cases_of_run(100, 2000);
	struct rng rng;

	(void)state;
	/* Dense ones too: all but a few cables. */
	check_shape("irregular --switches 40 --degree 39 --hosts 0", 40, 0, 780, 1);
	check_shape("irregular --switches 40 --degree 38 --hosts 0", 40, 0, 760, 2);
	check_shape("irregular --switches 60 --degree 55 --hosts 0", 60, 0, 1650, 2);
	rng_init(&rng, 7, 7);
	for (unsigned i = 0; i < rounds; i++) {
		unsigned n = 2 + (unsigned)rng_below(&rng, 40);
		unsigned most = n < 7 ? n - 1 : 6;
		unsigned d = 1 + (unsigned)rng_below(&rng, most);
		char words[80];
		struct topo t;

		if (n * d % 2 || (d == 1 && n > 2))
			continue;
		snprintf(words, sizeof(words), "irregular --switches %u --degree %u --hosts 1", n,
			 d);
		make(&t, words, i);
		check_sound(&t);
		for (node_id v = 0; v < n; v++) {
			for (unsigned p = 1; p < d; p++)
				assert_true(peer_node(&t, v, p) < peer_node(&t, v, p + 1));
			assert_true(peer_node(&t, v, d) < n);
			assert_int_equal(peer_node(&t, v, d + 1), n + v);
		}
		topo_fini(&t);
	}
}

static void a_seed_gives_one_graph_and_seeds_differ(void **state)
{
	struct topo a, b, c;
	unsigned differ = 0;

	(void)state;
	make(&a, "irregular --switches 16 --degree 4", 5);
	make(&b, "irregular --switches 16 --degree 4", 5);
	make(&c, "irregular --switches 16 --degree 4", 6);
	for (port_id i = 0; i < a.n_ports; i++) {
		assert_int_equal(a.ports[i].peer, b.ports[i].peer);
		differ += a.ports[i].peer != c.ports[i].peer;
	}
	assert_true(differ > 0);
	topo_fini(&a);
	topo_fini(&b);
	topo_fini(&c);
}

static void small_fabrics_have_the_names_of_their_papers(void **state)
{
	static const char *const thesis[] = { "A",  "B",  "A1", "A2", "Av",
					      "B1", "B2", "B3", "Bc", "Bv" };
	static const char *const blrm[] = { "S1", "S2", "N1", "N2", "N3", "N4" };
	struct topo t;

	(void)state;
	make(&t, "two-switch --remote 2 --local 3", 1);
	check_sound(&t);
	assert_int_equal(t.n_nodes, 10);
	for (unsigned i = 0; i < 10; i++)
		assert_string_equal(t.nodes[i].name, thesis[i]);
	for (unsigned i = 2; i < 10; i++)
		assert_int_equal(peer_node(&t, i, 1), i < 5 ? 0 : 1);
	topo_fini(&t);
	make(&t, "blrm", 1);
	check_sound(&t);
	assert_int_equal(t.n_nodes, 6);
	for (unsigned i = 0; i < 6; i++)
		assert_string_equal(t.nodes[i].name, blrm[i]);
	for (unsigned i = 2; i < 6; i++)
		assert_int_equal(peer_node(&t, i, 1), i < 4 ? 0 : 1);
	assert_int_equal(peer_node(&t, 0, 1), 1);
	topo_fini(&t);
}

static void routers_part_subnets(void **state)
{
	struct topo t;

	(void)state;
	make(&t, "routed --subnets 3 --hosts 2", 1);
	check_sound(&t);
	assert_int_equal(t.n_subnets, 3);
	assert_int_equal(count(&t, NODE_ROUTER), 2);
	for (node_id v = 0; v < t.n_nodes; v++) {
		const struct topo_node *n = &t.nodes[v];

		for (unsigned i = n->kind != NODE_SWITCH; i <= n->n_ports; i++)
			assert_int_equal(t.ports[n->first_port + i].subnet,
					 n->kind == NODE_ROUTER ? n->coord[0] + i - 1
								: n->coord[0]);
	}
	topo_fini(&t);
	make(&t, "mesh", 1);
	assert_int_equal(t.n_subnets, 1);
	topo_fini(&t);
}

static void links_run_at_the_best_of_both_ends(void **state)
{
	struct topo t;
	struct topo_link_state host, trunk;

	(void)state;
	make(&t,
	     "mesh --link=12xHDR --host-link=4xEDR --trunk-link=8xNDR --vls=8 --host-vls=4 --mtu=2048 --host-mtu=1024",
	     1);
	assert_int_equal(topo_link_state(&t, topo_port_of(&t, 0, 5), &host), HD_OK);
	assert_int_equal(topo_link_state(&t, topo_port_of(&t, 0, 1), &trunk), HD_OK);
	assert_int_equal(host.lanes, 4);
	assert_int_equal(host.speed, SPEED_EDR);
	assert_int_equal(host.vls, 4);
	assert_int_equal(host.mtu, 1024);
	assert_int_equal(trunk.lanes, 8);
	assert_int_equal(trunk.speed, SPEED_NDR);
	assert_int_equal(trunk.vls, 8);
	assert_int_equal(trunk.mtu, 2048);
	topo_fini(&t);
	make(&t, "mesh --columns 1 --rows 1 --hosts 5 --tcas 2", 1);
	for (unsigned i = 1; i <= 5; i++)
		assert_int_equal(t.nodes[i].is_tca, i > 3);
	topo_fini(&t);
}

static void impossible_fabrics_are_refused_with_the_reason(void **state)
{
	(void)state;
	refuse("mehs", "did you mean 'mesh'?");
	refuse("mesh --columns 0", "is not in 1..65535");
	refuse("mesh --columns 3000 --rows 3000", "more than 1000000 nodes");
	refuse("mesh --hosts 252", "256 ports");
	refuse("mesh --hosts 1 --tcas 2", "2 target adapters among 1 hosts");
	refuse("torus --sizes 4x", "expected up to 16 numbers");
	refuse("torus --sizes 4x0", "expected up to 16 numbers");
	refuse("torus --sizes 4x-4", "expected up to 16 numbers");
	refuse("torus --sizes 65535,65535", "more than 1000000 nodes");
	refuse("xgft --down 4,4 --up 1", "down has 2 levels and up 1");
	refuse("xgft --down 200,4 --up 1,100", "300 ports");
	refuse("fat-tree --radix 35 --levels 2", "35 ports cannot be shared");
	refuse("irregular --switches 5 --degree 3", "no connected graph");
	refuse("irregular --switches 4 --degree 4", "no connected graph");
	refuse("irregular --switches 4 --degree 1", "no connected graph");
	refuse("dragonfly --groups 10", "10 groups");
	refuse("mesh --link 3xHDR", "expected a width");
	refuse("mesh --link 4xFOO", "expected a width");
	refuse("mesh --vls 3", "there can be 1, 2, 4, 8 or 15");
	refuse("mesh --mtu 1500", "there are 256");
	refuse("mesh --levels 3", "unknown option");
	refuse("mesh 4", "unexpected '4'");
}

static void a_filled_struct_is_checked_as_words_are(void **state)
{
	struct diag d = { .status = HD_OK };
	const struct generator *g = generator_find("mesh", &d);
	struct topo_params p;
	struct topo t;

	(void)state;
	assert_non_null(g);
	topo_params_init(g, &p);
	assert_int_equal(topo_generate(g, &p, &d, &t), HD_OK);
	assert_int_equal(t.n_nodes, 32);
	topo_fini(&t);
	p.rows = 0;
	assert_int_equal(topo_generate(g, &p, &d, &t), HD_ERR_RANGE);
}

static void every_row_of_the_table_works(void **state)
{
	(void)state;
	for (const struct generator *g = topo_generators; g->name; g++) {
		struct topo t;

		make(&t, g->name, 1);
		check_sound(&t);
		check_guids_unique(&t);
		assert_int_equal(t.family, g->family);
		topo_fini(&t);
		assert_memory_equal(g->example, g->name, strlen(g->name));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(meshes_have_the_counts_and_diameters_of_theory),
		cmocka_unit_test(mesh_ports_are_east_north_west_south_then_hosts),
		cmocka_unit_test(tori_have_the_counts_and_diameters_of_theory),
		cmocka_unit_test(torus_ports_lead_up_and_down_each_dimension),
		cmocka_unit_test(hypercubes_are_hypercubes),
		cmocka_unit_test(stars_and_cables_are_what_they_say),
		cmocka_unit_test(irregular_graphs_are_simple_regular_and_connected),
		cmocka_unit_test(a_seed_gives_one_graph_and_seeds_differ),
		cmocka_unit_test(small_fabrics_have_the_names_of_their_papers),
		cmocka_unit_test(routers_part_subnets),
		cmocka_unit_test(links_run_at_the_best_of_both_ends),
		cmocka_unit_test(impossible_fabrics_are_refused_with_the_reason),
		cmocka_unit_test(a_filled_struct_is_checked_as_words_are),
		cmocka_unit_test(every_row_of_the_table_works),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
