/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_PAPER_SESSION_H
#define HD_CLI_PAPER_SESSION_H

/* What the commands on papers share: which experiments, and their runs. */

#include "cli/command.h"
#include "paper/tables.h"

struct paper_values {
	struct common_options common;
	bool quick;
	uint64_t jobs;
	struct option_list vary;
	const char *document, *record;
};

struct paper_session {
	struct paper_values v;
	struct paper_catalogue catalogue;
	struct paper_review review;
	char *folder; /* that 'make install' made of papers/; NULL: none */
};

/* What a command does with the experiments that were named. */
struct paper_wish {
	int (*act)(struct paper_session *s, const char *name);
	bool runs;         /* there is a database unless another is named */
	int least, most;   /* names; none: all experiments */
	const char *wrong; /* what is said if there are fewer or more */
};

/* Reads the words, opens the papers and acts; EXIT_* of it all. */
int paper_session(const struct command *self, int argc, char **argv,
		  const struct paper_wish *wish);

/* Runs all of them; HD_OK also if some failed or were not begun. */
HD_MUST_CHECK enum hd_status paper_session_run(struct paper_session *s,
					       struct diag *d);
/* How many runs came to their end. */
size_t paper_session_done(const struct paper_session *s);
/* Shows the results, with the runs behind them on a page. */
int paper_session_tell(struct paper_session *s, struct results *r, bool same);

#endif
