/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_PAPER_SESSION_H
#define HD_CLI_PAPER_SESSION_H

/* Shared by the commands of 'heddle paper': selection of experiments, and their runs. */

#include "cli/command.h"
#include "paper/outcomes.h"
#include "paper/tables.h"

struct paper_session_options {
	struct common_options common;
	bool quick;
	uint64_t jobs;
	struct option_list vary;
	const char *document, *record;
	bool scenario, all;
};

#define PAPER_FIELD(m) offsetof(struct paper_session_options, m)

#define PAPER_OPTION_QUICK                                                                                          \
	{                                                                                                           \
		.name = "quick", .kind = OPT_FLAG, .offset = PAPER_FIELD(quick),                                    \
		.help = "run smaller fabrics and shorter simulations: minutes for all experiments instead of hours" \
	}
#define PAPER_OPTION_JOBS                                                                         \
	{                                                                                         \
		.name = "jobs", .letter = 'j', .kind = OPT_UINT, .offset = PAPER_FIELD(jobs),     \
		.value = "N", .initial = "0", .high = 1024,                                       \
		.help = "number of concurrent runs; 0: one per core; results do not depend on it" \
	}
#define PAPER_OPTION_DOCUMENT                                                            \
	{                                                                                \
		.name = "document", .kind = OPT_OUTPUT, .offset = PAPER_FIELD(document), \
		.value = "FILE",                                                         \
		.help = "write all verdicts to FILE, as Markdown (docs/papers.md)"       \
	}

#define PAPER_OPTION_RECORD                                                                            \
	{                                                                                              \
		.name = "record", .kind = OPT_OUTPUT, .offset = PAPER_FIELD(record),                   \
		.value = "FILE",                                                                       \
		.help = "write new and recorded verdicts to FILE, in the format of papers/record.yaml" \
	}

struct paper_session {
	struct paper_session_options v;
	struct paper_catalogue catalogue;
	struct paper_review review;
	char *folder; /* installed folder of papers/; NULL: none */
};

/* Action of a command on the selected experiments. */
struct paper_session_action {
	int (*act)(struct paper_session *s, const char *name);
	bool runs;         /* uses the default database unless one is given */
	int least, most;   /* number of names; without names: all experiments */
	const char *wrong; /* message if the number of names is wrong */
};

/* Parses the words, opens the papers and calls the action; returns the exit status. */
int paper_session_call(const struct command *self, int argc, char **argv,
		       const struct paper_session_action *wish);

/* Runs all experiments; HD_OK also if some failed or were not started. */
HD_MUST_CHECK enum hd_status paper_session_run(struct paper_session *s, struct diag *d);
/*
 * Writes the files of --document and --record: the new outcomes, and recorded outcomes of all
 * other experiments.
 */
HD_MUST_CHECK enum hd_status paper_session_write(const struct paper_session *s,
						 const struct paper_outcomes *found,
						 struct diag *d);
/* Names of all built-in papers and experiments, for completion. */
void paper_session_words(struct strbuf *out);
/* Shows the results; a page also shows the runs that they are based on. */
int paper_session_print(struct paper_session *s, struct results *r, bool same);

#endif
