/* SPDX-License-Identifier: BSD-2-Clause */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/paper/session.h"
#include "paper/outcomes.h"

#define FIELD(m) offsetof(struct paper_values, m)

#define OPTION_QUICK                                                        \
	{                                                                   \
		.name = "quick", .kind = OPT_FLAG, .offset = FIELD(quick),  \
		.help = "smaller fabrics and shorter runs where there are " \
			"such: minutes for all of it instead of hours"      \
	}
#define OPTION_JOBS                                                        \
	{                                                                  \
		.name = "jobs", .letter = 'j', .kind = OPT_UINT,           \
		.offset = FIELD(jobs), .value = "N", .initial = "0",       \
		.high = 1024,                                              \
		.help = "runs at once; 0 is one per core. Results do not " \
			"depend on it"                                     \
	}
#define OPTION_DOCUMENT                                                         \
	{                                                                       \
		.name = "document", .kind = OPT_TEXT,                           \
		.offset = FIELD(document), .value = "FILE",                     \
		.help = "write what became of the papers to FILE, as Markdown " \
			"(docs/papers.md)"                                      \
	}

#define OPTION_RECORD                                                          \
	{                                                                      \
		.name = "record", .kind = OPT_TEXT, .offset = FIELD(record),   \
		.value = "FILE",                                               \
		.help = "write what was found to FILE, as papers/record.yaml " \
			"has it"                                               \
	}

/* ---- files of our own ---------------------------------------------------- */

static enum hd_status write_document(const struct paper_session *s,
				     const struct paper_outcomes *r,
				     struct diag *d)
{
	struct strbuf text = STRBUF_INIT;

	if (!s->v.document)
		return HD_OK;
	paper_document(&s->catalogue, r, &text);
	enum hd_status status =
		file_write(s->v.document, text.text, text.len, d);

	strbuf_fini(&text);
	return status;
}

static enum hd_status write_record(const struct paper_session *s,
				   const struct paper_outcomes *r,
				   struct diag *d)
{
	struct strbuf text = STRBUF_INIT;

	if (!s->v.record)
		return HD_OK;
	outcomes_print(r, &text);
	enum hd_status status = file_write(s->v.record, text.text, text.len, d);

	strbuf_fini(&text);
	return status;
}

/* ---- list ---------------------------------------------------------------- */

static int list(struct paper_session *s, const char *name)
{
	struct results *r = results_new(name);
	struct diag d = { .status = HD_OK };
	struct paper_outcomes record = { 0 };
	enum hd_status status = HD_OK;

	if (s->v.document)
		status = outcomes_read(&d, &record);
	if (status == HD_OK)
		status = write_document(s, &record, &d);
	outcomes_fini(&record);
	if (status != HD_OK) {
		results_free(r);
		return command_refuse(&d);
	}
	review_list(&s->review, r);
	return output_results(&s->v.common, r, true);
}

static int run_list(const struct command *self, int argc, char **argv)
{
	static const struct paper_wish wish = { .act = list, .most = INT_MAX };

	return paper_session(self, argc, argv, &wish);
}

static const struct option list_options[] = {
	OPTION_QUICK,
	OPTION_DOCUMENT,
	{ .name = NULL },
};

static const struct example list_examples[] = {
	{ "heddle paper list", "everything, with its state and its command" },
	{ "heddle paper list 002 004/fig4.5", "of some" },
	{ "heddle paper list --document papers.md",
	  "all verdicts, rules and errata, as recorded" },
	{ NULL, NULL },
};

static const struct command command_paper_list = {
	.name = "paper list",
	.summary = "published tables, figures and claims, and their state",
	.arguments = "[PAPER | ID | FILE]...",
	.description =
		"Shows every table, figure and tested claim of the five papers: how long\n"
		"it takes, the command behind it, and its state: matched (a number, to all\n"
		"printed digits), within tolerance (one that is older than our result),\n"
		"trend holds (words, by the rule beside them), reproduced for (some of what\n"
		"the paper leaves open, or most cases), not reproduced, refuted (the text\n"
		"contradicts itself: with proof), or no number to compare.\n",
	.options = list_options,
	.examples = list_examples,
	.run = run_list,
};

/* ---- run and all ----------------------------------------------------------
 */

static int review(struct paper_session *s, const char *name)
{
	struct diag d = { .status = HD_OK };
	struct paper_outcomes record;

	if (paper_session_run(s, &d) != HD_OK)
		return command_refuse(&d);
	struct results *r = results_new(name);
	bool same = review_tables(&s->review, r);
	size_t done = paper_session_done(s);

	results_remark(r,
		       "series and comparisons are in %s: 'heddle report "
		       "--db %s --html papers.html' draws them",
		       s->v.common.db, s->v.common.db);
	if (done < s->review.n_jobs)
		results_remark(r, "interrupted after %zu of %zu runs", done,
			       s->review.n_jobs);
	outcomes_take(&s->review, &record);
	enum hd_status status = write_document(s, &record, &d);

	if (status == HD_OK)
		status = write_record(s, &record, &d);
	outcomes_fini(&record);
	int code = paper_session_tell(s, r, same);

	if (status != HD_OK)
		return command_refuse(&d);
	return done < s->review.n_jobs ? EXIT_ENVIRONMENT : code;
}

static int run_some(const struct command *self, int argc, char **argv)
{
	static const struct paper_wish wish = {
		.act = review,
		.runs = true,
		.least = 1,
		.most = INT_MAX,
		.wrong = "which? 'heddle paper list' shows them",
	};

	return paper_session(self, argc, argv, &wish);
}

static int run_all(const struct command *self, int argc, char **argv)
{
	static const struct paper_wish wish = {
		.act = review,
		.runs = true,
		.wrong = "names are too much: it runs all",
	};

	return paper_session(self, argc, argv, &wish);
}

static const struct option run_options[] = {
	OPTION_QUICK,
	OPTION_JOBS,
	OPTION_RECORD,
	{ .name = NULL },
};

static const struct example run_examples[] = {
	{ "heddle paper run 000/table1", "one table, ours beside theirs" },
	{ "heddle paper run 002/fig16 --html fig16.html",
	  "a figure, and a page that draws it" },
	{ "heddle paper run 004 --quick", "all of a paper, quickly" },
	{ "heddle paper run my.yaml", "what 'paper show' gave, changed" },
	{ NULL, NULL },
};

static const struct command command_paper_run = {
	.name = "paper run",
	.summary = "some of them, ours beside theirs",
	.arguments = "PAPER | ID | FILE ...",
	.description =
		"Runs the commands behind the experiments, which it prints too, and\n"
		"compares. Exit status 1 if a verdict is not the recorded one. Series and\n"
		"comparisons are added to the database heddle.db, or that of --db, from\n"
		"which 'heddle report' draws; --html draws what was run at once. A FILE\n"
		"(.yaml) has experiments of your own, as 'heddle paper show' hands them\n"
		"over.\n",
	.options = run_options,
	.examples = run_examples,
	.run = run_some,
};

static const struct option all_options[] = {
	OPTION_QUICK,  OPTION_JOBS,      OPTION_DOCUMENT,
	OPTION_RECORD, { .name = NULL },
};

static const struct example all_examples[] = {
	{ "heddle paper all --quick", "everything, quickly" },
	{ "heddle paper all --db papers.db -o papers.csv",
	  "everything in full, as a table" },
	{ "heddle paper all --quick --document docs/papers.md",
	  "and what became of it, to be read" },
	{ NULL, NULL },
};

static const struct command command_paper_all = {
	.name = "paper all",
	.summary = "all of them",
	.arguments = "",
	.description =
		"Runs every experiment that can be run; see 'heddle paper run'.\n",
	.options = all_options,
	.examples = all_examples,
	.run = run_all,
};

/* ---- fit ------------------------------------------------------------------
 */

static int fit(struct paper_session *s, const char *name)
{
	struct diag d = { .status = HD_OK };

	for (size_t i = 0; i < s->review.n_items; i++) {
		const struct review_item *item = &s->review.items[i];

		if (item->grid.n_settings > 1)
			continue;
		diag_fail(&d, HD_ERR_INPUT,
			  "%s/%s leaves nothing open to be fitted%s",
			  item->paper->id, item->experiment->id,
			  item->experiment->study
				  ? ""
				  : ", and there is nothing to run");
		return command_refuse(&d);
	}
	if (paper_session_run(s, &d) != HD_OK)
		return command_refuse(&d);
	struct results *r = results_new(name);

	review_fit(&s->review, r);
	return paper_session_tell(s, r, true);
}

static int run_fit(const struct command *self, int argc, char **argv)
{
	static const struct paper_wish wish = {
		.act = fit,
		.runs = true,
		.least = 1,
		.most = INT_MAX,
		.wrong = "which? 'heddle paper list' shows them",
	};

	return paper_session(self, argc, argv, &wish);
}

static const struct option fit_options[] = {
	OPTION_QUICK,
	OPTION_JOBS,
	{ .name = "vary",
	  .kind = OPT_LIST,
	  .offset = FIELD(vary),
	  .value = "AXIS=VALUES",
	  .help = "try these values of what is open: a list, LOW..HIGH:STEP "
		  "or LOW..HIGH:*FACTOR" },
	{ .name = NULL },
};

static const struct example fit_examples[] = {
	{ "heddle paper fit 004/em5.2 --quick",
	  "for which thresholds is the error what was published?" },
	{ "heddle paper fit 004/table3.2 --vary buffer=2packets,4packets,8packets",
	  "do the rates fit another buffer?" },
	{ NULL, NULL },
};

static const struct command command_paper_fit = {
	.name = "paper fit",
	.summary = "where what was published holds, of what it leaves open",
	.arguments = "ID | FILE ...",
	.description =
		"Sweeps the parameters that a paper leaves open, and shows in which\n"
		"settings its numbers and claims hold, how many of them, and how far the\n"
		"others are off.\n",
	.options = fit_options,
	.examples = fit_examples,
	.run = run_fit,
};

/* ---- show -----------------------------------------------------------------
 */

/* The scenario that 'sim FILE' runs, if that is all it does. */
static const struct paper_file *scenario_of(const struct review_item *item)
{
	const struct paper_study *study = item->experiment->study;
	const struct paper_file *f = NULL;

	if (study && strncmp(study->command, "sim ", 4) == 0)
		f = paper_file_find(study->command + 4);
	return f;
}

static int show(struct paper_session *s, const char *name)
{
	struct strbuf text = STRBUF_INIT;
	struct diag d = { .status = HD_OK };

	(void)name;
	if (s->review.n_items != 1) {
		diag_fail(&d, HD_ERR_INPUT,
			  "that is a paper: name one experiment of it");
		return command_refuse(&d);
	}
	const struct review_item *item = &s->review.items[0];
	const struct paper_file *scenario = scenario_of(item);

	if (scenario)
		strbuf_add(&text, (const char *)scenario->bytes, scenario->len);
	else
		paper_extract(item->paper, item->experiment, &text);
	int status = output_bytes(&s->v.common, text.text, text.len, true);

	strbuf_fini(&text);
	return status;
}

static int run_show(const struct command *self, int argc, char **argv)
{
	static const struct paper_wish wish = {
		.act = show,
		.least = 1,
		.most = 1,
		.wrong = "which one? 'heddle paper list' shows them",
	};

	return paper_session(self, argc, argv, &wish);
}

static const struct example show_examples[] = {
	{ "heddle paper show 003/dbts > my.yaml",
	  "a scenario: change it, and 'heddle sim my.yaml'" },
	{ "heddle paper show 004/table3.2 > my.yaml",
	  "a study with what was published: change it, and 'heddle paper run "
	  "my.yaml'" },
	{ NULL, NULL },
};

static const struct command command_paper_show = {
	.name = "paper show",
	.summary = "one of them, to be changed",
	.arguments = "ID",
	.description =
		"Hands over what is behind an experiment: its scenario, for 'heddle sim'\n"
		"and 'heddle sweep', if that is all that it runs; else its command, what\n"
		"of it varies, and the checks, for 'heddle paper run' and 'fit'.\n",
	.examples = show_examples,
	.run = run_show,
};

/* ---- all of them ----------------------------------------------------------
 */

static const struct command *const subcommands[] = {
	&command_paper_list, &command_paper_show, &command_paper_run,
	&command_paper_fit,  &command_paper_all,  NULL,
};

static const struct example examples[] = {
	{ "heddle paper list", "what there is" },
	{ "heddle paper all --quick", "all of it in minutes" },
	{ NULL, NULL },
};

const struct command command_paper = {
	.name = "paper",
	.summary = "published tables and figures, ours beside theirs",
	.arguments = "",
	.description =
		"Every table, figure and tested claim of the five papers behind Heddle, as\n"
		"data: a command of ours, the published value, the rule by which they are\n"
		"compared.\n",
	.examples = examples,
	.subcommands = subcommands,
};
