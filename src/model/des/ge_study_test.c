/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/expect_for_tests.h"

#include "model/des/ge_study.h"
#include "model/reference_for_tests.h"

static struct ge_des_point study(const struct ge_study *s)
{
	struct diag d = { .status = HD_OK };
	struct ge_des_point point;

	assert_int_equal(ge_des_point_init(&point, s, &d), HD_OK);
	return point;
}

static void every_side_of_an_entry_threshold_is_shown(void **state)
{
	struct ge_queue q = et_queue(4, 8);
	struct ge_study s = { .queue = batch_queue_of(&q), .thesis = true, .without = true };
	struct ge_des_point point = study(&s);

	(void)state;
	assert_near(point.exact.mean_queue, et8[3][0], 1e-6);
	assert_near(point.p[16], et8_levels[16], 6e-9);
	assert_true(point.has_form && point.form_error < 1e-15);
	assert_true(point.has_thesis);
	/* The published claim: the threshold lowers blocking. */
	assert_int_equal(point.lane_capacity, 8);
	assert_near(point.lane.blocking, 0.171172, 1e-6);
	assert_near(point.whole.blocking, 0.060403, 1e-6);
	assert_near(point.exact.blocking, 0.021694, 1e-6);
	ge_des_point_fini(&point);
}

static void fixed_rooms_have_no_closed_form(void **state)
{
	struct ge_queue q = ajt_queue(4, 4, 12, 24);
	struct ge_study s = { .queue = batch_queue_of(&q), .thesis = true };
	struct ge_des_point point;

	(void)state;
	s.queue.room[0] = 8;
	s.queue.room[1] = 16;
	point = study(&s);
	assert_near(point.exact.blocking, 0.034743, 1e-6);
	assert_false(point.has_form || point.has_thesis);
	ge_des_point_fini(&point);
}

static void the_thesis_form_is_left_out_where_it_fails(void **state)
{
	struct ge_queue q = et_queue(8, 8);
	struct ge_study s = { .queue = batch_queue_of(&q), .thesis = true };
	struct ge_des_point point = study(&s);

	(void)state;
	assert_near(point.exact.mean_queue, et8[7][0], 1e-6);
	assert_false(point.has_thesis);
	ge_des_point_fini(&point);
}

static void refusals_come_through(void **state)
{
	struct ge_queue q = et_queue(8, 20);
	struct ge_study s = { .queue = batch_queue_of(&q) };
	struct diag d = { .status = HD_OK };
	struct ge_des_point point;

	(void)state;
	assert_int_equal(ge_des_point_init(&point, &s, &d), HD_ERR_RANGE);
	assert_string_equal(d.message, "threshold 20 lies beyond the capacity 16");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_side_of_an_entry_threshold_is_shown),
		cmocka_unit_test(fixed_rooms_have_no_closed_form),
		cmocka_unit_test(the_thesis_form_is_left_out_where_it_fails),
		cmocka_unit_test(refusals_come_through),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
