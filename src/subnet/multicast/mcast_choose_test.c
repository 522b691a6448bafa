/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/multicast/mcast_choose.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "subnet/routing/deadlock.h"
#include "subnet/routing/fabric_for_tests.h"
#include "subnet/routing/route.h"

static uint32_t set_up(struct topo *t, struct subnet *s, const char *fabric, const char *engine,
		       port_id *ends)
{
	const struct lid_options lids = { .sm_port = TOPO_NONE };
	struct diag d = { .status = HD_OK };

	generate(t, fabric);
	subnet_init(s, t);
	if (subnet_assign_lids(s, &lids, &d) != HD_OK || subnet_route(s, engine, NULL, &d) != HD_OK)
		fail_msg("%s", d.message);
	return topo_end_ports(t, ends);
}

static void tear_down(struct topo *t, struct subnet *s)
{
	subnet_fini(s);
	topo_fini(t);
}

/*
 * All to all on an 8 x 8 mesh. A shared tree carries each message over each
 * of its 63 cables, so that its busiest one carries at least half of 64 in
 * one direction, and 63 at the leaves; XY trees k(k-1) = 56.
 */
static void xy_trees_beat_a_shared_one_on_a_mesh(void **state)
{
	struct topo t;
	struct subnet s;
	port_id ends[64];
	struct mcast_choice c;
	struct diag d = { .status = HD_OK };

	(void)state;
	uint32_t n = set_up(&t, &s, "node-mesh --columns=8 --rows=8", "xy", ends);
	struct mcast_group all = { .source = TOPO_NONE, .members = ends, .n_members = n };

	assert_int_equal(n, 64);
	assert_int_equal(mcast_choose(&s, &all, 1, &d, &c), HD_OK);
	assert_true(c.shared_fits);
	assert_int_equal(c.shared.link, 63);
	assert_int_equal(c.methods[0], MCAST_UNION);
	assert_int_equal(c.chosen.link, 56);
	assert_int_equal(c.chosen_cycle, 0);
	assert_int_equal(c.n_mlids, 64);
	assert_int_equal(s.n_groups, 64);
	struct mcast_check check;

	mcast_check(&s, &check);
	assert_true(mcast_check_is_clean(&check));
	mcast_choice_fini(&c);
	tear_down(&t, &s);
}

/* Whatever the fabric: what is chosen is there, works, and is no worse. */
static void a_choice_is_never_worse_than_shared_trees(void **state)
{
	static const struct {
		const char *fabric, *engine;
	} cases[] = {
		{ "fat-tree --radix=8 --levels=2", "ftree" },
		{ "torus --sizes=4x4", "torus" },
		{ "dragonfly --routers=4 --globals=2", "dragonfly" },
		{ "irregular --switches=16 --degree=4", "updn" },
		{ "ring --switches=6", "updn" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct topo t;
		struct subnet s;
		static port_id ends[512];
		struct mcast_choice c;
		struct mcast_check check;
		struct diag d = { .status = HD_OK };

		uint32_t n = set_up(&t, &s, cases[i].fabric, cases[i].engine, ends);
		struct mcast_group groups[3] = {
			{ .source = TOPO_NONE, .members = ends, .n_members = n / 2 },
			{ .source = ends[0], .members = &ends[1], .n_members = n - 1 },
			{ .source = TOPO_NONE, .members = &ends[n / 2], .n_members = n / 4 },
		};

		if (mcast_choose(&s, groups, 3, &d, &c) != HD_OK)
			fail_msg("%s: %s", cases[i].fabric, d.message);
		mcast_check(&s, &check);
		assert_true(mcast_check_is_clean(&check));
		if (c.shared_fits && c.shared_cycle == 0) {
			assert_true(c.chosen.link <= c.shared.link);
			assert_int_equal(c.chosen_cycle, 0);
		}
		assert_int_equal(c.n_mlids, s.n_groups);
		mcast_choice_fini(&c);
		tear_down(&t, &s);
	}
}

/* Shortest-path trees from all sides of a ring would close a circle. */
static void a_choice_that_could_lock_up_is_not_taken(void **state)
{
	struct topo t;
	struct subnet s;
	port_id ends[8];
	struct mcast_choice c;
	struct deadlock_check lock;
	struct diag d = { .status = HD_OK };

	(void)state;
	uint32_t n = set_up(&t, &s, "ring --switches=6", "updn", ends);
	struct mcast_group all = { .source = TOPO_NONE, .members = ends, .n_members = n };

	assert_int_equal(mcast_choose(&s, &all, 1, &d, &c), HD_OK);
	assert_int_equal(c.chosen_cycle, 0);
	route_check_deadlock(&s, DEADLOCK_PLAIN, &lock);
	assert_int_equal(lock.n_cycle, 0);
	route_deadlock_fini(&lock);
	mcast_choice_fini(&c);
	tear_down(&t, &s);
}

static void rejects_groups_without_a_tree(void **state)
{
	struct topo t;
	struct subnet s;
	port_id ends[8];
	struct mcast_choice c;
	struct diag d = { .status = HD_OK };

	(void)state;
	set_up(&t, &s, "star --hosts=4", "minhop", ends);
	struct mcast_group none = { .source = TOPO_NONE, .members = ends };

	assert_int_not_equal(mcast_choose(&s, &none, 1, &d, &c), HD_OK);
	assert_non_null(strstr(d.message, "needs members"));
	assert_int_equal(s.n_groups, 0);
	tear_down(&t, &s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(xy_trees_beat_a_shared_one_on_a_mesh),
		cmocka_unit_test(a_choice_is_never_worse_than_shared_trees),
		cmocka_unit_test(a_choice_that_could_lock_up_is_not_taken),
		cmocka_unit_test(rejects_groups_without_a_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
