/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/routing/direction.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "subnet/routing/deadlock.h"
#include "subnet/routing/fabric_for_tests.h"
#include "subnet/routing/route.h"

static void set_up(struct topo *t, struct subnet *s, const char *fabric, unsigned vls)
{
	generate(t, fabric);
	subnet_init(s, t);
	subnet_limit_vls(s, vls);
}

static void tear_down(struct topo *t, struct subnet *s)
{
	subnet_fini(s);
	topo_fini(t);
}

/* The middle switch sends all that leaves by `out` on that VL. */
static void check_tables(const struct subnet *s, unsigned out, uint8_t vl)
{
	for (unsigned in = 0; in <= 4; in++) {
		for (unsigned sl = 0; sl < N_SLS; sl++)
			assert_int_equal(sl2vl_at(s, 4, in, out)->vl[sl], vl);
	}
}

/* Ports of a node mesh: 1 east, 2 north, 3 west, 4 south. */
static void tables_equal_the_relay_function(void **state)
{
	static const struct {
		const struct direction_vls *vls;
		uint8_t of_port[5];
	} cases[] = {
		{ &grid_vls_ne_sw, { 0, 0, 0, 1, 1 } },
		{ &grid_vls_e_n_w_s, { 0, 0, 1, 2, 3 } },
		{ &grid_vls_n_e_s_w, { 0, 1, 0, 3, 2 } },
	};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct topo t;
		struct subnet s;
		struct diag d = { .status = HD_OK };

		set_up(&t, &s, "node-mesh --columns=3 --rows=3", 4);
		assert_int_equal(direction_set_vls(&s, cases[i].vls, &d), HD_OK);
		/* The one in the middle has all four. */
		for (unsigned out = 0; out <= 4; out++) {
			port_id p = topo_port_of(&t, 4, out);

			assert_int_equal(grid_direction_vl(cases[i].vls, &t, p),
					 cases[i].of_port[out]);
			check_tables(&s, out, cases[i].of_port[out]);
		}
		tear_down(&t, &s);
	}
}

static void vls_by_direction_keep_xy_free_of_deadlock(void **state)
{
	const struct lid_options lids = { .order = LIDS_PAPER, .sm_port = TOPO_NONE };
	struct topo t;
	struct subnet s;
	struct deadlock_check lock;
	struct diag d = { .status = HD_OK };

	(void)state;
	set_up(&t, &s, "node-mesh --columns=5 --rows=4", 4);
	assert_int_equal(subnet_assign_lids(&s, &lids, &d), HD_OK);
	assert_int_equal(subnet_route(&s, "xy", NULL, &d), HD_OK);
	assert_int_equal(direction_set_vls(&s, &grid_vls_e_n_w_s, &d), HD_OK);
	route_check_deadlock(&s, DEADLOCK_PLAIN, &lock);
	assert_int_equal(lock.n_cycle, 0);
	assert_int_equal(lock.n_dropped, 0);
	route_deadlock_fini(&lock);
	tear_down(&t, &s);
}

static void rejects_fabrics_without_directions(void **state)
{
	static const struct {
		const char *fabric;
		unsigned vls;
		const char *reason;
	} cases[] = {
		{ "ring --switches=5", 4, "two dimensions" },
		{ "torus --sizes=3x3x3", 4, "two dimensions" },
		{ "node-mesh --columns=3 --rows=3", 2, "does not have" },
	};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct topo t;
		struct subnet s;
		struct diag d = { .status = HD_OK };

		set_up(&t, &s, cases[i].fabric, cases[i].vls);
		assert_int_equal(direction_set_vls(&s, &grid_vls_n_e_s_w, &d), HD_ERR_UNFIT);
		assert_non_null(strstr(d.message, cases[i].reason));
		tear_down(&t, &s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_equal_the_relay_function),
		cmocka_unit_test(vls_by_direction_keep_xy_free_of_deadlock),
		cmocka_unit_test(rejects_fabrics_without_directions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
