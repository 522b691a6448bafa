/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_MANUAL_H
#define HD_CLI_MANUAL_H

/*
 * Man pages and shell completion, generated from the command records, so that they always agree
 * with the program. The build creates the files with `heddle --man`, `heddle --man NAME` and
 * `heddle --completion`.
 */

#include "cli/command.h"

/* heddle.1: the list of commands, and the common options. */
void manual_program(const struct command *const *commands, struct strbuf *out);
/* heddle-NAME.1 or heddle-NAME-SUB.1; for a group, the list of its commands. */
void manual_command(const struct command *c, struct strbuf *out);
/*
 * Completion script for bash: commands, subcommands, options, choices and field paths of --set.
 * `lines` has one path per line, followed by the values of a choice.
 */
void manual_completion(const struct command *const *commands, const char *paths,
		       struct strbuf *out);

#endif
