/* SPDX-License-Identifier: BSD-2-Clause */
#include "paper/review.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/*
 * Two figures of one command, one of another; L1 of the credit chain falls
 * with the buffer downstream, from 7.422799 at 2 to 3.677464 at 11.
 */
static const char text[] =
	"paper: '000'\ntitle: t\nexperiments:\n"
	"- id: good\n  title: g\n"
	"  command: model credit --upstream 12 --downstream 2..11\n"
	"  checks:\n"
	"  - {what: first, table: points, column: L1, take: first, published: "
	"'7.422799'}\n"
	"  verdict: matched\n"
	"- id: changed\n  title: c\n"
	"  command: model credit --upstream 12 --downstream 2..11\n"
	"  checks:\n"
	"  - {what: course, table: points, column: L1, published: rises}\n"
	"  verdict: matched\n"
	"- id: broken\n  title: b\n"
	"  command: model credit --upstream 12 --downstream 2 --lambda 0\n"
	"  checks:\n"
	"  - {what: any, table: points, column: L1, published: '1'}\n"
	"  verdict: matched\n"
	"- id: nothing\n  title: n\n  reason: a drawing\n";

static void catalogue_read(struct paper_catalogue *c)
{
	struct diag d = { .status = HD_OK };

	*c = (struct paper_catalogue){ 0 };
	if (paper_parse(text, strlen(text), "t.yaml", &d, &c->papers[0]) !=
	    HD_OK)
		fail_msg("%u: %s", d.line, d.message);
	for (unsigned i = 1; i < PAPER_COUNT; i++)
		c->papers[i].id = strdup("none");
}

static enum hd_status run(struct paper_review *s, unsigned at_once)
{
	struct diag d = { .status = HD_OK };
	struct paper_runner runner = { .program = HD_PROGRAM,
				       .at_once = at_once };

	return review_run(s, &runner, &d);
}

/* Whether all verdicts of these are as recorded, `at_once` at a time. */
static bool as_recorded(const char *name, unsigned at_once, size_t n_items,
			size_t n_jobs)
{
	struct diag d = { .status = HD_OK };
	struct paper_catalogue c;
	struct paper_review s;
	struct results *r = results_new("paper");

	catalogue_read(&c);
	review_init(&s, &c, true);
	assert_int_equal(review_add(&s, name, &d), HD_OK);
	assert_int_equal(s.n_items, n_items);
	assert_int_equal(s.n_jobs, n_jobs);
	assert_int_equal(run(&s, at_once), HD_OK);
	bool same = review_tables(&s, r);

	results_free(r);
	review_fini(&s);
	catalogue_fini(&c);
	return same;
}

static void verdicts_are_as_recorded_or_changed(void **state)
{
	(void)state;
	assert_true(as_recorded("000/good", 1, 1, 1));
	assert_false(as_recorded("000/changed", 1, 1, 1));
	assert_false(as_recorded("000/broken", 1, 1, 1));
	assert_true(as_recorded("000/nothing", 1, 1, 0));
	/* Two experiments share a command. */
	assert_false(as_recorded("000", 4, 4, 2));
}

static void a_failed_command_is_told(void **state)
{
	struct diag d = { .status = HD_OK };
	struct paper_catalogue c;
	struct paper_review s;

	(void)state;
	catalogue_read(&c);
	review_init(&s, &c, false);
	assert_int_equal(review_add(&s, "000/broken", &d), HD_OK);
	assert_int_equal(run(&s, 1), HD_OK);
	assert_null(s.jobs[0].end.results);
	assert_non_null(strstr(s.jobs[0].end.failure, "lambda"));
	assert_string_equal(s.items[0].judgements[0].missing,
			    s.jobs[0].end.failure);
	review_fini(&s);
	catalogue_fini(&c);
}

static void unknown_names_are_refused(void **state)
{
	struct diag d = { .status = HD_OK };
	struct paper_catalogue c;
	struct paper_review s;

	(void)state;
	catalogue_read(&c);
	review_init(&s, &c, false);
	assert_int_equal(review_add(&s, "000/goot", &d), HD_ERR_NOT_FOUND);
	assert_string_equal(
		d.message,
		"no experiment '000/goot' (did you mean '000/good'?)");
	review_fini(&s);
	catalogue_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts_are_as_recorded_or_changed),
		cmocka_unit_test(a_failed_command_is_told),
		cmocka_unit_test(unknown_names_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
