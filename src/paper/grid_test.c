/* SPDX-License-Identifier: BSD-2-Clause */
#include "paper/grid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

static const char text[] = "paper: '9'\ntitle: t\n"
			   "studies:\n"
			   "- name: s\n"
			   "  command: model credit --upstream {a} --downstream {c}\n"
			   "  vary:\n"
			   "  - {name: a, values: '2, 3, 4', open: o}\n"
			   "  - {name: b, values: 'x, y', open: o}\n"
			   "  - {name: c, values: '2, 3'}\n"
			   "  - {name: d, values: '5, 6, 7', open: o}\n"
			   "experiments:\n"
			   "- id: e\n  title: e\n  study: s\n  reason: r\n";
#define SETTINGS 18

static void grid_make(struct paper *p, struct paper_grid *g)
{
	struct diag d = { .status = HD_OK };

	assert_int_equal(paper_parse(text, strlen(text), "t", &d, p), HD_OK);
	assert_int_equal(paper_grid_init(g, p, &p->experiments[0], false, &d), HD_OK);
	assert_int_equal(g->n_settings, SETTINGS);
}

/* Whether "axis=label|label" has a label. */
static bool part_has(const char *part, const char *label)
{
	const char *at = strchr(part, '=');

	while (at++) {
		if (strncmp(at, label, strlen(label)) == 0)
			return true;
		at = strchr(at, '|');
	}
	return false;
}

/* Whether a setting is in one printed product, "a=2|3, b=x". */
static bool product_has(const struct paper_grid *g, size_t setting, char *product)
{
	char *rest = NULL;

	for (char *part = strtok_r(product, ", ", &rest); part;
	     part = strtok_r(NULL, ", ", &rest)) {
		const char name[2] = { part[0] };

		if (!part_has(part, paper_grid_setting_value(g, setting, name)))
			return false;
	}
	return true;
}

static bool text_has(const struct paper_grid *g, size_t setting, const char *printed)
{
	bool but = strncmp(printed, "all but ", 8) == 0, found = false;
	char *copy = strdup(but ? printed + 8 : printed), *rest = NULL;

	for (char *one = strtok_r(copy, ";", &rest); one; one = strtok_r(NULL, ";", &rest))
		found = found || product_has(g, setting, one);
	free(copy);
	return found != but;
}

/* Read back, the printed products name exactly the members. */
static void printed_products_name_the_members(void **state)
{
	struct paper p;
	struct paper_grid g;
	struct rng rng;

	(void)state;
	grid_make(&p, &g);
	rng_init(&rng, 4, 0);
	for (int i = 0; i < 2000; i++) {
		struct strbuf printed = STRBUF_INIT;
		bool member[SETTINGS];
		size_t n = 0;

		for (size_t k = 0; k < SETTINGS; k++)
			n += member[k] = rng_below(&rng, 4) < (uint64_t)i % 5;
		if (n == 0 || n == SETTINGS)
			continue;
		paper_grid_settings_print(&g, member, &printed);
		for (size_t k = 0; k < SETTINGS; k++)
			assert_int_equal(text_has(&g, k, printed.text), member[k]);
		strbuf_fini(&printed);
	}
	paper_grid_fini(&g);
	paper_fini(&p);
}

static void axes_that_do_not_matter_are_left_out(void **state)
{
	struct strbuf printed = STRBUF_INIT;
	bool member[SETTINGS];
	struct paper p;
	struct paper_grid g;

	(void)state;
	grid_make(&p, &g);
	for (size_t k = 0; k < SETTINGS; k++)
		member[k] = *paper_grid_setting_value(&g, k, "a") != '3' &&
			    *paper_grid_setting_value(&g, k, "b") == 'y';
	paper_grid_settings_print(&g, member, &printed);
	assert_string_equal(printed.text, "a=2|4, b=y");
	strbuf_fini(&printed);
	paper_grid_fini(&g);
	paper_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(printed_products_name_the_members),
		cmocka_unit_test(axes_that_do_not_matter_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
