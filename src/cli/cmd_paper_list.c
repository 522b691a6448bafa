/* SPDX-License-Identifier: BSD-2-Clause */
#include <limits.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/paper_session.h"
#include "paper/outcomes.h"

static int list(struct paper_session *s, const char *name)
{
	struct results *r = results_new(name);
	struct diag d = { .status = HD_OK };
	const struct paper_outcomes nothing = { 0 };

	if (paper_session_write(s, &nothing, &d) != HD_OK) {
		results_free(r);
		return command_refuse(&d);
	}
	review_list(&s->review, r);
	if (!output_is_text(&s->v.common))
		return output_results(&s->v.common, r, true);
	struct results *shown = results_new(name);

	if (s->v.all || s->review.n_items == 1)
		review_records(&s->review, shown);
	else
		review_brief(&s->review, shown);
	return output_shown_and_recorded(&s->v.common, shown, r, true);
}

static int run_list(const struct command *self, int argc, char **argv)
{
	static const struct paper_session_action wish = { .act = list, .most = INT_MAX };

	return paper_session_call(self, argc, argv, &wish);
}

static const struct option list_options[] = {
	PAPER_OPTION_QUICK,
	PAPER_OPTION_DOCUMENT,
	{ .name = "all",
	  .letter = 'a',
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct paper_session_options, all),
	  .help = "show details of each, with its command and the reason; a single ID always shows them" },
	{ .name = NULL },
};

static const struct example list_examples[] = {
	{ "heddle paper list", "list all, one per line" },
	{ "heddle paper list 002/fig1", "show one with its command" },
	{ "heddle paper list 002 004/fig4.5 --all", "show details of several" },
	{ "heddle paper list --document papers.md", "write all verdicts, rules and errata" },
	{ NULL, NULL },
};

const struct command command_paper_list = {
	.name = "paper list",
	.summary = "list published tables, figures, claims and verdicts",
	.arguments = "[PAPER | ID | FILE]...",
	.description =
		"Shows every table, figure and tested claim of the five papers with its run\n"
		"time, in full and with --quick, and its state: matched (a number, to all\n"
		"printed digits), within tolerance (an earlier verdict), trend holds (a claim\n"
		"in words, by the stated rule), reproduced for (some values of an open\n"
		"parameter, or most cases), not reproduced, refuted (the text contradicts\n"
		"itself, with proof), or no number to compare.\n",
	.words = paper_session_words,
	.options = list_options,
	.examples = list_examples,
	.run = run_list,
};
