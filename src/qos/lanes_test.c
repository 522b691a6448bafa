/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "qos/lanes.h"

static unsigned weight_of(const struct vlarb_entry *entries, unsigned n,
			  unsigned vl)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += entries[i].vl == vl ? entries[i].weight : 0;
	return sum;
}

/* What the header says, counted by another way than entry by entry. */
static void weights_are_kept_in_whatever_entries(void **state)
{
	const struct lane_class classes[] = {
		{ .sl = 3, .lane = 2, .high = true, .weight = 600 },
		{ .sl = 5, .lane = LANE_ANY, .weight = 255 },
		{ .sl = 9, .lane = LANE_ANY, .weight = 1 }, /* VL 1, as SL 5 */
	};
	const struct lane_plan p = {
		.lanes = 4, .classes = classes, .n_classes = 3, .high_limit = 7
	};
	struct sl2vl map = lanes_map(&p);
	struct vlarb t;

	(void)state;
	assert_int_equal(map.vl[3], 2);
	assert_int_equal(map.vl[5], 1);
	assert_int_equal(map.vl[7], 3);
	assert_true(lanes_tables(&p, &t));
	assert_int_equal(t.high_limit, 7);
	assert_int_equal(t.n_high, 3); /* 255 + 255 + 90 */
	assert_int_equal(weight_of(t.high, t.n_high, 2), 600);
	assert_int_equal(weight_of(t.low, t.n_low, 1), 256);
	/* Lanes that no class has asked for are served all the same. */
	assert_int_equal(weight_of(t.low, t.n_low, 0), 65);
	assert_int_equal(weight_of(t.low, t.n_low, 3), 65);
	assert_int_equal(weight_of(t.low, t.n_low, 2), 0);
}

static void a_given_table_is_taken_as_it_is(void **state)
{
	const struct vlarb_entry low[] = { { 1, 9 }, { 0, 3 } };
	const struct lane_class c = { .sl = 0, .lane = LANE_ANY, .weight = 50 };
	const struct lane_plan p = {
		.lanes = 2, .classes = &c, .n_classes = 1, .low = { low, 2 }
	};
	struct vlarb t;

	(void)state;
	assert_true(lanes_tables(&p, &t));
	assert_int_equal(t.n_high, 0);
	assert_int_equal(t.n_low, 2);
	assert_int_equal(t.low[0].vl, 1);
	assert_int_equal(weight_of(t.low, 2, 0), 3);
}

static void a_table_has_64_entries(void **state)
{
	struct lane_class c = { .sl = 0, .high = true, .weight = 64 * 255 };
	const struct lane_plan p = { .lanes = 1,
				     .classes = &c,
				     .n_classes = 1 };
	struct vlarb t;

	(void)state;
	assert_true(lanes_tables(&p, &t));
	assert_int_equal(t.n_high, VLARB_MAX);
	c.weight++;
	assert_false(lanes_tables(&p, &t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_are_kept_in_whatever_entries),
		cmocka_unit_test(a_given_table_is_taken_as_it_is),
		cmocka_unit_test(a_table_has_64_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
