/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_MANUAL_H
#define HD_CLI_MANUAL_H

/*
 * Man pages and shell completion, written from the command records, so that
 * they cannot disagree with what the program accepts. The build runs
 * `heddle --man`, `--man NAME` and `--completion` to make the files.
 */

#include "cli/command.h"

/* heddle.1: the list of commands and what they share. */
void manual_program(const struct command *const *commands, struct strbuf *out);
/* heddle-NAME.1, heddle-NAME-SUB.1: of a group, the list of its commands. */
void manual_command(const struct command *c, struct strbuf *out);
/*
 * A completion script for bash: commands, subcommands, options, choices, and
 * the paths that --set takes, one a line, each followed by the values of a
 * choice.
 */
void manual_completion(const struct command *const *commands, const char *paths,
		       struct strbuf *out);

#endif
