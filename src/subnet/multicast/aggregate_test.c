/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/multicast/aggregate.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/seeds_for_tests.h"
#include "subnet/multicast/mcast_for_tests.h"

/* Draws some end ports, at least two, in random order. */
static uint32_t draw_members(struct rng *r, port_id *ends, uint32_t n)
{
	uint32_t wanted = 2 + (uint32_t)rng_below(r, n - 1);

	for (uint32_t i = 0; i < wanted; i++) {
		uint32_t k = i + (uint32_t)rng_below(r, n - i);
		port_id swap = ends[i];

		ends[i] = ends[k];
		ends[k] = swap;
	}
	return wanted;
}

static bool is_on_tree(const struct subnet *s, const struct aggregation *a, switch_id sw)
{
	const uint64_t *set = mft_get(&s->mft[0], sw, s->n_switches, a->mlid);
	uint64_t any = 0;

	for (unsigned i = 0; i < s->mft[0].words; i++)
		any |= set[i];
	return any != 0;
}

/* Switches from one to the farthest of the tree, both counted, by relaxing all
 * of its cables again and again. */
static uint32_t reach_of(const struct subnet *s, const struct aggregation *a, switch_id from)
{
	uint32_t far[256] = { 0 }, most = 1;
	bool changed = true;

	far[from] = 1;
	while (changed) {
		changed = false;
		for (port_id p = 0; p < s->topo->n_ports; p++) {
			const struct topo_port *at = &s->topo->ports[p];
			switch_id sw = s->switch_of_node[at->node];

			if (sw == TOPO_NONE || at->peer == TOPO_NONE || !far[sw] || at->number == 0)
				continue;
			const uint64_t *set = mft_get(&s->mft[0], sw, s->n_switches, a->mlid);
			switch_id to = s->switch_of_node[s->topo->ports[at->peer].node];

			if (to == TOPO_NONE || far[to] || !mcast_has_port(set, at->number))
				continue;
			far[to] = far[sw] + 1;
			most = far[to] > most ? far[to] : most;
			changed = true;
		}
	}
	return most;
}

/* One tree of a random group on a random fabric. */
struct trial {
	struct topo t;
	struct subnet s;
	port_id ends[4096];
	uint32_t n_members;
};

static struct aggregation_limit up_to(uint32_t most)
{
	return (struct aggregation_limit){ .most = most };
}

static void trial_init(struct trial *x, struct rng *r, unsigned seed)
{
	uint32_t n = set_up_random(&x->t, &x->s, r, seed, x->ends);
	struct diag d = { .status = HD_OK };

	x->n_members = draw_members(r, x->ends, n);
	add(&x->s, MCAST_SHARED, TOPO_NONE, x->ends, x->n_members);
	if (aggregation_add(&x->s, 0, up_to(1), &d) != HD_OK)
		fail_msg("%s", d.message);
}

/*
 * The minimum eccentricity in the tree, the lowest switch with it, and the number of such switches.
 */
struct centre {
	uint32_t least, switches;
	switch_id lowest;
};

static struct centre centre_of(const struct subnet *s, const struct aggregation *a)
{
	struct centre c = { .least = UINT32_MAX };

	for (switch_id sw = 0; sw < s->n_switches; sw++) {
		if (!is_on_tree(s, a, sw))
			continue;
		uint32_t reach = reach_of(s, a, sw);

		c.switches++;
		if (reach < c.least) {
			c.least = reach;
			c.lowest = sw;
		}
	}
	return c;
}

static void trees_have_the_least_levels_and_all_their_switches(void **state)
{
	unsigned n = run_is_long() ? 2000 : 100;
	struct rng r;

	(void)state;
	rng_init(&r, 20, 1);
	for (unsigned i = 0; i < n; i++) {
		struct trial *x = hd_alloc(1, sizeof(*x));
		uint32_t children = 0;

		trial_init(x, &r, i);
		const struct aggregation *a = &x->s.aggregations[0];
		struct centre c = centre_of(&x->s, a);

		assert_int_equal(a->levels, c.least);
		assert_int_equal(a->root, c.lowest);
		assert_int_equal(a->n, c.switches);
		for (uint32_t k = 0; k < a->n; k++)
			children += a->nodes[k].n_children;
		/* Members, and all switches but the root, are someone's. */
		assert_int_equal(children, x->n_members + a->n - 1);
		tear_down(&x->t, &x->s);
		free(x);
	}
}

/* A port that leads down becomes the way up. */
static bool turn_round(const struct subnet *s, const struct aggregation *a, struct aggregator *x)
{
	const uint64_t *set = mft_get(&s->mft[0], x->sw, s->n_switches, a->mlid);

	for (unsigned p = 1; p < 64 && x->sw != a->root; p++) {
		if (p != x->parent && mcast_has_port(set, p)) {
			x->parent = (uint8_t)p;
			return true;
		}
	}
	return false;
}

/* Damages a tree in one way. */
static bool spoil(struct subnet *s, struct aggregation *a, struct rng *r, unsigned how)
{
	struct aggregator *x = &a->nodes[rng_below(r, a->n)];

	switch (how) {
	case 0:
		x->n_children++;
		return true;
	case 1:
		x->n_children--;
		return true;
	case 2:
		return turn_round(s, a, x);
	case 3: /* one that is missing */
		*x = a->nodes[--a->n];
		return true;
	default: /* another root */
		if (a->n == 1)
			return false;
		a->root = a->root == a->nodes[0].sw ? a->nodes[1].sw : a->nodes[0].sw;
		return true;
	}
}

static void a_spoilt_tree_is_refused(void **state)
{
	unsigned n = run_is_long() ? 1000 : 100, refused = 0;
	struct rng r;

	(void)state;
	rng_init(&r, 20, 2);
	for (unsigned i = 0; i < n; i++) {
		struct trial *x = hd_alloc(1, sizeof(*x));
		struct diag d = { .status = HD_OK };

		trial_init(x, &r, i);
		struct aggregation *a = &x->s.aggregations[0];

		assert_int_equal(aggregation_check(&x->s, a, &d), HD_OK);
		if (spoil(&x->s, a, &r, i % 5)) {
			assert_int_equal(aggregation_check(&x->s, a, &d), HD_ERR_UNFIT);
			assert_non_null(strstr(d.message, "aggregation tree"));
			refused++;
		}
		tear_down(&x->t, &x->s);
		free(x);
	}
	assert_true(refused > n / 2);
}

static void a_switch_has_so_many_trees_and_no_more(void **state)
{
	struct diag d = { .status = HD_OK };
	struct topo t;
	struct subnet s;
	port_id ends[64];

	(void)state;
	set_up(&t, &s, "fat-tree --radix=4 --levels=2", "ftree", &by_opensm);
	uint32_t n = topo_end_ports(&t, ends);

	for (uint32_t i = 0; i < 3; i++) {
		add(&s, MCAST_SHARED, TOPO_NONE, ends, n);
		assert_int_equal(aggregation_add(&s, i, up_to(3), &d), HD_OK);
	}
	add(&s, MCAST_SHARED, TOPO_NONE, ends, n);
	assert_int_equal(aggregation_add(&s, 3, up_to(3), &d), HD_ERR_FULL);
	/* Trees of another run do not count. */
	struct aggregation_limit other_run = { .most = 1, .from = 3 };

	assert_int_equal(aggregation_add(&s, 3, other_run, &d), HD_OK);
	aggregation_drop(&s, 3);
	assert_non_null(strstr(d.message, "has 3 aggregation trees already"));
	assert_int_equal(s.n_aggregations, 3);
	aggregation_drop(&s, 2);
	assert_int_equal(aggregation_add(&s, 3, up_to(3), &d), HD_OK);
	tear_down(&t, &s);
}

static void a_tree_of_one_source_is_refused(void **state)
{
	struct diag d = { .status = HD_OK };
	struct topo t;
	struct subnet s;
	port_id ends[64];

	(void)state;
	set_up_line(&t, &s);
	uint32_t n = topo_end_ports(&t, ends);

	add(&s, MCAST_SHORTEST, ends[0], &ends[1], n - 1);
	assert_int_equal(aggregation_add(&s, 0, up_to(3), &d), HD_ERR_UNFIT);
	tear_down(&t, &s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_have_the_least_levels_and_all_their_switches),
		cmocka_unit_test(a_spoilt_tree_is_refused),
		cmocka_unit_test(a_switch_has_so_many_trees_and_no_more),
		cmocka_unit_test(a_tree_of_one_source_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
