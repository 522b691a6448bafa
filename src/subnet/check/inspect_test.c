/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/check/inspect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "subnet/routing/fabric_for_tests.h"

struct scene {
	struct topo topo;
	struct subnet subnet;
	struct inspection x;
	struct results *r;
	struct diag d;
	bool met;
};

/* Generates, routes and inspects a fabric; the tables of inspection_show. */
static enum hd_status look(struct scene *s, const char *words, const char *engine,
			   const struct inspection_options *o)
{
	struct lid_options lids = { .order = LIDS_NODES, .sm_port = TOPO_NONE };
	struct route_options route = { 0 };

	*s = (struct scene){ .r = results_new("test") };
	generate(&s->topo, words);
	subnet_init(&s->subnet, &s->topo);
	assert_int_equal(subnet_assign_lids(&s->subnet, &lids, &s->d), HD_OK);
	assert_int_equal(subnet_route(&s->subnet, engine, &route, &s->d), HD_OK);
	enum hd_status status = inspection_begin(&s->x, &s->subnet, o, &s->d);

	return status == HD_OK ? inspection_show(&s->x, s->r, &s->d, &s->met) : status;
}

static void leave(struct scene *s)
{
	inspection_end(&s->x);
	results_free(s->r);
	subnet_fini(&s->subnet);
	topo_fini(&s->topo);
}

static const struct value *cell(const struct scene *s, const char *table, size_t row,
				const char *column)
{
	const struct table *t = results_find(s->r, table);

	assert_non_null(t);
	for (size_t i = 0; i < t->n_columns; i++) {
		if (strcmp(t->columns[i].name, column) == 0)
			return table_cell(t, row, i);
	}
	fail_msg("no column '%s' in '%s'", column, table);
	return NULL;
}

/*
 * Two of the 16 hosts of a 4 x 4 mesh are 2 * (4^2 - 1) / (3 * 4) = 2.5 apart
 * on the mean, a host and itself counted: 2.5 * 256 / 240 of different ones.
 * Each of the 240 flows uses that many of the 48 channels between switches.
 */
static void a_mesh_has_the_computed_mean_hops(void **state)
{
	const struct inspection_options o = { .check = true, .load = 10 };
	struct scene s;

	(void)state;
	assert_int_equal(look(&s, "mesh --columns=4 --rows=4 --hosts=1", "xy", &o), HD_OK);
	assert_true(s.met);
	assert_int_equal(cell(&s, "check", 0, "pairs")->u, 240);
	assert_true(fabs(cell(&s, "check", 0, "mean hops")->real - 8.0 / 3) < 1e-12);
	assert_int_equal(cell(&s, "check", 0, "most hops")->u, 6);
	const struct table *hops = results_find(s.r, "hops");
	uint64_t pairs = 0;

	for (size_t i = 0; i < table_rows(hops); i++)
		pairs += table_cell(hops, i, 1)->u;
	assert_int_equal(pairs, 240);
	assert_int_equal(cell(&s, "all-to-all", 0, "channels")->u, 48);
	assert_true(fabs(cell(&s, "all-to-all", 0, "mean per channel")->real -
			 240 * (8.0 / 3) / 48) < 1e-12);
	assert_true(inspection_is_clean(&s.x));
	leave(&s);
}

/* Shortest paths on a ring wait for each other all around, either way. */
static void a_ring_can_lock_up_and_the_circle_is_named(void **state)
{
	const struct inspection_options o = { .check = true };
	struct scene s;

	(void)state;
	assert_int_equal(look(&s, "ring --switches=6 --hosts=1", "minhop", &o), HD_OK);
	assert_false(s.met);
	assert_false(inspection_is_clean(&s.x));
	assert_string_equal(cell(&s, "deadlock", 0, "VLs seen")->text, "0");
	/* Tables of an engine have all SLs. */
	for (size_t i = 0; i < s.r->n_remarks; i++)
		assert_null(strstr(s.r->remarks[i], "--path-sls"));
	assert_int_equal(table_rows(results_find(s.r, "cycle")), 6);
	for (size_t i = 0; i < 6; i++)
		assert_string_equal(cell(&s, "cycle", i, "next node")->text,
				    cell(&s, "cycle", (i + 1) % 6, "node")->text);
	leave(&s);
}

/* A path is the source and the switches on the way, up to the last one. */
static void a_path_is_walked_node_by_node(void **state)
{
	const struct inspection_options o = { .path = "h0:h15" };
	const struct inspection_options none = { .path = "h0" };
	const struct inspection_options unknown = { .path = "h0:h99" };
	struct scene s;

	(void)state;
	assert_int_equal(look(&s, "mesh --columns=4 --rows=4 --hosts=1", "xy", &o), HD_OK);
	const struct table *t = results_find(s.r, "path");

	assert_int_equal(table_rows(t), 1 + 7);
	assert_string_equal(cell(&s, "path", 0, "node")->text, "h0");
	leave(&s);
	assert_int_equal(look(&s, "star --hosts=4", "minhop", &none), HD_ERR_USAGE);
	leave(&s);
	assert_int_equal(look(&s, "star --hosts=4", "minhop", &unknown), HD_ERR_NOT_FOUND);
	leave(&s);
}

/*
 * Results are those of the tables after the sweeps: without its cable a host is lost, and the
 * others reach each other.
 */
static void sweeps_come_before_all_else(void **state)
{
	static const char *const sweep[] = { "down=h3" };
	const struct inspection_options o = {
		.sweeps = { .items = (const char **)sweep, .n = 1 },
		.check = true,
	};
	struct scene s;

	(void)state;
	assert_int_equal(look(&s, "star --hosts=4", "minhop", &o), HD_OK);
	assert_int_equal(cell(&s, "sweeps", 0, "ports lost")->u, 1);
	assert_int_equal(cell(&s, "check", 0, "pairs")->u, 3 * 2);
	assert_true(s.met);
	leave(&s);
}

/* A group without a given tree gets one, which reaches its members. */
static void groups_are_added_and_checked(void **state)
{
	static const char *const group[] = { "auto=*" };
	const struct inspection_options o = {
		.groups = { .items = (const char **)group, .n = 1 },
	};
	const struct inspection_options missing = { .sl2vl = "/nowhere/x" };
	struct scene s;

	(void)state;
	assert_int_equal(look(&s, "mesh --columns=3 --rows=3 --hosts=1", "xy", &o), HD_OK);
	assert_true(s.met);
	/* Each of nine members to eight others. */
	assert_int_equal(cell(&s, "multicast", 0, "deliveries")->u, 9 * 8);
	assert_int_equal(cell(&s, "groups", 0, "members")->u, 9);
	leave(&s);
	assert_int_equal(look(&s, "star --hosts=4", "minhop", &missing), HD_ERR_NOT_FOUND);
	leave(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mesh_has_the_computed_mean_hops),
		cmocka_unit_test(a_ring_can_lock_up_and_the_circle_is_named),
		cmocka_unit_test(a_path_is_walked_node_by_node),
		cmocka_unit_test(sweeps_come_before_all_else),
		cmocka_unit_test(groups_are_added_and_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
