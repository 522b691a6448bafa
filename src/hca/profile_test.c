/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hca/profile.h"

static void the_built_in_profiles_can_be_read(void **state)
{
	size_t n = 0;

	(void)state;
	for (; profile_names[n]; n++) {
		struct diag d = { .status = HD_OK };
		struct hca_profile p, again;
		struct strbuf text = STRBUF_INIT;

		if (profile_open(profile_names[n], &d, &p) != HD_OK)
			fail_msg("%s: %s", profile_names[n], d.message);
		assert_string_equal(p.name, profile_names[n]);
		/* A printed profile parses to the same profile. */
		profile_print(&p, &text);
		assert_int_equal(profile_parse(text.text, text.len, &d, &again), HD_OK);
		assert_int_equal(p.bus_overhead, again.bus_overhead);
		assert_int_equal(p.page, again.page);
		assert_int_equal(p.staging, again.staging);
		strbuf_fini(&text);
		profile_fini(&p);
		profile_fini(&again);
	}
	assert_int_equal(n, 5);
}

/* Fields of host, adapter, bus and translation: 22. */
static void a_profile_has_22_numbers(void **state)
{
	struct diag d = { .status = HD_OK };
	struct strbuf text = STRBUF_INIT;
	struct hca_profile p;
	unsigned n = 0;
	bool counts = false;

	(void)state;
	assert_int_equal(profile_open("mt23108", &d, &p), HD_OK);
	profile_print(&p, &text);
	for (char *line = strtok(text.text, "\n"); line; line = strtok(NULL, "\n")) {
		if (line[0] != ' ')
			counts = strncmp(line, "host", 4) == 0 ||
				 strncmp(line, "adapter", 7) == 0 || strncmp(line, "bus", 3) == 0 ||
				 strncmp(line, "translation", 11) == 0;
		else
			n += counts;
	}
	assert_int_equal(n, 22);
	strbuf_fini(&text);
	profile_fini(&p);
}

static void refusals_name_the_line(void **state)
{
	static const char bad[] = "name: x\nhost:\n  pol: 1ns\n";
	struct diag d = { .status = HD_OK };
	struct hca_profile p;

	(void)state;
	assert_int_not_equal(profile_parse(bad, sizeof(bad) - 1, &d, &p), HD_OK);
	assert_int_equal(d.line, 3);
	assert_non_null(strstr(d.message, "poll"));
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(profile_open("mt2310", &d, &p), HD_ERR_NOT_FOUND);
	assert_non_null(strstr(d.message, "mt23108"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_built_in_profiles_can_be_read),
		cmocka_unit_test(a_profile_has_22_numbers),
		cmocka_unit_test(refusals_name_the_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
