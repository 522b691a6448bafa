/* SPDX-License-Identifier: BSD-2-Clause */
#include "cc/marking.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct mark_departure plain = {
	.bytes = 2068, .fill = 1, .capacity = 4, .has_credits = true
};

static void a_full_buffer_marks_all_that_wait_then_stops(void **state)
{
	(void)state;
	struct mark_config c = { .rule = MARK_TWO_COUNTER };
	struct mark_output o = { 0 };

	for (int i = 0; i < 3; i++)
		marking_arrive(&o, 33);
	assert_false(marking_departs(&c, &o, &plain));
	marking_input_full(&c, &o);
	marking_arrive(&o, 33); /* arrived later: not among the three */
	for (int i = 0; i < 3; i++)
		assert_true(marking_departs(&c, &o, &plain));
	assert_false(marking_departs(&c, &o, &plain));
	assert_int_equal(o.marked, 3);
}

static void the_guard_spares_a_lone_victim(void **state)
{
	(void)state;
	struct mark_config c = { .rule = MARK_TWO_COUNTER, .guard = true };
	struct mark_output o = { 0 };

	marking_arrive(&o, 33);
	marking_input_full(&c, &o);
	assert_false(marking_departs(&c, &o, &plain));
	marking_arrive(&o, 33);
	marking_input_full(&c, &o);
	assert_true(marking_departs(&c, &o, &plain));
	c.guard = false;
	marking_leave(&o, 33);
	o.to_mark = 0;
	marking_input_full(&c, &o);
	assert_true(marking_departs(&c, &o, &plain));
}

static void a_threshold_marks_while_enough_waits(void **state)
{
	(void)state;
	struct mark_config c = { .rule = MARK_THRESHOLD, .depth = 50 };
	struct mark_output o = { 0 };

	marking_arrive(&o, 33);
	assert_false(marking_departs(&c, &o, &plain));
	marking_arrive(&o, 17);
	assert_true(marking_departs(&c, &o, &plain));
	marking_leave(&o, 33);
	assert_false(marking_departs(&c, &o, &plain));
}

static void the_architecture_marks_roots_not_victims(void **state)
{
	(void)state;
	struct mark_config c = { .rule = MARK_IBA, .threshold = 8 };
	struct mark_output o = { 0 };
	struct mark_departure p = {
		.bytes = 2068, .fill = 64, .capacity = 128, .has_credits = true
	};

	assert_true(marking_departs(&c, &o, &p)); /* half full = (16 - 8)/16 */
	p.fill = 63;
	assert_false(marking_departs(&c, &o, &p));
	p.fill = 128;
	p.has_credits = false;
	assert_false(marking_departs(&c, &o, &p));
	c.mark_victims = true;
	assert_true(marking_departs(&c, &o, &p));
	c.min_bytes = 4096;
	assert_false(marking_departs(&c, &o, &p));
	c.min_bytes = 0;
	c.threshold = 0;
	assert_false(marking_departs(&c, &o, &p));
}

static void the_marking_rate_spaces_marks(void **state)
{
	(void)state;
	struct mark_config c = { .rule = MARK_IBA, .threshold = 15, .mark_every = 3 };
	struct mark_output o = { 0 };
	struct mark_departure p = plain;
	unsigned marks = 0;

	p.fill = p.capacity;
	for (int i = 0; i < 40; i++)
		marks += marking_departs(&c, &o, &p);
	assert_int_equal(marks, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_buffer_marks_all_that_wait_then_stops),
		cmocka_unit_test(the_guard_spares_a_lone_victim),
		cmocka_unit_test(a_threshold_marks_while_enough_waits),
		cmocka_unit_test(the_architecture_marks_roots_not_victims),
		cmocka_unit_test(the_marking_rate_spaces_marks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
