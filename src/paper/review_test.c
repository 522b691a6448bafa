/* SPDX-License-Identifier: BSD-2-Clause */
#include "paper/tables.h"

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
	"paper: '000'\ntitle: t\n"
	"studies:\n"
	"- name: credit\n"
	"  command: model credit --upstream 12 --downstream {m}\n"
	"  vary:\n"
	"  - {name: m, values: '2, 3', open: room}\n"
	"  - {name: which, values: 'L1, L2', open: queue}\n"
	"- name: buffers\n"
	"  command: model credit --upstream {n} --downstream {m}\n"
	"  vary: [{name: n, values: '11, 12'}, {name: m, values: '2..5:1'}]\n"
	"experiments:\n"
	"- id: good\n  title: g\n"
	"  command: model credit --upstream 12 --downstream 2..11\n"
	"  checks:\n"
	"  - {what: first, table: points, column: L1, take: first, published: '7.422799'}\n"
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
	"- id: nothing\n  title: n\n  reason: a drawing\n"
	"- id: sizes\n  title: s\n"
	"  command: model credit --upstream 12 --downstream 4\n"
	"  quick: model credit --upstream 12 --downstream 2\n"
	"  checks:\n"
	"  - {what: L1, table: points, column: L1, published: '7.422799'}\n"
	"  verdict: not reproduced\n  reason: r\n  quick_verdict: matched\n"
	"- id: open\n  title: o\n  study: credit\n"
	"  checks:\n"
	"  - {what: L1, table: points, column: L1, published: 7.422799}\n"
	"  verdict: reproduced for\n  settings: m=2\n  reason: r\n"
	"- id: wrong\n  title: w\n  study: credit\n"
	"  checks:\n"
	"  - {what: L1, table: points, column: L1, published: '7'}\n"
	"  verdict: refuted\n  reason: r\n  proof: p\n"
	"- id: along\n  title: a\n  study: credit\n"
	"  given: m=2\n"
	"  checks:\n"
	"  - {what: 'L1 or L2', table: points, column: '{which}', where: 'm={m}', published: '7.422799'}\n"
	"  verdict: reproduced for\n  settings: which=L1\n  reason: r\n"
	"- id: courses\n  title: c\n  study: buffers\n"
	"  checks:\n"
	"  - {what: L1, table: points, column: L1, each: n, along: m, published: falls}\n"
	"  verdict: trend holds\n";

static void catalogue_read(struct paper_catalogue *c)
{
	struct diag d = { .status = HD_OK };

	*c = (struct paper_catalogue){ 0 };
	if (catalogue_add(c, text, strlen(text), "t.yaml", &d) != HD_OK)
		fail_msg("%u: %s", d.line, d.message);
}

static enum hd_status run(struct paper_review *s, unsigned at_once)
{
	struct diag d = { .status = HD_OK };
	const struct review_options options = { .program = HD_PROGRAM, .at_once = at_once };

	return review_run(s, &options, &d);
}

/* Whether all verdicts of these are as recorded, `at_once` at a time. */
static bool run_is_as_recorded(const char *name, bool quick, unsigned at_once, size_t n_items,
			       size_t n_jobs)
{
	struct diag d = { .status = HD_OK };
	struct paper_catalogue c;
	struct paper_review s;
	struct results *r = results_new("paper");

	catalogue_read(&c);
	review_init(&s, &c, quick);
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

static bool as_recorded(const char *name, unsigned at_once, size_t n_items, size_t n_jobs)
{
	return run_is_as_recorded(name, true, at_once, n_items, n_jobs);
}

/* A quick run may have another verdict than one of the printed size: both are recorded. */
static void sizes_have_verdicts_of_their_own(void **state)
{
	(void)state;
	assert_true(run_is_as_recorded("000/sizes", true, 1, 1, 1));
	assert_true(run_is_as_recorded("000/sizes", false, 1, 1, 1));
	assert_false(run_is_as_recorded("000/changed", false, 1, 1, 1));
}

static void verdicts_are_as_recorded_or_changed(void **state)
{
	(void)state;
	assert_true(as_recorded("000/good", 1, 1, 1));
	assert_false(as_recorded("000/changed", 1, 1, 1));
	assert_false(as_recorded("000/broken", 1, 1, 1));
	assert_true(as_recorded("000/nothing", 1, 1, 0));
	/* Two experiments share a command. */
	assert_false(as_recorded("000", 4, 9, 10));
}

/* m = 2 matches, 3 does not: L1 of the chain is 7.42 and 5.55. */
static void what_is_open_is_tried(void **state)
{
	(void)state;
	/* Two axes of two values; one of them is not in the command. */
	assert_true(as_recorded("000/open", 2, 1, 2));
	assert_true(as_recorded("000/along", 1, 1, 1));
	assert_true(as_recorded("000/wrong", 1, 1, 2));
}

static void points_become_one_table(void **state)
{
	(void)state;
	assert_true(as_recorded("000/courses", 2, 1, 8));
}

static void settings_are_fitted(void **state)
{
	struct diag d = { .status = HD_OK };
	struct paper_catalogue c;
	struct paper_review s;
	struct results *r = results_new("paper");
	bool known = false;

	(void)state;
	catalogue_read(&c);
	assert_int_equal(paper_vary(c.papers[0], "m=2..6:2", &d, &known), HD_OK);
	assert_true(known);
	review_init(&s, &c, false);
	assert_int_equal(review_add(&s, "000/open", &d), HD_OK);
	assert_int_equal(s.n_jobs, 3);
	assert_int_equal(run(&s, 1), HD_OK);
	assert_true(review_fit(&s, r));
	const struct table *t = results_find(r, "settings");

	assert_int_equal(table_rows(t), 6);
	assert_string_equal(table_cell(t, 0, 1)->text, "m=2, which=L1");
	assert_int_equal(table_cell(t, 0, 2)->u, 1);
	assert_int_equal(table_cell(t, 2, 2)->u, 0);
	results_free(r);
	review_fini(&s);
	catalogue_fini(&c);
}

static void failed_command_is_reported(void **state)
{
	struct diag d = { .status = HD_OK };
	struct paper_catalogue c;
	struct paper_review s;

	(void)state;
	catalogue_read(&c);
	review_init(&s, &c, false);
	assert_int_equal(review_add(&s, "000/broken", &d), HD_OK);
	assert_int_equal(run(&s, 1), HD_OK);
	assert_null(s.jobs[0].outcome.results);
	assert_non_null(strstr(s.jobs[0].outcome.failure, "lambda"));
	assert_string_equal(s.items[0].settings[0].judgements[0].missing,
			    s.jobs[0].outcome.failure);
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
	assert_string_equal(d.message, "no experiment '000/goot' (did you mean '000/good'?)");
	review_fini(&s);
	catalogue_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts_are_as_recorded_or_changed),
		cmocka_unit_test(sizes_have_verdicts_of_their_own),
		cmocka_unit_test(what_is_open_is_tried),
		cmocka_unit_test(points_become_one_table),
		cmocka_unit_test(settings_are_fitted),
		cmocka_unit_test(failed_command_is_reported),
		cmocka_unit_test(unknown_names_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
