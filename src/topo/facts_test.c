/* SPDX-License-Identifier: BSD-2-Clause */
#include "topo/facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "topo/read.h"

static const struct value *cell(const struct table *t, const char *column)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		if (strcmp(t->columns[i].name, column) == 0)
			return &t->cells[i];
	}
	fail_msg("no column %s", column);
	return NULL;
}

/*
 * A mesh of n x n: 2 n (n - 1) cables between switches, 2 (n - 1) links from
 * corner to corner, n to cut it into halves.
 */
static void describes_a_mesh_in_numbers(void **state)
{
	(void)state;
	struct results *r = results_new("test");
	struct diag d = { .status = HD_OK };
	struct topo_facts f;
	struct topo t;

	assert_int_equal(topo_open("mesh --columns=4 --rows=4 --hosts=2", 0, NULL, &d, &t), HD_OK);
	topo_facts_init(&f, &t);
	topo_facts_show(&f, &t, r);
	const struct table *fabric = results_find(r, "fabric");

	assert_int_equal(cell(fabric, "switches")->u, 16);
	assert_int_equal(cell(fabric, "hosts")->u, 32);
	assert_int_equal(cell(fabric, "links between switches")->u, 24);
	assert_int_equal(cell(fabric, "links")->u, 24 + 32);
	assert_int_equal(cell(fabric, "diameter")->u, 6);
	assert_int_equal(cell(fabric, "bisection")->u, 4);
	/* All switches have hosts, all cables one speed. */
	const struct table *tiers = results_find(r, "tiers");
	const struct table *links = results_find(r, "links");

	assert_int_equal(tiers->n_cells, tiers->n_columns);
	assert_int_equal(cell(tiers, "links across")->u, 24);
	assert_int_equal(links->n_cells, links->n_columns);
	assert_int_equal(cell(links, "to hosts")->u, 32);
	topo_facts_fini(&f);
	topo_fini(&t);
	results_free(r);
}

/*
 * A line of switches with one host each is cut by one cable, which half of the
 * hosts share; of the halves of one switch there is nothing to say. Either way
 * every column has its value.
 */
static void the_share_of_full_bisection_is_cables_per_pair(void **state)
{
	static const struct {
		const char *fabric;
		double share; /* 0: none */
	} rows[] = {
		{ "mesh --columns=2 --rows=1", 1 },
		{ "mesh --columns=4 --rows=1", 1.0 / 2 },
		{ "mesh --columns=6 --rows=1", 1.0 / 3 },
		{ "mesh --columns=2 --rows=2 --hosts=3", 2.0 / 6 },
		{ "ring --switches=8", 2.0 / 4 },
		{ "star --hosts=5", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct results *r = results_new("test");
		struct diag d = { .status = HD_OK };
		struct topo_facts f;
		struct topo t;

		assert_int_equal(topo_open(rows[i].fabric, 0, NULL, &d, &t), HD_OK);
		topo_facts_init(&f, &t);
		topo_facts_show(&f, &t, r);
		const struct table *fabric = results_find(r, "fabric");
		const struct value *share = cell(fabric, "share of full bisection");

		assert_int_equal(fabric->n_cells, fabric->n_columns);
		if (rows[i].share > 0)
			assert_float_equal(share->real, rows[i].share, 1e-12);
		else
			assert_int_equal(share->kind, VALUE_NONE);
		topo_facts_fini(&f);
		topo_fini(&t);
		results_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(describes_a_mesh_in_numbers),
		cmocka_unit_test(the_share_of_full_bisection_is_cables_per_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
