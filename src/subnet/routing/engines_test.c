/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/routing/check.h"
#include "subnet/routing/deadlock.h"
#include "subnet/routing/engines_for_tests.h"
#include "subnet/routing/grid.h"
#include "subnet/routing/oracle_for_tests.h"

/* Checks the guarantees of every engine on fabrics that it accepts, by brute force. */
static void assert_sound(const struct subnet *s, bool minimal, bool acyclic)
{
	struct route_check c;
	struct deadlock_check lock;
	struct oracle o;

	route_check(s, &c);
	route_check_deadlock(s, DEADLOCK_PLAIN, &lock);
	oracle_run(s, &o);
	assert_true(o.n_pairs > 0);
	assert_int_equal(o.n_unreachable, 0);
	assert_int_equal(c.n_faulty_entries, 0);
	assert_int_equal(c.n_unreachable, 0);
	assert_int_equal(c.n_pairs, o.n_pairs);
	assert_int_equal(c.n_not_minimal, o.n_not_minimal);
	if (minimal)
		assert_int_equal(o.n_not_minimal, 0);
	assert_int_equal(lock.n_cycle > 0, o.cyclic);
	if (acyclic)
		assert_false(o.cyclic);
	assert_int_equal(lock.n_dropped, 0);
	route_deadlock_fini(&lock);
}

static void accepts(struct topo *t, const char *engine, unsigned lmc, bool minimal, bool acyclic)
{
	struct subnet s;
	struct diag d = { .status = HD_OK };

	subnet_init(&s, t);
	if (try_route(&s, engine, lmc, &d) != HD_OK)
		fail_msg("%s", d.message);
	assert_string_equal(s.engine, engine);
	assert_sound(&s, minimal, acyclic);
	subnet_fini(&s);
}

/* Switches have a path to every LID, so that a manager receives responses. */
static void degraded_trees_have_every_entry(void **state)
{
	static const char *const trees[] = { "fat-tree --radix=8 --levels=2",
					     "fat-tree --radix=6 --levels=3",
					     "tree --arity=3 --levels=3" };
	unsigned n_routed = 0, n_odd = 0;
	struct rng r;

	(void)state;
	rng_init(&r, 21, 0);
	for (unsigned i = 0; i < rounds(60); i++) {
		struct diag d = { .status = HD_OK };
		struct sw_graph g;
		struct subnet s;
		struct topo t;

		generate(&t, trees[i % 3]);
		degrade(&t, &r, 1 + i % 7);
		subnet_init(&s, &t);
		graph_init(&g, &s);
		if (graph_is_connected(&g) && try_route(&s, "ftree", i % 2, &d) == HD_OK) {
			assert_sound(&s, false, true);
			n_routed++;
		} else if (graph_is_connected(&g)) {
			n_odd++; /* with a reason: no path up and down */
			assert_int_equal(d.status, HD_ERR_UNFIT);
		}
		graph_fini(&g);
		subnet_fini(&s);
		topo_fini(&t);
	}
	assert_true(n_routed > 20 && n_odd < n_routed);
}

static void engines_for_any_fabric_route_random_ones(void **state)
{
	struct rng r;

	(void)state;
	for (unsigned i = 0; i < rounds(6); i++) {
		struct topo t;
		uint32_t n;
		unsigned lmc;

		rng_init(&r, 7, i);
		n = 1 + (uint32_t)rng_below(&r, 20);
		lmc = (unsigned)rng_below(&r, 3);
		build_random(&t, i, n, (uint32_t)rng_below(&r, 3 * n));
		accepts(&t, "minhop", lmc, true, false);
		accepts(&t, "updn", lmc, false, true);
		accepts(&t, "lash", lmc, true, true);
		accepts(&t, "dfsssp", lmc, true, true);
		topo_fini(&t);
	}
}

/*
 * Two leaves, four spines in one chassis, two cables to each: the four LIDs of a host use four
 * spines, although the second cables are equally free.
 */
static void more_lids_take_other_switches_of_a_chassis(void **state)
{
	struct diag d = { .status = HD_OK };
	struct subnet s;
	struct topo t;
	port_id host[2];
	node_id leaf[2];

	(void)state;
	topo_init(&t);
	for (unsigned i = 0; i < 2; i++) {
		leaf[i] = add_switch(&t, 9);
		host[i] = topo_port_of(&t, add_host(&t, leaf[i], 9), 1);
	}
	for (unsigned i = 0; i < 4; i++) {
		node_id spine = add_switch(&t, 4);

		t.nodes[spine].system_guid = SWITCH_GUID + 100;
		for (unsigned k = 0; k < 4; k++)
			join(&t, leaf[k / 2], 2 * i + k % 2 + 1, spine, k + 1);
	}
	subnet_init(&s, &t);
	assert_int_equal(try_route(&s, "minhop", 2, &d), HD_OK);
	for (unsigned i = 0; i < 2; i++) {
		unsigned spines = 0;

		for (unsigned k = 0; k < 4; k++) {
			lid_t lid = (lid_t)(s.lid_of_port[host[1 - i]] + k);
			uint8_t port = lft_get(&s, s.switch_of_node[leaf[i]], lid);

			spines |= 1u << (port - 1) / 2;
		}
		assert_int_equal(spines, 0xf);
	}
	subnet_fini(&s);
	topo_fini(&t);
}

/* Marks what can be reached from a switch. */
static void flood(const struct topo *t, node_id from, bool *reached)
{
	if (reached[from])
		return;
	reached[from] = true;
	for (unsigned i = 1; i <= t->nodes[from].n_ports; i++) {
		port_id peer = t->ports[topo_port_of(t, from, i)].peer;

		if (peer != TOPO_NONE)
			flood(t, t->ports[peer].node, reached);
	}
}

/* A switch has entries for the hosts of its part of the fabric, no others. */
static void assert_entries_within_parts(const struct subnet *s)
{
	const struct topo *t = s->topo;
	bool *reached = malloc(t->n_nodes * sizeof(*reached));

	for (switch_id sw = 0; sw < s->n_switches; sw++) {
		memset(reached, 0, t->n_nodes * sizeof(*reached));
		flood(t, s->node_of_switch[sw], reached);
		for (port_id p = 0; p < t->n_ports; p++) {
			if (!topo_is_end_port(t, p) || !s->lid_of_port[p])
				continue;
			assert_int_equal(lft_get(s, sw, s->lid_of_port[p]) == LFT_NO_PORT,
					 !reached[t->ports[p].node]);
		}
	}
	free(reached);
}

static void nothing_leads_to_a_part_without_a_cable(void **state)
{
	unsigned routed = 0;

	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		const struct route_engine *e = route_engines[i % route_n_engines];
		struct diag d = { .status = HD_OK };
		struct subnet s;
		struct topo t;
		struct rng r;

		rng_init(&r, 8, i);
		build_random(&t, i, 8, 0);
		degrade(&t, &r, 2);
		subnet_init(&s, &t);
		if (try_route(&s, e->name, 0, &d) == HD_OK) {
			assert_entries_within_parts(&s);
			routed++;
		}
		subnet_fini(&s);
		topo_fini(&t);
	}
	assert_true(routed > 0);
}

/* Random sizes; returns the words for the generator. */
static const char *random_grid(struct rng *r, bool torus, char *out, size_t size)
{
	if (!torus) {
		snprintf(out, size, "mesh --columns=%u --rows=%u --hosts=%u",
			 2 + (unsigned)rng_below(r, 5), 2 + (unsigned)rng_below(r, 5),
			 1 + (unsigned)rng_below(r, 2));
		return out;
	}
	unsigned n_dims = 1 + (unsigned)rng_below(r, 3), n = 1;
	size_t len = (size_t)snprintf(out, size, "torus --sizes=");

	for (unsigned k = 0; k < n_dims; k++) {
		unsigned most = n < 10 ? 9 : 90 / n; /* switches in all */
		unsigned k_size = 2;

		if (most > 2)
			k_size += (unsigned)rng_below(r, most - 1);

		n *= k_size;
		len += (size_t)snprintf(out + len, size - len, "%s%u", k ? "x" : "", k_size);
	}
	return out;
}

static void grid_engines_route_grids_with_and_without_coordinates(void **state)
{
	struct rng r;

	(void)state;
	for (unsigned i = 0; i < rounds(6); i++) {
		struct topo t;
		char words[96];

		rng_init(&r, 8, i);
		generate(&t, random_grid(&r, false, words, sizeof(words)));
		for (unsigned k = 0; k < 2; k++) {
			accepts(&t, "xy", 0, true, true);
			accepts(&t, "dor", 0, true, true);
			accepts(&t, "negative-first", 0, true, true);
			accepts(&t, "torus", 0, true, true);
			shuffle(&t, i);
		}
		topo_fini(&t);
		generate(&t, random_grid(&r, true, words, sizeof(words)));
		for (unsigned k = 0; k < 2; k++) {
			accepts(&t, "dor", 0, true, false);
			accepts(&t, "torus", 0, true, true);
			shuffle(&t, i);
		}
		topo_fini(&t);
	}
}

static void tree_engine_routes_random_trees(void **state)
{
	struct rng r;

	(void)state;
	for (unsigned i = 0; i < rounds(6); i++) {
		struct topo t;
		char words[96];
		unsigned x[6];

		rng_init(&r, 9, i);
		for (unsigned k = 0; k < 6; k++)
			x[k] = 1 + (unsigned)rng_below(&r, 3);
		snprintf(words, sizeof(words),
			 "xgft --down=%u,%u,%u --up=1,%u,%u --parallel=1,%u,1", x[0], x[1] + 1,
			 x[2] + 1, x[3], x[4], x[5]);
		generate(&t, words);
		for (unsigned k = 0; k < 2; k++) {
			accepts(&t, "ftree", i % 3, true, true);
			accepts(&t, "updn", i % 3, false, true);
			accepts(&t, "minhop", i % 3, true, true);
			shuffle(&t, i);
		}
		topo_fini(&t);
	}
}

static void dragonfly_engine_finds_the_groups(void **state)
{
	static const char *const fabrics[] = {
		"dragonfly --routers=4 --globals=2 --hosts=1",
		"dragonfly --routers=4 --globals=2 --hosts=1 --groups=5",
		"dragonfly --routers=6 --globals=1 --hosts=1",
		"dragonfly-plus --leaves=4 --spines=3 --globals=2 --hosts=1",
		"dragonfly-plus --leaves=2 --spines=2 --globals=2 --hosts=2",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(fabrics) / sizeof(fabrics[0]); i++) {
		struct topo t;

		generate(&t, fabrics[i]);
		accepts(&t, "dragonfly", 0, false, true);
		shuffle(&t, i);
		accepts(&t, "dragonfly", 0, false, true);
		topo_fini(&t);
	}
}

struct expected_grid {
	const char *fabric;
	unsigned n_dims;
	uint32_t size[4]; /* in any order */
	unsigned n_rings;
};

static unsigned times(const uint32_t *sizes, unsigned n, uint32_t size)
{
	unsigned found = 0;

	for (unsigned k = 0; k < n; k++)
		found += sizes[k] == size;
	return found;
}

static void assert_found(const struct expected_grid *e, uint64_t seed)
{
	struct topo t;
	struct subnet s;
	struct sw_graph g;
	struct grid grid;
	struct diag d = { .status = HD_OK };
	unsigned n_rings = 0;

	generate(&t, e->fabric);
	shuffle(&t, seed);
	subnet_init(&s, &t);
	graph_init(&g, &s);
	if (grid_init(&grid, &s, &g, &d) != HD_OK)
		fail_msg("%s: %s", e->fabric, d.message);
	assert_int_equal(grid.n_dims, e->n_dims);
	for (unsigned k = 0; k < grid.n_dims; k++) {
		n_rings += grid.wraps[k];
		assert_int_equal(times(grid.size, grid.n_dims, e->size[k]),
				 times(e->size, grid.n_dims, e->size[k]));
	}
	assert_int_equal(n_rings, e->n_rings);
	grid_fini(&grid);
	graph_fini(&g);
	subnet_fini(&s);
	topo_fini(&t);
}

static void coordinates_are_found_from_cables(void **state)
{
	static const struct expected_grid cases[] = {
		{ "mesh --columns=4 --rows=3", 2, { 3, 4 }, 0 },
		{ "mesh --columns=7 --rows=2", 2, { 2, 7 }, 0 },
		{ "torus --sizes=5x3", 2, { 3, 5 }, 2 },
		{ "torus --sizes=3x3x3", 3, { 3, 3, 3 }, 3 },
		{ "torus --sizes=6x2", 2, { 2, 6 }, 1 },
		{ "ring --switches=7", 1, { 7 }, 1 },
		{ "ring --switches=3", 1, { 3 }, 1 },
		{ "hypercube --dimensions=4", 4, { 2, 2, 2, 2 }, 0 },
		/* A ring of 4 and a square of 2 x 2 are the same cables. */
		{ "torus --sizes=4x5", 3, { 2, 2, 5 }, 1 },
		{ "node-mesh --columns=3 --rows=5", 2, { 3, 5 }, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_found(&cases[i], i + 1);
}

static void refuses(const char *engine, struct topo *t, const char *reason)
{
	struct subnet s;
	struct diag d = { .status = HD_OK };

	subnet_init(&s, t);
	enum hd_status status = try_route(&s, engine, 0, &d);

	if (status == HD_OK || !strstr(d.message, reason) ||
	    strncmp(d.message, engine, strlen(engine)) != 0)
		fail_msg("%s: '%s' has no '%s'", engine, d.message, reason);
	assert_null(s.engine);
	assert_null(s.sl_of_path);
	for (size_t i = 0; i < (size_t)s.n_switches * s.lft_stride; i++)
		assert_int_equal(s.lft[i], LFT_NO_PORT);
	subnet_fini(&s);
}

static void engines_give_the_reason_of_a_refusal(void **state)
{
	static const struct {
		const char *engine, *fabric, *reason;
	} cases[] = {
		{ "xy", "torus --sizes=5x5", "wraps around" },
		{ "xy", "hypercube --dimensions=3", "dimensions" },
		{ "xy", "irregular --switches=10 --degree=3", "not a mesh" },
		{ "negative-first", "torus --sizes=5x5", "wraps around" },
		{ "negative-first", "ring --switches=6", "dimensions" },
		{ "ecube", "mesh --columns=3 --rows=2", "hypercube" },
		{ "dor", "fat-tree --radix=4 --levels=2", "not a mesh" },
		{ "torus", "dragonfly --routers=4 --globals=1", "not a mesh" },
		{ "torus", "ring --switches=6 --vls=1", "needs 2 VLs" },
		{ "torus", "torus --sizes=5x5x5x5x5", "16 SLs" },
		{ "ftree", "ring --switches=5", "not a tree" },
		{ "ftree", "mesh --columns=3 --rows=3", "not a tree" },
		{ "dragonfly", "mesh --columns=3 --rows=3", "not a dragonfly" },
		{ "dragonfly", "dragonfly --routers=4 --globals=1 --vls=1", "needs 2 VLs" },
		{ "lash", "torus --sizes=5x5 --vls=1", "1 VL " },
		{ "dfsssp", "torus --sizes=5x5 --vls=1", "1 VL " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct topo t;

		generate(&t, cases[i].fabric);
		refuses(cases[i].engine, &t, cases[i].reason);
		topo_fini(&t);
	}
}

static void a_grid_with_a_cable_missing_is_no_grid(void **state)
{
	static const uint32_t dims[] = { 4, 4 };
	struct topo t;

	(void)state;
	build_grid(&t, FAMILY_MESH, 2, dims, 1);
	port_id p = topo_port_of(&t, 5, 1), peer = t.ports[p].peer;

	t.ports[p].peer = t.ports[peer].peer = TOPO_NONE;
	refuses("xy", &t, "no cable to its neighbour");
	t.family = FAMILY_NONE;
	refuses("xy", &t, "not a mesh");
	topo_fini(&t);
}

static void updn_refuses_roots_that_part_the_hosts(void **state)
{
	static const uint32_t dims[] = { 5, 1 };
	struct topo t;
	struct subnet s;
	struct diag d = { .status = HD_OK };
	struct lid_options o = { .sm_port = TOPO_NONE };
	uint64_t ends[] = { SWITCH_GUID, SWITCH_GUID + 4 };
	struct route_options two = { .roots = ends, .n_roots = 2 };
	uint64_t unknown = 77;
	struct route_options none = { .roots = &unknown, .n_roots = 1 };

	(void)state;
	build_grid(&t, FAMILY_MESH, 2, dims, 1);
	subnet_init(&s, &t);
	assert_int_equal(subnet_assign_lids(&s, &o, &d), HD_OK);
	/* Both ends of a line are roots: the middle cannot be crossed. */
	assert_int_equal(subnet_route(&s, "updn", &two, &d), HD_ERR_UNFIT);
	assert_non_null(strstr(d.message, "go up after down"));
	d.status = HD_OK;
	assert_int_equal(subnet_route(&s, "updn", &none, &d), HD_ERR_NOT_FOUND);
	d.status = HD_OK;
	two.n_roots = 1;
	assert_int_equal(subnet_route(&s, "updn", &two, &d), HD_OK);
	assert_string_equal(s.note, "1 root (given), the first is 'switch0'");
	assert_sound(&s, true, true);
	subnet_fini(&s);
	topo_fini(&t);
}

static void updn_finds_the_tops_of_trees(void **state)
{
	static const struct {
		const char *words, *note;
	} fabrics[] = {
		{ "fat-tree --radix=4 --levels=2",
		  "2 roots (equally far from all hosts), the first is 's2-0'" },
		{ "fat-tree --radix=4 --levels=3",
		  "4 roots (equally far from all hosts), the first is 's3-0'" },
		{ "ring --switches=5", "1 root (the lowest number), the first is 's-0'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(fabrics) / sizeof(fabrics[0]); i++) {
		struct diag d = { .status = HD_OK };
		struct topo t;
		struct subnet s;

		generate(&t, fabrics[i].words);
		subnet_init(&s, &t);
		assert_int_equal(try_route(&s, "updn", 0, &d), HD_OK);
		assert_string_equal(s.note, fabrics[i].note);
		subnet_fini(&s);
		topo_fini(&t);
	}
}

static void vls_of_one_engine_do_not_outlive_it(void **state)
{
	struct topo t;
	struct subnet s;
	struct diag d = { .status = HD_OK };

	(void)state;
	generate(&t, "ring --switches=6");
	subnet_init(&s, &t);
	assert_int_equal(try_route(&s, "torus", 0, &d), HD_OK);
	assert_int_equal(s.vls_used, 2);
	assert_int_equal(sl2vl_at(&s, 0, 1, 2)->vl[1], 1);
	assert_int_equal(sl2vl_at(&s, 0, 1, 2)->vl[2], 0);
	assert_int_equal(subnet_route(&s, "minhop", NULL, &d), HD_OK);
	assert_int_equal(s.vls_used, 1);
	assert_null(s.sl_of_path);
	assert_int_equal(sl2vl_at(&s, 0, 1, 2)->vl[2], 2);
	assert_int_equal(path_sl(&s, topo_port_of(&t, 6, 1), 3, 9), 9);
	subnet_fini(&s);
	topo_fini(&t);
}

static void layers_are_fewer_than_opensms(void **state)
{
	/* VLs that OpenSM 3.3.23 needed on the same fabrics. */
	static const struct {
		const char *engine, *fabric;
		unsigned opensm;
	} cases[] = {
		{ "lash", "torus --sizes=8x8", 6 },
		{ "lash", "torus --sizes=6x6x6", 9 },
		{ "lash", "irregular --switches=64 --degree=4", 7 },
		{ "dfsssp", "torus --sizes=8x8", 9 }, /* or more */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct topo t;
		struct subnet s;
		struct diag d = { .status = HD_OK };

		generate(&t, cases[i].fabric);
		subnet_init(&s, &t);
		assert_int_equal(try_route(&s, cases[i].engine, 0, &d), HD_OK);
		assert_in_range(s.vls_used, 2, cases[i].opensm - 1);
		subnet_fini(&s);
		topo_fini(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(degraded_trees_have_every_entry),
		cmocka_unit_test(engines_for_any_fabric_route_random_ones),
		cmocka_unit_test(more_lids_take_other_switches_of_a_chassis),
		cmocka_unit_test(nothing_leads_to_a_part_without_a_cable),
		cmocka_unit_test(grid_engines_route_grids_with_and_without_coordinates),
		cmocka_unit_test(tree_engine_routes_random_trees),
		cmocka_unit_test(dragonfly_engine_finds_the_groups),
		cmocka_unit_test(coordinates_are_found_from_cables),
		cmocka_unit_test(engines_give_the_reason_of_a_refusal),
		cmocka_unit_test(a_grid_with_a_cable_missing_is_no_grid),
		cmocka_unit_test(updn_refuses_roots_that_part_the_hosts),
		cmocka_unit_test(updn_finds_the_tops_of_trees),
		cmocka_unit_test(vls_of_one_engine_do_not_outlive_it),
		cmocka_unit_test(layers_are_fewer_than_opensms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
