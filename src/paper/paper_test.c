/* SPDX-License-Identifier: BSD-2-Clause */
#include "paper/paper.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "paper/grid.h"
#include "paper/outcomes.h"

#define HEAD     "paper: '0'\ntitle: t\nexperiments:\n"
#define CHECK(x) "  checks: [{what: w, table: a, column: b, published: '" x "'}]\n"

static void refused(const char *text, unsigned line, const char *message)
{
	struct diag d = { .status = HD_OK };
	struct paper p;

	assert_int_equal(paper_parse(text, strlen(text), "t.yaml", &d, &p), HD_ERR_INPUT);
	assert_string_equal(d.message, message);
	assert_int_equal(d.line, line);
	paper_fini(&p);
}

static void files_that_contradict_themselves_are_refused(void **state)
{
	(void)state;
	refused(HEAD "- {id: a, title: t}\n", 4, "this verdict needs a reason");
	refused(HEAD "- id: a\n  title: t\n  verdict: matched\n", 4, "this verdict needs checks");
	refused(HEAD "- id: a\n  title: t\n  verdict: matched\n" CHECK("1"), 4,
		"checks need a command");
	refused(HEAD "- {id: a, title: t, reason: r}\n"
		     "- {id: a, title: t, reason: r}\n",
		5, "this id is there twice");
	refused(HEAD "- {id: a, title: t, reason: r, quick: x}\n", 4, "quick needs a command");
}

static void expectations_that_make_no_sense_are_refused(void **state)
{
	(void)state;
	refused(HEAD "- id: a\n  title: t\n  command: c\n" CHECK("3 +- x"), 7,
		"experiments[].checks[].published: 'x' is not a tolerance; expected a share such as 5%");
	refused(HEAD "- id: a\n  title: t\n  command: c\n" CHECK("<= x"), 7,
		"experiments[].checks[].published: '<= x' has no number after its sign");
	refused(HEAD "- id: a\n  title: t\n  command: c\n" CHECK("3 km"), 7,
		"experiments[].checks[].published: ' km' follows the number; expected '+- 5%' or nothing");
}

#define MATCHED "  verdict: matched\n"

static void limits_without_a_source_are_refused(void **state)
{
	(void)state;
	refused(HEAD "- id: a\n  title: t\n  command: c\n" MATCHED CHECK("<= 3"), 8,
		"a tolerance, a limit and a computed number need a source");
	refused(HEAD "- id: a\n  title: t\n  command: c\n" MATCHED CHECK("3 +- 5%"), 8,
		"a tolerance, a limit and a computed number need a source");
	refused(HEAD
		"- id: a\n  title: t\n  command: c\n" MATCHED
		"  checks: [{what: w, table: a, column: b, published: '> 1', source: rule x}]\n",
		8, "unknown rule");
}

static void excessive_verdicts_are_refused(void **state)
{
	(void)state;
	refused(HEAD "- id: a\n  title: t\n  command: c\n  verdict: refuted\n"
		     "  reason: r\n" CHECK("1"),
		4, "'refuted' and a proof go together");
	refused(HEAD "- id: a\n  title: t\n  command: c\n  verdict: matched\n"
		     "  proof: p\n" CHECK("1"),
		4, "'refuted' and a proof go together");
	refused(HEAD "- id: a\n  title: t\n  command: c\n  verdict: matched\n"
		     "  settings: s\n" CHECK("1"),
		8, "settings are for 'reproduced for'");
	refused(HEAD "- id: a\n  title: t\n  command: c\n  verdict: matched\n"
		     "  quick_verdict: not reproduced\n" CHECK("1"),
		4, "this verdict needs a reason");
	refused(HEAD "- id: a\n  title: t\n  command: c\n  verdict: matched\n"
		     "  quick_verdict: trend holds\n  quick_settings: s\n" CHECK("1"),
		9, "settings are for 'reproduced for'");
	refused(HEAD "- id: a\n  title: t\n  command: c\n  verdict: not reproduced\n" CHECK("1"), 4,
		"this verdict needs a reason");
}

#define STUDY                                                     \
	"paper: '0'\ntitle: t\nstudies:\n- name: s\n"             \
	"  command: x {a}\n  vary: [{name: a, values: '1, 2'}]\n" \
	"experiments:\n"

static void studies_that_are_not_there_are_refused(void **state)
{
	(void)state;
	refused(STUDY "- {id: a, title: t, reason: r, study: z}\n", 8, "unknown study");
	refused(STUDY "- {id: a, title: t, reason: r, study: s, command: c}\n", 8,
		"a study or a command, not both");
	refused(STUDY "- {id: a, title: t, reason: r, study: s, given: b=1}\n", 8,
		"given: 'b' is not a field that is varied");
	refused(STUDY "- {id: a, title: t, reason: r, study: s, given: a=3}\n", 8,
		"given: a has no value '3' here");
	refused("paper: '0'\ntitle: t\nstudies:\n- name: s\n  command: x\n"
		"  vary: [{name: a, values: '5..1:1'}]\n"
		"experiments: [{id: a, title: t, reason: r}]\n",
		6, "the range '5..1:1' is empty");
	/* 10^7 points are counted, not made. */
	refused("paper: '0'\ntitle: t\nstudies:\n- name: s\n  command: x\n"
		"  vary: [{name: a, values: '1..1000:1'}, {name: b, values: '1..10000:1'}]\n"
		"experiments: [{id: a, title: t, reason: r, study: s}]\n",
		6, "the study has 10000000 points; at most 1000000 are allowed");
}

#define FILES HEAD "- {id: a, title: t, reason: r}\nfiles:\n"

static void files_anywhere_else_are_refused(void **state)
{
	static const char *const bad[] = { "0/../a", "0/.a",   "0//a",  "0/a/",  "0/a b",
					   "0/",     "0/a\\n", "0/./a", "0/a/.." };
	struct strbuf text = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		strbuf_printf(&text, FILES "- {name: \"%s\", text: x}\n", bad[i]);
		refused(text.text, 6,
			"a file's name has letters, digits, _, - and . within its words");
		strbuf_fini(&text);
	}
	refused(FILES "- {name: a, text: x}\n", 6,
		"a file's name begins with the paper's number and a slash");
	refused(FILES "- {name: /0/a, text: x}\n", 6,
		"a file's name begins with the paper's number and a slash");
	refused(FILES "- {name: 0/a, text: x}\n- {name: 0/a, text: y}\n", 7,
		"this file is there twice");
	refused("paper: papers\ntitle: t\n"
		"experiments: [{id: a, title: t, reason: r}]\n"
		"files: [{name: papers/000.yaml, text: x}]\n",
		4, "this file is built in");
}

/* `text` with "my/" instead of the folders of built-in files. */
static char *with_my_files(const char *text)
{
	struct strbuf out = STRBUF_INIT;

	while (*text) {
		if (strncmp(text, "papers/00", 9) == 0) {
			strbuf_puts(&out, "my/");
			text += strlen("papers/000/");
		} else {
			strbuf_putc(&out, *text++);
		}
	}
	return strbuf_detach(&out);
}

/* Checks that the commands are equal, point by point. */
static void check_points(const struct paper *p, const struct paper_experiment *e,
			 const struct paper *mine, bool quick)
{
	struct diag d = { .status = HD_OK };
	struct paper_grid a, b;

	assert_int_equal(paper_grid_init(&a, p, e, quick, &d), HD_OK);
	assert_int_equal(paper_grid_init(&b, mine, mine->experiments, quick, &d), HD_OK);
	assert_int_equal(a.study.n_points, b.study.n_points);
	assert_int_equal(a.n_settings, b.n_settings);
	for (size_t i = 0; i < a.study.n_points; i++) {
		struct strbuf theirs = STRBUF_INIT, ours = STRBUF_INIT;

		study_fill_template(&a.study, i, &theirs);
		study_fill_template(&b.study, i, &ours);
		char *wanted = with_my_files(theirs.text);

		assert_string_equal(ours.text, wanted);
		free(wanted);
		strbuf_fini(&theirs);
		strbuf_fini(&ours);
	}
	paper_grid_fini(&a);
	paper_grid_fini(&b);
}

/* The files are those that are built in, byte by byte. */
static void check_files(const struct paper *p, const struct paper *mine)
{
	for (size_t i = 0; i < mine->n_files; i++) {
		const struct paper_text *f = &mine->files[i];
		char name[128];

		snprintf(name, sizeof(name), "papers/%s/%s", p->id, f->name + strlen("my/"));
		const struct paper_file *built_in = paper_file_find(name);

		assert_non_null(built_in);
		assert_int_equal(strlen(f->text), built_in->len);
		assert_memory_equal(f->text, built_in->bytes, built_in->len);
	}
}

static void check_published(const struct paper_experiment *e, const struct paper_experiment *mine)
{
	assert_string_equal(mine->id, e->id);
	assert_int_equal(mine->found.verdict, e->found.verdict);
	assert_int_equal(mine->n_checks, e->n_checks);
	for (size_t i = 0; i < e->n_checks; i++)
		assert_string_equal(mine->checks[i].published.text, e->checks[i].published.text);
}

static bool study_has_files(const struct paper_study *s)
{
	bool any = s && strstr(s->command, "papers/");

	for (size_t i = 0; s && i < s->n_axes; i++)
		any = any || strstr(s->axes[i].values, "papers/");
	return any;
}

/* A printed experiment reads back as the same experiment. */
static void check_handed_over(const struct paper *p, const struct paper_experiment *e)
{
	struct diag d = { .status = HD_OK };
	struct strbuf text = STRBUF_INIT;
	struct paper back;

	paper_extract(p, e, &text);
	if (paper_parse(text.text, text.len, "x", &d, &back) != HD_OK)
		fail_msg("%s/%s: %u: %s", p->id, e->id, d.line, d.message);
	assert_int_equal(back.n_experiments, 1);
	check_published(e, back.experiments);
	assert_int_equal(!back.experiments[0].study, !e->study);
	for (int quick = 0; e->study && quick < 2; quick++)
		check_points(p, e, &back, quick);
	check_files(p, &back);
	assert_int_equal(back.n_files > 0, study_has_files(e->study));
	paper_fini(&back);
	strbuf_fini(&text);
}

static void experiments_are_handed_over(void **state)
{
	struct diag d = { .status = HD_OK };
	struct paper_catalogue c;

	(void)state;
	assert_int_equal(catalogue_init(&c, &d), HD_OK);
	for (size_t i = 0; i < c.n; i++) {
		for (size_t k = 0; k < c.papers[i]->n_experiments; k++)
			check_handed_over(c.papers[i], &c.papers[i]->experiments[k]);
	}
	catalogue_fini(&c);
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
		assert_string_equal(c.papers[i]->id, id);
	}
	catalogue_fini(&c);
}

static struct paper_outcome outcome(char *id, bool quick, char *ours)
{
	return (struct paper_outcome){ .id = id, .check = 1, .ours = ours, .quick = quick };
}

static struct paper_outcome outcome_of_no_check(char *id, char *ours)
{
	return (struct paper_outcome){ .id = id, .check = 99, .ours = ours, .quick = true };
}

static void what_is_found_joins_what_was_recorded(void **state)
{
	struct paper_outcome now[] = { outcome("000/fig9", false, "printed"),
				       outcome("000/table1", false, "new") };
	struct paper_outcome old[] = { outcome("000/table1", false, "old"),
				       outcome("000/fig8", true, "other"),
				       outcome("000/fig9", true, "quick"),
				       outcome("000/gone", true, "gone"),
				       outcome_of_no_check("000/table1", "gone") };
	static const char *const joined[] = { "new", "other", "printed", "quick" };
	const struct paper_outcomes found = { now, 2 }, before = { old, 5 };
	struct diag d = { .status = HD_OK };
	struct paper_catalogue c;
	struct paper_outcomes all;

	(void)state;
	assert_int_equal(catalogue_init(&c, &d), HD_OK);
	outcomes_join(&c, &found, &before, &all);
	assert_int_equal(all.n, 4);
	for (size_t i = 0; i < all.n; i++)
		assert_string_equal(all.rows[i].ours, joined[i]);
	for (size_t i = 0; i < c.papers[0]->n_experiments; i++) {
		const struct paper_experiment *e = &c.papers[0]->experiments[i];
		const struct paper_outcome *row = outcomes_find(&all, c.papers[0], e);

		if (strcmp(e->id, "fig9") == 0)
			assert_string_equal(row->ours, "printed");
	}
	outcomes_fini(&all);
	catalogue_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_that_contradict_themselves_are_refused),
		cmocka_unit_test(expectations_that_make_no_sense_are_refused),
		cmocka_unit_test(limits_without_a_source_are_refused),
		cmocka_unit_test(excessive_verdicts_are_refused),
		cmocka_unit_test(studies_that_are_not_there_are_refused),
		cmocka_unit_test(files_anywhere_else_are_refused),
		cmocka_unit_test(experiments_are_handed_over),
		cmocka_unit_test(the_built_in_papers_are_good),
		cmocka_unit_test(what_is_found_joins_what_was_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
