/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_LIVE_LIVE_H
#define HD_CLI_LIVE_LIVE_H

/* What the commands of 'heddle live' share. */

#include "cli/command.h"
#include "live/live.h"

#define LIVE_NAME_OPTION(type)                                                 \
	{                                                                      \
		"name", 'n', OPT_TEXT, offsetof(type, name), "NAME", "fabric", \
			"which fabric, if several run", NULL, 0, 0             \
	}

/* Letters, digits, '-' and '_': it becomes part of a path. */
bool live_is_name(const char *name);

/*
 * Asks the fabric `name` to do `verb` with `n` words; the exit status. What it
 * prints is left in `out`, which the caller frees.
 */
int live_ask(const char *name, const char *verb, char **words, int n,
	     struct strbuf *out);

#endif
