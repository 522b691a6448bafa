/* SPDX-License-Identifier: BSD-2-Clause */
#include <limits.h>

#include "cli/commands.h"
#include "cli/paper_session.h"
#include "paper/outcomes.h"

static int review(struct paper_session *s, const char *name)
{
	struct diag d = { .status = HD_OK };
	struct paper_outcomes found;

	if (paper_session_run(s, &d) != HD_OK)
		return command_refuse(&d);
	struct results *r = results_new(name);
	bool same = review_tables(&s->review, r);
	size_t done = review_count_done(&s->review);

	results_remark(
		r,
		"series and comparisons are in %s: 'heddle report --db %s --html papers.html' draws them",
		s->v.common.db, s->v.common.db);
	outcomes_take(&s->review, &found);
	/* Documents are written only if all requested experiments are complete. */
	enum hd_status status =
		done < s->review.n_jobs ? HD_OK : paper_session_write(s, &found, &d);

	outcomes_fini(&found);
	int code = paper_session_print(s, r, same);

	if (status != HD_OK)
		return command_refuse(&d);
	return done < s->review.n_jobs ? EXIT_ENVIRONMENT : code;
}

static int run_some(const struct command *self, int argc, char **argv)
{
	static const struct paper_session_action wish = {
		.act = review,
		.runs = true,
		.least = 1,
		.most = INT_MAX,
		.wrong =
			"missing argument: expected ID or FILE; 'heddle paper list' lists the experiments",
	};

	return paper_session_call(self, argc, argv, &wish);
}

static int run_all(const struct command *self, int argc, char **argv)
{
	static const struct paper_session_action wish = {
		.act = review,
		.runs = true,
		.wrong = "unexpected argument: 'paper all' runs all experiments",
	};

	return paper_session_call(self, argc, argv, &wish);
}

static const struct option run_options[] = {
	PAPER_OPTION_QUICK,
	PAPER_OPTION_JOBS,
	PAPER_OPTION_RECORD,
	{ .name = NULL },
};

static const struct example run_examples[] = {
	{ "heddle paper run 000/table1", "compare a table with its published values" },
	{ "heddle paper run 002/fig16 --html fig16.html", "draw a figure" },
	{ "heddle paper run 004 --quick", "run all experiments of a paper, quickly" },
	{ "heddle paper run my.yaml", "run an edited file of 'paper show'" },
	{ NULL, NULL },
};

const struct command command_paper_run = {
	.name = "paper run",
	.summary = "run experiments and compare with published values",
	.arguments = "PAPER | ID | FILE ...",
	.description =
		"Runs and prints the commands of the experiments, and compares the results with\n"
		"the published values. Exit status 1 if a verdict differs from the recorded\n"
		"one. Series and comparisons are added to the database heddle.db, or that of\n"
		"--db, from which 'heddle report' draws. Results that the database already has\n"
		"are not computed again, so an interrupted command continues where it ended.\n"
		"--html draws the selected experiments. A FILE (.yaml) has experiments of your\n"
		"own, in the format of 'heddle paper show'.\n",
	.words = paper_session_words,
	.options = run_options,
	.examples = run_examples,
	.run = run_some,
	.is_long = true,
};

static const struct option all_options[] = {
	PAPER_OPTION_QUICK,  PAPER_OPTION_JOBS, PAPER_OPTION_DOCUMENT,
	PAPER_OPTION_RECORD, { .name = NULL },
};

static const struct example all_examples[] = {
	{ "heddle paper all --quick", "run all, quickly" },
	{ "heddle paper all --db papers.db -o papers.csv",
	  "run all in full, with the results as CSV" },
	{ "heddle paper all --quick --document docs/papers.md", "also write a document" },
	{ NULL, NULL },
};

const struct command command_paper_all = {
	.name = "paper all",
	.summary = "run all experiments",
	.arguments = "",
	.description = "Runs every experiment that can be run; see 'heddle paper run'.\n",
	.options = all_options,
	.examples = all_examples,
	.run = run_all,
	.is_long = true,
};
