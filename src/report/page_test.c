/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include "report/page_template.h"

static struct results *sample(const char *text)
{
	static const struct column columns[] = {
		{ "word", NULL, VALUE_TEXT },
		{ "real", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
		{ NULL },
	};
	struct results *r = results_new("sim");
	struct table *t = results_series(r, "t", "a title", columns);

	table_put_values(t, (struct value[]){ value_of_text(text), value_of_real(0.1) });
	table_put_values(t, (struct value[]){ value_of_text("second"), value_of_text(NULL) });
	r->seed = UINT64_MAX;
	results_set_scenario(r, text);
	results_parameter(r, "a", text);
	results_remark(r, "%s", text);
	return r;
}

/* The JSON of a page, as a browser would read it. */
static json_t *data_of(const char *page)
{
	const char *mark = "<script id=\"data\" type=\"application/json\">";
	const char *from = strstr(page, mark);

	assert_non_null(from);
	from += strlen(mark);
	const char *to = strstr(from, "</script>");

	assert_non_null(to);
	json_t *data = json_loadb(from, (size_t)(to - from), 0, NULL);

	assert_non_null(data);
	return data;
}

static void a_page_holds_results_with_any_text(void **state)
{
	static const char evil[] = "</script><script>alert(1)</script><!-- \"\\ @HEDDLE-DATA@";
	struct results *r = sample(evil);
	struct page_run runs[] = { { .id = 3, .created = "now", .results = r }, { .results = r } };
	struct strbuf page = STRBUF_INIT;
	struct diag d = { .status = HD_OK };

	(void)state;
	if (!page_template_len) {
		results_free(r);
		skip();
	}
	assert_int_equal(page_write(runs, 2, &page, &d), HD_OK);
	assert_null(strstr(page.text, "<script>alert"));
	json_t *data = data_of(page.text);
	json_t *run = json_array_get(json_object_get(data, "runs"), 0);
	json_t *t = json_array_get(json_object_get(run, "tables"), 0);
	json_t *c = json_array_get(json_object_get(t, "columns"), 0);

	assert_int_equal(json_array_size(json_object_get(data, "runs")), 2);
	assert_string_equal(json_string_value(json_object_get(run, "seed")),
			    "18446744073709551615");
	assert_string_equal(json_string_value(json_object_get(run, "scenario")), evil);
	assert_string_equal(json_string_value(json_array_get(json_object_get(c, "cells"), 0)),
			    evil);
	c = json_array_get(json_object_get(t, "columns"), 1);
	assert_true(json_real_value(json_array_get(json_object_get(c, "cells"), 0)) == 0.1);
	assert_true(json_is_null(json_array_get(json_object_get(c, "cells"), 1)));
	assert_string_equal(json_string_value(json_object_get(c, "unit")), "us");
	json_decref(data);
	strbuf_fini(&page);
	results_free(r);
}

static void a_build_without_a_page_gives_the_reason(void **state)
{
	struct results *r = sample("x");
	struct page_run run = { .results = r };
	struct strbuf page = STRBUF_INIT;
	struct diag d = { .status = HD_OK };

	(void)state;
	enum hd_status status = page_write(&run, 1, &page, &d);

	if (page_template_len) {
		assert_int_equal(status, HD_OK);
		assert_string_equal(page_missing, "");
	} else {
		assert_int_equal(status, HD_ERR_ENV);
		assert_non_null(strstr(d.message, page_missing));
		assert_int_equal(page.len, 0);
	}
	strbuf_fini(&page);
	results_free(r);
}

/* The page works from disk: the template refers to no other file. */
static void the_page_names_no_other_place(void **state)
{
	const char *page = (const char *)page_template;

	(void)state;
	if (!page_template_len)
		skip();
	assert_int_equal(page[page_template_len], 0);
	assert_null(strstr(page, "src=\"http"));
	assert_null(strstr(page, "href=\"http"));
	assert_null(strstr(page, "@import"));
	assert_null(strstr(page, "url(http"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_holds_results_with_any_text),
		cmocka_unit_test(a_build_without_a_page_gives_the_reason),
		cmocka_unit_test(the_page_names_no_other_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
