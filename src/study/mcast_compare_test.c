/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "study/mcast_compare.h"

static enum hd_status run(const char *topology, const char *fail, bool *well, struct results *r,
			  struct diag *d)
{
	struct overrides o = { 0 };
	const struct mcast_compare_options options = { .topology = topology,
						       .overrides = &o,
						       .sources = "0",
						       .members = "all",
						       .size = 256,
						       .vls = 1,
						       .seed = 1,
						       .seeds = 2 };

	if (fail) {
		overrides_put(&o, "--fail", "faults.events.+.kind", "switch-down");
		overrides_put(&o, "--fail", "faults.events.-.port", "%s", fail);
		overrides_put(&o, "--fail", "faults.events.-.at", "0s");
	}
	enum hd_status status = mcast_compare_run(&options, r, d, well);

	overrides_fini(&o);
	return status;
}

static void all_get_everything_unless_a_switch_fails(void **state)
{
	struct diag d = { .status = HD_OK };
	struct results *r = results_new("test");
	bool well = false;

	(void)state;
	assert_int_equal(run("kind: ring, switches: 4, hosts: 1", NULL, &well, r, &d), HD_OK);
	assert_true(well);
	results_free(r);
	r = results_new("test");
	assert_int_equal(run("kind: ring, switches: 4, hosts: 1", "s-2", &well, r, &d), HD_OK);
	assert_false(well);
	results_free(r);
}

static void refusals_name_the_option(void **state)
{
	struct diag d = { .status = HD_OK };
	struct results *r = results_new("test");
	bool well;

	(void)state;
	assert_int_not_equal(run("kind: ring", "x, at: 1s", &well, r, &d), HD_OK);
	assert_string_equal(d.message, "--fail: no switch 'x, at: 1s'");
	results_free(r);
	r = results_new("test");
	d = (struct diag){ .status = HD_OK };
	assert_int_not_equal(run("kind: ring}, link: {rate: 1b/s", NULL, &well, r, &d), HD_OK);
	assert_memory_equal(d.message, "--topology: not YAML", 20);
	results_free(r);
}

static double cell(const struct table *t, size_t row, const char *name)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		if (strcmp(t->columns[i].name, name) == 0)
			return value_real(table_cell(t, row, i));
	}
	fail_msg("no column '%s'", name);
	return 0;
}

/* All methods on a mesh deliver to all members, and never before the lower bound. */
static void compared_methods_reach_all_members(void **state)
{
	struct diag d = { .status = HD_OK };
	struct results *r = results_new("test");
	struct overrides o = { 0 };
	const struct mcast_compare_options options = {
		.topology = "kind: node-mesh, columns: 5, rows: 4",
		.overrides = &o,
		.sources = "40%",
		.members = "all",
		.size = 300,
		.vls = 2,
		.seed = 1,
		.seeds = 3
	};
	bool well = false;

	(void)state;
	overrides_put(&o, "--engine", "fabric.routing", "xy");
	overrides_put(&o, "--vls", "qos.vls", "2");
	assert_int_equal(mcast_compare_run(&options, r, &d, &well), HD_OK);
	assert_true(well);
	const struct table *ways = results_find(r, "ways");
	const struct table *draws = results_find(r, "draws");

	assert_int_equal(table_rows(ways), 1 + MCAST_COMPARE_TREES);
	assert_int_equal(table_rows(draws), 3 * (1 + MCAST_COMPARE_TREES));
	for (size_t i = 0; i < table_rows(draws); i++) {
		assert_true(cell(draws, i, "amiss") == 0);
		assert_true(cell(draws, i, "completion") >= cell(draws, i, "bound") - 1e-9);
	}
	/* Two paths of 8 sources each, up to four parts. */
	for (size_t i = 0; i < table_rows(ways); i++) {
		const char *sent = table_cell(ways, i, 0)->text;
		double mlids = cell(ways, i, "MLIDs");

		if (strcmp(sent, "dual-path") == 0)
			assert_true(mlids > 8 && mlids <= 16);
		if (strcmp(sent, "multi-path") == 0 || strcmp(sent, "double-xy") == 0)
			assert_true(mlids > 16 && mlids <= 32);
	}
	overrides_fini(&o);
	results_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_get_everything_unless_a_switch_fails),
		cmocka_unit_test(refusals_name_the_option),
		cmocka_unit_test(compared_methods_reach_all_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
