/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "topo/bisection/bound.h"
#include "topo/generate.h"

static void make(struct topo *t, const char *words, uint64_t seed)
{
	char text[256], *argv[32], *save;
	int argc = 0;
	struct diag d = { .status = HD_OK };

	snprintf(text, sizeof(text), "%s", words);
	const struct generator *g = generator_find(strtok_r(text, " ", &save), &d);

	assert_non_null(g);
	while ((argv[argc] = strtok_r(NULL, " ", &save)))
		argc++;
	if (topo_generate_words(g, argc, argv, seed, &d, t) != HD_OK)
		fail_msg("%s: %s", words, d.message);
}

/*
 * By the definition alone: all ways to put up to 20 vertices on two sides.
 */
static uint64_t by_brute_force(const struct shape *g)
{
	uint64_t best = UINT64_MAX, heaviest = 0;

	assert_true(g->n <= 20);
	for (uint32_t v = 0; v < g->n; v++)
		heaviest = g->weight[v] > heaviest ? g->weight[v] : heaviest;
	for (uint32_t set = 0; set < 1u << g->n; set++) {
		uint64_t inside = 0, cut = 0;

		for (uint32_t v = 0; v < g->n; v++)
			inside += set >> v & 1 ? g->weight[v] : 0;
		uint64_t outside = g->total_weight - inside;

		if (inside > outside + heaviest || outside > inside + heaviest)
			continue;
		for (uint32_t v = 0; v < g->n && cut < best; v++) {
			if (!(set >> v & 1))
				continue;
			for (uint32_t e = g->start[v]; e < g->start[v + 1]; e++)
				cut += set >> g->to[e] & 1 ? 0 : g->cables[e];
		}
		best = cut < best ? cut : best;
	}
	return best;
}

/* Every method that claims to be exact must equal brute force. */
static void check(const char *words, uint64_t seed, bool has_formula)
{
	struct topo t;
	struct shape g;
	struct bisection b;
	uint64_t formula = 0, search, metis;

	make(&t, words, seed);
	shape_init(&g, &t);
	uint64_t truth = by_brute_force(&g);

	if (bisect_by_formula(&t, &formula) != has_formula)
		fail_msg("%s: closed form %s", words, has_formula ? "missing" : "unexpected");
	if (has_formula && formula != truth)
		fail_msg("%s: closed form %u, truth %u", words, (unsigned)formula, (unsigned)truth);
	search = g.n_cables;
	assert_true(bisect_by_search(&g, UINT64_MAX, &search));
	if (search != truth)
		fail_msg("%s: search %u, truth %u", words, (unsigned)search, (unsigned)truth);
	assert_true(bisect_by_metis(&g, &metis));
	assert_true(metis >= truth);
	/* No lower bound may exceed the result, no upper bound may be below it. */
	const uint64_t below[] = { bisect_by_flow(&g), bisect_by_spectrum(&g),
				   bisect_by_groups(&t, &g), bisect_by_layers(&t) };

	for (unsigned i = 0; i < 4; i++) {
		if (below[i] > truth)
			fail_msg("%s: bound %u is %u, truth %u", words, i, (unsigned)below[i],
				 (unsigned)truth);
	}
	if (bisect_by_family(&t, &g, &metis))
		assert_true(metis >= truth);
	topo_bisect(&t, &g, 0, &b);
	if (has_formula)
		assert_int_equal(b.kind, BISECTION_FORMULA);
	else
		assert_true(b.kind == BISECTION_SEARCH || b.kind == BISECTION_MET);
	assert_int_equal(b.cables, truth);
	assert_int_equal(b.least, truth);
	shape_fini(&g);
	topo_fini(&t);
}

static void grids_follow_the_closed_form(void **state)
{
	char words[100];

	(void)state;
	for (unsigned m = 1; m <= 5; m++) {
		for (unsigned n = 1; n <= 5 && m * n <= 16; n++) {
			if (m * n < 2)
				continue;
			snprintf(words, sizeof(words), "mesh --columns %u --rows %u --hosts 3", m,
				 n);
			check(words, 1, true);
			snprintf(words, sizeof(words), "node-mesh --columns %u --rows %u", m, n);
			check(words, 1, true);
		}
	}
	for (unsigned n = 2; n <= 14; n++) {
		snprintf(words, sizeof(words), "ring --switches %u --hosts 1", n);
		check(words, 1, true);
	}
	check("hypercube --dimensions 3 --hosts 2", 1, true);
	check("hypercube --dimensions 4 --hosts 4", 1, true);
}

struct expected {
	const char *words;
	bool has_formula;
};

static void check_all(const struct expected *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check(list[i].words, 1, list[i].has_formula);
}

static void tori_follow_the_closed_form(void **state)
{
	static const struct expected list[] = {
		{ "torus --sizes 3x3 --hosts 1", true },
		{ "torus --sizes 3x4 --hosts 1", true },
		{ "torus --sizes 3x5 --hosts 1", true },
		{ "torus --sizes 4x4 --hosts 1", true },
		{ "torus --sizes 2x2x2x2 --hosts 1", true },
		{ "torus --sizes 1x7 --hosts 1", true },
		/* Mixed ones with a longest side that is even, or 3. */
		{ "torus --sizes 2x2x3 --hosts 1", true },
		{ "torus --sizes 2x3x3 --hosts 1", true },
		{ "torus --sizes 2x4 --hosts 1", true },
		{ "torus --sizes 2x6 --hosts 1", true },
		{ "torus --sizes 2x8 --hosts 1", true },
		{ "torus --sizes 2x2x4 --hosts 1", true },
		/* Others by their layers. */
		{ "torus --sizes 2x5 --hosts 1", false },
		{ "torus --sizes 2x7 --hosts 1", false },
		{ "torus --sizes 2x9 --hosts 1", false },
	};

	(void)state;
	check_all(list, sizeof(list) / sizeof(list[0]));
}

static void trees_follow_the_closed_form(void **state)
{
	static const struct expected list[] = {
		{ "tree --arity 2 --levels 2", true },
		{ "tree --arity 2 --levels 3", true },
		{ "tree --arity 4 --levels 2", true },
		{ "xgft --down 2,4 --up 1,3", true },
		{ "xgft --down 2,2,4 --up 1,2,1", true },
		{ "xgft --down 2,3,2 --up 1,2,1", true },
		{ "xgft --down 2,2,2 --up 1,1,3", true },
		{ "xgft --down 2,4 --up 1,2 --parallel 1,3", true },
		{ "xgft --down 2,4 --up 2,2", true },
		{ "fat-tree --radix 6 --levels 2", true },
		{ "fat-tree --radix 6 --levels 2 --taper 2", true },
		/* Odd numbers of children where it is narrowest: no closed
		   form. */
		{ "xgft --down 2,3 --up 1,2", false },
		{ "xgft --down 2,2,3 --up 1,2,1", false },
	};

	(void)state;
	check_all(list, sizeof(list) / sizeof(list[0]));
}

static void small_fabrics_of_any_kind_are_searched(void **state)
{
	static const struct expected list[] = {
		{ "star --switches 5 --hosts 2", false },
		{ "star --switches 6 --hosts 2", false },
		{ "dragonfly --routers 2 --globals 1 --hosts 1", false },
		{ "dragonfly --routers 2 --globals 2 --hosts 2", false },
		{ "dragonfly --routers 4 --globals 1 --hosts 2", false },
		{ "dragonfly --routers 4 --globals 2 --hosts 2 --groups 4", false },
		{ "dragonfly-plus --leaves 2 --spines 2 --globals 1", false },
		{ "two-switch --remote 5 --local 5", false },
		{ "blrm", false },
		{ "routed --subnets 4 --hosts 3", false },
		{ "back-to-back --cables 3", false },
	};

	(void)state;
	check_all(list, sizeof(list) / sizeof(list[0]));
	for (uint64_t seed = 0; seed < 5; seed++) {
		check("irregular --switches 14 --degree 4 --hosts 4", seed, false);
		check("irregular --switches 9 --degree 4 --hosts 4", seed, false);
	}
}

/* All small ones of each kind, each against brute force. */
static void small_dragonflies_match_brute_force(void **state)
{
	static const char *const arrangements[] = { "absolute", "palmtree" };
	unsigned most = run_is_long() ? 20 : 15;
	char words[200];

	(void)state;
	for (unsigned i = 0; i < 5 * 4 * 8 * 2; i++) {
		unsigned a = 1 + i % 5, h = 1 + i / 5 % 4;
		unsigned groups = 2 + i / 20 % 8;

		if (a * groups > most || groups > a * h + 1)
			continue;
		snprintf(
			words, sizeof(words),
			"dragonfly --routers %u --globals %u --groups %u --hosts 2 --arrangement %s",
			a, h, groups, arrangements[i / 160]);
		check(words, 1, false);
	}
	for (unsigned i = 0; i < 4 * 3 * 3 * 5; i++) {
		unsigned l = 1 + i % 4, s = 1 + i / 4 % 3, h = 1 + i / 12 % 3;
		unsigned groups = 2 + i / 36;

		if ((l + s) * groups > most || groups > s * h + 1)
			continue;
		snprintf(
			words, sizeof(words),
			"dragonfly-plus --leaves %u --spines %u --globals %u --groups %u --hosts 2",
			l, s, h, groups);
		check(words, 1, false);
	}
}

/*
 * Groups whole, but for one where their number is odd: with a >= 2h the strays
 * of the parted one are those that lead to the other side, and cost nothing
 * more if a = 2h.
 */
static void large_fabrics_are_exact_where_bounds_meet(void **state)
{
	static const struct {
		const char *words;
		uint64_t cables;
	} known[] = {
		/* (g^2 - 1) / 4 for g = 2h^2 + 1 groups, a = 2h. */
		{ "dragonfly --routers 6 --globals 3 --hosts 3", 90 },
		{ "dragonfly --routers 8 --globals 4 --hosts 4", 272 },
		{ "dragonfly --routers 8 --globals 4 --hosts 4 --arrangement palmtree", 272 },
		/* g^2 / 4 times the cables between two groups. */
		{ "dragonfly --routers 8 --globals 4 --hosts 4 --groups 20", 100 },
		{ "dragonfly --routers 8 --globals 4 --hosts 4 --groups 12", 72 },
		/* (a/2)^2 - ha/2 more for the parted group. */
		{ "dragonfly --routers 16 --globals 4 --hosts 4 --groups 33",
		  2 * 16 * 17 + 8 * 8 - 4 * 8 },
		{ "dragonfly-plus --leaves 4 --spines 4 --globals 4", 72 },
		{ "dragonfly-plus --leaves 8 --spines 8 --globals 8", 1056 },
		/* 2N/k and half of a layer for each odd side; 2s count half. */
		{ "torus --sizes 2x7x7 --hosts 1", 28 + 4 + 1 },
		{ "torus --sizes 2x35 --hosts 1", 4 + 1 },
		{ "torus --sizes 2x3x5x7 --hosts 1", 60 + 12 + 3 },
		/* Each leaf of the smaller half is separated by its own cables. */
		{ "tree --arity 3 --levels 4", 39 },
		{ "star --switches 80 --hosts 2", 40 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		struct topo t;
		struct shape g;
		struct bisection b;

		make(&t, known[i].words, 1);
		shape_init(&g, &t);
		topo_bisect(&t, &g, 0, &b);
		if (b.kind == BISECTION_BOUND || b.cables != known[i].cables)
			fail_msg("%s: %u to %u", known[i].words, (unsigned)b.least,
				 (unsigned)b.cables);
		shape_fini(&g);
		topo_fini(&t);
	}
}

static void well_known_bisections_come_out(void **state)
{
	static const struct {
		const char *words;
		uint64_t cables;
	} known[] = {
		/* 5832: half of the cables at any level of a full tree. */
		{ "fat-tree --radix 36 --levels 3", 5832 },
		{ "fat-tree --radix 36 --levels 2", 324 },
		/* k-ary n-cubes: 2 k^(n-1) for even k. */
		{ "torus --sizes 8x8x8 --hosts 1", 128 },
		{ "mesh --columns 16 --rows 16 --hosts 1", 16 },
		{ "hypercube --dimensions 10 --hosts 1", 512 },
		{ "ring --switches 1000 --hosts 1", 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		struct topo t;
		struct shape g;
		struct bisection b;

		make(&t, known[i].words, 1);
		shape_init(&g, &t);
		topo_bisect(&t, &g, 0, &b);
		assert_int_equal(b.kind, BISECTION_FORMULA);
		assert_int_equal(b.cables, known[i].cables);
		/* METIS must not do better than the truth. */
		uint64_t bound;

		assert_true(bisect_by_metis(&g, &bound));
		assert_true(bound >= b.cables);
		shape_fini(&g);
		topo_fini(&t);
	}
}

static void large_fabrics_get_a_labelled_bound(void **state)
{
	struct topo t;
	struct shape g;
	struct bisection b;

	(void)state;
	make(&t, "irregular --switches 200 --degree 4 --hosts 4", 1);
	shape_init(&g, &t);
	topo_bisect(&t, &g, 0, &b);
	assert_int_equal(b.kind, BISECTION_BOUND);
	/* Bollobas: a random 4-regular graph has at least 0.22 per vertex. */
	assert_true(b.cables >= 200 * 22 / 100 && b.cables <= 200);
	/* No bound is better than that of the spectrum: about 4 - 2 sqrt 3 at most. */
	assert_true(b.least >= 20 && b.least <= b.cables);
	shape_fini(&g);
	topo_fini(&t);
}

/* Each of two switches must be on one side: the first one placed determines the result. */
static void skips_points_that_cannot_be_better(void **state)
{
	uint64_t cables = 1;
	struct topo t;
	struct shape g;

	(void)state;
	make(&t, "mesh --columns=2 --rows=1 --hosts=2", 0);
	shape_init(&g, &t);
	assert_int_equal(g.n, 2);
	assert_true(bisect_by_search(&g, 2, &cables));
	assert_int_equal(cables, 1);
	shape_fini(&g);
	topo_fini(&t);
}

static void one_switch_has_no_bisection(void **state)
{
	struct topo t;
	struct shape g;
	struct bisection b;

	(void)state;
	make(&t, "star --hosts 8", 1);
	shape_init(&g, &t);
	topo_bisect(&t, &g, 0, &b);
	assert_int_equal(b.kind, BISECTION_NONE);
	shape_fini(&g);
	topo_fini(&t);
}

/*
 * Distances of every pair by Floyd and Warshall, against the sweeps, where
 * hosts have one switch each (topo/check_test.c has others).
 */
static void check_distances(const char *words, uint64_t seed)
{
	static uint32_t hops[100][100];
	struct topo t;
	struct shape g;
	struct shape_distances got;
	uint32_t longest = 0;
	double sum = 0, pairs = 0;

	make(&t, words, seed);
	shape_init(&g, &t);
	assert_true(g.n <= 100);
	for (uint32_t i = 0; i < g.n; i++) {
		for (uint32_t j = 0; j < g.n; j++)
			hops[i][j] = i == j ? 0 : 1000;
		for (uint32_t e = g.start[i]; e < g.start[i + 1]; e++)
			hops[i][g.to[e]] = 1;
	}
	for (uint32_t k = 0; k < g.n; k++) {
		for (uint32_t ij = 0; ij < g.n * g.n; ij++) {
			uint32_t i = ij / g.n, j = ij % g.n;
			uint32_t via = hops[i][k] + hops[k][j];

			hops[i][j] = via < hops[i][j] ? via : hops[i][j];
		}
	}
	for (uint32_t ij = 0; ij < g.n * g.n; ij++) {
		uint32_t i = ij / g.n, j = ij % g.n;
		double both = (double)g.weight[i] * g.weight[j];

		if (i == j || both == 0)
			continue;
		longest = hops[i][j] > longest ? hops[i][j] : longest;
		sum += both * hops[i][j];
		pairs += both;
	}
	shape_measure(&g, &got);
	assert_int_equal(got.longest, longest);
	assert_true(got.mean > sum / pairs - 1e-9 && got.mean < sum / pairs + 1e-9);
	shape_fini(&g);
	topo_fini(&t);
}

static void distances_are_those_of_floyd_and_warshall(void **state)
{
	(void)state;
	check_distances("mesh --columns 9 --rows 11 --hosts 2", 1);
	check_distances("tree --arity 4 --levels 3", 1);
	check_distances("dragonfly --routers 4 --globals 2 --hosts 2", 1);
	check_distances("dragonfly-plus --leaves 4 --spines 4", 1);
	check_distances("irregular --switches 100 --degree 3 --hosts 1", 3);
	check_distances("routed --subnets 5 --hosts 3", 1);
	check_distances("xgft --down 4,4 --up 1,2", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grids_follow_the_closed_form),
		cmocka_unit_test(tori_follow_the_closed_form),
		cmocka_unit_test(trees_follow_the_closed_form),
		cmocka_unit_test(small_fabrics_of_any_kind_are_searched),
		cmocka_unit_test(small_dragonflies_match_brute_force),
		cmocka_unit_test(large_fabrics_are_exact_where_bounds_meet),
		cmocka_unit_test(well_known_bisections_come_out),
		cmocka_unit_test(large_fabrics_get_a_labelled_bound),
		cmocka_unit_test(skips_points_that_cannot_be_better),
		cmocka_unit_test(one_switch_has_no_bisection),
		cmocka_unit_test(distances_are_those_of_floyd_and_warshall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
