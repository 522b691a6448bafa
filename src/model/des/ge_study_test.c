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
	struct ge_study s = { .queue = batch_queue_of(&q), .without = true };
	struct ge_des_point point = study(&s);

	(void)state;
	assert_near(point.result.mean_queue, et8[3][0], 1e-6);
	assert_near(point.p[16], et8_levels[16], 6e-9);
	assert_true(point.has_form && point.form_error < 1e-15);
	/* The published claim: the threshold lowers blocking. */
	assert_int_equal(point.vl_capacity, 8);
	assert_near(point.vl.blocking, 0.171172, 1e-6);
	assert_near(point.whole.blocking, 0.060403, 1e-6);
	assert_near(point.result.blocking, 0.021694, 1e-6);
	ge_des_point_fini(&point);
}

static void fixed_rooms_have_no_closed_form(void **state)
{
	struct ge_queue q = ajt_queue(4, 4, 12, 24);
	struct ge_study s = { .queue = batch_queue_of(&q) };
	struct ge_des_point point;

	(void)state;
	s.queue.room[0] = 8;
	s.queue.room[1] = 16;
	point = study(&s);
	assert_near(point.result.blocking, 0.034743, 1e-6);
	assert_false(point.has_form);
	ge_des_point_fini(&point);
}

static void separate_regions_replace_the_exact_solution_where_they_exist(void **state)
{
	struct ge_queue q = et_queue(4, 8);
	struct ge_study s = { .queue = batch_queue_of(&q), .reading = MAXENT_SEPARATE };
	struct ge_des_point point = study(&s);

	(void)state;
	assert_true(point.has_form && point.form_error > 1e-3);
	assert_true(fabs(point.result.mean_queue / et8[3][0] - 1) > 0.01);
	ge_des_point_fini(&point);
	q.lambda = 8; /* the load of the first region is 1 */
	s.queue = batch_queue_of(&q);
	point = study(&s);
	assert_false(point.has_form);
	assert_true(isnan(point.result.mean_queue) && isnan(point.p[0]));
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
		cmocka_unit_test(separate_regions_replace_the_exact_solution_where_they_exist),
		cmocka_unit_test(refusals_come_through),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
