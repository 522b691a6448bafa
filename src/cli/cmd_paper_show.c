/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/paper_session.h"

static int show(struct paper_session *s, const char *name)
{
	struct strbuf text = STRBUF_INIT;
	struct diag d = { .status = HD_OK };

	(void)name;
	if (s->review.n_items != 1) {
		diag_fail(
			&d, HD_ERR_INPUT,
			"a paper is given; name one of its experiments ('heddle paper list' lists them)");
		return command_refuse(&d);
	}
	const struct review_item *item = &s->review.items[0];

	if (!s->v.scenario) {
		paper_extract(item->paper, item->experiment, &text);
	} else if (!paper_scenario(item->paper, item->experiment, &text)) {
		diag_fail(&d, HD_ERR_INPUT,
			  "experiment %s/%s has no scenario; omit --scenario to print its study",
			  item->paper->id, item->experiment->id);
		return command_refuse(&d);
	}
	int status = output_bytes(&s->v.common, text.text, text.len, true);

	strbuf_fini(&text);
	return status;
}

static int run(const struct command *self, int argc, char **argv)
{
	static const struct paper_session_action wish = {
		.act = show,
		.least = 1,
		.most = 1,
		.wrong = "missing argument: expected ID; 'heddle paper list' lists the experiments",
	};

	return paper_session_call(self, argc, argv, &wish);
}

static const struct option options[] = {
	{ .name = "scenario",
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct paper_session_options, scenario),
	  .help = "print only its scenario, for 'heddle sim' and 'heddle sweep'" },
	{ .name = NULL },
};

static const struct example examples[] = {
	{ "heddle paper show 004/table3.2 > my.yaml",
	  "edit a study, then 'heddle paper run my.yaml'" },
	{ "heddle paper show 003/dbts --scenario > my.yaml",
	  "edit a scenario, then 'heddle sim my.yaml'" },
	{ NULL, NULL },
};

const struct command command_paper_show = {
	.name = "paper show",
	.summary = "print an experiment as a file that can be edited",
	.arguments = "ID",
	.description =
		"Prints an experiment as one file: its command, its parameters, the scenarios\n"
		"that it reads, and the checks. 'heddle paper run' and 'heddle paper calibrate'\n"
		"accept an edited copy.\n",
	.words = paper_session_words,
	.options = options,
	.examples = examples,
	.writes = WRITES_TEXT,
	.run = run,
};
