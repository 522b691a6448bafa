/* SPDX-License-Identifier: BSD-2-Clause */
/* Each failure, compared with results from the graph alone. */
#include "subnet/failures/analysis.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/parallel_for.h"
#include "subnet/routing/fabric_for_tests.h"

struct scene {
	struct topo topo;
	struct subnet subnet;
	struct failure_options o;
	struct failure_analysis s;
};

/* Addresses and routes scene->topo; all that can fail will. */
static void prepare(struct scene *c, const char *engine)
{
	struct lid_options lids = { .order = LIDS_NODES, .sm_port = TOPO_NONE };
	struct route_options route = { 0 };
	struct diag d = { .status = HD_OK };

	subnet_init(&c->subnet, &c->topo);
	assert_int_equal(subnet_assign_lids(&c->subnet, &lids, &d), HD_OK);
	assert_int_equal(subnet_route(&c->subnet, engine, &route, &d), HD_OK);
	c->o = (struct failure_options){
		.kinds = { true, true, true, false },
		.n_permutations = 3,
		.seed = 1,
		.replan = { .engine = engine, .mode = REPLAN_AS_OPENSM },
	};
}

static void leave(struct scene *c)
{
	failure_fini(&c->s);
	subnet_fini(&c->subnet);
	topo_fini(&c->topo);
}

/* Switches in a row, a host on each. */
static void build_row(struct topo *t, uint32_t n)
{
	build_grid(t, FAMILY_MESH, 1, &n, 1);
}

/*
 * A cable of a row of n is a bridge: of i and n - i hosts the lesser side is
 * lost; among the m that are left the middle cable carries both halves'
 * flows, floor(m / 2) * ceil(m / 2) each way.
 */
static void a_bridge_cuts_the_lesser_side_off(void **state)
{
	const uint32_t n = 7;
	struct scene c;

	(void)state;
	build_row(&c.topo, n);
	prepare(&c, "minhop");
	failure_run(&c.subnet, &c.o, &c.s);
	assert_int_equal(c.s.before.n_reached, n * (n - 1));
	assert_int_equal(c.s.before.most_flows, (n / 2) * (n - n / 2));
	assert_int_equal(c.s.n_of[FAILURE_LINKS][FAILURE_LOST], n - 1);
	assert_int_equal(c.s.n_of[ANALYSIS_HOSTS][FAILURE_LOST], n);
	for (size_t i = 0; i < c.s.n; i++) {
		const struct failure_case *x = &c.s.cases[i];

		if (x->kind != FAILURE_LINKS)
			continue;
		/* By the switches that it joins, in the order of the row. */
		uint32_t before = c.topo.ports[x->what[0]].node + 1;
		uint32_t left = before > n - before ? before : n - before;

		assert_int_equal(x->n_lost, n - left);
		assert_int_equal(x->figures.n_ends, left);
		assert_int_equal(x->figures.most_flows, (left / 2) * (left - left / 2));
	}
	assert_true(failure_is_well(&c.s));
	leave(&c);
}

/*
 * A failing managed switch, whose port 0 is an end port, takes this port with it; no path between
 * remaining ports is broken.
 */
static void a_switch_takes_its_own_port_with_it(void **state)
{
	const uint32_t n = 6;
	struct scene c;

	(void)state;
	build_grid(&c.topo, FAMILY_RING, 1, &n, 1);
	for (node_id v = 0; v < c.topo.n_nodes; v++)
		c.topo.nodes[v].enhanced_port0 = topo_is_switch(&c.topo, v);
	prepare(&c, "updn");
	failure_run(&c.subnet, &c.o, &c.s);
	assert_int_equal(c.s.before.n_ends, 2 * n);
	for (size_t i = 0; i < c.s.n; i++) {
		const struct failure_case *x = &c.s.cases[i];

		assert_int_equal(x->figures.n_broken, 0);
		if (x->kind != FAILURE_SWITCHES)
			continue;
		assert_int_equal(x->verdict, FAILURE_LOST);
		assert_int_equal(x->n_lost, 2);
		assert_int_equal(x->figures.n_reached, (2 * n - 2) * (2 * n - 3));
	}
	assert_true(failure_is_well(&c.s));
	leave(&c);
}

/*
 * A ring by shortest ways can lock up; without one of its cables it cannot, and
 * the middle one has the flows of n hosts on one side to n on the other.
 */
static void a_ring_that_can_lock_is_a_row_when_cut(void **state)
{
	const uint32_t n = 6;
	struct scene c;

	(void)state;
	build_grid(&c.topo, FAMILY_RING, 1, &n, 2);
	prepare(&c, "minhop");
	failure_run(&c.subnet, &c.o, &c.s);
	assert_true(c.s.before.can_lock);
	for (size_t i = 0; i < c.s.n; i++) {
		const struct failure_case *x = &c.s.cases[i];

		if (x->kind == ANALYSIS_HOSTS)
			assert_int_equal(x->verdict, FAILURE_LOCKS);
		else
			assert_false(x->figures.can_lock);
		if (x->kind == FAILURE_LINKS) {
			assert_int_equal(x->verdict, FAILURE_SLOWER);
			assert_int_equal(x->figures.most_flows, n * n);
		}
	}
	assert_false(failure_is_well(&c.s));
	leave(&c);
}

/* An engine for meshes rejects a mesh with a hole, with a reason; this case is the worst. */
static void a_refused_point_is_the_worst(void **state)
{
	const uint32_t dims[] = { 3, 3 };
	struct scene c;

	(void)state;
	build_grid(&c.topo, FAMILY_MESH, 2, dims, 1);
	prepare(&c, "xy");
	failure_run(&c.subnet, &c.o, &c.s);
	assert_int_equal(c.s.n_of[FAILURE_LINKS][FAILURE_REFUSED], 12);
	for (size_t i = 0; i < c.s.n; i++)
		assert_int_equal(c.s.cases[i].refusal != NULL,
				 c.s.cases[i].verdict == FAILURE_REFUSED);
	leave(&c);
}

/* A failure_options.tick that stops after a number of cases. */
static bool enough(void *context, size_t done, size_t all)
{
	(void)all;
	return done < *(const size_t *)context;
}

static const struct failure_case *same_case(const struct failure_analysis *s,
					    const struct failure_case *c)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct failure_case *x = &s->cases[i];

		if (x->kind == c->kind && x->what[0] == c->what[0])
			return x;
	}
	fail_msg("a case that is not in the whole analysis");
	return NULL;
}

/* Completed cases equal those of the whole analysis. */
static void stopped_analysis_keeps_completed_cases(void **state)
{
	const uint32_t dims[] = { 3, 4 };
	struct scene c;
	struct failure_analysis part;

	(void)state;
	build_grid(&c.topo, FAMILY_TORUS, 2, dims, 1);
	prepare(&c, "minhop");
	failure_run(&c.subnet, &c.o, &c.s);
	assert_int_equal(c.s.n_left, 0);
	for (size_t most = 1; most < c.s.n; most += 5) {
		size_t counted = 0;

		c.o.tick = enough;
		c.o.context = &most;
		failure_run(&c.subnet, &c.o, &part);
		/* Another thread may have completed a case that it had begun. */
		assert_in_range(part.n, most, most + parallel_processors());
		assert_int_equal(part.n + part.n_left, c.s.n);
		for (size_t i = 0; i < part.n; i++) {
			const struct failure_case *x = &part.cases[i];
			const struct failure_case *y = same_case(&c.s, x);

			assert_int_equal(x->verdict, y->verdict);
			assert_int_equal(x->figures.n_reached, y->figures.n_reached);
			assert_int_equal(x->figures.most_flows, y->figures.most_flows);
			assert_true(x->figures.share == y->figures.share);
		}
		for (unsigned k = 0; k < N_FAILURE_KINDS; k++) {
			for (unsigned v = 0; v < N_FAILURE_VERDICTS; v++)
				counted += part.n_of[k][v];
		}
		assert_int_equal(counted, part.n);
		failure_fini(&part);
	}
	leave(&c);
}

/* Union-find over the nodes. */
static node_id root_of(node_id *parent, node_id v)
{
	while (parent[v] != v)
		v = parent[v] = parent[parent[v]];
	return v;
}

static bool is_cut(const struct topo *t, const struct failure_case *c, port_id p)
{
	port_id q = t->ports[p].peer;

	if (c->kind == FAILURE_SWITCHES)
		return t->ports[p].node == c->what[0] || t->ports[q].node == c->what[0];
	return p == c->what[0] || q == c->what[0] || p == c->what[1] || q == c->what[1];
}

/* Hosts in the largest remaining component; hosts without a cable do not count. */
static uint32_t largest_piece(const struct topo *t, const struct failure_case *c)
{
	node_id *parent = hd_alloc(t->n_nodes, sizeof(*parent));
	uint32_t *n = hd_alloc(t->n_nodes, sizeof(*n)), most = 0;

	for (node_id v = 0; v < t->n_nodes; v++)
		parent[v] = v;
	for (port_id p = 0; p < t->n_ports; p++) {
		if (t->ports[p].peer != TOPO_NONE && !is_cut(t, c, p))
			parent[root_of(parent, t->ports[p].node)] =
				root_of(parent, t->ports[t->ports[p].peer].node);
	}
	for (port_id p = 0; p < t->n_ports; p++) {
		if (topo_is_end_port(t, p) && !is_cut(t, c, p))
			n[root_of(parent, t->ports[p].node)]++;
	}
	for (node_id v = 0; v < t->n_nodes; v++)
		most = n[v] > most ? n[v] : most;
	free(parent);
	free(n);
	return most;
}

static void check_against_the_graph(const struct scene *c)
{
	for (size_t i = 0; i < c->s.n; i++) {
		const struct failure_case *x = &c->s.cases[i];
		uint64_t m = x->figures.n_ends;

		if (x->refusal) /* no path is left to compute */
			continue;
		uint32_t most = largest_piece(&c->topo, x);

		assert_int_equal(m, most);
		assert_int_equal(x->n_lost, c->s.before.n_ends - m);
		assert_int_equal(x->figures.n_broken, 0);
		assert_int_equal(x->figures.n_reached, m * (m - 1));
	}
}

static void random_fabrics_lose_what_graphs_say(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct scene c;

		build_random(&c.topo, seed, 3 + (uint32_t)(seed % 9), (uint32_t)(seed % 5));
		prepare(&c, seed % 2 ? "minhop" : "updn");
		c.o.kinds[FAILURE_PAIRS] = true;
		c.o.n_pairs = 10;
		failure_run(&c.subnet, &c.o, &c.s);
		assert_true(c.s.n > 0);
		check_against_the_graph(&c);
		leave(&c);
	}
}

/* Any number of threads finds the same cases in the same order. */
static void threads_find_the_same(void **state)
{
	struct scene c;
	struct failure_analysis other;

	(void)state;
	generate(&c.topo, "fat-tree --radix=4 --levels=3");
	prepare(&c, "ftree");
	c.o.kinds[FAILURE_PAIRS] = true;
	c.o.n_pairs = 30;
	parallel_set_threads(1);
	failure_run(&c.subnet, &c.o, &c.s);
	parallel_set_threads(3);
	failure_run(&c.subnet, &c.o, &other);
	parallel_set_threads(0);
	assert_int_equal(c.s.n, 20 + 32 + 16 + 30);
	assert_int_equal(other.n, c.s.n);
	for (size_t i = 0; i < other.n; i++) {
		const struct failure_case *a = &c.s.cases[i];
		const struct failure_case *b = &other.cases[i];

		assert_memory_equal(a->what, b->what, sizeof(a->what));
		assert_int_equal(a->verdict, b->verdict);
		assert_int_equal(a->figures.most_flows, b->figures.most_flows);
		assert_true(a->figures.share == b->figures.share);
		assert_int_equal(a->n_changes, b->n_changes);
	}
	failure_fini(&other);
	leave(&c);
}

/* Drawn pairs are distinct, and at most all pairs. */
static void pairs_are_drawn_once(void **state)
{
	struct scene c;

	(void)state;
	generate(&c.topo, "fat-tree --radix=4 --levels=2"); /* 8 links */
	prepare(&c, "updn");
	c.o.kinds[FAILURE_SWITCHES] = c.o.kinds[FAILURE_LINKS] = c.o.kinds[ANALYSIS_HOSTS] = false;
	c.o.kinds[FAILURE_PAIRS] = true;
	for (uint64_t n = 1; n <= 30; n++) {
		c.o.n_pairs = n;
		failure_run(&c.subnet, &c.o, &c.s);
		assert_int_equal(c.s.n, n < 28 ? n : 28);
		for (size_t i = 0; i < c.s.n; i++) {
			const uint32_t *a = c.s.cases[i].what;

			assert_true(a[0] < a[1]);
			for (size_t k = 0; k < i; k++)
				assert_memory_not_equal(a, c.s.cases[k].what, 2 * sizeof(*a));
		}
		failure_fini(&c.s);
	}
	leave(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bridge_cuts_the_lesser_side_off),
		cmocka_unit_test(a_switch_takes_its_own_port_with_it),
		cmocka_unit_test(a_ring_that_can_lock_is_a_row_when_cut),
		cmocka_unit_test(a_refused_point_is_the_worst),
		cmocka_unit_test(stopped_analysis_keeps_completed_cases),
		cmocka_unit_test(random_fabrics_lose_what_graphs_say),
		cmocka_unit_test(threads_find_the_same),
		cmocka_unit_test(pairs_are_drawn_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
