/* SPDX-License-Identifier: BSD-2-Clause */
/* Networks in levels and groups: trees, dragonflies, rails. */
#include "topo/generate_for_tests.h"

/* Ancestors at all levels reach all hosts below, by the definition of XGFT. */
static void check_xgft(const char *words, unsigned h, const unsigned *m, const unsigned *w)
{
	struct topo t;
	uint32_t per_tier[8] = { 0 };

	make(&t, words, 1);
	check_sound(&t);
	check_guids_unique(&t);
	for (node_id v = 0; v < t.n_nodes; v++)
		per_tier[t.nodes[v].tier]++;
	for (unsigned l = 0; l <= h; l++) {
		uint32_t expected = 1;

		for (unsigned i = 0; i < h; i++)
			expected *= i < l ? w[i] : m[i];
		assert_int_equal(per_tier[l], expected);
	}
	for (port_id i = 0; i < t.n_ports; i++) {
		const struct topo_port *p = &t.ports[i];
		const struct topo_node *v = &t.nodes[p->node];

		if (p->number == 0)
			continue;
		/* All ports are in use, children before parents. */
		assert_int_not_equal(p->peer, TOPO_NONE);
		const struct topo_node *u = topo_node_of(&t, p->peer);
		unsigned differ = 0;

		if (v->tier > 0 && p->number <= m[v->tier - 1])
			assert_int_equal(u->tier, v->tier - 1);
		else
			assert_int_equal(u->tier, v->tier + 1);
		for (unsigned j = 0; j < h; j++)
			differ += u->coord[j] != v->coord[j];
		assert_true(differ <= 1);
	}
	topo_fini(&t);
}

static void xgfts_follow_their_definition(void **state)
{
	(void)state;
	check_xgft("xgft --down 3 --up 1", 1, (unsigned[]){ 3 }, (unsigned[]){ 1 });
	check_xgft("xgft --down 4,4 --up 1,2", 2, (unsigned[]){ 4, 4 }, (unsigned[]){ 1, 2 });
	check_xgft("xgft --down 2,3,4 --up 2,3,2", 3, (unsigned[]){ 2, 3, 4 },
		   (unsigned[]){ 2, 3, 2 });
	check_xgft("xgft --down 2x2x2x2 --up 1x2x2x2", 4, (unsigned[]){ 2, 2, 2, 2 },
		   (unsigned[]){ 1, 2, 2, 2 });
	check_xgft("tree --arity 3 --levels 3", 3, (unsigned[]){ 3, 3, 3 },
		   (unsigned[]){ 1, 3, 3 });
	check_xgft("fat-tree --radix 6 --levels 3", 3, (unsigned[]){ 3, 3, 6 },
		   (unsigned[]){ 1, 3, 3 });
	check_xgft("fat-tree --radix 6 --levels 2 --taper 2", 2, (unsigned[]){ 4, 6 },
		   (unsigned[]){ 1, 2 });
	/* k-ary n-tree: k^n hosts, n k^(n-1) switches. */
	check_shape("tree --arity 4 --levels 3", 48, 64, 64 + 2 * 64, 4);
	check_shape("xgft --down 4,4 --up 1,2 --parallel 1,3", 6, 16, 16 + 4 * 2 * 3, 2);
}

static void the_fat_tree_of_11664_hosts_is_one_line(void **state)
{
	struct topo t;

	(void)state;
	make(&t, "fat-tree --radix 36 --levels 3", 1);
	assert_int_equal(count(&t, NODE_CA), 11664);
	assert_int_equal(count(&t, NODE_SWITCH), 1620);
	assert_int_equal(n_cables(&t), 3 * 11664);
	for (node_id v = 0; v < 1620; v++)
		assert_int_equal(t.nodes[v].n_ports, 36);
	topo_fini(&t);
	make(&t, "xgft --down 18,18,36 --up 1,18,18", 1);
	assert_int_equal(t.n_nodes, 11664 + 1620);
	topo_fini(&t);
}

/* Every two groups must have the same number of cables between them. */
static void check_groups(const char *words, unsigned groups, unsigned between)
{
	struct topo t;
	uint32_t *links = hd_alloc(groups * groups, sizeof(*links));

	make(&t, words, 1);
	check_sound(&t);
	check_guids_unique(&t);
	for (port_id i = 0; i < t.n_ports; i++) {
		if (t.ports[i].peer == TOPO_NONE)
			continue;
		const struct topo_node *v = topo_node_of(&t, i);
		const struct topo_node *u = topo_node_of(&t, t.ports[i].peer);

		if (v->kind == NODE_SWITCH && u->kind == NODE_SWITCH)
			links[v->coord[0] * groups + u->coord[0]]++;
	}
	for (unsigned i = 0; i < groups; i++) {
		for (unsigned j = 0; j < groups; j++) {
			if (i != j)
				assert_int_equal(links[i * groups + j], between);
		}
	}
	free(links);
	topo_fini(&t);
}

static void check_dragonfly(unsigned a, unsigned h, const char *arrangement)
{
	unsigned g = a * h + 1, n = g * a, local = g * a * (a - 1) / 2;
	char words[120];

	snprintf(words, sizeof(words),
		 "dragonfly --routers %u --globals %u --arrangement %s --hosts 2", a, h,
		 arrangement);
	/* The longest way is local, global, local. */
	check_shape(words, n, 2 * n, local + g * (g - 1) / 2 + 2 * n, a > 1 ? 3 : 1);
	check_groups(words, g, 1);
}

static void dragonflies_join_every_two_groups_alike(void **state)
{
	(void)state;
	for (unsigned a = 1; a <= 5; a++) {
		for (unsigned h = 1; h <= 3; h++) {
			check_dragonfly(a, h, "absolute");
			check_dragonfly(a, h, "palmtree");
		}
	}
	check_groups("dragonfly --routers 4 --globals 2 --groups 3", 3, 4);
	check_groups("dragonfly --routers 4 --globals 2 --groups 3 --arrangement absolute", 3, 4);
	check_groups("dragonfly --routers 4 --globals 2 --groups 4", 4, 2);
	check_groups("dragonfly-plus --leaves 3 --spines 4 --globals 2", 9, 1);
	check_groups(
		"dragonfly-plus --leaves 3 --spines 4 --globals 2 --groups 5 --arrangement absolute",
		5, 2);
	/* Leaf to leaf is 3; two spines without a cable lie around those. */
	check_shape("dragonfly-plus --leaves 4 --spines 4 --globals 2", 72, 144, 9 * 16 + 36 + 144,
		    5);
	check_shape("dragonfly --routers 4 --globals 2 --groups 1", 4, 8, 14, 1);
}

/* Port n of a host to leaf n - 1 of its unit. */
static void check_rail_host(const struct topo *t, node_id v, unsigned unit)
{
	for (unsigned n = 0; n < t->nodes[v].n_ports; n++) {
		const struct topo_node *leaf = &t->nodes[peer_node(t, v, n + 1)];

		assert_int_equal(leaf->tier, 1);
		assert_int_equal(leaf->coord[0], unit);
		assert_int_equal(leaf->coord[1], n);
	}
}

/* To leaves of its plane, each once. */
static void check_rail_spine(const struct topo *t, node_id v, unsigned planes)
{
	unsigned number = t->nodes[v].coord[0];

	for (unsigned n = 1; n <= t->nodes[v].n_ports; n++) {
		node_id to = peer_node(t, v, n);

		assert_int_equal(t->nodes[to].tier, 1);
		assert_int_equal(t->nodes[to].coord[1] % planes, number % planes);
		for (unsigned k = 1; k < n; k++)
			assert_int_not_equal(peer_node(t, v, k), to);
	}
}

static void check_rails(uint32_t rails, uint32_t units, uint32_t hosts, uint32_t spines,
			uint32_t planes)
{
	uint32_t leaves = rails * units, switches = leaves + spines;
	char words[128];
	struct topo t;

	snprintf(words, sizeof(words),
		 "rail --rails %u --units %u --hosts %u --spines %u --planes %u", rails, units,
		 hosts, spines, planes);
	make(&t, words, 1);
	check_sound(&t);
	check_guids_unique(&t);
	assert_int_equal(count(&t, NODE_SWITCH), switches);
	assert_int_equal(count(&t, NODE_CA), units * hosts);
	assert_int_equal(n_cables(&t), leaves * hosts + leaves * spines / planes);
	for (node_id v = leaves; v < switches; v++)
		check_rail_spine(&t, v, planes);
	for (node_id v = switches; v < t.n_nodes; v++)
		check_rail_host(&t, v, (v - switches) / hosts);
	topo_fini(&t);
}

static void rails_lead_to_leaves_of_their_own(void **state)
{
	static const uint32_t rails[] = { 1, 2, 4, 8 };

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		for (uint32_t planes = 1; planes <= rails[i]; planes *= 2) {
			check_rails(rails[i], 1, 3, 8, planes);
			check_rails(rails[i], 3, 5, 8, planes);
			check_rails(rails[i], 1, 4, 0, planes);
		}
	}
	refuse("rail --rails 8 --planes 3", "into 3 planes");
	refuse("rail --rails 8 --spines 3 --planes 2", "into 2 planes");
	refuse("rail --units 300 --hosts 1", "at most");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(xgfts_follow_their_definition),
		cmocka_unit_test(the_fat_tree_of_11664_hosts_is_one_line),
		cmocka_unit_test(dragonflies_join_every_two_groups_alike),
		cmocka_unit_test(rails_lead_to_leaves_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
