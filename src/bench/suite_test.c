/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/suite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "bench/virtual.h"

static size_t count_group(enum bench_group group)
{
	size_t n = 0;

	for (const struct bench_test *t = bench_tests; t->name; t++)
		n += t->group == group;
	return n;
}

static size_t added_by(const char *word)
{
	struct diag d = { .status = HD_OK };
	struct bench_suite s = SUITE_INIT;
	size_t n;

	assert_int_equal(suite_add(&s, word, &d), HD_OK);
	n = s.n_tests;
	suite_fini(&s);
	return n;
}

static void words_are_tests_or_groups_of_them(void **state)
{
	(void)state;
	size_t costs = count_group(GROUP_NON_DATA);
	size_t data = count_group(GROUP_DATA);
	size_t beyond = count_group(GROUP_BEYOND);
	struct diag d = { .status = HD_OK };
	struct bench_suite s = SUITE_INIT;

	assert_true(costs > 0 && data > 0 && beyond > 0);
	assert_int_equal(added_by("non-data"), costs);
	assert_int_equal(added_by("data"), data);
	assert_int_equal(added_by("beyond"), beyond);
	assert_int_equal(added_by("miba"), costs + data);
	assert_int_equal(added_by("all"), costs + data + beyond);
	assert_int_equal(added_by("loggp"), 4);
	assert_int_equal(suite_add(&s, "send-lat", &d), HD_OK);
	assert_int_equal(suite_add(&s, "mtu-bw", &d), HD_OK);
	assert_int_equal(s.n_tests, 2);
	assert_string_equal(s.tests[0].test->name, "send-lat");
	assert_false(s.tests[0].by_group);
	assert_int_equal(suite_add(&s, "send-lot", &d), HD_ERR_NOT_FOUND);
	assert_non_null(strstr(d.message, "did you mean 'send-lat'?"));
	suite_fini(&s);
}

static void sizes_are_one_or_two(void **state)
{
	(void)state;
	const char *const wrong[] = { "", "0", "x", "4..2", "1..2GiB", "2GiB", "..4", "4.." };
	struct bench_suite s = SUITE_INIT;
	struct diag d = { .status = HD_OK };

	assert_int_equal(suite_set_sizes(&s, "64", &d), HD_OK);
	assert_int_equal(s.options.from, 64);
	assert_int_equal(s.options.to, 64);
	assert_int_equal(suite_set_sizes(&s, "4KiB..1GiB", &d), HD_OK);
	assert_int_equal(s.options.from, 4096);
	assert_int_equal(s.options.to, 1 << 30);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		d = (struct diag){ .status = HD_OK };
		assert_int_not_equal(suite_set_sizes(&s, wrong[i], &d), HD_OK);
		assert_int_equal(s.options.from, 4096);
	}
	suite_fini(&s);
}

static void values_are_a_list_of_at_most_32(void **state)
{
	(void)state;
	struct strbuf many = STRBUF_INIT;
	struct diag d = { .status = HD_OK };
	struct bench_suite s = SUITE_INIT;

	assert_int_equal(suite_set_values(&s, "1,2,8", &d), HD_OK);
	assert_int_equal(s.options.n_values, 3);
	assert_int_equal(s.options.values[2], 8);
	for (unsigned i = 0; i < 33; i++)
		strbuf_printf(&many, "%u,", i);
	assert_int_equal(suite_set_values(&s, many.text, &d), HD_ERR_RANGE);
	suite_fini(&s);
	strbuf_fini(&many);
}

static void no_point_is_measured_twice(void **state)
{
	unsigned axes = 0;

	(void)state;
	for (const struct bench_test *t = bench_tests; t->name; t++) {
		const uint32_t *v = t->values;

		for (size_t i = 0; v && v[i] != BENCH_END; i++) {
			for (size_t k = 0; k < i; k++)
				assert_int_not_equal(v[k], v[i]);
		}
		axes += v != NULL;
	}
	assert_true(axes > 0);
}

static void only_the_five_mtus_pass(void **state)
{
	(void)state;
	struct bench_suite s = SUITE_INIT;
	unsigned passed = 0;

	for (s.options.mtu = 1; s.options.mtu <= 8192; s.options.mtu++) {
		struct diag d = { .status = HD_OK };

		passed += suite_check(&s, &d) == HD_OK;
	}
	assert_int_equal(passed, 5);
	suite_fini(&s);
}

/* Every test of the ideal adapter's one point has a row, and goals count. */
static void a_suite_runs_the_selected_tests(void **state)
{
	(void)state;
	const struct virtual_options o = { .profile = "ideal" };
	struct results *r = results_new("test");
	struct diag d = { .status = HD_OK };
	struct nic_backend b = { 0 };
	struct bench_suite s = SUITE_INIT;

	s.options.iterations = 2;
	assert_int_equal(suite_add(&s, "send-lat", &d), HD_OK);
	assert_int_equal(suite_set_sizes(&s, "64..256", &d), HD_OK);
	assert_int_equal(suite_expect(&s, "avg>0us", &d), HD_OK);
	assert_int_equal(virtual_open(&o, &d, &b), HD_OK);
	assert_int_equal(suite_points(&s, &b), 3);
	assert_int_equal(suite_run(&s, &b, NULL, &d), HD_OK);
	assert_int_equal(s.rows.n, 3);
	assert_true(suite_show(&s, &b, r));
	assert_non_null(results_find(r, "send-lat"));
	assert_int_equal(suite_expect(&s, "avg<0us", &d), HD_OK);
	results_free(r);
	r = results_new("test");
	assert_false(suite_show(&s, &b, r));
	b.close(&b);
	results_free(r);
	suite_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_tests_or_groups_of_them),
		cmocka_unit_test(sizes_are_one_or_two),
		cmocka_unit_test(values_are_a_list_of_at_most_32),
		cmocka_unit_test(no_point_is_measured_twice),
		cmocka_unit_test(only_the_five_mtus_pass),
		cmocka_unit_test(a_suite_runs_the_selected_tests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
