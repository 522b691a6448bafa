/* SPDX-License-Identifier: BSD-2-Clause */
#include "paper/paper.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"

#define HEAD "paper: '0'\ntitle: t\nexperiments:\n"
#define CHECK(x) \
	"  checks: [{what: w, table: a, column: b, published: '" x "'}]\n"

static void refused(const char *text, unsigned line, const char *message)
{
	struct diag d = { .status = HD_OK };
	struct paper p;

	assert_int_equal(paper_parse(text, strlen(text), "t.yaml", &d, &p),
			 HD_ERR_INPUT);
	assert_string_equal(d.message, message);
	assert_int_equal(d.line, line);
	paper_fini(&p);
}

static void files_that_contradict_themselves_are_refused(void **state)
{
	(void)state;
	refused(HEAD "- {id: a, title: t}\n", 4, "this verdict needs a reason");
	refused(HEAD "- id: a\n  title: t\n  verdict: matched\n", 4,
		"this verdict needs checks");
	refused(HEAD "- id: a\n  title: t\n  verdict: matched\n" CHECK("1"), 4,
		"checks need a command");
	refused(HEAD "- {id: a, title: t, reason: r}\n"
		     "- {id: a, title: t, reason: r}\n",
		5, "this id is there twice");
	refused(HEAD "- {id: a, title: t, reason: r, quick: x}\n", 4,
		"quick needs a command");
}

static void expectations_that_make_no_sense_are_refused(void **state)
{
	(void)state;
	refused(HEAD "- id: a\n  title: t\n  command: c\n" CHECK("3 +- x"), 7,
		"experiments[].checks[].published: 'x' is no tolerance; "
		"expected a share such as 5%");
	refused(HEAD "- id: a\n  title: t\n  command: c\n" CHECK("3 km"), 7,
		"experiments[].checks[].published: ' km' follows the number; "
		"expected '+- 5%' or nothing");
}

static void the_built_in_papers_are_good(void **state)
{
	struct diag d = { .status = HD_OK };
	struct paper_catalogue c;

	(void)state;
	if (catalogue_init(&c, &d) != HD_OK)
		fail_msg("%s:%u:%u: %s", d.file, d.line, d.column, d.message);
	for (unsigned i = 0; i < PAPER_COUNT; i++) {
		char id[8];

		snprintf(id, sizeof(id), "%03u", i);
		assert_string_equal(c.papers[i].id, id);
	}
	catalogue_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_that_contradict_themselves_are_refused),
		cmocka_unit_test(expectations_that_make_no_sense_are_refused),
		cmocka_unit_test(the_built_in_papers_are_good),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
