/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every example scenario, for tests that run each of them: examples/ and the
 * site of the worked case. Short runs compute the first part of an example;
 * with sanitizers they are every third example and those with jobs.
 */
#ifndef HEDDLE_LIB_EXAMPLES_FOR_TESTS_H
#define HEDDLE_LIB_EXAMPLES_FOR_TESTS_H

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/seeds_for_tests.h"
#include "base/strbuf.h"
#include "scenario/override.h"

#define INSTANTS 20 /* instants at which each example is inspected or stopped */

struct example {
	const char *path;
	struct strbuf text;
	struct overrides overrides;
	size_t number;
};

static inline void example_try(struct example *x, void (*test)(const struct example *x))
{
	struct diag d = { .status = HD_OK };

	x->text = (struct strbuf)STRBUF_INIT;
	x->overrides = (struct overrides){ .items = NULL };
	assert_int_equal(file_read(x->path, 1 << 20, &d, &x->text), HD_OK);
	if (!run_is_long()) {
		overrides_put(&x->overrides, "test", "run.warmup", "3us");
		overrides_put(&x->overrides, "test", "run.measure", "20us");
		overrides_put(&x->overrides, "test", "run.horizon", "25us");
	}
	/* The topology file of the site is what 'heddle topo gen' writes. */
	if (strstr(x->text.text, "{file: site.ibnet}"))
		overrides_put(&x->overrides, "test", "fabric.topology",
			      "{kind: fat-tree, radix: 36, levels: 2}");
	/* Skip studies: they are not scenarios. */
	if (!strstr(x->text.text, "\nscenario:"))
		test(x);
	overrides_fini(&x->overrides);
	strbuf_fini(&x->text);
}

/* `root` is HD_SOURCE_DIR. */
static inline void each_example(const char *root, void (*test)(const struct example *x))
{
	struct strbuf pattern = STRBUF_INIT;
	glob_t found;

	strbuf_printf(&pattern, "%s/examples/*.yaml", root);
	assert_int_equal(glob(pattern.text, 0, NULL, &found), 0);
	strbuf_clear(&pattern);
	strbuf_printf(&pattern, "%s/examples/*/site.yaml", root);
	assert_int_equal(glob(pattern.text, GLOB_APPEND, NULL, &found), 0);
	strbuf_fini(&pattern);
	assert_true(found.gl_pathc > 30);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct example x = { .path = found.gl_pathv[i], .number = i };

		if (cases_of_run(3, 3) == 3 || i % 3 == 0 || strstr(x.path, "job") ||
		    strstr(x.path, "site"))
			example_try(&x, test);
	}
	globfree(&found);
}

#endif
