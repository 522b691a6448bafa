/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/multicast/mcast_for_tests.h"

#include <stdio.h>
#include <stdlib.h>

#include "subnet/multicast/mcast_load.h"
#include "subnet/routing/deadlock.h"

static void figure_9_of_the_paper_comes_out_exactly(void **state)
{
	/* 5 x 5, N(2,2) to LIDs 4, 5, 19, 21, 23; ports 1 E, 2 N, 3 W, 4 S */
	static const struct {
		unsigned x, y;
		uint64_t ports;
	} expected[] = {
		{ 2, 2, 1 << 1 | 1 << 3 },
		{ 1, 2, 1 << 3 },
		{ 0, 2, 1 << 2 },
		{ 0, 3, 1 << 2 | 1 }, /* LID 4 */
		{ 0, 4, 1 },          /* LID 5 */
		{ 3, 2, 1 << 1 | 1 << 2 },
		{ 3, 3, 1 },          /* LID 19 */
		{ 4, 2, 1 << 4 | 1 }, /* LID 23 */
		{ 4, 1, 1 << 4 },
		{ 4, 0, 1 }, /* LID 21 */
	};
	static const lid_t lids[] = { 4, 5, 19, 21, 23 };
	struct topo t;
	struct subnet s;
	port_id members[5];
	uint64_t sum = 0;

	(void)state;
	set_up(&t, &s, "node-mesh --columns=5 --rows=5", "xy", &by_paper);
	for (unsigned i = 0; i < 5; i++)
		members[i] = s.port_of_lid[0][lids[i]];
	port_id source = s.port_of_lid[0][2 * 5 + 2 + 1];

	add(&s, MCAST_XY, source, members, 5);
	assert_int_equal(s.groups[0].mlid, 0xC000);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		switch_id sw = found_at(&s, expected[i].x, expected[i].y);

		assert_int_equal(*mft_get(&s.mft[0], sw, s.n_switches, 0xC000), expected[i].ports);
		sum += expected[i].ports;
	}
	for (switch_id sw = 0; sw < s.n_switches; sw++)
		sum -= *mft_get(&s.mft[0], sw, s.n_switches, 0xC000);
	assert_int_equal(sum, 0); /* and no copy elsewhere */
	tear_down(&t, &s);
}

static void broadcast_has_the_theoretical_cost(void **state)
{
	struct topo t;
	struct subnet s;
	struct mcast_check c;
	port_id ends[256];

	(void)state;
	/*
	 * 16 x 16, everybody to everybody: unicast takes |dx| + |dy| cables
	 * per pair, a multicast tree 255 in all.
	 */
	set_up(&t, &s, "node-mesh --columns=16 --rows=16", "xy", &by_paper);
	assert_int_equal(topo_end_ports(&t, ends), 256);
	for (unsigned i = 0; i < 256; i++)
		add(&s, MCAST_XY, ends[i], ends, 256);
	mcast_check(&s, &c);
	assert_true(mcast_check_is_clean(&c));
	assert_int_equal(c.n_expected, 256 * 255);
	assert_int_equal(c.n_cables, 256 * 255);
	assert_int_equal(c.max_hops, 30);
	assert_int_equal(mcast_mlids_left(&s, 0), 16383 - 256);
	struct deadlock_check lock;

	route_check_deadlock(&s, DEADLOCK_PLAIN, &lock);
	assert_int_equal(lock.n_cycle, 0);
	route_deadlock_fini(&lock);
	tear_down(&t, &s);
}

/*
 * Figures 3 and 4: N(1,1) to N(2,2), N(3,2), N(3,3). By XY their union is a
 * tree. Negative-first goes by N(2,1) and N(3,1) to N(3,2), and by N(2,1),
 * N(2,2) and N(3,2) to N(3,3): the union enters N(3,2) from two sides.
 */
static void a_union_over_negative_first_gives_one_member_two_copies(void **state)
{
	static const char *const engines[] = { "xy", "negative-first" };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct topo t;
		struct subnet s;
		struct mcast_check c;
		struct diag d = { .status = HD_OK };

		set_up(&t, &s, "node-mesh --columns=4 --rows=4", engines[i], &by_paper);
		port_id members[] = { s.port_of_lid[0][2 * 4 + 2 + 1],
				      s.port_of_lid[0][3 * 4 + 2 + 1],
				      s.port_of_lid[0][3 * 4 + 3 + 1] };
		struct mcast_group want = {
			.method = MCAST_UNION,
			.source = s.port_of_lid[0][1 * 4 + 1 + 1],
			.members = members,
			.n_members = 3,
		};

		/* A union that is no tree is rejected, unless paths are requested. */
		assert_int_equal(mcast_add(&s, &want, &d), i ? HD_ERR_UNFIT : HD_OK);
		mcast_clear(&s);
		want.method = MCAST_PATHS;
		assert_int_equal(mcast_add(&s, &want, &d), HD_OK);
		mcast_check(&s, &c);
		assert_int_equal(c.n_missing, 0);
		assert_int_equal(mcast_check_is_clean(&c), i == 0);
		if (i == 0)
			assert_int_equal(c.n_cables, 5); /* Figure 3 (b) */
		/* A packet that enters twice leaves twice: N(3,3) has two as well. */
		assert_int_equal(c.n_duplicates, i ? 2 : 0);
		assert_int_equal(c.fault_receiver, i ? members[1] : TOPO_NONE);
		assert_int_equal(c.fault_copies, i ? 2 : 0);
		tear_down(&t, &s);
	}
}

/* Both engines of the figures are free of cycles with unicast. */
static void xy_and_negative_first_both_carry_unicast(void **state)
{
	static const char *const engines[] = { "xy", "negative-first" };
	uint64_t hops[2] = { 0, 0 };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct topo t;
		struct subnet s;
		struct deadlock_check lock;
		struct mcast_load l;
		port_id ends[16];

		set_up(&t, &s, "node-mesh --columns=4 --rows=4", engines[i], &by_paper);
		uint32_t n = topo_end_ports(&t, ends);

		mcast_load_init(&l, &s);
		for (uint32_t k = 0; k < n * n; k++) {
			if (k / n != k % n)
				assert_true(mcast_load_unicast(&l, ends[k / n], ends[k % n]));
		}
		hops[i] = mcast_load_peak(&l).total;
		mcast_load_fini(&l);
		route_check_deadlock(&s, DEADLOCK_PLAIN, &lock);
		assert_int_equal(lock.n_cycle, 0);
		route_deadlock_fini(&lock);
		tear_down(&t, &s);
	}
	/* 256 pairs at 2 (k^2 - 1) / 3k = 2.5 hops; both are minimal. */
	assert_int_equal(hops[0], 640);
	assert_int_equal(hops[1], 640);
}

/* One message to all others, from each of `from`, in both directions. */
static struct mcast_peak peak_of(struct subnet *s, const port_id *from, uint32_t n_from,
				 bool unicast)
{
	struct mcast_load l;
	port_id ends[256];
	uint32_t n = topo_end_ports(s->topo, ends);

	mcast_clear(s);
	mcast_load_init(&l, s);
	for (uint32_t i = 0; i < n_from; i++) {
		if (!unicast) {
			add(s, MCAST_XY, from[i], ends, n);
			assert_true(mcast_load_tree(&l, from[i], s->groups[s->n_groups - 1].mlid));
		}
		for (uint32_t k = 0; unicast && k < n; k++) {
			if (ends[k] != from[i])
				assert_true(mcast_load_unicast(&l, from[i], ends[k]));
		}
	}
	struct mcast_peak peak = mcast_load_peak(&l);

	mcast_load_fini(&l);
	return peak;
}

static void loads_of_the_16_by_16_mesh_are_the_exact_ones(void **state)
{
	struct topo t;
	struct subnet s;
	port_id ends[256];

	(void)state;
	set_up(&t, &s, "node-mesh --columns=16 --rows=16", "xy", &by_paper);
	assert_int_equal(topo_end_ports(&t, ends), 256);
	port_id corner = s.port_of_lid[0][1];
	port_id centre = s.port_of_lid[0][7 * 16 + 7 + 1];

	assert_int_equal(peak_of(&s, &corner, 1, true).total, 3840);
	assert_int_equal(peak_of(&s, &corner, 1, false).total, 255);
	assert_int_equal(peak_of(&s, &centre, 1, true).total, 2048);
	assert_int_equal(peak_of(&s, &centre, 1, false).total, 255);
	struct mcast_peak unicast = peak_of(&s, ends, 256, true);
	struct mcast_peak tree = peak_of(&s, ends, 256, false);

	/* Means over sources: 2720 and 255, 32/3 of it. */
	assert_int_equal(unicast.total, 256 * 2720);
	assert_int_equal(tree.total, 256 * 255);
	assert_int_equal(unicast.total * 3, tree.total * 32);
	/* k^3/4 and k(k-1) on the busiest cable. */
	assert_int_equal(unicast.link, 1024);
	assert_int_equal(unicast.injection, 255);
	assert_int_equal(unicast.ejection, 255);
	assert_int_equal(tree.link, 240);
	assert_int_equal(tree.injection, 1);
	assert_int_equal(tree.ejection, 255);
	tear_down(&t, &s);
}

static void one_mlid_for_two_sources_duplicates(void **state)
{
	struct topo t;
	struct subnet s;
	struct mcast_check c;
	port_id ends[16];

	(void)state;
	set_up(&t, &s, "node-mesh --columns=4 --rows=4", "xy", &by_paper);
	topo_end_ports(&t, ends);
	for (unsigned i = 0; i < 16; i++)
		add(&s, MCAST_XY, ends[i], ends, 16);
	/* The union for any two sources under the first one's MLID ... */
	size_t block = (size_t)s.n_switches * s.mft[0].words;
	uint64_t *first = calloc(block, sizeof(*first)), *m = s.mft[0].ports;
	uint64_t n_duplicates = 0;

	memcpy(first, m, block * sizeof(*first));
	for (size_t k = 1; k < 16; k++) {
		for (size_t i = 0; i < block; i++)
			m[i] = first[i] | m[k * block + i];
		mcast_check(&s, &c);
		/* Sources in one row have the same tree: row, then columns. */
		if (topo_node_of(&t, ends[k])->coord[1] == topo_node_of(&t, ends[0])->coord[1]) {
			assert_true(mcast_check_is_clean(&c));
			continue;
		}
		assert_false(mcast_check_is_clean(&c));
		assert_int_equal(c.fault_group, 0);
		assert_int_equal(c.fault_sender, ends[0]);
		n_duplicates += c.n_duplicates;
	}
	assert_true(n_duplicates > 0);
	free(first);
	/* ... and for all of them: packets circulate for ever. */
	for (size_t i = block; i < 16 * block; i++)
		s.mft[0].ports[i % block] |= s.mft[0].ports[i];
	mcast_check(&s, &c);
	assert_int_equal(c.n_loops, 1);
	tear_down(&t, &s);
}

/* Engines and fabrics for trees by any method. */
static void trees_reach_each_member_once_on_random_fabrics(void **state)
{
	struct rng r;

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		struct topo t;
		struct subnet s;
		struct mcast_check c;
		port_id ends[64];

		rng_init(&r, 3, i);
		uint32_t n = set_up_random(&t, &s, &r, i, ends);

		for (unsigned k = 0; k < 10; k++) {
			rng_shuffle(&r, ends, n);
			uint32_t m = 1 + (uint32_t)rng_below(&r, n);

			add(&s, k % 2 ? MCAST_SHARED : MCAST_SHORTEST,
			    k % 2 ? TOPO_NONE : ends[rng_below(&r, n)], ends, m);
		}
		mcast_check(&s, &c);
		assert_true(c.n_expected > 0);
		assert_true(mcast_check_is_clean(&c));
		tear_down(&t, &s);
	}
}

static void shared_trees_have_opensms_root(void **state)
{
	/* Members at 0, 1 and 4; the middle, 2, has 3 hops. */
	struct topo t;
	struct subnet s;

	(void)state;
	set_up_line(&t, &s);
	port_id members[] = { topo_port_of(&t, 5, 1), topo_port_of(&t, 6, 1),
			      topo_port_of(&t, 9, 1) };

	add(&s, MCAST_SHARED, TOPO_NONE, members, 3);
	assert_int_equal(s.groups[0].root, 2);
	static const uint64_t ports[] = { 1 << 1 | 1 << 5, 1 << 1 | 1 << 2 | 1 << 5,
					  1 << 1 | 1 << 2, 1 << 1 | 1 << 2, 1 << 2 | 1 << 5 };

	for (switch_id sw = 0; sw < 5; sw++)
		assert_int_equal(*mft_get(&s.mft[0], sw, 5, 0xC000), ports[sw]);
	/* Two members on neighbours: both are as good; the first it is. */
	add(&s, MCAST_SHARED, TOPO_NONE, &members[0], 2);
	assert_int_equal(s.groups[1].root, 0);
	assert_int_equal(s.groups[1].mlid, 0xC001);
	tear_down(&t, &s);
}

/* Members at 0 and 1 of the line, and a sender at 4. */
static void a_sender_outside_the_group_receives_nothing(void **state)
{
	static const uint64_t ports[] = { 1 << 1 | 1 << 5, 1 << 2 | 1 << 5, 1 << 2, 1 << 2,
					  1 << 2 };
	struct topo t;
	struct subnet s;
	struct mcast_check c;
	struct diag d = { .status = HD_OK };

	(void)state;
	set_up_line(&t, &s);
	port_id members[] = { topo_port_of(&t, 5, 1), topo_port_of(&t, 6, 1) };
	port_id sender = topo_port_of(&t, 9, 1);

	add(&s, MCAST_SHARED, TOPO_NONE, members, 2);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(mcast_admit_sender(&s, 0, sender, &d), HD_OK);
	assert_int_equal(mcast_admit_sender(&s, 0, members[1], &d), HD_OK);
	assert_int_equal(s.groups[0].n_senders, 1);
	for (switch_id sw = 0; sw < 5; sw++)
		assert_int_equal(*mft_get(&s.mft[0], sw, 5, 0xC000), ports[sw]);
	mcast_check(&s, &c);
	assert_true(mcast_check_is_clean(&c));
	/* Each member to the other, and the sender to both. */
	assert_int_equal(c.n_expected, 4);
	/* Host, trunk, host twice; host, four trunks and two hosts. */
	assert_int_equal(c.n_cables, 2 * 3 + 1 + 4 + 2);
	add(&s, MCAST_SHORTEST, members[0], members, 2);
	assert_int_equal(mcast_admit_sender(&s, 1, sender, &d), HD_ERR_UNFIT);
	tear_down(&t, &s);
}

/* Wherever senders are, packets of members keep their paths. */
static void other_senders_leave_the_tree_alone(void **state)
{
	struct rng r;

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		struct topo t;
		struct subnet s;
		struct mcast_check c;
		struct diag d = { .status = HD_OK };
		port_id ends[64];
		uint64_t before[64] = { 0 };

		rng_init(&r, 5, i);
		uint32_t n = set_up_random(&t, &s, &r, i, ends);
		uint32_t m = 1 + (uint32_t)rng_below(&r, n / 2);

		rng_shuffle(&r, ends, n);
		add(&s, MCAST_SHARED, TOPO_NONE, ends, m);
		for (switch_id sw = 0; sw < s.n_switches; sw++)
			before[sw] = *mft_get(&s.mft[0], sw, s.n_switches, 0xC000);
		for (uint32_t k = m; k < n; k++)
			assert_int_equal(mcast_admit_sender(&s, 0, ends[k], &d), HD_OK);
		for (switch_id sw = 0; sw < s.n_switches; sw++) {
			uint64_t now = *mft_get(&s.mft[0], sw, s.n_switches, 0xC000);

			if (before[sw])
				assert_int_equal(now, before[sw]);
			else /* one way only, or none */
				assert_int_equal(now & (now - 1), 0);
		}
		mcast_check(&s, &c);
		assert_true(mcast_check_is_clean(&c));
		assert_int_equal(c.n_expected, (uint64_t)m * (n - 1));
		tear_down(&t, &s);
	}
}

static void rejects_impossible_values(void **state)
{
	struct topo t;
	struct subnet s;
	port_id ends[32];
	struct mcast_group m = { .method = MCAST_XY };

	(void)state;
	set_up(&t, &s, "torus --sizes=5x5", "minhop", &by_opensm);
	uint32_t n = topo_end_ports(&t, ends);
	static const struct {
		enum mcast_method method;
		bool source;
		uint32_t n_members;
		const char *reason;
	} cases[] = {
		{ MCAST_XY, true, 5, "need the routing engine 'xy'" },
		{ MCAST_SHORTEST, false, 5, "requires a source" },
		{ MCAST_SHARED, false, 0, "a group needs members" },
		{ MCAST_UNION, true, 25, "meet again" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct diag d = { .status = HD_OK };

		m.method = cases[i].method;
		m.source = cases[i].source ? ends[0] : TOPO_NONE;
		m.members = ends;
		m.n_members = cases[i].n_members;
		if (mcast_add(&s, &m, &d) == HD_OK || !strstr(d.message, cases[i].reason))
			fail_msg("'%s' has no '%s'", d.message, cases[i].reason);
		assert_int_equal(s.n_groups, 0);
	}
	assert_int_equal(n, 25);
	tear_down(&t, &s);
}

static void unplug(struct topo *t, node_id a, node_id b)
{
	for (port_id p = 0; p < t->n_ports; p++) {
		port_id peer = t->ports[p].peer;

		if (peer == TOPO_NONE || t->ports[p].node != a || t->ports[peer].node != b)
			continue;
		t->ports[p].peer = t->ports[peer].peer = TOPO_NONE;
	}
}

/* Two halves of a ring: the error names an unreachable member and the origin. */
static void no_tree_joins_what_is_apart(void **state)
{
	struct diag d = { .status = HD_OK };
	struct topo t;
	struct subnet s;
	port_id ends[4];

	(void)state;
	set_up(&t, &s, "ring --switches=4", "minhop", &by_opensm);
	uint32_t n = topo_end_ports(&t, ends);
	struct mcast_group m = {
		.method = MCAST_SHARED, .source = TOPO_NONE, .members = ends, .n_members = n
	};
	node_id at[4];

	for (uint32_t i = 0; i < 4; i++)
		at[i] = t.ports[t.ports[ends[i]].peer].node;
	unplug(&t, at[1], at[2]);
	unplug(&t, at[3], at[0]);
	assert_int_equal(mcast_add(&s, &m, &d), HD_ERR_UNFIT);
	struct strbuf wanted = STRBUF_INIT;

	strbuf_printf(&wanted, "multicast: no path from '%s' to the member '%s'",
		      t.nodes[at[0]].name, t.nodes[t.ports[ends[3]].node].name);
	assert_string_equal(d.message, wanted.text);
	strbuf_fini(&wanted);
	tear_down(&t, &s);
}

static void mlids_run_out_after_16383(void **state)
{
	struct topo t;
	struct subnet s;
	port_id ends[4];
	struct diag d = { .status = HD_OK };

	(void)state;
	set_up(&t, &s, "star --hosts=2", "minhop", &by_opensm);
	uint32_t n = topo_end_ports(&t, ends);
	struct mcast_group m = {
		.method = MCAST_SHARED, .source = TOPO_NONE, .members = ends, .n_members = n
	};

	for (unsigned i = 0; i < 16383; i++)
		assert_int_equal(mcast_add(&s, &m, &d), HD_OK);
	assert_int_equal(s.groups[16382].mlid, LID_LAST_MCAST);
	assert_int_equal(mcast_mlids_left(&s, 0), 0);
	assert_int_equal(mcast_add(&s, &m, &d), HD_ERR_FULL);
	tear_down(&t, &s);
}

static void multicast_can_close_a_circle_that_unicast_does_not(void **state)
{
	struct topo t;
	struct subnet s;
	struct deadlock_check c;
	port_id ends[8];

	(void)state;
	set_up(&t, &s, "ring --switches=6", "updn", &by_opensm);
	route_check_deadlock(&s, DEADLOCK_PLAIN, &c);
	assert_int_equal(c.n_cycle, 0);
	route_deadlock_fini(&c);
	uint32_t n = topo_end_ports(&t, ends);

	/* Shortest-path trees from everywhere take every turn of the ring. */
	for (uint32_t i = 0; i < n; i++)
		add(&s, MCAST_SHORTEST, ends[i], ends, n);
	route_check_deadlock(&s, DEADLOCK_PLAIN, &c);
	assert_int_equal(c.n_cycle, 6);
	route_deadlock_fini(&c);
	tear_down(&t, &s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figure_9_of_the_paper_comes_out_exactly),
		cmocka_unit_test(broadcast_has_the_theoretical_cost),
		cmocka_unit_test(a_union_over_negative_first_gives_one_member_two_copies),
		cmocka_unit_test(xy_and_negative_first_both_carry_unicast),
		cmocka_unit_test(loads_of_the_16_by_16_mesh_are_the_exact_ones),
		cmocka_unit_test(one_mlid_for_two_sources_duplicates),
		cmocka_unit_test(trees_reach_each_member_once_on_random_fabrics),
		cmocka_unit_test(shared_trees_have_opensms_root),
		cmocka_unit_test(a_sender_outside_the_group_receives_nothing),
		cmocka_unit_test(other_senders_leave_the_tree_alone),
		cmocka_unit_test(rejects_impossible_values),
		cmocka_unit_test(no_tree_joins_what_is_apart),
		cmocka_unit_test(mlids_run_out_after_16383),
		cmocka_unit_test(multicast_can_close_a_circle_that_unicast_does_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
